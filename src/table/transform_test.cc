#include "table/transform.h"

#include <limits>

#include "table/murmur3.h"
#include "testing/matchers.h"

namespace icewright {
namespace {

using std::string_literals::operator""s;
using Kind = Transform::Kind;

Type Of(TypeId id) { return Type::Of(id); }

TEST(Transform, ParsesWhatItKnowsAndKeepsWhatNot) {
  struct Case {
    std::string text;
    Kind kind;
    int parameter;
    std::string canonical;
  };
  const Case cases[] = {{"identity", Kind::kIdentity, 0, "identity"},
                        {"bucket[16]", Kind::kBucket, 16, "bucket[16]"},
                        {"BUCKET[004]", Kind::kBucket, 4, "bucket[4]"},
                        {"truncate[4]", Kind::kTruncate, 4, "truncate[4]"},
                        {"year", Kind::kYear, 0, "year"},
                        {"month", Kind::kMonth, 0, "month"},
                        {"Day", Kind::kDay, 0, "day"},
                        {"hour", Kind::kHour, 0, "hour"},
                        {"void", Kind::kVoid, 0, "void"},
                        {"days", Kind::kUnknown, 0, "days"},
                        {"Zorder(a)", Kind::kUnknown, 0, "Zorder(a)"},
                        {"bucket[0]", Kind::kUnknown, 0, "bucket[0]"},
                        {"bucket[-1]", Kind::kUnknown, 0, "bucket[-1]"},
                        {"bucket[ 4]", Kind::kUnknown, 0, "bucket[ 4]"},
                        {"bucket[99999999999]", Kind::kUnknown, 0, "bucket[99999999999]"},
                        {"bucket[", Kind::kUnknown, 0, "bucket["},
                        {"bucket]", Kind::kUnknown, 0, "bucket]"},
                        {"bucket", Kind::kUnknown, 0, "bucket"},
                        {"", Kind::kUnknown, 0, ""}};
  for (const Case& c : cases) {
    const Transform transform = Transform::Parse(c.text);
    EXPECT_EQ(transform.kind(), c.kind) << c.text;
    EXPECT_EQ(transform.parameter(), c.parameter) << c.text;
    EXPECT_EQ(transform.text(), c.canonical);
    EXPECT_EQ(transform, Transform::Parse(c.canonical));
  }
  EXPECT_EQ(Transform(), Transform::Of(Kind::kIdentity));
  EXPECT_EQ(Transform::Bucket(16), Transform::Parse("bucket[16]"));
  EXPECT_EQ(Transform::Truncate(4), Transform::Parse("truncate[4]"));
  EXPECT_FALSE(Transform::Bucket(4) == Transform::Bucket(5));
}

/// The hash vectors of the spec's Appendix B, seen through a bucket count above every hash.
TEST(Transform, BucketHashesAsTheSpecSays) {
  constexpr int kMax = std::numeric_limits<std::int32_t>::max();
  struct Case {
    Type type;
    Literal value;
    std::int32_t hash;
  };
  const std::int64_t instant = 1510871468000000;  // 2017-11-16T22:31:08
  const Case cases[] = {
      {Of(TypeId::kInt), 34, 2017239379},
      {Of(TypeId::kLong), std::int64_t{34}, 2017239379},
      {Type::Decimal(9, 2), Int128{1420}, -500754589},
      {Of(TypeId::kDate), 17486, -653330422},
      {Of(TypeId::kTime), std::int64_t{81068000000}, -662762989},
      {Of(TypeId::kTimestamp), instant, -2047944441},
      {Of(TypeId::kTimestampTz), instant, -2047944441},
      {Of(TypeId::kTimestamp), instant + 1, -1207196810},
      {Of(TypeId::kTimestampNs), instant * 1000, -2047944441},
      {Of(TypeId::kTimestampTzNs), instant * 1000 + 999, -2047944441},
      {Of(TypeId::kString), "iceberg"s, 1210000089},
      {Of(TypeId::kUuid), *FromHex("f79c3e09677c4bbda4793f349cb785e7"), 1488055340},
      {Type::Fixed(4), "\x00\x01\x02\x03"s, -188683207},
      {Of(TypeId::kBinary), "\x00\x01\x02\x03"s, -188683207}};
  for (const Case& c : cases) {
    EXPECT_THAT(Transform::Bucket(kMax).Apply(c.type, c.value),
                IsOkAndHolds(Literal((c.hash & kMax) % kMax)))
        << c.type.ToString();
    EXPECT_THAT(Transform::Bucket(16).Apply(c.type, c.value),
                IsOkAndHolds(Literal((c.hash & kMax) % 16)));
  }
}

TEST(Transform, Murmur3TakesEveryTailLength) {
  // Published vectors of murmur3_x86_32 with seed 0.
  EXPECT_EQ(static_cast<std::uint32_t>(Murmur3("")), 0U);
  EXPECT_EQ(static_cast<std::uint32_t>(Murmur3("a")), 0x3c2569b2U);
  EXPECT_EQ(static_cast<std::uint32_t>(Murmur3("ab")), 0x9bbfd75fU);
  EXPECT_EQ(static_cast<std::uint32_t>(Murmur3("abc")), 0xb3dd93faU);
  EXPECT_EQ(static_cast<std::uint32_t>(Murmur3("abcd")), 0x43ed676aU);
  EXPECT_EQ(static_cast<std::uint32_t>(Murmur3("\xff\xff\xff\xff")), 0x76293b50U);
}

struct ApplyCase {
  std::string transform;
  Type type;
  Literal value;
  Literal result;
  std::string human;
};

TEST(Transform, AppliesAndShows) {
  const std::int64_t us = 1510871468123456;  // 2017-11-16T22:31:08.123456
  const Type ts = Of(TypeId::kTimestamp), tz = Of(TypeId::kTimestampTz);
  const Type ns = Of(TypeId::kTimestampNs), date = Of(TypeId::kDate);
  const ApplyCase cases[] = {
      {"identity", Of(TypeId::kString), "x"s, "x"s, "x"},
      {"identity", Of(TypeId::kBinary), "\x00\x01"s, "\x00\x01"s, "AAE="},
      {"identity", ts, us, us, "2017-11-16T22:31:08.123456"},
      {"identity", date, 17486, 17486, "2017-11-16"},
      {"void", Of(TypeId::kInt), 5, {}, "null"},
      {"year", date, 17486, 47, "2017"},
      {"year", date, -1, -1, "1969"},
      {"year", date, -719529, -1971, "-001"},
      {"year", ts, us, 47, "2017"},
      {"year", ts, std::int64_t{-1}, -1, "1969"},
      {"month", date, 17486, 574, "2017-11"},
      {"month", date, -1, -1, "1969-12"},
      {"month", tz, us, 574, "2017-11"},
      {"month", date, -719529, -23641, "-001-12"},
      {"day", date, 17486, 17486, "2017-11-16"},
      {"day", ts, us, 17486, "2017-11-16"},
      {"day", ts, std::int64_t{-1}, -1, "1969-12-31"},
      {"day", ns, us * 1000, 17486, "2017-11-16"},
      {"day", ns, std::int64_t{-1}, -1, "1969-12-31"},
      {"hour", ts, us, 419686, "2017-11-16-22"},
      {"hour", ts, std::int64_t{-1}, -1, "1969-12-31-23"},
      {"hour", ns, us * 1000 + 999, 419686, "2017-11-16-22"},
      {"hour", ts, std::int64_t{0}, 0, "1970-01-01-00"},
      {"truncate[10]", Of(TypeId::kInt), 1, 0, "0"},
      {"truncate[10]", Of(TypeId::kInt), -1, -10, "-10"},
      {"truncate[10]", Of(TypeId::kInt), -10, -10, "-10"},
      {"truncate[10]", Of(TypeId::kLong), std::int64_t{-11}, std::int64_t{-20}, "-20"},
      {"truncate[10]", Of(TypeId::kLong), std::int64_t{19}, std::int64_t{10}, "10"},
      // Wraps around below the smallest value, as Java does.
      {"truncate[10]", Of(TypeId::kInt), std::numeric_limits<std::int32_t>::min(), 2147483646,
       "2147483646"},
      {"truncate[50]", Type::Decimal(9, 2), Int128{1065}, Int128{1050}, "10.50"},
      {"truncate[10]", Type::Decimal(9, 2), Int128{-5}, Int128{-10}, "-0.10"},
      {"truncate[3]", Of(TypeId::kString), "iceberg"s, "ice"s, "ice"},
      {"truncate[3]", Of(TypeId::kString), "ab"s, "ab"s, "ab"},
      {"truncate[2]", Of(TypeId::kString), "\xc3\xa9\xf0\x9f\x8d\x8c!"s,
       "\xc3\xa9\xf0\x9f\x8d\x8c"s, "\xc3\xa9\xf0\x9f\x8d\x8c"},
      {"truncate[2]", Of(TypeId::kBinary), "\xc3\xa9\xf0"s, "\xc3\xa9"s, "w6k="},
      {"bucket[16]", date, 17486, 10, "10"}};
  for (const ApplyCase& c : cases) {
    const Transform transform = Transform::Parse(c.transform);
    const std::string name = c.transform + " of " + ToHuman(c.type, c.value);
    EXPECT_THAT(transform.Apply(c.type, c.value), IsOkAndHolds(c.result)) << name;
    EXPECT_EQ(transform.ToHuman(c.type, c.result), c.human) << name;
    EXPECT_THAT(transform.Apply(c.type, {}), IsOkAndHolds(Literal())) << name;
    EXPECT_EQ(transform.ToHuman(c.type, {}), "null");
  }
}

TEST(Transform, TakesTheTypesThatJavaTakes) {
  const Type types[] = {Of(TypeId::kBoolean),       Of(TypeId::kInt),
                        Of(TypeId::kLong),          Of(TypeId::kFloat),
                        Of(TypeId::kDouble),        Of(TypeId::kDate),
                        Of(TypeId::kTime),          Of(TypeId::kTimestamp),
                        Of(TypeId::kTimestampTz),   Of(TypeId::kTimestampNs),
                        Of(TypeId::kTimestampTzNs), Of(TypeId::kString),
                        Of(TypeId::kUuid),          Type::Fixed(4),
                        Of(TypeId::kBinary),        Type::Decimal(9, 2),
                        Of(TypeId::kUnknown),       Type::Geometry(),
                        Of(TypeId::kVariant)};
  const std::pair<std::string, std::string> cases[] = {
      {"identity", "1111111111111111100"},    {"bucket[4]", "0110011111111111000"},
      {"truncate[4]", "0110000000010011000"}, {"year", "0000010111100000000"},
      {"month", "0000010111100000000"},       {"day", "0000010111100000000"},
      {"hour", "0000000111100000000"},        {"void", "1111111111111111111"},
      {"odd", "1111111111111111111"}};
  for (const auto& [text, expected] : cases) {
    std::string taken;
    for (const Type& type : types) {
      taken.push_back(Transform::Parse(text).CanTransform(type) ? '1' : '0');
    }
    EXPECT_EQ(taken, expected) << text;
  }
}

TEST(Transform, RefusesWhatItCannotDo) {
  EXPECT_THAT(Transform::Parse("odd").Apply(Of(TypeId::kInt), 1),
              HasError(Code::kUnsupported, "unknown transform 'odd'"));
  EXPECT_THAT(Transform::Parse("odd").Apply(Of(TypeId::kInt), {}), HasCode(Code::kUnsupported));
  EXPECT_THAT(Transform::Parse("hour").Apply(Of(TypeId::kDate), 1),
              HasError(Code::kInvalidArgument, "transform hour does not take type date"));
  EXPECT_THAT(Transform::Bucket(4).Apply(Of(TypeId::kInt), true),
              HasError(Code::kInvalidArgument, "transform bucket[4]: the value is no int"));
}

TEST(Transform, ResultTypesAndOrder) {
  const Type ts = Of(TypeId::kTimestamp);
  EXPECT_EQ(Transform::Bucket(4).ResultType(ts), Of(TypeId::kInt));
  EXPECT_EQ(Transform::Parse("year").ResultType(ts), Of(TypeId::kInt));
  EXPECT_EQ(Transform::Parse("month").ResultType(ts), Of(TypeId::kInt));
  EXPECT_EQ(Transform::Parse("day").ResultType(ts), Of(TypeId::kDate));
  EXPECT_EQ(Transform::Parse("hour").ResultType(ts), Of(TypeId::kInt));
  EXPECT_EQ(Transform().ResultType(ts), ts);
  EXPECT_EQ(Transform::Parse("void").ResultType(ts), ts);
  EXPECT_EQ(Transform::Truncate(4).ResultType(Type::Decimal(9, 2)), Type::Decimal(9, 2));
  EXPECT_EQ(Transform::Parse("odd").ResultType(ts), Of(TypeId::kString));
  for (const std::string text : {"identity", "truncate[4]", "year", "month", "day", "hour"}) {
    EXPECT_TRUE(Transform::Parse(text).preserves_order()) << text;
  }
  for (const std::string text : {"bucket[4]", "void", "odd"}) {
    EXPECT_FALSE(Transform::Parse(text).preserves_order()) << text;
  }
}

}  // namespace
}  // namespace icewright
