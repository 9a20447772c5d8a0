#include <arrow/array.h>

#include <algorithm>

#include "data/arrow_bridge.h"
#include "data/delete_cache.h"
#include "data/projected_file.h"

namespace icewright {

Status EqualityGroup::Load(RunContext& run, FileIO& io, const ReadPlan& plan,
                           const DeleteTask& task) {
  // One reader at a time: others that need the same file wait for it, and nobody reads it twice.
  const std::scoped_lock load_lock(load_mutex_);
  const std::string& path = task.file.file_path.text();
  if (loaded_.contains(path)) return {};
  ProjectedFileOptions options{.wanted = keys_.fields(),
                               .name_mapping = plan.name_mapping,
                               .schema = plan.metadata->schema(),
                               .batch_rows = plan.batch_rows,
                               .all_required = true};
  IW_ASSIGN(ProjectedFile reader,
            ProjectedFile::Open(run, io, task.file, std::move(options), MakePool(run)));
  for (;;) {
    IW_ASSIGN(std::optional<SourceBatch> batch, reader.Next(run));
    if (!batch) break;
    std::vector<std::shared_ptr<arrow::Array>> columns;
    for (std::size_t i = 0; i < keys_.fields().size(); ++i) {
      IW_ASSIGN(auto column, reader.Column(i, *batch));
      columns.push_back(std::move(column));
    }
    IW_TRY(Add(KeyRows(keys_, columns), batch->rows, task.sequence_number).Within(reader.step()));
  }
  loaded_.insert(path);
  return {};
}

Status EqualityGroup::Add(const KeyRows& rows, std::int64_t count, SequenceNumber sequence_number) {
  const std::unique_lock lock(mutex_);
  if (keys_.is_single_integer()) {
    for (std::int64_t row = 0; row < count; ++row) {
      if (rows.IsNull(row)) {
        null_deleted_by_ = std::max(null_deleted_by_.value_or(sequence_number), sequence_number);
      } else {
        IW_TRY(integers_.Add(rows.Integer(row), sequence_number));
      }
    }
    return {};
  }
  Bytes key;
  for (std::int64_t row = 0; row < count; ++row) {
    rows.Encode(row, key);
    IW_TRY(bytes_.Add(key, sequence_number));
  }
  return {};
}

void EqualityGroup::Apply(const std::vector<std::shared_ptr<arrow::Array>>& columns,
                          SequenceNumber sequence_number, Selection& selection) const {
  const std::shared_lock lock(mutex_);
  const KeyRows rows(keys_, columns);
  const std::int64_t count = selection.rows();
  if (keys_.is_single_integer()) {
    const bool drop_nulls = null_deleted_by_ && *null_deleted_by_ > sequence_number;
    for (std::int64_t row = 0; row < count; ++row) {
      if (!selection.Keeps(row)) continue;
      const bool drop =
          rows.IsNull(row) ? drop_nulls : integers_.Deletes(rows.Integer(row), sequence_number);
      if (drop) selection.Drop(row);
    }
    return;
  }
  Bytes key;
  for (std::int64_t row = 0; row < count; ++row) {
    if (!selection.Keeps(row)) continue;
    rows.Encode(row, key);
    if (bytes_.Deletes(key, sequence_number)) selection.Drop(row);
  }
}

}  // namespace icewright
