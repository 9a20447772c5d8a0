#pragma once

/// \file schedule/snapshot_monitor.h
/// What was committed to a branch since the last look.
///
/// Java twins: MonitorSource, TableChange.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/result.h"
#include "base/run_context.h"
#include "io/file_io.h"
#include "schedule/table_change.h"
#include "schedule/trigger_core.h"
#include "table/metadata.h"

namespace icewright {

/// How far a branch has been looked at. Unset: never.
struct MonitorPosition {
  SnapshotId last_seen{};
  SequenceNumber sequence_number{0};
  friend bool operator==(const MonitorPosition&, const MonitorPosition&) = default;
};

struct MonitorOptions {
  std::string branch = "main";
  int max_read_back = 100;  ///< Snapshots counted by one look. Range: >= 1.
  TriggerPolicy policy = TriggerPolicy::kDefault;
};

struct BranchChange {
  TableChange change;
  std::optional<MonitorPosition> position;  ///< For the next look.
  std::string note;  ///< What a person should know: history that was cut, a rollback. Else empty.
};

/// One look. Java's counts, exactly: of each snapshot that is not a `replace`, the files it added.
/// kJava counts again what a rollback uncovers, and leaves out silently what is over the budget.
/// kDefault counts each snapshot once, takes what is over the budget from the snapshots' summaries
/// (but for history older than the first look), and `replace` snapshots use up none of it.
/// Errors: those of reading manifests; the position then stays.
/// Cost: nothing but a comparison if the head is where it was; else the manifest list of each new
/// snapshot, and the manifests that it added.
Result<BranchChange> LookAtBranch(RunContext& run, FileIO& io, const TableMetadata& metadata,
                                  const std::optional<MonitorPosition>& position,
                                  const MonitorOptions& options);

/// The files that one snapshot added, and one commit. Errors: those of ReadManifests and manifests.
Result<TableChange> ChangeOf(RunContext& run, FileIO& io, const TableMetadata& metadata,
                             const Snapshot& snapshot);

/// The same from the snapshot's summary, as far as its writer filled it in.
TableChange SummaryChangeOf(const Snapshot& snapshot);

}  // namespace icewright
