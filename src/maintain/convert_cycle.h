#pragma once

/// \file maintain/convert_cycle.h
/// One commit of a conversion: what goes into it, and its rows resolved. The two modes make the
/// same kind of work.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/run_context.h"
#include "catalog/table.h"
#include "commit/snapshot_update.h"
#include "maintain/convert_equality_deletes_options.h"
#include "maintain/resolve_deletes.h"
#include "scan/file_task.h"

namespace icewright {

class DeleteResolver;

/// Planned on one state of the table, from which it borrows nothing.
struct ConvertWork {
  SnapshotId marker{};             ///< The staging snapshot that is done afterwards.
  std::int64_t snapshots = 1;      ///< How many staging snapshots that are.
  bool is_part = false;            ///< In place: the rest did not fit and is for another commit.
  std::optional<SnapshotId> base;  ///< The target's head; unset: no snapshot yet.
  /// Live data files whose rows may go, or whose deletion vector changes.
  std::vector<FileTask> tasks = {};
  std::vector<DataFile> equality_deletes = {};
  /// In place: gone afterwards.
  bool removes_equality_deletes = false;
  SequenceNumber newest_delete{0};  ///< Data sequence number of the newest equality delete.
  /// Promotion: what the staging snapshot brings, too.
  std::vector<DataFile> data_files = {};
  std::vector<DataFile> vectors = {};
  ResolveOptions resolve = {};
};

/// In place: the live equality deletes of the target. Unset: there are none.
Result<std::optional<ConvertWork>> PlanInPlace(RunContext& run, const Table& table,
                                               const ConvertSettings& settings);

/// The oldest waiting snapshot of the staging branch that changes something. Unset: none waits.
Result<std::optional<ConvertWork>> PlanPromotion(RunContext& run, const Table& table,
                                                 const ConvertSettings& settings);

struct ConvertCounts {
  std::int64_t resolved_deletes = 0;  ///< Rows that equality deletes dropped.
  std::int64_t added_dvs = 0;
  std::int64_t removed_dvs = 0;
};

/// Resolves the rows with `resolver`, writes their deletion vectors into `written`, and says what
/// to commit. On an error nothing written is left. Errors: those of DeleteResolver; kConflict for a
/// staged vector whose data file the target does not have.
Result<SnapshotUpdate> ExecuteConvertWork(RunContext& run, const Table& table,
                                          const ConvertSettings& settings, const ConvertWork& work,
                                          DeleteResolver& resolver, std::vector<Location>& written,
                                          ConvertCounts& counts);

}  // namespace icewright
