#include <limits>
#include <random>

#include "table/expression.h"
#include "table/predicate.h"
#include "testing/matchers.h"

namespace icewright {
namespace {

using std::string_literals::operator""s;
using Op = Expression::Op;

constexpr FieldId kX{1};
constexpr FieldId kP{1000};

Type Of(TypeId id) { return Type::Of(id); }

Schema SourceSchema(const Type& type) {
  return Schema({Field{.id = kX, .name = "x", .type = type}});
}

PartitionSpec SpecOf(const Transform& transform) {
  return {.id = SpecId{0}, .fields = {{{kX}, kP, "p", transform}}};
}

struct Case {
  std::string transform;
  Type type;
  std::string filter;
  std::string inclusive;
  std::string strict;
};

void ExpectProjections(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    const std::string name = c.transform + " of " + c.type.ToString() + ": " + c.filter;
    const Schema schema = SourceSchema(c.type);
    const Transform transform = Transform::Parse(c.transform);
    const PartitionSpec spec = SpecOf(transform);
    const Schema partition({Field{.id = kP, .name = "p", .type = transform.ResultType(c.type)}});
    IW_ASSERT_OK_AND_ASSIGN(const Expression filter, ParseExpression(schema, c.filter));
    EXPECT_EQ(ProjectInclusive(filter, schema, spec).ToString(partition), c.inclusive) << name;
    EXPECT_EQ(ProjectStrict(filter, schema, spec).ToString(partition), c.strict) << name;
  }
}

TEST(Projection, Identity) {
  const Type type = Of(TypeId::kDouble);
  ExpectProjections(
      {{"identity", type, "x is null", "p is null", "p is null"},
       {"identity", type, "x is nan", "p is nan", "p is nan"},
       {"identity", type, "x < 1", "p < 1.0", "p < 1.0"},
       {"identity", type, "x in (1, 2)", "p in (1.0, 2.0)", "p in (1.0, 2.0)"},
       {"identity", type, "not (x = 1)", "p != 1.0", "p != 1.0"},
       {"identity", Of(TypeId::kString), "x like 'a%'", "p like 'a%'", "p like 'a%'"}});
}

TEST(Projection, BucketKnowsEqualityOnly) {
  const Type type = Of(TypeId::kInt);  // 34 hashes to 2017239379: bucket 3 of 16
  ExpectProjections({{"bucket[16]", type, "x = 34", "p = 3", "false"},
                     {"bucket[16]", type, "x in (34, 34)", "p = 3", "false"},
                     {"bucket[16]", type, "x != 34", "true", "p != 3"},
                     {"bucket[16]", type, "x not in (34, 34)", "true", "p != 3"},
                     {"bucket[16]", type, "x < 34", "true", "false"},
                     {"bucket[16]", type, "x >= 34", "true", "false"},
                     {"bucket[16]", type, "x is null", "p is null", "p is null"},
                     {"bucket[16]", type, "x is not null", "p is not null", "p is not null"}});
}

TEST(Projection, TruncatedNumbers) {
  const Type type = Of(TypeId::kInt);
  ExpectProjections(
      {{"truncate[10]", type, "x < 20", "p <= 10 or p = 2147483646", "p < 20"},
       {"truncate[10]", type, "x < 21", "p <= 20 or p = 2147483646", "p < 20"},
       {"truncate[10]", type, "x <= 19", "p <= 10 or p = 2147483646", "p < 20"},
       {"truncate[10]", type, "x <= 20", "p <= 20 or p = 2147483646", "p < 20"},
       {"truncate[10]", type, "x > 19", "p >= 20", "p > 10 and p != 2147483646"},
       {"truncate[10]", type, "x > 18", "p >= 10", "p > 10 and p != 2147483646"},
       {"truncate[10]", type, "x >= 20", "p >= 20", "p > 10 and p != 2147483646"},
       {"truncate[10]", type, "x >= 21", "p >= 20", "p > 20 and p != 2147483646"},
       {"truncate[10]", type, "x < -5", "p <= -10 or p = 2147483646", "p < -10"},
       {"truncate[10]", type, "x = 25", "p = 20", "false"},
       {"truncate[10]", type, "x in (25, 26, 31)", "p in (20, 30)", "false"},
       {"truncate[10]", type, "x != 25", "true", "p != 20"},
       {"truncate[10]", type, "x not in (25, 31)", "true", "p not in (20, 30)"},
       {"truncate[10]", type, "x > 2147483647", "false", "p > 2147483640 and p != 2147483646"},
       {"truncate[10]", type, "x <= 2147483647", "p <= 2147483640 or p = 2147483646",
        "p is not null"},
       {"truncate[10]", Type::Decimal(9, 2), "x < 1.00", "p <= 0.90", "p < 1.00"},
       {"truncate[10]", Of(TypeId::kLong), "x is null", "p is null", "p is null"}});
}

// The lowest values of a whole number have no multiple below them: they are stored as a large one.
TEST(Projection, TruncatedNumbersNearTheLowest) {
  const Type type = Of(TypeId::kInt);
  ExpectProjections(
      {{"truncate[10]", type, "x < -2147483645", "p <= 2147483646 or p = 2147483646", "false"},
       {"truncate[10]", type, "x <= -2147483648", "p <= 2147483646 or p = 2147483646", "false"},
       {"truncate[10]", type, "x > -2147483648", "p is not null", "false"},
       {"truncate[10]", type, "x >= -2147483641", "p is not null", "false"},
       {"truncate[10]", type, "x >= -2147483640", "p >= -2147483640",
        "p > 2147483646 and p != 2147483646"},
       {"truncate[10]", type, "x = -2147483645", "p = 2147483646", "false"},
       {"truncate[10]", type, "x != -2147483645", "true", "p != 2147483646"},
       // Every value has a multiple of 16 at or below it.
       {"truncate[16]", type, "x < 32", "p <= 16", "p < 32"},
       {"truncate[16]", type, "x > -2147483648", "p >= -2147483648", "p > -2147483648"},
       {"truncate[10]", Of(TypeId::kLong), "x < 20", "p <= 10 or p = 9223372036854775806",
        "p < 20"}});
}

TEST(Projection, TruncatedStrings) {
  const Type type = Of(TypeId::kString);
  ExpectProjections(
      {{"truncate[3]", type, "x < 'abcd'", "p <= 'abc'", "p < 'abc'"},
       {"truncate[3]", type, "x >= 'abcd'", "p >= 'abc'", "p > 'abc'"},
       {"truncate[3]", type, "x = 'abcd'", "p = 'abc'", "false"},
       {"truncate[3]", type, "x in ('abcd', 'abce', 'b')", "p in ('abc', 'b')", "false"},
       {"truncate[3]", type, "x != 'abcd'", "true", "p != 'abc'"},
       {"truncate[3]", type, "x not in ('abcd', 'b')", "true", "p not in ('abc', 'b')"},
       {"truncate[3]", type, "x like 'ab%'", "p like 'ab%'", "p like 'ab%'"},
       {"truncate[3]", type, "x like 'abc%'", "p = 'abc'", "p = 'abc'"},
       {"truncate[3]", type, "x like 'abcd%'", "p = 'abc'", "false"},
       {"truncate[3]", type, "x not like 'ab%'", "p not like 'ab%'", "p not like 'ab%'"},
       {"truncate[3]", type, "x not like 'abc%'", "p != 'abc'", "p != 'abc'"},
       {"truncate[3]", type, "x not like 'abcd%'", "true", "p != 'abc'"},
       // Three code points, five bytes.
       {"truncate[3]", type, "x like '\xc3\xa9\xc3\xa9z%'", "p = '\xc3\xa9\xc3\xa9z'",
        "p = '\xc3\xa9\xc3\xa9z'"},
       {"truncate[3]", Of(TypeId::kBinary), "x = X'00010203'", "p = X'000102'", "false"}});
}

TEST(Projection, PartsOfTimes) {
  const Type ts = Of(TypeId::kTimestamp), date = Of(TypeId::kDate);
  ExpectProjections(
      {{"day", ts, "x < '2017-11-16'", "p <= '2017-11-15'", "p < '2017-11-16'"},
       {"day", ts, "x < '2017-11-16T00:00:00.000001'", "p <= '2017-11-16'", "p < '2017-11-16'"},
       {"day", ts, "x <= '2017-11-16'", "p <= '2017-11-16'", "p < '2017-11-16'"},
       {"day", ts, "x <= '2017-11-16T23:59:59.999999'", "p <= '2017-11-16'", "p < '2017-11-17'"},
       {"day", ts, "x > '2017-11-16'", "p >= '2017-11-16'", "p > '2017-11-16'"},
       {"day", ts, "x > '2017-11-16T23:59:59.999999'", "p >= '2017-11-17'", "p > '2017-11-16'"},
       {"day", ts, "x >= '2017-11-16'", "p >= '2017-11-16'", "p > '2017-11-15'"},
       {"day", ts, "x = '2017-11-16T10:00:00'", "p = '2017-11-16'", "false"},
       {"day", ts, "x != '2017-11-16T10:00:00'", "true", "p != '2017-11-16'"},
       {"hour", ts, "x >= '2017-11-16T22:30:00'", "p >= 419686", "p > 419686"},
       {"month", date, "x >= '2017-11-16'", "p >= 574", "p > 574"},
       {"month", date, "x < '2017-11-01'", "p <= 573", "p < 574"},
       {"year", date, "x >= '2017-01-01'", "p >= 47", "p > 46"},
       {"year", date, "x in ('2017-01-01', '2018-01-01')", "p in (47, 48)", "false"},
       {"year", date, "x is not null", "p is not null", "p is not null"},
       {"day", date, "x < '2017-11-16'", "p <= '2017-11-15'", "p < '2017-11-16'"},
       {"day", date, "x > '1969-12-01'", "p >= '1969-12-02'", "p > '1969-12-01'"}});
}

/// Old writers stored December 1969 as month 0: times before 1970 may lie one partition higher.
TEST(Projection, PartsOfTimesBefore1970AllowForOldWriters) {
  const Type ts = Of(TypeId::kTimestamp), date = Of(TypeId::kDate);
  ExpectProjections({{"month", ts, "x < '1970-01-01'", "p <= 0", "p < 0"},
                     {"month", ts, "x <= '1969-11-05'", "p <= -1", "p < -2"},
                     {"month", ts, "x > '1969-11-05'", "p >= -2", "p > -1"},
                     {"month", ts, "x = '1969-11-05'", "p in (-2, -1)", "false"},
                     {"month", ts, "x != '1969-11-05'", "true", "p not in (-2, -1)"},
                     {"day", date, "x = '1969-11-05'", "p = '1969-11-05'", "false"},
                     {"year", date, "x = '1969-11-05'", "p in (-1, 0)", "false"}});
}

TEST(Projection, VoidAndUnknownTellNothing) {
  const Type type = Of(TypeId::kInt);
  for (const std::string transform : {"void", "zorder"}) {
    ExpectProjections({{transform, type, "x = 1", "true", "false"},
                       {transform, type, "x is null", "true", "false"}});
  }
}

TEST(Projection, CombinesFieldsAndSides) {
  const Schema schema({Field{.id = kX, .name = "x", .type = Of(TypeId::kInt)},
                       Field{.id = FieldId{2}, .name = "y", .type = Of(TypeId::kInt)}});
  const PartitionSpec spec{.id = SpecId{0},
                           .fields = {{{kX}, kP, "p", Transform::Truncate(10)},
                                      {{kX}, FieldId{1001}, "q", Transform::Bucket(16)}}};
  const Schema partition({Field{.id = kP, .name = "p", .type = Of(TypeId::kInt)},
                          Field{.id = FieldId{1001}, .name = "q", .type = Of(TypeId::kInt)}});
  const std::tuple<std::string, std::string, std::string> cases[] = {
      {"x = 34", "p = 30 and q = 3", "false"},
      {"x != 34", "true", "p != 30 or q != 3"},
      {"x > 29 and y = 1", "p >= 30", "false"},
      {"x > 29 or y = 1", "true", "p > 20 and p != 2147483646"},
      {"not (x > 29 and y = 1)", "true", "p < 30"},
      {"true", "true", "true"},
      {"false", "false", "false"}};
  for (const auto& [text, inclusive, strict] : cases) {
    IW_ASSERT_OK_AND_ASSIGN(const Expression filter, ParseExpression(schema, text));
    EXPECT_EQ(ProjectInclusive(filter, schema, spec).ToString(partition), inclusive) << text;
    EXPECT_EQ(ProjectStrict(filter, schema, spec).ToString(partition), strict) << text;
  }
}

/// Random values around few points, so that filters hit and boundaries are met.
class Sampler {
 public:
  explicit Sampler(std::uint64_t seed) : random_(seed) {}

