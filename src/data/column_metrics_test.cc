#include "data/column_metrics.h"

#include <arrow/builder.h>

#include <cmath>
#include <limits>

#include "data/write_test_table.h"
#include "table/literal.h"

namespace icewright {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

DataFile MetricsOf(const Schema& schema,
                   const std::vector<std::shared_ptr<arrow::RecordBatch>>& batches,
                   const Properties& properties = {}) {
  auto config = MetricsConfig::Make(properties, schema, {});
  EXPECT_THAT(config, IsOk());
  ColumnMetrics metrics(schema, *config);
  for (const auto& batch : batches) EXPECT_THAT(metrics.Update(*batch), IsOk());
  DataFile file;
  metrics.Finish(file);
  return file;
}

// "lower..upper" of a column, as people read values.
std::string BoundsOf(const Schema& schema, const DataFile& file, int column) {
  const FieldId id{column};
  const Type& type = schema.Find(id)->type;
  const auto text = [&](const Bytes* bytes) -> std::string {
    if (bytes == nullptr) return "-";
    auto value = FromBytes(type, *bytes);
    EXPECT_THAT(value, IsOk());
    return ToHuman(type, *value);
  };
  return text(FindColumn(file.lower_bounds, id)) + ".." + text(FindColumn(file.upper_bounds, id));
}

TEST(ColumnMetricsTest, BoundsOfEveryPrimitiveType) {
  const Schema schema = PrimitiveSchema();
  const DataFile file = MetricsOf(schema, {RowsOf(schema, R"([
    [true, 5, -7, 1.5, -2.5, 10, 1000000, 0, 0, "m", "aaaaaaaaaaaaaaaa", "abc", "x", "1.50", "-2.500", "3.0000000000"],
    [null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null]])"),
                                           RowsOf(schema, R"([
    [true, -5, 7, 0.5, 2.5, -10, 0, 1, 1000000, "a", "zzzzzzzzzzzzzzzz", "abd", "", "-0.01", "9.999", "-1234567890123456789012345678.0000000001"]])")});
  const char* want[] = {
      "true..true",
      "-5..5",
      "-7..7",
      "0.5..1.5",
      "-2.5..2.5",
      "1969-12-22..1970-01-11",
      "00:00..00:00:01",
      "1970-01-01T00:00:00..1970-01-01T00:00:00.000001",
      "1970-01-01T00:00:00+00:00..1970-01-01T00:00:01+00:00",
      "a..m",
      "61616161-6161-6161-6161-616161616161..7a7a7a7a-7a7a-7a7a-7a7a-7a7a7a7a7a7a",
      "YWJj..YWJk",
      "..eA==",
      "-0.01..1.50",
      "-2.500..9.999",
      "-1234567890123456789012345678.0000000001..3.0000000000"};
  for (int column = 1; column <= 16; ++column) {
    EXPECT_EQ(BoundsOf(schema, file, column), want[column - 1]) << column;
    EXPECT_EQ(*FindColumn(file.value_counts, FieldId{column}), 3) << column;
    EXPECT_EQ(*FindColumn(file.null_value_counts, FieldId{column}), 1) << column;
  }
  EXPECT_THAT(file.nan_value_counts, ElementsAre(Pair(FieldId{4}, 0), Pair(FieldId{5}, 0)));
}

Schema Floats() { return MakeSchema({{1, "f", TypeId::kFloat}, {2, "d", TypeId::kDouble}}); }

std::shared_ptr<arrow::RecordBatch> FloatRows(const std::vector<double>& values) {
  arrow::FloatBuilder floats;
  arrow::DoubleBuilder doubles;
  for (const double value : values) {
    EXPECT_TRUE(floats.Append(static_cast<float>(value)).ok());
    EXPECT_TRUE(doubles.Append(value).ok());
  }
  auto schema = ToArrowSchema(Floats());
  return arrow::RecordBatch::Make(*schema, static_cast<std::int64_t>(values.size()),
                                  {*floats.Finish(), *doubles.Finish()});
}

struct FloatCase {
  std::string name;
  std::vector<double> values;
  std::int64_t nans;
  std::string bounds;
};

class FloatMetricsTest : public ::testing::TestWithParam<FloatCase> {};

TEST_P(FloatMetricsTest, LeavesOutNanAndOrdersZeros) {
  const FloatCase& c = GetParam();
  const DataFile file = MetricsOf(Floats(), {FloatRows(c.values)});
  for (const int column : {1, 2}) {
    EXPECT_EQ(*FindColumn(file.nan_value_counts, FieldId{column}), c.nans);
    EXPECT_EQ(BoundsOf(Floats(), file, column), c.bounds);
  }
}

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

INSTANTIATE_TEST_SUITE_P(
    Table, FloatMetricsTest,
    ::testing::Values(FloatCase{"NanBetween", {3.0, kNan, 3.0}, 1, "3.0..3.0"},
                      FloatCase{"NanFirst", {kNan, -1.0, 2.0}, 1, "-1.0..2.0"},
                      FloatCase{"NegativeNan", {-kNan, 1.0}, 1, "1.0..1.0"},
                      FloatCase{"OnlyNan", {kNan, kNan}, 2, "-..-"},
                      FloatCase{"BothZeros", {0.0, -0.0}, 0, "-0.0..0.0"},
                      FloatCase{"OnlyNegativeZero", {-0.0}, 0, "-0.0..-0.0"},
                      FloatCase{"OnlyPositiveZero", {0.0}, 0, "0.0..0.0"},
                      FloatCase{"Infinities", {kInf, 1.0, -kInf}, 0, "-Infinity..Infinity"},
                      FloatCase{"Negatives", {-1.0, -2.0}, 0, "-2.0..-1.0"},
                      FloatCase{"None", {}, 0, "-..-"}),
    [](const auto& test) { return test.param.name; });

TEST(ColumnMetricsTest, ModesDecideWhatIsKept) {
  const Schema schema = MakeSchema({{1, "none", TypeId::kString},
                                    {2, "counts", TypeId::kString},
                                    {3, "four", TypeId::kString},
                                    {4, "full", TypeId::kString},
                                    {5, "nan", TypeId::kDouble}});
  const DataFile file = MetricsOf(
      schema,
      {RowsOf(schema, R"([["abcdefghijklmnopqrst", "abcdefghijklmnopqrst", "abcdefghijklmnopqrst",
                           "abcdefghijklmnopqrst", NaN]])")},
      {{"write.metadata.metrics.column.none", "none"},
       {"write.metadata.metrics.column.counts", "counts"},
       {"write.metadata.metrics.column.four", "truncate(4)"},
       {"write.metadata.metrics.column.full", "full"},
       {"write.metadata.metrics.column.nan", "counts"}});
  EXPECT_THAT(file.value_counts, ElementsAre(Pair(FieldId{2}, 1), Pair(FieldId{3}, 1),
                                             Pair(FieldId{4}, 1), Pair(FieldId{5}, 1)));
  EXPECT_THAT(file.lower_bounds,
              ElementsAre(Pair(FieldId{3}, "abcd"), Pair(FieldId{4}, "abcdefghijklmnopqrst")));
  EXPECT_THAT(file.upper_bounds,
              ElementsAre(Pair(FieldId{3}, "abce"), Pair(FieldId{4}, "abcdefghijklmnopqrst")));
  EXPECT_THAT(file.nan_value_counts, ElementsAre(Pair(FieldId{5}, 1)));
}

