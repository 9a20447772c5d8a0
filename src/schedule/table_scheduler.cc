#include "schedule/table_scheduler.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace icewright {
namespace {

std::vector<TriggerTask> TriggersOf(const std::vector<ScheduledTask>& tasks) {
  std::vector<TriggerTask> triggers;
  for (const ScheduledTask& task : tasks) triggers.push_back(task.trigger);
  return triggers;
}

}  // namespace

Result<std::unique_ptr<TableScheduler>> TableScheduler::Open(TableSchedulerOptions options,
                                                             std::vector<ScheduledTask> tasks,
                                                             TableSchedulerServices services) {
  if (options.key.empty()) options.key = options.table;
  IW_TRY(ValidateTriggers(TriggersOf(tasks), options.triggers).Within(options.table));
  if (options.max_read_back < 1) {
    return Error(Code::kInvalidArgument,
                 fmt::format("{}: max-read-back is {} but must be at least 1 snapshot",
                             options.table, options.max_read_back));
  }
  IW_ASSIGN(auto restored, services.store->LoadState(options.key));
  if (restored) services.time->NotBefore(restored->triggers.saved_at);
  std::unique_ptr<TableScheduler> scheduler(new TableScheduler(
      std::move(options), std::move(tasks), std::move(services), std::move(restored)));
  scheduler->CloseInterrupted();
  return scheduler;
}

TableScheduler::TableScheduler(TableSchedulerOptions options, std::vector<ScheduledTask> tasks,
                               TableSchedulerServices services,
                               std::optional<TableScheduleState> restored)
    : options_(std::move(options)),
      tasks_(std::move(tasks)),
      services_(std::move(services)),
      core_(TriggersOf(tasks_), options_.triggers,
            restored ? std::optional(restored->triggers) : std::nullopt),
      results_(tasks_.size()) {
  if (restored) positions_ = std::move(restored->positions);
  look_.table = options_.table;
  look_.key = options_.key;
  look_.lock = options_.lock;
  if (options_.monitors) next_look_ = services_.time->Now();
  (void)Do(core_.Start(Now()));  // starts no run: that takes an event or a timer
}

Instant TableScheduler::Now() const { return {services_.time->Now(), services_.clock->Now()}; }

bool TableScheduler::LivesElsewhere(const RunRecord& record) {
  if (record.owner.empty() || record.owner == services_.owner) return false;
  const auto lock = services_.locks->TableLock()->Inspect();
  if (!lock) return true;  // nobody knows yet
  return lock->held && !lock->lease_over && lock->owner == record.owner;
}

void TableScheduler::CloseInterrupted() {
  next_close_.reset();
  const TimePoint later = services_.time->Now() + options_.triggers.lock_check_delay;
  if (running_) {
    next_close_ = later;
    return;
  }
  auto unfinished = services_.store->Unfinished(options_.key);
  if (!unfinished) {
    services_.log->Warning(fmt::format("{}: runs that were interrupted cannot be read: {}",
                                       options_.table, unfinished.error().message()));
    next_close_ = later;
    return;
  }
  for (RunRecord& record : *unfinished) {
    if (LivesElsewhere(record)) {
      next_close_ = later;
      continue;
    }
    record.outcome = "interrupted";
    record.error = "the process ended before the run did";
    record.ended = services_.clock->Now();
    const Status kept = services_.store->FinishRun(record);
    services_.log->Warning(fmt::format("{}: run {} of {} was interrupted{}", options_.table,
                                       record.run_id, record.task,
                                       kept ? "" : "; " + kept.error().message()));
    if (!kept) {
      next_close_ = later;
      continue;
    }
    if (const auto task = Find(record.task)) core_.OnResult(*task, RunOutcome::kStopped, Now());
    dirty_ = true;
  }
  Save();
}

