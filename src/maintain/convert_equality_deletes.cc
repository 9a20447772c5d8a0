#include "maintain/convert_equality_deletes.h"

#include <fmt/format.h>

#include <utility>

#include "base/guarded.h"
#include "commit/retry_policy.h"
#include "commit/snapshot_update.h"
#include "maintain/convert_cycle.h"
#include "maintain/delete_resolver.h"
#include "maintain/staged_changes.h"
#include "maintain/staging_history.h"
#include "maintain/task_checks.h"

namespace icewright {
namespace {

class Conversion {
 public:
  Conversion(RunContext& run, Table& table, ConvertSettings settings, TaskReport& report)
      : run_(run), table_(table), settings_(std::move(settings)), report_(report) {}

  Status Run() {
    const Status status = AllCycles();
    report_.counts["read-data-file-num"] = resolver_.files_read();
    if (!settings_.index_path.empty()) {
      report_.counts["indexed-key-num"] = resolver_.rows_indexed();
      report_.counts["reindex-num"] = resolver_.indices_begun_anew();
    }
    report_.notes.insert(report_.notes.end(), resolver_.notes().begin(), resolver_.notes().end());
    if (!status) return status;
    const bool done = !report_.snapshot_ids.empty();
    report_.outcome = done ? TaskOutcome::kDone : TaskOutcome::kNothingToDo;
    if (!done) {
      report_.reason = settings_.in_place()
                           ? fmt::format("branch '{}' has no equality deletes", settings_.target)
                           : fmt::format("branch '{}' has nothing that waits", settings_.staging);
    }
    return {};
  }

 private:
  Status AllCycles() {
    for (;;) {
      IW_TRY(run_.Check());
      IW_ASSIGN(const bool more, Cycle());
      if (!more) return {};
    }
  }

  /// One commit. False: nothing waits any more.
  Result<bool> Cycle() {
    IW_ASSIGN(const RetryPolicy policy, RetryPolicy::Of(table_.metadata().properties));
    CommitRetry retry(run_, policy);
    for (;;) {
      IW_TRY(table_.Refresh(run_));
      run_.progress().Enter("plan", "files");
      retry.CountAttempt();
      lost_race_ = false;
      const auto work = settings_.in_place() ? PlanInPlace(run_, table_, settings_)
                                             : PlanPromotion(run_, table_, settings_);
      if (work && !*work) return false;
      const Status status = work ? Commit(**work) : work.error();
      if (status) return MayGoOn(**work);
      if (!IsLostRace(status.error())) return status.error();
      IW_TRY(retry.WaitOrGiveUp(run_, status.error()));
    }
  }

  Status Commit(const ConvertWork& work) {
    std::vector<Location> written;
    ConvertCounts counts;
    auto update = Guarded([&] {
      return ExecuteConvertWork(run_, table_, settings_, work, resolver_, written, counts);
    });
    if (!update) return Discard(written, update.error());
    CommitReport commit;
    const TimePoint start = run_.Now();
    const Status status = CommitSnapshot(run_, table_, *update, commit);
    report_.counts["commit-duration-ms"] += (run_.Now() - start).count();
    report_.leftovers.insert(report_.leftovers.end(), commit.leftovers.begin(),
                             commit.leftovers.end());
    if (!status) {
      lost_race_ = true;
      if (status.error().code() == Code::kCommitUnknown) {
        report_.leftovers.insert(report_.leftovers.end(), written.begin(), written.end());
        return status;
      }
      return Discard(written, status.error());
    }
    report_.snapshot_ids.push_back(*commit.snapshot_id);
    Count(work, *update, counts);
    return {};
  }

  /// What others did since the plan may have made it wrong, or have removed a file that it reads: a
  /// new plan sees it.
  bool IsLostRace(const Error& error) {
    if (error.code() == Code::kConflict) return lost_race_;
    if (error.code() != Code::kNotFound) return false;
    const Location planned_on = table_.metadata_location();
    return table_.Refresh(run_).has_value() && table_.metadata_location() != planned_on;
  }

