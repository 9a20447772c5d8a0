#pragma once

/// \file maintain/task.h
/// What every maintenance task is called with and reports.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/location.h"
#include "base/result.h"
#include "base/run_context.h"
#include "catalog/table.h"

namespace icewright {

enum class TaskOutcome : std::uint8_t {
  kDone,         ///< Everything planned was done.
  kNothingToDo,  ///< No candidate; nothing was committed. `reason` says why.
  kPlanned,      ///< A dry run.
  kPartial,      ///< Part of it was committed; `failures` names the rest.
  kFailed,       ///< Nothing more was done; the error of Execute says why.
};
std::string_view Name(TaskOutcome outcome);

/// One part of a plan or a run, for people: a file group, a branch.
struct TaskItem {
  std::string name;
  std::vector<std::pair<std::string, std::int64_t>> counts;
  std::string reason = {};  ///< Why it is there, if the user asked.
};

/// What a run did, also if it failed. Keys of `counts` are Iceberg's names in kebab case; keys that
/// end in "bytes" hold bytes.
struct TaskReport {
  TaskOutcome outcome = TaskOutcome::kFailed;
  std::string reason = {};
  std::vector<SnapshotId> snapshot_ids = {};
  std::map<std::string, std::int64_t> counts = {};
  std::vector<TaskItem> items = {};
  std::vector<Location> leftovers = {};  ///< Unreferenced files that could not be deleted.
  std::vector<Error> failures = {};
  std::vector<std::string> notes = {};

  /// Of a task that runs others: what each did, in order. The members below are set in these only.
  std::vector<TaskReport> steps = {};
  std::string name = {};
  std::optional<Error> error = {};  ///< What the step's Execute returned.
};

/// A task is immutable after construction; one object may run on many tables at once.
class MaintenanceTask {
 public:
  virtual ~MaintenanceTask() = default;

  /// "rewrite-data-files": the name on the command line.
  virtual std::string_view name() const = 0;

  /// What a person should know before the run begins, a line each.
  virtual Result<std::vector<std::string>> Announce(const TableMetadata&) const {
    return std::vector<std::string>();
  }

  /// Runs the task on the table's newest state. `report` is filled on errors, too. Errors: those of
  /// the task; kPartial is a success with failures in the report.
  virtual Status Execute(RunContext& run, Table& table, TaskReport& report) const = 0;
};

}  // namespace icewright
