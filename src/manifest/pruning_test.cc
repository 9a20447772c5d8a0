#include "manifest/pruning.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "table/predicate.h"
#include "testing/matchers.h"

namespace icewright {
namespace {

using std::string_literals::operator""s;
using Op = Expression::Op;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr FieldId kI{1}, kS{2}, kD{3}, kU{4}, kL{5};

Type Of(TypeId id) { return Type::Of(id); }

Schema TestSchema() {
  return Schema({Field{.id = kI, .name = "i", .type = Of(TypeId::kInt)},
                 Field{.id = kS, .name = "s", .type = Of(TypeId::kString)},
                 Field{.id = kD, .name = "d", .type = Of(TypeId::kDouble)},
                 Field{.id = kU, .name = "u", .type = Of(TypeId::kUuid)},
                 Field{.id = kL, .name = "l", .type = Of(TypeId::kLong)}});
}

Expression Parsed(const std::string& text) {
  auto parsed = ParseExpression(TestSchema(), text);
  EXPECT_THAT(parsed, IsOk()) << text;
  return *parsed;
}

/// Counts and bounds of one column; what is unset is left out of the file.
struct Metrics {
  FieldId field;
  std::optional<std::int64_t> values = {};
  std::optional<std::int64_t> nulls = {};
  std::optional<std::int64_t> nans = {};
  std::optional<Bytes> lower = {};
  std::optional<Bytes> upper = {};
};

DataFile FileOf(std::vector<Metrics> columns) {
  DataFile file;
  file.record_count = 50;
  std::sort(columns.begin(), columns.end(),
            [](const Metrics& a, const Metrics& b) { return a.field < b.field; });
  for (const Metrics& m : columns) {
    if (m.values) file.value_counts.emplace_back(m.field, *m.values);
    if (m.nulls) file.null_value_counts.emplace_back(m.field, *m.nulls);
    if (m.nans) file.nan_value_counts.emplace_back(m.field, *m.nans);
    if (m.lower) file.lower_bounds.emplace_back(m.field, *m.lower);
    if (m.upper) file.upper_bounds.emplace_back(m.field, *m.upper);
  }
  return file;
}

Bytes IntBytes(std::int32_t value) { return ToBytes(Of(TypeId::kInt), value); }
Bytes DoubleBytes(double value) { return ToBytes(Of(TypeId::kDouble), value); }

/// Each filter with the answer.
using Answers = std::vector<std::pair<std::string, bool>>;

void ExpectOnFile(const DataFile& file, const Answers& answers) {
  for (const auto& [text, expected] : answers) {
    EXPECT_EQ(MayMatch(Parsed(text), TestSchema(), file), expected) << text;
  }
}

TEST(FilePruning, ByBounds) {
  ExpectOnFile(FileOf({{kI, 50, 0, {}, IntBytes(30), IntBytes(79)}}),
               {{"i < 30", false},
                {"i < 31", true},
                {"i <= 29", false},
                {"i <= 30", true},
                {"i > 79", false},
                {"i > 78", true},
                {"i >= 80", false},
                {"i >= 79", true},
                {"i = 29", false},
                {"i = 30", true},
                {"i = 79", true},
                {"i = 80", false},
                {"i != 30", true},
                {"i in (1, 29, 80)", false},
                {"i in (1, 50)", true},
                {"i not in (30, 79)", true},
                {"i is null", false},
                {"i is not null", true},
                {"not (i < 80)", false},
                {"not (i >= 30)", false},
                {"not (i > 79)", true},
                {"i = 1 and i = 50", false},
                {"i = 1 or i = 50", true},
                {"not (i = 50 or i < 80)", false},
                {"not (i is not null)", false},
                {"true", true},
                {"false", false}});
}

TEST(FilePruning, MissingMetricsMayMatch) {
  const Answers all = {{"i < 30", true},
                       {"i = 1", true},
                       {"i is null", true},
                       {"i is not null", true},
                       {"d is nan", true},
                       {"d is not nan", true},
                       {"s like 'a%'", true},
                       {"s not like 'a%'", true},
                       {"u = '00000000-0000-0000-0000-000000000000'", true}};
  ExpectOnFile(FileOf({}), all);
  ExpectOnFile(FileOf({{kI, 50, {}, {}, {}, {}}, {kD, 50, {}, {}, {}, {}}, {kS, 50}}), all);
  ExpectOnFile(FileOf({{kI, {}, 50}, {kD, {}, 50}, {kS, {}, 50}}), all);
  // Counts that contradict each other, or are negative, prove nothing.
  ExpectOnFile(FileOf({{kI, 50, 60}, {kD, 50, 40, 20}, {kS, -1, -1}}), all);
  ExpectOnFile(FileOf({{kI, {}, {}, {}, IntBytes(30), {}}}), {{"i < 30", false}, {"i > 99", true}});
  ExpectOnFile(FileOf({{kI, {}, {}, {}, {}, IntBytes(30)}}), {{"i > 30", false}, {"i < 1", true}});
  ExpectOnFile(FileOf({{kI, {}, {}, {}, "odd", "odd"}}), {{"i = 1", true}, {"i < 1", true}});
}

TEST(FilePruning, NoRowsMatchNothing) {
  DataFile file;
  EXPECT_FALSE(MayMatch(Expression::True(), TestSchema(), file));
}

TEST(FilePruning, AllNull) {
  ExpectOnFile(FileOf({{kI, 50, 50}, {kD, 50, 50}, {kS, 50, 50}}), {{"i is null", true},
                                                                    {"i is not null", false},
                                                                    {"i = 1", false},
                                                                    {"i != 1", false},
                                                                    {"i not in (1, 2)", false},
                                                                    {"i < 1", false},
                                                                    {"d is nan", false},
                                                                    {"d is not nan", false},
                                                                    {"s like 'a%'", false},
                                                                    {"s not like 'a%'", false}});
}

TEST(FilePruning, NanIsOutsideBounds) {
  ExpectOnFile(FileOf({{kD, 50, 0, 50, {}, {}}}), {{"d is nan", true},
                                                   {"d is not nan", false},
                                                   {"d is not null", true},
                                                   {"d = 1", false},
                                                   {"d < 1", false},
                                                   {"d != 1", true}});
  ExpectOnFile(
      FileOf({{kD, 50, 20, 30, {}, {}}}),
      {{"d is nan", true}, {"d is null", true}, {"d is not nan", false}, {"d > 1", false}});
  ExpectOnFile(FileOf({{kD, 50, 0, 0, DoubleBytes(1), DoubleBytes(2)}}),
               {{"d is nan", false}, {"d is not nan", true}, {"d > 2", false}, {"d > 1", true}});
  ExpectOnFile(FileOf({{kD, 50, 0, 3, DoubleBytes(1), DoubleBytes(2)}}),
               {{"d is nan", true}, {"d > 2", false}, {"d = 2", true}});
  // Bounds of old writers: a NaN says nothing.
  ExpectOnFile(FileOf({{kD, 50, 0, {}, DoubleBytes(kNan), DoubleBytes(kNan)}}),
               {{"d = 1", true}, {"d < 1", true}, {"d > 1", true}, {"d in (1, 2)", true}});
  ExpectOnFile(FileOf({{kD, 50, 0, {}, DoubleBytes(5), DoubleBytes(kNan)}}),
               {{"d = 1", false}, {"d < 5", false}, {"d > 100", true}, {"d = 100", true}});
}

TEST(FilePruning, ZeroHasTwoSigns) {
  ExpectOnFile(FileOf({{kD, 50, 0, 0, DoubleBytes(-0.0), DoubleBytes(-0.0)}}),
               {{"d = 0", true}, {"d >= 0", true}, {"d > 0", false}, {"d < 0", false}});
}

TEST(FilePruning, PrefixesOfTruncatedBounds) {
  // Values from "abcde..." to "abzzz...", cut at three: the upper bound is above them all.
  ExpectOnFile(
      FileOf({{kS, 50, 0, {}, "abc", "ab{"}}),
      {{"s like 'a%'", true},       {"s like 'ab%'", true},      {"s like 'abc%'", true},
       {"s like 'abcd%'", true},    {"s like 'abb%'", false},    {"s like 'abbz%'", false},
       {"s like 'aa%'", false},     {"s like 'ac%'", false},     {"s like 'ab{z%'", false},
       {"s like '%'", true},        {"s like 'b%'", false},      {"s not like 'a%'", false},
       {"s not like 'ab%'", false}, {"s not like 'abc%'", true}, {"s not like 'b%'", true},
       {"s = 'abcde'", true},       {"s = 'abb'", false},        {"s < 'abc'", false},
       {"s > 'ab{'", false},        {"s >= 'ab{'", true}});
  ExpectOnFile(FileOf({{kS, 50, 0, {}, "b", "d"}}), {{"s like 'ab%'", false},
                                                     {"s like 'da%'", false},
                                                     {"s like 'd%'", true},
                                                     {"s like 'ca%'", true},
                                                     {"s not like 'bb%'", true}});
  // A value that cannot be incremented has no upper bound.
  ExpectOnFile(FileOf({{kS, 50, 0, {}, "ab", {}}}),
               {{"s like 'aa%'", false}, {"s like 'z%'", true}, {"s not like 'ab%'", true}});
}

TEST(FilePruning, BoundsFromBeforeAPromotion) {
  const DataFile file = FileOf(
      {{kL, 50, 0, {}, IntBytes(30), IntBytes(79)},
       {kD, 50, 0, {}, ToBytes(Of(TypeId::kFloat), 1.5F), ToBytes(Of(TypeId::kFloat), 2.5F)}});
  ExpectOnFile(file, {{"l = 29", false},
                      {"l = 30", true},
                      {"l > 79", false},
                      {"l < 80", true},
                      {"d < 1.5", false},
                      {"d <= 1.5", true},
                      {"d > 2.5", false}});
}

TEST(FilePruning, UuidBoundsMayBeInEitherOrder) {
  const Bytes low = *FromHex("10000000000000000000000000000000");
  const Bytes high = *FromHex("90000000000000000000000000000000");
  const std::string tail = "0000000-0000-0000-0000-000000000000'";
  ExpectOnFile(FileOf({{kU, 50, 0, {}, low, high}}),  // unsigned order
               {{"u = '2" + tail, true}, {"u > 'a" + tail, true}});
  ExpectOnFile(FileOf({{kU, 50, 0, {}, high, low}}),  // signed: from 0x90 over 0xff to 0x10
               {{"u = 'a" + tail, true}, {"u = '0" + tail, true}, {"u = '2" + tail, false}});
  // The same of the second half: here from 0x90 over 0xff to 0x10, with equal first halves.
  const std::string half = "'10000000-0000-0000-";
  ExpectOnFile(FileOf({{kU,
                        50,
                        0,
                        {},
                        *FromHex("10000000000000009000000000000000"),
                        *FromHex("10000000000000001000000000000000")}}),
               {{"u = " + half + "a000-000000000000'", true},
                {"u = " + half + "0000-000000000000'", true},
                {"u = " + half + "2000-000000000000'", false}});
  ExpectOnFile(
      FileOf({{kU, 50, 0, {}, low, low}}),
      {{"u = '2" + tail, false}, {"u = '1" + tail, true}, {"u in ('1" + tail + ")", true}});
}

constexpr FieldId kP{1000}, kQ{1001};

PartitionSpec TestSpec() {
  return {.id = SpecId{0}, .fields = {{{kI}, kP, "p", Transform()}, {{kD}, kQ, "q", Transform()}}};
}

Expression OnP(Op op, std::vector<Literal> literals = {}) {
  return Expression::Predicate(op, kP, Of(TypeId::kInt), std::move(literals));
}
Expression OnQ(Op op, std::vector<Literal> literals = {}) {
  return Expression::Predicate(op, kQ, Of(TypeId::kDouble), std::move(literals));
}

bool OnManifest(const Expression& filter, std::vector<PartitionFieldSummary> summaries) {
  ManifestFile manifest;
  manifest.partitions = std::move(summaries);
  return MayMatch(filter, TestSpec(), Type(), manifest);
}

TEST(ManifestPruning, BySummaries) {
  const PartitionFieldSummary none;
  const PartitionFieldSummary range{false, false, IntBytes(5), IntBytes(9)};
  const PartitionFieldSummary with_null{true, false, IntBytes(5), IntBytes(9)};
  const PartitionFieldSummary all_null{true, false, {}, {}};
  struct Case {
    Expression filter;
    std::string expected;  // for range, with_null, all_null, none
  };
  const Case cases[] = {{OnP(Op::kIsNull), "0110"},
                        {OnP(Op::kNotNull), "1101"},
                        {OnP(Op::kEq, {4}), "0001"},
                        {OnP(Op::kEq, {5}), "1101"},
                        {OnP(Op::kLt, {5}), "0001"},
                        {OnP(Op::kLtEq, {5}), "1101"},
                        {OnP(Op::kGt, {9}), "0001"},
                        {OnP(Op::kGtEq, {9}), "1101"},
                        {OnP(Op::kIn, {1, 4, 10}), "0001"},
                        {OnP(Op::kIn, {1, 7}), "1101"},
                        {OnP(Op::kNotEq, {5}), "1101"},
                        {OnP(Op::kNotIn, {5, 9}), "1101"},
                        {Expression::Not(OnP(Op::kGtEq, {5})), "0001"},
                        {Expression::And(OnP(Op::kEq, {5}), OnP(Op::kIsNull)), "0100"},
                        {Expression::Or(OnP(Op::kEq, {4}), OnP(Op::kIsNull)), "0111"}};
  for (std::size_t i = 0; i < std::size(cases); ++i) {
    std::string result;
    for (const auto& summary : {range, with_null, all_null, none}) {
      result.push_back(OnManifest(cases[i].filter, {summary, none}) ? '1' : '0');
    }
    EXPECT_EQ(result, cases[i].expected) << i;
  }
}

TEST(ManifestPruning, NanInSummaries) {
  const PartitionFieldSummary none;
  const PartitionFieldSummary no_nan{false, false, DoubleBytes(1), DoubleBytes(2)};
  const PartitionFieldSummary only_nan{false, true, {}, {}};
  const PartitionFieldSummary unknown{false, {}, DoubleBytes(1), DoubleBytes(2)};
  const PartitionFieldSummary null_or_nan{true, true, {}, {}};
  const PartitionFieldSummary v1_null{true, {}, {}, {}};
  const std::pair<Expression, std::string> cases[] = {
      {OnQ(Op::kIsNan), "01111"},  {OnQ(Op::kNotNan), "10100"},    {OnQ(Op::kNotNull), "11111"},
      {OnQ(Op::kIsNull), "00011"}, {OnQ(Op::kLt, {9.0}), "10100"}, {OnQ(Op::kGt, {2.0}), "00000"}};
  for (const auto& [filter, expected] : cases) {
    std::string result;
    for (const auto& summary : {no_nan, only_nan, unknown, null_or_nan, v1_null}) {
      result.push_back(OnManifest(filter, {none, summary}) ? '1' : '0');
    }
    EXPECT_EQ(result, expected) << static_cast<int>(filter.op());
  }
}

TEST(ManifestPruning, WhatIsNotThereMayMatch) {
  const Expression filter = OnP(Op::kEq, {4});
  EXPECT_TRUE(MayMatch(filter, TestSpec(), Type(), ManifestFile{}));
  EXPECT_TRUE(OnManifest(filter, {}));
  EXPECT_TRUE(OnManifest(Expression::Predicate(Op::kEq, FieldId{7}, Of(TypeId::kInt), {4}),
                         {{false, false, IntBytes(5), IntBytes(9)}}));
  EXPECT_FALSE(OnManifest(Expression::False(), {}));
}

TEST(PartitionPruning, ByTuple) {
  const PartitionSpec spec = TestSpec();
  const StructValue tuple = {5, {}};
  EXPECT_TRUE(MayMatch(OnP(Op::kEq, {5}), spec, tuple));
  EXPECT_FALSE(MayMatch(OnP(Op::kEq, {6}), spec, tuple));
  EXPECT_TRUE(MayMatch(OnQ(Op::kIsNull), spec, tuple));
  EXPECT_FALSE(MayMatch(OnQ(Op::kEq, {1.0}), spec, tuple));
  EXPECT_FALSE(MayMatch(Expression::And(OnP(Op::kEq, {5}), OnQ(Op::kNotNull)), spec, tuple));
  // A field that the spec or the tuple does not have tells nothing.
  EXPECT_TRUE(MayMatch(OnQ(Op::kEq, {1.0}), spec, StructValue{5}));
  EXPECT_TRUE(
      MayMatch(Expression::Predicate(Op::kEq, FieldId{7}, Of(TypeId::kInt), {4}), spec, tuple));
}

/// Random rows of i, s and d; filters on them; and what a writer would record.
class Sampler {
 public:
  explicit Sampler(std::uint64_t seed) : random_(seed) {}

