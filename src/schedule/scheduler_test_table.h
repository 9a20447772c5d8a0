#pragma once

/// \file schedule/scheduler_test_table.h
/// A table, its scheduler and its time, played step by step. For tests only.

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lock/memory_lock.h"
#include "maintain/history_test_table.h"
#include "schedule/maintenance_service.h"
#include "schedule/table_scheduler.h"

namespace icewright {

/// Calls a function; counts its runs.
class StubTask final : public MaintenanceTask {
 public:
  using Body = std::function<Status(RunContext&, Table&, TaskReport&)>;
  explicit StubTask(std::string name, Body body = {})
      : name_(std::move(name)), body_(std::move(body)) {}

  std::string_view name() const override { return name_; }
  Status Execute(RunContext& run, Table& table, TaskReport& report) const override {
    report.outcome = TaskOutcome::kDone;
    return body_ ? body_(run, table, report) : Status();
  }

 private:
  std::string name_;
  Body body_;
};

/// Moves with a test's clock, but not when that is set back.
class FakeSteady final : public SteadySource {
 public:
  Milliseconds Elapsed() override { return Milliseconds(elapsed_.load()); }
  void Advance(Milliseconds d) { elapsed_ += d.count(); }

 private:
  std::atomic<std::int64_t> elapsed_{1000};
};

/// Keeps what was logged.
class TestLog final : public Log {
 public:
  void Write(LogLevel, std::string_view message) override {
    const std::scoped_lock lock(mutex_);
    text_ += std::string(message) + "\n";
  }
  std::string text() const {
    const std::scoped_lock lock(mutex_);
    return text_;
  }

 private:
  mutable std::mutex mutex_;
  std::string text_;
};

inline ScheduledTask Scheduled(std::string id, Conditions any, StubTask::Body body = {}) {
  return {.trigger = {id, {.any = any}}, .task = std::make_shared<StubTask>(id, std::move(body))};
}

class SchedulerTestTable {
 public:
  struct Ran {
    std::string task;
    std::string outcome;
    friend bool operator==(const Ran&, const Ran&) = default;
    friend void PrintTo(const Ran& run, std::ostream* os) {
      *os << run.task << ": " << run.outcome;
    }
  };

  SchedulerTestTable() {
    auto store_made = ScheduleStore::Open(":memory:");
    EXPECT_THAT(store_made, IsOk());
    if (store_made) store = *store_made;
    time = std::make_shared<SteadyTime>(history.clock(), steady);
  }

  HistoryTestTable history;
  FakeSteady steady;
  TestLog log;
  std::shared_ptr<SteadyTime> time;
  std::shared_ptr<ScheduleStore> store;
  std::shared_ptr<MemoryLockTable> lock_table = std::make_shared<MemoryLockTable>();
  TableSchedulerOptions options{
      .table = "mem.db.t",
      .key = {},
      .triggers = {.rate_limit = Milliseconds(100), .lock_check_delay = Milliseconds(30)}};
  std::vector<ScheduledTask> tasks;
  std::unique_ptr<TableScheduler> scheduler;
  InProcessRunner runner;
  std::vector<Ran> runs;
  std::function<Status()> before_load;
  StartGate gate;
  std::string owner = "test";
  std::shared_ptr<LockFactory> locks;  ///< Unset: made by Open.
  int looks = 0;

  std::shared_ptr<LockFactory> MakeLocks(const std::string& owned_by = "test") {
    auto made = MakeMemoryLocks(
        lock_table, "mem.db.t",
        {.owner = owned_by, .lease = kLease, .clock = &history.clock(), .log = &log});
    EXPECT_THAT(made, IsOk());
    return *made;
  }
  TableSchedulerServices Services() {
    return {.load = [this](RunContext& run) -> Result<Table> {
              ++looks;
              if (before_load) IW_TRY(before_load());
              return history.catalog().LoadTable(run, kHistoryTable);
            },
            .locks = locks ? locks : MakeLocks(owner),
            .owner = owner,
            .store = store,
            .time = time,
            .clock = &history.clock(),
            .log = &log,
            .gate = gate};
  }
  Status Open() {
    scheduler.reset();
    auto opened = TableScheduler::Open(options, tasks, Services());
    if (!opened) return opened.error();
    scheduler = std::move(*opened);
    return {};
  }
  /// As a new process would: another steady clock.
  Status Restart() {
    steady.Advance(Milliseconds(12345));
    time = std::make_shared<SteadyTime>(history.clock(), steady);
    locks.reset();
    return Open();
  }
  void Advance(Milliseconds d) {
    history.clock().Advance(d);
    steady.Advance(d);
  }
  void Execute(std::optional<StartedRun> started) {
    while (started) {
      TaskReport report;
      const Status status = runner.Run(Request(started->task, started->record.run_id), report);
      runs.push_back({started->record.task, Word(status, report)});
      started = scheduler->Finish(std::move(*started), status, report);
    }
  }
  RunRequest Request(std::size_t task, std::int64_t run_id) {
    const TableSchedulerServices& services = scheduler->services();
    return {.table = "mem.db.t",
            .run_id = run_id,
            .task = scheduler->task(task).task,
            .load = services.load,
            .lock = services.locks->TableLock(),
            .lease = kLease,
            .max_run_time = scheduler->task(task).trigger.schedule.extras.max_run_time,
            .clock = &history.clock(),
            .time = time.get(),
            .log = &log};
  }
  /// Lets `d` pass, doing what falls due.
  void Play(Milliseconds d) {
    const TimePoint end = time->Now() + d;
    for (;;) {
      const auto wake = scheduler->next_wake();
      if (!wake || *wake > end) break;
      if (*wake > time->Now()) Advance(*wake - time->Now());
      Execute(scheduler->Wake(history.run()));
    }
    Advance(end - time->Now());
  }
  std::vector<RunRecord> Records() {
    auto records = store->Runs("mem.db.t", 100);
    EXPECT_THAT(records, IsOk());
    return records ? *records : std::vector<RunRecord>();
  }
  bool LockIsHeld() { return MakeLocks("onlooker")->TableLock()->IsHeld().value(); }

  static constexpr Milliseconds kLease{60'000};

 private:
  static std::string Word(const Status& status, const TaskReport& report) {
    RunRecord record;
    FillFromReport(record, status, report);
    return record.outcome;
  }
};

}  // namespace icewright
