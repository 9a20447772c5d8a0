// Writes table metadata, members in the order of Java's TableMetadataParser.

#include <utility>

#include "table/json_members.h"
#include "table/metadata.h"
#include "table/snapshot_json.h"

namespace icewright {
namespace {

Json ToJson(const SnapshotLogEntry& entry) {
  Json json = Json::object();
  AddMember(json, "timestamp-ms", ToMillis(entry.timestamp));
  AddMember(json, "snapshot-id", Raw(entry.snapshot_id));
  return json;
}

Json ToJson(const MetadataLogEntry& entry) {
  Json json = Json::object();
  AddMember(json, "timestamp-ms", ToMillis(entry.timestamp));
  AddMember(json, "metadata-file", entry.metadata_file.text());
  return json;
}

template <typename T>
Json ArrayOf(const std::vector<T>& items) {
  Json array = Json::array();
  for (const T& item : items) {
    if constexpr (requires { item.ToJson(); }) {
      array.push_back(item.ToJson());
    } else {
      array.push_back(ToJson(item));
    }
  }
  return array;
}

void AddIdentity(const TableMetadata& metadata, Json& json) {
  AddMember(json, "format-version", metadata.format_version);
  if (!metadata.table_uuid.empty()) AddMember(json, "table-uuid", metadata.table_uuid);
  AddMember(json, "location", metadata.location.text());
  if (metadata.format_version > 1) {
    AddMember(json, "last-sequence-number", Raw(metadata.last_sequence_number));
  }
  AddMember(json, "last-updated-ms", ToMillis(metadata.last_updated));
  AddMember(json, "last-column-id", metadata.last_column_id);
}

void AddStructure(const TableMetadata& metadata, Json& json) {
  // Readers of v1 that know no lists look for the current schema and spec alone.
  const bool for_old_readers = metadata.format_version == 1;
  if (for_old_readers) AddMember(json, "schema", metadata.schema().ToJson());
  AddMember(json, "current-schema-id", Raw(metadata.current_schema_id));
  AddMember(json, "schemas", ArrayOf(metadata.schemas));
  if (for_old_readers) AddMember(json, "partition-spec", metadata.default_spec().FieldsToJson());
  AddMember(json, "default-spec-id", Raw(metadata.default_spec_id));
  AddMember(json, "partition-specs", ArrayOf(metadata.partition_specs));
  AddMember(json, "last-partition-id", metadata.last_partition_id);
  AddMember(json, "default-sort-order-id", Raw(metadata.default_sort_order_id));
  AddMember(json, "sort-orders", ArrayOf(metadata.sort_orders));
  Json properties = Json::object();
  for (const auto& [key, value] : metadata.properties) AddMember(properties, key, value);
  AddMember(json, "properties", std::move(properties));
}

void AddCurrentSnapshot(const TableMetadata& metadata, Json& json) {
  if (metadata.current_snapshot_id) {
    AddMember(json, "current-snapshot-id", Raw(*metadata.current_snapshot_id));
  } else if (metadata.format_version >= 3) {
    AddMember(json, "current-snapshot-id", Json(nullptr));
  } else {
    AddMember(json, "current-snapshot-id", -1);
  }
}

void AddHistory(const TableMetadata& metadata, Json& json) {
  Json refs = Json::object();
  for (const auto& [name, ref] : metadata.refs) AddMember(refs, name, ToJson(ref));
  AddMember(json, "refs", std::move(refs));
  AddMember(json, "snapshots", ArrayOf(metadata.snapshots));
  AddMember(json, "statistics", ArrayOf(metadata.statistics));
  AddMember(json, "partition-statistics", ArrayOf(metadata.partition_statistics));
  AddMember(json, "snapshot-log", ArrayOf(metadata.snapshot_log));
  AddMember(json, "metadata-log", ArrayOf(metadata.metadata_log));
}

}  // namespace

std::string SerializeTableMetadata(const TableMetadata& metadata) {
  Json json = Json::object();
  AddIdentity(metadata, json);
  AddStructure(metadata, json);
  AddCurrentSnapshot(metadata, json);
  AddMember(json, "next-row-id", metadata.next_row_id);
  if (!metadata.encryption_keys.empty()) {
    if (auto keys = ParseJson(metadata.encryption_keys)) {
      AddMember(json, "encryption-keys", std::move(*keys));
    }
  }
  AddHistory(metadata, json);
  AddUnknownMembers(json, metadata.unknown_fields);
  return DumpJson(json);
}

}  // namespace icewright
