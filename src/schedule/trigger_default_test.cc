// What the policy `default` does that Java's does not; each case is a row of docs/scheduling.md.

#include <gmock/gmock.h>

#include "schedule/trigger_test_driver.h"
#include "testing/matchers.h"

namespace icewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Fired = TriggerDriver::Fired;

TriggerOptions Ours(std::int64_t rate_limit, std::int64_t lock_delay) {
  return {.rate_limit = Milliseconds(rate_limit),
          .lock_check_delay = Milliseconds(lock_delay),
          .retry_delay = Milliseconds(100),
          .retry_max_delay = Milliseconds(1000)};
}

TriggerTask TaskOf(Schedule schedule) { return {"a", std::move(schedule)}; }

// The worked timeline again: B starts when A's run ends, not at the next look.
TEST(TriggerDefaultTest, AReleaseWakes) {
  TriggerDriver driver(Tasks({{.on_commit_count = 2}, {.on_commit_count = 4}}), Ours(10, 3));
  driver.Start();
  driver.Change(Commits(1));
  driver.AdvanceTo(1);
  driver.Change(Commits(1));
  driver.AdvanceTo(2);
  driver.Change(Commits(2));
  driver.AdvanceTo(15);
  EXPECT_EQ(driver.core.counters().concurrent_run_throttled, 2);
  driver.Finish(0, RunOutcome::kSucceeded);
  EXPECT_THAT(driver.fired, ElementsAre(Fired{1, "a"}, Fired{15, "b"}));
  driver.AdvanceTo(20);
  driver.Finish(1, RunOutcome::kSucceeded);
  driver.AdvanceTo(40);
  EXPECT_THAT(driver.fired, ElementsAre(Fired{1, "a"}, Fired{15, "b"}, Fired{25, "a"}));
}

TEST(TriggerDefaultTest, AReleaseDoesNotBreakTheRateLimit) {
  TriggerDriver driver(Tasks({{.on_commit_count = 1}}), Ours(10, 3));
  driver.Start();
  driver.Change(Commits(1));
  driver.AdvanceTo(2);
  driver.Change(Commits(1));
  driver.Finish(0, RunOutcome::kSucceeded);
  EXPECT_EQ(driver.fired.size(), 1U);
  driver.AdvanceTo(10);
  EXPECT_THAT(driver.fired, ElementsAre(Fired{0, "a"}, Fired{10, "a"}));
}

