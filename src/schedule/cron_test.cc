#include "schedule/cron.h"

#include <gmock/gmock.h>

#include <random>

#include "testing/matchers.h"

namespace icewright {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::sys_days;
using std::chrono::year;
using std::chrono::year_month_day;
using ::testing::HasSubstr;

TimePoint Day(int y, unsigned m, unsigned d) {
  return sys_days(year_month_day(year(y), std::chrono::month(m), std::chrono::day(d)));
}

struct NextCase {
  std::string cron;
  TimePoint after;
  TimePoint next;
};

TEST(CronTest, Next) {
  const std::vector<NextCase> cases = {
      {"30 3 * * *", Day(2026, 8, 1), Day(2026, 8, 1) + hours(3) + minutes(30)},
      {"30 3 * * *", Day(2026, 8, 1) + hours(3) + minutes(30),
       Day(2026, 8, 2) + hours(3) + minutes(30)},
      {"*/15 * * * *", Day(2026, 8, 1) + minutes(1), Day(2026, 8, 1) + minutes(15)},
      {"0 8-18/5 * * *", Day(2026, 8, 1) + hours(9), Day(2026, 8, 1) + hours(13)},
      {"0 0 * * mon", Day(2026, 8, 1), Day(2026, 8, 3)},  // 1 August 2026 is a Saturday
      {"0 0 * * 7", Day(2026, 8, 1), Day(2026, 8, 2)},
      {"0 0 * * Fri-Sat", Day(2026, 8, 2), Day(2026, 8, 7)},
      {"0 0 29 2 *", Day(2026, 8, 1), Day(2028, 2, 29)},
      {"0 0 29 2 *", Day(2096, 3, 1), Day(2104, 2, 29)},
      {"0 0 31 * *", Day(2026, 4, 1), Day(2026, 5, 31)},
      {"0 0 10 * mon", Day(2026, 8, 1), Day(2026, 8, 3)},  // either of the two kinds of day
      {"0 0 10 * mon", Day(2026, 8, 3), Day(2026, 8, 10)},
      {"0 0 1 jan *", Day(2026, 1, 1), Day(2027, 1, 1)},
      {"@hourly", Day(2026, 8, 1) + minutes(59), Day(2026, 8, 1) + hours(1)},
      {"@daily", Day(2026, 8, 1), Day(2026, 8, 2)},
      {"@weekly", Day(2026, 8, 1), Day(2026, 8, 2)},
      {"@monthly", Day(2026, 8, 1), Day(2026, 9, 1)},
      {"@yearly", Day(2026, 8, 1), Day(2027, 1, 1)},
  };
  for (const NextCase& test : cases) {
    IW_ASSERT_OK_AND_ASSIGN(const CronTimes cron, CronTimes::Parse(test.cron));
    EXPECT_EQ(ToMillis(cron.Next(test.after)), ToMillis(test.next)) << test.cron;
  }
}

TEST(CronTest, BadTextIsNamed) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "write five fields"},
      {"* * * *", "write five fields"},
      {"60 * * * *", "'60' is no minute"},
      {"* 24 * * *", "'24' is no hour"},
      {"* * 0 * *", "'0' is no day of the month"},
      {"* * * 13 *", "'13' is no month"},
      {"* * * * 8", "'8' is no day of the week"},
      {"5-1 * * * *", "'5-1' is no minute"},
      {"*/0 * * * *", "'*/0' is no minute"},
      {"1, * * * *", "'' is no minute"},
      {"x * * * *", "'x' is no minute"},
      {"0 0 30 2 *", "never comes"},
      {"@never", "write five fields"},
  };
  for (const auto& [text, message] : cases) {
    EXPECT_THAT(CronTimes::Parse(text), HasError(Code::kInvalidArgument, HasSubstr(message)))
        << text;
  }
}

TEST(CronTest, QuietHours) {
  struct Case {
    std::string quiet;
    TimePoint at;
    std::optional<TimePoint> end;
  };
  const TimePoint saturday = Day(2026, 8, 1);
  const std::vector<Case> cases = {
      {"22:00-06:00", saturday + hours(23), saturday + hours(30)},
      {"22:00-06:00", saturday + hours(5), saturday + hours(6)},
      {"22:00-06:00", saturday + hours(6), {}},
      {"22:00-06:00", saturday + hours(22), saturday + hours(30)},
      {"mon-fri 22:00-06:00", saturday + hours(5), saturday + hours(6)},  // began on Friday
      {"mon-fri 22:00-06:00", saturday + hours(23), {}},
      {"sat,sun 00:00-24:00", saturday + hours(1), saturday + hours(24)},
      {"mon-fri 08:00-18:00", saturday + hours(9), {}},
      {"8:30-9:15", saturday + hours(9), saturday + hours(9) + minutes(15)},
  };
  for (const Case& test : cases) {
    IW_ASSERT_OK_AND_ASSIGN(const QuietHours quiet, QuietHours::Parse(test.quiet));
    EXPECT_EQ(quiet.EndOf(test.at), test.end) << test.quiet;
  }
  for (const std::string text : {"", "22:00", "22-06", "25:00-26:00", "8:00-8:00", "24:00-06:00",
                                 "xxx 08:00-09:00", "mon 08:00-09:00 tue", "08:00-09:7"}) {
    EXPECT_THAT(QuietHours::Parse(text), HasCode(Code::kInvalidArgument)) << text;
  }
}

TEST(CronTest, UtcOffset) {
  EXPECT_THAT(ParseUtcOffset("+02:00"), IsOkAndHolds(Milliseconds(7'200'000)));
  EXPECT_THAT(ParseUtcOffset("-05:30"), IsOkAndHolds(Milliseconds(-19'800'000)));
  EXPECT_THAT(ParseUtcOffset("UTC"), IsOkAndHolds(Milliseconds(0)));
  for (const std::string text : {"", "+2", "02:00", "+19:00", "Europe/Paris"}) {
    EXPECT_THAT(ParseUtcOffset(text), HasCode(Code::kInvalidArgument)) << text;
  }
}

}  // namespace
}  // namespace icewright
