#pragma once

/// \file data/external_sort.h
/// Sorts a stream of batches within a limit of memory: sorted runs on local disk, then a merge.
///
/// Spec: "Sorting".

#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/run_context.h"
#include "data/sort_key.h"

namespace icewright {

struct SortOptions {
  std::int64_t memory_bytes = 0;  ///< of rows held at once; a batch is always held
  std::int64_t output_rows = 64 * 1024;
  std::string temp_folder = {};  ///< empty: the system's
};

/// Stable: rows that are equal in the order keep the order they were added in. Its temporary files
/// are removed when it is destroyed, whatever happened. Single-threaded.
class ExternalSort {
 public:
  ExternalSort(SortKey key, SortOptions options, std::shared_ptr<arrow::MemoryPool> pool);
  ~ExternalSort();

  /// Errors: kIo for the disk, kExhausted, kCancelled.
  Status Add(RunContext& run, std::shared_ptr<arrow::RecordBatch> batch);

  /// The next sorted batch, or null at the end. After the first call nothing may be added. Errors:
  /// as Add.
  Result<std::shared_ptr<arrow::RecordBatch>> Next(RunContext& run);

  /// Runs written to disk so far; 0 if all fitted.
  int spilled_runs() const;

 private:
  struct Rep;
  std::unique_ptr<Rep> rep_;
};

}  // namespace icewright
