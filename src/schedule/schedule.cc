#include "schedule/schedule.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/units.h"

namespace icewright {
namespace {

constexpr CountCondition kCountConditions[] = {
    {"commit-count", &Conditions::on_commit_count, &TableChange::commit_count},
    {"data-file-count", &Conditions::on_data_file_count, &TableChange::data_file_count},
    {"data-file-size", &Conditions::on_data_file_size_bytes, &TableChange::data_file_size_in_bytes,
     FieldUnit::kBytes},
    {"pos-delete-file-count", &Conditions::on_pos_delete_file_count,
     &TableChange::pos_delete_file_count},
    {"pos-delete-record-count", &Conditions::on_pos_delete_record_count,
     &TableChange::pos_delete_record_count},
    {"eq-delete-file-count", &Conditions::on_eq_delete_file_count,
     &TableChange::eq_delete_file_count},
    {"eq-delete-record-count", &Conditions::on_eq_delete_record_count,
     &TableChange::eq_delete_record_count},
};

Error Bad(std::string message) { return {Code::kInvalidArgument, std::move(message)}; }

Status CheckDuration(std::string_view key, const std::optional<Milliseconds>& duration) {
  if (!duration || (duration->count() > 0 && *duration <= kLongestDuration)) return {};
  return Bad(fmt::format("{} is {} ms but must be at least 1 ms and at most ten years", key,
                         duration->count()));
}

Status CheckConditions(const Conditions& conditions) {
  for (const CountCondition& condition : kCountConditions) {
    const auto& threshold = conditions.*condition.threshold;
    if (threshold && *threshold < 1) {
      return Bad(fmt::format("{} is {} but must be at least 1", condition.key, *threshold));
    }
  }
  return CheckDuration("interval", conditions.on_interval);
}

}  // namespace

std::span<const CountCondition> CountConditions() { return kCountConditions; }

Status ValidateSchedule(const Schedule& schedule) {
  const ScheduleExtras& extras = schedule.extras;
  if (schedule.any.empty() && extras.all_of.empty() && extras.cron.empty()) {
    return Bad("a task needs at least 1 condition, such as commit-count or interval");
  }
  IW_TRY(CheckConditions(schedule.any));
  for (const Conditions& group : extras.all_of) {
    if (group.empty()) return Bad("a group of all-of needs at least 1 condition");
    IW_TRY(CheckConditions(group).Within("all-of"));
  }
  IW_TRY(CheckDuration("rate-limit", extras.rate_limit));
  return CheckDuration("max-run-time", extras.max_run_time);
}

}  // namespace icewright
