// What a decision costs, as a bound that holds on a busy machine; trigger_core_bench.cc measures
// it.

#include <gmock/gmock.h>

#include "schedule/trigger_core.h"

namespace icewright {
namespace {

TEST(TriggerSpeedTest, ADecisionTakesLessThanAMillisecond) {
  std::vector<TriggerTask> tasks;
  for (int i = 0; i < 5; ++i) {
    Schedule schedule{.any = {.on_commit_count = 1'000'000,
                              .on_data_file_size_bytes = std::int64_t{1} << 60,
                              .on_interval = std::chrono::hours(24 * 365)}};
    schedule.extras.all_of = {{.on_commit_count = 7, .on_interval = std::chrono::hours(24 * 365)}};
    schedule.extras.cron = {*CronTimes::Parse("30 3 1 jan *")};
    schedule.extras.quiet_hours = {*QuietHours::Parse("sat,sun 08:00-18:00")};
    tasks.push_back({"task" + std::to_string(i), std::move(schedule)});
  }
  TriggerCore core(std::move(tasks), {}, {});
  std::int64_t now = 1'700'000'000'000;
  (void)core.Start({FromMillis(now), FromMillis(now)});
  constexpr std::int64_t kEvents = 2'000;
  const Milliseconds start = Clock::System().Steady();
  for (std::int64_t i = 0; i < kEvents; ++i) {
    const Instant at{FromMillis(++now), FromMillis(now)};
    (void)core.OnChange({.data_file_count = 1, .commit_count = 1}, at);
    (void)core.next_wake(at);
  }
  EXPECT_LT(Clock::System().Steady() - start, Milliseconds(kEvents));
  EXPECT_EQ(core.task_state(0).accumulated.commit_count, kEvents) << "nothing was due";
}

}  // namespace
}  // namespace icewright
