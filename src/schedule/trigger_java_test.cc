// The policy `java` does what the tests of Flink's table maintenance assert.
//
// Java twins: TestTriggerManager, TestTriggerManagerOperator.

#include <gmock/gmock.h>

#include "schedule/trigger_test_driver.h"

namespace icewright {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Fired = TriggerDriver::Fired;

TriggerOptions Java(std::int64_t rate_limit, std::int64_t lock_delay, bool eager = false) {
  return {.policy = TriggerPolicy::kJava,
          .rate_limit = Milliseconds(rate_limit),
          .lock_check_delay = Milliseconds(lock_delay),
          .eager = eager};
}

struct CountCase {
  std::string name;
  Conditions conditions;
  std::int64_t TableChange::*counter;
  std::vector<int> events;
  std::vector<std::size_t> triggers;  // in total, after each event
};

class TriggerCountTest : public ::testing::TestWithParam<std::tuple<CountCase, bool>> {};

TEST_P(TriggerCountTest, FiresAtTheThreshold) {
  const auto& [test, eager] = GetParam();
  TriggerDriver driver(Tasks({test.conditions}), Java(1, 1, eager));
  driver.Start();
  std::vector<std::size_t> triggers;
  for (const int n : test.events) {
    TableChange change;
    change.*test.counter = n;
    driver.Change(change);
    driver.AdvanceTo(driver.now + 1);
    driver.Release();
    triggers.push_back(driver.fired.size());
  }
  EXPECT_EQ(triggers, test.triggers);
}

INSTANTIATE_TEST_SUITE_P(
    All, TriggerCountTest,
    ::testing::Combine(::testing::Values(CountCase{"CommitCount",
                                                   {.on_commit_count = 3},
                                                   &TableChange::commit_count,
                                                   {1, 2, 3, 10, 1, 1, 1},
                                                   {0, 1, 2, 3, 3, 3, 4}},
                                         CountCase{"DataFileCount",
                                                   {.on_data_file_count = 3},
                                                   &TableChange::data_file_count,
                                                   {1, 2, 3, 5, 1, 2},
                                                   {0, 1, 2, 3, 3, 4}},
                                         CountCase{"DataFileSize",
                                                   {.on_data_file_size_bytes = 3},
                                                   &TableChange::data_file_size_in_bytes,
                                                   {1, 2, 5, 1, 2},
                                                   {0, 1, 2, 2, 3}},
                                         CountCase{"PosDeleteFileCount",
                                                   {.on_pos_delete_file_count = 3},
                                                   &TableChange::pos_delete_file_count,
                                                   {1, 2, 3, 10, 1, 1, 1},
                                                   {0, 1, 2, 3, 3, 3, 4}},
                                         CountCase{"PosDeleteRecordCount",
                                                   {.on_pos_delete_record_count = 3},
                                                   &TableChange::pos_delete_record_count,
                                                   {1, 2, 5, 1, 2},
                                                   {0, 1, 2, 2, 3}},
                                         CountCase{"EqDeleteFileCount",
                                                   {.on_eq_delete_file_count = 3},
                                                   &TableChange::eq_delete_file_count,
                                                   {1, 2, 3, 10, 1, 1, 1},
                                                   {0, 1, 2, 3, 3, 3, 4}},
                                         CountCase{"EqDeleteRecordCount",
                                                   {.on_eq_delete_record_count = 3},
                                                   &TableChange::eq_delete_record_count,
                                                   {1, 2, 5, 1, 2},
                                                   {0, 1, 2, 2, 3}}),
                       ::testing::Bool()),
    [](const auto& instance) {
      return std::get<0>(instance.param).name +
             (std::get<1>(instance.param) ? "Coordinator" : "External");
    });

TEST(TriggerJavaTest, AnIntervalPassesInFullBeforeEachRun) {
  for (const bool eager : {false, true}) {
    TriggerDriver driver(Tasks({{.on_interval = Milliseconds(1000)}}), Java(1, 1, eager));
    driver.Start();
    driver.Change({});
    EXPECT_THAT(driver.fired, IsEmpty());
    driver.AdvanceTo(1000);
    EXPECT_THAT(driver.fired, IsEmpty()) << "without an event nothing looks at the clock";
    driver.Change({});
    EXPECT_THAT(driver.fired, ElementsAre(Fired{1000, "a"}));
    driver.Release();
    driver.AdvanceTo(1001);
    driver.Change({});
    EXPECT_EQ(driver.fired.size(), 1U);
    driver.AdvanceTo(2000);
    driver.Change({});
    EXPECT_THAT(driver.fired, ElementsAre(Fired{1000, "a"}, Fired{2000, "a"}));
  }
}

TEST(TriggerJavaTest, AnIntervalCountsFromTheFirstEventOrFromTheStart) {
  for (const bool eager : {false, true}) {
    TriggerDriver driver(Tasks({{.on_interval = Milliseconds(10)}}), Java(1, 1, eager));
    driver.Start();
    driver.AdvanceTo(7);
    driver.Change({});
    driver.AdvanceTo(10);
    driver.Change({});
    EXPECT_EQ(driver.fired.size(), eager ? 1U : 0U);
  }
}

TEST(TriggerJavaTest, TheRateLimitHoldsAndEndsWithoutAnEvent) {
  TriggerDriver driver(Tasks({{.on_commit_count = 2}}), Java(10, 1));
  driver.Change(Commits(2));
  driver.Release();
  driver.AdvanceTo(1);
  driver.Change(Commits(2));
  driver.AdvanceTo(9);
  EXPECT_THAT(driver.fired, ElementsAre(Fired{0, "a"}));
  driver.AdvanceTo(10);
  EXPECT_THAT(driver.fired, ElementsAre(Fired{0, "a"}, Fired{10, "a"}));
}

TEST(TriggerJavaTest, AHeldLockIsTriedAgainAfterTheDelay) {
  TriggerDriver driver(Tasks({{.on_commit_count = 2}}), Java(1, 10));
  driver.locked = true;
  driver.Change(Commits(2));
  EXPECT_THAT(driver.fired, IsEmpty());
  driver.AdvanceTo(5);
  driver.Release();
  driver.AdvanceTo(9);
  EXPECT_THAT(driver.fired, IsEmpty()) << "the release wakes nobody";
  driver.AdvanceTo(10);
  EXPECT_THAT(driver.fired, ElementsAre(Fired{10, "a"}));
}

TEST(TriggerJavaTest, StateSurvivesARestartAndRecoveryComesFirst) {
  for (const bool eager : {false, true}) {
    TriggerDriver before(Tasks({{.on_commit_count = 2}}), Java(10, 1, eager));
    before.Start();
    before.Change(Commits(1));
    const auto state = before.core.Snapshot(before.instant());
    ASSERT_TRUE(state);

    TriggerDriver after(Tasks({{.on_commit_count = 2}}), Java(10, 1, eager), state);
    after.Start();
    EXPECT_EQ(after.recoveries.size(), eager ? 1U : 0U);
    after.Change(Commits(1));
    EXPECT_THAT(after.recoveries, ElementsAre(0));
    EXPECT_THAT(after.fired, IsEmpty());
    after.AdvanceTo(30);
    EXPECT_THAT(after.fired, IsEmpty()) << "recovery is not over";
    after.recovery_locked = false;
    after.AdvanceTo(31);
    EXPECT_THAT(after.fired, ElementsAre(Fired{31, "a"}));
    after.Release();
    after.AdvanceTo(100);
    EXPECT_EQ(after.fired.size(), 1U);
    EXPECT_THAT(after.recoveries, ElementsAre(0));
  }
}

TEST(TriggerJavaTest, RecoveryMatrix) {
  for (const bool lock_left : {false, true}) {
    for (const bool task_frees_lock : {false, true}) {
      TriggerDriver before(Tasks({{.on_commit_count = 2}}), Java(10, 1));
      before.Change(Commits(2));
      TriggerDriver after(Tasks({{.on_commit_count = 2}}), Java(10, 1),
                          before.core.Snapshot(before.instant()));
      after.locked = lock_left;
      after.Change(Commits(2));
      EXPECT_THAT(after.recoveries, ElementsAre(0));
      after.AdvanceTo(50);
      EXPECT_THAT(after.fired, IsEmpty());
      if (task_frees_lock) after.locked = false;
      after.AdvanceTo(60);
      EXPECT_THAT(after.fired, IsEmpty()) << "the recovery lock is still held";
      after.recovery_locked = false;
      after.locked = false;
      after.AdvanceTo(70);
      EXPECT_THAT(after.fired, ElementsAre(Fired{61, "a"}));
    }
  }
}

TEST(TriggerJavaTest, ARestoredTimerThatHasPassedFiresAtOnce) {
  TriggerDriver before(Tasks({{.on_commit_count = 2}}), Java(10, 1));
  before.Change(Commits(2));  // the next evaluation is at 10
  TriggerDriver after(Tasks({{.on_commit_count = 2}}), Java(10, 1),
                      before.core.Snapshot(before.instant()));
  after.now = 500;
  EXPECT_EQ(after.core.next_wake(after.instant()), FromMillis(10));
  after.AdvanceTo(500);
  EXPECT_THAT(after.recoveries, ElementsAre(500));
  EXPECT_EQ(after.core.next_wake(after.instant()), FromMillis(501)) << "recovery is asked again";
}

TEST(TriggerJavaTest, AnIdleRestartKeepsTheOldState) {
  TriggerDriver external(Tasks({{.on_commit_count = 2}}), Java(10, 1));
  external.Start();
  EXPECT_EQ(external.core.Snapshot(external.instant()), std::nullopt);
  TriggerDriver coordinator(Tasks({{.on_commit_count = 2}}), Java(10, 1, true));
  coordinator.Start();
  EXPECT_TRUE(coordinator.core.Snapshot(coordinator.instant()));
}

TEST(TriggerJavaTest, CountersOfAnEventThatIsNotDue) {
  TriggerDriver driver(Tasks({{.on_commit_count = 2}}), Java(1, 1));
  driver.Change(Commits(1));
  EXPECT_EQ(driver.core.counters().nothing_to_trigger, 1);
}

TEST(TriggerJavaTest, CountersOfTwoTasks) {
  TriggerDriver driver(Tasks({{.on_commit_count = 2}, {.on_commit_count = 4}}), Java(1, 1));
  for (const int n : {1, 1, 2}) {
    driver.Change(Commits(n));
    for (int i = 0; i < 3; ++i) {
      driver.Release();
      driver.AdvanceTo(driver.now + 1);
    }
  }
  EXPECT_THAT(driver.core.counters().triggered, ElementsAre(2, 1));
  EXPECT_THAT(driver.fired, ElementsAre(Fired{3, "a"}, Fired{6, "a"}, Fired{7, "b"}));
}

TEST(TriggerJavaTest, CountersOfTheRateLimit) {
  TriggerDriver driver(Tasks({{.on_commit_count = 2}}), Java(1'000'000, 1));
  driver.Change(Commits(2));
  driver.Release();
  driver.Change(Commits(2));
  const TriggerCounters& counters = driver.core.counters();
  EXPECT_EQ(counters.rate_limiter_triggered, 1);
  EXPECT_EQ(counters.concurrent_run_throttled, 0);
  EXPECT_THAT(counters.triggered, ElementsAre(1));
  EXPECT_EQ(counters.nothing_to_trigger, 0);
}

TEST(TriggerJavaTest, CountersOfAHeldLock) {
  TriggerDriver driver(Tasks({{.on_commit_count = 2}}), Java(1, 1'000'000));
  driver.Change(Commits(2));
  driver.AdvanceTo(1);
  driver.Change(Commits(2));
  const TriggerCounters& counters = driver.core.counters();
  EXPECT_EQ(counters.rate_limiter_triggered, 0);
  EXPECT_EQ(counters.concurrent_run_throttled, 1);
  EXPECT_THAT(counters.triggered, ElementsAre(1));
  EXPECT_EQ(counters.nothing_to_trigger, 0);
}

// The worked timeline: A (2 commits, runs for 14) and B (4 commits, runs for 5).
TEST(TriggerJavaTest, WorkedTimeline) {
  TriggerDriver driver(Tasks({{.on_commit_count = 2}, {.on_commit_count = 4}}), Java(10, 3));
  const TriggerCounters& counters = driver.core.counters();
  const auto accumulated = [&] {
    return std::pair(driver.core.task_state(0).accumulated.commit_count,
                     driver.core.task_state(1).accumulated.commit_count);
  };
  driver.Change(Commits(1));
  EXPECT_EQ(accumulated(), std::pair(1L, 1L));
  EXPECT_EQ(counters.nothing_to_trigger, 1);
  EXPECT_EQ(driver.core.next_wake(driver.instant()), std::nullopt);

  driver.AdvanceTo(1);
  driver.Change(Commits(1));
  EXPECT_THAT(driver.fired, ElementsAre(Fired{1, "a"}));
  EXPECT_EQ(accumulated(), std::pair(0L, 2L));
  EXPECT_EQ(driver.core.next_wake(driver.instant()), FromMillis(11));

  driver.AdvanceTo(2);
  driver.Change(Commits(2));
  EXPECT_EQ(accumulated(), std::pair(2L, 4L));
  EXPECT_EQ(counters.rate_limiter_triggered, 1);

  driver.AdvanceTo(11);
  EXPECT_EQ(counters.concurrent_run_throttled, 1);
  EXPECT_EQ(driver.core.next_wake(driver.instant()), FromMillis(14));
  driver.AdvanceTo(14);
  EXPECT_EQ(counters.concurrent_run_throttled, 2);
  EXPECT_EQ(driver.core.next_wake(driver.instant()), FromMillis(17));

  driver.AdvanceTo(15);
  driver.Finish(0, RunOutcome::kSucceeded);
  EXPECT_EQ(driver.fired.size(), 1U) << "a release wakes nobody";

  driver.AdvanceTo(17);
  EXPECT_THAT(driver.fired, ElementsAre(Fired{1, "a"}, Fired{17, "b"}));
  EXPECT_EQ(accumulated(), std::pair(2L, 0L));
  EXPECT_EQ(driver.core.next_wake(driver.instant()), FromMillis(27));
  driver.AdvanceTo(22);
  driver.Finish(1, RunOutcome::kSucceeded);

  driver.AdvanceTo(27);
  EXPECT_THAT(driver.fired, ElementsAre(Fired{1, "a"}, Fired{17, "b"}, Fired{27, "a"}));
  EXPECT_EQ(accumulated(), std::pair(0L, 0L));
  EXPECT_EQ(driver.core.next_wake(driver.instant()), FromMillis(37));

  driver.AdvanceTo(37);
  EXPECT_EQ(counters.nothing_to_trigger, 1) << "the round before fired";
  EXPECT_EQ(driver.core.next_wake(driver.instant()), std::nullopt);
  driver.AdvanceTo(38);
  driver.Change(Commits(0));
  EXPECT_EQ(counters.nothing_to_trigger, 2);
  EXPECT_EQ(counters.rate_limiter_triggered, 1);
  EXPECT_EQ(counters.concurrent_run_throttled, 2);
  EXPECT_THAT(counters.triggered, ElementsAre(2, 1));
}

TEST(TriggerJavaTest, AFailedRunIsNotTriedAgainBeforeTheThreshold) {
  TriggerDriver driver(Tasks({{.on_commit_count = 2}}), Java(1, 1));
  driver.Change(Commits(2));
  driver.Finish(0, RunOutcome::kFailed);
  driver.AdvanceTo(100);
  driver.Change(Commits(1));
  EXPECT_EQ(driver.fired.size(), 1U);
  driver.Change(Commits(1));
  EXPECT_EQ(driver.fired.size(), 2U);
}

// Under permanent load every task gets its turn, in the order they were added.
TEST(TriggerJavaTest, ThreeTasksTakeTurns) {
  TriggerDriver driver(
      Tasks({{.on_commit_count = 1}, {.on_commit_count = 1}, {.on_commit_count = 1}}), Java(10, 1));
  for (int t = 0; t < 60; ++t) {
    driver.AdvanceTo(t);
    driver.Change(Commits(1));
    driver.Release();
  }
  EXPECT_THAT(driver.fired, ElementsAre(Fired{0, "a"}, Fired{10, "b"}, Fired{20, "c"},
                                        Fired{30, "a"}, Fired{40, "b"}, Fired{50, "c"}));
}

TEST(TriggerJavaTest, ARestartForgetsWhoseTurnItWas) {
  TriggerDriver before(Tasks({{.on_commit_count = 1}, {.on_commit_count = 1}}), Java(10, 1));
  before.Change(Commits(1));
  TriggerDriver after(Tasks({{.on_commit_count = 1}, {.on_commit_count = 1}}), Java(10, 1),
                      before.core.Snapshot(before.instant()));
  after.Change(Commits(1));
  after.recovery_locked = false;
  after.AdvanceTo(10);
  EXPECT_THAT(after.fired, ElementsAre(Fired{10, "a"}));
}

}  // namespace
}  // namespace icewright
