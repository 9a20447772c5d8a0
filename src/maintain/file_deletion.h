#pragma once

/// \file maintain/file_deletion.h
/// Deletes what a journal lists, in batches, and looks again before each whether it is right.

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/location.h"
#include "base/result.h"
#include "base/run_context.h"
#include "catalog/table.h"
#include "maintain/reachable_files.h"

namespace icewright {

struct DeletionOptions {
  int batch_size = 1000;
  int parallelism = 1;
  std::int64_t total = 0;  ///< Files in the journal.
};

/// Every file of the journal is in exactly one of deleted, spared, failed and pending.
struct DeletionOutcome {
  std::array<std::int64_t, kFileKindNames.size()> deleted = {};
  std::int64_t deleted_bytes = 0;
  std::int64_t spared = 0;  ///< Reachable after all: a snapshot came meanwhile.
  std::vector<DoomedFile> failed = {};
  std::optional<Error> first_failure = {};
  std::optional<Error> stopped = {};  ///< Why the rest was not tried.
  std::int64_t pending = 0;           ///< Not tried.
};

/// Precondition: the commit that the journal belongs to has landed; `reachable` covers a state of
/// the table after it. Before each round of batches the table is loaded and `reachable` extended by
/// what is new; run.CheckMayWrite() is asked before each batch. A file that is gone already counts
/// as deleted. Stops: what is not tried is counted; the journal is not touched.
DeletionOutcome DeleteJournaled(RunContext& run, Table& table, const Location& journal,
                                ReachableFiles& reachable, const DeletionOptions& options);

}  // namespace icewright
