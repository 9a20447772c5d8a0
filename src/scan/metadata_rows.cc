#include "scan/metadata_rows.h"

#include <fmt/format.h>

#include "manifest/partition_codec.h"
#include "table/literal.h"

namespace icewright::scan_internal {
namespace {

template <typename Map, typename ToValue>
Json ById(const Map& map, const ToValue& to_value) {
  if (map.empty()) return nullptr;
  Json json = Json::object();
  for (const auto& [id, value] : map) json[ToString(id)] = to_value(id, value);
  return json;
}

Json CountsJson(const ColumnCounts& counts) {
  return ById(counts, [](FieldId, std::int64_t count) { return Json(count); });
}

template <typename T>
Json ListJson(const std::vector<T>& values) {
  if (values.empty()) return nullptr;
  Json json = Json::array();
  for (const T& value : values) {
    if constexpr (std::is_enum_v<T>) {
      json.push_back(Raw(value));
    } else {
      json.push_back(value);
    }
  }
  return json;
}

/// A value whose column no schema has any more: as it is stored.
Json UntypedJson(const Literal& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag;
  if (const auto* small = std::get_if<std::int32_t>(&value)) return *small;
  if (const auto* wide = std::get_if<std::int64_t>(&value)) return *wide;
  if (const auto* single = std::get_if<float>(&value)) return *single;
  if (const auto* real = std::get_if<double>(&value)) return *real;
  if (const auto* unscaled = std::get_if<Int128>(&value)) return DecimalText(*unscaled, 0);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  return nullptr;
}

Json ValueJson(const Type& type, const Literal& value) {
  if (IsNull(value)) return nullptr;
  return type.id() == TypeId::kUnknown ? UntypedJson(value) : ToJson(type, value);
}

bool IsTimeTransform(const Transform& transform) {
  switch (transform.kind()) {
    case Transform::Kind::kYear:
    case Transform::Kind::kMonth:
    case Transform::Kind::kDay:
    case Transform::Kind::kHour:
      return true;
    default:
      return false;
  }
}

const Field* SourceOf(const Schema& schema, const PartitionField& field) {
  return field.source_ids.empty() ? nullptr : schema.Find(field.source_id());
}

Json BytesJson(const std::optional<Bytes>& bytes) {
  return bytes ? Json(ToHex(*bytes)) : Json(nullptr);
}

/// The few columns of delete files and of row lineage that are in no table's schema.
const Field* FindReserved(FieldId id) {
  static const Field kReserved[] = {
      {.id = kDeleteFilePathField, .name = "file_path", .type = Type::Of(TypeId::kString)},
      {.id = kDeleteFilePosField, .name = "pos", .type = Type::Of(TypeId::kLong)},
      {.id = kRowIdField, .name = "_row_id", .type = Type::Of(TypeId::kLong)},
      {.id = kLastUpdatedSequenceNumberField,
       .name = "_last_updated_sequence_number",
       .type = Type::Of(TypeId::kLong)},
  };
  for (const Field& field : kReserved) {
    if (field.id == id) return &field;
  }
  return nullptr;
}

}  // namespace

Json TimeJson(TimePoint time) {
  std::int64_t micros = 0;
  if (__builtin_mul_overflow(ToMillis(time), std::int64_t{1000}, &micros)) return ToMillis(time);
  return ToJson(Type::Of(TypeId::kTimestampTz), Literal(micros));
}

RowMaker::RowMaker(const TableMetadata& metadata) : metadata_(metadata) {
  for (const PartitionSpec& spec : metadata.partition_specs) {
    const Schema& schema = PartitionSchemaOf(metadata, spec);
    specs_[spec.id] = {&spec, &schema, spec.PartitionType(schema)};
  }
}

const Field* RowMaker::FindField(FieldId id) const {
  if (const Field* field = metadata_.schema().Find(id)) return field;
  for (auto it = metadata_.schemas.rbegin(); it != metadata_.schemas.rend(); ++it) {
    if (const Field* field = it->Find(id)) return field;
  }
  return FindReserved(id);
}

Json RowMaker::BoundsJson(const ColumnBounds& bounds) const {
  return ById(bounds, [&](FieldId id, const Bytes& bytes) -> Json {
    const Field* field = FindField(id);
    if (field == nullptr || !field->type.is_primitive()) return ToHex(bytes);
    const auto value = FromBytes(field->type, bytes);
    return value ? ValueJson(field->type, *value) : Json(ToHex(bytes));
  });
}

Json RowMaker::PartitionJson(SpecId spec_id, const StructValue& partition) const {
  Json json = Json::object();
  const auto found = specs_.find(spec_id);
  for (std::size_t i = 0; i < partition.size(); ++i) {
    if (found == specs_.end() || i >= found->second.spec->fields.size()) {
      json[std::to_string(i)] = UntypedJson(partition[i]);
      continue;
    }
    const BoundSpec& bound = found->second;
    const PartitionField& field = bound.spec->fields[i];
    const Field* source = SourceOf(*bound.schema, field);
    if (!IsNull(partition[i]) && source != nullptr && IsTimeTransform(field.transform)) {
      json[field.name] = field.transform.ToHuman(source->type, partition[i]);
    } else {
      json[field.name] = ValueJson(bound.partition_type.fields()[i].type, partition[i]);
    }
  }
  return json;
}

const std::vector<std::string>& RowMaker::FileColumns() {
  static const std::vector<std::string> kColumns = {"content",
                                                    "file_path",
                                                    "file_format",
                                                    "spec_id",
                                                    "partition",
                                                    "record_count",
                                                    "file_size_in_bytes",
                                                    "column_sizes",
                                                    "value_counts",
                                                    "null_value_counts",
                                                    "nan_value_counts",
                                                    "lower_bounds",
                                                    "upper_bounds",
                                                    "key_metadata",
                                                    "split_offsets",
                                                    "equality_ids",
                                                    "sort_order_id",
                                                    "first_row_id",
                                                    "referenced_data_file",
                                                    "content_offset",
                                                    "content_size_in_bytes"};
  return kColumns;
}

Json RowMaker::FileRow(const DataFile& file) const {
  return Json::array({static_cast<int>(file.content),
                      file.file_path.text(),
                      Name(file.file_format),
                      Raw(file.spec_id),
                      PartitionJson(file.spec_id, file.partition),
                      file.record_count,
                      file.file_size_in_bytes,
                      CountsJson(file.column_sizes),
                      CountsJson(file.value_counts),
                      CountsJson(file.null_value_counts),
                      CountsJson(file.nan_value_counts),
                      BoundsJson(file.lower_bounds),
                      BoundsJson(file.upper_bounds),
                      BytesJson(file.key_metadata),
                      ListJson(file.split_offsets),
                      ListJson(file.equality_ids),
                      OptionalJson(file.sort_order_id),
                      OptionalJson(file.first_row_id),
                      file.referenced_data_file ? Json(file.referenced_data_file->text()) : Json(),
                      OptionalJson(file.content_offset),
                      OptionalJson(file.content_size_in_bytes)});
}

const std::vector<std::string>& RowMaker::ManifestColumns() {
  static const std::vector<std::string> kColumns = {"content",
                                                    "path",
                                                    "length",
                                                    "partition_spec_id",
                                                    "added_snapshot_id",
                                                    "added_data_files_count",
                                                    "existing_data_files_count",
                                                    "deleted_data_files_count",
                                                    "added_delete_files_count",
                                                    "existing_delete_files_count",
                                                    "deleted_delete_files_count",
                                                    "partition_summaries"};
  return kColumns;
}

Json RowMaker::SummariesJson(const ManifestFile& manifest) const {
  Json json = Json::array();
  const auto found = specs_.find(manifest.partition_spec_id);
  if (!manifest.partitions || found == specs_.end()) return json;
  const BoundSpec& bound = found->second;
  for (std::size_t i = 0; i < manifest.partitions->size(); ++i) {
    const PartitionFieldSummary& summary = (*manifest.partitions)[i];
    const auto readable = [&](const std::optional<Bytes>& bytes) -> Json {
      if (!bytes) return nullptr;
      if (i >= bound.spec->fields.size()) return ToHex(*bytes);
      const PartitionField& field = bound.spec->fields[i];
      const Field* source = SourceOf(*bound.schema, field);
      const auto value = FromBytes(bound.partition_type.fields()[i].type, *bytes);
      if (!value || source == nullptr) return ToHex(*bytes);
      return field.transform.ToHuman(source->type, *value);
    };
    json.push_back({{"contains_null", summary.contains_null},
                    {"contains_nan", OptionalJson(summary.contains_nan)},
                    {"lower_bound", readable(summary.lower_bound)},
                    {"upper_bound", readable(summary.upper_bound)}});
  }
  return json;
}

Json RowMaker::ManifestRow(const ManifestFile& manifest) const {
  const bool is_data = manifest.content == ManifestContent::kData;
  const auto count = [](bool applies, const std::optional<std::int32_t>& value) {
    return applies ? OptionalJson(value) : Json(0);
  };
  return Json::array(
      {static_cast<int>(manifest.content), manifest.manifest_path.text(), manifest.manifest_length,
       Raw(manifest.partition_spec_id), Raw(manifest.added_snapshot_id),
       count(is_data, manifest.added_files_count), count(is_data, manifest.existing_files_count),
       count(is_data, manifest.deleted_files_count), count(!is_data, manifest.added_files_count),
       count(!is_data, manifest.existing_files_count),
       count(!is_data, manifest.deleted_files_count), SummariesJson(manifest)});
}

}  // namespace icewright::scan_internal
