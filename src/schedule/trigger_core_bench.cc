// Question: what does one decision cost?   Shape: a table with five tasks and every kind of
// condition.   Unit: one event of the monitor, up to the answer of the lock. Must stay below 1 ms.

#include <benchmark/benchmark.h>

#include <chrono>

#include "schedule/trigger_core.h"

namespace icewright {
namespace {

std::vector<TriggerTask> ManyTasks(int count) {
  std::vector<TriggerTask> tasks;
  const auto cron = CronTimes::Parse("30 3 1 jan *");
  const auto quiet = QuietHours::Parse("sat,sun 08:00-18:00");
  for (int i = 0; i < count; ++i) {
    Schedule schedule{.any = {.on_commit_count = 1'000'000'000,
                              .on_data_file_count = 1'000'000'000,
                              .on_data_file_size_bytes = std::int64_t{1} << 60,
                              .on_interval = std::chrono::hours(24 * 365)}};
    schedule.extras.all_of = {{.on_commit_count = 7, .on_interval = std::chrono::hours(24 * 365)}};
    schedule.extras.cron = {*cron};
    schedule.extras.quiet_hours = {*quiet};
    tasks.push_back({"task" + std::to_string(i), std::move(schedule)});
  }
  return tasks;
}

void Decide(benchmark::State& state) {
  TriggerCore core(ManyTasks(static_cast<int>(state.range(0))), {}, {});
  std::int64_t now = 1'700'000'000'000;
  (void)core.Start({FromMillis(now), FromMillis(now)});
  std::int64_t events = 0;
  const auto start = std::chrono::steady_clock::now();
  for (auto _ : state) {
    ++now;
    ++events;
    const Instant at{FromMillis(now), FromMillis(now)};
    const Step step = core.OnChange({.data_file_count = 1, .commit_count = 1}, at);
    benchmark::DoNotOptimize(step.ask);
    benchmark::DoNotOptimize(core.next_wake(at));
  }
  const auto took = std::chrono::steady_clock::now() - start;
  if (took / events > std::chrono::milliseconds(1))
    state.SkipWithError("a decision took over 1 ms");
}
BENCHMARK(Decide)->Arg(1)->Arg(5)->Arg(20);

}  // namespace
}  // namespace icewright
