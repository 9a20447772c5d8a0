#include "base/memory_budget.h"

#include <string>

namespace icewright {

Reservation& Reservation::operator=(Reservation&& other) noexcept {
  if (this != &other) {
    Release();
    budget_ = std::exchange(other.budget_, nullptr);
    bytes_ = std::exchange(other.bytes_, 0);
  }
  return *this;
}

Status Reservation::Resize(std::int64_t bytes) {
  if (budget_ == nullptr) return {};
  if (bytes > bytes_) {
    if (!budget_->TryTake(bytes - bytes_)) {
      return Error(Code::kExhausted, "memory limit of " + std::to_string(budget_->limit()) +
                                         " bytes reached: " + std::to_string(bytes - bytes_) +
                                         " more needed, " + std::to_string(budget_->used()) +
                                         " in use");
    }
  } else {
    budget_->Give(bytes_ - bytes);
  }
  bytes_ = bytes;
  return {};
}

void Reservation::Release() {
  if (budget_ != nullptr) budget_->Give(bytes_);
  budget_ = nullptr;
  bytes_ = 0;
}

Result<Reservation> MemoryBudget::Reserve(std::int64_t bytes, std::string_view what) {
  Reservation reservation(this, 0);
  if (Status grown = reservation.Resize(bytes); !grown) return grown.error().Within(what);
  return reservation;
}

bool MemoryBudget::TryTake(std::int64_t bytes) {
  std::int64_t used = used_.load(std::memory_order_relaxed);
  do {
    if (bytes > limit_ - used) return false;
  } while (!used_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
  std::int64_t peak = peak_.load(std::memory_order_relaxed);
  while (peak < used + bytes &&
         !peak_.compare_exchange_weak(peak, used + bytes, std::memory_order_relaxed)) {
  }
  return true;
}

}  // namespace icewright
