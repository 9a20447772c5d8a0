// Java twins: TestTableMaintenance, TestTableMaintenanceCoordinationLock, TestLockRemover.

#include "schedule/table_scheduler.h"

#include <gmock/gmock.h>

#include "schedule/scheduler_test_table.h"

namespace icewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Ran = SchedulerTestTable::Ran;

Status Fail(Code code) { return Error(code, "the task failed"); }

TEST(TableSchedulerTest, AllEightConditionsAndOneCommitMakeOneRun) {
  SchedulerTestTable table;
  table.options.monitors = false;
  table.tasks = {Scheduled("a", {.on_commit_count = 1,
                                 .on_data_file_count = 1,
                                 .on_data_file_size_bytes = 1,
                                 .on_pos_delete_file_count = 1,
                                 .on_pos_delete_record_count = 1,
                                 .on_eq_delete_file_count = 1,
                                 .on_eq_delete_record_count = 1,
                                 .on_interval = std::chrono::hours(1)})};
  ASSERT_THAT(table.Open(), IsOk());
  table.Execute(table.scheduler->Push({.data_file_count = 1, .commit_count = 1}));
  table.Play(Milliseconds(1000));
  EXPECT_THAT(table.runs, ElementsAre(Ran{"a", "done"}));
  EXPECT_EQ(table.looks, 1) << "only the run loads the table";
}

TEST(TableSchedulerTest, HistoryAndAConcurrentWriteMakeOneRun) {
  SchedulerTestTable table;
  table.options.max_read_back = 2;
  table.tasks = {Scheduled("a", {.on_commit_count = 2})};
  table.history.Append({"f1"});
  ASSERT_THAT(table.Open(), IsOk());
  table.Play(Milliseconds(150));
  EXPECT_THAT(table.runs, IsEmpty());
  table.history.Append({"f2"});
  table.Play(Milliseconds(500));
  EXPECT_THAT(table.runs, ElementsAre(Ran{"a", "done"}));
}

TEST(TableSchedulerTest, TheLockIsHeldDuringARunAndFreeAfterwards) {
  SchedulerTestTable table;
  bool held = false;
  table.tasks = {
      Scheduled("a", {.on_commit_count = 1}, [&](RunContext&, Table&, TaskReport&) -> Status {
        held = table.LockIsHeld();
        return {};
      })};
  table.history.Append({"f1"});
  ASSERT_THAT(table.Open(), IsOk());
  EXPECT_FALSE(table.LockIsHeld());
  table.Play(Milliseconds(10));
  EXPECT_TRUE(held);
  EXPECT_FALSE(table.LockIsHeld());
}

TEST(TableSchedulerTest, CountersOfASucceedingAndAFailingTask) {
  SchedulerTestTable table;
  table.options.triggers.policy = TriggerPolicy::kJava;
  table.tasks = {Scheduled("good", {.on_commit_count = 1},
                           [&](RunContext&, Table&, TaskReport&) -> Status {
                             table.Advance(Milliseconds(7));
                             return {};
                           }),
                 Scheduled("bad", {.on_commit_count = 2},
                           [](RunContext&, Table&, TaskReport&) { return Fail(Code::kConflict); })};
  ASSERT_THAT(table.Open(), IsOk());
  table.history.Append({"f1"});
  table.Play(Milliseconds(300));
  table.history.Append({"f2"});
  table.Play(Milliseconds(1000));
  const TableStatus status = table.scheduler->status();
  EXPECT_EQ(status.tasks[0].triggered, 2);
  EXPECT_EQ(status.tasks[0].succeeded, 2);
  EXPECT_EQ(status.tasks[0].failed, 0);
  EXPECT_EQ(status.tasks[0].last_run_duration_ms, 7);
  EXPECT_TRUE(status.tasks[0].last_success);
  EXPECT_EQ(status.tasks[1].triggered, 1);
  EXPECT_EQ(status.tasks[1].succeeded, 0);
  EXPECT_EQ(status.tasks[1].failed, 1);
  EXPECT_FALSE(status.tasks[1].last_success);
  EXPECT_FALSE(table.LockIsHeld());
}

