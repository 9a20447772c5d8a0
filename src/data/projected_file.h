#pragma once

/// \file data/projected_file.h
/// One data or delete file, read as the columns that the caller names. Knows nothing of deletes.

#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/run_context.h"
#include "data/projection.h"
#include "data/source_file.h"
#include "io/file_io.h"
#include "manifest/data_file.h"
#include "table/metadata.h"
#include "table/name_mapping.h"
#include "table/schema.h"

namespace icewright {

struct ProjectedFileOptions {
  /// Columns of the result; an id may occur twice.
  std::vector<Field> wanted = {};
  PartitionConstants constants = {};
  std::optional<NameMapping> name_mapping = {};
  /// Names for files without ids, if there is no mapping.
  Schema schema = {};
  std::int64_t batch_rows = 16 * 1024;
  std::int64_t by_column_bytes = 0;                 ///< as in SourceOptions
  std::shared_ptr<const KeyFilter> only_with = {};  ///< as in SourceOptions
  /// A file that lacks one of the columns is kCorrupt instead of getting nulls.
  bool all_required = false;
};

/// Values of identity fields of a data file's partition, by source column.
PartitionConstants ConstantsOf(const TableMetadata& metadata, const DataFile& file);

/// Single-threaded.
class ProjectedFile {
 public:
  /// Errors: those of OpenSource, AssignFieldIds, Projection::Make; all name the file.
  static Result<ProjectedFile> Open(RunContext& run, FileIO& io, const DataFile& file,
                                    ProjectedFileOptions options,
                                    std::shared_ptr<arrow::MemoryPool> pool);

  /// The next rows as the file has them; unset at the end. Errors name the file.
  Result<std::optional<SourceBatch>> Next(RunContext& run);

  /// Wanted column `i` of what Next returned. Errors name the file.
  Result<std::shared_ptr<arrow::Array>> Column(std::size_t i, const SourceBatch& batch) const;

  bool IsConstant(std::size_t i) const { return projection_.IsConstant(i); }
  Result<std::shared_ptr<arrow::Array>> Constant(std::size_t i, std::int64_t rows) const {
    return projection_.Constant(i, rows, pool_.get());
  }

  /// "read s3://...": the step that errors are within.
  const std::string& step() const { return step_; }

 private:
  ProjectedFile() = default;
  std::shared_ptr<arrow::MemoryPool> pool_;  // first: outlives what is allocated from it
  std::string step_;
  std::unique_ptr<SourceFile> source_;
  Projection projection_;
};

}  // namespace icewright
