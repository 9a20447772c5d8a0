#include "schedule/trigger_core.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "config/units.h"

namespace icewright {
namespace {

// A table that is written all the time must not be left alone for an hour because of some races.
constexpr int kLostRaceFactor = 8;

}  // namespace

TriggerCore::TriggerCore(std::vector<TriggerTask> tasks, TriggerOptions options,
                         std::optional<TriggerState> restored)
    : tasks_(std::move(tasks)),
      options_(options),
      states_(tasks_.size()),
      fresh_(tasks_.size(), true),
      restored_(restored.has_value()) {
  counters_.triggered.assign(tasks_.size(), 0);
  if (!restored) return;
  next_evaluation_ = restored->next_evaluation;
  limited_until_ = restored->next_evaluation.value_or(TimePoint());
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    const auto known = restored->tasks.find(tasks_[i].id);
    if (known == restored->tasks.end()) continue;
    states_[i] = known->second;
    fresh_[i] = false;
    if (!java() && tasks_[i].id == restored->starts_from) starts_from_ = i;
  }
}

void TriggerCore::WaitUntil(TimePoint t, Waiting why) {
  next_evaluation_ = t;
  waiting_ = why;
}

Step TriggerCore::Initialise(Instant at) {
  if (initialised_) return {};
  initialised_ = true;
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    if (!fresh_[i]) continue;
    states_[i].last_trigger = at.now;
    states_[i].cron_after = at.wall;
  }
  if (!restored_) return {};
  if (!java()) {
    // Only the rate limit is worth keeping: whoever held the lock is asked again at once.
    waiting_ = next_evaluation_ ? Waiting::kRateLimit : Waiting::kNothing;
    return {};
  }
  recovering_ = true;
  WaitUntil(next_evaluation_.value_or(at.now + options_.rate_limit), Waiting::kRecovery);
  return {.start_recovery = true};
}

Step TriggerCore::Start(Instant at) {
  if (java() && !options_.eager) return {};
  return Initialise(at);
}

Step TriggerCore::OnChange(const TableChange& change, Instant at) {
  return OnChange(std::vector<TableChange>(tasks_.size(), change), at);
}

Step TriggerCore::OnChange(std::span<const TableChange> per_task, Instant at) {
  Step first = Initialise(at);
  for (std::size_t i = 0; i < states_.size(); ++i) states_[i].accumulated += per_task[i];
  if (next_evaluation_) {
    ++counters_.rate_limiter_triggered;
    return first;
  }
  Step step = Evaluate(at, true);
  step.start_recovery = first.start_recovery;
  return step;
}

Step TriggerCore::OnTimer(Instant at) {
  Step first = Initialise(at);
  const bool pending = next_evaluation_.has_value();
  if (pending && *next_evaluation_ > at.now) return first;
  next_evaluation_.reset();
  // kDefault: a timer that only watches the time pass counts nothing.
  Step step = Evaluate(at, pending || java());
  step.start_recovery = first.start_recovery;
  return step;
}

Step TriggerCore::Evaluate(Instant at, bool count_nothing) {
  if (recovering_) return {.ask = Step::Ask::kIsRecovering};
  // A manual run may have waited for the lock while the rate limit still holds for the others.
  const bool manual_only = !java() && at.now < limited_until_;
  const std::optional<std::size_t> due = FindDue(at, manual_only);
  if (due) {
    asked_ = *due;
    return {.ask = Step::Ask::kTryLock,
            .task = *due,
            .reason = Judge(tasks_[*due].schedule, states_[*due], at, Explain::kYes).reason};
  }
  if (manual_only) {
    WaitUntil(limited_until_, Waiting::kRateLimit);
    return {};
  }
  waiting_ = Waiting::kNothing;
  if (!triggered_ && count_nothing) ++counters_.nothing_to_trigger;
  triggered_ = false;
  starts_from_ = 0;  // a fresh round begins with the task that was added first
  return {};
}

std::optional<std::size_t> TriggerCore::FindDue(Instant at, bool manual_only) const {
  std::optional<std::size_t> best;
  for (std::size_t n = 0; n < tasks_.size(); ++n) {
    const std::size_t i = (starts_from_ + n) % tasks_.size();
    if (states_[i].manual) return i;
    if (manual_only) continue;
    if (best && tasks_[i].schedule.extras.priority <= tasks_[*best].schedule.extras.priority) {
      continue;
    }
    if (Judge(tasks_[i].schedule, states_[i], at).due()) best = i;
  }
  return best;
}

Step TriggerCore::LockAnswered(bool taken, Instant at) {
  TaskTriggerState& state = states_[asked_];
  if (!taken) {
    ++counters_.concurrent_run_throttled;
    starts_from_ = asked_;
    WaitUntil(at.now + options_.lock_check_delay, Waiting::kLock);
    return {};
  }
  ++counters_.triggered[asked_];
  state.accumulated = {};
  state.last_trigger = at.now;
  state.cron_after = at.wall;
  state.ever_triggered = true;
  state.manual = false;
  state.retry_at.reset();
  starts_from_ = (asked_ + 1) % tasks_.size();
  triggered_ = true;
  limited_until_ = at.now + options_.rate_limit;
  WaitUntil(limited_until_, Waiting::kRateLimit);
  return {};
}

