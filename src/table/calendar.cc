#include "table/calendar.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "table/value.h"

namespace icewright {
namespace {

constexpr std::int64_t kSecondsPerDay = 86'400;

constexpr std::int64_t PowerOfTen(int exponent) {
  std::int64_t result = 1;
  for (int i = 0; i < exponent; ++i) result *= 10;
  return result;
}

/// Consumes text from its front; every step says whether it fitted.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  bool AtEnd() const { return rest_.empty(); }

  bool Take(char expected) {
    if (rest_.empty() || rest_.front() != expected) return false;
    rest_.remove_prefix(1);
    return true;
  }

  /// Between `least` and `most` digits. Precondition: most <= 18.
  std::optional<std::int64_t> Digits(std::size_t least, std::size_t most) {
    std::size_t count = 0;
    std::int64_t value = 0;
    while (count < rest_.size() && rest_[count] >= '0' && rest_[count] <= '9') {
      if (++count > most) return std::nullopt;
      value = value * 10 + (rest_[count - 1] - '0');
    }
    if (count < least) return std::nullopt;
    rest_.remove_prefix(count);
    return value;
  }

  /// Decimals of a second after the point, as 10^-decimals; further ones must be zero.
  std::optional<std::int64_t> Fraction(int decimals) {
    std::int64_t value = 0;
    int count = 0;
    while (!rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9') {
      const int digit = rest_.front() - '0';
      rest_.remove_prefix(1);
      if (count < decimals) {
        value = value * 10 + digit;
      } else if (digit != 0) {
        return std::nullopt;
      }
      ++count;
    }
    if (count == 0) return std::nullopt;
    return value * PowerOfTen(std::max(0, decimals - count));
  }

 private:
  std::string_view rest_;
};

bool IsLeap(std::int64_t year) {
  return FloorMod(year, 4) == 0 && (FloorMod(year, 100) != 0 || FloorMod(year, 400) == 0);
}

int DaysInMonth(std::int64_t year, int month) {
  constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && IsLeap(year) ? 29 : kDays[month - 1];
}

std::optional<std::int64_t> ScanDate(Scanner& in) {
  const bool negative = in.Take('-');
  if (!negative) (void)in.Take('+');
  const auto year = in.Digits(4, 9);
  if (!year || !in.Take('-')) return std::nullopt;
  const auto month = in.Digits(2, 2);
  if (!month || *month < 1 || *month > 12 || !in.Take('-')) return std::nullopt;
  const auto day = in.Digits(2, 2);
  const std::int64_t signed_year = negative ? -*year : *year;
  if (!day || *day < 1 || *day > DaysInMonth(signed_year, static_cast<int>(*month))) {
    return std::nullopt;
  }
  return DaysFromCivil({signed_year, static_cast<int>(*month), static_cast<int>(*day)});
}

/// Time of day in 10^-decimals seconds.
std::optional<std::int64_t> ScanTime(Scanner& in, int decimals) {
  const auto hour = in.Digits(2, 2);
  if (!hour || *hour > 23 || !in.Take(':')) return std::nullopt;
  const auto minute = in.Digits(2, 2);
  if (!minute || *minute > 59) return std::nullopt;
  std::int64_t seconds = (*hour * 60 + *minute) * 60;
  std::int64_t fraction = 0;
  if (in.Take(':')) {
    const auto second = in.Digits(2, 2);
    if (!second || *second > 59) return std::nullopt;
    seconds += *second;
    if (in.Take('.')) {
      const auto parsed = in.Fraction(decimals);
      if (!parsed) return std::nullopt;
      fraction = *parsed;
    }
  }
  return seconds * PowerOfTen(decimals) + fraction;
}

/// Seconds east of UTC; 0 if there is no offset.
std::optional<std::int64_t> ScanOffset(Scanner& in) {
  if (in.AtEnd() || in.Take('Z') || in.Take('z')) return 0;
  const bool west = in.Take('-');
  if (!west && !in.Take('+')) return std::nullopt;
  const auto hours = in.Digits(2, 2);
  if (!hours || *hours > 18) return std::nullopt;
  std::int64_t seconds = *hours * 3600;
  if (in.Take(':')) {
    const auto minutes = in.Digits(2, 2);
    if (!minutes || *minutes > 59) return std::nullopt;
    seconds += *minutes * 60;
  }
  return west ? -seconds : seconds;
}

}  // namespace

