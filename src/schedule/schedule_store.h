#pragma once

/// \file schedule/schedule_store.h
/// What the scheduler remembers across restarts, and the record of each run.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "database/sql_store.h"
#include "maintain/task.h"
#include "schedule/snapshot_monitor.h"
#include "schedule/trigger_core.h"

namespace icewright {

/// One table's memory. Written as one value, so that no change is counted twice or lost.
struct TableScheduleState {
  TriggerState triggers = {};
  std::map<std::string, MonitorPosition> positions = {};  ///< By branch.
  friend bool operator==(const TableScheduleState&, const TableScheduleState&) = default;
};

struct RunRecord {
  std::int64_t run_id = 0;  ///< Grows with each run, whatever the clock does.
  std::string table;
  std::string task;                     ///< Its id.
  std::string reason;                   ///< Why it was due.
  std::string owner = {};               ///< Of its lock: which process ran it. Empty: not said.
  TimePoint started{};                  ///< Wall clock.
  std::optional<TimePoint> ended = {};  ///< Unset: running, or its process died.
  /// "running", a TaskOutcome, "cancelled", "lock-lost", "interrupted".
  std::string outcome = "running";
  std::vector<SnapshotId> snapshot_ids = {};
  std::map<std::string, std::int64_t> counts = {};  ///< Those that end in "bytes" hold bytes.
  std::string error_code = {};
  std::string error = {};
  std::vector<std::string> failures = {};
  std::vector<std::string> notes = {};
  std::int64_t leftovers = 0;
  friend bool operator==(const RunRecord&, const RunRecord&) = default;
};

/// Thread-safe. Errors of all calls: those of SqlStore; kCorrupt for a value that nobody of us
/// wrote.
class ScheduleStore {
 public:
  /// A path of an SQLite file, ":memory:", or a URL of ParseSqlUrl. Makes the tables that are not
  /// there. Errors: kInvalidArgument, kUnavailable, kDenied, kNotFound.
  static Result<std::shared_ptr<ScheduleStore>> Open(const std::string& place,
                                                     const SqlProperties& properties = {});
  explicit ScheduleStore(std::shared_ptr<SqlStore> sql) : sql_(std::move(sql)) {}

  /// `key`: the table, and the suffix if several schedules maintain it.
  Result<std::optional<TableScheduleState>> LoadState(const std::string& key);
  Status SaveState(const std::string& key, const TableScheduleState& state);

  /// Gives the record its run id and keeps it as running.
  Status StartRun(RunRecord& record);
  /// Overwrites the record. Of a table's finished runs the newest `kept` remain.
  Status FinishRun(const RunRecord& record);

  /// Newest first. An empty `table`: of all.
  Result<std::vector<RunRecord>> Runs(const std::string& table, int limit);
  Result<std::vector<RunRecord>> Unfinished(const std::string& table);

  static constexpr int kept = 1000;

 private:
  Status MakeTables();
  Result<std::int64_t> NextRunId();

  std::shared_ptr<SqlStore> sql_;
};

/// The parts of a record that a report and the status of Execute decide. Java says "success" when a
/// commit failed; here that is a failed run.
void FillFromReport(RunRecord& record, const Status& status, const TaskReport& report);

/// What the record means for the next trigger.
RunOutcome OutcomeOf(const Status& status, const TaskReport& report);

}  // namespace icewright
