#pragma once

/// \file data/spill_file.h
/// Temporary files of sorted rows on the local disk.

#include <arrow/array/array_binary.h>
#include <arrow/type_fwd.h>

#include <memory>
#include <string>

#include "base/result.h"

namespace icewright {

/// A folder of its own that goes with everything in it. Single-threaded.
class SpillFolder {
 public:
  /// In `parent`; empty: the system's folder for temporary files. Errors: kIo.
  static Result<SpillFolder> Make(const std::string& parent);
  SpillFolder(SpillFolder&& other) noexcept;
  SpillFolder& operator=(SpillFolder&& other) noexcept;
  ~SpillFolder();

  /// A path that is not in use.
  std::string NewFile();
  void Remove(const std::string& file);

 private:
  explicit SpillFolder(std::string path) : path_(std::move(path)) {}
  void RemoveAll();
  std::string path_;  // empty: moved from
  int count_ = 0;
};

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
