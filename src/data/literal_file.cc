#include "data/literal_file.h"

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include <algorithm>
#include <vector>

#include "data/array_cast.h"
#include "data/arrow_bridge.h"
#include "data/arrow_schema.h"
#include "data/arrow_values.h"
#include "data/batch_reader.h"
#include "data/file_writer.h"

namespace icewright {
namespace {

constexpr std::size_t kRowsPerBatch = 4096;

/// Makes the column of a field from the leaves that begin at `leaf`, and moves `leaf` on.
Result<std::shared_ptr<arrow::Array>> ColumnOf(const Type& type,
                                               const std::shared_ptr<arrow::DataType>& to,
                                               std::span<const StructValue> rows, std::size_t& leaf,
                                               arrow::MemoryPool* pool) {
  if (type.id() == TypeId::kStruct) {
    arrow::ArrayVector children;
    for (std::size_t i = 0; i < type.fields().size(); ++i) {
      IW_ASSIGN(auto child, ColumnOf(type.fields()[i].type, to->field(static_cast<int>(i))->type(),
                                     rows, leaf, pool));
      children.push_back(std::move(child));
    }
    return std::static_pointer_cast<arrow::Array>(
        std::make_shared<arrow::StructArray>(to, std::ssize(rows), std::move(children)));
  }
  std::vector<Literal> values;
  values.reserve(rows.size());
  for (const StructValue& row : rows) values.push_back(row[leaf]);
  ++leaf;
  return ArrayOf(type, to, values, pool);
}

/// Paths of the leaves, in order.
Status AddLeaves(const std::vector<Field>& fields, const std::vector<int>& parent,
                 std::vector<std::vector<int>>& out) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    std::vector<int> path = parent;
    path.push_back(static_cast<int>(i));
    const Type& type = fields[i].type;
    if (type.id() == TypeId::kStruct) {
      IW_TRY(AddLeaves(type.fields(), path, out));
    } else if (type.is_primitive()) {
      out.push_back(std::move(path));
    } else {
      return Error(Code::kUnsupported, "no literal of type " + type.ToString());
    }
  }
  return {};
}

}  // namespace

Result<DataFile> WriteLiteralFile(RunContext& run, FileIO& io,
                                  std::shared_ptr<const TableMetadata> metadata,
                                  const Schema& schema, FileFormat format, const Location& location,
                                  std::span<const StructValue> rows) {
  std::vector<std::vector<int>> leaves;
  IW_TRY(AddLeaves(schema.fields(), {}, leaves));
  IW_ASSIGN(WritePlan plan, MakeWritePlan(std::move(metadata), schema));
  plan.format = format;
  IW_ASSIGN(const auto arrow_schema, ToArrowSchema(schema));
  const auto pool = MakePool(run);
  IW_ASSIGN(auto writer, CreateFileWriter(run, std::make_shared<const WritePlan>(std::move(plan)),
                                          io, location, pool));
  for (std::size_t from = 0; from < rows.size(); from += kRowsPerBatch) {
    IW_TRY(run.Check());
    const auto part = rows.subspan(from, std::min(kRowsPerBatch, rows.size() - from));
    arrow::ArrayVector columns;
    std::size_t leaf = 0;
    for (std::size_t i = 0; i < schema.fields().size(); ++i) {
      IW_ASSIGN(auto column,
                ColumnOf(schema.fields()[i].type, arrow_schema->field(static_cast<int>(i))->type(),
                         part, leaf, pool.get()));
      columns.push_back(std::move(column));
    }
    IW_TRY(writer->Write(
        run, *arrow::RecordBatch::Make(arrow_schema, std::ssize(part), std::move(columns))));
  }
  return writer->Close(run);
}

Status ReadLiteralFile(RunContext& run, std::shared_ptr<FileIO> io,
                       std::shared_ptr<const TableMetadata> metadata, const Schema& schema,
                       const DataFile& file, const std::function<Status(StructValue&&)>& visit) {
  std::vector<std::vector<int>> leaves;
  IW_TRY(AddLeaves(schema.fields(), {}, leaves));
  const auto pool = MakePool(run);
  IW_ASSIGN(auto plan, MakeReadPlan(std::move(metadata), schema));
  FileTask task;
  task.data_file = file;
  IW_ASSIGN(auto reader, OpenTask(run, plan, std::move(io), nullptr, task, pool));
  for (;;) {
    IW_ASSIGN(const auto batch, reader->Next(run));
    if (batch == nullptr) return {};
    std::vector<std::shared_ptr<arrow::Array>> columns;
    for (const std::vector<int>& path : leaves) {
      IW_ASSIGN(auto column, ColumnAt(*batch, path));
      columns.push_back(std::move(column));
    }
    for (std::int64_t row = 0; row < batch->num_rows(); ++row) {
      StructValue values;
      values.reserve(columns.size());
      for (const auto& column : columns) {
        IW_ASSIGN(Literal value, LiteralAt(*column, row));
        values.push_back(std::move(value));
      }
      IW_TRY(visit(std::move(values)));
    }
  }
}

}  // namespace icewright
