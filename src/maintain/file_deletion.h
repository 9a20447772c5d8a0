#pragma once

/// \file maintain/file_deletion.h
/// Deletes files in batches, and looks again before each whether it is right.

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/location.h"
#include "base/result.h"
#include "base/run_context.h"
#include "catalog/table.h"
#include "io/file_io.h"
#include "maintain/reachable_files.h"

namespace icewright {

struct DeletionOptions {
  int batch_size = 1000;
  int parallelism = 1;
  std::int64_t total = 0;  ///< Files of the source.
};

/// What is to be deleted, and how it is looked at again.
struct DeletionSource {
  /// The next file; false at the end.
  std::function<Result<bool>(DoomedFile&)> next;
  /// Called before each round of batches: takes out what must stay by now.
  std::function<Status(std::vector<DoomedFile>&)> spare;
  /// Takes a batch away and returns what stays; called from many threads.
  std::function<std::vector<DeleteFailure>(std::span<const Location>)> remove;
};

/// Every file of the source is in exactly one of deleted, spared, failed and pending.
struct DeletionOutcome {
  std::array<std::int64_t, kFileKindNames.size()> deleted = {};
  std::int64_t deleted_bytes = 0;
  std::int64_t spared = 0;  ///< Reachable after all: a snapshot came meanwhile.
  std::vector<DoomedFile> failed = {};
  std::optional<Error> first_failure = {};
  std::optional<Error> stopped = {};  ///< Why the rest was not tried.
  std::int64_t pending = 0;           ///< Not tried.
};

/// run.CheckMayWrite() is asked before each batch. A file that is gone already counts as deleted.
/// What fails for the moment is tried again, a few times. Stops: what is not tried is counted.
DeletionOutcome DeleteInRounds(RunContext& run, const DeletionSource& source,
                               const DeletionOptions& options);

/// Precondition: the commit that the journal belongs to has landed; `reachable` covers a state of
/// the table after it. Before each round of batches the table is loaded and `reachable` extended by
/// what is new. The journal is not touched.
DeletionOutcome DeleteJournaled(RunContext& run, Table& table, const Location& journal,
                                ReachableFiles& reachable, const DeletionOptions& options);

}  // namespace icewright
