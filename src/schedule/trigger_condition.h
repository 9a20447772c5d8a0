#pragma once

/// \file schedule/trigger_condition.h
/// Is a task due, why, and if not: since when could it be. Pure.

#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "schedule/schedule.h"

namespace icewright {

/// One moment, twice. `now` never goes back and measures intervals; `wall` is the machine's clock,
/// for cron, quiet hours and people.
struct Instant {
  TimePoint now;
  TimePoint wall;
};

/// What the scheduler remembers of a task.
struct TaskTriggerState {
  TableChange accumulated = {};  ///< Since the last trigger.
  TimePoint last_trigger = {};   ///< By Instant::now; the first start of the scheduler if none.
  TimePoint cron_after = {};     ///< By Instant::wall: cron times up to here are done with.
  bool ever_triggered = false;
  bool manual = false;                     ///< A person asked for a run.
  std::optional<bool> paused = {};         ///< Set at run time; unset: as the schedule says.
  int failures = 0;                        ///< Failed runs in a row.
  std::optional<TimePoint> retry_at = {};  ///< By Instant::now: a failed run is tried again then.
  std::optional<TimePoint> last_success = {};  ///< By Instant::wall: for people.

  friend bool operator==(const TaskTriggerState&, const TaskTriggerState&) = default;
};

enum class DueState : std::uint8_t {
  kDue,
  kNotYet,  ///< No condition holds.
  kPaused,
  kQuietHours,
  kRateLimited,  ///< By the task's own limit.
  kBackoff,      ///< After a failed run.
};

struct Verdict {
  DueState state = DueState::kNotYet;
  std::string reason;  ///< "commit-count 12 of 10"; only if asked for.

  bool due() const { return state == DueState::kDue; }
};

enum class Explain : std::uint8_t { kNo, kYes };

/// A manual run passes quiet hours, limits, backoff and pause.
Verdict Judge(const Schedule& schedule, const TaskTriggerState& state, Instant at,
              Explain explain = Explain::kNo);

/// The next moment, by Instant::now, at which Judge may say something else without a change of the
/// table. Unset: never.
std::optional<TimePoint> NextChange(const Schedule& schedule, const TaskTriggerState& state,
                                    Instant at);

/// The first moment, by Instant::now, at which the task is due if the table stays as it is. Unset:
/// never, or not before NextChange has been there many times.
std::optional<TimePoint> NextDue(const Schedule& schedule, const TaskTriggerState& state,
                                 Instant at);

}  // namespace icewright
