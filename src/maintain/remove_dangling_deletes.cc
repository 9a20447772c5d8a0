#include "maintain/remove_dangling_deletes.h"

#include <algorithm>
#include <iterator>

#include "commit/snapshot_update.h"
#include "maintain/live_deletes.h"
#include "maintain/plan_again.h"
#include "maintain/task_checks.h"
#include "scan/plan_files.h"

namespace icewright {
namespace {

using Options = RemoveDanglingDeletesOptions;

constexpr OptionField<Options> kFields[] = {
    {"branch", &Options::branch, "branch to work on; default: main"},
    {"dry-run", &Options::dry_run, "show what would go, change nothing"},
};

void Count(const std::vector<DataFile>& files, std::string_view prefix, TaskReport& report) {
  const auto key = [&](std::string_view rest) { return std::string(prefix) + std::string(rest); };
  auto& counts = report.counts;
  for (const char* rest : {"delete-files-count", "position-delete-files-count",
                           "equality-delete-files-count", "dvs-count", "bytes"}) {
    counts[key(rest)] = 0;
  }
  for (const DataFile& file : files) {
    ++counts[key("delete-files-count")];
    counts[key("bytes")] += file.content_size_in_bytes.value_or(file.file_size_in_bytes);
    ++counts[key(file.is_deletion_vector()                       ? "dvs-count"
                 : file.content == FileContent::kEqualityDeletes ? "equality-delete-files-count"
                                                                 : "position-delete-files-count")];
  }
}

}  // namespace

std::span<const OptionField<RemoveDanglingDeletesOptions>> RemoveDanglingDeletesFields() {
  return kFields;
}

Result<std::vector<DataFile>> FindDanglingDeletes(RunContext& run, FileIO& io,
                                                  const TableMetadata& metadata,
                                                  const Snapshot& snapshot) {
  IW_ASSIGN(const AttachedDeletes attached, FindAttachedDeletes(run, io, metadata, snapshot, {}));
  IW_ASSIGN(std::vector<DeleteTask> detached,
            FindDetachedDeletes(run, io, metadata, snapshot, attached));
  std::vector<DataFile> dangling;
  for (DeleteTask& deletes : detached) dangling.push_back(std::move(deletes.file));
  return dangling;
}

// One plan and its commit; `stale` tells whether the branch moved on meanwhile.
Status RemoveDanglingDeletes::ExecuteOnce(RunContext& run, Table& table, TaskReport& report,
                                          bool& stale) const {
  const auto metadata = table.shared_metadata();
  IW_ASSIGN(const Snapshot* snapshot, SelectSnapshot(*metadata, {.branch = options_.branch}));
  std::vector<DataFile> dangling;
  run.progress().Enter("plan", "deletes");
  if (snapshot != nullptr) {
    IW_ASSIGN(dangling, FindDanglingDeletes(run, table.io(), *metadata, *snapshot));
  }
  Count(dangling, "planned-", report);
  if (dangling.empty()) {
    report.outcome = TaskOutcome::kNothingToDo;
    report.reason = "every delete applies to a data file";
    return {};
  }
  if (options_.dry_run) {
    for (const DataFile& file : dangling) {
      report.items.push_back({file.file_path.text(), {{"records", file.record_count}}});
    }
    report.outcome = TaskOutcome::kPlanned;
    return {};
  }
  const SnapshotUpdate update{.operation = "replace",
                              .branch = options_.branch,
                              .removed_delete_files = dangling,
                              .validate_from = snapshot->id};
  CommitReport commit;
  const Status committed = CommitSnapshot(run, table, update, commit);
  std::ranges::move(commit.leftovers, std::back_inserter(report.leftovers));
  if (commit.snapshot_id) report.snapshot_ids.push_back(*commit.snapshot_id);
  if (committed) {
    Count(dangling, "removed-", report);
    report.outcome = TaskOutcome::kDone;
  }
  stale = HasMoved(table, options_.branch, snapshot->id);
  return committed;
}

Status RemoveDanglingDeletes::Execute(RunContext& run, Table& table, TaskReport& report) const {
  IW_TRY(CheckMayCommit(table, options_.dry_run));
  return PlanUntilCommitted(run, table, report,
                            [&](bool& stale) { return ExecuteOnce(run, table, report, stale); });
}

}  // namespace icewright
