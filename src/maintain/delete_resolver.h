#pragma once

/// \file maintain/delete_resolver.h
/// How a conversion resolves its deletes: by a scan of key columns, by one scan for several staging
/// snapshots, or with an index that outlives the run.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "base/run_context.h"
#include "catalog/table.h"
#include "maintain/convert_cycle.h"
#include "maintain/convert_equality_deletes_options.h"
#include "maintain/key_places.h"
#include "maintain/resolve_deletes.h"

namespace icewright {

/// Serves one run. All ways have the same result. Single-threaded.
class DeleteResolver {
 public:
  /// `settings` outlives it.
  explicit DeleteResolver(const ConvertSettings& settings) : settings_(settings) {}

  /// Errors: those of ResolveEqualityDeletes; of an index that the user insists on, kLockHeld
  /// (another process has it open), kIo, kDenied.
  Result<std::vector<ResolvedFile>> Resolve(RunContext& run, const Table& table,
                                            const ConvertWork& work);

  /// How many data files' keys were read, each time counted.
  std::int64_t files_read() const { return files_read_; }
  /// How many rows went into the index, and how often it was begun anew.
  std::int64_t rows_indexed() const { return rows_indexed_; }
  std::int64_t indices_begun_anew() const { return indices_begun_anew_; }
  /// What a person should know: an index was rebuilt, or could not be used.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  /// Several staging snapshots whose deletes are looked for in one scan.
  struct Batch {
    std::unordered_set<std::string> deletes = {};  // paths
    std::string state = {};
    RowKeys keys;
    std::unique_ptr<KeyPlacesInMemory> places;
  };

  using Resolved = Result<std::vector<ResolvedFile>>;
  Resolved Scan(RunContext& run, const Table& table, const ConvertWork& work);
  Resolved WithBatch(RunContext& run, const Table& table, const ConvertWork& work);
  Resolved WithIndex(RunContext& run, const Table& table, const ConvertWork& work);
  Status MakeBatch(RunContext& run, const Table& table);
  bool BatchHolds(const Table& table, const ConvertWork& work) const;
  bool WantsIndex(const ConvertWork& work) const;

  const ConvertSettings& settings_;
  std::unique_ptr<Batch> batch_;
  bool no_batch_ = false;
  std::unique_ptr<KeyPlaces> index_;
  std::string index_layout_;
  bool no_index_ = false;
  std::int64_t files_read_ = 0;
  std::int64_t rows_indexed_ = 0;
  std::int64_t indices_begun_anew_ = 0;
  std::vector<std::string> notes_;
};

}  // namespace icewright
