#include "data/row_text.h"

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/json/from_string.h>
#include <arrow/record_batch.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "data/arrow_schema.h"
#include "data/read_test_table.h"

namespace icewright {
namespace {

struct Case {
  std::string name;
  Type type;
  std::string json;
  std::string expected;  // texts, joined by space
  friend void PrintTo(const Case& c, std::ostream* os) { *os << c.name; }
};

std::string TextsOf(const Type& type, const arrow::Array& array) {
  const ColumnText column(type, *array.data());
  std::string out;
  for (std::int64_t i = 0; i < array.length(); ++i) {
    if (i > 0) out += ' ';
    column.Append(i, out);
  }
  return out;
}

class ColumnTextTest : public ::testing::TestWithParam<Case> {};

TEST_P(ColumnTextTest, WritesValuesAsTheDigestWantsThem) {
  const Case& c = GetParam();
  const auto type = ToArrowType(c.type).value();
  const auto array = arrow::json::ArrayFromJSONString(type, c.json).ValueOrDie();
  EXPECT_EQ(TextsOf(c.type, *array), c.expected);
  // The same through a slice: offsets count.
  if (array->length() < 2) return;
  EXPECT_EQ(TextsOf(c.type, *array->Slice(1)), c.expected.substr(c.expected.find(' ') + 1));
}

Field Part(int id, const std::string& name, Type type) {
  return {.id = FieldId{id}, .name = name, .type = std::move(type)};
}
const Type kLong = Type::Of(TypeId::kLong);
const Type kString = Type::Of(TypeId::kString);

INSTANTIATE_TEST_SUITE_P(
    Table, ColumnTextTest,
    ::testing::Values(
        Case{"Unknown", Type(), "[null, null]", "~ ~"},
        Case{"Boolean", Type::Of(TypeId::kBoolean), "[true, false, null]", "t f ~"},
        Case{"Int", Type::Of(TypeId::kInt), "[-2147483648, 0, null]", "-2147483648 0 ~"},
        Case{"Long", kLong, "[1, -9223372036854775808]", "1 -9223372036854775808"},
        Case{"Float", Type::Of(TypeId::kFloat), "[1, -0.0, NaN, Inf, null]",
             "3f800000 80000000 7fc00000 7f800000 ~"},
        Case{"Double", Type::Of(TypeId::kDouble), "[1, -0.0, NaN, -Inf]",
             "3ff0000000000000 8000000000000000 7ff8000000000000 fff0000000000000"},
        Case{"Decimal", Type::Decimal(9, 2), R"(["1.50", "-0.05", "0.00", null])",
             "1.50 -0.05 0.00 ~"},
        Case{"WholeDecimal", Type::Decimal(38, 0), R"(["0", "-12345678901234567890123456789"])",
             "0 -12345678901234567890123456789"},
        Case{"Date", Type::Of(TypeId::kDate), "[-1, 19000]", "-1 19000"},
        Case{"Time", Type::Of(TypeId::kTime), "[0, 86399999999]", "0 86399999999"},
        Case{"Timestamp", Type::Of(TypeId::kTimestampTz), "[-1, 0]", "-1 0"},
        Case{"String", kString, R"(["", "a|b", "ä", null])", "0: 3:a|b 2:ä ~"},
        Case{"Uuid", Type::Of(TypeId::kUuid), R"(["0123456789abcdef", null])",
             "30313233-3435-3637-3839-616263646566 ~"},
        Case{"Fixed", Type::Fixed(2), R"(["a\n", null])", "610a ~"},
        Case{"Binary", Type::Of(TypeId::kBinary), R"(["", "ab"])", " 6162"},
        Case{"Struct", Type::Struct({Part(1, "a", kLong), Part(2, "b", kString)}),
             R"([{"a": 1, "b": "x"}, null, {"a": null, "b": ""}])", "{1,1:x} ~ {~,0:}"},
        Case{"List", Type::List(Part(1, "element", kLong)), "[[1, null], null, [], [2]]",
             "[1,~] ~ [] [2]"},
        Case{"MapSortedByKeyText", Type::Map(Part(1, "key", kLong), Part(2, "value", kString)),
             R"([[[10, "a"], [9, null], [-1, "b"]], null, [], [[1, "c"]]])",
             "(-1=1:b,10=1:a,9=~) ~ () (1=1:c)"},
        // By UTF-16 units the emoji (surrogates D83D DE00) comes before U+FFFD.
        Case{"MapSortedAsJavaDoes", Type::Map(Part(1, "key", kString), Part(2, "value", kLong)),
             R"([[["\ufffd ", 1], ["😀", 2]]])", "(4:\xF0\x9F\x98\x80=2,4:\xEF\xBF\xBD =1)"},
        Case{"OfEqualKeysTheLast", Type::Map(Part(1, "key", kLong), Part(2, "value", kLong)),
             "[[[1, 10], [2, 20], [1, 11]]]", "(1=11,2=20)"}),
    [](const auto& test) { return test.param.name; });

TEST(ColumnTextTest, EveryNanIsTheSame) {
  arrow::DoubleBuilder builder;
  ASSERT_TRUE(builder.Append(std::nan("7")).ok());
  ASSERT_TRUE(builder.Append(-std::numeric_limits<double>::quiet_NaN()).ok());
  const auto array = builder.Finish().ValueOrDie();
  EXPECT_EQ(TextsOf(Type::Of(TypeId::kDouble), *array), "7ff8000000000000 7ff8000000000000");
}

TEST(RowTextTest, JoinsColumnsAndAppendsTheRest) {
  const auto batch = BatchOf(
      {Col(1, "a", arrow::int64()), Col(2, "b", arrow::utf8()), Col(3, "c", arrow::int64())},
      R"([{"a": 1, "b": "x", "c": 7}, {"a": null, "b": null, "c": null}])");
  const RowText rows({Part(1, "a", kLong), Part(2, "b", kString), Part(3, "c", kLong)}, *batch);
  std::string text;
  rows.Append(0, 0, 2, text);
  EXPECT_EQ(text, "1|1:x");
  rows.Append(0, 2, 3, text);
  EXPECT_EQ(text, "1|1:x|7");
  text.clear();
  rows.Append(1, 0, 3, text);
  EXPECT_EQ(text, "~|~|~");
}

// The digest of one known row: SHA-256("1|1:x") starts with these bytes.
TEST(RowDigestTest, SumsFirstEightBytesOfSha256) {
  ReadTestTable table(MakeTable(MakeSchema({{1, "a", TypeId::kLong}, {2, "b", TypeId::kString}}),
                                {MakeSpec(0, {})}));
  table.AddData("f.parquet", {Col(1, "a", arrow::int64()), Col(2, "b", arrow::utf8())},
                {R"([{"a": 1, "b": "x"}])"});
  RunContext run;
  IW_ASSERT_OK_AND_ASSIGN(const RowDigest once,
                          DigestRows(run, table.io(), table.metadata(), table.tasks()));
  EXPECT_EQ(once.rows, 1);
  EXPECT_EQ(once.digest, 0xd1d0e556a07abc87ULL);
  EXPECT_FALSE(once.lineage_digest.has_value());
  table.tasks().push_back(table.tasks()[0]);
  IW_ASSERT_OK_AND_ASSIGN(const RowDigest twice,
                          DigestRows(run, table.io(), table.metadata(), table.tasks()));
  EXPECT_EQ(twice.rows, 2);
  EXPECT_EQ(twice.digest, 2 * once.digest) << "modulo 2^64";
}

}  // namespace
}  // namespace icewright
