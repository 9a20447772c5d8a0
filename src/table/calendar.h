#pragma once

/// \file table/calendar.h
/// Dates, times and timestamps of the proleptic Gregorian calendar as ISO-8601 text, and back.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace icewright {

inline constexpr std::int64_t kMicrosPerSecond = 1'000'000;
inline constexpr std::int64_t kMicrosPerHour = 3'600 * kMicrosPerSecond;
inline constexpr std::int64_t kMicrosPerDay = 24 * kMicrosPerHour;
inline constexpr std::int64_t kNanosPerMicro = 1'000;

/// Quotient rounded towards minus infinity. Precondition: b > 0.
constexpr std::int64_t FloorDiv(std::int64_t a, std::int64_t b) {
  return a / b - (a % b < 0 ? 1 : 0);
}
constexpr std::int64_t FloorMod(std::int64_t a, std::int64_t b) {
  return a % b + (a % b < 0 ? b : 0);
}

struct CivilDate {
  std::int64_t year;  ///< Astronomical: year 0 is 1 BC.
  int month;          ///< 1 to 12
  int day;            ///< 1 to 31
};

CivilDate CivilFromDays(std::int64_t days_since_epoch);
std::int64_t DaysFromCivil(const CivilDate& date);

/// "2017-11-16"; years outside 0 to 9999 as Java's LocalDate: "+10000-01-01", "-0001-12-31".
std::string DateText(std::int64_t days_since_epoch);

/// "2017-11-16" as partition paths have it: Java's %04d of the year, so "10000-01-01",
/// "-001-12-31".
std::string PartitionDayText(std::int64_t days_since_epoch);

/// "22:31:08.5": seconds always, as many decimals as needed. `fraction` is in 10^-decimals seconds.
std::string TimeText(std::int64_t seconds_of_day, std::int64_t fraction, int decimals);

/// "2017-11-16T22:31:08.123"; the unit is 10^-decimals seconds since the epoch (6: us, 9: ns).
std::string TimestampText(std::int64_t value, int decimals);

/// Unset if the text is no such value, or one that does not fit.
std::optional<std::int32_t> ParseDate(std::string_view text);

/// "22:31", "22:31:08", "22:31:08.123456" in microseconds.
std::optional<std::int64_t> ParseTime(std::string_view text);

enum class ZoneText : std::uint8_t {
  kNone,      ///< An offset is an error.
  kOptional,  ///< Without an offset: UTC.
};

/// "2017-11-16T22:31:08.123456+01:00", also with a space for the T, a "Z" for the offset, and the
/// date alone. The unit of the result is 10^-decimals seconds since the epoch.
std::optional<std::int64_t> ParseTimestamp(std::string_view text, int decimals, ZoneText zone);

}  // namespace icewright
