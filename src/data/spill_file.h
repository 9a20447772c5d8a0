#pragma once

/// \file data/spill_file.h
/// Temporary files of sorted rows on the local disk.

#include <arrow/array/array_binary.h>
#include <arrow/type_fwd.h>

#include <memory>
#include <string>

#include "base/result.h"
#include "io/spill_folder.h"

namespace icewright {

struct SpillBatch {
  std::shared_ptr<arrow::RecordBatch> rows;  ///< null: the end
  std::shared_ptr<arrow::BinaryArray> keys;
};

/// Single-threaded. Errors of all: kIo, kExhausted.
class SpillWriter {
 public:
  static Result<std::unique_ptr<SpillWriter>> Open(std::string path,
                                                   const std::shared_ptr<arrow::Schema>& schema,
                                                   arrow::MemoryPool* pool);
  ~SpillWriter();
  Status Write(const SpillBatch& batch);
  Status Close();
  const std::string& path() const { return path_; }

 private:
  SpillWriter() = default;
  struct Rep;
  std::string path_;
  std::unique_ptr<Rep> rep_;
};

class SpillReader {
 public:
  static Result<std::unique_ptr<SpillReader>> Open(const std::string& path,
                                                   arrow::MemoryPool* pool);
  ~SpillReader();
  Result<SpillBatch> Next();

 private:
  SpillReader() = default;
  struct Rep;
  std::unique_ptr<Rep> rep_;
};

}  // namespace icewright
