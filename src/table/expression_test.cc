#include "table/expression.h"

#include <cmath>
#include <limits>
#include <map>

#include "table/predicate.h"
#include "testing/matchers.h"

namespace icewright {
namespace {

using std::string_literals::operator""s;
using Op = Expression::Op;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr FieldId kA{1}, kB{2}, kS{3}, kD{4};

Type Of(TypeId id) { return Type::Of(id); }

Schema TestSchema() {
  return Schema({Field{.id = kA, .name = "a", .type = Of(TypeId::kInt)},
                 Field{.id = kB, .name = "b", .type = Of(TypeId::kInt)},
                 Field{.id = kS, .name = "odd name", .type = Of(TypeId::kString)},
                 Field{.id = kD, .name = "d", .type = Of(TypeId::kDouble)}});
}

Expression A(Op op, std::vector<Literal> literals = {}) {
  return Expression::Predicate(op, kA, Of(TypeId::kInt), std::move(literals));
}
Expression B(Op op, std::vector<Literal> literals = {}) {
  return Expression::Predicate(op, kB, Of(TypeId::kInt), std::move(literals));
}

bool On(const Expression& e, std::map<FieldId, Literal> row) {
  return Evaluate(e, [&row](FieldId id) { return row[id]; });
}

/// Each operator on values below, at and above the literals, on null and on NaN.
TEST(Predicate, TruthTable) {
  struct Case {
    Op op;
    std::vector<Literal> literals;
    std::string expected;  // of null, NaN, 1.0, 2.0, 3.0
  };
  const Case cases[] = {
      {Op::kIsNull, {}, "10000"},     {Op::kNotNull, {}, "01111"},
      {Op::kIsNan, {}, "01000"},      {Op::kNotNan, {}, "00111"},
      {Op::kLt, {2.0}, "00100"},      {Op::kLtEq, {2.0}, "00110"},
      {Op::kGt, {2.0}, "00001"},      {Op::kGtEq, {2.0}, "00011"},
      {Op::kEq, {2.0}, "00010"},      {Op::kNotEq, {2.0}, "01101"},
      {Op::kIn, {1.0, 3.0}, "00101"}, {Op::kNotIn, {1.0, 3.0}, "01010"},
  };
  const std::vector<Literal> values = {{}, kNan, 1.0, 2.0, 3.0};
  for (const Case& c : cases) {
    std::string result;
    for (const Literal& v : values) result.push_back(Matches(c.op, c.literals, v) ? '1' : '0');
    EXPECT_EQ(result, c.expected) << static_cast<int>(c.op);
  }
}

TEST(Predicate, NegationIsTheOppositeOfAllButNullAndNan) {
  const std::vector<Literal> values = {1.0, 2.0, 3.0};
  for (const Op op : {Op::kIsNull, Op::kNotNull, Op::kIsNan, Op::kNotNan, Op::kLt, Op::kLtEq,
                      Op::kGt, Op::kGtEq, Op::kEq, Op::kNotEq, Op::kIn, Op::kNotIn}) {
    EXPECT_EQ(Negated(Negated(op)), op);
    for (const Literal& value : values) {
      EXPECT_NE(Matches(op, {2.0}, value), Matches(Negated(op), {2.0}, value));
    }
  }
  EXPECT_EQ(Negated(Op::kStartsWith), Op::kNotStartsWith);
  EXPECT_EQ(Negated(Op::kNotStartsWith), Op::kStartsWith);
}

TEST(Predicate, Prefixes) {
  EXPECT_TRUE(Matches(Op::kStartsWith, {"ab"s}, "abc"s));
  EXPECT_TRUE(Matches(Op::kStartsWith, {"ab"s}, "ab"s));
  EXPECT_FALSE(Matches(Op::kStartsWith, {"ab"s}, "a"s));
  EXPECT_FALSE(Matches(Op::kStartsWith, {"ab"s}, {}));
  EXPECT_TRUE(Matches(Op::kNotStartsWith, {"ab"s}, "b"s));
  EXPECT_FALSE(Matches(Op::kNotStartsWith, {"ab"s}, "abc"s));
  EXPECT_FALSE(Matches(Op::kNotStartsWith, {"ab"s}, {}));
}

TEST(Predicate, OrderBridgesPromotionsAndZeros) {
  EXPECT_EQ(OrderInPredicate(1, std::int64_t{1}), std::partial_ordering::equivalent);
  EXPECT_EQ(OrderInPredicate(1, std::int64_t{1} << 40), std::partial_ordering::less);
  EXPECT_EQ(OrderInPredicate(2.0, 1.5F), std::partial_ordering::greater);
  EXPECT_EQ(OrderInPredicate(0.0, -0.0), std::partial_ordering::equivalent);
  EXPECT_EQ(OrderInPredicate(kNan, kNan), std::partial_ordering::unordered);
  EXPECT_EQ(OrderInPredicate(1, "1"s), std::partial_ordering::unordered);
  EXPECT_EQ(OrderInPredicate("\x7f"s, "\x80"s), std::partial_ordering::less);
  EXPECT_EQ(OrderInPredicate(Int128{-1}, Int128{1} << 100), std::partial_ordering::less);
}

TEST(Expression, ConstantsFold) {
  const Expression a = A(Op::kIsNull);
  EXPECT_TRUE(Expression().is_true());
  EXPECT_TRUE(Expression::And(Expression::False(), a).is_false());
  EXPECT_EQ(Expression::And(Expression::True(), a).op(), Op::kIsNull);
  EXPECT_EQ(Expression::And(a, Expression::True()).op(), Op::kIsNull);
  EXPECT_TRUE(Expression::Or(a, Expression::True()).is_true());
  EXPECT_EQ(Expression::Or(Expression::False(), a).op(), Op::kIsNull);
  EXPECT_TRUE(Expression::Not(Expression::True()).is_false());
  EXPECT_TRUE(Expression::Not(Expression::False()).is_true());
  EXPECT_EQ(Expression::Not(Expression::Not(a)).op(), Op::kIsNull);
}

TEST(Expression, ListsAreSortedWithoutDoubles) {
  EXPECT_EQ(A(Op::kIn, {3, 1, 3, 2}).literals(), (std::vector<Literal>{1, 2, 3}));
  EXPECT_EQ(A(Op::kIn, {3, 3}).op(), Op::kEq);
  EXPECT_EQ(A(Op::kNotIn, {3}).op(), Op::kNotEq);
  EXPECT_TRUE(A(Op::kIn, {}).is_false());
  EXPECT_TRUE(A(Op::kNotIn, {}).is_true());
}

TEST(Expression, EvaluatesLikeWhere) {
  const Expression both = Expression::And(A(Op::kGt, {1}), B(Op::kLt, {5}));
  const Expression either = Expression::Or(A(Op::kGt, {1}), B(Op::kLt, {5}));
  EXPECT_TRUE(On(both, {{kA, 2}, {kB, 4}}));
  EXPECT_FALSE(On(both, {{kA, 2}, {kB, 5}}));
  EXPECT_FALSE(On(both, {{kA, 1}, {kB, 4}}));
  EXPECT_TRUE(On(either, {{kA, 2}, {kB, 5}}));
  EXPECT_TRUE(On(either, {{kA, 1}, {kB, 4}}));
  EXPECT_FALSE(On(either, {{kA, 1}, {kB, 5}}));
  EXPECT_TRUE(On(Expression::True(), {}));
  EXPECT_FALSE(On(Expression::False(), {}));
  // A null matches neither a predicate nor its opposite.
  EXPECT_FALSE(On(A(Op::kEq, {1}), {}));
  EXPECT_FALSE(On(Expression::Not(A(Op::kEq, {1})), {}));
  EXPECT_TRUE(On(Expression::Not(A(Op::kNotNull)), {}));
  EXPECT_FALSE(On(Expression::Not(either), {{kA, 1}}));
  EXPECT_TRUE(On(Expression::Not(either), {{kA, 1}, {kB, 5}}));
  EXPECT_FALSE(On(Expression::Not(both), {{kA, 2}, {kB, 4}}));
  EXPECT_TRUE(On(Expression::Not(both), {{kA, 1}}));
}

TEST(Expression, WithoutNotIsTheSameFilter) {
  const Expression e = Expression::Not(Expression::Or(
      Expression::And(A(Op::kLt, {1}), Expression::Not(B(Op::kIn, {1, 2}))), B(Op::kIsNull)));
  const Expression pushed = e.WithoutNot();
  EXPECT_EQ(pushed.ToString(TestSchema()), "(a >= 1 or b in (1, 2)) and b is not null");
  for (const Literal& a : {Literal(), Literal(0), Literal(1)}) {
    for (const Literal& b : {Literal(), Literal(0), Literal(1), Literal(2)}) {
      EXPECT_EQ(On(e, {{kA, a}, {kB, b}}), On(pushed, {{kA, a}, {kB, b}}));
    }
  }
}

TEST(Expression, FieldsAreThoseOfPredicates) {
  const Expression e = Expression::Not(
      Expression::Or(Expression::And(B(Op::kIsNull), A(Op::kIsNull)), A(Op::kNotNull)));
  EXPECT_THAT(e.Fields(), ::testing::ElementsAre(kA, kB));
  EXPECT_THAT(Expression::True().Fields(), ::testing::IsEmpty());
}

TEST(Expression, TextQuotesWhatNeedsIt) {
  const Schema schema = TestSchema();
  const Type text = Of(TypeId::kString);
  EXPECT_EQ(Expression::Predicate(Op::kEq, kS, text, {"it's"s}).ToString(schema),
            "\"odd name\" = 'it''s'");
  EXPECT_EQ(Expression::Predicate(Op::kStartsWith, kS, text, {"50%_"s}).ToString(schema),
            "\"odd name\" like '50\\%\\_%'");
  EXPECT_EQ(Expression::Predicate(Op::kLt, kD, Of(TypeId::kDouble), {1e7}).ToString(schema),
            "d < 1.0E7");
  EXPECT_EQ(Expression::Predicate(Op::kEq, FieldId{1000}, Of(TypeId::kInt), {5}).ToString(schema),
            "field_1000 = 5");
  EXPECT_EQ(Expression::Not(A(Op::kIsNull)).ToString(schema), "not (a is null)");
  EXPECT_EQ(Expression::True().ToString(schema), "true");
  EXPECT_EQ(Expression::False().ToString(schema), "false");
  EXPECT_EQ(
      Expression::Or(Expression::And(A(Op::kLtEq, {1}), A(Op::kGtEq, {0})), A(Op::kNotEq, {7}))
          .ToString(schema),
      "(a <= 1 and a >= 0) or a != 7");
}

}  // namespace
}  // namespace icewright
