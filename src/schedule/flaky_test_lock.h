#pragma once

/// \file schedule/flaky_test_lock.h
/// A lock whose store does not answer for a while. For tests only.

#include <memory>
#include <utility>

#include "lock/lock.h"

namespace icewright {

/// Single-threaded.
class FlakyLock final : public MaintenanceLock {
 public:
  explicit FlakyLock(std::shared_ptr<MaintenanceLock> lock) : lock_(std::move(lock)) {}
  bool away = true;
  int failing_releases = 0;  ///< The next ones.
  int lost_answers = 0;      ///< To the next acquisitions, which take place.

  Result<bool> TryAcquire() override {
    if (away) return Error(Code::kUnavailable, "the store of the lock is away");
    const auto got = lock_->TryAcquire();
    if (lost_answers-- > 0) return Error(Code::kUnavailable, "the answer is lost");
    return got;
  }
  Result<bool> IsHeld() override { return lock_->IsHeld(); }
  Status Renew() override { return lock_->Renew(); }
  Status Release() override {
    if (away || failing_releases-- > 0) {
      return Error(Code::kUnavailable, "the store of the lock is away");
    }
    return lock_->Release();
  }
  Result<LockState> Inspect() override { return lock_->Inspect(); }
  Result<LockState> ForceRelease() override { return lock_->ForceRelease(); }

 private:
  std::shared_ptr<MaintenanceLock> lock_;
};

}  // namespace icewright
