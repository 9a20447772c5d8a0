#pragma once

/// \file maintain/key_places.h
/// Where the rows of a key are: what resolves an equality delete without a scan.

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/bytes.h"
#include "base/memory_budget.h"
#include "base/result.h"
#include "base/run_context.h"
#include "data/row_keys.h"
#include "scan/file_task.h"

namespace icewright {

/// A row of a data file that was learned.
struct RowPlace {
  std::uint64_t file = 0;
  std::int64_t position = 0;
};

/// A data file never changes, so what was learned of one stays true whatever becomes of a commit. A
/// file counts as learned when all its rows are in: a Learn that fails leaves the rest unknown.
class KeyPlaces {
 public:
  virtual ~KeyPlaces() = default;

  /// Reads the keys of the files that are not known yet, in parallel; a number for each of `files`.
  /// Errors: those of RowKeys, kExhausted; kCorrupt, kIo of the index itself.
  virtual Result<std::vector<std::uint64_t>> Learn(RunContext& run, const RowKeys& keys,
                                                   const std::vector<const DataFile*>& files) = 0;

  /// Calls `visit` with each row that has one of these keys, in any of the files learned ever;
  /// there may be as many as the table has. Cheaper for sorted keys. Thread-safe. Errors: kCorrupt,
  /// kIo of the index itself, those of visit.
  using Visit = std::function<Status(const RowPlace&)>;
  virtual Status Find(const std::vector<Bytes>& keys, const Visit& visit) const = 0;

  /// True after damage was met: what is stored is of no use any more.
  virtual bool is_broken() const { return false; }

  /// How many files Learn read, and how many rows they have.
  std::int64_t files_read() const { return files_read_; }
  std::int64_t rows_read() const { return rows_read_; }

 protected:
  std::int64_t files_read_ = 0;
  std::int64_t rows_read_ = 0;
};

/// In memory, for as long as the object lives.
class KeyPlacesInMemory final : public KeyPlaces {
 public:
  explicit KeyPlacesInMemory(MemoryBudget& budget) : budget_(budget) {}

  Result<std::vector<std::uint64_t>> Learn(RunContext& run, const RowKeys& keys,
                                           const std::vector<const DataFile*>& files) override;
  Status Find(const std::vector<Bytes>& keys, const Visit& visit) const override;

 private:
  Status Add(RunContext& run, const RowKeys& keys, const DataFile& file, std::uint64_t number);

  MemoryBudget& budget_;
  std::mutex mutex_;  // guards rows_ and memory_ while files are learned
  Reservation memory_;
  std::unordered_multimap<std::string, RowPlace> rows_;
  std::unordered_map<std::string, std::uint64_t> numbers_;  // of files whose rows are all in
  std::uint64_t next_number_ = 0;  // rows of a Learn that failed have one that no file has
};

}  // namespace icewright
