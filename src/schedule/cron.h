#pragma once

/// \file schedule/cron.h
/// Times of the calendar: when a task is to run, and when it must not.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace icewright {

/// The five fields of cron: minute, hour, day of the month, month, day of the week. If both kinds
/// of day are restricted, either of them suffices, as in cron. Immutable.
class CronTimes {
 public:
  /// "30 3 * * mon-fri", "*/15 8-18 1,15 * *", "@hourly", "@daily", "@weekly", "@monthly".
  /// Errors: kInvalidArgument: naming the field and its range; or the days never come (30
  /// February).
  static Result<CronTimes> Parse(std::string_view text);

  /// The first such minute after `after`.
  TimePoint Next(TimePoint after) const;

  const std::string& text() const { return text_; }
  friend bool operator==(const CronTimes&, const CronTimes&) = default;

 private:
  CronTimes() = default;
  std::optional<TimePoint> Find(TimePoint after) const;
  bool DayMatches(std::chrono::sys_days day) const;

  std::string text_;
  std::uint64_t minutes_ = 0;
  std::uint64_t hours_ = 0;
  std::uint64_t days_ = 0;      // of the month, from 1
  std::uint64_t months_ = 0;    // from 1
  std::uint64_t weekdays_ = 0;  // 0: Sunday
  bool any_day_ = false;
  bool any_weekday_ = false;
};

/// A time of day, on some days of the week. Immutable.
class QuietHours {
 public:
  /// "22:00-06:00", "mon-fri 08:00-18:00", "sat,sun 00:00-24:00". A span over midnight belongs to
  /// the day it starts on. Errors: kInvalidArgument.
  static Result<QuietHours> Parse(std::string_view text);

  /// The end of the span that `t` is in; unset if it is in none.
  std::optional<TimePoint> EndOf(TimePoint t) const;

  const std::string& text() const { return text_; }
  friend bool operator==(const QuietHours&, const QuietHours&) = default;

 private:
  QuietHours() = default;

  std::string text_;
  std::uint64_t weekdays_ = 0;  // 0: Sunday
  int start_ = 0;               // minutes of the day
  int length_ = 0;              // minutes
};

/// "+02:00", "-05:30", "UTC". Errors: kInvalidArgument.
Result<Milliseconds> ParseUtcOffset(std::string_view text);

}  // namespace icewright
