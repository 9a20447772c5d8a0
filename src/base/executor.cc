#include "base/executor.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "base/guarded.h"

namespace icewright {
namespace executor_internal {

Status RunWithWorkers(RunContext&, int workers, const std::function<Status()>& worker,
                      const std::function<Status()>& consumer,
                      const std::function<void()>& abandon) {
  std::mutex mutex;
  std::optional<Error> first;
  const auto run_one = [&](const std::function<Status()>& fn) {
    const Status status = Guarded(fn);
    if (status) return;
    {
      const std::scoped_lock lock(mutex);
      if (!first) first = status.error();
    }
    abandon();
  };
  std::vector<std::jthread> threads;
  threads.reserve(static_cast<std::size_t>(workers));
  for (int i = 0; i < workers; ++i) threads.emplace_back([&] { run_one(worker); });
  run_one(consumer);
  threads.clear();  // joins
  if (first) return *first;
  return {};
}

}  // namespace executor_internal

Ticker::Ticker(Milliseconds interval, std::function<void()> fn)
    : thread_([interval, fn = std::move(fn)](const std::stop_token& stop) {
        std::mutex mutex;
        std::condition_variable_any wake;
        std::unique_lock lock(mutex);
        while (!wake.wait_for(lock, stop, interval, [&] { return stop.stop_requested(); })) {
          if (stop.stop_requested()) return;
          (void)Guarded([&]() -> Status {
            fn();
            return {};
          });
        }
      }) {}

Ticker::~Ticker() = default;

Status ParallelFor(RunContext& run, std::size_t count, int limit,
                   const std::function<Status(std::size_t)>& fn) {
  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  const auto work = [&]() -> Status {
    while (!failed.load(std::memory_order_relaxed)) {
      const std::size_t i = next.fetch_add(1);
      if (i >= count) break;
      IW_TRY(run.Check());
      IW_TRY(fn(i));
    }
    return {};
  };
  const int workers =
      static_cast<int>(std::min<std::size_t>(count, static_cast<std::size_t>(std::max(limit, 1))));
  if (workers <= 1) return Guarded(work);
  return executor_internal::RunWithWorkers(run, workers - 1, work, work, [&] { failed = true; });
}

}  // namespace icewright
