#pragma once

/// \file schedule/trigger_core.h
/// Decides which task of a table runs when. Pure: no clock, no lock, no table; the caller brings
/// events and does what a Step says.
///
/// Java twins: TriggerManager, TriggerManagerOperator.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "schedule/schedule.h"
#include "schedule/trigger_condition.h"

namespace icewright {

/// kJava does what Flink's table maintenance does, word for word. kDefault wakes when a lock is
/// released, tries failed runs again, needs no event for times to pass, and remembers whose turn it
/// is. docs/scheduling.md lists each difference.
enum class TriggerPolicy : std::uint8_t { kDefault, kJava };

struct TriggerOptions {
  TriggerPolicy policy = TriggerPolicy::kDefault;
  Milliseconds rate_limit{60'000};        ///< Between two triggers of the table. Range: >= 1 ms.
  Milliseconds lock_check_delay{30'000};  ///< Before a held lock is tried again. Range: >= 1 ms.
  /// kJava: start with Start(), as a coordinator's lock does; else with the first event or timer.
  bool eager = false;
  Milliseconds retry_delay{60'000};         ///< kDefault: after the first failure; then doubled.
  Milliseconds retry_max_delay{3'600'000};  ///< kDefault: also after an error that only a person
                                            ///< can repair.
};

/// The id is the task's identity across restarts and in run records.
struct TriggerTask {
  std::string id;
  Schedule schedule;
};

/// What is kept across restarts.
struct TriggerState {
  std::optional<TimePoint> next_evaluation = {};
  std::map<std::string, TaskTriggerState> tasks = {};  ///< By task id.
  std::string starts_from = {};                        ///< kDefault: whose turn it is.
  TimePoint saved_at = {};  ///< By Instant::now; time never goes back behind it.

  friend bool operator==(const TriggerState&, const TriggerState&) = default;
};

/// What the caller has to do next.
struct Step {
  enum class Ask : std::uint8_t {
    kNothing,
    kTryLock,       ///< Try to take the lock, then call LockAnswered.
    kIsRecovering,  ///< Look whether the recovery lock is held, then call RecoveryAnswered.
  };
  bool start_recovery = false;  ///< First take the recovery lock, whoever has it, and report that.
  Ask ask = Ask::kNothing;
  std::size_t task = 0;     ///< kTryLock: the task to run if the lock is taken.
  std::string reason = {};  ///< kTryLock: why it is due.
};

enum class RunOutcome : std::uint8_t {
  kSucceeded,
  kFailed,       ///< Worth another try.
  kLostRace,     ///< Likewise; others were faster, which says little about the next time.
  kNeedsRepair,  ///< Fails again until a person acts.
  kStopped,      ///< Stopped from outside; to be continued.
};

/// Java's counters, under Java's names.
struct TriggerCounters {
  std::int64_t rate_limiter_triggered = 0;
  std::int64_t concurrent_run_throttled = 0;
  std::int64_t nothing_to_trigger = 0;
  std::vector<std::int64_t> triggered;  ///< Per task.
};

/// Single-threaded.
class TriggerCore {
 public:
  /// Preconditions: at least one task, ids differ, ValidateTriggers holds. `restored`: the state of
  /// an earlier run. Tasks that it does not know start afresh, tasks that are gone are forgotten.
  TriggerCore(std::vector<TriggerTask> tasks, TriggerOptions options,
              std::optional<TriggerState> restored);

  Step Start(Instant at);
  /// One change for all tasks, or one for each of them. An empty change is an event, too.
  Step OnChange(const TableChange& change, Instant at);
  Step OnChange(std::span<const TableChange> per_task, Instant at);
  /// Call at next_wake().
  Step OnTimer(Instant at);
  /// A run of ours ended. Call before OnRelease.
  void OnResult(std::size_t task, RunOutcome outcome, Instant at);
  /// The lock was given back.
  Step OnRelease(Instant at);
  Step LockAnswered(bool taken, Instant at);
  Step RecoveryAnswered(bool still_recovering, Instant at);

  /// A person asks. A manual run waits for the lock, for nothing else.
  Step RunNow(std::size_t task, Instant at);
  Step SetPaused(std::size_t task, bool paused, Instant at);

  /// When OnTimer is to be called if nothing else happens; unset: never.
  std::optional<TimePoint> next_wake(Instant at) const;

  const TriggerCounters& counters() const { return counters_; }
  std::span<const TriggerTask> tasks() const { return tasks_; }
  const TaskTriggerState& task_state(std::size_t task) const { return states_[task]; }
  bool waits_for_lock() const { return waiting_ == Waiting::kLock; }

  /// Why a task is not running: for people.
  std::string Explain(std::size_t task, Instant at) const;

  /// When it can start at the earliest if the table stays as it is and the lock is free. Unset: it
  /// waits for commits.
  std::optional<TimePoint> NextDue(std::size_t task, Instant at) const;

  /// kJava: unset until initialised, so that an idle restart keeps the old state.
  std::optional<TriggerState> Snapshot(Instant at) const;

 private:
  enum class Waiting : std::uint8_t { kNothing, kRateLimit, kLock, kRecovery };

  bool java() const { return options_.policy == TriggerPolicy::kJava; }
  /// Sets start_recovery if a restored state asks for it.
  Step Initialise(Instant at);
  Step Evaluate(Instant at, bool count_nothing);
  std::optional<std::size_t> FindDue(Instant at, bool manual_only) const;
  void WaitUntil(TimePoint t, Waiting why);

  const std::vector<TriggerTask> tasks_;
  const TriggerOptions options_;
  std::vector<TaskTriggerState> states_;
  std::vector<bool> fresh_;  // tasks that the restored state did not know
  TriggerCounters counters_;
  std::optional<TimePoint> next_evaluation_;
  TimePoint limited_until_{};
  Waiting waiting_ = Waiting::kNothing;
  std::size_t starts_from_ = 0;
  std::size_t asked_ = 0;  // the task of the last kTryLock
  bool triggered_ = false;
  bool initialised_ = false;
  bool restored_ = false;
  bool recovering_ = false;
};

/// Errors: kInvalidArgument: no task, two of one id, a bad schedule, a limit or delay below 1 ms.
Status ValidateTriggers(std::span<const TriggerTask> tasks, const TriggerOptions& options);

}  // namespace icewright