  std::uint64_t Below(std::uint64_t n) { return random_() % n; }

  template <typename Int>
  Int AtAnEnd() {
    const auto step = static_cast<Int>(Below(15));
    if (Below(3) == 0) return static_cast<Int>(std::numeric_limits<Int>::max() - step);
    return static_cast<Int>(std::numeric_limits<Int>::min() + step);
  }

  Literal Value(const Type& type) {
    switch (type.id()) {
      case TypeId::kInt:
        if (Below(4) == 0) return AtAnEnd<std::int32_t>();
        [[fallthrough]];
      case TypeId::kDate:
        return static_cast<std::int32_t>(Below(80)) - 40;
      case TypeId::kLong:
        if (Below(4) == 0) return AtAnEnd<std::int64_t>();
        return static_cast<std::int64_t>(Below(80)) - 40;
      case TypeId::kDecimal:
        return Int128{static_cast<std::int64_t>(Below(80)) - 40};
      case TypeId::kTimestamp:
        return (static_cast<std::int64_t>(Below(60)) - 30) * 1'800'000'000 +
               static_cast<std::int64_t>(Below(3)) - 1;
      case TypeId::kTimestampNs:
        return (static_cast<std::int64_t>(Below(60)) - 30) * 43'200'000'000'000 +
               static_cast<std::int64_t>(Below(3)) - 1;
      case TypeId::kDouble: {
        const double values[] = {-1, -0.0, 0.0, 1, std::numeric_limits<double>::quiet_NaN()};
        return values[Below(5)];
      }
      default: {
        static const std::string kLetters[] = {"a", "b", "\xc3\xa9", "z"};
        std::string text;
        for (auto n = Below(5); n > 0; --n)
          text += kLetters[Below(type.id() == TypeId::kString ? 4 : 2)];
        return text;
      }
    }
  }

