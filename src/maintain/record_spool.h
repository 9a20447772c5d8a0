#pragma once

/// \file maintain/record_spool.h
/// Records too many for memory: kept in order, or sorted by hash, on the local disk.

#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "base/run_context.h"
#include "io/spill_folder.h"
#include "maintain/path_set.h"

namespace icewright {

/// What is compared, and some bytes that go with it.
struct HashedRecord {
  PathHash hash;
  std::string payload;
};

/// A folder for temporary files that is made when the first one is needed. Single-threaded.
class LazySpillFolder {
 public:
  Result<std::string> NewFile();

 private:
  std::optional<SpillFolder> folder_;
};

/// Written once, then read once, in the order of writing. Small ones stay in memory. Borrows the
/// folder. Single-threaded. Errors of all: kIo, kExhausted (the disk is full).
class RecordSpool {
 public:
  /// Goes to a file when it has more than `memory_bytes`.
  RecordSpool(LazySpillFolder& folder, std::size_t memory_bytes)
      : folder_(folder), memory_bytes_(memory_bytes) {}
  RecordSpool(RecordSpool&&) noexcept;
  ~RecordSpool();

  Status Append(PathHash hash, std::string_view payload);
  /// Ends the writing; reading starts at the first record.
  Status Rewind();
  /// False at the end.
  Result<bool> Next(HashedRecord& record);

  std::int64_t size() const { return size_; }

 private:
  Status Flush();
  Status Fill(std::size_t bytes);
  Error FileError(const char* step) const;

  LazySpillFolder& folder_;
  std::size_t memory_bytes_;
  std::string path_;           // empty: everything is in buffer_
  std::FILE* file_ = nullptr;  // owned
  Bytes buffer_;
  std::size_t position_ = 0;
  std::int64_t size_ = 0;
};

/// Sorts records by hash in bounded memory: full buffers become sorted runs on disk, which are
/// merged. Equal hashes come in no particular order. Single-threaded. Errors as of RecordSpool.
class HashSorter {
 public:
  /// Keeps at most `memory_bytes`. Borrows the folder.
  HashSorter(LazySpillFolder& folder, std::size_t memory_bytes);
  ~HashSorter();

  Status Add(PathHash hash, std::string_view payload);
  /// Ends the adding; reading starts at the smallest hash.
  Status Sort(const RunContext& run);
  /// False at the end.
  Result<bool> Next(HashedRecord& record);

  std::int64_t size() const { return size_; }

 private:
  struct Entry {
    PathHash hash;
    std::uint64_t offset;  // of the payload in bytes_: length, bytes
  };
  struct Merge;

  void SortEntries();
  std::string_view PayloadAt(const Entry& entry) const;
  Status SpillRun();
  Status MergeFirstRuns(const RunContext& run, std::size_t count);

  LazySpillFolder& folder_;
  const std::size_t memory_bytes_;
  std::vector<Entry> entries_;
  Bytes bytes_;
  std::vector<std::unique_ptr<RecordSpool>> runs_;
  std::unique_ptr<Merge> merge_;  // set while runs are read
  std::size_t position_ = 0;      // in entries_, if there are no runs
  std::int64_t size_ = 0;
  bool reserved_ = false;
};

}  // namespace icewright
