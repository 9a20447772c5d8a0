// Reads table metadata. The writing half is in metadata_write.cc.

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "codec/compression.h"
#include "table/json_members.h"
#include "table/metadata.h"
#include "table/snapshot_json.h"

namespace icewright {
namespace {

/// Far beyond any real metadata file, in size and in how well JSON compresses: a gzip bomb ends
/// here.
constexpr std::size_t kMaxJsonBytes = std::size_t{1} << 30;
constexpr std::size_t kMaxCompressionRatio = 256;
constexpr std::size_t kAlwaysAllowedBytes = std::size_t{1} << 20;
constexpr std::int32_t kNoPartitionFieldYet = 999;

/// Fills `out` from the array at `key`, each item through `parse`; an absent array has no items.
template <typename T, typename Parse>
Status ReadArray(const Json& json, std::string_view key, const Parse& parse, std::vector<T>& out) {
  IW_ASSIGN(const Json* array, FindArray(json, key));
  if (array == nullptr) return {};
  out.reserve(array->size());
  for (const Json& item : *array) {
    Result<T> value = parse(item);
    if (!value) return value.error().Within(fmt::format("{}[{}]", key, out.size()));
    out.push_back(std::move(*value));
  }
  return {};
}

Error Missing(std::string_view key) {
  return Error(Code::kCorrupt, fmt::format("{}: missing", key));
}

Status ReadIdentity(const Json& json, TableMetadata& metadata) {
  IW_ASSIGN(metadata.format_version, GetInt32(json, "format-version"));
  if (metadata.format_version > kMaxFormatVersion) {
    return Error(Code::kUnsupported, fmt::format("format-version {} is newer than {}",
                                                 metadata.format_version, kMaxFormatVersion));
  }
  if (metadata.format_version < 1) {
    return Error(Code::kCorrupt, fmt::format("format-version: {}", metadata.format_version));
  }
  IW_ASSIGN(auto uuid, FindString(json, "table-uuid"));
  if (!uuid && metadata.format_version > 1) return Missing("table-uuid");
  metadata.table_uuid = std::move(uuid).value_or("");
  IW_ASSIGN(std::string location, GetString(json, "location"));
  metadata.location = WithoutTrailingSlash(Location(std::move(location)));
  if (metadata.format_version > 1) {
    IW_ASSIGN(const std::int64_t sequence_number, GetInt(json, "last-sequence-number"));
    metadata.last_sequence_number = SequenceNumber{sequence_number};
  }
  IW_ASSIGN(const std::int64_t updated, GetInt(json, "last-updated-ms"));
  metadata.last_updated = FromMillis(updated);
  IW_ASSIGN(metadata.last_column_id, GetInt32(json, "last-column-id"));
  return {};
}

Result<Schema> SchemaWithId(const Json& json) {
  IW_ASSIGN(Schema schema, Schema::FromJson(json));
  if (schema.id()) return schema;
  return Schema(schema.fields(), SchemaId{0}, schema.identifier_field_ids(),
                schema.unknown_fields());
}

Status ReadSchemas(const Json& json, TableMetadata& metadata) {
  IW_TRY(ReadArray(json, "schemas", SchemaWithId, metadata.schemas));
  if (!metadata.schemas.empty()) {
    IW_ASSIGN(const std::int32_t current, GetInt32(json, "current-schema-id"));
    metadata.current_schema_id = SchemaId{current};
  } else {
    if (metadata.format_version > 1) return Missing("schemas");
    IW_ASSIGN(const Json* schema, GetObject(json, "schema"));
    auto parsed = SchemaWithId(*schema);
    if (!parsed) return parsed.error().Within("schema");
    metadata.current_schema_id = *parsed->id();
    metadata.schemas.push_back(std::move(*parsed));
  }
  if (metadata.FindSchema(metadata.current_schema_id) == nullptr) {
    return Error(Code::kCorrupt, fmt::format("current-schema-id: there is no schema {}",
                                             Raw(metadata.current_schema_id)));
  }
  return {};
}

std::int32_t HighestPartitionFieldId(const std::vector<PartitionSpec>& specs) {
  std::int32_t highest = kNoPartitionFieldYet;
  for (const PartitionSpec& spec : specs) {
    for (const PartitionField& field : spec.fields) {
      highest = std::max(highest, Raw(field.field_id));
    }
  }
  return highest;
}

Status ReadPartitionSpecs(const Json& json, TableMetadata& metadata) {
  IW_TRY(ReadArray(json, "partition-specs", PartitionSpec::FromJson, metadata.partition_specs));
  if (!metadata.partition_specs.empty()) {
    IW_ASSIGN(const std::int32_t id, GetInt32(json, "default-spec-id"));
    metadata.default_spec_id = SpecId{id};
  } else {
    if (metadata.format_version > 1) return Missing("partition-specs");
    IW_ASSIGN(const Json* fields, GetArray(json, "partition-spec"));
    PartitionSpec spec;
    IW_ASSIGN(spec.fields, PartitionSpec::FieldsFromJson(*fields).Within("partition-spec"));
    metadata.default_spec_id = spec.id;
    metadata.partition_specs.push_back(std::move(spec));
  }
  if (metadata.FindSpec(metadata.default_spec_id) == nullptr) {
    return Error(Code::kCorrupt, fmt::format("default-spec-id: there is no partition spec {}",
                                             Raw(metadata.default_spec_id)));
  }
  IW_ASSIGN(const auto last, FindInt32(json, "last-partition-id"));
  if (!last && metadata.format_version > 1) return Missing("last-partition-id");
  metadata.last_partition_id = last.value_or(HighestPartitionFieldId(metadata.partition_specs));
  return {};
}

Status ReadSortOrders(const Json& json, TableMetadata& metadata) {
  IW_TRY(ReadArray(json, "sort-orders", SortOrder::FromJson, metadata.sort_orders));
  IW_ASSIGN(const auto id, FindInt32(json, "default-sort-order-id"));
  if (!id && metadata.format_version > 1) return Missing("default-sort-order-id");
  metadata.default_sort_order_id = SortOrderId{id.value_or(0)};
  if (metadata.FindSortOrder(metadata.default_sort_order_id) != nullptr) return {};
  if (metadata.default_sort_order_id != SortOrderId{0}) {
    return Error(Code::kCorrupt, fmt::format("default-sort-order-id: there is no sort order {}",
                                             Raw(metadata.default_sort_order_id)));
  }
  metadata.sort_orders.insert(metadata.sort_orders.begin(), SortOrder());  // 0 means unsorted
  return {};
}

Status ReadSnapshots(const Json& json, TableMetadata& metadata) {
  IW_TRY(ReadArray(json, "snapshots", SnapshotFromJson, metadata.snapshots));
  std::unordered_set<std::int64_t> ids;
  for (const Snapshot& snapshot : metadata.snapshots) {
    if (!ids.insert(Raw(snapshot.id)).second) {
      return Error(Code::kCorrupt, fmt::format("snapshots: id {} occurs twice", Raw(snapshot.id)));
    }
  }
  IW_ASSIGN(const auto current, FindInt(json, "current-snapshot-id"));
  if (!current || *current == -1) return {};
  if (!ids.contains(*current)) {
    return Error(Code::kCorrupt,
                 fmt::format("current-snapshot-id: there is no snapshot {}", *current));
  }
  metadata.current_snapshot_id = SnapshotId{*current};
  return {};
}

/// A ref to a snapshot that is gone is accepted (FindRef finds nothing for it; expiry removes it);
/// a main branch that is not the current snapshot leaves open what the table holds, and is not.
Status ReadRefs(const Json& json, TableMetadata& metadata) {
  IW_ASSIGN(const Json* refs, FindObject(json, "refs"));
  if (refs != nullptr) {
    for (const auto& [name, value] : refs->items()) {
      auto ref = SnapshotRefFromJson(value);
      if (!ref) return ref.error().Within(fmt::format("refs.{}", name));
      metadata.refs.insert_or_assign(name, std::move(*ref));
    }
  }
  const auto main = metadata.refs.find(kMainBranch);
  if (main == metadata.refs.end()) {
    if (metadata.current_snapshot_id) {
      metadata.refs.emplace(kMainBranch, SnapshotRef{.snapshot_id = *metadata.current_snapshot_id});
    }
    return {};
  }
  if (main->second.snapshot_id != metadata.current_snapshot_id) {
    return Error(Code::kCorrupt, fmt::format("refs.main: snapshot {} is not current-snapshot-id",
                                             Raw(main->second.snapshot_id)));
  }
  return {};
}

Status ReadStatistics(const Json& json, TableMetadata& metadata) {
  IW_TRY(ReadArray(json, "statistics", StatisticsFromJson, metadata.statistics));
  return ReadArray(json, "partition-statistics", PartitionStatisticsFromJson,
                   metadata.partition_statistics);
}

Result<SnapshotLogEntry> SnapshotLogEntryFromJson(const Json& json) {
  if (!json.is_object()) return Error(Code::kCorrupt, "expected an object");
  IW_ASSIGN(const std::int64_t timestamp, GetInt(json, "timestamp-ms"));
  IW_ASSIGN(const std::int64_t snapshot_id, GetInt(json, "snapshot-id"));
  return SnapshotLogEntry{FromMillis(timestamp), SnapshotId{snapshot_id}};
}

Result<MetadataLogEntry> MetadataLogEntryFromJson(const Json& json) {
  if (!json.is_object()) return Error(Code::kCorrupt, "expected an object");
  IW_ASSIGN(const std::int64_t timestamp, GetInt(json, "timestamp-ms"));
  IW_ASSIGN(std::string file, GetString(json, "metadata-file"));
  return MetadataLogEntry{FromMillis(timestamp), Location(std::move(file))};
}

Status ReadLogs(const Json& json, TableMetadata& metadata) {
  IW_TRY(ReadArray(json, "snapshot-log", SnapshotLogEntryFromJson, metadata.snapshot_log));
  return ReadArray(json, "metadata-log", MetadataLogEntryFromJson, metadata.metadata_log);
}

Status ReadVersion3(const Json& json, TableMetadata& metadata) {
  if (metadata.format_version >= 3) {
    IW_ASSIGN(metadata.next_row_id, GetInt(json, "next-row-id"));
  }
  IW_ASSIGN(const Json* keys, FindArray(json, "encryption-keys"));
  if (keys != nullptr) metadata.encryption_keys = DumpJson(*keys);
  return {};
}

std::string UnknownTopLevelMembers(const Json& json) {
  return UnknownMembers(json, {"format-version",
                               "table-uuid",
                               "location",
                               "last-sequence-number",
                               "last-updated-ms",
                               "last-column-id",
                               "schema",
                               "schemas",
                               "current-schema-id",
                               "partition-spec",
                               "partition-specs",
                               "default-spec-id",
                               "last-partition-id",
                               "sort-orders",
                               "default-sort-order-id",
                               "properties",
                               "current-snapshot-id",
                               "refs",
                               "snapshots",
                               "statistics",
                               "partition-statistics",
                               "snapshot-log",
                               "metadata-log",
                               "next-row-id",
                               "encryption-keys"});
}

Result<TableMetadata> FromJson(const Json& json) {
  if (!json.is_object()) {
    return Error(Code::kCorrupt, fmt::format("expected an object, found {}", json.type_name()));
  }
  TableMetadata metadata;
  IW_TRY(ReadIdentity(json, metadata));
  IW_TRY(ReadSchemas(json, metadata));
  IW_TRY(ReadPartitionSpecs(json, metadata));
  IW_TRY(ReadSortOrders(json, metadata));
  IW_ASSIGN(auto properties, FindStrings(json, "properties"));
  for (auto& [key, value] : properties) metadata.properties.insert_or_assign(key, std::move(value));
  IW_TRY(ReadSnapshots(json, metadata));
  IW_TRY(ReadRefs(json, metadata));
  IW_TRY(ReadStatistics(json, metadata));
  IW_TRY(ReadLogs(json, metadata));
  IW_TRY(ReadVersion3(json, metadata));
  metadata.unknown_fields = UnknownTopLevelMembers(json);
  return metadata;
}

Result<TableMetadata> Parse(ByteView bytes) {
  Bytes plain;
  if (bytes.starts_with("\x1f\x8b")) {
    const std::size_t limit =
        std::min(kMaxJsonBytes, kAlwaysAllowedBytes + bytes.size() * kMaxCompressionRatio);
    IW_ASSIGN(plain, Decompress(Compression::kGzip, bytes, limit));
    bytes = plain;
  }
  IW_ASSIGN(const Json json, ParseJson(bytes));
  return FromJson(json);
}

}  // namespace

Result<TableMetadata> ParseTableMetadata(ByteView json_or_gzip, std::string_view name) {
  return Parse(json_or_gzip).Within(name);
}

}  // namespace icewright
