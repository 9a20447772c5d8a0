#include "schedule/trigger_condition.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/units.h"

namespace icewright {
namespace {

std::string CountText(const CountCondition& condition, std::int64_t n, std::int64_t of) {
  if (condition.unit == FieldUnit::kBytes) {
    return fmt::format("{} {} of {}", condition.key, FormatByteSize(n), FormatByteSize(of));
  }
  return fmt::format("{} {} of {}", condition.key, n, of);
}

std::string In(Milliseconds wait) {
  return "in " + FormatDuration(std::max(wait, Milliseconds(0)));
}

struct Question {
  const TaskTriggerState& state;
  Instant at;
  bool explain;

  // Calls with each condition of the set: whether it holds, and a function that says it.
  template <typename Visit>
  void ForEach(const Conditions& conditions, Visit visit) const {
    for (const CountCondition& condition : CountConditions()) {
      const auto& threshold = conditions.*condition.threshold;
      if (!threshold) continue;
      const std::int64_t n = state.accumulated.*condition.counter;
      visit(n >= *threshold, [&] { return CountText(condition, n, *threshold); });
    }
    if (!conditions.on_interval) return;
    const Milliseconds passed = at.now - state.last_trigger;
    visit(passed >= *conditions.on_interval, [&] {
      return fmt::format("interval {} of {}", FormatDuration(passed),
                         FormatDuration(*conditions.on_interval));
    });
  }
};

void Append(std::string& text, std::string_view separator, const std::string& more) {
  if (!text.empty()) text += separator;
  text += more;
}

// Any condition. `reason`: those that hold, or all if none does.
bool AnyHolds(const Question& question, const Conditions& conditions, std::string& holding,
              std::string& missing) {
  bool any = false;
  question.ForEach(conditions, [&](bool holds, const auto& text) {
    any |= holds;
    if (question.explain) Append(holds ? holding : missing, ", ", text());
  });
  return any;
}

bool AllHold(const Question& question, const Conditions& conditions, std::string& holding,
             std::string& missing) {
  bool all = true;
  std::string group;
  question.ForEach(conditions, [&](bool holds, const auto& text) {
    all &= holds;
    if (question.explain) Append(group, " and ", text());
  });
  if (question.explain) Append(all ? holding : missing, ", ", group);
  return all;
}

TimePoint Local(const Schedule& schedule, TimePoint wall) {
  return wall + schedule.extras.utc_offset;
}

bool CronHolds(const Question& question, const Schedule& schedule, std::string& holding,
               std::string& missing) {
  bool any = false;
  for (const CronTimes& cron : schedule.extras.cron) {
    const TimePoint next = cron.Next(Local(schedule, question.state.cron_after));
    const bool holds = next <= Local(schedule, question.at.wall);
    any |= holds;
    if (!question.explain) continue;
    const std::string wait = holds ? "" : " " + In(next - Local(schedule, question.at.wall));
    Append(holds ? holding : missing, ", ", fmt::format("cron {}{}", cron.text(), wait));
  }
  return any;
}

// The latest end of the quiet hours that `at` is in.
std::optional<TimePoint> QuietUntil(const Schedule& schedule, Instant at) {
  std::optional<TimePoint> until;
  for (const QuietHours& quiet : schedule.extras.quiet_hours) {
    const auto end = quiet.EndOf(Local(schedule, at.wall));
    if (!end) continue;
    const TimePoint by_now = at.now + (*end - Local(schedule, at.wall));
    until = std::max(until.value_or(by_now), by_now);
  }
  return until;
}

std::optional<TimePoint> LimitedUntil(const Schedule& schedule, const TaskTriggerState& state) {
  if (!schedule.extras.rate_limit || !state.ever_triggered) return {};
  return state.last_trigger + *schedule.extras.rate_limit;
}

}  // namespace

Verdict Judge(const Schedule& schedule, const TaskTriggerState& state, Instant at,
              Explain explain) {
  const bool text = explain == Explain::kYes;
  if (state.manual) return {DueState::kDue, text ? "asked for by hand" : ""};
  if (state.paused.value_or(schedule.extras.paused)) {
    return {DueState::kPaused, text ? "paused" : ""};
  }
  if (const auto until = QuietUntil(schedule, at)) {
    return {DueState::kQuietHours, text ? "quiet hours end " + In(*until - at.now) : ""};
  }
  if (const auto until = LimitedUntil(schedule, state); until && at.now < *until) {
    return {DueState::kRateLimited,
            text ? "rate-limit of the task ends " + In(*until - at.now) : ""};
  }
  if (state.retry_at) {
    if (at.now >= *state.retry_at) {
      return {DueState::kDue, !text ? ""
                              : state.failures == 0
                                  ? "continues a run that was stopped"
                                  : fmt::format("retry after {} failed run(s)", state.failures)};
    }
    return {DueState::kBackoff, text ? fmt::format("failed {} time(s) in a row; retried {}",
                                                   state.failures, In(*state.retry_at - at.now))
                                     : ""};
  }
  const Question question{state, at, text};
  std::string holding;
  std::string missing;
  bool due = AnyHolds(question, schedule.any, holding, missing);
  for (const Conditions& group : schedule.extras.all_of) {
    due |= AllHold(question, group, holding, missing);
  }
  due |= CronHolds(question, schedule, holding, missing);
  return {due ? DueState::kDue : DueState::kNotYet, due ? holding : missing};
}

std::optional<TimePoint> NextChange(const Schedule& schedule, const TaskTriggerState& state,
                                    Instant at) {
  std::optional<TimePoint> next;
  const auto consider = [&](std::optional<TimePoint> t) {
    if (t && *t > at.now && (!next || *t < *next)) next = *t;
  };
  const auto interval = [&](const Conditions& conditions) {
    if (conditions.on_interval) consider(state.last_trigger + *conditions.on_interval);
  };
  interval(schedule.any);
  for (const Conditions& group : schedule.extras.all_of) interval(group);
  for (const CronTimes& cron : schedule.extras.cron) {
    const TimePoint due = cron.Next(Local(schedule, state.cron_after));
    consider(at.now + (due - Local(schedule, at.wall)));
  }
  consider(QuietUntil(schedule, at));
  consider(LimitedUntil(schedule, state));
  consider(state.retry_at);
  return next;
}

std::optional<TimePoint> NextDue(const Schedule& schedule, const TaskTriggerState& state,
                                 Instant at) {
  constexpr int kSteps = 32;
  for (int i = 0; i < kSteps; ++i) {
    if (Judge(schedule, state, at).due()) return at.now;
    const auto next = NextChange(schedule, state, at);
    if (!next) return {};
    at = {*next, at.wall + (*next - at.now)};
  }
  return {};
}

}  // namespace icewright
