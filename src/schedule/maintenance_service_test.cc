#include "schedule/maintenance_service.h"

#include <gmock/gmock.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "schedule/flaky_test_lock.h"
#include "schedule/scheduler_test_table.h"

namespace icewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

// A clock whose waits move both of a test's clocks, and which ends the service at a moment.
class PlayedClock final : public Clock {
 public:
  PlayedClock(FakeSteady& steady, TimePoint start) : steady_(steady), start_(start) {}

  TimePoint Now() override { return start_ + steady_.Elapsed(); }
  void SleepFor(Milliseconds duration, std::stop_token stop) override {
    if (stop.stop_requested()) return;
    const Milliseconds left = end_ - steady_.Elapsed();
    steady_.Advance(std::min(duration, std::max(left, Milliseconds(0))));
    if (steady_.Elapsed() >= end_) source_.request_stop();
  }
  // Time that work takes: a service that is never idle ends, too.
  void Spend(Milliseconds duration) {
    steady_.Advance(duration);
    if (steady_.Elapsed() >= end_) source_.request_stop();
  }
  std::stop_token StopAfter(Milliseconds d) {
    end_ = steady_.Elapsed() + d;
    source_ = std::stop_source();
    return source_.get_token();
  }
  void StopNow() { source_.request_stop(); }

 private:
  FakeSteady& steady_;
  const TimePoint start_;
  Milliseconds end_{0};
  std::stop_source source_;
};

// Everything on one thread and on a played clock: each test comes out the same every time.
class MaintenanceServiceTest : public ::testing::Test {
 public:
  void SetUp() override {
    auto opened = ScheduleStore::Open(":memory:");
    ASSERT_THAT(opened, IsOk());
    store_ = *opened;
    time_ = std::make_shared<SteadyTime>(clock_, steady_);
    table_.history.Append({"f1"});
  }

  void Make(ServiceOptions options) {
    options.look_threads = 0;
    options.clock = &clock_;
    options.log = &log_;
    service_ = std::make_unique<MaintenanceService>(std::move(options), runner_, time_);
  }
  ServiceTable Table(const std::string& name, std::vector<ScheduledTask> tasks,
                     const std::string& fingerprint = "1") {
    auto open = [this, name, tasks = std::move(tasks)](
                    StartGate gate) -> Result<std::unique_ptr<TableScheduler>> {
      ++opens_[name];
      IW_ASSIGN(auto locks,
                MakeMemoryLocks(locks_, name, {.lease = lease_, .clock = &clock_, .log = &log_}));
      if (wrap_locks_) locks = wrap_locks_(locks);
      return TableScheduler::Open(
          {.table = name,
           .key = name,
           .triggers = {.rate_limit = Milliseconds(1000), .lock_check_delay = Milliseconds(300)}},
          tasks,
          {.load = [this, name](RunContext& run) -> Result<icewright::Table> {
             if (before_load_) before_load_(name);
             return table_.history.catalog().LoadTable(run, kHistoryTable);
           },
           .locks = locks,
           .store = store_,
           .time = time_,
           .clock = &clock_,
           .log = tables_log_,
           .gate = std::move(gate)});
    };
    return {.key = name, .fingerprint = fingerprint, .open = std::move(open)};
  }
  ScheduledTask Task(const std::string& id, Conditions any, Milliseconds takes = Milliseconds(0)) {
    return Scheduled(id, any,
                     [this, id, takes](RunContext&, icewright::Table&, TaskReport& report) {
                       ran_.push_back(id);
                       report.counts["rewritten-bytes"] = 100;
                       clock_.Spend(takes);
                       return Status();
                     });
  }
  void Play(Milliseconds d) { service_->Run(clock_.StopAfter(d)); }
  std::vector<std::string> Tables() {
    std::vector<std::string> names;
    for (const TableStatus& table : service_->status().tables) names.push_back(table.table);
    return names;
  }