  Expression Filter(const Type& type, int depth) {
    if (depth > 0 && Below(2) == 0) {
      Expression left = Filter(type, depth - 1);
      if (Below(4) == 0) return Expression::Not(left);
      Expression right = Filter(type, depth - 1);
      return Below(2) == 0 ? Expression::And(left, right) : Expression::Or(left, right);
    }
    const Op ops[] = {Op::kIsNull, Op::kNotNull, Op::kLt,         Op::kLtEq,         Op::kGt,
                      Op::kGtEq,   Op::kEq,      Op::kNotEq,      Op::kIn,           Op::kNotIn,
                      Op::kIsNan,  Op::kNotNan,  Op::kStartsWith, Op::kNotStartsWith};
    const bool text = type.id() == TypeId::kString;
    const bool floating = type.id() == TypeId::kDouble;
    Op op = ops[Below(14)];
    while ((!text && op >= Op::kStartsWith) ||
           (!floating && (op == Op::kIsNan || op == Op::kNotNan))) {
      op = ops[Below(14)];
    }
    std::vector<Literal> literals;
    if (op >= Op::kLt) {
      const auto count = op == Op::kIn || op == Op::kNotIn ? 1 + Below(4) : 1;
      while (literals.size() < count) {
        Literal value = Value(type);
        if (!IsNan(value)) literals.push_back(std::move(value));
      }
    }
    return Expression::Predicate(op, kX, type, std::move(literals));
  }