TEST(ColumnMetricsTest, StructFieldsYesRepeatedFieldsNo) {
  const Schema schema = NestedSchema();
  const DataFile file = MetricsOf(schema, {RowsOf(schema, R"([
      [1, ["ann", 30], ["x"], [["k", 1]], [[7, [["q", 1.5]]]]],
      [2, null, null, null, null],
      [3, ["bob", null], [], [], []]])")});
  EXPECT_THAT(file.value_counts,
              ElementsAre(Pair(FieldId{1}, 3), Pair(FieldId{10}, 3), Pair(FieldId{11}, 3)));
  EXPECT_THAT(file.null_value_counts,
              ElementsAre(Pair(FieldId{1}, 0), Pair(FieldId{10}, 1), Pair(FieldId{11}, 2)))
      << "a null struct makes its fields null, also required ones";
  EXPECT_EQ(BoundsOf(schema, file, 10), "ann..bob");
  EXPECT_EQ(BoundsOf(schema, file, 11), "30..30");
  EXPECT_THAT(file.nan_value_counts, IsEmpty());
}

TEST(ColumnMetricsTest, DictionariesCountOnlyWhatIsUsed) {
  const Schema schema = MakeSchema({{1, "s", TypeId::kString}});
  auto array =
      arrow::json::DictArrayFromJSONString(arrow::dictionary(arrow::int32(), arrow::utf8()),
                                           "[1, null, 2, 1]", R"(["aaa", "mmm", "nnn", "zzz"])");
  ASSERT_TRUE(array.ok());
  const auto batch =
      arrow::RecordBatch::Make(arrow::schema({arrow::field("s", (*array)->type())}), 4, {*array});
  const DataFile file = MetricsOf(schema, {batch});
  EXPECT_EQ(BoundsOf(schema, file, 1), "mmm..nnn");
  EXPECT_THAT(file.null_value_counts, ElementsAre(Pair(FieldId{1}, 1)));
}

TEST(ColumnMetricsTest, SlicesCountOnlyTheirRows) {
  const Schema schema = MakeSchema({{1, "s", TypeId::kString}, {2, "i", TypeId::kInt}});
  const auto rows = RowsOf(schema, R"([["a", 1], [null, 2], ["c", null], ["d", 9]])");
  const DataFile file = MetricsOf(schema, {rows->Slice(1, 2)});
  EXPECT_EQ(BoundsOf(schema, file, 1), "c..c");
  EXPECT_EQ(BoundsOf(schema, file, 2), "2..2");
  EXPECT_THAT(file.null_value_counts, ElementsAre(Pair(FieldId{1}, 1), Pair(FieldId{2}, 1)));
}

}  // namespace
}  // namespace icewright
