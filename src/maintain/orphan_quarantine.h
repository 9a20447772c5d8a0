#pragma once

/// \file maintain/orphan_quarantine.h
/// What happens to orphans that `delete-orphan-files --quarantine` has moved: back, or gone.
///
/// Contract: docs/tasks/delete-orphan-files.md.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/location.h"
#include "base/result.h"
#include "base/run_context.h"
#include "catalog/table.h"
#include "config/fields.h"
#include "maintain/task.h"

namespace icewright {

struct RestoreOrphansOptions {
  /// Where the files are: what --quarantine was set to.
  std::string quarantine = {};
  /// Original paths of what to bring back. Empty: everything of this table.
  std::vector<std::string> paths = {};
  /// Report what would come back; move nothing.
  bool dry_run = false;
};
std::span<const OptionField<RestoreOrphansOptions>> RestoreOrphansFields();

class RestoreOrphans final : public MaintenanceTask {
 public:
  explicit RestoreOrphans(RestoreOrphansOptions options = {}) : options_(std::move(options)) {}
  std::string_view name() const override { return "orphans-restore"; }

  /// Moves files back to where they were, never over a file that is there: such a file stays in the
  /// quarantine, and the outcome is kPartial. Errors: kInvalidArgument, kNotFound (a path that is
  /// not in the quarantine; then nothing is moved), kCorrupt, kCancelled, kLockLost, kIo.
  Status Execute(RunContext& run, Table& table, TaskReport& report) const override;

 private:
  RestoreOrphansOptions options_;
};

struct PurgeOrphansOptions {
  std::string quarantine = {};
  /// Only what has been there for longer than this. Range: >= 0. ms.
  std::int64_t older_than = std::int64_t{7} * 24 * 3600 * 1000;
  /// Files per delete request. Range: > 0.
  int delete_batch_size = 1000;
  bool dry_run = false;
};
std::span<const OptionField<PurgeOrphansOptions>> PurgeOrphansFields();

class PurgeOrphans final : public MaintenanceTask {
 public:
  explicit PurgeOrphans(PurgeOrphansOptions options = {}) : options_(std::move(options)) {}
  std::string_view name() const override { return "orphans-purge"; }

  /// Deletes files that have been in quarantine for long enough. A file that the table has come to
  /// name stays, is a failure, and should be restored. Errors: kInvalidArgument, kCorrupt,
  /// kCancelled, kLockLost, kIo. Cost: reads everything the table names.
  Status Execute(RunContext& run, Table& table, TaskReport& report) const override;

 private:
  PurgeOrphansOptions options_;
};

}  // namespace icewright
