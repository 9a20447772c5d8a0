#include "schedule/maintenance_service.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/guarded.h"
#include "schedule/child_protocol.h"

namespace icewright {
namespace {

// A loop that nobody wakes still looks around this often.
constexpr Milliseconds kLongestWait = std::chrono::hours(1);

bool MovesBytes(const ScheduledTask& task) {
  constexpr std::array<std::string_view, 3> kRewriters = {
      "rewrite-data-files", "convert-equality-deletes", "rewrite-position-deletes"};
  return std::ranges::find(kRewriters, task.task->name()) != kRewriters.end();
}

std::int64_t BytesOf(const TaskReport& report) {
  const auto found = report.counts.find("rewritten-bytes");
  return found == report.counts.end() ? 0 : found->second;
}

}  // namespace

struct MaintenanceService::Entry {
  ServiceTable table;
  RunSlots::TableNumber number = 0;

  // Used by whoever has set `busy`, and by nobody else.
  std::unique_ptr<TableScheduler> scheduler;
  std::optional<std::string> slot;      // taken, but no run has started yet
  std::optional<std::string> run_slot;  // of a run that has started, but is not handed over yet

  // Guarded by the service's mutex.
  bool busy = false;
  bool retired = false;
  std::deque<Mail> mail;
  std::optional<TimePoint> next_wake;
  TableStatus status;
  std::optional<ActiveRunStatus> active;
  std::shared_ptr<LockFactory> locks;  // once it is open
  bool owes_release = false;
  RunView view;

