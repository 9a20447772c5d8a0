// The first metadata of a table.

#include <fmt/format.h>

#include <array>
#include <unordered_map>
#include <utility>

#include "table/structure_check.h"
#include "table/table_update.h"

namespace icewright {
namespace {

constexpr std::string_view kFormatVersion = "format-version";
constexpr std::int32_t kNoPartitionFieldYet = 999;

/// Names that describe metadata and are never stored as properties; as in Java.
constexpr std::array<std::string_view, 9> kReservedProperties = {
    kFormatVersion,        "uuid",
    "snapshot-count",      "current-snapshot-summary",
    "current-snapshot-id", "current-snapshot-timestamp-ms",
    "current-schema",      "default-partition-spec",
    "default-sort-order"};

/// Gives all fields ids from 1: first the fields of a struct, then what is inside each.
class FreshIds {
 public:
  std::vector<Field> Assign(std::vector<Field> fields) {
    for (Field& field : fields) {
      const FieldId fresh{++last_};
      fresh_of_.emplace(Raw(field.id), fresh);
      field.id = fresh;
    }
    for (Field& field : fields) field.type = Assign(field.type);
    return fields;
  }

  std::int32_t last() const { return last_; }

  /// Errors: kInvalidArgument if the old schema had no such field.
  Result<FieldId> Of(FieldId old, std::string_view user) const {
    const auto it = fresh_of_.find(Raw(old));
    if (it != fresh_of_.end()) return it->second;
    return Error(Code::kInvalidArgument,
                 fmt::format("{}: there is no source column {}", user, Raw(old)));
  }

  Result<std::vector<FieldId>> Of(const std::vector<FieldId>& old, std::string_view user) const {
    std::vector<FieldId> fresh;
    for (const FieldId id : old) {
      IW_ASSIGN(const FieldId one, Of(id, user));
      fresh.push_back(one);
    }
    return fresh;
  }

 private:
  Type Assign(const Type& type) {
    switch (type.id()) {
      case TypeId::kStruct:
        return Type::Struct(Assign(type.fields()));
      case TypeId::kList:
        return Type::List(Assign(type.fields()).front());
      case TypeId::kMap: {
        const std::vector<Field> fields = Assign(type.fields());
        return Type::Map(fields[0], fields[1]);
      }
      default:
        return type;
    }
  }

  std::int32_t last_ = 0;
  std::unordered_map<std::int32_t, FieldId> fresh_of_;
};

Result<int> TakeFormatVersion(const Properties& properties) {
  IW_ASSIGN(const std::int64_t version, IntProperty(properties, kFormatVersion, 2));
  if (version < 1) {
    return Error(Code::kInvalidArgument, fmt::format("format-version {} does not exist", version));
  }
  if (version > kMaxFormatVersion) {
    return Error(Code::kUnsupported,
                 fmt::format("format-version {} is newer than {}", version, kMaxFormatVersion));
  }
  return static_cast<int>(version);
}

Properties StoredProperties(Properties properties) {
  for (const std::string_view key : kReservedProperties) properties.erase(std::string(key));
  properties.emplace("write.parquet.compression-codec", "zstd");
  return properties;
}

}  // namespace

Result<TableMetadata> MakeTableMetadata(const NewTable& table, std::string uuid, TimePoint now) {
  TableMetadata metadata;
  IW_ASSIGN(metadata.format_version, TakeFormatVersion(table.properties));
  metadata.table_uuid = std::move(uuid);
  metadata.location = WithoutTrailingSlash(table.location);
  metadata.last_updated = now;

  FreshIds ids;
  std::vector<Field> fields = ids.Assign(table.schema.fields());
  IW_ASSIGN(std::vector<FieldId> identifiers,
            ids.Of(table.schema.identifier_field_ids(), "identifier fields"));
  metadata.last_column_id = ids.last();
  metadata.schemas.emplace_back(std::move(fields), SchemaId{0}, std::move(identifiers));
  IW_TRY(CheckSchema(metadata.schema(), metadata.format_version));

  PartitionSpec spec;
  metadata.last_partition_id = kNoPartitionFieldYet;
  for (PartitionField field : table.spec.fields) {
    IW_ASSIGN(field.source_ids, ids.Of(field.source_ids, "partition field " + field.name));
    field.field_id = FieldId{++metadata.last_partition_id};
    spec.fields.push_back(std::move(field));
  }
  IW_TRY(CheckSpec(spec, metadata.schema()));
  metadata.partition_specs.push_back(std::move(spec));

  SortOrder order;
  for (SortField field : table.sort_order.fields) {
    IW_ASSIGN(field.source_ids, ids.Of(field.source_ids, "sort order"));
    order.fields.push_back(std::move(field));
  }
  order.id = SortOrderId{order.fields.empty() ? 0 : 1};
  IW_TRY(CheckSortOrder(order, metadata.schema()));
  metadata.default_sort_order_id = order.id;
  metadata.sort_orders.push_back(std::move(order));

  metadata.properties = StoredProperties(table.properties);
  if (metadata.format_version >= 3) metadata.next_row_id = 0;
  return metadata;
}

}  // namespace icewright
