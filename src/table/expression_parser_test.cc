#include <limits>
#include <map>

#include "table/expression.h"
#include "testing/matchers.h"

namespace icewright {
namespace {

using std::string_literals::operator""s;

Type Of(TypeId id) { return Type::Of(id); }

Schema FlightSchema() {
  int id = 0;
  const auto column = [&id](std::string name, Type type, bool required = false) {
    return Field{.id = FieldId{++id}, .name = std::move(name), .required = required, .type = type};
  };
  std::vector<Field> fields = {column("month", Of(TypeId::kInt)),
                               column("carrier", Of(TypeId::kString)),
                               column("delay", Of(TypeId::kDouble)),
                               column("flight_id", Of(TypeId::kLong), true),
                               column("price", Type::Decimal(5, 2)),
                               column("day", Of(TypeId::kDate)),
                               column("at", Of(TypeId::kTimestampTz)),
                               column("clock", Of(TypeId::kTime)),
                               column("late", Of(TypeId::kBoolean)),
                               column("key", Of(TypeId::kUuid)),
                               column("raw", Of(TypeId::kBinary)),
                               column("odd name", Of(TypeId::kInt)),
                               column("a.b", Of(TypeId::kInt)),
                               column("ratio", Of(TypeId::kFloat)),
                               column("\xc3\xa9t\xc3\xa9", Of(TypeId::kInt)),
                               column("local", Of(TypeId::kTimestamp))};
  fields.push_back(column("place", Type::Struct({column("city", Of(TypeId::kString), true)})));
  fields.push_back(column("stops", Type::List(column("element", Of(TypeId::kInt)))));
  return Schema(std::move(fields));
}

struct Case {
  std::string text;
  std::string parsed;  // as Expression::ToString
};

TEST(ParseExpression, Grammar) {
  const Schema schema = FlightSchema();
  const Case cases[] = {
      {"month = 3 and carrier in ('UA','AA')", "month = 3 and carrier in ('AA', 'UA')"},
      {"month=3", "month = 3"},
      {"month == 3", "month = 3"},
      {"month <> 3", "month != 3"},
      {"month != -3", "month != -3"},
      {"month<+3", "month < 3"},
      {"3 < month", "month > 3"},
      {"3 <= month", "month >= 3"},
      {"3 > month", "month < 3"},
      {"3 >= month", "month <= 3"},
      {"3 = month", "month = 3"},
      {"MONTH", "?"},
      {"month in (3)", "month = 3"},
      {"month not in (1, 2)", "not (month in (1, 2))"},
      {"month between 1 and 3 and delay > 0", "month >= 1 and month <= 3 and delay > 0.0"},
      {"month not between 1 and 3", "not (month >= 1 and month <= 3)"},
      {"carrier IS NULL", "carrier is null"},
      {"carrier is Not null", "carrier is not null"},
      {"delay is nan", "delay is nan"},
      {"delay is not nan", "delay is not nan"},
      {"carrier like 'U%'", "carrier like 'U%'"},
      {"carrier not like 'U%'", "not (carrier like 'U%')"},
      {"carrier like 'UA'", "carrier = 'UA'"},
      {"carrier like '%'", "carrier like '%'"},
      {"carrier like '50\\%%'", "carrier like '50\\%%'"},
      {"carrier like 'a\\_b'", "carrier = 'a_b'"},
      {"true", "true"},
      {"FALSE", "false"},
      {"not true", "false"},
      {"true and month = 1", "month = 1"},
      {"month = 1 or month = 2 and month = 3", "month = 1 or (month = 2 and month = 3)"},
      {"(month = 1 or month = 2) and month = 3", "(month = 1 or month = 2) and month = 3"},
      {"not month = 1 and month = 2", "(not (month = 1)) and month = 2"},
      {"not not month = 1", "month = 1"},
      {"not (month = 1)", "not (month = 1)"},
      {"((month = 1))", "month = 1"},
      {"late", "late = true"},
      {"not late", "not (late = true)"},
      {"late and month = 1", "late = true and month = 1"},
      {"(late)", "late = true"},
      {"late = false", "late = false"},
      {"true = late", "late = true"},
      {"late = 'TRUE'", "late = true"},
      {"\"odd name\" = 1", "\"odd name\" = 1"},
      {"`odd name` = 1", "\"odd name\" = 1"},
      {"\"a.b\" = 1", "a.b = 1"},
      {"a.b = 1", "a.b = 1"},
      {"place.city = 'NY'", "place.city = 'NY'"},
      {"\"place\".`city` = 'NY'", "place.city = 'NY'"},
      {"\xc3\xa9t\xc3\xa9 = 1", "\xc3\xa9t\xc3\xa9 = 1"},
      {"carrier = 'it''s'", "carrier = 'it''s'"},
      {"carrier = ''", "carrier = ''"},
      {"price = 1.5", "price = 1.50"},
      {"price >= 1e2", "price >= 100.00"},
      {"price < .5", "price < 0.50"},
      {"month = 5.0", "month = 5"},
      {"month = '5'", "month = 5"},
      {"delay = 1", "delay = 1.0"},
      {"delay < 'Infinity'", "delay < 'Infinity'"},
      {"ratio = 1.1", "ratio = 1.1"},
      {"day >= '2024-01-31'", "day >= '2024-01-31'"},
      {"day >= DATE '2024-01-31'", "day >= '2024-01-31'"},
      {"at < '2024-01-31'", "at < '2024-01-31T00:00:00+00:00'"},
      {"at < timestamp '2024-01-31 01:00:00+01:00'", "at < '2024-01-31T00:00:00+00:00'"},
      {"local < '2024-01-31T10:00:00.5'", "local < '2024-01-31T10:00:00.5'"},
      {"clock = '22:31'", "clock = '22:31'"},
      {"key = 'F79C3E09-677C-4BBD-A479-3F349CB785E7'",
       "key = 'f79c3e09-677c-4bbd-a479-3f349cb785e7'"},
      {"raw = X'00FF'", "raw = X'00ff'"},
      {"raw = '00ff'", "raw = X'00ff'"}};
  for (const Case& c : cases) {
    const auto parsed = ParseExpression(schema, c.text);
    if (c.parsed == "?") {
      EXPECT_THAT(parsed, HasCode(Code::kInvalidArgument)) << c.text;
      continue;
    }
    ASSERT_THAT(parsed, IsOk()) << c.text;
    EXPECT_EQ(parsed->ToString(schema), c.parsed) << c.text;
    // The text of an expression is itself a filter.
    IW_ASSERT_OK_AND_ASSIGN(const Expression again, ParseExpression(schema, c.parsed));
    EXPECT_EQ(again.ToString(schema), c.parsed);
  }
}

TEST(ParseExpression, NumbersOutOfRangeFold) {
  const Schema schema = FlightSchema();
  const Case cases[] = {{"month < 3000000000", "month is not null"},
                        {"month <= 3000000000", "month is not null"},
                        {"month != 3000000000", "month is not null"},
                        {"month > 3000000000", "false"},
                        {"month >= 3000000000", "false"},
                        {"month = 3000000000", "false"},
                        {"month > -3000000000", "month is not null"},
                        {"month < -3000000000", "false"},
                        {"month in (3000000000)", "false"},
                        {"month in (3000000000, 1, 2)", "month in (1, 2)"},
                        {"price < 1000", "price is not null"},
                        {"price > 1000", "false"},
                        {"flight_id < 9223372036854775808", "true"},
                        {"flight_id > 9223372036854775808", "false"},
                        {"not (month > 3000000000)", "not (month is null)"},
                        {"not (month < 3000000000)", "false"},
                        {"month not in (3000000000)", "not (month is null)"},
                        {"not (flight_id > 9223372036854775808)", "true"},
                        {"month between 1 and 3000000000", "month >= 1 and month is not null"}};
  for (const Case& c : cases) {
    const auto parsed = ParseExpression(schema, c.text);
    ASSERT_THAT(parsed, IsOk()) << c.text;
    EXPECT_EQ(parsed->ToString(schema), c.parsed) << c.text;
  }
  // Whatever a comparison folds to, a null matches neither it nor its opposite.
  for (const std::string test : {"month < 3000000000", "month > 3000000000",
                                 "month in (3000000000)", "month != 3000000000"}) {
    for (const std::string& text : {test, "not (" + test + ")"}) {
      IW_ASSERT_OK_AND_ASSIGN(const Expression e, ParseExpression(schema, text));
      EXPECT_FALSE(Evaluate(e, [](FieldId) { return Literal(); })) << text;
    }
  }
}

TEST(ParseExpression, ErrorsNamePositionAndReason) {
  const Schema schema = FlightSchema();
  const Case cases[] = {
      {"", "position 1: expected a column, but the text ends"},
      {"month", "position 6: expected a comparison after column 'month', but the text ends"},
      {"month =", "position 8: expected a literal, but the text ends"},
      {"month = carrier", "position 9: expected a literal, not 'carrier'"},
      {"month not 3", "position 11: expected a comparison after column 'month', not '3'"},
      {"late not", "position 9: expected a comparison after column 'late', but the text ends"},
      {"month = 3 carrier = 'A'", "position 11: expected 'and', 'or' or the end, not 'carrier'"},
      {"carrier 'UA'", "position 9: expected a comparison after column 'carrier', not 'UA'"},
      {"(month = 3", "position 11: expected ')', but the text ends"},
      {"month = 3)", "position 10: expected 'and', 'or' or the end, not ')'"},
      {"month in 3", "position 10: expected '(', not '3'"},
      {"month in ()", "position 11: expected a literal, not ')'"},
      {"month in (3", "position 12: expected ',' or ')', but the text ends"},
      {"month is 3", "position 10: expected 'null' or 'nan', not '3'"},
      {"month between 1 or 3", "position 17: expected 'and', not 'or'"},
      {"3 = 3", "position 5: expected a column, not '3'"},
      {"3", "position 2: expected a comparison such as = or <, but the text ends"},
      {"and", "position 1: expected a column, not 'and'"},
      {"month. = 3", "position 8: expected a column, not '='"},
      {"month = 'x", "position 9: the closing ' is missing"},
      {"\"month = 3", "position 1: the closing \" is missing"},
      {"month = 3 ; drop", "position 11: unexpected character ';'"},
      {"month = 3e", "position 9: a number without digits after the e"},
      {"3rd = 1", "position 1: names that start with a digit need double quotes"},
      {"month = null", "position 9: nothing compares with null: write is null"},
      {"month in (1, null)", "position 14: nothing compares with null: write is null"},
      {"delay = nan", "position 9: nothing compares with NaN: write is nan"},
      {"delay = 'NaN'", "position 9: nothing compares with NaN: write delay is nan"},
      {"month is nan", "position 1: column 'month' (int) has no NaN"},
      {"carier = 'UA'", "position 1: unknown column 'carier'; did you mean 'carrier'?"},
      {"month = 1 and dlay > 2", "position 15: unknown column 'dlay'; did you mean 'delay'?"},
      {"CARRIER = 'UA'", "position 1: unknown column 'CARRIER'; did you mean 'carrier'?"},
      {"place.town = 'NY'", "position 1: unknown column 'place.town'; did you mean 'place.city'?"},
      {"qqqqqqqqqqqqqqqqqqqq = 1", "position 1: unknown column 'qqqqqqqqqqqqqqqqqqqq'"},
      {"place is null",
       "position 1: column 'place' is no primitive: struct<17: city: required string>"},
      {"stops.element = 1", "position 1: column 'stops.element' is inside a list or map"},
      {"month = 'abc'", "position 9: cannot compare column 'month' (int) with 'abc'"},
      {"month = 1.5", "position 9: cannot compare column 'month' (int) with 1.5"},
      {"month = true", "position 9: cannot compare column 'month' (int) with true"},
      {"carrier = 5", "position 11: cannot compare column 'carrier' (string) with 5"},
      {"carrier = X'00'", "position 11: cannot compare column 'carrier' (string) with 00"},
      {"price = 1.005", "position 9: cannot compare column 'price' (decimal(5, 2)) with 1.005"},
      {"day = 17486", "position 7: cannot compare column 'day' (date) with 17486"},
      {"day = '2024-02-30'", "position 7: cannot compare column 'day' (date) with '2024-02-30'"},
      {"local = '2024-01-31T00:00:00Z'",
       "position 9: cannot compare column 'local' (timestamp) with '2024-01-31T00:00:00Z'"},
      {"late = 1", "position 8: cannot compare column 'late' (boolean) with 1"},
      {"key = 'f79c'", "position 7: cannot compare column 'key' (uuid) with 'f79c'"},
      {"raw = X'0'", "position 7: cannot compare column 'raw' (binary) with 0"},
      {"carrier like 5", "position 14: expected a pattern such as 'abc%', not '5'"},
      {"carrier like '%x'", "position 14: like takes a prefix only, such as 'abc%'; \\ escapes"},
      {"carrier like 'a_%'", "position 14: like takes a prefix only, such as 'abc%'; \\ escapes"},
      {"carrier like 'a\\'", "position 14: like takes a prefix only, such as 'abc%'; \\ escapes"},
      {"month like '1%'", "position 12: like takes strings, but column 'month' is int"}};
  for (const Case& c : cases) {
    EXPECT_THAT(ParseExpression(schema, c.text),
                HasError(Code::kInvalidArgument, "filter, " + c.parsed))
        << c.text;
  }
}

TEST(ParseExpression, NamesInAnyCaseIfAsked) {
  const Schema schema = FlightSchema();
  IW_ASSERT_OK_AND_ASSIGN(const Expression e, ParseExpression(schema, "MONTH = 1", false));
  EXPECT_EQ(e.ToString(schema), "month = 1");
  const Schema twins({Field{.id = FieldId{1}, .name = "a", .type = Of(TypeId::kInt)},
                      Field{.id = FieldId{2}, .name = "A", .type = Of(TypeId::kInt)}});
  EXPECT_THAT(ParseExpression(twins, "a = 1", false),
              HasError(Code::kInvalidArgument,
                       "filter, position 1: column 'a' is ambiguous without regard to case"));
  EXPECT_THAT(ParseExpression(twins, "A = 1"), IsOk());
}

TEST(ParseExpression, DeepNestingIsAnErrorAndLongChainsAreNot) {
  const Schema schema = FlightSchema();
  EXPECT_THAT(ParseExpression(schema, std::string(100, '(') + "late" + std::string(100, ')')),
              IsOk());
  EXPECT_THAT(ParseExpression(schema, std::string(100000, '(')),
              HasError(Code::kInvalidArgument, "filter, position 201: nested too deeply"));
  std::string nots;
  for (int i = 0; i < 1000; ++i) nots += "not ";
  EXPECT_THAT(ParseExpression(schema, nots + "late"), HasCode(Code::kInvalidArgument));

  std::string chain = "month = 0";
  for (int i = 1; i < 50000; ++i) chain += " or month = " + std::to_string(i);
  IW_ASSERT_OK_AND_ASSIGN(const Expression e, ParseExpression(schema, chain));
  EXPECT_TRUE(Evaluate(e, [](FieldId) { return Literal(49999); }));
  EXPECT_FALSE(Evaluate(e, [](FieldId) { return Literal(50000); }));
}

}  // namespace
}  // namespace icewright