  std::uint64_t Below(std::uint64_t n) { return random_() % n; }

  Literal Value(FieldId field) {
    if (field == kI) return static_cast<std::int32_t>(Below(12));
    if (field == kD) {
      const double values[] = {-1, -0.0, 0.0, 1, 2, kNan};
      return values[Below(6)];
    }
    std::string text;
    for (auto n = Below(5); n > 0; --n) text.push_back("abz"[Below(3)]);
    return text;
  }

  Expression Filter(int depth) {
    if (depth > 0 && Below(3) != 0) {
      Expression left = Filter(depth - 1);
      if (Below(4) == 0) return Expression::Not(left);
      Expression right = Filter(depth - 1);
      return Below(3) != 0 ? Expression::And(left, right) : Expression::Or(left, right);
    }
    const FieldId field{static_cast<std::int32_t>(1 + Below(3))};
    const Op ops[] = {Op::kIsNull, Op::kNotNull, Op::kLt,    Op::kLtEq, Op::kGt,   Op::kGtEq,
                      Op::kEq,     Op::kEq,      Op::kNotEq, Op::kIn,   Op::kNotIn};
    Op op = ops[Below(11)];
    if (field == kD && Below(4) == 0) op = Below(2) == 0 ? Op::kIsNan : Op::kNotNan;
    if (field == kS && Below(2) == 0) op = Below(2) == 0 ? Op::kStartsWith : Op::kNotStartsWith;
    std::vector<Literal> literals;
    const std::size_t count = op < Op::kLt ? 0 : op == Op::kIn || op == Op::kNotIn ? 2 : 1;
    while (literals.size() < count) {
      Literal value = Value(field);
      if (!IsNan(value)) literals.push_back(std::move(value));
    }
    return Expression::Predicate(op, field, TestSchema().Find(field)->type, std::move(literals));
  }

