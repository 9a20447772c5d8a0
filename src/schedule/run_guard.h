#pragma once

/// \file schedule/run_guard.h
/// Watches over one run: its lock, its time, and those who want it to stop.

#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>

#include "base/executor.h"
#include "base/result.h"
#include "schedule/task_runner.h"

namespace icewright {

/// Thread-safe.
class RunGuard {
 public:
  explicit RunGuard(const RunRequest& request);

  /// Stopped by the request's own token, a lost lock, or the end of its time.
  std::stop_token stop() const { return source_.get_token(); }
  const std::atomic<StopReason>* reason() const { return &reason_; }

  /// Proves the lock. Errors: kLockLost, kExhausted (no time is left), those of Renew.
  Status MayWrite();

 private:
  bool Overtime();
  void Tick();
  Status Renew();
  void Stop(StopReason reason);

  const RunRequest& request_;
  const std::optional<TimePoint> deadline_;
  std::atomic<StopReason> reason_{StopReason::kCancelled};
  std::stop_source source_;
  std::mutex mutex_;
  TimePoint next_beat_;        // guarded by mutex_
  std::optional<Error> lost_;  // guarded by mutex_; a lost lock is not asked about again
  std::stop_callback<std::function<void()>> outer_;
  Ticker ticker_;
};

}  // namespace icewright