std::optional<TimePoint> TableScheduler::next_wake() const {
  auto wake = core_.next_wake(Now());
  for (const auto& other : {next_look_, next_release_, next_close_}) {
    if (other && (!wake || *other < *wake)) wake = other;
  }
  return wake;
}

std::optional<StartedRun> TableScheduler::Wake(RunContext& run) {
  // The timer comes first, as in Flink: an event that arrives with it finds the timer done.
  std::optional<StartedRun> started;
  const Instant now = Now();
  if (next_release_ && *next_release_ <= now.now) ReleaseLock();
  if (next_close_ && *next_close_ <= now.now) CloseInterrupted();
  if (const auto timer = core_.next_wake(now); timer && *timer <= now.now) {
    started = Do(core_.OnTimer(now));
  }
  if (!started && next_look_ && *next_look_ <= now.now) {
    // One look per period; a look that took longer does not make the next ones come in a heap.
    next_look_ = std::max(*next_look_ + options_.triggers.rate_limit, now.now);
    started = Poll(run);
  }
  Save();
  return started;
}

Result<std::vector<TableChange>> TableScheduler::Look(RunContext& run) {
  IW_ASSIGN(const Table table, services_.load(run));
  look_.facts = FactsOf(table.metadata());
  std::map<std::string, BranchChange> changes;
  for (const ScheduledTask& task : tasks_) {
    if (changes.contains(task.branch)) continue;
    const auto known = positions_.find(task.branch);
    IW_ASSIGN(changes[task.branch],
              LookAtBranch(run, table.io(), table.metadata(),
                           known == positions_.end() ? std::nullopt : std::optional(known->second),
                           {.branch = task.branch,
                            .max_read_back = options_.max_read_back,
                            .policy = options_.triggers.policy}));
  }
  std::map<std::string, MonitorPosition> positions;
  for (const auto& [branch, change] : changes) {
    if (change.position) positions[branch] = *change.position;
    if (change.note.empty()) continue;
    look_.note = fmt::format("branch {}: {}", branch, change.note);
    services_.log->Info(fmt::format("{}: {}", options_.table, look_.note));
  }
  dirty_ |= positions != positions_;
  positions_ = std::move(positions);
  std::vector<TableChange> per_task;
  for (const ScheduledTask& task : tasks_) per_task.push_back(changes[task.branch].change);
  return per_task;
}

std::optional<StartedRun> TableScheduler::Poll(RunContext& run) {
  auto changes = Look(run);
  look_.last_look = services_.clock->Now();
  look_.last_error = changes ? "" : changes.error().message();
  if (!changes) {
    services_.log->Warning(
        fmt::format("{}: cannot look at the table: {}", options_.table, changes.error().message()));
    return Do(core_.OnChange(TableChange(), Now()));
  }
  return Do(core_.OnChange(*changes, Now()));
}

std::optional<StartedRun> TableScheduler::Push(const TableChange& change) {
  dirty_ = true;
  auto started = Do(core_.OnChange(change, Now()));
  Save();
  return started;
}

std::optional<StartedRun> TableScheduler::Do(Step step) {
  if (step.start_recovery) StartRecovery();
  for (;;) {
    switch (step.ask) {
      case Step::Ask::kNothing:
        return {};
      case Step::Ask::kIsRecovering:
        step = core_.RecoveryAnswered(IsRecovering(), Now());
        break;
      case Step::Ask::kTryLock: {
        std::optional<StartedRun> started;
        if (TryLock(step.task)) started = Begin(step.task, std::move(step.reason));
        // What was counted is used up by a run that starts, not by a lock alone.
        step = core_.LockAnswered(started.has_value(), Now());
        if (started) return started;
        break;
      }
    }
  }
}

