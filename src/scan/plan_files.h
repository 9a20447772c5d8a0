#pragma once

/// \file scan/plan_files.h
/// Scan planning: from a snapshot to the data files to read and their deletes.
///
/// Spec: "Scan Planning".   Java twins: DataTableScan, ManifestGroup.

#include <functional>
#include <optional>
#include <string>

#include "base/run_context.h"
#include "io/file_io.h"
#include "scan/file_task.h"
#include "table/expression.h"
#include "table/metadata.h"

namespace icewright {

/// At most one member may be set; none: the head of main.
struct SnapshotSelector {
  std::optional<SnapshotId> snapshot_id = {};
  std::optional<TimePoint> as_of = {};  ///< newest snapshot of main's history at that time
  std::optional<std::string> branch = {};
  std::optional<std::string> tag = {};
};

/// Null for a table without a snapshot. Errors: kNotFound, naming what there is; kInvalidArgument
/// for two selectors or a branch name that is a tag.
Result<const Snapshot*> SelectSnapshot(const TableMetadata& metadata,
                                       const SnapshotSelector& selector);

struct PlanOptions {
  Expression filter = {};          ///< bound to the schema the scan uses
  const Schema* schema = nullptr;  ///< that schema; null: the current one
  bool metrics = false;            ///< keep counts and bounds of columns in the tasks' data files
};

struct PlanSummary {
  std::int64_t data_manifests = 0, data_manifests_skipped = 0;
  std::int64_t delete_manifests = 0, delete_manifests_skipped = 0;
  std::int64_t data_files = 0, data_files_skipped = 0, delete_files = 0;
};

/// Calls `visit` for each matching data file, in the order of manifests and their entries, on the
/// calling thread. Manifests are read in parallel; memory is bounded by the deletes plus a few
/// manifests. Errors: those of visit, kCorrupt (two DVs for one file, ...), those of io.
Result<PlanSummary> PlanFiles(RunContext& run, FileIO& io, const TableMetadata& metadata,
                              const Snapshot& snapshot, const PlanOptions& options,
                              const std::function<Status(FileTask&&)>& visit);

}  // namespace icewright
