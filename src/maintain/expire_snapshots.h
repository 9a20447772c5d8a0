#pragma once

/// \file maintain/expire_snapshots.h
/// Expiry: snapshots that nobody needs go, with the files that only they reach.
///
/// Contract: docs/tasks/expire-snapshots.md.   Java twins: RemoveSnapshots, ReachableFileCleanup,
/// Flink's ExpireSnapshots.

#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/run_context.h"
#include "catalog/table.h"
#include "maintain/expire_snapshots_options.h"
#include "maintain/task.h"

namespace icewright {

class ExpireSnapshots final : public MaintenanceTask {
 public:
  explicit ExpireSnapshots(ExpireSnapshotsOptions options = {}) : options_(std::move(options)) {}

  std::string_view name() const override { return "expire-snapshots"; }

  /// First finishes the deletions of runs that were killed after their commit. Then finds what
  /// expires and which files only that reaches, commits, deletes. Until the commit a stop leaves
  /// the table as it was; after it a stop leaves the rest to the next run and the outcome is
  /// kPartial. Files that cannot be deleted are no error: they are leftovers, and the next run
  /// tries them again.
  /// Errors: kInvalidArgument, kUnsupported (gc.enabled is false, encryption, a read-only table),
  /// kConflict, kCommitUnknown (no file is deleted), kCorrupt, kCancelled, kLockLost, kExhausted,
  /// kIo.
  /// Cost: lists the metadata folder; reads every manifest list; reads each manifest once if an
  /// expired snapshot has one of its own.
  Status Execute(RunContext& run, Table& table, TaskReport& report) const override;

 private:
  ExpireSnapshotsOptions options_;
};

}  // namespace icewright