// Nothing of ours is replayed after a restart, so recovery ends as soon as it has begun, unless a
// Flink job holds the recovery lock.
void TableScheduler::StartRecovery() {
  dirty_ = true;
  const auto lock = services_.locks->RecoveryLock();
  const auto taken = lock->TryAcquire();
  services_.log->Info(fmt::format("{}: recovers after a restart", options_.table));
  Status released;
  if (taken && *taken) released = lock->Release();
  owes_recovery_ = !taken || !released;
  if (owes_recovery_) {
    services_.log->Warning(fmt::format("{}: recovery lock: {}", options_.table,
                                       (taken ? released.error() : taken.error()).message()));
  }
}

bool TableScheduler::IsRecovering() {
  const auto lock = services_.locks->RecoveryLock();
  const Status released = owes_recovery_ ? lock->Release() : Status();
  owes_recovery_ = !released;
  const Result<bool> held = released ? lock->IsHeld() : released.error();
  if (held) return *held;
  services_.log->Warning(
      fmt::format("{}: recovery lock: {}", options_.table, held.error().message()));
  return true;
}

bool TableScheduler::TryLock(std::size_t task) {
  gate_refused_ = false;
  no_record_.clear();
  if (running_) return false;
  gate_reason_ = services_.gate ? services_.gate(tasks_[task]) : "";
  gate_refused_ = !gate_reason_.empty();
  if (gate_refused_) return false;
  const auto taken = services_.locks->TableLock()->TryAcquire();
  if (taken) {
    if (*taken) next_release_.reset();
    return *taken;
  }
  // It may be ours all the same; and the task may not be due any more by then.
  next_release_ = services_.time->Now() + options_.triggers.lock_check_delay;
  services_.log->Warning(
      fmt::format("{}: the lock cannot be taken: {}", options_.table, taken.error().message()));
  return false;
}

std::optional<StartedRun> TableScheduler::Begin(std::size_t task, std::string reason) {
  dirty_ = true;
  StartedRun started{.task = task,
                     .triggered = services_.time->Now(),
                     .record = {.table = options_.key,
                                .task = tasks_[task].trigger.id,
                                .reason = std::move(reason),
                                .owner = services_.owner,
                                .started = services_.clock->Now()}};
  const Status recorded = services_.store->StartRun(started.record);
  if (!recorded) {
    services_.log->Warning(fmt::format("{}: {} does not run: no record can be made: {}",
                                       options_.table, started.record.task,
                                       recorded.error().message()));
    no_record_ = recorded.error().message();
    ReleaseLock();
    return {};
  }
  running_ = task;
  services_.log->Info(fmt::format("{}: run {} of {} starts: {}", options_.table,
                                  started.record.run_id, started.record.task,
                                  started.record.reason));
  return started;
}

void TableScheduler::ReleaseLock() {
  const Status released = services_.locks->TableLock()->Release();
  next_release_.reset();
  if (released) return;
  // Nothing may be due here for long, and others wait.
  next_release_ = services_.time->Now() + options_.triggers.lock_check_delay;
  services_.log->Warning(fmt::format("{}: the lock cannot be released: {}", options_.table,
                                     released.error().message()));
}

std::optional<StartedRun> TableScheduler::Finish(StartedRun started, const Status& status,
                                                 const TaskReport& report) {
  FillFromReport(started.record, status, report);
  started.record.ended = services_.clock->Now();
  const RunOutcome outcome = OutcomeOf(status, report);
  TaskStatus& result = results_[started.task];
  result.last_run_duration_ms = (services_.time->Now() - started.triggered).count();
  ++(outcome == RunOutcome::kSucceeded ? result.succeeded : result.failed);
  ++result.totals.outcomes[started.record.outcome];
  if (!status) ++result.totals.error_codes[started.record.error_code];
  for (const auto& [key, n] : started.record.counts) result.totals.counts[key] += n;
  result.totals.leftovers += started.record.leftovers;
  const auto groups = started.record.counts.find("failed-groups");
  const bool groups_failed = groups != started.record.counts.end() && groups->second > 0;
  if (!status && groups_failed) ++result.totals.runs_with_failed_groups;
  result.last_error = started.record.error;
  result.totals.durations.Count(result.last_run_duration_ms);
  services_.log->Info(fmt::format("{}: run {} of {}: {}{}", options_.table, started.record.run_id,
                                  started.record.task, started.record.outcome,
                                  status ? "" : ": " + started.record.error));
  const Status kept = services_.store->FinishRun(started.record);
  if (!kept) {
    services_.log->Warning(fmt::format("{}: the record of run {} is not kept: {}", options_.table,
                                       started.record.run_id, kept.error().message()));
  }
  running_.reset();
  core_.OnResult(started.task, outcome, Now());
  dirty_ = true;
  ReleaseLock();
  // A stopped run ends its process or waits for a person: it must not come back at once.
  std::optional<StartedRun> next;
  if (outcome != RunOutcome::kStopped) next = Do(core_.OnRelease(Now()));
  Save();
  return next;
}

