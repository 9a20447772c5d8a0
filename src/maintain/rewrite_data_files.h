#pragma once

/// \file maintain/rewrite_data_files.h
/// Compaction: many small data files, or files with many deleted rows, become few good ones.
///
/// Contract: docs/tasks/rewrite-data-files.md.   Java twins: RewriteDataFiles,
/// RewriteDataFilesCommitManager.

#include <memory>
#include <vector>

#include "base/result.h"
#include "base/run_context.h"
#include "catalog/table.h"
#include "maintain/rewrite_data_files_options.h"
#include "maintain/rewrite_plan.h"
#include "maintain/task.h"
#include "maintain/task_store.h"
#include "table/metadata.h"

namespace icewright {

/// A plan bound to the snapshot it was made from. Immutable.
struct RewriteJob {
  std::shared_ptr<const TableMetadata> metadata;
  SnapshotId starting_snapshot{};
  SequenceNumber starting_sequence_number{};
  SpecId output_spec_id{};
  std::optional<SortOrder> sort_order = {};
  std::vector<StructValue> partitions = {};  ///< By RewriteGroup::partition.
  TaskStore tasks = {};                      ///< RewriteGroup::files are indices of these.
  RewritePlan plan = {};
};

class RewriteDataFiles final : public MaintenanceTask {
 public:
  explicit RewriteDataFiles(RewriteDataFilesOptions options = {}) : options_(std::move(options)) {}

  std::string_view name() const override { return "rewrite-data-files"; }

  /// Cancellable until a commit; a stop leaves no file behind but those of commits that landed.
  /// Errors: kInvalidArgument, kNotFound (branch), kConflict, kCommitUnknown (every file stays),
  /// kCancelled, kExhausted, kCorrupt, kUnsupported, kIo.
  Status Execute(RunContext& run, Table& table, TaskReport& report) const override;

  /// The first step alone. A table without a snapshot gives a job without groups.
  /// Cost: reads the manifests that may match; keeps candidates only.
  Result<RewriteJob> Plan(RunContext& run, const Table& table) const;

 private:
  Status RewriteGroups(RunContext& run, Table& table, TaskReport& report) const;

  RewriteDataFilesOptions options_;
};

}  // namespace icewright
