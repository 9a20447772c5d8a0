#include "maintain/rewrite_committer.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace icewright {
namespace {

// Every key is there even at zero: readers of the report need not guess.
constexpr const char* kCounters[] = {
    "rewritten-data-files-count",
    "rewritten-bytes",
    "added-data-files-count",
    "added-bytes",
    "removed-dvs-count",
    "rewritten-groups",
    "failed-groups",
    "failed-data-files-count",
    "rows-read",
    "rows-deleted",
    "rows-written",
};

std::int64_t GroupsPerCommit(const RewriteDataFilesOptions& options, std::int64_t groups) {
  if (!options.partial_progress_enabled) return groups;
  const std::int64_t commits = options.partial_progress_max_commits;
  return std::max<std::int64_t>(1, (groups + commits - 1) / commits);
}

std::vector<Location> FilesOf(const std::vector<FinishedGroup>& groups) {
  std::vector<Location> files;
  for (const FinishedGroup& group : groups) {
    for (const DataFile& file : group.result.added) files.push_back(file.file_path);
  }
  return files;
}

std::int64_t DeletionVectors(const std::vector<FileTask>& inputs) {
  std::int64_t count = 0;
  for (const FileTask& task : inputs) {
    count += std::ranges::count_if(
        task.deletes, [](const auto& deletes) { return deletes->file.is_deletion_vector(); });
  }
  return count;
}

}  // namespace

RewriteCommitter::RewriteCommitter(RunContext& run, Table& table,
                                   const RewriteDataFilesOptions& options, const RewriteJob& job,
                                   TaskReport& report)
    : run_(run),
      table_(table),
      options_(options),
      job_(job),
      report_(report),
      batch_groups_(GroupsPerCommit(options, std::ssize(job.plan.groups))) {
  for (const char* counter : kCounters) report_.counts[counter] = 0;
}

Status RewriteCommitter::Add(FinishedGroup group) {
  const std::scoped_lock lock(mutex_);
  for (std::string& note : group.result.notes) {
    if (std::ranges::find(report_.notes, note) == report_.notes.end()) {
      report_.notes.push_back(std::move(note));
    }
  }
  for (const auto& [treatment, bytes] : group.result.bytes_by_treatment) {
    report_.counts[treatment + "-bytes"] += bytes;
  }
  waiting_.push_back(std::move(group));
  if (ended_) return *ended_;
  if (!options_.partial_progress_enabled || std::ssize(waiting_) < batch_groups_) return {};
  return CommitWaiting();
}

Status RewriteCommitter::AddFailure(const Error& error, std::int64_t data_files) {
  const std::scoped_lock lock(mutex_);
  report_.failures.push_back(error);
  report_.counts["failed-groups"] += 1;
  report_.counts["failed-data-files-count"] += data_files;
  return {};
}

Status RewriteCommitter::Finish(const Status& rewritten) {
  const std::scoped_lock lock(mutex_);
  Status status = rewritten;
  if (status && !waiting_.empty()) status = CommitWaiting();
  if (ended_ && ended_->code() == Code::kCommitUnknown) {
    status = *ended_;  // whatever else stopped the run, this is what a person must know
    for (const Location& file : FilesOf(waiting_)) report_.leftovers.push_back(file);
  } else {
    Discard(waiting_);
  }
  if (!status) return status;
  if (report_.snapshot_ids.empty()) {
    // Without a commit there must have been a failure: every group was added or failed.
    return report_.failures.empty() ? Error(Code::kInternal, "no group was committed or failed")
                                    : report_.failures.front();
  }
  report_.outcome = report_.failures.empty() ? TaskOutcome::kDone : TaskOutcome::kPartial;
  return {};
}

SnapshotUpdate RewriteCommitter::UpdateOf(const std::vector<FinishedGroup>& groups) const {
  SnapshotUpdate update{.operation = "replace",
                        .branch = options_.branch,
                        .validate_from = job_.starting_snapshot,
                        .fail_on_new_deletes = true,
                        .ignore_new_equality_deletes = options_.use_starting_sequence_number};
  std::unordered_set<ContentKey, ContentKeyHash> removed_dvs;
  for (const FinishedGroup& group : groups) {
    for (const DataFile& file : group.result.added) {
      update.added_data_files.push_back({.file = file});
      if (options_.use_starting_sequence_number) {
        update.added_data_files.back().sequence_number = job_.starting_sequence_number;
      }
    }
    for (const FileTask& task : group.inputs) {
      update.removed_data_files.push_back(task.data_file);
      for (const auto& deletes : task.deletes) {
        if (!deletes->file.is_deletion_vector()) continue;
        if (!removed_dvs.insert(ContentKey::Of(deletes->file)).second) continue;
        update.removed_delete_files.push_back(deletes->file);
      }
    }
  }
  return update;
}

