#pragma once

/// \file schedule/table_scheduler.h
/// One table's maintenance: monitor -> triggers -> lock -> (a run, elsewhere) -> result -> release.
///
/// Java twins: TableMaintenance.append(), TriggerManager, LockRemover.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "base/steady_time.h"
#include "catalog/table.h"
#include "lock/lock.h"
#include "maintain/task.h"
#include "schedule/schedule_store.h"
#include "schedule/service_status.h"
#include "schedule/snapshot_monitor.h"
#include "schedule/trigger_core.h"

namespace icewright {

struct ChildRequest;

struct ScheduledTask {
  TriggerTask trigger;
  std::shared_ptr<const MaintenanceTask> task;
  std::string branch = "main";                     ///< Whose commits it waits for.
  std::optional<int> parallelism = {};             ///< Unset: the table's, else the pool's.
  std::string pool = {};                           ///< Empty: the table's, else the default one.
  std::shared_ptr<const ChildRequest> child = {};  ///< For a process of its own.
};

struct TableSchedulerOptions {
  std::string
      table;        ///< Its full name, for people, records and, if nothing else is said, the lock.
  std::string key;  ///< Of the state; empty: the table's name.
  TriggerOptions triggers = {};
  int max_read_back = 100;  ///< Range: >= 1.
  bool monitors = true;     ///< False: changes are pushed.
  LockFacts lock = {};      ///< Of `locks`, for people.
};

/// Why a run may not start although it is due; empty: it may.
using StartGate = std::function<std::string(const ScheduledTask& task)>;

struct TableSchedulerServices {
  std::function<Result<Table>(RunContext&)> load;
  std::shared_ptr<LockFactory> locks;
  std::string owner = {};  ///< Of `locks`: tells runs of this process from those of others.
  std::shared_ptr<ScheduleStore> store;
  std::shared_ptr<SteadyTime> time;
  Clock* clock = &Clock::System();
  Log* log = &Log::Silent();
  StartGate gate = {};  ///< Asked before the lock is tried.
  /// Completes ScheduledTask::child, which tables share, when a run begins.
  std::function<void(ChildRequest&)> aim = {};
};

/// A run that has its lock and its record, and is to be carried out now.
struct StartedRun {
  std::size_t task = 0;
  TimePoint triggered{};  ///< Steady time.
  RunRecord record;
};

/// Single-threaded.
class TableScheduler {
 public:
  /// Restores the state; runs that an earlier process left behind are closed as "interrupted", and
  /// kDefault tries them again. A run of another owner is left alone until its lease is over, if
  /// that owner has the lock. Errors: kInvalidArgument; those of the store.
  static Result<std::unique_ptr<TableScheduler>> Open(TableSchedulerOptions options,
                                                      std::vector<ScheduledTask> tasks,
                                                      TableSchedulerServices services);

  /// When Wake is to be called next, in steady time. Unset: only news can wake it.
  std::optional<TimePoint> next_wake() const;

  /// Looks at the table and at the triggers, as far as it is time. At most one run starts.
  std::optional<StartedRun> Wake(RunContext& run);

  /// A change that a sink saw.
  std::optional<StartedRun> Push(const TableChange& change);

  /// The run ended: keeps its record, releases the lock. The next run may start at once.
  std::optional<StartedRun> Finish(StartedRun started, const Status& status,
                                   const TaskReport& report);

  /// What the gate refused may be possible now.
  std::optional<StartedRun> GateOpened();

  /// Errors: kNotFound, naming the tasks there are.
  Result<std::optional<StartedRun>> RunNow(const std::string& task);
  Result<std::optional<StartedRun>> SetPaused(const std::string& task, bool paused);

  const std::string& table() const { return options_.table; }
  const ScheduledTask& task(std::size_t i) const { return tasks_[i]; }
  const TableSchedulerServices& services() const { return services_; }
  bool running() const { return running_.has_value(); }
  bool waits_for_gate() const { return gate_refused_; }
  /// The table lock may still be ours, for no run: Wake releases it.
  bool owes_release() const { return next_release_.has_value() || owes_recovery_; }
  TableStatus status() const;

 private:
  TableScheduler(TableSchedulerOptions options, std::vector<ScheduledTask> tasks,
                 TableSchedulerServices services, std::optional<TableScheduleState> restored);

  Instant Now() const;
  Result<std::vector<TableChange>> Look(RunContext& run);
  std::optional<StartedRun> Poll(RunContext& run);
  std::optional<StartedRun> Do(Step step);
  void StartRecovery();
  bool IsRecovering();
  bool TryLock(std::size_t task);
  /// Unset: it has no record, and its lock is free again.
  std::optional<StartedRun> Begin(std::size_t task, std::string reason);
  void CloseInterrupted();
  bool LivesElsewhere(const RunRecord& record);
  void ReleaseLock();
  void Save();
  Result<std::size_t> Find(const std::string& task) const;

  const TableSchedulerOptions options_;
  const std::vector<ScheduledTask> tasks_;
  const TableSchedulerServices services_;
  TriggerCore core_;
  std::map<std::string, MonitorPosition> positions_;
  std::optional<TimePoint> next_look_;
  std::optional<TimePoint> next_release_;  // the table lock may still be ours: released then
  std::optional<TimePoint> next_close_;    // an unfinished run of another owner is looked at again
  bool owes_recovery_ = false;             // likewise, before recovery is looked at
  std::optional<std::size_t> running_;
  std::vector<TaskStatus> results_;  // the counters of results only
  TableStatus look_;                 // what the last look found, and what never changes
  std::string gate_reason_;
  std::string no_record_;  // why the run that has just had the lock did not start
  bool gate_refused_ = false;
  bool dirty_ = false;
};

}  // namespace icewright
