#pragma once

/// \file schedule/task_runner.h
/// One run of a task under its lock: heartbeat, time limit, stop.

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include "base/log.h"
#include "base/result.h"
#include "base/run_context.h"
#include "base/steady_time.h"
#include "catalog/table.h"
#include "lock/lock.h"
#include "maintain/task.h"

namespace icewright {

/// How far a run is, for others. Thread-safe.
class RunView {
 public:
  /// Unset: not running.
  std::optional<Progress::View> Read() const;
  /// Null when the run ends.
  void Show(RunContext* run);
  /// Of a run in another process; unset when it ends.
  void Tell(std::optional<Progress::View> view);

 private:
  mutable std::mutex mutex_;
  RunContext* run_ = nullptr;           // guarded by mutex_
  std::optional<Progress::View> told_;  // guarded by mutex_
};

struct ChildRequest;

/// What a run is made of. What the pointers name must outlive it.
struct RunRequest {
  std::string table;
  std::int64_t run_id = 0;
  std::shared_ptr<const MaintenanceTask> task = {};
  const ChildRequest* child = nullptr;  ///< The same, for a process of its own; may be null.
  std::function<Result<Table>(RunContext&)> load = {};
  std::shared_ptr<MaintenanceLock> lock = {};  ///< Held.
  Milliseconds lease{60'000};                  ///< Of the lock. 0: none.
  std::optional<Milliseconds> max_run_time = {};
  int threads = 1;
  std::int64_t memory_limit_bytes = MemoryBudget::kUnlimited;
  std::stop_token stop = {};
  Clock* clock = &Clock::System();
  SteadyTime* time = nullptr;
  Log* log = &Log::Silent();
  RunView* view = nullptr;  ///< May be null.
};

/// How runs are carried out. Thread-safe.
class TaskRunner {
 public:
  virtual ~TaskRunner() = default;
  /// Errors: those of the task; kLockLost; kExhausted when max_run_time is over; kCancelled.
  virtual Status Run(const RunRequest& request, TaskReport& report) = 0;
};

/// On the calling thread. The lock is renewed by a heartbeat, and once more before each commit and
/// each delete batch; a run that has lost it stops before its next write.
class InProcessRunner final : public TaskRunner {
 public:
  Status Run(const RunRequest& request, TaskReport& report) override;
};

}  // namespace icewright
