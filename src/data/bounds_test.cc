#include "data/bounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace icewright {
namespace {

using ::testing::Optional;

const Type kText = Type::Of(TypeId::kString);
const Type kBinary = Type::Of(TypeId::kBinary);

std::string Repeat(const std::string& text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

struct Case {
  std::string name;
  Type type;
  std::string value;
  int limit;
  std::string lower;
  std::optional<std::string> upper;
};

class BoundsTest : public ::testing::TestWithParam<Case> {};

TEST_P(BoundsTest, Truncates) {
  const Case& c = GetParam();
  EXPECT_EQ(TruncatedLowerBound(c.type, c.value, c.limit), c.lower);
  EXPECT_EQ(TruncatedUpperBound(c.type, c.value, c.limit), c.upper);
}

const std::string kEuro = "\xE2\x82\xAC";              // U+20AC
const std::string kLast = "\xF4\x8F\xBF\xBF";          // U+10FFFF
const std::string kBeforeSurrogates = "\xED\x9F\xBF";  // U+D7FF
const std::string kAfterSurrogates = "\xEE\x80\x80";   // U+E000

INSTANTIATE_TEST_SUITE_P(
    Table, BoundsTest,
    ::testing::Values(
        Case{"Short", kText, "abc", 16, "abc", "abc"}, Case{"Empty", kText, "", 16, "", ""},
        Case{"ExactlyTheLimit", kText, "abcd", 4, "abcd", "abcd"},
        Case{"OneMore", kText, "abcde", 4, "abcd", "abce"},
        Case{"CountsCodePointsNotBytes", kText, Repeat(kEuro, 5), 4, Repeat(kEuro, 4),
             Repeat(kEuro, 3) + "\xE2\x82\xAD"},
        Case{"CharacterAtTheCutStaysWhole", kText, "aaaaaaaaaaaaaaa" + kEuro + "tail", 16,
             "aaaaaaaaaaaaaaa" + kEuro, "aaaaaaaaaaaaaaa\xE2\x82\xAD"},
        Case{"OneByteBecomesTwo", kText, "a\x7Fz", 2, "a\x7F", "a\xC2\x80"},
        Case{"TwoBytesBecomeThree", kText, "\xDF\xBFz", 1, "\xDF\xBF", "\xE0\xA0\x80"},
        Case{"ThreeBytesBecomeFour", kText, "\xEF\xBF\xBFz", 1, "\xEF\xBF\xBF", "\xF0\x90\x80\x80"},
        Case{"StepsOverSurrogates", kText, "a" + kBeforeSurrogates + "z", 2,
             "a" + kBeforeSurrogates, "a" + kAfterSurrogates},
        Case{"LastCodePointCarries", kText, "a" + kLast + "z", 2, "a" + kLast, "b"},
        Case{"NothingAboveTheLastCodePoint", kText, Repeat(kLast, 20), 16, Repeat(kLast, 16), {}},
        Case{"LastCodePointUncut", kText, kLast, 16, kLast, kLast},
        Case{"NoTextHasNoUpper", kText, "ab\xFFzz", 4, "ab\xFFz", {}},
        Case{"CutCharacterIsNoText", kText, "ab\xE2\x82", 8, "ab\xE2\x82", {}},
        Case{"BinaryShort", kBinary, "\x01\x02", 2, "\x01\x02", "\x01\x02"},
        Case{"BinaryIncrements", kBinary, "\x01\x02\x03", 2, "\x01\x02", "\x01\x03"},
        Case{"BinaryCarries", kBinary, "\x01\xFF\x03", 2, "\x01\xFF", "\x02"},
        Case{"BinaryHasNoUpper", kBinary, "\xFF\xFF\x01", 2, "\xFF\xFF", {}},
        Case{"Fixed", Type::Fixed(3), "\xFE\x01\x01", 1, "\xFE", "\xFF"}),
    [](const auto& test) { return test.param.name; });

// Oracle: whatever the value and the limit, lower <= value <= upper, and neither is longer than
// needed.
TEST(BoundsTest, TrulyBoundRandomText) {
  const std::string points[] = {
      "a", "z", "\x7F", "\xC2\x80", kEuro, kBeforeSurrogates, "\xEF\xBF\xBF", kLast};
  std::uint64_t state = 20240601;
  const auto next = [&](std::uint64_t n) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (state >> 33) % n;
  };
  for (int round = 0; round < 5000; ++round) {
    std::string value;
    const std::uint64_t size = next(6);
    for (std::uint64_t i = 0; i < size; ++i) value += points[next(std::size(points))];
    const int limit = 1 + static_cast<int>(next(5));
    const std::string lower = TruncatedLowerBound(kText, value, limit);
    const auto upper = TruncatedUpperBound(kText, value, limit);
    SCOPED_TRACE(value + " limit " + std::to_string(limit));
    ASSERT_LE(lower, value);
    ASSERT_TRUE(value.starts_with(lower));
    if (upper) {
      ASSERT_GE(*upper, value);
    } else {
      ASSERT_TRUE(value.starts_with(kLast));
    }
  }
}

}  // namespace
}  // namespace icewright
