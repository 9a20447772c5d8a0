#pragma once

/// \file schedule/trigger_test_driver.h
/// Plays a table's locks and clock for the decision core. For tests only.

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "schedule/trigger_core.h"

namespace icewright {

inline Instant At(std::int64_t ms) { return {FromMillis(ms), FromMillis(ms)}; }

inline TableChange Commits(std::int64_t n) { return {.commit_count = n}; }

/// One task per schedule, with the ids "a", "b", "c" ...
inline std::vector<TriggerTask> Tasks(const std::vector<Conditions>& conditions) {
  std::vector<TriggerTask> tasks;
  for (const Conditions& any : conditions) {
    tasks.push_back({std::string(1, static_cast<char>('a' + tasks.size())), {.any = any}});
  }
  return tasks;
}

class TriggerDriver {
 public:
  struct Fired {
    std::int64_t at;
    std::string task;
    friend bool operator==(const Fired&, const Fired&) = default;
    friend void PrintTo(const Fired& fired, std::ostream* os) {
      *os << fired.task << '@' << fired.at;
    }
  };

  TriggerDriver(std::vector<TriggerTask> tasks, TriggerOptions options,
                std::optional<TriggerState> restored = {})
      : core(std::move(tasks), options, std::move(restored)) {}

  TriggerCore core;
  std::int64_t now = 0;
  std::int64_t wall_ahead = 0;
  bool locked = false;
  bool recovery_locked = false;
  std::vector<Fired> fired;
  std::vector<std::int64_t> recoveries;
  std::string last_reason;

  Instant instant() const { return {FromMillis(now), FromMillis(now + wall_ahead)}; }

  void Start() { Do(core.Start(instant())); }
  void Change(const TableChange& change) { Do(core.OnChange(change, instant())); }
  /// Moves the time on, calling timers when they are due.
  void AdvanceTo(std::int64_t t) {
    for (;;) {
      const auto wake = core.next_wake(instant());
      if (!wake || ToMillis(*wake) > t) break;
      now = std::max(now, ToMillis(*wake));
      Do(core.OnTimer(instant()));
    }
    now = t;
  }
  void Release() {
    locked = false;
    Do(core.OnRelease(instant()));
  }
  void Finish(std::size_t task, RunOutcome outcome) {
    core.OnResult(task, outcome, instant());
    Release();
  }
  void Do(Step step) {
    if (step.start_recovery) {
      recovery_locked = true;
      recoveries.push_back(now);
    }
    for (;;) {
      switch (step.ask) {
        case Step::Ask::kNothing:
          return;
        case Step::Ask::kIsRecovering:
          step = core.RecoveryAnswered(recovery_locked, instant());
          break;
        case Step::Ask::kTryLock: {
          const bool taken = !locked;
          if (taken) {
            locked = true;
            last_reason = step.reason;
            fired.push_back({now, core.tasks()[step.task].id});
          }
          step = core.LockAnswered(taken, instant());
          break;
        }
      }
    }
  }
};

}  // namespace icewright
