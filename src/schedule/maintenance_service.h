#pragma once

/// \file schedule/maintenance_service.h
/// Many tables in one process: looks at each when it is time, runs what is due within budgets.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/executor_pool.h"
#include "base/log.h"
#include "base/result.h"
#include "base/steady_time.h"
#include "schedule/run_slots.h"
#include "schedule/service_status.h"
#include "schedule/table_scheduler.h"
#include "schedule/task_runner.h"

namespace icewright {

struct ServiceOptions {
  int look_threads = 4;  ///< Tables looked at at the same time. 0: everything on Run's thread.
  std::map<std::string, PoolOptions> pools = {};    ///< "" is the default pool.
  std::optional<std::int64_t> bytes_per_hour = {};  ///< Input of runs that rewrite data.
  Milliseconds stop_grace{30'000};  ///< A stop lets runs end by themselves for so long.
  /// A table that cannot be opened, or whose look ended with an exception, is tried again then; so
  /// is the release of a lock of a table that is gone.
  Milliseconds reopen_delay{60'000};
  Clock* clock = &Clock::System();
  Log* log = &Log::Silent();
};

/// One table to maintain. Tables with another fingerprint than before are opened anew.
struct ServiceTable {
  std::string key;
  std::string fingerprint = {};
  std::function<Result<std::unique_ptr<TableScheduler>>(StartGate gate)> open;
};

/// Thread-safe, but for Run, which is called once.
class MaintenanceService {
 public:
  /// `runner` and `time` must outlive the service.
  MaintenanceService(ServiceOptions options, TaskRunner& runner, std::shared_ptr<SteadyTime> time);
  ~MaintenanceService();

  /// The tables from now on. Those that are gone, or have another fingerprint, are let go when
  /// their run has ended.
  void SetTables(std::vector<ServiceTable> tables);

  /// Until `stop`. Then lets runs end for a while, stops them, keeps their records and releases
  /// their locks.
  void Run(std::stop_token stop);

  /// Errors: kNotFound for a table that is not there or not open yet. Whether the task exists is
  /// found out later, and logged.
  Status RunNow(const std::string& table, const std::string& task);
  Status SetPaused(const std::string& table, const std::string& task, bool paused);
  Status Push(const std::string& table, const TableChange& change);

  ServiceStatus status() const;

  /// Null: there is no such table, or it is not open yet.
  std::shared_ptr<LockFactory> LocksOf(const std::string& table) const;

 private:
  struct Entry;
  struct OwedRelease {
    std::string table;
    std::shared_ptr<MaintenanceLock> lock;  // nobody else has it any more
    TimePoint next;
  };
  using Mail = std::function<std::optional<StartedRun>(TableScheduler&)>;

  void AddWanted();
  void LetGo();
  Milliseconds ServeDue();
  Milliseconds ReleaseOwed();
  void Release(OwedRelease owed);
  void Serve(const std::shared_ptr<Entry>& entry);
  void ServeOnce(const std::shared_ptr<Entry>& entry);
  void Abandon(Entry& entry, const Error& error);
  bool Open(const std::shared_ptr<Entry>& entry);
  std::optional<StartedRun> Next(Entry& entry);
  void Launch(const std::shared_ptr<Entry>& entry, StartedRun started);
  void RunTask(const std::shared_ptr<Entry>& entry, StartedRun started);
  Status CarryOut(Entry& entry, const StartedRun& started, TaskReport& report);
  std::string Gate(Entry& entry, const ScheduledTask& task);
  void TellGranted();
  Status Post(const std::string& table, Mail mail);
  void Stop();

  const ServiceOptions options_;
  TaskRunner& runner_;
  const std::shared_ptr<SteadyTime> time_;
  std::stop_source stop_runs_;
  const TimePoint started_;
  WakeSignal signal_;
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<Entry>> entries_;  // guarded by mutex_
  std::vector<ServiceTable> wanted_;             // guarded by mutex_: waiting for retired entries
  std::vector<OwedRelease> owed_;                // guarded by mutex_
  mutable RunSlots slots_;                       // guarded by mutex_
  RunSlots::TableNumber next_number_ = 0;        // guarded by mutex_
  bool stopping_ = false;                        // guarded by mutex_
  std::map<std::string, std::unique_ptr<WorkerPool>> run_pools_;
  WorkerPool look_pool_;  // last: its threads end first
};

}  // namespace icewright
