#pragma once

/// \file base/memory_budget.h
/// How much memory a run may hold, and who holds it now.

#include <atomic>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace icewright {

class MemoryBudget;

/// A part of a budget; given back on destruction. Single-threaded.
class Reservation {
 public:
  Reservation() = default;
  Reservation(Reservation&& other) noexcept
      : budget_(std::exchange(other.budget_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  Reservation& operator=(Reservation&& other) noexcept;
  ~Reservation() { Release(); }

  std::int64_t bytes() const { return bytes_; }

  /// Grows or shrinks to `bytes`. Errors: kExhausted; the old size stays.
  Status Resize(std::int64_t bytes);
  void Release();

 private:
  friend class MemoryBudget;
  Reservation(MemoryBudget* budget, std::int64_t bytes) : budget_(budget), bytes_(bytes) {}
  MemoryBudget* budget_ = nullptr;
  std::int64_t bytes_ = 0;
};

/// Thread-safe.
class MemoryBudget {
 public:
  static constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

  explicit MemoryBudget(std::int64_t limit = kUnlimited) : limit_(limit) {}

  std::int64_t limit() const { return limit_; }
  std::int64_t used() const { return used_.load(std::memory_order_relaxed); }
  std::int64_t peak() const { return peak_.load(std::memory_order_relaxed); }
  std::int64_t available() const { return limit_ - used(); }

  /// `what` names the holder in the error: "sort buffer". Errors: kExhausted.
  Result<Reservation> Reserve(std::int64_t bytes, std::string_view what);

  /// The two halves of a reservation for allocators. True if it fits.
  bool TryTake(std::int64_t bytes);
  void Give(std::int64_t bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }

 private:
  const std::int64_t limit_;
  std::atomic<std::int64_t> used_{0};
  std::atomic<std::int64_t> peak_{0};
};

}  // namespace icewright
