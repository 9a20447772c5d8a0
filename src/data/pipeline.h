#pragma once

/// \file data/pipeline.h
/// Two steps of a stream on two threads: decode the next batches while the last ones are encoded.

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>

#include "base/executor.h"
#include "base/result.h"
#include "base/run_context.h"

namespace icewright {

/// Takes items from `produce` until it returns an unset optional, and gives them to `consume` in
/// order. With more than one thread in the run the two overlap, and at most `depth` items wait
/// between them. Errors: the first of either side; the other then ends too.
template <typename T>
Status Pipeline(RunContext& run, std::size_t depth,
                const std::function<Result<std::optional<T>>()>& produce,
                const std::function<Status(T&&)>& consume) {
  if (run.threads() <= 1) {
    for (;;) {
      IW_TRY(run.Check());
      IW_ASSIGN(std::optional<T> item, produce());
      if (!item) return {};
      IW_TRY(consume(std::move(*item)));
    }
  }
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<T> waiting;
  bool produced_all = false;  // also after an error
  bool consumer_gone = false;

  // Whatever way a side ends, the other one must hear of it.
  struct Leave {
    std::mutex& mutex;
    std::condition_variable& changed;
    bool& flag;
    ~Leave() {
      const std::scoped_lock lock(mutex);
      flag = true;
      changed.notify_all();
    }
  };
  // Waits in slices: a side that never started because of a stop sends no signal.
  const auto wait = [&](std::unique_lock<std::mutex>& lock, const auto& ready) -> Status {
    while (!changed.wait_for(lock, std::chrono::milliseconds(100), ready)) IW_TRY(run.Check());
    return {};
  };
  const auto producer = [&]() -> Status {
    const Leave leave{mutex, changed, produced_all};
    for (;;) {
      IW_TRY(run.Check());
      IW_ASSIGN(std::optional<T> item, produce());
      if (!item) return {};
      std::unique_lock lock(mutex);
      IW_TRY(wait(lock, [&] { return consumer_gone || waiting.size() < depth; }));
      if (consumer_gone) return {};
      waiting.push_back(std::move(*item));
      changed.notify_all();
    }
  };
  const auto consumer = [&]() -> Status {
    const Leave leave{mutex, changed, consumer_gone};
    for (;;) {
      std::optional<T> item;
      {
        std::unique_lock lock(mutex);
        IW_TRY(wait(lock, [&] { return produced_all || !waiting.empty(); }));
        if (waiting.empty()) return {};
        item = std::move(waiting.front());
        waiting.pop_front();
        changed.notify_all();
      }
      IW_TRY(consume(std::move(*item)));
    }
  };
  return ParallelFor(run, 2, 2,
                     [&](std::size_t side) { return side == 0 ? producer() : consumer(); });
}

}  // namespace icewright
