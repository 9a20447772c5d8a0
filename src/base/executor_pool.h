#pragma once

/// \file base/executor_pool.h
/// Threads for a program that stays: work that is handed over, and a loop that waits for news.

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "base/clock.h"

namespace icewright {

/// Runs what it is given on its own threads, in order. Exceptions must not leave `work`.
/// Thread-safe.
class WorkerPool {
 public:
  /// Each thread is made when there is work for it. 0: Submit itself runs the work.
  explicit WorkerPool(int threads) : limit_(threads) {}
  /// Finishes all that was submitted.
  ~WorkerPool();

  /// If it throws (no memory, no thread), nothing was submitted.
  void Submit(std::function<void()> work);

 private:
  void Loop();

  const int limit_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;  // guarded by mutex_
  std::vector<std::jthread> threads_;        // guarded by mutex_ until destruction
  int idle_ = 0;                             // guarded by mutex_
  bool closed_ = false;                      // guarded by mutex_
};

/// A wait on the injected clock that others can end. Thread-safe.
class WakeSignal {
 public:
  /// Ends the wait of now, or the next one.
  void Notify();

  /// Returns after `duration`, a Notify or a stop.
  void WaitFor(Clock& clock, Milliseconds duration, const std::stop_token& stop);

 private:
  std::mutex mutex_;
  std::stop_source wait_;  // guarded by mutex_; replaced by each wait
};

}  // namespace icewright
