#include "data/projected_file.h"

#include <arrow/array.h>
#include <arrow/memory_pool.h>

#include <algorithm>

namespace icewright {
namespace {

bool HasNanos(const Type& type) {
  if (type.id() == TypeId::kTimestampNs || type.id() == TypeId::kTimestampTzNs) return true;
  const auto& fields = type.fields();
  return std::any_of(fields.begin(), fields.end(),
                     [](const Field& field) { return HasNanos(field.type); });
}

bool HasField(const std::vector<SourceField>& fields, FieldId id) {
  return std::any_of(fields.begin(), fields.end(), [id](const SourceField& field) {
    return field.id == id || HasField(field.children, id);
  });
}

Status CheckPresent(const std::vector<Field>& wanted, const std::vector<SourceField>& source) {
  for (const Field& field : wanted) {
    if (!HasField(source, field.id)) {
      return Error(Code::kCorrupt, "column '" + field.name + "' with field id " +
                                       ToString(field.id) + " is missing");
    }
    if (field.type.id() == TypeId::kStruct) IW_TRY(CheckPresent(field.type.fields(), source));
  }
  return {};
}

}  // namespace

Result<ProjectedFile> ProjectedFile::Open(RunContext& run, FileIO& io, const DataFile& file,
                                          ProjectedFileOptions options,
                                          std::shared_ptr<arrow::MemoryPool> pool) {
  ProjectedFile out;
  out.pool_ = std::move(pool);
  out.step_ = "read " + file.file_path.text();
  const SourceOptions source_options{
      .batch_rows = options.batch_rows,
      .by_column_bytes = options.by_column_bytes,
      .only_with = std::move(options.only_with),
      .int96_as_nanos = std::any_of(options.wanted.begin(), options.wanted.end(),
                                    [](const Field& field) { return HasNanos(field.type); })};
  IW_ASSIGN(out.source_, OpenSource(run, io, file, source_options, out.pool_));
  std::vector<SourceField>& fields = out.source_->fields();
  IW_TRY(AssignFieldIds(fields, file.file_format, options.name_mapping, options.schema)
             .Within(out.step_));
  if (options.all_required) IW_TRY(CheckPresent(options.wanted, fields).Within(out.step_));
  Projection::Mark(options.wanted, fields);
  IW_TRY(out.source_->Select().Within(out.step_));
  auto projection = Projection::Make(options.wanted, fields, options.constants);
  if (!projection) return projection.error().Within(out.step_);
  out.projection_ = std::move(*projection);
  return out;
}

Result<std::optional<SourceBatch>> ProjectedFile::Next(RunContext& run) {
  return source_->Next(run).Within(step_);
}

Result<std::shared_ptr<arrow::Array>> ProjectedFile::Column(std::size_t i,
                                                            const SourceBatch& batch) const {
  return projection_.Convert(i, batch, pool_.get()).Within(step_);
}

}  // namespace icewright