TEST(TriggerDefaultTest, AFailedRunIsTriedAgainWithBackoff) {
  TriggerDriver driver(Tasks({{.on_commit_count = 2}}), Ours(1, 1));
  driver.Start();
  driver.Change(Commits(2));
  for (int n = 0; n < 6; ++n) {
    driver.Finish(0, RunOutcome::kFailed);
    const std::size_t fired = driver.fired.size();
    while (driver.fired.size() == fired) driver.AdvanceTo(driver.now + 1);
  }
  EXPECT_THAT(driver.fired,
              ElementsAre(Fired{0, "a"}, Fired{100, "a"}, Fired{300, "a"}, Fired{700, "a"},
                          Fired{1500, "a"}, Fired{2500, "a"}, Fired{3500, "a"}));
  EXPECT_EQ(driver.last_reason, "retry after 6 failed run(s)");
  driver.Finish(0, RunOutcome::kSucceeded);
  driver.AdvanceTo(100'000);
  EXPECT_EQ(driver.fired.size(), 7U);
}

TEST(TriggerDefaultTest, ALostRaceIsTriedAgainSooner) {
  TriggerOptions options = Ours(1, 1);
  options.retry_max_delay = Milliseconds(100'000);
  TriggerDriver driver(Tasks({{.on_commit_count = 2}}), options);
  driver.Start();
  driver.Change(Commits(2));
  for (int n = 0; n < 6; ++n) {
    driver.Finish(0, RunOutcome::kLostRace);
    const std::size_t fired = driver.fired.size();
    while (driver.fired.size() == fired) driver.AdvanceTo(driver.now + 1);
  }
  EXPECT_THAT(driver.fired,
              ElementsAre(Fired{0, "a"}, Fired{100, "a"}, Fired{300, "a"}, Fired{700, "a"},
                          Fired{1500, "a"}, Fired{2300, "a"}, Fired{3100, "a"}));
}

TEST(TriggerDefaultTest, ConditionsWaitForTheBackoff) {
  TriggerDriver driver(Tasks({{.on_commit_count = 2}}), Ours(1, 1));
  driver.Start();
  driver.Change(Commits(2));
  driver.Finish(0, RunOutcome::kFailed);
  driver.AdvanceTo(50);
  driver.Change(Commits(5));
  EXPECT_EQ(driver.fired.size(), 1U);
  EXPECT_EQ(driver.core.Explain(0, driver.instant()),
            "failed 1 time(s) in a row; retried in 50 ms");
  driver.AdvanceTo(100);
  EXPECT_EQ(driver.fired.size(), 2U);
}

TEST(TriggerDefaultTest, WhatAPersonMustRepairIsTriedRarely) {
  TriggerDriver driver(Tasks({{.on_commit_count = 2}}), Ours(1, 1));
  driver.Start();
  driver.Change(Commits(2));
  driver.Finish(0, RunOutcome::kNeedsRepair);
  driver.AdvanceTo(2000);
  EXPECT_THAT(driver.fired, ElementsAre(Fired{0, "a"}, Fired{1000, "a"}));
}

TEST(TriggerDefaultTest, AStoppedRunGoesOnAtOnce) {
  TriggerDriver driver(Tasks({{.on_commit_count = 2}}), Ours(1, 1));
  driver.Start();
  driver.Change(Commits(2));
  driver.AdvanceTo(500);
  driver.Finish(0, RunOutcome::kStopped);
  EXPECT_THAT(driver.fired, ElementsAre(Fired{0, "a"}, Fired{500, "a"}));
  EXPECT_EQ(driver.last_reason, "continues a run that was stopped");
}

TEST(TriggerDefaultTest, AnIntervalNeedsNoEvent) {
  TriggerDriver driver(Tasks({{.on_interval = Milliseconds(1000)}}), Ours(1, 1));
  driver.Start();
  driver.AdvanceTo(999);
  EXPECT_THAT(driver.fired, IsEmpty());
  for (int n = 1; n <= 3; ++n) {
    driver.AdvanceTo(n * 1000);
    driver.Finish(0, RunOutcome::kSucceeded);
  }
  EXPECT_THAT(driver.fired, ElementsAre(Fired{1000, "a"}, Fired{2000, "a"}, Fired{3000, "a"}));
  EXPECT_EQ(driver.core.counters().nothing_to_trigger, 0);
}

TEST(TriggerDefaultTest, ARestartRemembersWhoseTurnItIs) {
  const auto tasks = Tasks({{.on_commit_count = 1}, {.on_commit_count = 1}});
  TriggerDriver before(tasks, Ours(10, 1));
  before.Start();
  before.Change(Commits(1));
  TriggerDriver after(tasks, Ours(10, 1), before.core.Snapshot(before.instant()));
  after.Start();
  after.Change(Commits(1));
  EXPECT_THAT(after.recoveries, IsEmpty()) << "locks have owners: nothing is to be recovered";
  after.AdvanceTo(10);
  EXPECT_THAT(after.fired, ElementsAre(Fired{10, "b"}));
}

TEST(TriggerDefaultTest, StateFollowsTheTaskNotItsPlace) {
  TriggerDriver before(
      {{"x", {.any = {.on_commit_count = 9}}}, {"y", {.any = {.on_commit_count = 5}}}},
      Ours(10, 1));
  before.Start();
  before.Change(Commits(4));
  // x is gone, z is new and comes first.
  TriggerDriver after(
      {{"z", {.any = {.on_commit_count = 5}}}, {"y", {.any = {.on_commit_count = 5}}}}, Ours(10, 1),
      before.core.Snapshot(before.instant()));
  after.Start();
  after.Change(Commits(1));
  EXPECT_THAT(after.fired, ElementsAre(Fired{0, "y"}));
  EXPECT_EQ(after.core.task_state(0).accumulated, Commits(1));
}

TEST(TriggerDefaultTest, AGroupNeedsAllOfIt) {
  TriggerDriver driver(
      {TaskOf({.extras = {.all_of = {{.on_commit_count = 3, .on_interval = Milliseconds(100)}}}})},
      Ours(1, 1));
  driver.Start();
  driver.Change(Commits(5));
  EXPECT_EQ(driver.core.Explain(0, driver.instant()),
            "commit-count 5 of 3 and interval 0 ms of 100 ms");
  driver.AdvanceTo(99);
  EXPECT_THAT(driver.fired, IsEmpty());
  driver.AdvanceTo(100);
  EXPECT_THAT(driver.fired, ElementsAre(Fired{100, "a"}));
  driver.Finish(0, RunOutcome::kSucceeded);
  driver.AdvanceTo(300);
  EXPECT_EQ(driver.fired.size(), 1U) << "time alone is not enough";
  driver.Change(Commits(3));
  EXPECT_EQ(driver.fired.size(), 2U);
}

constexpr std::int64_t kHour = 3'600'000;

TEST(TriggerDefaultTest, CronRunsAtItsTimesOnly) {
  IW_ASSERT_OK_AND_ASSIGN(const CronTimes cron, CronTimes::Parse("30 3 * * *"));
  TriggerDriver driver({TaskOf({.extras = {.cron = {cron}}})}, Ours(1, 1));
  driver.Start();
  for (int hour = 1; hour <= 48; ++hour) {
    driver.AdvanceTo(hour * kHour);
    if (driver.locked) driver.Finish(0, RunOutcome::kSucceeded);
  }
  EXPECT_THAT(driver.fired,
              ElementsAre(Fired{kHour * 7 / 2, "a"}, Fired{24 * kHour + kHour * 7 / 2, "a"}));
}

TEST(TriggerDefaultTest, ACronTimeMissedWhileDownIsMadeUpForOnce) {
  IW_ASSERT_OK_AND_ASSIGN(const CronTimes cron, CronTimes::Parse("@daily"));
  TriggerDriver before({TaskOf({.extras = {.cron = {cron}}})}, Ours(1, 1));
  before.now = kHour;
  before.Start();
  TriggerDriver after({TaskOf({.extras = {.cron = {cron}}})}, Ours(1, 1),
                      before.core.Snapshot(before.instant()));
  after.now = 73 * kHour;
  after.Start();
  after.AdvanceTo(73 * kHour + 1);
  after.Finish(0, RunOutcome::kSucceeded);
  after.AdvanceTo(80 * kHour);
  EXPECT_THAT(after.fired, ElementsAre(Fired{73 * kHour, "a"}));
}

TEST(TriggerDefaultTest, QuietHoursHoldBackAndThenLetGo) {
  IW_ASSERT_OK_AND_ASSIGN(const QuietHours quiet, QuietHours::Parse("08:00-18:00"));
  TriggerDriver driver(
      {TaskOf({.any = {.on_commit_count = 1}, .extras = {.quiet_hours = {quiet}}})}, Ours(1, 1));
  driver.now = 9 * kHour;
  driver.Start();
  driver.Change(Commits(3));
  EXPECT_THAT(driver.fired, IsEmpty());
  EXPECT_EQ(driver.core.Explain(0, driver.instant()), "quiet hours end in 9 h 0 min");
  driver.AdvanceTo(30 * kHour);
  EXPECT_THAT(driver.fired, ElementsAre(Fired{18 * kHour, "a"}));
}

TEST(TriggerDefaultTest, ATaskHasItsOwnRateLimit) {
  TriggerDriver driver(
      {{"a", {.any = {.on_commit_count = 1}, .extras = {.rate_limit = Milliseconds(50)}}},
       {"b", {.any = {.on_commit_count = 1}}}},
      Ours(10, 1));
  driver.Start();
  for (int t = 0; t < 60; ++t) {
    driver.AdvanceTo(t);
    driver.Change(Commits(1));
    driver.Release();
  }
  EXPECT_THAT(driver.fired, ElementsAre(Fired{0, "a"}, Fired{10, "b"}, Fired{20, "b"},
                                        Fired{30, "b"}, Fired{40, "b"}, Fired{50, "a"}));
}

TEST(TriggerDefaultTest, PriorityGoesFirst) {
  TriggerDriver driver({{"a", {.any = {.on_commit_count = 2}}},
                        {"b", {.any = {.on_commit_count = 2}, .extras = {.priority = 1}}}},
                       Ours(10, 1));
  driver.Start();
  driver.Change(Commits(2));
  driver.Release();
  driver.AdvanceTo(10);
  EXPECT_THAT(driver.fired, ElementsAre(Fired{0, "b"}, Fired{10, "a"}));
}

TEST(TriggerDefaultTest, APausedTaskCountsOnAndResumes) {
  TriggerDriver driver(Tasks({{.on_commit_count = 2}}), Ours(1, 1));
  driver.Start();
  driver.Do(driver.core.SetPaused(0, true, driver.instant()));
  driver.Change(Commits(7));
  driver.AdvanceTo(100);
  EXPECT_THAT(driver.fired, IsEmpty());
  EXPECT_EQ(driver.core.Explain(0, driver.instant()), "paused");
  driver.Do(driver.core.SetPaused(0, false, driver.instant()));
  EXPECT_THAT(driver.fired, ElementsAre(Fired{100, "a"}));
  EXPECT_EQ(driver.last_reason, "commit-count 7 of 2");
}

TEST(TriggerDefaultTest, AManualRunWaitsForNothingButTheLock) {
  IW_ASSERT_OK_AND_ASSIGN(const QuietHours quiet, QuietHours::Parse("00:00-24:00"));
  TriggerDriver driver({{"a", {.any = {.on_commit_count = 1}}},
                        {"b", {.any = {.on_commit_count = 9}, .extras = {.quiet_hours = {quiet}}}}},
                       Ours(1000, 3));
  driver.Start();
  driver.Change(Commits(1));  // a runs; the rate limit ends at 1000
  driver.AdvanceTo(10);
  driver.Change(Commits(1));
  driver.Do(driver.core.RunNow(1, driver.instant()));
  EXPECT_EQ(driver.fired.size(), 1U) << "the lock is held";
  driver.AdvanceTo(20);
  driver.Finish(0, RunOutcome::kSucceeded);
  EXPECT_THAT(driver.fired, ElementsAre(Fired{0, "a"}, Fired{20, "b"}));
  EXPECT_EQ(driver.last_reason, "asked for by hand");
  driver.Finish(1, RunOutcome::kSucceeded);
  driver.AdvanceTo(2000);
  EXPECT_THAT(driver.fired, ElementsAre(Fired{0, "a"}, Fired{20, "b"}, Fired{1020, "a"}));
}

TEST(TriggerDefaultTest, AManualRunDoesNotShortenTheRateLimit) {
  TriggerDriver driver(Tasks({{.on_commit_count = 1}, {.on_commit_count = 9}}), Ours(1000, 3));
  driver.Start();
  driver.Change(Commits(1));
  driver.AdvanceTo(10);
  driver.Change(Commits(1));
  driver.Do(driver.core.RunNow(1, driver.instant()));
  driver.Do(driver.core.SetPaused(1, true, driver.instant()));
  EXPECT_EQ(driver.core.next_wake(driver.instant()), FromMillis(13));
  driver.locked = true;
  driver.AdvanceTo(999);
  EXPECT_EQ(driver.fired.size(), 1U);
}

TEST(TriggerDefaultTest, AWallClockThatStepsBackChangesNoInterval) {
  TriggerDriver driver(Tasks({{.on_interval = Milliseconds(1000)}}), Ours(1, 1));
  driver.Start();
  driver.wall_ahead = -24 * kHour;
  driver.AdvanceTo(1000);
  EXPECT_THAT(driver.fired, ElementsAre(Fired{1000, "a"}));
}

TEST(TriggerDefaultTest, AWallClockThatStepsBackRepeatsNoCronTime) {
  IW_ASSERT_OK_AND_ASSIGN(const CronTimes cron, CronTimes::Parse("@hourly"));
  TriggerDriver driver({TaskOf({.extras = {.cron = {cron}}})}, Ours(1, 1));
  driver.Start();
  driver.AdvanceTo(kHour);
  driver.Finish(0, RunOutcome::kSucceeded);
  driver.wall_ahead = -kHour / 2;
  driver.AdvanceTo(2 * kHour);
  EXPECT_THAT(driver.fired, ElementsAre(Fired{kHour, "a"})) << "it is half past one by the clock";
  driver.AdvanceTo(kHour * 5 / 2);
  EXPECT_EQ(driver.fired.size(), 2U);
}

struct BadCase {
  std::string name;
  std::vector<TriggerTask> tasks;
  TriggerOptions options;
  std::string message;
};

TEST(TriggerDefaultTest, BadSchedulesAreNamed) {
  const TriggerOptions good = Ours(1, 1);
  const std::vector<BadCase> cases = {
      {"no task", {}, good, "at least one task"},
      {"no condition", {TaskOf({})}, good, "a: a task needs at least 1 condition"},
      {"zero", Tasks({{.on_commit_count = 0}}), good, "commit-count is 0 but must be at least 1"},
      {"negative", Tasks({{.on_eq_delete_record_count = -1}}), good,
       "eq-delete-record-count is -1 but must be at least 1"},
      {"interval", Tasks({{.on_interval = Milliseconds(0)}}), good, "interval is 0 ms"},
      {"empty group", {TaskOf({.extras = {.all_of = {{}}}})}, good, "all-of needs at least 1"},
      {"rate limit", Tasks({{.on_commit_count = 1}}), Ours(0, 1), "rate-limit is 0 ms"},
      {"lock delay", Tasks({{.on_commit_count = 1}}), Ours(1, 0), "lock-check-delay is 0 ms"},
      {"same name",
       {TaskOf({.any = {.on_commit_count = 1}}), TaskOf({.any = {.on_commit_count = 1}})},
       good,
       "two tasks are named 'a'"},
  };
  for (const BadCase& test : cases) {
    EXPECT_THAT(ValidateTriggers(test.tasks, test.options),
                HasError(Code::kInvalidArgument, HasSubstr(test.message)))
        << test.name;
  }
  EXPECT_THAT(ValidateTriggers(Tasks({{.on_commit_count = 1}}), good), IsOk());
}

}  // namespace
}  // namespace icewright
