#include "data/batch_reader.h"

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include <algorithm>

#include "data/array_filter.h"
#include "data/arrow_bridge.h"
#include "data/arrow_schema.h"
#include "data/delete_cache.h"
#include "data/projected_file.h"

namespace icewright {
namespace {

using ArrayPtr = std::shared_ptr<arrow::Array>;

constexpr char kNameMappingProperty[] = "schema.name-mapping.default";

/// Where an output column comes from.
struct OutputColumn {
  enum class Kind : std::uint8_t { kColumn, kFile, kPosition, kRowId, kLastUpdated };
  Kind kind = Kind::kColumn;
  std::size_t wanted = 0;  // in the projected file; also for lineage: what the file stores
};

OutputColumn::Kind KindOf(FieldId id) {
  if (id == kFilePathField) return OutputColumn::Kind::kFile;
  if (id == kRowPositionField) return OutputColumn::Kind::kPosition;
  if (id == kRowIdField) return OutputColumn::Kind::kRowId;
  if (id == kLastUpdatedSequenceNumberField) return OutputColumn::Kind::kLastUpdated;
  return OutputColumn::Kind::kColumn;
}

/// stored[i] where it is not null, else first + step * i.
Result<ArrayPtr> FillIntegers(const ArrayPtr& stored, std::int64_t first, std::int64_t step,
                              std::int64_t rows, arrow::MemoryPool* pool) {
  IW_ASSIGN(std::shared_ptr<arrow::Buffer> buffer,
            FromArrow(arrow::AllocateBuffer(rows * 8, pool)));
  auto* out = buffer->mutable_data_as<std::int64_t>();
  for (std::int64_t i = 0; i < rows; ++i) out[i] = first + step * i;
  if (stored != nullptr && stored->null_count() != rows) {
    const auto& values = static_cast<const arrow::Int64Array&>(*stored);
    for (std::int64_t i = 0; i < rows; ++i) {
      if (values.IsValid(i)) out[i] = values.Value(i);
    }
  }
  return std::make_shared<arrow::Int64Array>(rows, std::move(buffer));
}

class TaskReader final : public BatchReader {
 public:
  TaskReader(std::shared_ptr<const ReadPlan> plan, const FileTask& task, TaskDeletes deletes,
             std::shared_ptr<arrow::MemoryPool> pool)
      : pool_(std::move(pool)),
        plan_(std::move(plan)),
        path_(task.data_file.file_path.text()),
        sequence_number_(task.sequence_number),
        first_row_id_(task.data_file.first_row_id),
        deletes_(std::move(deletes)) {}

  Status Open(RunContext& run, FileIO& io, const FileTask& task) {
    ProjectedFileOptions options{.constants = ConstantsOf(*plan_->metadata, task.data_file),
                                 .name_mapping = plan_->name_mapping,
                                 .schema = plan_->metadata->schema(),
                                 .batch_rows = plan_->batch_rows,
                                 .by_column_bytes = plan_->by_column_bytes};
    for (const Field& field : plan_->projection.fields()) {
      OutputColumn column{.kind = KindOf(field.id), .wanted = options.wanted.size()};
      const bool lineage = column.kind == OutputColumn::Kind::kRowId ||
                           column.kind == OutputColumn::Kind::kLastUpdated;
      if (lineage && plan_->stored_lineage) column.kind = OutputColumn::Kind::kColumn;
      const bool virtual_only =
          column.kind == OutputColumn::Kind::kFile || column.kind == OutputColumn::Kind::kPosition;
      if (!virtual_only) options.wanted.push_back(field);
      columns_.push_back(column);
    }
    if (options.wanted.empty() && deletes_.groups.size() == 1) {
      // Nothing but the keys is read.
      options.only_with = deletes_.groups.front()->Filter();
    }
    for (const auto& group : deletes_.groups) {
      group_columns_.push_back(options.wanted.size());
      options.wanted.insert(options.wanted.end(), group->keys().fields().begin(),
                            group->keys().fields().end());
    }
    IW_ASSIGN(file_, ProjectedFile::Open(run, io, task.data_file, std::move(options), pool_));
    return {};
  }

  Result<std::shared_ptr<arrow::RecordBatch>> Next(RunContext& run) override {
    for (;;) {
      IW_TRY(run.Check());
      IW_ASSIGN(std::optional<SourceBatch> batch, file_->Next(run));
      if (!batch) return std::shared_ptr<arrow::RecordBatch>();
      Selection rows(batch->rows);
      IW_TRY(ApplyDeletes(*batch, rows));
      counts_.rows_read += batch->rows;
      counts_.rows_deleted += batch->rows - rows.kept();
      if (rows.kept() == 0) continue;
      const std::vector<RowRun> runs = rows.all() ? std::vector<RowRun>{} : rows.Runs();
      std::vector<ArrayPtr> arrays;
      arrays.reserve(columns_.size());
      for (const OutputColumn& column : columns_) {
        IW_ASSIGN(ArrayPtr array, Output(column, *batch, rows, runs));
        arrays.push_back(std::move(array));
      }
      return arrow::RecordBatch::Make(plan_->arrow_schema, rows.kept(), std::move(arrays));
    }
  }

  ReadCounts counts() const override { return counts_; }

 private:
  Status ApplyDeletes(const SourceBatch& batch, Selection& rows) const {
    if (deletes_.positions != nullptr) {
      ApplyPositions(deletes_.positions->bitmap, batch.first_row, rows);
    }
    if (batch.skipped) return {};
    for (std::size_t g = 0; g < deletes_.groups.size() && rows.kept() > 0; ++g) {
      const EqualityGroup& group = *deletes_.groups[g];
      std::vector<ArrayPtr> keys;
      for (std::size_t i = 0; i < group.keys().fields().size(); ++i) {
        IW_ASSIGN(ArrayPtr key, file_->Column(group_columns_[g] + i, batch));
        keys.push_back(std::move(key));
      }
      IW_TRY(group.Apply(keys, sequence_number_, rows));
    }
    return {};
  }