  bool idle() const { return !busy && !active && mail.empty(); }
};

MaintenanceService::MaintenanceService(ServiceOptions options, TaskRunner& runner,
                                       std::shared_ptr<SteadyTime> time)
    : options_(std::move(options)),
      runner_(runner),
      time_(std::move(time)),
      started_(options_.clock->Now()),
      slots_(options_.pools, options_.bytes_per_hour),
      look_pool_(options_.look_threads) {
  const bool inline_runs = options_.look_threads == 0;
  for (const auto& [name, pool] : options_.pools) {
    run_pools_[name] = std::make_unique<WorkerPool>(inline_runs ? 0 : pool.concurrent_tasks);
  }
  auto& pool = run_pools_[""];
  if (!pool) pool = std::make_unique<WorkerPool>(inline_runs ? 0 : 1);
}

MaintenanceService::~MaintenanceService() = default;

void MaintenanceService::SetTables(std::vector<ServiceTable> tables) {
  {
    const std::scoped_lock lock(mutex_);
    const auto wanted = [&](const Entry& entry) {
      return std::ranges::find_if(tables, [&](const ServiceTable& table) {
        return table.key == entry.table.key && table.fingerprint == entry.table.fingerprint;
      });
    };
    for (const auto& entry : entries_) {
      const auto same = wanted(*entry);
      entry->retired = same == tables.end();
      if (same != tables.end()) tables.erase(same);
    }
    wanted_ = std::move(tables);
    AddWanted();
  }
  signal_.Notify();
}

// The mutex is held. A table whose old entry is still busy waits.
void MaintenanceService::AddWanted() {
  std::erase_if(wanted_, [&](ServiceTable& table) {
    const auto old = std::ranges::find_if(
        entries_, [&](const auto& entry) { return entry->table.key == table.key; });
    if (old != entries_.end()) return false;
    auto entry = std::make_shared<Entry>();
    entry->status.table = table.key;
    entry->status.key = table.key;
    entry->table = std::move(table);
    entry->number = next_number_++;
    entry->next_wake = time_->Now();
    entries_.push_back(std::move(entry));
    return true;
  });
}

// The mutex is held.
void MaintenanceService::LetGo() {
  std::erase_if(entries_, [&](const auto& entry) {
    if (!entry->retired || !entry->idle()) return false;
    // A successor's locks are others: to them, this one is held by a stranger who lives.
    if (entry->owes_release) {
      for (const auto& lock : {entry->locks->TableLock(), entry->locks->RecoveryLock()}) {
        owed_.push_back({entry->table.key, lock, time_->Now()});
      }
    }
    return true;
  });
}

// Returns how long nothing more is to be released.
Milliseconds MaintenanceService::ReleaseOwed() {
  std::vector<OwedRelease> due;
  Milliseconds wait = kLongestWait;
  {
    const std::scoped_lock lock(mutex_);
    const TimePoint now = time_->Now();
    std::erase_if(owed_, [&](OwedRelease& owed) {
      if (owed.next > now) {
        wait = std::min(wait, Milliseconds(owed.next - now));
        return false;
      }
      due.push_back(std::move(owed));
      return true;
    });
  }
  for (const OwedRelease& owed : due) {
    const Status handed_over = Guarded([&]() -> Status {
      look_pool_.Submit([this, owed] { Release(owed); });
      return {};
    });
    if (handed_over) continue;
    const std::scoped_lock lock(mutex_);
    owed_.push_back(owed);
  }
  return wait;
}

void MaintenanceService::Release(OwedRelease owed) {
  const Status released = Guarded([&] { return owed.lock->Release(); });
  if (released) return;
  options_.log->Warning(
      fmt::format("{}: the lock cannot be released: {}", owed.table, released.error().message()));
  {
    const std::scoped_lock lock(mutex_);
    owed.next = time_->Now() + options_.reopen_delay;
    owed_.push_back(std::move(owed));
  }
  signal_.Notify();
}

// Hands out what is to be done now; returns how long there is nothing more.
Milliseconds MaintenanceService::ServeDue() {
  std::vector<std::shared_ptr<Entry>> due;
  Milliseconds wait = kLongestWait;
  {
    const std::scoped_lock lock(mutex_);
    due.reserve(entries_.size() + wanted_.size());  // who is busy must get there
    for (const auto& entry : entries_) {
      if (entry->retired) slots_.Forget(entry->number);
    }
    TellGranted();
    LetGo();
    AddWanted();
    const TimePoint now = time_->Now();
    for (const auto& entry : entries_) {
      if (entry->busy) continue;
      const bool wakes = entry->next_wake && !entry->retired;
      if (!entry->mail.empty() || (wakes && *entry->next_wake <= now)) {
        entry->busy = true;
        due.push_back(entry);
      } else if (wakes) {
        wait = std::min(wait, Milliseconds(*entry->next_wake - now));
      }
    }
  }
  for (const auto& entry : due) {
    const Status handed_over = Guarded([&]() -> Status {
      look_pool_.Submit([this, entry] { Serve(entry); });
      return {};
    });
    if (!handed_over) Abandon(*entry, handed_over.error());
  }
  wait = std::min(wait, ReleaseOwed());
  // Work on this thread has used up time.
  return due.empty() || options_.look_threads > 0 ? wait : Milliseconds(0);
}

void MaintenanceService::Run(std::stop_token stop) {
  while (!stop.stop_requested()) {
    const Milliseconds wait = ServeDue();
    if (wait.count() > 0) signal_.WaitFor(*options_.clock, wait, stop);
  }
  Stop();
}

void MaintenanceService::Stop() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  const TimePoint deadline = time_->Now() + options_.stop_grace;
  for (;;) {
    bool settled = true;
    {
      const std::scoped_lock lock(mutex_);
      for (const auto& entry : entries_) {
        settled &= entry->idle();
        entry->next_wake.reset();
      }
    }
    if (settled) return;
    const TimePoint now = time_->Now();
    if (now >= deadline) stop_runs_.request_stop();
    ServeDue();
    signal_.WaitFor(*options_.clock, now < deadline ? deadline - now : Milliseconds(20), {});
  }
}

bool MaintenanceService::Open(const std::shared_ptr<Entry>& entry) {
  if (entry->scheduler) return true;
  auto opened = entry->table.open(
      [this, entry = entry.get()](const ScheduledTask& task) { return Gate(*entry, task); });
  if (opened) {
    const std::scoped_lock lock(mutex_);
    entry->scheduler = std::move(*opened);
    entry->locks = entry->scheduler->services().locks;
    return true;
  }
  options_.log->Warning(
      fmt::format("{} cannot be maintained: {}", entry->table.key, opened.error().message()));
  const std::scoped_lock lock(mutex_);
  entry->status.last_error = opened.error().message();
  return false;
}

// The next thing that this table has to do.
std::optional<StartedRun> MaintenanceService::Next(Entry& entry) {
  Mail mail;
  {
    const std::scoped_lock lock(mutex_);
    if (!entry.mail.empty()) {
      mail = std::move(entry.mail.front());
      entry.mail.pop_front();
    } else if (stopping_ || entry.retired) {
      return {};
    }
  }
  if (mail) return mail(*entry.scheduler);
  RunContext run({.stop = stop_runs_.get_token(), .clock = options_.clock, .log = options_.log});
  return entry.scheduler->Wake(run);
}

void MaintenanceService::Serve(const std::shared_ptr<Entry>& entry) {
  const Status served = Guarded([&]() -> Status {
    ServeOnce(entry);
    return {};
  });
  if (!served) Abandon(*entry, served.error());
  signal_.Notify();
}