  /// A column of few distinct values, nulls and NaNs in varying parts.
  std::vector<Literal> Column(FieldId field, std::size_t rows) {
    const auto null_part = Below(3) * 5;  // of 10
    std::vector<Literal> pool;
    for (auto n = 1 + Below(3); n > 0; --n) pool.push_back(Value(field));
    std::vector<Literal> column;
    while (column.size() < rows) {
      column.push_back(Below(10) < null_part ? Literal() : pool[Below(pool.size())]);
    }
    return column;
  }

  Metrics Measure(FieldId field, const std::vector<Literal>& column) {
    const Type type = TestSchema().Find(field)->type;
    Metrics m{field};
    std::int64_t nulls = 0, nans = 0;
    std::vector<Literal> values;
    for (const Literal& value : column) {
      nulls += IsNull(value);
      nans += IsNan(value);
      if (!IsNull(value) && !IsNan(value)) values.push_back(value);
    }
    if (Below(5) != 0) m.values = static_cast<std::int64_t>(column.size());
    if (Below(5) != 0) m.nulls = nulls;
    if (field == kD && Below(5) != 0) m.nans = nans;
    if (values.empty()) return m;
    const auto [low, high] = std::minmax_element(
        values.begin(), values.end(),
        [&type](const Literal& a, const Literal& b) { return Compare(type, a, b) < 0; });
    if (Below(5) != 0) m.lower = ToBytes(type, *low);
    if (Below(5) != 0) m.upper = ToBytes(type, *high);
    if (field != kS || Below(2) == 0) return m;
    const auto width = 1 + Below(3);
    if (m.lower) m.lower->resize(std::min<std::size_t>(m.lower->size(), width));
    if (m.upper && m.upper->size() > width) {
      m.upper->resize(width);
      ++m.upper->back();
    }
    return m;
  }

