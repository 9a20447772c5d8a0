#pragma once

/// \file schedule/service_status.h
/// What a service and its tables are doing, as plain values: for pages, metrics and people.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/run_context.h"
#include "schedule/table_change.h"
#include "table/metadata.h"

namespace icewright {

/// How long runs took: a histogram.
struct RunDurations {
  /// Upper bounds, inclusive. One more bucket holds what took longer.
  static constexpr std::array<std::int64_t, 8> kUpToMs = {1'000,   5'000,   15'000,    60'000,
                                                          300'000, 900'000, 3'600'000, 14'400'000};

  std::array<std::int64_t, kUpToMs.size() + 1> runs{};
  std::int64_t total_ms = 0;

  void Count(std::int64_t ms);
};

/// What the runs of a task did since this process began.
struct TaskTotals {
  std::map<std::string, std::int64_t> outcomes = {};     ///< By RunRecord::outcome.
  std::map<std::string, std::int64_t> error_codes = {};  ///< By RunRecord::error_code.
  std::map<std::string, std::int64_t> counts = {};       ///< TaskReport::counts, added up.
  std::int64_t leftovers = 0;
  std::int64_t runs_with_failed_groups = 0;  ///< Of those that ended with an error.
  RunDurations durations = {};
};

struct TaskStatus {
  std::string id;
  std::string kind;   ///< "rewrite-data-files"
  std::string state;  ///< "running", or why it is not: "commit-count 3 of 10".
  bool running = false;
  bool paused = false;
  TableChange pending = {};
  int failures = 0;  ///< In a row.
  std::int64_t triggered = 0, succeeded = 0, failed = 0;
  std::int64_t last_run_duration_ms = 0;
  std::optional<TimePoint> last_success = {};  ///< Wall clock; kept across restarts.
  std::optional<TimePoint> next_run = {};      ///< Wall clock; unset: waits for commits only.
  std::string last_error = {};                 ///< Of the last run; empty: it went well.
  TaskTotals totals = {};
};

/// What a table's metadata says about its need, without a look into its manifests. Counts are those
/// of the current snapshot's summary; 0 where it does not say.
struct TableFacts {
  std::int64_t snapshots = 0;
  std::int64_t data_files = 0;
  std::int64_t delete_files = 0;
  std::int64_t equality_deletes = 0;
  std::int64_t position_deletes = 0;
  std::int64_t records = 0;
  std::int64_t data_bytes = 0;
  std::int64_t target_file_bytes = 0;  ///< write.target-file-size-bytes

  /// Data files beyond those that the table's bytes would fill at the target size. Partitions are
  /// not looked at: each of them may need one file more.
  std::int64_t excess_files() const;

  friend bool operator==(const TableFacts&, const TableFacts&) = default;
};
TableFacts FactsOf(const TableMetadata& metadata);

/// The lock that a table has.
struct LockFacts {
  std::string type;  ///< "": inside this process; "jdbc", "zookeeper".
  std::string lock_id;
  std::vector<std::string> warnings = {};
};

struct TableStatus {
  std::string table;
  std::string key;  ///< Of the state and of run records: what the service is asked by.
  std::vector<TaskStatus> tasks;
  std::int64_t rate_limiter_triggered = 0, concurrent_run_throttled = 0, nothing_to_trigger = 0;
  std::string waits_for;                    ///< "the lock", "a free slot"; empty: nothing.
  std::optional<TimePoint> last_look = {};  ///< Wall clock.
  std::string last_error = {};              ///< Of the last look at the table; empty: it went well.
  std::string note = {};                    ///< Of the last look that had one.
  std::optional<TableFacts> facts = {};     ///< Of the last look that went well.
  LockFacts lock = {};
};

/// What a person should look at: `problems` keep the table from being maintained as it should,
/// `notices` say what its files need. A sentence each.
struct TableHealth {
  std::vector<std::string> problems;
  std::vector<std::string> notices;
};
TableHealth HealthOf(const TableStatus& table);

struct ActiveRunStatus {
  std::int64_t run_id = 0;
  std::string table;
  std::string task;
  TimePoint started{};
  std::optional<Progress::View> progress;
};

struct ServiceStatus {
  std::vector<TableStatus> tables;  ///< In the order they were added.
  std::vector<ActiveRunStatus> running;
  std::int64_t bytes_last_hour = 0;
  std::optional<std::int64_t> bytes_per_hour = {};  ///< The budget.
  Milliseconds late{0};  ///< How long the table that waits longest should have been served.
  bool stopping = false;
  TimePoint started{};  ///< Wall clock.
};

/// Places of tasks in Flink's order: compaction, expiry, orphans, conversion, then what Flink does
/// not have. result[i]: the number that Flink gives to tasks[i].
///
/// Java twin: TableMaintenance.Builder.
std::vector<int> FlinkTaskIndices(const std::vector<TaskStatus>& tasks);

}  // namespace icewright