void MaintenanceService::ServeOnce(const std::shared_ptr<Entry>& entry) {
  std::optional<TimePoint> next_wake;
  std::optional<StartedRun> started;
  if (Open(entry)) {
    started = Next(*entry);
    next_wake = entry->scheduler->next_wake();
  } else {
    next_wake = time_->Now() + options_.reopen_delay;
    const std::scoped_lock lock(mutex_);
    entry->mail.clear();
  }
  {
    const std::scoped_lock lock(mutex_);
    // From now on a slot belongs to the run.
    std::optional<std::string> slot = std::exchange(entry->slot, std::nullopt);
    if (started) {
      entry->run_slot = std::move(slot);
      entry->active = ActiveRunStatus{.run_id = started->record.run_id,
                                      .table = started->record.table,
                                      .task = started->record.task,
                                      .started = started->record.started,
                                      .progress = {}};
    } else if (slot) {
      slots_.Free(*slot);
    }
    // A grant that nobody took goes on to the next in the queue.
    if (entry->scheduler && !entry->scheduler->waits_for_gate()) slots_.Forget(entry->number);
    TellGranted();
    if (entry->scheduler) entry->status = entry->scheduler->status();
    entry->owes_release = entry->scheduler && entry->scheduler->owes_release();
  }
  if (started) Launch(entry, std::move(*started));
  const std::scoped_lock lock(mutex_);
  entry->next_wake = stopping_ ? std::nullopt : next_wake;
  entry->busy = false;
}

// After an exception nobody knows how far the scheduler came. The table is opened anew, from what
// the store knows; but not while a run needs this one.
void MaintenanceService::Abandon(Entry& entry, const Error& error) {
  std::unique_ptr<TableScheduler> broken;
  const auto slot = std::exchange(entry.slot, std::nullopt);
  const auto run_slot = std::exchange(entry.run_slot, std::nullopt);
  {
    const std::scoped_lock lock(mutex_);
    // A run that was not handed over does not take place.
    if (run_slot) entry.active.reset();
    if (!entry.active) {
      broken = std::move(entry.scheduler);
      entry.locks.reset();
      entry.owes_release = false;
    }
  }
  // What fails here, too, is told by the status.
  const Status told = Guarded([&]() -> Status {
    const std::scoped_lock lock(mutex_);
    for (const auto& taken : {slot, run_slot}) {
      if (taken) slots_.Free(*taken);
    }
    slots_.Forget(entry.number);
    TellGranted();
    if (broken) {
      owed_.push_back({entry.table.key, broken->services().locks->TableLock(), time_->Now()});
    }
    entry.status.last_error = error.message();
    options_.log->Warning(fmt::format("{}: {}", entry.table.key, error.message()));
    return {};
  });
  broken.reset();
  const std::scoped_lock lock(mutex_);
  if (!told) entry.status.last_error = told.error().message();
  entry.next_wake = stopping_ ? std::nullopt : std::optional(time_->Now() + options_.reopen_delay);
  entry.busy = false;
}

// The caller is Serve; the entry is busy.
void MaintenanceService::Launch(const std::shared_ptr<Entry>& entry, StartedRun started) {
  const std::string name = entry->scheduler->task(started.task).pool;
  const auto pool = run_pools_.find(name);
  WorkerPool& workers = *(pool == run_pools_.end() ? run_pools_.at("") : pool->second);
  workers.Submit([this, entry, started = std::move(started)]() mutable {
    RunTask(entry, std::move(started));
  });
  entry->run_slot.reset();
}

Status MaintenanceService::CarryOut(Entry& entry, const StartedRun& started, TaskReport& report) {
  // The scheduler's task list and services never change; only its state belongs to `busy`.
  const ScheduledTask& task = entry.scheduler->task(started.task);
  const TableSchedulerServices& services = entry.scheduler->services();
  PoolOptions pool;
  {
    const std::scoped_lock lock(mutex_);
    pool = slots_.pool(task.pool);
  }
  ChildRequest child;
  if (task.child) child = *task.child;
  if (task.child && services.aim) services.aim(child);
  child.threads = task.parallelism.value_or(pool.threads_per_task());
  child.memory_limit_bytes = pool.memory_per_task();
  return runner_.Run({.table = entry.table.key,
                      .run_id = started.record.run_id,
                      .task = task.task,
                      .child = task.child ? &child : nullptr,
                      .load = services.load,
                      .lock = services.locks->TableLock(),
                      .lease = services.locks->lease(),
                      .max_run_time = task.trigger.schedule.extras.max_run_time,
                      .threads = child.threads,
                      .memory_limit_bytes = child.memory_limit_bytes,
                      .stop = stop_runs_.get_token(),
                      .clock = options_.clock,
                      .time = time_.get(),
                      .log = options_.log,
                      .view = &entry.view},
                     report);
}

