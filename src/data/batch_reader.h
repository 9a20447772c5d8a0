#pragma once

/// \file data/batch_reader.h
/// Rows of one data file as Arrow batches: projected by field id, evolved to the schema asked for,
/// deletes applied.
///
/// Spec: "Column Projection", "Row Lineage", "Delete Formats".

#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/run_context.h"
#include "data/key_share.h"
#include "io/file_io.h"
#include "scan/file_task.h"
#include "table/metadata.h"
#include "table/name_mapping.h"

namespace icewright {

/// What to read; the same for all files of a scan. Immutable.
struct ReadPlan {
  /// Columns of the output in this order; may hold the reserved columns _row_id,
  /// _last_updated_sequence_number, _file and _pos (see schema.h) as top-level fields.
  Schema projection;
  std::shared_ptr<const TableMetadata> metadata;
  std::optional<NameMapping> name_mapping = {};
  std::int64_t batch_rows = 16 * 1024;  ///< fewer where rows are wide
  std::int64_t by_column_bytes = 0;     ///< as in SourceOptions
  /// _row_id and _last_updated_sequence_number as the file stores them, without inheritance: for
  /// files that no commit has given a first row id yet.
  bool stored_lineage = false;
  /// Of the batches; made by MakeReadPlan.
  std::shared_ptr<arrow::Schema> arrow_schema = {};
};

/// Plan for reading `projection`; parses the table's name mapping. Errors: kCorrupt, kUnsupported
/// (variant, encrypted table).
Result<std::shared_ptr<const ReadPlan>> MakeReadPlan(std::shared_ptr<const TableMetadata> metadata,
                                                     Schema projection);

/// Deletes that several tasks of a run share are loaded once: DVs, position sets by data file,
/// equality key sets. Thread-safe. Takes from the run's memory budget; the run must outlive it.
/// Tasks that share a cache come from one plan of one snapshot: of two deletes that reach the same
/// rows the newer one answers for both.
/// `share`: keys of equality deletes that are not in it are left out.
class DeleteCache;
std::shared_ptr<DeleteCache> MakeDeleteCache(std::shared_ptr<const ReadPlan> plan,
                                             std::shared_ptr<FileIO> io, KeyShare share = {});

struct ReadCounts {
  std::int64_t rows_read = 0;     ///< rows the file holds, as far as it was read
  std::int64_t rows_deleted = 0;  ///< of those, dropped by a delete
};

/// Single-threaded. Memory: about one batch of each column chunk, from `pool`.
class BatchReader {
 public:
  virtual ~BatchReader() = default;

  /// The next batch with the plan's Arrow schema, or null at the end. Batches may be empty.
  /// Errors: kCorrupt, kUnsupported, kCancelled, kExhausted, those of io; all name the file.
  virtual Result<std::shared_ptr<arrow::RecordBatch>> Next(RunContext& run) = 0;
  virtual ReadCounts counts() const = 0;
};

/// Parquet, Avro or ORC by the task's file_format. Reads the footer and the deletes. `deletes` may
/// be null if the task has none. Rows come in the order of the file; `_pos` and `_row_id` count
/// from its first row. Errors: as Next.
Result<std::unique_ptr<BatchReader>> OpenTask(RunContext& run, std::shared_ptr<const ReadPlan> plan,
                                              std::shared_ptr<FileIO> io,
                                              std::shared_ptr<DeleteCache> deletes,
                                              const FileTask& task,
                                              std::shared_ptr<arrow::MemoryPool> pool);

}  // namespace icewright
