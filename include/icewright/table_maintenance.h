#pragma once

/// \file icewright/table_maintenance.h
/// Maintenance that runs by itself, for programs.
///
///   auto maintenance =
///       TableMaintenance::ForTable(loader)
///           .RateLimit(60s)
///           .Add(RewriteDataFiles({.min_input_files = 8}), {.on_data_file_count = 100})
///           .Add(ExpireSnapshots({.retain_last = 10}), {.on_interval = 24h})
///           .Build(run);
///   if (maintenance) (*maintenance)->Run(run);  // until run is stopped
///
/// Java twin: flink/maintenance/api/TableMaintenance.

#include <concepts>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/run_context.h"
#include "base/steady_time.h"
#include "icewright/table_loader.h"
#include "lock/lock.h"
#include "maintain/task.h"
#include "schedule/maintenance_service.h"
#include "schedule/schedule.h"

namespace icewright {

/// What a task's schedule may say beside its conditions.
struct TaskSettings {
  /// Its identity in state and records. Empty: the task's own name; two of one kind need two names.
  std::string name = {};
  ScheduleExtras extras = {};
  std::optional<int> parallelism = {};  ///< Range: >= 1. Unset: the builder's.
  std::string branch = "main";          ///< Whose commits it waits for.
};

class TableMaintenanceBuilder;

/// Thread-safe, but for Run.
class TableMaintenance {
 public:
  /// Watches the table itself, once per rate limit.
  static TableMaintenanceBuilder ForTable(TableLoader loader);
  /// Waits for Push: a sink knows what it has committed.
  static TableMaintenanceBuilder ForChangeStream(TableLoader loader);

  /// Until `run` is stopped. A task that is then running is stopped, too.
  void Run(RunContext& run);

  /// Only what ForChangeStream was made for. An empty change is an event, too.
  Status Push(const TableChange& change);
  /// Waits for the lock, for nothing else.
  Status RunNow(const std::string& task);
  Status SetPaused(const std::string& task, bool paused);

  const std::string& table() const { return table_; }
  TableStatus status() const;
  /// Newest first.
  Result<std::vector<RunRecord>> Runs(int limit) const;

 private:
  friend class TableMaintenanceBuilder;
  TableMaintenance() = default;

  std::string table_;
  std::string key_;
  bool change_stream_ = false;
  std::shared_ptr<ScheduleStore> store_;
  std::shared_ptr<SteadyTime> time_;
  InProcessRunner runner_;
  std::unique_ptr<MaintenanceService> service_;
};

/// Collects; Build checks. Single-threaded.
class TableMaintenanceBuilder {
 public:
  /// Between two triggers of the table, all tasks together; and how often the table is looked at.
  /// Range: >= 1 ms. Default: 60 s.
  TableMaintenanceBuilder& RateLimit(Milliseconds limit);
  /// Range: >= 1 ms. Default: 30 s.
  TableMaintenanceBuilder& LockCheckDelay(Milliseconds delay);
  /// Threads of tasks that do not set their own. Range: >= 1. Default: those of the run.
  TableMaintenanceBuilder& Parallelism(int threads);
  /// Snapshots counted by one look. Range: >= 1. Default: 100. Not with ForChangeStream.
  TableMaintenanceBuilder& MaxReadBack(int snapshots);
  /// Tells schedules of one table apart: their state and records. Default: none.
  TableMaintenanceBuilder& UidSuffix(std::string suffix);
  /// Default: kDefault.
  TableMaintenanceBuilder& Policy(TriggerPolicy policy);
  /// Shared with Flink jobs and other processes. Default: a lock inside this object.
  TableMaintenanceBuilder& Locks(std::shared_ptr<LockFactory> locks);
  /// A file of SQLite, or a URL as for an SQL catalog. Default: ":memory:", which forgets.
  TableMaintenanceBuilder& State(std::string place);
  /// A stop lets the running task end by itself for so long. Default: 0.
  TableMaintenanceBuilder& StopGrace(Milliseconds grace);
  /// For tests. Default: the machine's.
  TableMaintenanceBuilder& Time(Clock& clock, SteadySource& source);
  /// Tasks that are due at the same time run in the order they were added.
  TableMaintenanceBuilder& AddTask(std::shared_ptr<const MaintenanceTask> task, Conditions any,
                                   TaskSettings settings = {});
  template <std::derived_from<MaintenanceTask> Task>
  TableMaintenanceBuilder& Add(Task task, Conditions any, TaskSettings settings = {}) {
    return AddTask(std::make_shared<const Task>(std::move(task)), std::move(any),
                   std::move(settings));
  }

  /// Loads the table once, to learn its name. Errors: kInvalidArgument, naming what to change;
  /// those of the loader and of the state.
  Result<std::unique_ptr<TableMaintenance>> Build(RunContext& run);

 private:
  friend class TableMaintenance;
  TableMaintenanceBuilder(TableLoader loader, bool change_stream)
      : loader_(std::move(loader)), change_stream_(change_stream) {}

  Status CheckOptions() const;

  TableLoader loader_;
  bool change_stream_;
  TriggerOptions triggers_;
  std::optional<int> parallelism_;
  std::optional<int> max_read_back_;
  Milliseconds stop_grace_{0};
  std::string uid_suffix_;
  std::string state_ = ":memory:";
  std::shared_ptr<LockFactory> locks_;
  Clock* clock_ = &Clock::System();
  SteadySource* source_ = &SteadySource::System();
  std::vector<ScheduledTask> tasks_;
};

}  // namespace icewright
