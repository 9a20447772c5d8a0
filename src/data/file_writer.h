#pragma once

/// \file data/file_writer.h
/// Writes Arrow batches as one data file, and describes it as a DataFile with metrics.
///
/// Spec: "Manifests" (metrics), "Appendix A: Format-specific Requirements".

#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/run_context.h"
#include "data/metrics_config.h"
#include "io/file_io.h"
#include "manifest/data_file.h"
#include "table/metadata.h"

namespace icewright {

/// What all files of a rewrite share, worked out once from the table's properties. Immutable.
struct WritePlan {
  Schema schema;  ///< incl. _row_id and _last_updated_sequence_number where lineage is kept
  std::shared_ptr<const TableMetadata> metadata;
  FileFormat format = FileFormat::kParquet;
  SortOrderId sort_order_id{0};
  std::string created_by;
  /// Of one open writer; smaller than the table's row-group size if the budget needs it.
  std::int64_t row_group_bytes = 0;
  /// Parquet: of one column chunk's dictionary; smaller than the table's if the budget needs it.
  std::int64_t dictionary_bytes = 0;
  /// Parquet: what an open column writer holds beside its values, outside of any pool.
  std::int64_t open_column_bytes = 0;
  /// Parquet, where the budget has no room for a column writer per column: row groups are written
  /// column by column, from rows that take up to this much memory.
  std::optional<std::int64_t> raw_row_group_bytes = {};
  MetricsConfig metrics = {};
};

/// The table's current schema, with the lineage columns from format version 3 on.
Schema RewriteSchema(const TableMetadata& metadata);

/// A plan by the table's properties (write.format.default, write.parquet.*,
/// write.metadata.metrics.*). Errors: kInvalidArgument for a property that does not parse,
/// kUnsupported for a format.
Result<WritePlan> MakeWritePlan(std::shared_ptr<const TableMetadata> metadata, Schema schema);

/// Single-threaded.
class FileWriter {
 public:
  virtual ~FileWriter() = default;

  /// Precondition: the batch has the plan's Arrow schema. For Parquet, strings and binary may be
  /// dictionaries with int32 indices.
  virtual Status Write(RunContext& run, const arrow::RecordBatch& batch) = 0;

  /// Bytes flushed plus an estimate of what is buffered, for rolling.
  virtual std::int64_t estimated_bytes() const = 0;

  /// Of estimated_bytes() what still is to be encoded or compressed, and so may shrink.
  virtual std::int64_t uncompressed_bytes() const { return 0; }

  /// Bytes that EndRowGroup() would free.
  virtual std::int64_t buffered_bytes() const = 0;

  /// Ends the row group (stripe, block) early, to give memory back.
  virtual Status EndRowGroup(RunContext& run) = 0;

  /// Closes the file. Partition and spec of the result are the caller's to fill in. Errors:
  /// kInternal if the file's own counts are not those of the rows given.
  virtual Result<DataFile> Close(RunContext& run) = 0;
};

/// Destruction without Close removes the file. Errors: kUnsupported for a column type that the
/// format cannot hold.
Result<std::unique_ptr<FileWriter>> CreateFileWriter(RunContext& run,
                                                     std::shared_ptr<const WritePlan> plan,
                                                     FileIO& io, const Location& location,
                                                     std::shared_ptr<arrow::MemoryPool> pool);

}  // namespace icewright
