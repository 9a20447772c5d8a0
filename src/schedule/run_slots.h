#pragma once

/// \file schedule/run_slots.h
/// Who may run now: slots of pools, given out in the order they were asked for, and a budget of
/// bytes.

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/memory_budget.h"

namespace icewright {

/// Threads and memory are shared out evenly among the tasks that may run at once.
struct PoolOptions {
  int concurrent_tasks = 1;  ///< Range: >= 1.
  int threads = 1;           ///< Range: >= 1.
  std::int64_t memory_bytes = MemoryBudget::kUnlimited;

  int threads_per_task() const;
  std::int64_t memory_per_task() const;
  friend bool operator==(const PoolOptions&, const PoolOptions&) = default;
};

/// Pools by name; "" is the default one. Tables are known by number. Single-threaded.
class RunSlots {
 public:
  using TableNumber = std::uint64_t;

  RunSlots(std::map<std::string, PoolOptions> pools, std::optional<std::int64_t> bytes_per_hour)
      : pools_(std::move(pools)), bytes_per_hour_(bytes_per_hour) {}

  const PoolOptions& pool(const std::string& name) const;

  /// Takes a slot for the table, or queues it and says why not. A table that was granted a slot of
  /// this pool takes that one. Whatever else it was granted goes on to others: it runs one task at
  /// a time. `moves_bytes`: the byte budget counts, too.
  std::string Take(TableNumber table, const std::string& pool, bool moves_bytes, TimePoint now);

  /// Gives back a slot that was taken. The table that has waited longest for this pool is granted
  /// it.
  void Free(const std::string& pool);

  /// The table no longer waits. What it was granted and did not take goes on to others.
  void Forget(TableNumber table);

  /// Tables that were granted a slot since the last call: to be told.
  std::vector<TableNumber> TakeGranted() { return std::exchange(to_tell_, {}); }

  void CountBytes(std::int64_t bytes, TimePoint now);
  std::int64_t BytesLastHour(TimePoint now);

  int used(const std::string& pool) const;

 private:
  void DropGrants(TableNumber table);

  const std::map<std::string, PoolOptions> pools_;
  const std::optional<std::int64_t> bytes_per_hour_;
  std::map<std::string, int> used_;
  std::map<std::string, std::deque<TableNumber>> waiting_;
  std::set<std::pair<TableNumber, std::string>> granted_;  // counted as used
  std::vector<TableNumber> to_tell_;
  std::deque<std::pair<TimePoint, std::int64_t>> bytes_;
};

}  // namespace icewright
