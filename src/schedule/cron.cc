#include "schedule/cron.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <vector>

#include "base/text.h"

namespace icewright {
namespace {

using std::chrono::days;
using std::chrono::minutes;

struct Field {
  std::string_view name;
  int low;
  int high;
  std::span<const std::string_view> words;  // the first one means `low`
};

constexpr std::array<std::string_view, 12> kMonths = {"jan", "feb", "mar", "apr", "may", "jun",
                                                      "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr std::array<std::string_view, 7> kWeekdays = {"sun", "mon", "tue", "wed",
                                                       "thu", "fri", "sat"};

const Field kMinute{"minute", 0, 59, {}};
const Field kHour{"hour", 0, 23, {}};
const Field kDay{"day of the month", 1, 31, {}};
const Field kMonth{"month", 1, 12, kMonths};
const Field kWeekday{"day of the week", 0, 7, kWeekdays};  // 7 is Sunday, too

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::vector<std::string_view> Words(std::string_view text) {
  std::vector<std::string_view> words;
  for (const std::string_view part : Split(text, ' ')) {
    if (!part.empty()) words.push_back(part);
  }
  return words;
}

std::optional<int> ParseNumber(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

Error Bad(const Field& field, std::string_view text) {
  return {Code::kInvalidArgument,
          fmt::format("'{}' is no {}: write numbers from {} to {}, lists, ranges or steps", text,
                      field.name, field.low, field.high)};
}

Result<int> ParseValue(const Field& field, std::string_view text) {
  const auto word = std::ranges::find(field.words, ToLower(text));
  if (word != field.words.end()) return field.low + static_cast<int>(word - field.words.begin());
  const std::optional<int> value = ParseNumber(text);
  if (!value || *value < field.low || *value > field.high) return Bad(field, text);
  return *value;
}

// "*", "5", "1-5", "*/15", "8-18/2"
Result<std::uint64_t> ParsePart(const Field& field, std::string_view part) {
  const std::size_t slash = part.find('/');
  int step = 1;
  if (slash != std::string_view::npos) {
    const std::optional<int> value = ParseNumber(part.substr(slash + 1));
    if (!value || *value < 1) return Bad(field, part);
    step = *value;
  }
  const std::string_view range = part.substr(0, slash);
  int low = field.low;
  int high = field.high;
  if (range != "*") {
    const std::size_t dash = range.find('-');
    IW_ASSIGN(low, ParseValue(field, range.substr(0, dash)));
    if (dash != std::string_view::npos) {
      IW_ASSIGN(high, ParseValue(field, range.substr(dash + 1)));
    } else if (slash == std::string_view::npos) {
      high = low;
    }
    if (high < low) return Bad(field, part);
  }
  std::uint64_t bits = 0;
  for (int value = low; value <= high; value += step) bits |= std::uint64_t{1} << value;
  return bits;
}

Result<std::uint64_t> ParseList(const Field& field, std::string_view text) {
  std::uint64_t bits = 0;
  for (const std::string_view part : Split(text, ',')) {
    IW_ASSIGN(const std::uint64_t more, ParsePart(field, part));
    bits |= more;
  }
  return bits;
}

Result<std::uint64_t> ParseWeekdays(std::string_view text) {
  IW_ASSIGN(std::uint64_t bits, ParseList(kWeekday, text));
  if ((bits & 0x80) != 0) bits |= 1;
  return bits & 0x7f;
}

bool Has(std::uint64_t bits, unsigned value) { return (bits >> value & 1) != 0; }

std::string_view Expand(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kWords = {
      {{"@hourly", "0 * * * *"},
       {"@daily", "0 0 * * *"},
       {"@weekly", "0 0 * * 0"},
       {"@monthly", "0 0 1 * *"},
       {"@yearly", "0 0 1 1 *"}}};
  const auto word = std::ranges::find(kWords, text, [](const auto& pair) { return pair.first; });
  return word == kWords.end() ? text : word->second;
}

std::optional<int> ParseTimeOfDay(std::string_view text) {
  const auto parts = Split(text, ':');
  if (parts.size() != 2 || parts[0].size() > 2 || parts[1].size() != 2) return {};
  const auto hour = ParseNumber(parts[0]);
  const auto minute = ParseNumber(parts[1]);
  if (!hour || !minute || *hour < 0 || *minute < 0 || *minute > 59) return {};
  const int total = *hour * 60 + *minute;
  if (total > 24 * 60) return {};
  return total;
}

}  // namespace

Result<CronTimes> CronTimes::Parse(std::string_view text) {
  CronTimes cron;
  cron.text_ = std::string(text);
  const auto fields = Words(Expand(text));
  if (fields.size() != 5) {
    return Error(Code::kInvalidArgument,
                 fmt::format("'{}' is no cron time: write five fields (minute, hour, day of the "
                             "month, month, day of the week) or @hourly, @daily, @weekly, "
                             "@monthly, @yearly",
                             text));
  }
  IW_ASSIGN(cron.minutes_, ParseList(kMinute, fields[0]));
  IW_ASSIGN(cron.hours_, ParseList(kHour, fields[1]));
  IW_ASSIGN(cron.days_, ParseList(kDay, fields[2]));
  IW_ASSIGN(cron.months_, ParseList(kMonth, fields[3]));
  IW_ASSIGN(cron.weekdays_, ParseWeekdays(fields[4]));
  cron.any_day_ = fields[2].starts_with('*');
  cron.any_weekday_ = fields[4].starts_with('*');
  if (!cron.Find(TimePoint())) {
    return Error(Code::kInvalidArgument, fmt::format("'{}' never comes: no such day", text));
  }
  return cron;
}

bool CronTimes::DayMatches(std::chrono::sys_days day) const {
  const std::chrono::year_month_day date(day);
  if (!Has(months_, static_cast<unsigned>(date.month()))) return false;
  const bool by_day = Has(days_, static_cast<unsigned>(date.day()));
  const bool by_weekday = Has(weekdays_, std::chrono::weekday(day).c_encoding());
  if (any_day_ || any_weekday_) return by_day && by_weekday;
  return by_day || by_weekday;
}

std::optional<TimePoint> CronTimes::Find(TimePoint after) const {
  const auto first = std::chrono::floor<minutes>(after) + minutes(1);
  auto day = std::chrono::floor<days>(first);
  auto from = static_cast<unsigned>((first - day).count());
  // 29 February can be twelve years away (1896 to 1908 and the like, eight elsewhere).
  for (int n = 0; n < 13 * 366; ++n, day += days(1), from = 0) {
    if (!DayMatches(day)) continue;
    for (unsigned minute = from; minute < 24 * 60; ++minute) {
      if (Has(hours_, minute / 60) && Has(minutes_, minute % 60)) {
        return TimePoint(day) + minutes(minute);
      }
    }
  }
  return {};
}

TimePoint CronTimes::Next(TimePoint after) const {
  return Find(after).value_or(after + days(13 * 366));
}

Result<QuietHours> QuietHours::Parse(std::string_view text) {
  const Error bad(Code::kInvalidArgument,
                  fmt::format("'{}' are no quiet hours: write '22:00-06:00' or "
                              "'mon-fri 08:00-18:00'",
                              text));
  QuietHours quiet;
  quiet.text_ = std::string(text);
  auto words = Words(text);
  if (words.empty() || words.size() > 2) return bad;
  quiet.weekdays_ = 0x7f;
  if (words.size() == 2) {
    IW_ASSIGN(quiet.weekdays_, ParseWeekdays(words.front()));
  }
  const auto times = Split(words.back(), '-');
  if (times.size() != 2) return bad;
  const auto start = ParseTimeOfDay(times[0]);
  const auto end = ParseTimeOfDay(times[1]);
  if (!start || !end || *start == 24 * 60 || *start == *end) return bad;
  quiet.start_ = *start;
  quiet.length_ = (*end - *start + 24 * 60) % (24 * 60);
  if (quiet.length_ == 0) quiet.length_ = 24 * 60;  // 00:00-24:00
  return quiet;
}

std::optional<TimePoint> QuietHours::EndOf(TimePoint t) const {
  const auto today = std::chrono::floor<days>(t);
  std::optional<TimePoint> end;
  for (const auto day : {today - days(1), today}) {
    if (!Has(weekdays_, std::chrono::weekday(day).c_encoding())) continue;
    const TimePoint start = TimePoint(day) + minutes(start_);
    if (t >= start && t < start + minutes(length_)) end = start + minutes(length_);
  }
  return end;
}

Result<Milliseconds> ParseUtcOffset(std::string_view text) {
  if (text == "UTC" || text == "Z") return Milliseconds(0);
  const char sign = text.empty() ? ' ' : text.front();
  const auto offset = text.size() == 6 ? ParseTimeOfDay(text.substr(1)) : std::nullopt;
  if ((sign != '+' && sign != '-') || !offset || *offset > 18 * 60) {
    return Error(Code::kInvalidArgument,
                 fmt::format("'{}' is no offset: write 'UTC' or '+02:00'", text));
  }
  return Milliseconds(minutes(sign == '-' ? -*offset : *offset));
}

}  // namespace icewright