TEST(TableSchedulerTest, ARunLeavesARecord) {
  SchedulerTestTable table;
  table.tasks = {Scheduled(
      "a", {.on_commit_count = 1}, [&](RunContext&, Table&, TaskReport& report) -> Status {
        table.Advance(Milliseconds(5));
        report.snapshot_ids = {SnapshotId{77}};
        report.counts = {{"rewritten-bytes", 1000}, {"rewritten-data-files-count", 3}};
        report.notes = {"a note"};
        return {};
      })};
  table.history.Append({"f1"});
  ASSERT_THAT(table.Open(), IsOk());
  const TimePoint start = table.history.clock().Now();
  table.Play(Milliseconds(10));
  EXPECT_THAT(table.Records(), ElementsAre(RunRecord{.run_id = 1,
                                                     .table = "mem.db.t",
                                                     .task = "a",
                                                     .reason = "commit-count 1 of 1",
                                                     .owner = "test",
                                                     .started = start,
                                                     .ended = start + Milliseconds(5),
                                                     .outcome = "done",
                                                     .snapshot_ids = {SnapshotId{77}},
                                                     .counts = {{"rewritten-bytes", 1000},
                                                                {"rewritten-data-files-count", 3}},
                                                     .notes = {"a note"}}));
}

struct OutcomeCase {
  Status status;
  TaskOutcome outcome;
  std::string word;
  RunOutcome means;
};

TEST(TableSchedulerTest, OutcomesOfRuns) {
  const std::vector<OutcomeCase> cases = {
      {{}, TaskOutcome::kDone, "done", RunOutcome::kSucceeded},
      {{}, TaskOutcome::kNothingToDo, "nothing-to-do", RunOutcome::kSucceeded},
      {{}, TaskOutcome::kPartial, "partial", RunOutcome::kFailed},
      {Fail(Code::kConflict), TaskOutcome::kFailed, "failed", RunOutcome::kLostRace},
      {Fail(Code::kCommitUnknown), TaskOutcome::kFailed, "failed", RunOutcome::kFailed},
      {Fail(Code::kUnavailable), TaskOutcome::kFailed, "failed", RunOutcome::kFailed},
      {Fail(Code::kExhausted), TaskOutcome::kFailed, "failed", RunOutcome::kFailed},
      {Fail(Code::kLockLost), TaskOutcome::kFailed, "lock-lost", RunOutcome::kFailed},
      {Fail(Code::kCancelled), TaskOutcome::kFailed, "cancelled", RunOutcome::kStopped},
      {Fail(Code::kUnsupported), TaskOutcome::kFailed, "failed", RunOutcome::kNeedsRepair},
      {Fail(Code::kInvalidArgument), TaskOutcome::kFailed, "failed", RunOutcome::kNeedsRepair},
      {Fail(Code::kCorrupt), TaskOutcome::kFailed, "failed", RunOutcome::kNeedsRepair},
  };
  for (const OutcomeCase& test : cases) {
    RunRecord record;
    const TaskReport report{.outcome = test.outcome};
    FillFromReport(record, test.status, report);
    EXPECT_EQ(record.outcome, test.word);
    EXPECT_EQ(record.error, test.status ? "" : "the task failed");
    EXPECT_EQ(OutcomeOf(test.status, report), test.means) << test.word;
  }
  TaskReport partial{.outcome = TaskOutcome::kPartial};
  partial.failures = {Error(Code::kConflict, "a group"), Error(Code::kConflict, "another")};
  EXPECT_EQ(OutcomeOf({}, partial), RunOutcome::kLostRace);
  partial.failures.emplace_back(Code::kIo, "a third");
  EXPECT_EQ(OutcomeOf({}, partial), RunOutcome::kFailed);
}

