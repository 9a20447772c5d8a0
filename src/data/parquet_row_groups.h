#pragma once

/// \file data/parquet_row_groups.h
/// How rows become the row groups of a Parquet file: all columns side by side, or one column after
/// the other.

#include <parquet/arrow/writer.h>
#include <parquet/file_writer.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"
#include "base/run_context.h"
#include "data/file_writer.h"
#include "data/parquet_schema.h"

namespace icewright {

/// The row group at hand.
struct OpenRowGroup {
  std::int64_t rows = 0;
  std::int64_t bytes = 0;            ///< in the file, as far as that is known yet
  std::int64_t unencoded_bytes = 0;  ///< of these still to be encoded or compressed
  std::int64_t held_bytes = 0;       ///< of memory
};

/// Single-threaded. Parquet's exceptions pass through.
class RowGroups {
 public:
  virtual ~RowGroups() = default;

  /// Adds rows to the open row group. Errors: kCorrupt for a null in a required column.
  virtual Status Add(RunContext& run, const arrow::RecordBatch& rows) = 0;

  /// Ends the open row group, if any.
  virtual Status End(RunContext& run) = 0;

  /// True if the open row group should end.
  virtual bool is_full() const = 0;

  /// Rows of `raw_row_bytes` each in memory that fit before is_full() is to be asked again; at
  /// least 100.
  virtual std::int64_t RowsThatFit(std::int64_t raw_row_bytes) const = 0;

  const OpenRowGroup& open() const { return open_; }

  /// Per leaf: nulls of flat columns.
  virtual const std::vector<std::int64_t>& nulls() const = 0;

 protected:
  OpenRowGroup open_;
};

/// What row groups are written with. All of it outlives them.
struct RowGroupsInput {
  const WritePlan* plan = nullptr;
  const std::vector<ParquetLeaf>* leaves = nullptr;
  arrow::MemoryPool* pool = nullptr;
  parquet::ParquetFileWriter* file = nullptr;
};

/// One open column writer per leaf: holds encoded pages of the whole row group, and a page and a
/// compressor of each column.
std::unique_ptr<RowGroups> MakeRowGroupsSideBySide(const RowGroupsInput& input);

/// Keeps the rows of a row group as they come, up to the plan's raw_row_group_bytes, and writes
/// them with one open column writer at a time.
std::unique_ptr<RowGroups> MakeRowGroupsByColumn(const RowGroupsInput& input);

}  // namespace icewright
