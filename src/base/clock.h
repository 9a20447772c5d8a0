#pragma once

/// \file base/clock.h
/// Time, injected: the only place that reads the system's clock.

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <stop_token>

namespace icewright {

/// Iceberg's timestamps: milliseconds since 1970 in UTC.
using TimePoint = std::chrono::sys_time<std::chrono::milliseconds>;
using Milliseconds = std::chrono::milliseconds;

inline std::int64_t ToMillis(TimePoint t) { return t.time_since_epoch().count(); }
inline TimePoint FromMillis(std::int64_t ms) { return TimePoint(Milliseconds(ms)); }

/// Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual TimePoint Now() = 0;

  /// Time since some start: never set back, and it counts while the machine sleeps. For leases.
  virtual Milliseconds Steady() { return Now().time_since_epoch(); }

  /// Waits; returns early when the token is stopped.
  virtual void SleepFor(Milliseconds duration, std::stop_token stop) = 0;

  /// The machine's clock.
  static Clock& System();
};

}  // namespace icewright