std::optional<StartedRun> TableScheduler::GateOpened() {
  if (!gate_refused_) return {};
  gate_refused_ = false;
  auto started = Do(core_.OnRelease(Now()));
  Save();
  return started;
}

Result<std::size_t> TableScheduler::Find(const std::string& task) const {
  std::vector<std::string> ids;
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    if (tasks_[i].trigger.id == task) return i;
    ids.push_back(tasks_[i].trigger.id);
  }
  return Error(Code::kNotFound, fmt::format("{} has no task '{}': it has {}", options_.table, task,
                                            fmt::join(ids, ", ")));
}

Result<std::optional<StartedRun>> TableScheduler::RunNow(const std::string& task) {
  IW_ASSIGN(const std::size_t i, Find(task));
  dirty_ = true;
  auto started = Do(core_.RunNow(i, Now()));
  Save();
  return started;
}

Result<std::optional<StartedRun>> TableScheduler::SetPaused(const std::string& task, bool paused) {
  IW_ASSIGN(const std::size_t i, Find(task));
  dirty_ = true;
  auto started = Do(core_.SetPaused(i, paused, Now()));
  Save();
  return started;
}

void TableScheduler::Save() {
  // As Flink's checkpoints: a run that does not end leaves the state from before its trigger.
  const bool java = options_.triggers.policy == TriggerPolicy::kJava;
  if (!dirty_ || (java && running_)) return;
  auto triggers = core_.Snapshot(Now());
  if (!triggers) return;
  const Status saved = services_.store->SaveState(options_.key, {std::move(*triggers), positions_});
  if (saved) {
    dirty_ = false;
    return;
  }
  services_.log->Warning(
      fmt::format("{}: the state is not saved: {}", options_.table, saved.error().message()));
}

TableStatus TableScheduler::status() const {
  TableStatus status = look_;
  const Instant now = Now();
  const TriggerCounters& counters = core_.counters();
  status.rate_limiter_triggered = counters.rate_limiter_triggered;
  status.concurrent_run_throttled = counters.concurrent_run_throttled;
  status.nothing_to_trigger = counters.nothing_to_trigger;
  if (core_.waits_for_lock()) {
    status.waits_for = gate_refused_        ? gate_reason_
                       : no_record_.empty() ? "the lock"
                                            : "the record of its run: " + no_record_;
  }
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    TaskStatus task = results_[i];
    const TaskTriggerState& state = core_.task_state(i);
    task.id = tasks_[i].trigger.id;
    task.kind = tasks_[i].task->name();
    task.running = running_ == i;
    task.paused = state.paused.value_or(tasks_[i].trigger.schedule.extras.paused);
    task.state = task.running ? "running" : core_.Explain(i, now);
    if (const auto due = core_.NextDue(i, now)) task.next_run = now.wall + (*due - now.now);
    task.last_success = state.last_success;
    task.pending = state.accumulated;
    task.failures = state.failures;
    task.triggered = counters.triggered[i];
    status.tasks.push_back(std::move(task));
  }
  return status;
}

}  // namespace icewright