// Precondition: mutex_ is held.
Status RewriteCommitter::CommitWaiting() {
  Status status = CommitBatch();
  if (!status) ended_ = status.error();
  return status;
}

// Commits what waits; groups in conflict leave it first.
Status RewriteCommitter::CommitBatch() {
  while (!waiting_.empty()) {
    CommitReport commit;
    const Status status = CommitOnce(commit);
    report_.leftovers.insert(report_.leftovers.end(), commit.leftovers.begin(),
                             commit.leftovers.end());
    if (status) {
      report_.snapshot_ids.push_back(*commit.snapshot_id);
      CountCommitted();
      waiting_.clear();
      return {};
    }
    const Error& error = status.error();
    if (error.code() == Code::kCommitUnknown) {
      waiting_.clear();  // their files may be in the table: no later step may take them up
      return error;
    }
    if (error.code() != Code::kConflict) return error;
    if (options_.all_or_nothing || commit.conflicts.empty()) return FailBatch(error);
    const std::size_t before = waiting_.size();
    LeaveOut(commit.conflicts);
    if (waiting_.size() == before) return FailBatch(error);
  }
  return {};
}

Status RewriteCommitter::CommitOnce(CommitReport& commit) {
  return CommitSnapshot(run_, table_, UpdateOf(waiting_), commit);
}

void RewriteCommitter::LeaveOut(const std::vector<FileConflict>& conflicts) {
  std::unordered_map<Location, std::string> reasons;
  for (const FileConflict& conflict : conflicts)
    reasons.emplace(conflict.data_file, conflict.reason);
  std::vector<FinishedGroup> left_out;
  std::vector<FinishedGroup> kept;
  for (FinishedGroup& group : waiting_) {
    const auto hit = std::ranges::find_if(group.inputs, [&](const FileTask& task) {
      return reasons.contains(task.data_file.file_path);
    });
    if (hit == group.inputs.end()) {
      kept.push_back(std::move(group));
      continue;
    }
    report_.failures.emplace_back(
        Code::kConflict,
        fmt::format("{} was left out: {}: {}", group.name, hit->data_file.file_path.text(),
                    reasons.at(hit->data_file.file_path)));
    report_.counts["failed-groups"] += 1;
    report_.counts["failed-data-files-count"] += std::ssize(group.inputs);
    left_out.push_back(std::move(group));
  }
  Discard(left_out);
  waiting_ = std::move(kept);
}

// The whole batch is in conflict: with partial progress others may still land.
Status RewriteCommitter::FailBatch(const Error& error) {
  ++failed_commits_;
  if (!options_.partial_progress_enabled) return error;
  report_.failures.push_back(error);
  for (const FinishedGroup& group : waiting_) {
    report_.counts["failed-groups"] += 1;
    report_.counts["failed-data-files-count"] += std::ssize(group.inputs);
  }
  Discard(waiting_);
  const std::int64_t most =
      options_.partial_progress_max_failed_commits.value_or(options_.partial_progress_max_commits);
  if (failed_commits_ <= most) return {};
  return error.Within(
      fmt::format("{} commits failed, more than partial-progress.max-failed-commits ({})",
                  failed_commits_, most));
}

// Precondition: no commit that names these files can have landed.
void RewriteCommitter::Discard(std::vector<FinishedGroup>& groups) {
  const std::vector<Location> files = FilesOf(groups);
  groups.clear();
  for (const DeleteFailure& failure : table_.io().DeleteFiles(files)) {
    report_.leftovers.push_back(failure.location);
  }
}

void RewriteCommitter::CountCommitted() {
  auto& counts = report_.counts;
  for (const FinishedGroup& group : waiting_) {
    counts["rewritten-groups"] += 1;
    counts["rewritten-data-files-count"] += std::ssize(group.inputs);
    counts["added-data-files-count"] += std::ssize(group.result.added);
    counts["removed-dvs-count"] += DeletionVectors(group.inputs);
    counts["rows-read"] += group.result.rows_read;
    counts["rows-deleted"] += group.result.rows_deleted;
    counts["rows-written"] += group.result.rows_written;
    for (const FileTask& task : group.inputs)
      counts["rewritten-bytes"] += task.data_file.file_size_in_bytes;
    for (const DataFile& file : group.result.added)
      counts["added-bytes"] += file.file_size_in_bytes;
  }
}

}  // namespace icewright