  /// Precondition: no commit that names these files can have landed.
  Status Discard(const std::vector<Location>& written, const Error& error) {
    for (const DeleteFailure& failure : table_.io().DeleteFiles(written)) {
      report_.leftovers.push_back(failure.location);
    }
    return error;
  }

  void Count(const ConvertWork& work, const SnapshotUpdate& update, const ConvertCounts& counts) {
    auto& out = report_.counts;
    out["processed-staging-snapshot-num"] += work.snapshots;
    out["processed-eq-delete-file-num"] += std::ssize(work.equality_deletes);
    out["resolved-delete-num"] += counts.resolved_deletes;
    out["added-dv-num"] += counts.added_dvs;
    out["removed-dv-num"] += counts.removed_dvs;
    out["removed-eq-delete-num"] +=
        work.removes_equality_deletes ? std::ssize(work.equality_deletes) : 0;
    out["added-data-file-num"] += std::ssize(update.added_data_files);
    for (const AddedFile& added : update.added_data_files) {
      out["added-data-file-bytes"] += added.file.file_size_in_bytes;
    }
  }

  /// In place one commit does it all, if it fits; what writers add meanwhile is for the next run.
  bool MayGoOn(const ConvertWork& work) {
    settings_.resume_from.reset();  // the history tells from here on
    if (settings_.max_snapshots) {
      *settings_.max_snapshots -= work.snapshots;
      if (*settings_.max_snapshots <= 0) return false;
    }
    return !settings_.in_place() || work.is_part;
  }

  RunContext& run_;
  Table& table_;
  ConvertSettings settings_;
  DeleteResolver resolver_{settings_};
  TaskReport& report_;
  bool lost_race_ = false;
};

void AddItem(TaskReport& report, std::string name, std::int64_t data_files,
             const std::vector<DataFile>& deletes, std::int64_t vectors) {
  std::int64_t keys = 0;
  for (const DataFile& file : deletes) keys += file.record_count;
  report.items.push_back({.name = std::move(name),
                          .counts = {{"data-files", data_files},
                                     {"equality-delete-files", std::ssize(deletes)},
                                     {"equality-deletes", keys},
                                     {"deletion-vectors", vectors}}});
  report.counts["staging-snapshots"] += 1;
  report.counts["equality-delete-files"] += std::ssize(deletes);
  report.counts["equality-deletes"] += keys;
}

Status ShowPlan(RunContext& run, const Table& table, const ConvertSettings& settings,
                TaskReport& report) {
  report.outcome = TaskOutcome::kPlanned;
  const TableMetadata& metadata = table.metadata();
  if (settings.in_place()) {
    IW_ASSIGN(const auto work, PlanInPlace(run, table, settings));
    if (!work) return {};
    AddItem(report, fmt::format("branch {}", settings.target), std::ssize(work->tasks),
            work->equality_deletes, 0);
    report.counts["staging-snapshots"] = work->snapshots;
    return {};
  }
  IW_ASSIGN(const auto waiting, FindWaitingSnapshots(metadata, settings.staging, settings.target,
                                                     settings.resume_from));
  for (const Snapshot* snapshot : waiting.snapshots) {
    if (std::ssize(report.items) == settings.max_snapshots.value_or(-1)) break;
    IW_ASSIGN(const StagedChanges changes,
              ReadStagedChanges(run, table.io(), metadata, *snapshot, settings.key));
    if (changes.empty()) continue;
    AddItem(report, fmt::format("snapshot {}", Raw(snapshot->id)), std::ssize(changes.data_files),
            changes.equality_deletes, std::ssize(changes.vectors));
  }
  return {};
}

}  // namespace

Status ConvertEqualityDeletes::Execute(RunContext& run, Table& table, TaskReport& report) const {
  IW_TRY(CheckMayCommit(table, options_.dry_run));
  IW_TRY(table.Refresh(run));
  IW_ASSIGN(ConvertSettings settings, ResolveConvertOptions(options_, table.metadata()));
  if (options_.dry_run) return ShowPlan(run, table, settings, report);
  return Conversion(run, table, std::move(settings), report).Run();
}

}  // namespace icewright
