#include "schedule/task_runner.h"

#include <gmock/gmock.h>

#include <atomic>

#include "schedule/scheduler_test_table.h"

namespace icewright {
namespace {

// Loses itself at the n-th heartbeat.
class CountingLock final : public MaintenanceLock {
 public:
  explicit CountingLock(int lost_at) : lost_at_(lost_at) {}
  int renewals() const { return renewals_; }

  Result<bool> TryAcquire() override { return true; }
  Result<bool> IsHeld() override { return true; }
  Status Renew() override {
    if (++renewals_ >= lost_at_) return Error(Code::kLockLost, "somebody took it");
    return {};
  }
  Status Release() override { return {}; }
  Result<LockState> Inspect() override { return LockState(); }
  Result<LockState> ForceRelease() override { return LockState(); }

 private:
  const int lost_at_;
  std::atomic<int> renewals_{0};
};

class TaskRunnerTest : public ::testing::Test {
 public:
  RunRequest Request(StubTask::Body body, std::shared_ptr<CountingLock> lock) {
    return {.table = "t",
            .task = std::make_shared<StubTask>("stub", std::move(body)),
            .load = [this](RunContext& run) -> Result<Table> {
              return table_.history.catalog().LoadTable(run, kHistoryTable);
            },
            .lock = std::move(lock),
            .lease = Milliseconds(8),
            .time = &time_,
            .log = &log_};
  }
  // Works until it is stopped, without asking whether it may write.
  static Status UntilStopped(RunContext& run, Table&, TaskReport&) {
    for (;;) IW_TRY(run.SleepFor(Milliseconds(1)));
  }

 protected:
  SchedulerTestTable table_;
  TestLog log_;
  SteadyTime time_{Clock::System()};
  InProcessRunner runner_;
  TaskReport report_;
};

TEST_F(TaskRunnerTest, TheHeartbeatNoticesALostLock) {
  const auto lock = std::make_shared<CountingLock>(3);
  EXPECT_THAT(runner_.Run(Request(UntilStopped, lock), report_), HasCode(Code::kLockLost));
  EXPECT_EQ(lock->renewals(), 3);
  EXPECT_THAT(log_.text(), ::testing::HasSubstr("stub on t: somebody took it"));
}

TEST_F(TaskRunnerTest, TheTimeLimitStopsARunThatWritesNothing) {
  RunRequest request = Request(UntilStopped, std::make_shared<CountingLock>(1'000'000));
  request.max_run_time = Milliseconds(5);
  EXPECT_THAT(runner_.Run(request, report_), HasCode(Code::kExhausted));
}

TEST_F(TaskRunnerTest, AStopFromOutsideCancels) {
  std::stop_source stop;
  RunRequest request = Request(
      [&](RunContext& run, Table& table, TaskReport& report) -> Status {
        stop.request_stop();
        return UntilStopped(run, table, report);
      },
      std::make_shared<CountingLock>(1'000'000));
  request.stop = stop.get_token();
  EXPECT_THAT(runner_.Run(request, report_), HasCode(Code::kCancelled));
}

TEST_F(TaskRunnerTest, ATaskThatThrowsIsAFailedRun) {
  EXPECT_THAT(runner_.Run(Request([](RunContext&, Table&,
                                     TaskReport&) -> Status { throw std::runtime_error("bug"); },
                                  std::make_shared<CountingLock>(1'000'000)),
                          report_),
              HasCode(Code::kInternal));
}

TEST_F(TaskRunnerTest, ProgressIsSeenFromOutside) {
  RunView view;
  RunRequest request = Request(
      [&](RunContext& run, Table&, TaskReport&) -> Status {
        run.progress().Enter("rewrite", "files", 10);
        run.progress().Advance(4);
        const auto seen = view.Read();
        EXPECT_TRUE(seen && seen->phase == "rewrite" && seen->done == 4 && seen->total == 10);
        return {};
      },
      std::make_shared<CountingLock>(1'000'000));
  request.view = &view;
  EXPECT_EQ(view.Read(), std::nullopt);
  EXPECT_THAT(runner_.Run(request, report_), IsOk());
  EXPECT_EQ(view.Read(), std::nullopt);
}

}  // namespace
}  // namespace icewright
