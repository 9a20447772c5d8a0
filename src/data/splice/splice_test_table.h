#pragma once

/// \file data/splice/splice_test_table.h
/// For tests: tables in memory whose files are written by Arrow's own writer, spliced, and what is
/// inside the results.

#include <arrow/table.h>
#include <arrow/util/byte_size.h>
#include <parquet/arrow/writer.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>
#include <parquet/page_index.h>
#include <parquet/properties.h>
#include <parquet/statistics.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "data/arrow_bridge.h"
#include "data/rewrite_test_table.h"

namespace icewright {

/// Single-threaded.
class SpliceTable : public RewriteTestTable {
 public:
  using RewriteTestTable::RewriteTestTable;

  Result<RewrittenGroup> Splice(RunContext& with, const RewriteGroupRequest& request,
                                EngineChoice choice = EngineChoice::kSplice) {
    IW_ASSIGN(const auto engine,
              MakeEngine(choice, shared(), io(), "splice" + std::to_string(++operations_)));
    return engine->Rewrite(with, request);
  }
  Result<RewrittenGroup> Splice(const RewriteGroupRequest& request) {
    return Splice(run(), request);
  }

  /// A file by Arrow's writer, with field ids, and no metrics in its entry.
  FileTask ArrowFile(const std::string& name, const std::shared_ptr<arrow::RecordBatch>& rows,
                     const std::shared_ptr<parquet::WriterProperties>& properties) {
    const Location location("memory:/t/data/" + name + ".parquet");
    auto file = io()->Create(location, CreateMode::kNew);
    EXPECT_THAT(file, IsOk());
    auto table = *arrow::Table::FromRecordBatches({rows});
    const auto status = parquet::arrow::WriteTable(
        *table, arrow::default_memory_pool(), ToArrowStream(**file),
        std::max<std::int64_t>(properties->max_row_group_length(), 1), properties);
    EXPECT_TRUE(status.ok()) << status.ToString();
    FileTask task;
    task.data_file.file_path = location;
    task.data_file.record_count = rows->num_rows();
    task.data_file.file_size_in_bytes = (*file)->bytes_written();
    EXPECT_THAT((*file)->Close(), IsOk());
    return task;
  }

  /// All rows of files, in order.
  std::shared_ptr<arrow::RecordBatch> ReadAll(const std::vector<DataFile>& files,
                                              const Schema& schema) {
    arrow::RecordBatchVector batches = {RowsOf(schema, "[]")};
    for (const DataFile& file : files) {
      auto rows = Read({.data_file = file, .deletes = {}}, schema);
      EXPECT_THAT(rows, IsOk());
      if (rows) batches.push_back(*rows);
    }
    return *arrow::ConcatenateRecordBatches(batches);
  }

  std::unique_ptr<parquet::ParquetFileReader> OpenParquet(const DataFile& file) {
    parquet::ReaderProperties properties;
    properties.set_page_checksum_verification(true);
    auto input = io()->Open(file.file_path);
    EXPECT_THAT(input, IsOk());
    return parquet::ParquetFileReader::Open(
        ToArrowFile(std::move(*input), arrow::default_memory_pool()), properties);
  }

 private:
  int operations_ = 0;
};

/// Counts that no reader of rows would miss.
struct ChunkCounters {
  std::int64_t chunks = 0, with_bounds = 0, with_nulls = 0, with_offset_index = 0;
  std::int64_t with_column_index = 0;
};

inline ChunkCounters CountersOf(parquet::ParquetFileReader& reader, int column) {
  ChunkCounters out;
  const auto footer = reader.metadata();
  for (int g = 0; g < footer->num_row_groups(); ++g) {
    const auto group = footer->RowGroup(g);
    const auto chunk = group->ColumnChunk(column);
    ++out.chunks;
    const auto statistics = chunk->statistics();
    const bool all_null = statistics != nullptr && statistics->HasNullCount() &&
                          statistics->null_count() == chunk->num_values();
    out.with_bounds += statistics != nullptr && (statistics->HasMinMax() || all_null) ? 1 : 0;
    out.with_nulls += statistics != nullptr && statistics->HasNullCount() ? 1 : 0;
    out.with_offset_index += chunk->GetOffsetIndexLocation().has_value() ? 1 : 0;
    out.with_column_index += chunk->GetColumnIndexLocation().has_value() ? 1 : 0;
  }
  return out;
}

}  // namespace icewright
