#pragma once

/// \file base/steady_time.h
/// Time that never goes back, for intervals and deadlines.

#include <mutex>

#include "base/clock.h"

namespace icewright {

/// What a machine's monotonic clock says. Thread-safe.
class SteadySource {
 public:
  virtual ~SteadySource() = default;
  /// Since some moment in the past.
  virtual Milliseconds Elapsed() = 0;

  static SteadySource& System();
};

/// Starts as the wall clock and then only counts on, whatever people do to that clock. A process
/// that starts again passes the last time it has kept, and goes on from there. Thread-safe.
class SteadyTime {
 public:
  explicit SteadyTime(Clock& clock, SteadySource& source = SteadySource::System())
      : source_(source), base_(clock.Now() - source.Elapsed()) {}

  TimePoint Now() {
    const std::scoped_lock lock(mutex_);
    return base_ + source_.Elapsed();
  }

  /// Moves the time on to `t` if it is not there yet.
  void NotBefore(TimePoint t) {
    const std::scoped_lock lock(mutex_);
    if (base_ + source_.Elapsed() < t) base_ = t - source_.Elapsed();
  }

 private:
  SteadySource& source_;
  std::mutex mutex_;
  TimePoint base_;  // guarded by mutex_
};

}  // namespace icewright
