#pragma once

/// \file data/read_test_table.h
/// For tests of the reading half: a table in memory whose files Arrow writes from JSON.
///
///   ReadTestTable table(MakeTable(MakeSchema({{1, "id", TypeId::kLong}}), {MakeSpec(0, {})}));
///   table.AddData("a.parquet", {Col(1, "id", arrow::int64())}, {R"([{"id": 1}, {"id": 2}])"});
///   table.DeletePositions("d.parquet", {{"a.parquet", 0}});
///   EXPECT_THAT(table.Rows(), IsOkAndHolds(ElementsAre("[2]")));

#include <arrow/adapters/orc/adapter.h>
#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/io/memory.h>
#include <arrow/json/from_string.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>
#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>
#include <parquet/arrow/writer.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "codec/json.h"
#include "codec/position_bitmap.h"
#include "data/arrow_bridge.h"
#include "data/row_scan.h"
#include "io/memory_file_io.h"
#include "scan/file_task.h"
#include "testing/matchers.h"
#include "testing/table_builder.h"

namespace icewright {

/// A column of a Parquet file; id 0: none.
inline std::shared_ptr<arrow::Field> Col(int id, const std::string& name,
                                         std::shared_ptr<arrow::DataType> type) {
  if (id == 0) return arrow::field(name, std::move(type));
  return arrow::field(name, std::move(type), true,
                      arrow::key_value_metadata({"PARQUET:field_id"}, {std::to_string(id)}));
}

inline std::shared_ptr<arrow::RecordBatch> BatchOf(const arrow::FieldVector& fields,
                                                   const std::string& json) {
  const auto array = arrow::json::ArrayFromJSONString(arrow::struct_(fields), json).ValueOrDie();
  const auto batch = arrow::RecordBatch::FromStructArray(array).ValueOrDie();
  return arrow::RecordBatch::Make(arrow::schema(fields), batch->num_rows(), batch->columns());
}

/// Each string is one row group, as a JSON array of objects.
inline Bytes ParquetBytes(const arrow::FieldVector& fields, const std::vector<std::string>& groups,
                          bool int96 = false) {
  auto sink = arrow::io::BufferOutputStream::Create().ValueOrDie();
  auto properties = parquet::WriterProperties::Builder().enable_page_checksum()->build();
  parquet::ArrowWriterProperties::Builder arrow_properties;
  arrow_properties.store_schema();  // readers must not need it
  if (int96) arrow_properties.enable_deprecated_int96_timestamps();
  auto writer =
      parquet::arrow::FileWriter::Open(*arrow::schema(fields), arrow::default_memory_pool(), sink,
                                       properties, arrow_properties.build())
          .ValueOrDie();
  for (const std::string& json : groups) {
    const auto table =
        arrow::Table::FromRecordBatches(arrow::schema(fields), {BatchOf(fields, json)})
            .ValueOrDie();
    EXPECT_TRUE(writer->WriteTable(*table).ok());
  }
  EXPECT_TRUE(writer->Close().ok());
  return sink->Finish().ValueOrDie()->ToString();
}

/// Without field ids: Arrow's writer has none to give.
inline Bytes OrcBytes(const arrow::FieldVector& fields, const std::string& json) {
  auto sink = arrow::io::BufferOutputStream::Create().ValueOrDie();
  auto writer = arrow::adapters::orc::ORCFileWriter::Open(sink.get()).ValueOrDie();
  EXPECT_TRUE(writer->Write(*BatchOf(fields, json)).ok());
  EXPECT_TRUE(writer->Close().ok());
  return sink->Finish().ValueOrDie()->ToString();
}

class ReadTestTable {
 public:
  explicit ReadTestTable(TableMetadata metadata)
      : metadata_(std::move(metadata)), io_(MakeMemoryFileIO()) {}

  TableMetadata& metadata() { return metadata_; }
  FileIO& io() { return *io_; }
  std::shared_ptr<FileIO> shared_io() const { return io_; }
  std::vector<FileTask>& tasks() { return tasks_; }

