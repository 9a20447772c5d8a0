#pragma once

/// \file data/write_test_table.h
/// For tests: rows from JSON, a table in memory, and writing and reading of its files.

#include <arrow/array.h>
#include <arrow/compute/api_vector.h>
#include <arrow/json/from_string.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "data/arrow_bridge.h"
#include "data/arrow_schema.h"
#include "data/batch_reader.h"
#include "data/file_writer.h"
#include "io/memory_file_io.h"
#include "testing/matchers.h"
#include "testing/table_builder.h"

namespace icewright {

/// Rows as JSON arrays in the order of the columns: [[1, "a"], [2, null]]. Fails the test for
/// others.
inline std::shared_ptr<arrow::RecordBatch> RowsOf(const Schema& schema, const std::string& json) {
  auto type = ToArrowSchema(schema);
  if (!type) ADD_FAILURE() << type.error().message();
  auto array = arrow::json::ArrayFromJSONString(arrow::struct_((*type)->fields()), json);
  if (!array.ok()) ADD_FAILURE() << array.status().ToString();
  auto columns = static_cast<const arrow::StructArray&>(**array).fields();
  return arrow::RecordBatch::Make(*type, (*array)->length(), std::move(columns));
}

/// Every primitive type of format version 2 in column order 1 to 14, all optional.
inline Schema PrimitiveSchema() {
  return MakeSchema({{1, "flag", TypeId::kBoolean},
                     {2, "i", TypeId::kInt},
                     {3, "l", TypeId::kLong},
                     {4, "f", TypeId::kFloat},
                     {5, "d", TypeId::kDouble},
                     {6, "day", TypeId::kDate},
                     {7, "t", TypeId::kTime},
                     {8, "ts", TypeId::kTimestamp},
                     {9, "tz", TypeId::kTimestampTz},
                     {10, "s", TypeId::kString},
                     {11, "u", TypeId::kUuid},
                     {12, "fx", Type::Fixed(3)},
                     {13, "b", TypeId::kBinary},
                     {14, "small", Type::Decimal(9, 2)},
                     {15, "middle", Type::Decimal(18, 3)},
                     {16, "big", Type::Decimal(38, 10)}});
}

inline Field MakeField(int id, std::string name, Type type, bool required = false) {
  return {
      .id = FieldId{id}, .name = std::move(name), .required = required, .type = std::move(type)};
}

/// id, person struct<name!, age>, tags list<string>, attrs map<string, int>, deep list<struct<a!, m
/// map<string, double>>>.
inline Schema NestedSchema() {
  const Type text = Type::Of(TypeId::kString);
  const Type number = Type::Of(TypeId::kInt);
  const Type person =
      Type::Struct({MakeField(10, "name", text, true), MakeField(11, "age", number)});
  const Type inner = Type::Map(MakeField(23, "key", text, true),
                               MakeField(24, "value", Type::Of(TypeId::kDouble)));
  const Type deep = Type::Struct({MakeField(21, "a", number, true), MakeField(22, "m", inner)});
  return Schema(
      {MakeField(1, "id", Type::Of(TypeId::kLong), true), MakeField(2, "person", person),
       MakeField(3, "tags", Type::List(MakeField(12, "element", text))),
       MakeField(4, "attrs",
                 Type::Map(MakeField(13, "key", text, true), MakeField(14, "value", number))),
       MakeField(5, "deep", Type::List(MakeField(20, "element", deep, true)))},
      SchemaId{0});
}

/// A table in memory whose files are written and read by this module. Single-threaded.
class WriteTable {
 public:
  explicit WriteTable(Schema schema, Properties properties = {}, int format_version = 2,
                      std::vector<PartitionSpec> specs = {PartitionSpec{}})
      : io_(MakeMemoryFileIO()),
        metadata_(MakeTable(std::move(schema), std::move(specs), format_version)) {
    metadata_.properties = std::move(properties);
  }

  TableMetadata& metadata() { return metadata_; }
  const Schema& schema() const { return metadata_.schema(); }
  std::shared_ptr<const TableMetadata> shared() const {
    return std::make_shared<const TableMetadata>(metadata_);
  }
  const std::shared_ptr<FileIO>& io() const { return io_; }
  RunContext& run() { return run_; }

  Result<std::unique_ptr<FileWriter>> Open(const std::string& name) {
    return Open(name, metadata_.schema());
  }
  Result<std::unique_ptr<FileWriter>> Open(const std::string& name, const Schema& schema) {
    auto plan = MakeWritePlan(shared(), schema);
    if (!plan) return plan.error();
    return CreateFileWriter(run_, std::make_shared<const WritePlan>(*plan), *io_,
                            Location("memory:/t/data/" + name), MakePool(run_));
  }

  Result<DataFile> Write(const std::string& name,
                         const std::vector<std::shared_ptr<arrow::RecordBatch>>& batches) {
    IW_ASSIGN(auto writer, Open(name));
    for (const auto& batch : batches) IW_TRY(writer->Write(run_, *batch));
    return writer->Close(run_);
  }
  Result<DataFile> Write(const std::string& name, const std::string& json) {
    return Write(name, {RowsOf(schema(), json)});
  }

  /// All rows of a file as one batch.
  Result<std::shared_ptr<arrow::RecordBatch>> Read(const FileTask& task, const Schema& schema) {
    IW_ASSIGN(auto plan, MakeReadPlan(shared(), schema));
    auto deletes = MakeDeleteCache(plan, io_);
    IW_ASSIGN(auto reader, OpenTask(run_, plan, io_, deletes, task, MakePool(run_)));
    arrow::RecordBatchVector batches;
    for (;;) {
      IW_ASSIGN(auto batch, reader->Next(run_));
      if (batch == nullptr) break;
      batches.push_back(std::move(batch));
    }
    if (batches.empty()) return RowsOf(schema, "[]");
    return FromArrow(arrow::ConcatenateRecordBatches(batches));
  }
  Result<std::shared_ptr<arrow::RecordBatch>> Read(const DataFile& file) {
    return Read(FileTask{.data_file = file, .deletes = {}}, schema());
  }

  /// Names of all files below the table's location.
  std::vector<std::string> FileNames() {
    std::vector<std::string> names;
    const Status listed = io_->List(Location("memory:/t"), [&](const FileStatus& file) -> Status {
      names.push_back(file.location.text());
      return {};
    });
    EXPECT_THAT(listed, IsOk());
    return names;
  }

 private:
  RunContext run_;  // outlives what allocates from it
  std::shared_ptr<FileIO> io_;
  TableMetadata metadata_;
};

}  // namespace icewright