// Both conversions count years from March, so that the leap day is the last day of a year.
CivilDate CivilFromDays(std::int64_t days_since_epoch) {
  const std::int64_t shifted = days_since_epoch + 719'468;
  const std::int64_t era = FloorDiv(shifted, 146'097);
  const std::int64_t day_of_era = FloorMod(shifted, 146'097);
  const std::int64_t year_of_era =
      (day_of_era - day_of_era / 1'460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  const std::int64_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::int64_t month_from_march = (5 * day_of_year + 2) / 153;
  const std::int64_t day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
  const std::int64_t month = month_from_march < 10 ? month_from_march + 3 : month_from_march - 9;
  const std::int64_t year = era * 400 + year_of_era + (month <= 2 ? 1 : 0);
  return {year, static_cast<int>(month), static_cast<int>(day)};
}

std::int64_t DaysFromCivil(const CivilDate& date) {
  const std::int64_t year = date.year - (date.month <= 2 ? 1 : 0);
  const std::int64_t month_from_march = date.month > 2 ? date.month - 3 : date.month + 9;
  const std::int64_t year_of_era = FloorMod(year, 400);
  const std::int64_t day_of_year = (153 * month_from_march + 2) / 5 + date.day - 1;
  const std::int64_t day_of_era =
      year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return FloorDiv(year, 400) * 146'097 + day_of_era - 719'468;
}

std::string DateText(std::int64_t days_since_epoch) {
  const CivilDate date = CivilFromDays(days_since_epoch);
  const std::string_view sign = date.year > 9999 ? "+" : date.year < 0 ? "-" : "";
  const std::int64_t year = date.year < 0 ? -date.year : date.year;
  return fmt::format("{}{:04}-{:02}-{:02}", sign, year, date.month, date.day);
}

std::string PartitionDayText(std::int64_t days_since_epoch) {
  const CivilDate date = CivilFromDays(days_since_epoch);
  return fmt::format("{:04}-{:02}-{:02}", date.year, date.month, date.day);
}

std::string TimeText(std::int64_t seconds_of_day, std::int64_t fraction, int decimals) {
  std::string text = fmt::format("{:02}:{:02}:{:02}", seconds_of_day / 3600,
                                 seconds_of_day / 60 % 60, seconds_of_day % 60);
  if (fraction == 0) return text;
  text += fmt::format(".{:0{}}", fraction, decimals);
  while (text.back() == '0') text.pop_back();
  return text;
}

std::string TimestampText(std::int64_t value, int decimals) {
  const std::int64_t unit = PowerOfTen(decimals);
  const std::int64_t seconds = FloorDiv(value, unit);
  return DateText(FloorDiv(seconds, kSecondsPerDay)) + 'T' +
         TimeText(FloorMod(seconds, kSecondsPerDay), FloorMod(value, unit), decimals);
}

std::optional<std::int32_t> ParseDate(std::string_view text) {
  Scanner in(text);
  const auto days = ScanDate(in);
  if (!days || !in.AtEnd()) return std::nullopt;
  if (*days < std::numeric_limits<std::int32_t>::min() ||
      *days > std::numeric_limits<std::int32_t>::max()) {
    return std::nullopt;
  }
  return static_cast<std::int32_t>(*days);
}

std::optional<std::int64_t> ParseTime(std::string_view text) {
  Scanner in(text);
  const auto micros = ScanTime(in, 6);
  if (!micros || !in.AtEnd()) return std::nullopt;
  return micros;
}

std::optional<std::int64_t> ParseTimestamp(std::string_view text, int decimals, ZoneText zone) {
  Scanner in(text);
  const auto days = ScanDate(in);
  if (!days) return std::nullopt;
  std::int64_t time = 0;
  if (in.Take('T') || in.Take('t') || in.Take(' ')) {
    const auto parsed = ScanTime(in, decimals);
    if (!parsed) return std::nullopt;
    time = *parsed;
    if (!in.AtEnd()) {
      const auto offset = ScanOffset(in);
      if (zone == ZoneText::kNone || !offset) return std::nullopt;
      time -= *offset * PowerOfTen(decimals);
    }
  }
  if (!in.AtEnd()) return std::nullopt;
  const Int128 value = static_cast<Int128>(*days) * kSecondsPerDay * PowerOfTen(decimals) + time;
  if (value < std::numeric_limits<std::int64_t>::min() ||
      value > std::numeric_limits<std::int64_t>::max()) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(value);
}

}  // namespace icewright
