#include "base/text.h"
#include "data/file_writer.h"
#include "data/parquet_settings.h"

namespace icewright {
namespace {

constexpr std::string_view kCreatedBy = "icewright version 0.1.0";
constexpr std::int64_t kMiB = std::int64_t{1} << 20;

bool HasColumn(const Schema& schema, FieldId id) { return schema.Find(id) != nullptr; }

}  // namespace

Schema RewriteSchema(const TableMetadata& metadata) {
  const Schema& schema = metadata.schema();
  if (metadata.format_version < 3 || HasColumn(schema, kRowIdField)) return schema;
  std::vector<Field> fields = schema.fields();
  fields.push_back(
      {.id = kRowIdField, .name = "_row_id", .required = false, .type = Type::Of(TypeId::kLong)});
  fields.push_back({.id = kLastUpdatedSequenceNumberField,
                    .name = "_last_updated_sequence_number",
                    .required = false,
                    .type = Type::Of(TypeId::kLong)});
  return Schema(std::move(fields), schema.id(), schema.identifier_field_ids());
}

Result<WritePlan> MakeWritePlan(std::shared_ptr<const TableMetadata> metadata, Schema schema) {
  const Properties& properties = metadata->properties;
  WritePlan plan;
  IW_ASSIGN(plan.format,
            ParseFileFormat(StringProperty(properties, "write.format.default", "parquet")));
  if (plan.format == FileFormat::kPuffin) {
    return Error(Code::kUnsupported, "write.format.default=puffin: no format for rows");
  }
  const bool orc = plan.format == FileFormat::kOrc;
  IW_ASSIGN(plan.row_group_bytes,
            orc ? IntProperty(properties, "write.orc.stripe-size-bytes", 64 * kMiB)
                : IntProperty(properties, "write.parquet.row-group-size-bytes", 128 * kMiB));
  IW_ASSIGN(plan.dictionary_bytes,
            IntProperty(properties, "write.parquet.dict-size-bytes", 2 * kMiB));
  if (plan.row_group_bytes <= 0 || plan.dictionary_bytes <= 0) {
    return Error(Code::kInvalidArgument, "row-group and dictionary sizes must be above 0");
  }
  if (plan.format == FileFormat::kParquet) plan.open_column_bytes = OpenColumnBytes(properties);
  IW_ASSIGN(plan.metrics, MetricsConfig::Make(properties, schema, metadata->default_sort_order()));
  plan.schema = std::move(schema);
  plan.metadata = std::move(metadata);
  plan.created_by = kCreatedBy;
  return plan;
}

}  // namespace icewright
