#include "table/calendar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace icewright {
namespace {

using ::testing::Eq;
using ::testing::Optional;

/// The calendar by counting, day by day, over more than one cycle of 400 years on both sides of 0.
TEST(Calendar, CountsLikeACalendarOnTheWall) {
  std::int64_t days = -719528 - 146097;  // 0000-01-01, 400 years earlier
  for (std::int64_t year = -400; year < 2500; ++year) {
    const std::int64_t positive = year + 800;
    const bool leap = positive % 4 == 0 && (positive % 100 != 0 || positive % 400 == 0);
    const int lengths[] = {31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    for (int month = 1; month <= 12; ++month) {
      for (int day = 1; day <= lengths[month - 1]; ++day, ++days) {
        const CivilDate date = CivilFromDays(days);
        const bool right = DaysFromCivil({year, month, day}) == days && date.year == year &&
                           date.month == month && date.day == day;
        ASSERT_TRUE(right) << year << '-' << month << '-' << day;
        if (day == 1) {
          ASSERT_THAT(ParseDate(DateText(days)), Optional(static_cast<std::int32_t>(days)));
        }
      }
    }
  }
}

TEST(Calendar, KnowsWhichDaysExist) {
  for (const char* text : {"2000-02-29", "2024-02-29", "0000-02-29", "-0004-02-29", "2023-12-31"}) {
    EXPECT_NE(ParseDate(text), std::nullopt) << text;
  }
  for (const char* text : {"1900-02-29", "2100-02-29", "2023-02-29", "2023-04-31", "2023-00-01",
                           "2023-13-01", "2023-01-00", "2023-01-32", "2023-1-01", "2023-01-1",
                           "2023/01/01", "2023-01-01 ", "", "-", "2023", "99999999-01-01"}) {
    EXPECT_EQ(ParseDate(text), std::nullopt) << text;
  }
}

TEST(Calendar, ExtremesSurvive) {
  for (const std::int32_t days :
       {std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()}) {
    EXPECT_THAT(ParseDate(DateText(days)), Optional(days));
  }
  for (const std::int64_t value : {std::numeric_limits<std::int64_t>::min() + 86'400'000'000'000,
                                   std::int64_t{-1}, std::numeric_limits<std::int64_t>::max()}) {
    for (const int decimals : {6, 9}) {
      EXPECT_THAT(ParseTimestamp(TimestampText(value, decimals), decimals, ZoneText::kNone),
                  Optional(value));
    }
  }
}

TEST(Calendar, OffsetsMoveToUtc) {
  const std::pair<const char*, std::int64_t> cases[] = {
      {"1970-01-01T00:00:00Z", 0},        {"1970-01-01T00:00:00z", 0},
      {"1970-01-01T00:00:00+00:00", 0},   {"1970-01-01T02:00:00+02", 0},
      {"1970-01-01T01:30:00+01:30", 0},   {"1969-12-31T20:00:00-04:00", 0},
      {"1970-01-01 00:00:00.000001Z", 1}, {"1970-01-01", 0}};
  for (const auto& [text, micros] : cases) {
    EXPECT_THAT(ParseTimestamp(text, 6, ZoneText::kOptional), Optional(micros)) << text;
  }
  for (const char* text :
       {"1970-01-01T00:00:00+", "1970-01-01T00:00:00+1", "1970-01-01T00:00:00+19",
        "1970-01-01T00:00:00+01:", "1970-01-01T00:00:00+01:60", "1970-01-01Z",
        "1970-01-01T00:00:00Zx", "1970-01-01T00", "1970-01-01T00:00:00.Z", "1970-01-01T00:00:60Z",
        "1970-01-01T24:00:00Z"}) {
    EXPECT_THAT(ParseTimestamp(text, 6, ZoneText::kOptional), Eq(std::nullopt)) << text;
  }
}

TEST(Calendar, DecimalsBeyondTheUnitMustBeZero) {
  EXPECT_THAT(ParseTime("00:00:00.1234560"), Optional(std::int64_t{123456}));
  EXPECT_THAT(ParseTime("00:00:00.1234561"), Eq(std::nullopt));
  EXPECT_THAT(ParseTime("00:00:00.1"), Optional(std::int64_t{100000}));
  EXPECT_THAT(ParseTime("23:59"), Optional(std::int64_t{86'340'000'000}));
  EXPECT_THAT(ParseTimestamp("1970-01-01T00:00:00.000000001", 9, ZoneText::kNone),
              Optional(std::int64_t{1}));
}

}  // namespace
}  // namespace icewright
