#pragma once

/// \file base/run_context.h
/// What every long call gets first: stop, progress, clock, randomness, memory and threads.

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory_budget.h"
#include "base/random.h"
#include "base/result.h"

namespace icewright {

/// Counters that a worker adds to and anyone may read. Thread-safe.
class Progress {
 public:
  struct View {
    std::string phase;                  ///< "delete files"
    std::string unit;                   ///< "files"
    std::optional<std::int64_t> total;  ///< Unknown while planning.
    std::int64_t done = 0;
  };

  /// Starts a new phase and sets `done` to 0.
  void Enter(std::string_view phase, std::string_view unit, std::optional<std::int64_t> total = {});
  void Advance(std::int64_t n = 1) { done_.fetch_add(n, std::memory_order_relaxed); }
  View Read() const;

 private:
  mutable std::mutex mutex_;
  View head_;  // guarded by mutex_; its `done` is unused
  std::atomic<std::int64_t> done_{0};
};

/// Who asked a run to stop; decides the error code that the run ends with.
enum class StopReason : std::uint8_t { kCancelled, kDeadline, kLockLost };

/// What a run is made of. Whatever a pointer names must outlive the run.
struct RunOptions {
  std::stop_token stop = {};
  const std::atomic<StopReason>* stop_reason = nullptr;  ///< Unset: kCancelled.
  Clock* clock = &Clock::System();
  Random* random = nullptr;  ///< Unset: a generator seeded by the machine.
  std::int64_t memory_limit_bytes = MemoryBudget::kUnlimited;
  int threads = 1;  ///< >= 1
  Log* log = &Log::Silent();

  /// Asked before each commit and each delete batch: may this run still write? Unset: yes.
  std::function<Status()> may_write = {};
};

/// One per run of a task. Outlives the run; shared by its worker threads. Thread-safe.
class RunContext {
 public:
  explicit RunContext(RunOptions options = {});

  /// Call between units of work (a manifest, a record batch or page, a delete batch), not per row.
  /// Errors: kCancelled, kExhausted (deadline) or kLockLost, by the reason of the stop.
  Status Check() const;

  /// Check(), plus the question whether the run may still write. Call before each commit attempt
  /// and each delete batch. Errors: as Check(), and kLockLost.
  Status CheckMayWrite() const;

  /// Waits on the injected clock; a stop ends the wait. Errors: as Check().
  Status SleepFor(Milliseconds duration) const;

  TimePoint Now() const { return options_.clock->Now(); }
  Random& random() { return options_.random != nullptr ? *options_.random : own_random_; }
  Progress& progress() { return progress_; }
  MemoryBudget& memory() { return memory_; }
  int threads() const { return options_.threads; }
  Log& log() const { return *options_.log; }
  const std::stop_token& stop() const { return options_.stop; }

 private:
  RunOptions options_;
  Random own_random_;
  Progress progress_;
  MemoryBudget memory_;
};

}  // namespace icewright