void MaintenanceService::RunTask(const std::shared_ptr<Entry>& entry, StartedRun started) {
  TaskReport report;
  const Status status = Guarded([&] { return CarryOut(*entry, started, report); });
  {
    const std::scoped_lock lock(mutex_);
    const std::string& pool = entry->scheduler->task(started.task).pool;
    slots_.CountBytes(BytesOf(report), time_->Now());
    slots_.Free(pool);
    TellGranted();
    entry->active.reset();
    auto finish = [started = std::move(started), status,
                   report = std::move(report)](TableScheduler& scheduler) mutable {
      return scheduler.Finish(std::move(started), status, report);
    };
    entry->mail.emplace_front(std::move(finish));
  }
  signal_.Notify();
}

// Called by the scheduler of a busy entry.
std::string MaintenanceService::Gate(Entry& entry, const ScheduledTask& task) {
  const std::scoped_lock lock(mutex_);
  if (stopping_) return "the service stops";
  if (entry.retired) return "the configuration has changed";
  if (entry.slot == task.pool) return {};
  if (entry.slot) slots_.Free(*std::exchange(entry.slot, std::nullopt));
  std::string reason = slots_.Take(entry.number, task.pool, MovesBytes(task), time_->Now());
  if (reason.empty()) entry.slot = task.pool;
  TellGranted();
  return reason;
}

// The mutex is held.
void MaintenanceService::TellGranted() {
  for (const RunSlots::TableNumber table : slots_.TakeGranted()) {
    for (const auto& entry : entries_) {
      if (entry->number != table) continue;
      entry->mail.emplace_back([](TableScheduler& scheduler) { return scheduler.GateOpened(); });
    }
  }
}

Status MaintenanceService::Post(const std::string& table, Mail mail) {
  {
    const std::scoped_lock lock(mutex_);
    const auto entry = std::ranges::find_if(
        entries_, [&](const auto& known) { return known->table.key == table && !known->retired; });
    if (entry == entries_.end()) {
      return Error(Code::kNotFound, fmt::format("no table named '{}' is maintained here", table));
    }
    (*entry)->mail.push_back(std::move(mail));
  }
  signal_.Notify();
  return {};
}

Status MaintenanceService::RunNow(const std::string& table, const std::string& task) {
  return Post(table, [this, task](TableScheduler& scheduler) -> std::optional<StartedRun> {
    auto started = scheduler.RunNow(task);
    if (started) return std::move(*started);
    options_.log->Warning(started.error().message());
    return {};
  });
}

Status MaintenanceService::SetPaused(const std::string& table, const std::string& task,
                                     bool paused) {
  return Post(table, [this, task, paused](TableScheduler& scheduler) -> std::optional<StartedRun> {
    auto started = scheduler.SetPaused(task, paused);
    if (started) return std::move(*started);
    options_.log->Warning(started.error().message());
    return {};
  });
}

Status MaintenanceService::Push(const std::string& table, const TableChange& change) {
  return Post(table, [change](TableScheduler& scheduler) { return scheduler.Push(change); });
}

ServiceStatus MaintenanceService::status() const {
  const std::scoped_lock lock(mutex_);
  const TimePoint now = time_->Now();
  ServiceStatus status;
  status.bytes_last_hour = slots_.BytesLastHour(now);
  status.bytes_per_hour = options_.bytes_per_hour;
  status.stopping = stopping_;
  status.started = started_;
  for (const auto& entry : entries_) {
    status.tables.push_back(entry->status);
    if (!entry->busy && !entry->retired && entry->next_wake) {
      status.late = std::max(status.late, Milliseconds(now - *entry->next_wake));
    }
    if (!entry->active) continue;
    ActiveRunStatus active = *entry->active;
    active.progress = entry->view.Read();
    status.running.push_back(std::move(active));
  }
  return status;
}

std::shared_ptr<LockFactory> MaintenanceService::LocksOf(const std::string& table) const {
  const std::scoped_lock lock(mutex_);
  const auto entry = std::ranges::find_if(
      entries_, [&](const auto& known) { return known->table.key == table && !known->retired; });
  return entry == entries_.end() ? nullptr : (*entry)->locks;
}

}  // namespace icewright
