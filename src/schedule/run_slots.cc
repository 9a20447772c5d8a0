#include "schedule/run_slots.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/units.h"

namespace icewright {

int PoolOptions::threads_per_task() const { return std::max(threads / concurrent_tasks, 1); }

std::int64_t PoolOptions::memory_per_task() const {
  return memory_bytes == MemoryBudget::kUnlimited ? memory_bytes : memory_bytes / concurrent_tasks;
}

const PoolOptions& RunSlots::pool(const std::string& name) const {
  static const PoolOptions kDefault;
  const auto found = pools_.find(name);
  return found == pools_.end() ? kDefault : found->second;
}

std::string RunSlots::Take(TableNumber table, const std::string& name, bool moves_bytes,
                           TimePoint now) {
  if (moves_bytes && bytes_per_hour_ && BytesLastHour(now) >= *bytes_per_hour_) {
    DropGrants(table);
    return fmt::format("bytes-per-hour {} is used up", FormatByteSize(*bytes_per_hour_));
  }
  const bool granted = granted_.erase({table, name}) > 0;
  DropGrants(table);
  if (granted) return {};
  std::deque<TableNumber>& queue = waiting_[name];
  if (used_[name] < pool(name).concurrent_tasks) {
    ++used_[name];
    std::erase(queue, table);
    return {};
  }
  if (std::ranges::find(queue, table) == queue.end()) queue.push_back(table);
  return fmt::format("a free slot: {} task(s) run{}", used_[name],
                     name.empty() ? "" : " in pool " + name);
}

void RunSlots::Free(const std::string& name) {
  std::deque<TableNumber>& queue = waiting_[name];
  if (queue.empty()) {
    --used_[name];
    return;
  }
  // The slot goes from hand to hand: nobody can jump the queue.
  granted_.emplace(queue.front(), name);
  to_tell_.push_back(queue.front());
  queue.pop_front();
}

void RunSlots::DropGrants(TableNumber table) {
  for (auto it = granted_.lower_bound({table, ""}); it != granted_.end() && it->first == table;) {
    const std::string name = it->second;
    it = granted_.erase(it);
    Free(name);
  }
}

void RunSlots::Forget(TableNumber table) {
  for (auto& [name, queue] : waiting_) std::erase(queue, table);
  DropGrants(table);
}

void RunSlots::CountBytes(std::int64_t bytes, TimePoint now) {
  if (bytes > 0) bytes_.emplace_back(now, bytes);
}

std::int64_t RunSlots::BytesLastHour(TimePoint now) {
  while (!bytes_.empty() && bytes_.front().first + std::chrono::hours(1) <= now) {
    bytes_.pop_front();
  }
  std::int64_t sum = 0;
  for (const auto& [when, bytes] : bytes_) sum += bytes;
  return sum;
}

int RunSlots::used(const std::string& name) const {
  const auto found = used_.find(name);
  return found == used_.end() ? 0 : found->second;
}

}  // namespace icewright
