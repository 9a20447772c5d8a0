#pragma once

/// \file base/executor.h
/// The only place that makes threads.

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "base/result.h"
#include "base/run_context.h"

namespace icewright {

/// Calls fn(0) ... fn(count - 1), at most `limit` at a time, items started in order. The first
/// error wins and no further item starts; all threads are joined before it returns. With limit 1
/// (or one item) everything runs on the calling thread. Exceptions of `fn` become kInternal,
/// bad_alloc kExhausted. Errors: those of fn; those of run.Check(), which is asked before each
/// item.
Status ParallelFor(RunContext& run, std::size_t count, int limit,
                   const std::function<Status(std::size_t)>& fn);

/// Produces items 0 ... count - 1 in parallel and consumes them in order on the calling thread. At
/// most `2 * limit` items are in memory at once. Errors: the first of produce, consume or a stop.
template <typename T>
Status OrderedParallel(RunContext& run, std::size_t count, int limit,
                       const std::function<Result<T>(std::size_t)>& produce,
                       const std::function<Status(std::size_t, T&&)>& consume);

/// Calls fn every `interval` on a thread of its own, until destroyed. A call that throws is left
/// out. Single-threaded.
class Ticker {
 public:
  Ticker(Milliseconds interval, std::function<void()> fn);
  ~Ticker();

 private:
  std::jthread thread_;
};

namespace executor_internal {
/// Runs workers(limit) and the consumer; see OrderedParallel.
Status RunWithWorkers(RunContext& run, int workers, const std::function<Status()>& worker,
                      const std::function<Status()>& consumer,
                      const std::function<void()>& abandon);
}  // namespace executor_internal

template <typename T>
Status OrderedParallel(RunContext& run, std::size_t count, int limit,
                       const std::function<Result<T>(std::size_t)>& produce,
                       const std::function<Status(std::size_t, T&&)>& consume) {
  if (limit <= 1 || count <= 1) {
    for (std::size_t i = 0; i < count; ++i) {
      IW_TRY(run.Check());
      IW_ASSIGN(T item, produce(i));
      IW_TRY(consume(i, std::move(item)));
    }
    return {};
  }
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::optional<T>> window;  // items [consumed, consumed + window.size())
  std::size_t consumed = 0;
  std::size_t started = 0;
  bool abandoned = false;
  const std::size_t depth = static_cast<std::size_t>(limit) * 2;

  const auto worker = [&]() -> Status {
    for (;;) {
      std::size_t mine = 0;
      {
        std::unique_lock lock(mutex);
        changed.wait(lock,
                     [&] { return abandoned || started >= count || started < consumed + depth; });
        if (abandoned || started >= count) return {};
        mine = started++;
        window.emplace_back();
      }
      IW_TRY(run.Check());
      IW_ASSIGN(T item, produce(mine));
      const std::scoped_lock lock(mutex);
      window[mine - consumed] = std::move(item);
      changed.notify_all();
    }
  };
  const auto consumer = [&]() -> Status {
    for (std::size_t i = 0; i < count; ++i) {
      std::optional<T> item;
      {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return abandoned || (!window.empty() && window.front()); });
        if (abandoned) return {};
        item = std::move(window.front());
        window.pop_front();
        ++consumed;
        changed.notify_all();
      }
      IW_TRY(consume(i, std::move(*item)));
    }
    return {};
  };
  const auto abandon = [&] {
    const std::scoped_lock lock(mutex);
    abandoned = true;
    changed.notify_all();
  };
  return executor_internal::RunWithWorkers(run, limit, worker, consumer, abandon);
}

}  // namespace icewright