 protected:
  FakeSteady steady_;
  PlayedClock clock_{steady_, FromMillis(1'700'000'000'000)};
  TestLog log_;
  SchedulerTestTable table_;
  std::shared_ptr<MemoryLockTable> locks_ = std::make_shared<MemoryLockTable>();
  std::shared_ptr<ScheduleStore> store_;
  std::shared_ptr<SteadyTime> time_;
  InProcessRunner runner_;
  std::unique_ptr<MaintenanceService> service_;
  Milliseconds lease_{60'000};
  Log* tables_log_ = &log_;
  std::function<void(const std::string&)> before_load_;
  std::function<std::shared_ptr<LockFactory>(std::shared_ptr<LockFactory>)> wrap_locks_;
  std::map<std::string, int> opens_;
  std::vector<std::string> ran_;
};

TEST_F(MaintenanceServiceTest, EveryTableGetsItsRuns) {
  Make({});
  service_->SetTables({Table("t1", {Task("a", {.on_commit_count = 1})}),
                       Table("t2", {Task("b", {.on_interval = Milliseconds(2000)})})});
  Play(Milliseconds(5000));
  EXPECT_THAT(ran_, ElementsAre("a", "b", "b"));
  EXPECT_THAT(Tables(), ElementsAre("t1", "t2"));
  const ServiceStatus status = service_->status();
  EXPECT_EQ(status.tables[0].tasks[0].succeeded, 1);
  EXPECT_EQ(status.tables[1].tasks[0].succeeded, 2);
  EXPECT_TRUE(status.stopping);
}

TEST_F(MaintenanceServiceTest, ATableThatCannotBeOpenedIsTriedAgain) {
  Make({.reopen_delay = Milliseconds(1000)});
  ServiceTable bad = Table("bad", {});
  service_->SetTables({bad, Table("good", {Task("a", {.on_commit_count = 1})})});
  Play(Milliseconds(3500));
  EXPECT_EQ(opens_["bad"], 4);
  EXPECT_THAT(ran_, ElementsAre("a"));
  EXPECT_THAT(service_->status().tables[0].last_error, HasSubstr("at least one task"));
}

TEST_F(MaintenanceServiceTest, SaysHowLateItIsAndWhoseLocksThereAre) {
  Make({});
  const TimePoint start = clock_.Now();
  service_->SetTables({Table("t", {Task("a", {.on_interval = std::chrono::hours(1)})})});
  EXPECT_EQ(service_->LocksOf("t"), nullptr) << "not open yet";
  EXPECT_EQ(service_->status().late, Milliseconds(0));
  clock_.Spend(Milliseconds(90'000));  // and nobody serves it
  EXPECT_EQ(service_->status().late, Milliseconds(90'000));
  Play(Milliseconds(100));
  const ServiceStatus status = service_->status();
  EXPECT_EQ(status.late, Milliseconds(0));
  EXPECT_EQ(status.started, start);
  EXPECT_EQ(status.tables[0].key, "t");
  ASSERT_NE(service_->LocksOf("t"), nullptr);
  EXPECT_THAT(service_->LocksOf("t")->TableLock()->IsHeld(), IsOkAndHolds(false));
  EXPECT_EQ(service_->LocksOf("u"), nullptr);
}

TEST_F(MaintenanceServiceTest, NewTablesAreOpenedOldOnesGoAndTheSameStay) {
  Make({});
  const auto task = Task("a", {.on_interval = std::chrono::hours(1)});
  service_->SetTables({Table("stays", {task}), Table("goes", {task}), Table("changes", {task})});
  int round = 0;
  ServiceTable clockwork =
      Table("reload",
            {Scheduled("x", {.on_interval = Milliseconds(1000)},
                       [&](RunContext&, icewright::Table&, TaskReport&) -> Status {
                         if (++round > 1) return {};
                         service_->SetTables({Table("stays", {task}), Table("changes", {task}, "2"),
                                              Table("new", {task})});
                         return {};
                       })});
  service_->SetTables(
      {Table("stays", {task}), Table("goes", {task}), Table("changes", {task}), clockwork});
  Play(Milliseconds(3500));
  EXPECT_THAT(Tables(), UnorderedElementsAre("stays", "changes", "new"));
  EXPECT_EQ(round, 1);
  EXPECT_EQ(opens_["stays"], 1);
  EXPECT_EQ(opens_["goes"], 1);
  EXPECT_EQ(opens_["changes"], 2);
  EXPECT_EQ(opens_["new"], 1);
}

TEST_F(MaintenanceServiceTest, CommandsReachTheirTable) {
  Make({});
  service_->SetTables({Table("t", {Task("a", {.on_interval = std::chrono::hours(1)})})});
  EXPECT_THAT(service_->RunNow("u", "a"),
              HasError(Code::kNotFound, "no table named 'u' is maintained here"));
  EXPECT_THAT(service_->RunNow("t", "a"), IsOk());
  EXPECT_THAT(service_->RunNow("t", "nonsense"), IsOk());
  Play(Milliseconds(100));
  EXPECT_THAT(ran_, ElementsAre("a"));
  EXPECT_THAT(log_.text(), HasSubstr("t has no task 'nonsense'"));
}

TEST_F(MaintenanceServiceTest, TheByteBudgetHoldsBackRewritesOnly) {
  Make({.bytes_per_hour = 150});
  auto rewrite = Task("rewrite-data-files", {.on_interval = Milliseconds(1000)});
  auto expire = Task("expire-snapshots", {.on_interval = Milliseconds(1000)});
  service_->SetTables({Table("t1", {rewrite}), Table("t2", {expire})});
  Play(Milliseconds(10'000));
  EXPECT_EQ(std::ranges::count(ran_, "rewrite-data-files"), 1)
      << "all runs are counted, only rewrites wait";
  EXPECT_GE(std::ranges::count(ran_, "expire-snapshots"), 8);
  EXPECT_EQ(service_->status().tables[0].waits_for, "bytes-per-hour 150 B is used up");
}

// What a run asks its lock by; the lock was made with it.
class LeaseReader final : public TaskRunner {
 public:
  Status Run(const RunRequest& request, TaskReport&) override {
    lease = request.lease;
    return {};
  }
  Milliseconds lease{0};
};

TEST_F(MaintenanceServiceTest, HeartbeatsFollowTheLeaseOfTheTablesLocks) {
  LeaseReader runner;
  MaintenanceService service({.look_threads = 0, .clock = &clock_, .log = &log_}, runner, time_);
  lease_ = Milliseconds(5000);
  service.SetTables({Table("t", {Task("a", {.on_commit_count = 1})})});
  service.Run(clock_.StopAfter(Milliseconds(100)));
  EXPECT_EQ(runner.lease, Milliseconds(5000));
}

// Its successor has locks of its own, for which the old one is a stranger that lives.
TEST_F(MaintenanceServiceTest, ATableThatIsLetGoStillFreesItsLock) {
  Make({.reopen_delay = Milliseconds(700)});
  int failing_releases = 3;
  wrap_locks_ = [&](const std::shared_ptr<LockFactory>& locks) {
    const auto flaky = std::make_shared<FlakyLock>(locks->TableLock());
    flaky->away = false;
    flaky->failing_releases = std::exchange(failing_releases, 0);
    return std::make_shared<LockFactory>(flaky, locks->RecoveryLock(), locks->lease());
  };
  const auto changed = Table("t", {Task("b", {.on_interval = Milliseconds(1000)})}, "2");
  service_->SetTables({Table("t",
                             {Scheduled("a", {.on_commit_count = 1},
                                        [&](RunContext&, icewright::Table&, TaskReport&) -> Status {
                                          service_->SetTables({changed});
                                          return {};
                                        })},
                             "1")});
  Play(Milliseconds(5500));
  EXPECT_THAT(ran_, ElementsAre("b", "b", "b", "b")) << "the lease is over much later";
}

TEST_F(MaintenanceServiceTest, AnExceptionInALookCostsItsTableAMomentAndOthersNothing) {
  Make({.reopen_delay = Milliseconds(5000)});
  int opened = 0;
  ServiceTable vain = Table("vain", {Task("v", {.on_commit_count = 1})});
  vain.open = [&, open = vain.open](StartGate gate) {
    if (++opened == 1) throw std::bad_alloc();
    return open(std::move(gate));
  };
  int looked = 0;
  before_load_ = [&](const std::string& name) {
    if (name == "bad" && ++looked == 1) throw std::bad_alloc();
  };
  service_->SetTables({vain, Table("bad", {Task("b", {.on_commit_count = 1})}),
                       Table("good", {Task("a", {.on_interval = Milliseconds(1000)})})});
  Play(Milliseconds(5500));
  EXPECT_THAT(ran_, ElementsAre("a", "a", "a", "a", "v", "b", "a")) << "5 s later";
  EXPECT_THAT(log_.text(), HasSubstr("vain: out of memory"));
  EXPECT_THAT(log_.text(), HasSubstr("bad: out of memory"));
  EXPECT_EQ(service_->status().tables[1].last_error, "");
}

// Throws when a line is written.
class BadLog final : public Log {
 public:
  explicit BadLog(std::string line) : line_(std::move(line)) {}
  void Write(LogLevel, std::string_view message) override {
    if (line_.empty() || message.find(line_) == std::string_view::npos) return;
    line_.clear();
    throw std::runtime_error("the log is full");
  }

 private:
  std::string line_;
};

// The run has its lock and its record, and is not carried out; or it is over, and not yet closed.
TEST_F(MaintenanceServiceTest, AnExceptionAroundARunLosesNeitherTheRunNorTheLock) {
  for (const std::string line : {"run 1 of a starts", "run 1 of a: done"}) {
    SetUp();
    ran_.clear();
    BadLog log(line);
    tables_log_ = &log;
    Make({.reopen_delay = Milliseconds(2000)});
    service_->SetTables({Table("t", {Task("a", {.on_commit_count = 1})})});
    Play(Milliseconds(5000));  // the lease of the lock is longer
    EXPECT_THAT(log_.text(), HasSubstr("t: unexpected exception: the log is full"));
    EXPECT_EQ(ran_.back(), "a");
    IW_ASSERT_OK_AND_ASSIGN(auto records, store_->Runs("t", 10));
    std::ranges::reverse(records);
    ASSERT_GE(records.size(), 2U) << line;
    EXPECT_EQ(records[0].outcome, "interrupted");
    EXPECT_EQ(records[1].outcome, "done");
    EXPECT_EQ(records[1].reason, "continues a run that was stopped");
  }
}

// Three tables that are always due, one slot: everybody gets the same.
TEST_F(MaintenanceServiceTest, TablesShareASlotFairly) {
  Make({});
  std::vector<ServiceTable> tables;
  for (const std::string name : {"t1", "t2", "t3"}) {
    tables.push_back(
        Table(name, {Task(name, {.on_interval = Milliseconds(1)}, Milliseconds(2000))}));
  }
  service_->SetTables(std::move(tables));
  Play(Milliseconds(60'000));
  const auto count = [&](const std::string& name) { return std::ranges::count(ran_, name); };
  EXPECT_GE(count("t1"), 9);
  EXPECT_LE(std::abs(count("t1") - count("t2")), 1);
  EXPECT_LE(std::abs(count("t1") - count("t3")), 1);
}

// ---- On threads

TEST(MaintenanceServiceThreadsTest, AThousandTablesHaveTheirRuns) {
  SchedulerTestTable table;
  table.history.Append({"f1"});
  TestLog log;
  const auto time = std::make_shared<SteadyTime>(Clock::System());
  InProcessRunner runner;
  std::stop_source stop;
  std::atomic<int> runs{0};
  MaintenanceService service({.look_threads = 4, .pools = {{"", {.concurrent_tasks = 2}}}}, runner,
                             time);
  const auto locks = std::make_shared<MemoryLockTable>();
  std::vector<ServiceTable> tables;
  constexpr int kTables = 1000;
  for (int i = 0; i < kTables; ++i) {
    const std::string name = "c.db.t" + std::to_string(i);
    auto open = [&, name](StartGate gate) -> Result<std::unique_ptr<TableScheduler>> {
      IW_ASSIGN(auto made, MakeMemoryLocks(locks, name, {}));
      return TableScheduler::Open({.table = name, .key = name},
                                  {Scheduled("a", {.on_commit_count = 1},
                                             [&](RunContext&, Table&, TaskReport&) -> Status {
                                               if (++runs == kTables) stop.request_stop();
                                               return {};
                                             })},
                                  {.load = [&](RunContext& run) -> Result<Table> {
                                     return table.history.catalog().LoadTable(run, kHistoryTable);
                                   },
                                   .locks = made,
                                   .store = table.store,
                                   .time = time,
                                   .log = &log,
                                   .gate = std::move(gate)});
    };
    tables.push_back({.key = name, .open = open});
  }
  service.SetTables(std::move(tables));
  const TimePoint start = time->Now();
  service.Run(stop.get_token());
  RecordProperty("milliseconds", static_cast<int>((time->Now() - start).count()));
  EXPECT_EQ(runs, kTables);
  for (const TableStatus& status : service.status().tables) {
    EXPECT_EQ(status.tasks.at(0).succeeded, 1) << status.table;
  }
}

}  // namespace
}  // namespace icewright
