#include "manifest/record_writer.h"

#include <fmt/format.h>

#include "manifest/partition_codec.h"

namespace icewright::manifest_internal {
namespace {

template <typename T>
struct ElementOf {
  using type = T;
};
template <typename T>
struct ElementOf<std::optional<T>> {
  using type = T;
};

template <typename T>
constexpr bool IsLong() {
  if constexpr (std::is_enum_v<T>) {
    return sizeof(std::underlying_type_t<T>) == sizeof(std::int64_t);
  } else {
    return std::is_same_v<T, std::int64_t>;
  }
}

Json FieldJson(std::string_view name, Json type, int id) {
  Json json = {{"name", name}, {"type", std::move(type)}};
  if (json["type"].is_array()) json["default"] = nullptr;  // a union with null
  json["field-id"] = id;
  return json;
}

Json RecordJson(std::string name, Json fields) {
  return {{"type", "record"}, {"name", std::move(name)}, {"fields", std::move(fields)}};
}

template <typename Columns>
Json ColumnsJson(const Columns& columns, int version, const Type& partition_type);

Json MapJson(int key_id, int value_id, const char* value_type) {
  Json fields =
      Json::array({FieldJson("key", "int", key_id), FieldJson("value", value_type, value_id)});
  return {{"type", "array"},
          {"items", RecordJson(fmt::format("k{}_v{}", key_id, value_id), std::move(fields))},
          {"logicalType", "map"}};
}

/// The Avro type of a column without its union. `key_id`, `value_id`: the column's.
template <typename T>
Json TypeJson(int key_id, int value_id, int version, const Type& partition_type) {
  if constexpr (std::is_same_v<T, StructValue>) {
    return PartitionAvroSchema(partition_type);
  } else if constexpr (std::is_same_v<T, DataFile>) {
    return RecordJson("r2", ColumnsJson(kDataFileColumns, version, partition_type));
  } else if constexpr (std::is_same_v<T, ColumnCounts>) {
    return MapJson(key_id, value_id, "long");
  } else if constexpr (std::is_same_v<T, ColumnBounds>) {
    return MapJson(key_id, value_id, "bytes");
  } else if constexpr (std::is_same_v<T, std::vector<PartitionFieldSummary>>) {
    return {{"type", "array"},
            {"items", RecordJson("r508", ColumnsJson(kSummaryColumns, version, partition_type))},
            {"element-id", key_id}};
  } else if constexpr (std::is_same_v<T, std::vector<std::int64_t>> ||
                       std::is_same_v<T, std::vector<FieldId>>) {
    const bool is_long = IsLong<typename T::value_type>();
    return {{"type", "array"}, {"items", is_long ? "long" : "int"}, {"element-id", key_id}};
  } else if constexpr (std::is_same_v<T, bool>) {
    return "boolean";
  } else if constexpr (std::is_same_v<T, Bytes>) {
    return "bytes";
  } else if constexpr (std::is_same_v<T, Location> || std::is_same_v<T, FileFormat>) {
    return "string";
  } else {
    return IsLong<T>() ? "long" : "int";
  }
}

template <typename Columns>
Json ColumnsJson(const Columns& columns, int version, const Type& partition_type) {
  Json fields = Json::array();
  for (const auto& column : columns) {
    const In in = column.InVersion(version);
    if (in == In::kNo) continue;
    Json type = std::visit(
        [&]<typename Row, typename T>(T Row::*) {
          return TypeJson<typename ElementOf<T>::type>(column.key_id, column.value_id, version,
                                                       partition_type);
        },
        column.member);
    if (in == In::kOptional) type = Json::array({"null", std::move(type)});
    fields.push_back(FieldJson(column.name, std::move(type), column.id));
    if (version == 1 && column.name == "file_size_in_bytes") {
      fields.push_back(FieldJson("block_size_in_bytes", "long", kBlockSizeId));
    }
  }
  return fields;
}

void WriteDataFile(avro::Encoder& out, int format_version, const Type& partition_type,
                   const DataFile& file) {
  for (const DataFileColumn& column : kDataFileColumns) {
    const In in = column.InVersion(format_version);
    if (in == In::kNo) continue;
    std::visit(
        [&]<typename T>(T DataFile::*member) {
          if constexpr (std::is_same_v<T, StructValue>) {
            WritePartition(out, partition_type, file.*member);
          } else {
            WriteColumn(out, in, file.*member);
          }
        },
        column.member);
    if (format_version == 1 && column.name == "file_size_in_bytes") out.WriteLong(kBlockSize);
  }
}

}  // namespace

Json ManifestAvroSchema(int format_version, const Type& partition_type) {
  return RecordJson("manifest_entry", ColumnsJson(kEntryColumns, format_version, partition_type));
}

Json ManifestListAvroSchema(int format_version) {
  return RecordJson("manifest_file", ColumnsJson(kListColumns, format_version, Type::Struct({})));
}

void WriteValue(avro::Encoder& out, const PartitionFieldSummary& value) {
  for (const SummaryColumn& column : kSummaryColumns) {
    std::visit([&](auto member) { WriteColumn(out, column.v2, value.*member); }, column.member);
  }
}

void WriteEntry(avro::Encoder& out, int format_version, const Type& partition_type,
                const ManifestEntry& entry, EntryStatus status) {
  for (const EntryColumn& column : kEntryColumns) {
    const In in = column.InVersion(format_version);
    if (in == In::kNo) continue;
    std::visit(
        [&]<typename T>(T ManifestEntry::*member) {
          if constexpr (std::is_same_v<T, DataFile>) {
            WriteDataFile(out, format_version, partition_type, entry.*member);
          } else if constexpr (std::is_same_v<T, EntryStatus>) {
            WriteColumn(out, in, status);
          } else {
            WriteColumn(out, in, entry.*member);
          }
        },
        column.member);
  }
}

}  // namespace icewright::manifest_internal