Step TriggerCore::RecoveryAnswered(bool still_recovering, Instant at) {
  if (still_recovering) {
    WaitUntil(at.now + options_.lock_check_delay, Waiting::kRecovery);
    return {};
  }
  recovering_ = false;
  return Evaluate(at, true);
}

void TriggerCore::OnResult(std::size_t task, RunOutcome outcome, Instant at) {
  TaskTriggerState& state = states_[task];
  if (outcome == RunOutcome::kSucceeded) state.last_success = at.wall;
  if (java()) return;
  switch (outcome) {
    case RunOutcome::kSucceeded:
      state.failures = 0;
      state.retry_at.reset();
      return;
    case RunOutcome::kStopped:
      state.retry_at = at.now;
      return;
    case RunOutcome::kNeedsRepair:
      ++state.failures;
      state.retry_at = at.now + options_.retry_max_delay;
      return;
    case RunOutcome::kFailed:
    case RunOutcome::kLostRace: {
      ++state.failures;
      const Milliseconds most =
          outcome == RunOutcome::kFailed
              ? options_.retry_max_delay
              : std::min(options_.retry_max_delay, kLostRaceFactor * options_.retry_delay);
      Milliseconds delay = options_.retry_delay;
      for (int n = 1; n < state.failures && delay < most; ++n) delay *= 2;
      state.retry_at = at.now + std::min(delay, most);
      return;
    }
  }
}

Step TriggerCore::OnRelease(Instant at) {
  if (java() || (next_evaluation_ && waiting_ != Waiting::kLock)) return {};
  next_evaluation_.reset();
  return Evaluate(at, false);
}

Step TriggerCore::RunNow(std::size_t task, Instant at) {
  Step first = Initialise(at);
  states_[task].manual = true;
  if (waiting_ == Waiting::kLock || waiting_ == Waiting::kRecovery) return first;
  if (java() && next_evaluation_) return first;
  Step step = Evaluate(at, false);
  step.start_recovery = first.start_recovery;
  return step;
}

Step TriggerCore::SetPaused(std::size_t task, bool paused, Instant at) {
  states_[task].paused = paused;
  if (paused || next_evaluation_ || !initialised_) return {};
  return Evaluate(at, false);
}

std::optional<TimePoint> TriggerCore::next_wake(Instant at) const {
  if (next_evaluation_ || java() || !initialised_) return next_evaluation_;
  std::optional<TimePoint> next;
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    if (Judge(tasks_[i].schedule, states_[i], at).due()) return at.now;
    const auto change = NextChange(tasks_[i].schedule, states_[i], at);
    if (change && (!next || *change < *next)) next = change;
  }
  return next;
}

std::string TriggerCore::Explain(std::size_t task, Instant at) const {
  const Verdict verdict = Judge(tasks_[task].schedule, states_[task], at, Explain::kYes);
  if (!verdict.due() || !next_evaluation_) return verdict.reason;
  const std::string wait = FormatDuration(std::max(*next_evaluation_ - at.now, Milliseconds(0)));
  switch (waiting_) {
    case Waiting::kLock:
      return fmt::format("due ({}); the lock is held, tried again in {}", verdict.reason, wait);
    case Waiting::kRecovery:
      return fmt::format("due ({}); recovery is looked at in {}", verdict.reason, wait);
    case Waiting::kNothing:
    case Waiting::kRateLimit:
      return fmt::format("due ({}); the rate limit ends in {}", verdict.reason, wait);
  }
  return verdict.reason;
}

std::optional<TimePoint> TriggerCore::NextDue(std::size_t task, Instant at) const {
  auto due = icewright::NextDue(tasks_[task].schedule, states_[task], at);
  if (due && next_evaluation_) due = std::max(*due, *next_evaluation_);
  return due;
}

std::optional<TriggerState> TriggerCore::Snapshot(Instant at) const {
  if (!initialised_) return {};
  TriggerState state;
  state.next_evaluation = next_evaluation_;
  state.saved_at = at.now;
  if (!java()) {
    state.starts_from = tasks_[starts_from_].id;
    if (waiting_ == Waiting::kLock) state.next_evaluation.reset();
    if (at.now < limited_until_) state.next_evaluation = limited_until_;
  }
  for (std::size_t i = 0; i < tasks_.size(); ++i) state.tasks[tasks_[i].id] = states_[i];
  return state;
}

Status ValidateTriggers(std::span<const TriggerTask> tasks, const TriggerOptions& options) {
  const auto positive = [](std::string_view key, Milliseconds value) -> Status {
    if (value.count() >= 1 && value <= kLongestDuration) return {};
    return Error(Code::kInvalidArgument,
                 fmt::format("{} is {} ms but must be at least 1 ms and at most ten years", key,
                             value.count()));
  };
  if (tasks.empty()) {
    return Error(Code::kInvalidArgument, "table maintenance needs at least one task: Add one");
  }
  IW_TRY(positive("rate-limit", options.rate_limit));
  IW_TRY(positive("lock-check-delay", options.lock_check_delay));
  IW_TRY(positive("retry-delay", options.retry_delay));
  IW_TRY(positive("retry-max-delay", options.retry_max_delay));
  std::set<std::string_view> ids;
  for (const TriggerTask& task : tasks) {
    IW_TRY(ValidateSchedule(task.schedule).Within(task.id));
    if (!ids.insert(task.id).second) {
      return Error(Code::kInvalidArgument,
                   fmt::format("two tasks are named '{}': give one of them another name", task.id));
    }
  }
  return {};
}

}  // namespace icewright