  Result<ArrayPtr> Output(const OutputColumn& column, const SourceBatch& batch,
                          const Selection& rows, const std::vector<RowRun>& runs) const {
    if (IsConstant(column)) return Constant(column, rows.kept());
    IW_ASSIGN(ArrayPtr whole, Whole(column, batch));
    if (rows.all()) return whole;
    IW_ASSIGN(auto kept, KeepRuns(*whole->data(), runs, pool_.get()).Within(file_->step()));
    return arrow::MakeArray(std::move(kept));
  }

  bool IsConstant(const OutputColumn& column) const {
    switch (column.kind) {
      case OutputColumn::Kind::kColumn:
        return file_->IsConstant(column.wanted);
      case OutputColumn::Kind::kFile:
        return true;
      case OutputColumn::Kind::kPosition:
        return false;
      case OutputColumn::Kind::kRowId:
        return !first_row_id_;
      case OutputColumn::Kind::kLastUpdated:
        return !first_row_id_ || file_->IsConstant(column.wanted);
    }
    return false;
  }

  Result<ArrayPtr> Constant(const OutputColumn& column, std::int64_t rows) const {
    Type type = Type::Of(TypeId::kLong);
    Literal value;  // null: lineage of a file without a first row id
    if (column.kind == OutputColumn::Kind::kColumn) return file_->Constant(column.wanted, rows);
    if (column.kind == OutputColumn::Kind::kFile) {
      type = Type::Of(TypeId::kString);
      value = path_;
    } else if (column.kind == OutputColumn::Kind::kLastUpdated && first_row_id_) {
      value = Raw(sequence_number_);
    }
    IW_ASSIGN(auto arrow_type, ToArrowType(type));
    IW_ASSIGN(auto data, ConstantArray(type, arrow_type, value, rows, pool_.get()));
    return arrow::MakeArray(std::move(data));
  }

  /// All rows of the batch.
  Result<ArrayPtr> Whole(const OutputColumn& column, const SourceBatch& batch) const {
    switch (column.kind) {
      case OutputColumn::Kind::kPosition:
        return FillIntegers(nullptr, batch.first_row, 1, batch.rows, pool_.get());
      case OutputColumn::Kind::kRowId: {
        IW_ASSIGN(ArrayPtr stored, file_->Column(column.wanted, batch));
        return FillIntegers(stored, *first_row_id_ + batch.first_row, 1, batch.rows, pool_.get());
      }
      case OutputColumn::Kind::kLastUpdated: {
        IW_ASSIGN(ArrayPtr stored, file_->Column(column.wanted, batch));
        return FillIntegers(stored, Raw(sequence_number_), 0, batch.rows, pool_.get());
      }
      default:
        return file_->Column(column.wanted, batch);
    }
  }

  std::shared_ptr<arrow::MemoryPool> pool_;  // first: outlives what is allocated from it
  std::shared_ptr<const ReadPlan> plan_;
  std::string path_;
  SequenceNumber sequence_number_;
  std::optional<std::int64_t> first_row_id_;
  TaskDeletes deletes_;
  std::optional<ProjectedFile> file_;
  std::vector<OutputColumn> columns_;
  std::vector<std::size_t> group_columns_;  // first wanted column of each equality group
  ReadCounts counts_;
};

}  // namespace

PartitionConstants ConstantsOf(const TableMetadata& metadata, const DataFile& file) {
  PartitionConstants out;
  const PartitionSpec* spec = metadata.FindSpec(file.spec_id);
  if (spec == nullptr) return out;
  for (std::size_t i = 0; i < spec->fields.size() && i < file.partition.size(); ++i) {
    const PartitionField& field = spec->fields[i];
    if (field.transform.kind() == Transform::Kind::kIdentity && field.source_ids.size() == 1) {
      out.emplace(field.source_id(), file.partition[i]);
    }
  }
  return out;
}

Result<std::shared_ptr<const ReadPlan>> MakeReadPlan(std::shared_ptr<const TableMetadata> metadata,
                                                     Schema projection) {
  if (metadata->is_encrypted()) {
    return Error(Code::kUnsupported, "the table is encrypted; its data cannot be read");
  }
  auto plan = std::make_shared<ReadPlan>();
  if (const auto json = metadata->Property(kNameMappingProperty)) {
    auto mapping = NameMapping::Parse(*json);
    if (!mapping) return mapping.error().Within(std::string("property ") + kNameMappingProperty);
    plan->name_mapping = std::move(*mapping);
  }
  IW_ASSIGN(plan->arrow_schema, ToArrowSchema(projection));
  plan->projection = std::move(projection);
  plan->metadata = std::move(metadata);
  return plan;
}

Result<std::unique_ptr<BatchReader>> OpenTask(RunContext& run, std::shared_ptr<const ReadPlan> plan,
                                              std::shared_ptr<FileIO> io,
                                              std::shared_ptr<DeleteCache> deletes,
                                              const FileTask& task,
                                              std::shared_ptr<arrow::MemoryPool> pool) {
  TaskDeletes loaded;
  if (!task.deletes.empty()) {
    if (deletes == nullptr) {
      return Error(Code::kInternal, "a task with deletes was opened without a delete cache");
    }
    IW_ASSIGN(loaded, deletes->Load(run, task));
  }
  auto reader =
      std::make_unique<TaskReader>(std::move(plan), task, std::move(loaded), std::move(pool));
  IW_TRY(reader->Open(run, *io, task));
  return reader;
}

}  // namespace icewright
