#pragma once

/// \file maintain/rewrite_committer.h
/// Commits rewritten groups: all at the end, or in batches; leaves out groups in conflict.

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/run_context.h"
#include "catalog/table.h"
#include "commit/snapshot_update.h"
#include "data/rewrite_engine.h"
#include "maintain/rewrite_data_files.h"
#include "maintain/task.h"

namespace icewright {

/// A group whose new files are written and proven, waiting for its commit.
struct FinishedGroup {
  std::string name;
  std::vector<FileTask> inputs;
  RewrittenGroup result;
};

/// Thread-safe: groups come from the threads that rewrote them, and one at a time commits.
class RewriteCommitter {
 public:
  /// Everything is borrowed and outlives the committer.
  RewriteCommitter(RunContext& run, Table& table, const RewriteDataFilesOptions& options,
                   const RewriteJob& job, TaskReport& report);

  /// Takes a group; commits when a batch is full. An error here ends the run: what other threads
  /// add from then on is not committed, and they get the same error.
  Status Add(FinishedGroup group);

  /// Notes a group that could not be rewritten.
  Status AddFailure(const Error& error, std::int64_t data_files);

  /// Commits what waits, or, if the run failed, deletes the files of what waits; sums up. After an
  /// unknown outcome nothing is deleted: the files that no commit named are leftovers.
  Status Finish(const Status& rewritten);

 private:
  Status CommitWaiting();
  Status CommitBatch();
  Status CommitOnce(CommitReport& commit);
  void LeaveOut(const std::vector<FileConflict>& conflicts);
  Status FailBatch(const Error& error);
  void Discard(std::vector<FinishedGroup>& groups);
  void CountCommitted();
  SnapshotUpdate UpdateOf(const std::vector<FinishedGroup>& groups) const;

  RunContext& run_;
  Table& table_;
  const RewriteDataFilesOptions& options_;
  const RewriteJob& job_;
  TaskReport& report_;
  const std::int64_t batch_groups_;

  std::mutex mutex_;
  std::vector<FinishedGroup> waiting_;  // guarded by mutex_
  std::int64_t failed_commits_ = 0;     // guarded by mutex_
  std::optional<Error> ended_;          // guarded by mutex_; no commit after it
};

}  // namespace icewright
