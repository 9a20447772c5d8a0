#pragma once

/// \file testing/fake_clock.h
/// A clock that a test sets; waiting on it moves it and takes no time.

#include <mutex>
#include <stop_token>
#include <vector>

#include "base/clock.h"

namespace icewright {

/// Thread-safe.
class FakeClock final : public Clock {
 public:
  explicit FakeClock(TimePoint now = FromMillis(1'700'000'000'000)) : now_(now) {}

  TimePoint Now() override {
    const std::scoped_lock lock(mutex_);
    return now_;
  }

  /// Moves the time forward at once; a stopped token keeps it where it is.
  void SleepFor(Milliseconds duration, std::stop_token stop) override {
    if (stop.stop_requested()) return;
    const std::scoped_lock lock(mutex_);
    now_ += duration;
    sleeps_.push_back(duration);
  }

  void Advance(Milliseconds duration) {
    const std::scoped_lock lock(mutex_);
    now_ += duration;
  }

  void Set(TimePoint now) {
    const std::scoped_lock lock(mutex_);
    now_ = now;
  }

  /// The waits so far, in order.
  std::vector<Milliseconds> sleeps() const {
    const std::scoped_lock lock(mutex_);
    return sleeps_;
  }

 private:
  mutable std::mutex mutex_;
  TimePoint now_;
  std::vector<Milliseconds> sleeps_;
};

}  // namespace icewright
