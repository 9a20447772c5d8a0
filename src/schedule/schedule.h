#pragma once

/// \file schedule/schedule.h
/// When a task is due: the conditions of one task, as its owner writes them.
///
/// Java twins: MaintenanceTaskBuilder, TriggerEvaluator.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "config/fields.h"
#include "schedule/cron.h"
#include "schedule/table_change.h"

namespace icewright {

/// Java's eight conditions: what has been added since the task's last trigger, and how long ago
/// that was. Unset: not asked. Counts: >= 1. Interval: >= 1 ms, at most ten years.
struct Conditions {
  std::optional<std::int64_t> on_commit_count = {};
  std::optional<std::int64_t> on_data_file_count = {};
  std::optional<std::int64_t> on_data_file_size_bytes = {};
  std::optional<std::int64_t> on_pos_delete_file_count = {};
  std::optional<std::int64_t> on_pos_delete_record_count = {};
  std::optional<std::int64_t> on_eq_delete_file_count = {};
  std::optional<std::int64_t> on_eq_delete_record_count = {};
  std::optional<Milliseconds> on_interval = {};

  bool empty() const { return *this == Conditions(); }
  friend bool operator==(const Conditions&, const Conditions&) = default;
};

/// What Java lacks.
struct ScheduleExtras {
  std::vector<Conditions> all_of = {};       ///< Due if all conditions of one of these groups hold.
  std::vector<CronTimes> cron = {};          ///< Due at these times.
  std::vector<QuietHours> quiet_hours = {};  ///< Never started then, but for a manual run.
  Milliseconds utc_offset{0};                ///< Of cron and quiet hours.
  std::optional<Milliseconds> rate_limit = {};    ///< Least time between two starts of this task.
  std::optional<Milliseconds> max_run_time = {};  ///< Then the run is stopped: kExhausted.
  int priority = 0;     ///< Of the tasks that are due, the highest one is started first.
  bool paused = false;  ///< Counts on, but is not started.

  friend bool operator==(const ScheduleExtras&, const ScheduleExtras&) = default;
};

/// Due if one condition of `any`, one group or one cron time holds.
struct Schedule {
  Conditions any = {};
  ScheduleExtras extras = {};

  friend bool operator==(const Schedule&, const Schedule&) = default;
};

/// One of the seven conditions on counters; the interval is the eighth.
struct CountCondition {
  std::string_view key;  ///< "commit-count", as in flink-maintenance.rewrite.schedule.*
  std::optional<std::int64_t> Conditions::*threshold;
  std::int64_t TableChange::*counter;
  FieldUnit unit = FieldUnit::kNone;
};
std::span<const CountCondition> CountConditions();

/// Errors: kInvalidArgument: no condition at all, a threshold below 1, an empty group, a duration
/// out of range.
Status ValidateSchedule(const Schedule& schedule);

/// Durations of schedules stay below this, so that no sum of times runs over.
inline constexpr Milliseconds kLongestDuration = std::chrono::hours(24 * 3660);

}  // namespace icewright