 private:
  std::mt19937_64 random_;
};

/// What an old writer stored for a time before 1970: rounded towards zero.
Literal OldTimePart(const Transform& transform, const Type& type, const Literal& value,
                    const Literal& right) {
  const auto kind = transform.kind();
  if (kind < Transform::Kind::kYear || kind > Transform::Kind::kHour) return right;
  if (kind == Transform::Kind::kDay && type.id() == TypeId::kDate) return right;
  const auto* part = std::get_if<std::int32_t>(&right);
  if (part == nullptr || *part >= 0) return right;
  // A value at the very start of its partition was not rounded.
  const auto& source = value;
  Literal before = source;
  if (auto* v = std::get_if<std::int32_t>(&before)) --*v;
  if (auto* v = std::get_if<std::int64_t>(&before)) --*v;
  const auto below = transform.Apply(type, before);
  return below && *below != right ? right : Literal(*part + 1);
}

TEST(Projection, InclusiveNeverMissesAndStrictNeverClaimsTooMuch) {
  const std::pair<std::string, Type> kinds[] = {
      {"identity", Of(TypeId::kInt)},       {"identity", Of(TypeId::kDouble)},
      {"identity", Of(TypeId::kString)},    {"bucket[3]", Of(TypeId::kInt)},
      {"bucket[3]", Of(TypeId::kString)},   {"bucket[3]", Of(TypeId::kTimestampNs)},
      {"truncate[7]", Of(TypeId::kInt)},    {"truncate[10]", Of(TypeId::kLong)},
      {"truncate[5]", Type::Decimal(9, 2)}, {"truncate[2]", Of(TypeId::kString)},
      {"truncate[2]", Of(TypeId::kBinary)}, {"year", Of(TypeId::kDate)},
      {"month", Of(TypeId::kDate)},         {"day", Of(TypeId::kDate)},
      {"day", Of(TypeId::kTimestamp)},      {"hour", Of(TypeId::kTimestamp)},
      {"day", Of(TypeId::kTimestampNs)},    {"void", Of(TypeId::kInt)}};
  int matched = 0, ruled_out = 0, sure = 0;
  for (const auto& [text, type] : kinds) {
    const Transform transform = Transform::Parse(text);
    const Schema schema = SourceSchema(type);
    const PartitionSpec spec = SpecOf(transform);
    Sampler sampler(std::hash<std::string>()(text));
    for (int round = 0; round < 400; ++round) {
      const Expression filter = sampler.Filter(type, 3);
      const Expression inclusive = ProjectInclusive(filter, schema, spec);
      const Expression strict = ProjectStrict(filter, schema, spec);
      for (int row = 0; row < 40; ++row) {
        const Literal value = sampler.Below(10) == 0 ? Literal() : sampler.Value(type);
        IW_ASSERT_OK_AND_ASSIGN(Literal partition, transform.Apply(type, value));
        if (row % 2 == 1) partition = OldTimePart(transform, type, value, partition);
        const auto of_row = [&value](FieldId) { return value; };
        const auto of_partition = [&partition](FieldId) { return partition; };
        const bool matches = Evaluate(filter, of_row);
        const bool may = Evaluate(inclusive, of_partition);
        const bool must = Evaluate(strict, of_partition);
        const std::string what = text + ": " + filter.ToString(schema) + " on " +
                                 ToHuman(type, value) + " in " + transform.ToHuman(type, partition);
        ASSERT_TRUE(!matches || may) << what;
        ASSERT_TRUE(!must || matches) << what;
        matched += matches;
        ruled_out += !may;
        sure += must;
      }
    }
  }
  // The filters are neither trivial nor useless.
  EXPECT_GT(matched, 50'000);
  EXPECT_GT(ruled_out, 50'000);
  EXPECT_GT(sure, 20'000);
}

}  // namespace
}  // namespace icewright