TEST(TableSchedulerTest, AFailedRunIsTriedAgainWithoutNewCommits) {
  SchedulerTestTable table;
  int calls = 0;
  table.tasks = {
      Scheduled("a", {.on_commit_count = 1}, [&](RunContext&, Table&, TaskReport&) -> Status {
        return ++calls == 1 ? Fail(Code::kUnavailable) : Status();
      })};
  table.history.Append({"f1"});
  ASSERT_THAT(table.Open(), IsOk());
  table.Play(Milliseconds(59'000));
  EXPECT_THAT(table.runs, ElementsAre(Ran{"a", "failed"}));
  table.Play(Milliseconds(2'000));
  EXPECT_THAT(table.runs, ElementsAre(Ran{"a", "failed"}, Ran{"a", "done"}));
  EXPECT_EQ(table.Records()[0].reason, "retry after 1 failed run(s)");
}

TEST(TableSchedulerTest, StateSurvivesARestart) {
  SchedulerTestTable table;
  table.tasks = {Scheduled("a", {.on_commit_count = 2})};
  table.history.Append({"f1"});
  ASSERT_THAT(table.Open(), IsOk());
  table.Play(Milliseconds(10));
  ASSERT_THAT(table.Restart(), IsOk());
  table.Play(Milliseconds(500));
  EXPECT_THAT(table.runs, IsEmpty()) << "the commit is not counted twice";
  table.history.Append({"f2"});
  table.Play(Milliseconds(500));
  EXPECT_THAT(table.runs, ElementsAre(Ran{"a", "done"}));
  ASSERT_THAT(table.Restart(), IsOk());
  table.Play(Milliseconds(500));
  EXPECT_EQ(table.runs.size(), 1U);
}

TEST(TableSchedulerTest, RunIdsAndIntervalsDoNotFollowAClockThatIsSetBack) {
  SchedulerTestTable table;
  table.tasks = {Scheduled("a", {.on_interval = Milliseconds(1000)})};
  ASSERT_THAT(table.Open(), IsOk());
  table.Play(Milliseconds(2500));
  EXPECT_EQ(table.runs.size(), 2U);
  table.history.clock().Advance(-std::chrono::hours(24));
  table.Play(Milliseconds(1000));
  EXPECT_EQ(table.runs.size(), 3U);
  ASSERT_THAT(table.Restart(), IsOk());
  table.Play(Milliseconds(1000));
  EXPECT_EQ(table.runs.size(), 4U) << "500 ms were over before the restart";
  std::vector<std::int64_t> ids;
  for (const RunRecord& record : table.Records()) ids.push_back(record.run_id);
  EXPECT_THAT(ids, ElementsAre(4, 3, 2, 1));
}

// kill -9 in the middle of a run: the next process closes the record and runs the task again, when
// the dead one's lease is over.
TEST(TableSchedulerTest, AnInterruptedRunIsClosedAndTriedAgain) {
  SchedulerTestTable table;
  table.tasks = {Scheduled("a", {.on_commit_count = 1})};
  table.history.Append({"f1"});
  ASSERT_THAT(table.Open(), IsOk());
  const auto lost = table.scheduler->Wake(table.history.run());
  ASSERT_TRUE(lost);
  EXPECT_EQ(table.Records()[0].outcome, "running");

  ASSERT_THAT(table.Restart(), IsOk());
  EXPECT_EQ(table.Records()[0].outcome, "interrupted");
  EXPECT_THAT(table.log.text(), HasSubstr("run 1 of a was interrupted"));
  table.Play(SchedulerTestTable::kLease - Milliseconds(100));
  EXPECT_THAT(table.runs, IsEmpty()) << "the dead holder's lease is not over";
  table.Play(Milliseconds(200));
  EXPECT_THAT(table.runs, ElementsAre(Ran{"a", "done"}));
  EXPECT_EQ(table.Records()[0].reason, "continues a run that was stopped");
}

// Two services share a state. The second one starts while a run of the first is under way.
class TwoServices : public ::testing::Test {
 protected:
  void SetUp() override {
    second_.lock_table = first_.lock_table;
    second_.store = first_.store;
    second_.owner = "icewright on b, pid 1";
    for (SchedulerTestTable* table : {&first_, &second_}) {
      table->tasks = {Scheduled("a", {.on_commit_count = 1})};
      table->history.Append({"f1"});
    }
    ASSERT_THAT(first_.Open(), IsOk());
    run_ = first_.scheduler->Wake(first_.history.run());
    ASSERT_TRUE(run_);
    ASSERT_THAT(second_.Open(), IsOk());
  }

  SchedulerTestTable first_;
  SchedulerTestTable second_;
  std::optional<StartedRun> run_;
};

TEST_F(TwoServices, ALiveRunOfTheOtherIsLeftAlone) {
  EXPECT_EQ(second_.Records()[0].outcome, "running");
  second_.Play(Milliseconds(200));
  EXPECT_EQ(second_.Records()[0].outcome, "running");
  first_.scheduler->Finish(std::move(*run_), {}, {.outcome = TaskOutcome::kDone});
  second_.Play(Milliseconds(1000));
  EXPECT_THAT(second_.log.text(), Not(HasSubstr("interrupted")));
  std::vector<std::string> outcomes;
  for (const RunRecord& record : second_.Records()) outcomes.push_back(record.outcome);
  EXPECT_THAT(outcomes, ::testing::Each("done"));
  EXPECT_EQ(outcomes.size(), second_.runs.size() + 1);
}

TEST_F(TwoServices, ADeadRunOfTheOtherIsClosedWhenItsLeaseIsOver) {
  second_.Play(SchedulerTestTable::kLease - Milliseconds(100));
  EXPECT_EQ(second_.Records()[0].outcome, "running");
  second_.Play(Milliseconds(200));
  EXPECT_THAT(second_.log.text(), HasSubstr("run 1 of a was interrupted"));
  EXPECT_EQ(second_.Records().back().outcome, "interrupted");
  EXPECT_FALSE(second_.runs.empty());
}

TEST(TableSchedulerTest, JavasPolicyRecoversAndTriggersAgain) {
  SchedulerTestTable table;
  table.options.triggers.policy = TriggerPolicy::kJava;
  table.tasks = {Scheduled("a", {.on_commit_count = 2})};
  table.history.Append({"f1"});
  ASSERT_THAT(table.Open(), IsOk());
  table.Play(Milliseconds(10));
  ASSERT_THAT(table.Restart(), IsOk());
  table.history.Append({"f2"});
  const auto foreign = table.MakeLocks("Flink");
  ASSERT_THAT(foreign->RecoveryLock()->TryAcquire(), IsOkAndHolds(true));
  table.Play(Milliseconds(1000));
  EXPECT_THAT(table.log.text(), HasSubstr("recovers after a restart"));
  EXPECT_THAT(table.runs, IsEmpty()) << "a Flink job replays";
  ASSERT_THAT(foreign->RecoveryLock()->Release(), IsOk());
  table.Play(Milliseconds(1000));
  EXPECT_THAT(table.runs, ElementsAre(Ran{"a", "done"}));
}

TEST(TableSchedulerTest, TasksMayComeAndGoAcrossARestart) {
  SchedulerTestTable table;
  table.tasks = {Scheduled("x", {.on_commit_count = 9}), Scheduled("y", {.on_commit_count = 2})};
  table.history.Append({"f1"});
  ASSERT_THAT(table.Open(), IsOk());
  table.Play(Milliseconds(10));
  table.tasks = {Scheduled("z", {.on_commit_count = 2}), Scheduled("y", {.on_commit_count = 2})};
  ASSERT_THAT(table.Restart(), IsOk());
  table.history.Append({"f2"});
  table.Play(Milliseconds(500));
  EXPECT_THAT(table.runs, ElementsAre(Ran{"y", "done"}));
  EXPECT_EQ(table.scheduler->status().tasks[0].pending.commit_count, 1);
}

TEST(TableSchedulerTest, AForeignHolderIsWaitedForAndNeverReleased) {
  SchedulerTestTable table;
  table.tasks = {Scheduled("a", {.on_commit_count = 1})};
  table.history.Append({"f1"});
  const auto foreign = table.MakeLocks("Flink");
  ASSERT_THAT(foreign->TableLock()->TryAcquire(), IsOkAndHolds(true));
  ASSERT_THAT(table.Open(), IsOk());
  table.Play(Milliseconds(95));
  EXPECT_THAT(table.runs, IsEmpty());
  EXPECT_TRUE(table.LockIsHeld()) << "a start clears no live lock";
  EXPECT_EQ(table.scheduler->status().concurrent_run_throttled, 4);  // at 0, 30, 60, 90
  EXPECT_EQ(table.scheduler->status().waits_for, "the lock");
  EXPECT_THAT(table.scheduler->status().tasks[0].state,
              HasSubstr("due (commit-count 1 of 1); the lock is held"));
  ASSERT_THAT(foreign->TableLock()->Release(), IsOk());
  table.Play(Milliseconds(30));
  EXPECT_THAT(table.runs, ElementsAre(Ran{"a", "done"}));
}

TEST(TableSchedulerTest, TwoSchedulersOfOneTableTakeTurns) {
  SchedulerTestTable one;
  SchedulerTestTable two;
  two.lock_table = one.lock_table;
  for (SchedulerTestTable* table : {&one, &two}) {
    table->tasks = {Scheduled("a", {.on_commit_count = 1})};
    table->history.Append({"f1"});
    ASSERT_THAT(table->Open(), IsOk());
  }
  auto running = one.scheduler->Wake(one.history.run());
  ASSERT_TRUE(running);
  two.Play(Milliseconds(200));
  EXPECT_THAT(two.runs, IsEmpty());
  EXPECT_EQ(two.scheduler->status().concurrent_run_throttled, 7);
  EXPECT_EQ(one.scheduler->Finish(std::move(*running), {}, {.outcome = TaskOutcome::kDone}),
            std::nullopt);
  two.Play(Milliseconds(30));
  EXPECT_THAT(two.runs, ElementsAre(Ran{"a", "done"}));
}

TEST(TableSchedulerTest, AFailedLookCountsNothingAndLosesNothing) {
  SchedulerTestTable table;
  table.tasks = {Scheduled("a", {.on_commit_count = 2})};
  ASSERT_THAT(table.Open(), IsOk());
  table.Play(Milliseconds(10));
  table.before_load = [] { return Error(Code::kUnavailable, "catalog is away"); };
  table.history.Append({"f1"});
  table.history.Append({"f2"});
  table.Play(Milliseconds(300));
  EXPECT_EQ(table.scheduler->status().last_error, "catalog is away");
  EXPECT_THAT(table.log.text(), HasSubstr("mem.db.t: cannot look at the table: catalog is away"));
  EXPECT_THAT(table.runs, IsEmpty());
  table.before_load = {};
  table.Play(Milliseconds(100));
  EXPECT_THAT(table.runs, ElementsAre(Ran{"a", "done"}));
  EXPECT_EQ(table.scheduler->status().last_error, "");
}

TEST(TableSchedulerTest, ADroppedTableFailsItsRunsAndNothingElse) {
  SchedulerTestTable table;
  table.options.triggers.policy = TriggerPolicy::kJava;
  table.tasks = {Scheduled("a", {.on_interval = Milliseconds(200)})};
  ASSERT_THAT(table.Open(), IsOk());
  table.before_load = [] { return Error(Code::kNotFound, "no such table"); };
  table.Play(Milliseconds(650));
  EXPECT_THAT(table.runs, ElementsAre(Ran{"a", "failed"}, Ran{"a", "failed"}, Ran{"a", "failed"}));
  EXPECT_FALSE(table.LockIsHeld());
}

TEST(TableSchedulerTest, EachTaskWaitsForTheCommitsOfItsBranch) {
  SchedulerTestTable table;
  const SnapshotId base = table.history.Append({"f1"});
  table.history.Branch("staging", base);
  table.tasks = {Scheduled("main", {.on_commit_count = 3}),
                 Scheduled("staging", {.on_commit_count = 3})};
  table.tasks[1].branch = "staging";
  ASSERT_THAT(table.Open(), IsOk());
  table.Play(Milliseconds(10));
  table.history.Append({"s1"}, "staging");
  table.history.Append({"s2"}, "staging");
  table.Play(Milliseconds(300));
  EXPECT_THAT(table.runs, ElementsAre(Ran{"staging", "done"}));
}

TEST(TableSchedulerTest, TheTableIsLookedAtOncePerRateLimit) {
  for (const auto& [limit, looks] : {std::pair(50, 20), {100, 10}, {60'000, 1}}) {
    SchedulerTestTable table;
    table.options.triggers.rate_limit = Milliseconds(limit);
    table.tasks = {Scheduled("a", {.on_commit_count = 1})};
    ASSERT_THAT(table.Open(), IsOk());
    table.Play(Milliseconds(999));
    EXPECT_EQ(table.looks, looks) << limit;
  }
}

TEST(TableSchedulerTest, AManualRunAndAPause) {
  SchedulerTestTable table;
  table.tasks = {Scheduled("a", {.on_commit_count = 1})};
  ASSERT_THAT(table.Open(), IsOk());
  EXPECT_THAT(table.scheduler->RunNow("b"),
              HasError(Code::kNotFound, "mem.db.t has no task 'b': it has a"));
  auto started = table.scheduler->RunNow("a");
  ASSERT_THAT(started, IsOk());
  table.Execute(std::move(*started));
  EXPECT_THAT(table.runs, ElementsAre(Ran{"a", "done"}));
  ASSERT_THAT(table.scheduler->SetPaused("a", true), IsOk());
  ASSERT_THAT(table.Restart(), IsOk());
  table.history.Append({"f1"});
  table.Play(Milliseconds(1000));
  EXPECT_EQ(table.runs.size(), 1U) << "a pause survives a restart";
  EXPECT_TRUE(table.scheduler->status().tasks[0].paused);
}

TEST(TableSchedulerTest, TheGateIsAskedBeforeTheLock) {
  SchedulerTestTable table;
  std::string reason = "a free slot";
  table.gate = [&](const ScheduledTask&) { return reason; };
  table.tasks = {Scheduled("a", {.on_commit_count = 1})};
  table.history.Append({"f1"});
  ASSERT_THAT(table.Open(), IsOk());
  table.Play(Milliseconds(10));
  EXPECT_THAT(table.runs, IsEmpty());
  EXPECT_TRUE(table.scheduler->waits_for_gate());
  EXPECT_EQ(table.scheduler->status().waits_for, "a free slot");
  reason.clear();
  table.Execute(table.scheduler->GateOpened());
  EXPECT_THAT(table.runs, ElementsAre(Ran{"a", "done"}));
}

TEST(TableSchedulerTest, ALockThatIsLostStopsTheRunBeforeItsNextWrite) {
  SchedulerTestTable table;
  bool wrote = false;
  table.tasks = {
      Scheduled("a", {.on_commit_count = 1}, [&](RunContext& run, Table&, TaskReport&) -> Status {
        EXPECT_THAT(run.CheckMayWrite(), IsOk());
        EXPECT_THAT(table.MakeLocks("Flink")->TableLock()->ForceRelease(), IsOk());
        IW_TRY(run.CheckMayWrite());
        wrote = true;
        return {};
      })};
  table.history.Append({"f1"});
  ASSERT_THAT(table.Open(), IsOk());
  table.Play(Milliseconds(10));
  EXPECT_FALSE(wrote);
  EXPECT_THAT(table.runs, ElementsAre(Ran{"a", "lock-lost"}));
  EXPECT_EQ(table.Records()[0].error_code, "lock-lost");
}

TEST(TableSchedulerTest, ALongRunIsStoppedAtItsTimeLimit) {
  SchedulerTestTable table;
  table.tasks = {
      Scheduled("a", {.on_commit_count = 1}, [&](RunContext& run, Table&, TaskReport&) -> Status {
        table.Advance(Milliseconds(999));
        EXPECT_THAT(run.CheckMayWrite(), IsOk());
        table.Advance(Milliseconds(1));
        return run.CheckMayWrite();
      })};
  table.tasks[0].trigger.schedule.extras.max_run_time = Milliseconds(1000);
  table.history.Append({"f1"});
  ASSERT_THAT(table.Open(), IsOk());
  table.Play(Milliseconds(10));
  EXPECT_EQ(table.Records().back().error_code, "exhausted");
  EXPECT_EQ(table.Records().back().error, "the run reached its time limit");
  EXPECT_FALSE(table.LockIsHeld());
}

TEST(TableSchedulerTest, MistakesAreErrorsOfOpen) {
  SchedulerTestTable table;
  EXPECT_THAT(table.Open(), HasError(Code::kInvalidArgument, HasSubstr("at least one task")));
  table.tasks = {Scheduled("a", {})};
  EXPECT_THAT(table.Open(), HasError(Code::kInvalidArgument, HasSubstr("at least 1 condition")));
  table.tasks = {Scheduled("a", {.on_commit_count = 1})};
  table.options.max_read_back = 0;
  EXPECT_THAT(table.Open(), HasError(Code::kInvalidArgument, HasSubstr("at least 1 snapshot")));
}

}  // namespace
}  // namespace icewright