 private:
  std::mt19937_64 random_;
};

TEST(PruningOracle, NeverPrunesAFileOrManifestWithAMatch) {
  const Schema schema = TestSchema();
  // The same columns as partition fields: a manifest of one-row partitions.
  PartitionSpec spec;
  for (const FieldId field : {kI, kS, kD}) {
    spec.fields.push_back({{field}, field, "p" + ToString(field), Transform()});
  }
  Sampler sampler(42);
  int matching = 0, pruned_files = 0, pruned_manifests = 0;
  for (int round = 0; round < 20'000; ++round) {
    const std::size_t rows = 1 + sampler.Below(6);
    std::vector<Metrics> metrics;
    std::vector<std::vector<Literal>> columns;
    ManifestFile manifest;
    manifest.partitions.emplace();
    for (const FieldId field : {kI, kS, kD}) {
      columns.push_back(sampler.Column(field, rows));
      metrics.push_back(sampler.Measure(field, columns.back()));
      PartitionFieldSummary summary{false,
                                    sampler.Below(3) != 0 ? std::optional(false) : std::nullopt,
                                    metrics.back().lower, metrics.back().upper};
      for (const Literal& value : columns.back()) {
        summary.contains_null |= IsNull(value);
        if (IsNan(value) && summary.contains_nan) summary.contains_nan = true;
      }
      // Summaries always have bounds if there is a value: the sampler left some out.
      for (const Literal& value : columns.back()) {
        if (summary.lower_bound || IsNull(value) || IsNan(value)) continue;
        summary.lower_bound = field == kS ? ""s : ToBytes(Of(TypeId::kInt), -9);
        if (field == kD) summary.lower_bound = DoubleBytes(-9);
      }
      manifest.partitions->push_back(summary);
    }
    const DataFile file = FileOf(std::move(metrics));
    const Expression filter = sampler.Filter(3);
    bool any = false;
    for (std::size_t row = 0; row < rows; ++row) {
      const StructValue tuple = {columns[0][row], columns[1][row], columns[2][row]};
      const bool matches = Evaluate(filter, [&tuple](FieldId field) {
        return tuple[static_cast<std::size_t>(Raw(field) - 1)];
      });
      EXPECT_EQ(MayMatch(filter, spec, tuple), matches);
      any |= matches;
    }
    const bool may_file = MayMatch(filter, schema, file);
    const bool may_manifest = MayMatch(filter, spec, spec.PartitionType(schema), manifest);
    ASSERT_TRUE(!any || may_file) << round << ' ' << filter.ToString(schema);
    ASSERT_TRUE(!any || may_manifest) << round << ' ' << filter.ToString(schema);
    matching += any;
    pruned_files += !may_file;
    pruned_manifests += !may_manifest;
  }
  // The filters are neither trivial nor useless.
  EXPECT_GT(matching, 5'000);
  EXPECT_GT(pruned_files, 4'000);
  EXPECT_GT(pruned_manifests, 4'000);
}

}  // namespace
}  // namespace icewright