  /// Data files get sequence number 1.
  FileTask& AddFile(const std::string& name, const Bytes& bytes,
                    FileFormat format = FileFormat::kParquet) {
    FileTask task;
    task.data_file = Store(name, bytes);
    task.data_file.file_format = format;
    task.sequence_number = SequenceNumber{1};
    tasks_.push_back(std::move(task));
    return tasks_.back();
  }
  FileTask& AddData(const std::string& name, const arrow::FieldVector& fields,
                    const std::vector<std::string>& groups) {
    return AddFile(name, ParquetBytes(fields, groups));
  }

  /// A delete file for all tasks so far; sequence number 2 unless said otherwise.
  void DeletePositions(const std::string& name,
                       const std::vector<std::pair<std::string, std::int64_t>>& positions) {
    std::string json;
    for (const auto& [file, position] : positions) {
      json += (json.empty() ? "[" : ",") + std::string(R"({"file_path": ")") + file +
              R"(", "pos": )" + std::to_string(position) + "}";
    }
    auto task = std::make_shared<DeleteTask>();
    task->file = Store(name, ParquetBytes({Col(2147483546, "file_path", arrow::utf8()),
                                           Col(2147483545, "pos", arrow::int64())},
                                          {json + "]"}));
    task->file.content = FileContent::kPositionDeletes;
    Apply(std::move(task));
  }
  void DeleteKeys(const std::string& name, const arrow::FieldVector& fields,
                  const std::string& json, std::vector<int> ids, int sequence_number = 2) {
    auto task = std::make_shared<DeleteTask>();
    task->file = Store(name, ParquetBytes(fields, {json}));
    task->file.content = FileContent::kEqualityDeletes;
    for (const int id : ids) task->file.equality_ids.push_back(FieldId{id});
    Apply(std::move(task), sequence_number);
  }
  void DeleteVector(const std::string& name, const std::vector<std::int64_t>& positions) {
    PositionBitmap bitmap;
    for (const std::int64_t position : positions) bitmap.Add(position);
    const Bytes blob = bitmap.SerializeDeletionVector();
    auto task = std::make_shared<DeleteTask>();
    task->file = Store(name, "PFA1" + blob + "rest of the Puffin file");
    task->file.content = FileContent::kPositionDeletes;
    task->file.file_format = FileFormat::kPuffin;
    task->file.content_offset = 4;
    task->file.content_size_in_bytes = static_cast<std::int64_t>(blob.size());
    task->file.record_count = bitmap.cardinality();
    Apply(std::move(task));
  }

  /// Rows as JSON text.
  Result<std::vector<std::string>> Rows(const RowScanOptions& options = {}) {
    RunContext run;
    auto rows = Rows(run, options);
    EXPECT_EQ(run.memory().used(), 0) << "everything taken is given back";
    return rows;
  }
  Result<std::vector<std::string>> Rows(RunContext& run, const RowScanOptions& options = {}) {
    std::vector<std::string> out;
    IW_TRY(ScanRows(run, *io_, metadata_, metadata_.schema(), tasks_, options,
                    [&](const Json& row) -> Status {
                      out.push_back(DumpJson(row));
                      return {};
                    }));
    return out;
  }

 private:
  DataFile Store(const std::string& name, const Bytes& bytes) {
    EXPECT_THAT(WriteFile(*io_, Location(name), bytes, CreateMode::kNew), IsOk());
    DataFile file;
    file.file_path = Location(name);
    file.file_size_in_bytes = static_cast<std::int64_t>(bytes.size());
    return file;
  }
  void Apply(std::shared_ptr<DeleteTask> deletes, int sequence_number = 2) {
    deletes->sequence_number = SequenceNumber{sequence_number};
    for (FileTask& task : tasks_) task.deletes.push_back(deletes);
  }

  TableMetadata metadata_;
  std::shared_ptr<FileIO> io_;
  std::vector<FileTask> tasks_;
};

}  // namespace icewright
