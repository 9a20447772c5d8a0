#include "data/column_sketches.h"

#include <arrow/array.h>
#include <arrow/memory_pool.h>
#include <arrow/record_batch.h>

#include <algorithm>
#include <mutex>

#include "base/executor.h"
#include "data/arrow_bridge.h"
#include "data/arrow_values.h"
#include "data/batch_reader.h"
#include "table/literal.h"

namespace icewright {
namespace {

/// A chosen column: where it is in a batch.
struct Column {
  std::vector<int> path;
  Type type;
};

// Values whose single-value bytes are those that Arrow holds.
template <typename T>
void AddNumbers(const arrow::Array& array, ThetaSketch& sketch) {
  const T* values = array.data()->GetValues<T>(1);
  for (std::int64_t row = 0; row < array.length(); ++row) {
    if (array.IsNull(row)) continue;
    sketch.Update(ByteView(reinterpret_cast<const char*>(values + row), sizeof(T)));
  }
}

template <typename Array>
void AddViews(const arrow::Array& array, ThetaSketch& sketch) {
  const auto& values = static_cast<const Array&>(array);
  for (std::int64_t row = 0; row < array.length(); ++row) {
    if (array.IsValid(row)) sketch.Update(values.GetView(row));
  }
}

Status AddLiterals(const Type& type, const arrow::Array& array, ThetaSketch& sketch) {
  for (std::int64_t row = 0; row < array.length(); ++row) {
    if (array.IsNull(row)) continue;
    IW_ASSIGN(const Literal value, LiteralAt(array, row));
    if (!IsNull(value)) sketch.Update(ToBytes(type, value));
  }
  return {};
}

Status AddArray(const Type& type, const arrow::Array& array, ThetaSketch& sketch) {
  switch (array.type_id()) {
    case arrow::Type::NA:
      return {};
    case arrow::Type::INT32:
    case arrow::Type::DATE32:
    case arrow::Type::FLOAT:
      AddNumbers<std::int32_t>(array, sketch);
      return {};
    case arrow::Type::INT64:
    case arrow::Type::TIME64:
    case arrow::Type::TIMESTAMP:
    case arrow::Type::DOUBLE:
      AddNumbers<std::int64_t>(array, sketch);
      return {};
    case arrow::Type::STRING:
    case arrow::Type::BINARY:
      AddViews<arrow::BinaryArray>(array, sketch);
      return {};
    case arrow::Type::FIXED_SIZE_BINARY:
      AddViews<arrow::FixedSizeBinaryArray>(array, sketch);
      return {};
    default:
      return AddLiterals(type, array, sketch);
  }
}

class Sketcher final : public ColumnSketches {
 public:
  Sketcher(RunContext& run, std::shared_ptr<FileIO> io, std::shared_ptr<const ReadPlan> plan,
           std::vector<Column> columns, Reservation memory)
      : memory_(std::move(memory)),
        pool_(MakePool(run)),
        io_(std::move(io)),
        plan_(std::move(plan)),
        deletes_(MakeDeleteCache(plan_, io_)),
        columns_(std::move(columns)),
        sketches_(columns_.size()) {}

  Status Add(RunContext& run, std::span<const FileTask> tasks) override {
    return ParallelFor(run, tasks.size(), run.threads(),
                       [&](std::size_t i) { return AddFile(run, tasks[i]); });
  }

  const std::vector<ThetaSketch>& sketches() const override { return sketches_; }
  std::int64_t rows() const override { return rows_; }

 private:
  Status AddFile(RunContext& run, const FileTask& task) {
    IW_ASSIGN(auto reader, OpenTask(run, plan_, io_, deletes_, task, pool_));
    std::vector<ThetaSketch> sketches(columns_.size());
    std::int64_t rows = 0;
    for (;;) {
      IW_ASSIGN(const auto batch, reader->Next(run));
      if (batch == nullptr) break;
      rows += batch->num_rows();
      for (std::size_t i = 0; i < columns_.size(); ++i) {
        IW_ASSIGN(const auto array, ColumnAt(*batch, columns_[i].path));
        IW_TRY(AddArray(columns_[i].type, *array, sketches[i]));
      }
    }
    const std::scoped_lock lock(mutex_);
    for (std::size_t i = 0; i < columns_.size(); ++i) sketches_[i].Merge(sketches[i]);
    rows_ += rows;
    return {};
  }

  const Reservation memory_;
  const std::shared_ptr<arrow::MemoryPool> pool_;
  const std::shared_ptr<FileIO> io_;
  const std::shared_ptr<const ReadPlan> plan_;
  const std::shared_ptr<DeleteCache> deletes_;
  const std::vector<Column> columns_;
  std::mutex mutex_;
  std::vector<ThetaSketch> sketches_;  // guarded by mutex_
  std::int64_t rows_ = 0;              // guarded by mutex_
};

Result<Schema> ProjectionOf(const Schema& schema, const std::vector<FieldId>& columns) {
  std::vector<Field> fields;
  for (const FieldId id : columns) {
    const Field* field = schema.Find(id);
    if (field == nullptr || !field->type.is_primitive()) {
      return Error(Code::kInvalidArgument,
                   "field " + ToString(id) + " is no primitive column of the schema");
    }
    const Field* top = schema.TopLevelOf(id);
    const auto same = [top](const Field& other) { return other.id == top->id; };
    if (std::ranges::none_of(fields, same)) fields.push_back(*top);
  }
  return Schema(std::move(fields));
}

}  // namespace

Result<std::unique_ptr<ColumnSketches>> ColumnSketches::Make(
    RunContext& run, std::shared_ptr<FileIO> io, std::shared_ptr<const TableMetadata> metadata,
    const Schema& schema, const std::vector<FieldId>& columns) {
  IW_ASSIGN(Schema projection, ProjectionOf(schema, columns));
  std::vector<Column> chosen;
  for (const FieldId id : columns) {
    auto path = PathOfField(projection, id);
    if (!path) {
      return Error(Code::kInvalidArgument, "column '" + std::string(schema.NameOf(id)) +
                                               "' is inside a list or map: it has no row");
    }
    chosen.push_back({std::move(*path), projection.Find(id)->type});
  }
  IW_ASSIGN(auto plan, MakeReadPlan(std::move(metadata), std::move(projection)));
  // One set for the result and one for each file that is being read.
  const auto sets = static_cast<std::int64_t>(run.threads()) + 1;
  IW_ASSIGN(Reservation memory,
            run.memory().Reserve(sets * std::ssize(columns) * ThetaSketch::kMaxBytes,
                                 "sketches of columns (fewer columns at once need less)"));
  return std::unique_ptr<ColumnSketches>(std::make_unique<Sketcher>(
      run, std::move(io), std::move(plan), std::move(chosen), std::move(memory)));
}

}  // namespace icewright
