#include "data/projection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/read_test_table.h"

namespace icewright {
namespace {

using arrow::TimeUnit;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TableMetadata TableOf(const std::vector<TestColumn>& columns) {
  return MakeTable(MakeSchema(columns), {MakeSpec(0, {})});
}

// ---- one column, stored as one type and wanted as another

struct Case {
  std::string name;
  std::shared_ptr<arrow::DataType> stored;
  std::string json;  // of the stored values
  Type wanted;
  std::string expected;  // the rows, or the error's code
  bool int96 = false;
  friend void PrintTo(const Case& c, std::ostream* os) { *os << c.name; }
};

class PromotionTest : public ::testing::TestWithParam<Case> {};

TEST_P(PromotionTest, ReadsStoredValuesAsWanted) {
  const Case& c = GetParam();
  ReadTestTable table(TableOf({{1, "v", c.wanted}}));
  const Json values = ParseJson(c.json).value();
  Json rows = Json::array();
  for (const Json& value : values) rows.push_back(Json{{"v", value}});
  table.AddFile("f.parquet", ParquetBytes({Col(1, "v", c.stored)}, {DumpJson(rows)}, c.int96));
  const auto got = table.Rows();
  if (!got) {
    EXPECT_EQ(Name(got.error().code()), c.expected);
    EXPECT_THAT(got.error().message(), HasSubstr("f.parquet"));
    EXPECT_THAT(got.error().message(), HasSubstr("'v'"));
    return;
  }
  std::string text;
  for (const std::string& row : *got) text += row;
  EXPECT_EQ(text, c.expected);
}

const Type kLong = Type::Of(TypeId::kLong);
const Type kTs = Type::Of(TypeId::kTimestamp);
const Type kNs = Type::Of(TypeId::kTimestampNs);

INSTANTIATE_TEST_SUITE_P(
    Table, PromotionTest,
    ::testing::Values(
        Case{"IntToLong", arrow::int32(), "[-5, null, 2147483647]", kLong,
             "[-5][null][2147483647]"},
        Case{"Int16ToInt", arrow::int16(), "[-5, null]", Type::Of(TypeId::kInt), "[-5][null]"},
        Case{"UInt8ToInt", arrow::uint8(), "[255]", Type::Of(TypeId::kInt), "[255]"},
        Case{"UInt32ToLong", arrow::uint32(), "[4294967295]", kLong, "[4294967295]"},
        Case{"UInt32BeyondInt", arrow::uint32(), "[1, 4294967295]", Type::Of(TypeId::kInt),
             "corrupt"},
        Case{"UInt64ToLong", arrow::uint64(), "[7, null]", kLong, "[7][null]"},
        Case{"UInt64BeyondLong", arrow::uint64(), "[9223372036854775808]", kLong, "corrupt"},
        Case{"LongIsNoInt", arrow::int64(), "[1]", Type::Of(TypeId::kInt), "unsupported"},
        Case{"FloatToDouble", arrow::float32(), "[0.5, null]", Type::Of(TypeId::kDouble),
             "[0.5][null]"},
        Case{"DoubleIsNoFloat", arrow::float64(), "[0.5]", Type::Of(TypeId::kFloat), "unsupported"},
        Case{"WiderDecimal", arrow::decimal128(5, 2), R"(["1.50", null])", Type::Decimal(20, 2),
             R"(["1.50"][null])"},
        Case{"OtherScale", arrow::decimal128(5, 2), R"(["1.50"])", Type::Decimal(20, 3),
             "unsupported"},
        Case{"NarrowerDecimal", arrow::decimal128(9, 2), R"(["1.50"])", Type::Decimal(5, 2),
             "unsupported"},
        Case{"DateToTimestamp", arrow::date32(), "[-1, 1, null]", kTs,
             R"(["1969-12-31T00:00:00"]["1970-01-02T00:00:00"][null])"},
        Case{"DateBeyondNanos", arrow::date32(), "[null, 200000]", kNs, "corrupt"},
        Case{"MillisToMicros", arrow::timestamp(TimeUnit::MILLI), "[-1, 1]", kTs,
             R"(["1969-12-31T23:59:59.999"]["1970-01-01T00:00:00.001"])"},
        Case{"NanosToMicrosRoundDown", arrow::timestamp(TimeUnit::NANO), "[-1, 1999]", kTs,
             R"(["1969-12-31T23:59:59.999999"]["1970-01-01T00:00:00.000001"])"},
        Case{"MicrosToNanos", arrow::timestamp(TimeUnit::MICRO), "[1]", kNs,
             R"(["1970-01-01T00:00:00.000001"])"},
        Case{"ZoneIsOnlyAName", arrow::timestamp(TimeUnit::MICRO, "UTC"), "[1]", kTs,
             R"(["1970-01-01T00:00:00.000001"])"},
        Case{"Int96", arrow::timestamp(TimeUnit::NANO), "[-1000, 1000]", kTs,
             R"(["1969-12-31T23:59:59.999999"]["1970-01-01T00:00:00.000001"])", true},
        Case{"Int96AsNanos", arrow::timestamp(TimeUnit::NANO), "[1]", kNs,
             R"(["1970-01-01T00:00:00.000000001"])", true},
        Case{"TimeMillis", arrow::time32(TimeUnit::MILLI), "[1]", Type::Of(TypeId::kTime),
             R"(["00:00:00.001"])"},
        Case{"BinaryAsString", arrow::binary(), R"(["ab", null])", Type::Of(TypeId::kString),
             R"(["ab"][null])"},
        Case{"LargeString", arrow::large_utf8(), R"(["ab", null])", Type::Of(TypeId::kString),
             R"(["ab"][null])"},
        Case{"Dictionary", arrow::dictionary(arrow::int32(), arrow::utf8()), R"(["x", "y", "x"])",
             Type::Of(TypeId::kString), R"(["x"]["y"]["x"])"},
        Case{"StringAsBinary", arrow::utf8(), R"(["ab"])", Type::Of(TypeId::kBinary),
             R"(["6162"])"},
        Case{"FixedOfOtherLength", arrow::fixed_size_binary(3), R"(["abc"])", Type::Fixed(4),
             "unsupported"},
        Case{"BinaryAsFixed", arrow::binary(), R"(["abc", null])", Type::Fixed(3),
             R"(["616263"][null])"},
        Case{"BinaryOfOtherLength", arrow::binary(), R"(["abc", "abcd"])", Type::Fixed(3),
             "corrupt"},
        Case{"StructIsNoLong", arrow::struct_({Col(2, "a", arrow::int64())}), R"([{"a": 1}])",
             kLong, "unsupported"},
        Case{"Unknown", arrow::int64(), "[1, 2]", Type(), "[null][null]"}),
    [](const auto& test) { return test.param.name; });

// ---- shapes

TEST(ProjectionTest, ReordersRenamesDropsAndAddsNestedFieldsById) {
  const Type point = Type::Struct({{.id = FieldId{3}, .name = "y2", .type = kLong},
                                   {.id = FieldId{9}, .name = "added", .type = kLong},
                                   {.id = FieldId{2}, .name = "x", .type = kLong}});
  ReadTestTable table(TableOf({{1, "p", point}}));
  const auto stored = arrow::struct_(
      {Col(2, "x", arrow::int32()), Col(3, "y", arrow::int64()), Col(4, "dropped", arrow::utf8())});
  table.AddData("f.parquet", {Col(1, "p", stored)},
                {R"([{"p": {"x": 1, "y": 2, "dropped": "d"}}, {"p": null},
                     {"p": {"x": null, "y": 4, "dropped": null}}])"});
  EXPECT_THAT(table.Rows(), IsOkAndHolds(ElementsAre(R"([{"y2":2,"added":null,"x":1}])", "[null]",
                                                     R"([{"y2":4,"added":null,"x":null}])")));
}

TEST(ProjectionTest, ProjectsInsideListsAndMaps) {
  const Type element = Type::Struct({{.id = FieldId{4}, .name = "b", .type = kLong}});
  const Type list = Type::List({.id = FieldId{2}, .name = "element", .type = element});
  const Type map = Type::Map({.id = FieldId{11}, .name = "key", .required = true, .type = kLong},
                             {.id = FieldId{12}, .name = "value", .type = element});
  ReadTestTable table(TableOf({{1, "l", list}, {10, "m", map}}));
  const auto stored = arrow::struct_({Col(3, "a", arrow::utf8()), Col(4, "b", arrow::int32())});
  table.AddData(
      "f.parquet",
      {Col(1, "l", arrow::list(Col(2, "element", stored))),
       Col(10, "m",
           std::make_shared<arrow::MapType>(Col(11, "key", arrow::int32())->WithNullable(false),
                                            Col(12, "value", stored)))},
      {R"([{"l": [{"a": "x", "b": 1}, null], "m": [[7, {"a": "y", "b": 2}]]},
           {"l": null, "m": null}, {"l": [], "m": []}])"});
  EXPECT_THAT(table.Rows(),
              IsOkAndHolds(ElementsAre(R"([[{"b":1},null],[{"key":7,"value":{"b":2}}]])",
                                       "[null,null]", "[[],[]]")));
}

TEST(ProjectionTest, StructWithOnlyNewFieldsKeepsItsNulls) {
  const Type fresh = Type::Struct({{.id = FieldId{9}, .name = "added", .type = kLong}});
  ReadTestTable table(TableOf({{1, "p", fresh}}));
  table.AddData("f.parquet", {Col(1, "p", arrow::struct_({Col(2, "x", arrow::int32())}))},
                {R"([{"p": {"x": 1}}, {"p": null}])"});
  EXPECT_THAT(table.Rows(), IsOkAndHolds(ElementsAre(R"([{"added":null}])", "[null]")));
}

TEST(ProjectionTest, MissingColumnsHaveDefaultsOrNulls) {
  Schema schema({{.id = FieldId{1}, .name = "id", .type = kLong},
                 {.id = FieldId{2}, .name = "d", .type = kLong, .initial_default = std::int64_t{5}},
                 {.id = FieldId{3}, .name = "s", .type = Type::Of(TypeId::kString)},
                 {.id = FieldId{4},
                  .name = "n",
                  .type = Type::Decimal(9, 2),
                  .initial_default = Int128{150}}},
                SchemaId{0});
  ReadTestTable table(MakeTable(schema, {MakeSpec(0, {})}, 3));
  table.AddData("f.parquet", {Col(1, "id", arrow::int64())}, {R"([{"id": 1}, {"id": 2}])"});
  EXPECT_THAT(table.Rows(),
              IsOkAndHolds(ElementsAre(R"([1,5,null,"1.50"])", R"([2,5,null,"1.50"])")));
}

TEST(ProjectionTest, MissingIdentityColumnsComeFromThePartition) {
  const TableMetadata metadata = MakeTable(
      MakeSchema({{1, "id", TypeId::kLong}, {2, "cat", TypeId::kString}, {3, "n", TypeId::kLong}}),
      {MakeSpec(0, {{2, "identity"}, {3, "bucket[4]"}})});
  ReadTestTable table(metadata);
  FileTask& task = table.AddData("f.parquet", {Col(1, "id", arrow::int64())}, {R"([{"id": 1}])"});
  task.data_file.partition = {std::string("c1"), std::int32_t{3}};
  EXPECT_THAT(table.Rows(), IsOkAndHolds(ElementsAre(R"([1,"c1",null])")));
}

TEST(ProjectionTest, StoredIdentityColumnsWinOverThePartition) {
  ReadTestTable table(
      MakeTable(MakeSchema({{1, "cat", TypeId::kString}}), {MakeSpec(0, {{1, "identity"}})}));
  FileTask& task =
      table.AddData("f.parquet", {Col(1, "cat", arrow::utf8())}, {R"([{"cat": "x"}])"});
  task.data_file.partition = {std::string("partition")};
  EXPECT_THAT(table.Rows(), IsOkAndHolds(ElementsAre(R"(["x"])")));
}

// ---- files without field ids

constexpr char kMapping[] = R"([{"field-id": 1, "names": ["a", "c"]},
  {"field-id": 3, "names": ["l"], "fields": [{"field-id": 4, "names": ["element"]}]}])";

TEST(FieldIdTest, NameMappingGivesIds) {
  const Type list = Type::List({.id = FieldId{4}, .name = "element", .type = kLong});
  ReadTestTable table(TableOf({{3, "l", list}, {1, "c", TypeId::kLong}, {2, "b", TypeId::kLong}}));
  table.metadata().properties["schema.name-mapping.default"] = kMapping;
  // The list's inner group has another name; b is in the file, but not in the mapping.
  table.AddData("f.parquet",
                {Col(0, "a", arrow::int64()), Col(0, "b", arrow::int64()),
                 Col(0, "l", arrow::list(arrow::field("array_element", arrow::int64())))},
                {R"([{"a": 1, "b": 2, "l": [3]}])"});
  EXPECT_THAT(table.Rows(), IsOkAndHolds(ElementsAre("[[3],1,null]")));
}

TEST(FieldIdTest, MappingThatKnowsNoColumnIsRefused) {
  ReadTestTable table(TableOf({{1, "c", TypeId::kLong}}));
  table.metadata().properties["schema.name-mapping.default"] = kMapping;
  table.AddData("f.parquet", {Col(0, "zzz", arrow::int64())}, {R"([{"zzz": 1}])"});
  EXPECT_THAT(table.Rows(), HasError(Code::kUnsupported, HasSubstr("name mapping")));
}

TEST(FieldIdTest, ParquetWithoutMappingGoesByPosition) {
  ReadTestTable table(TableOf({{2, "b", TypeId::kLong}, {1, "a", TypeId::kLong}}));
  table.AddData("f.parquet", {Col(0, "x", arrow::int64()), Col(0, "y", arrow::int64())},
                {R"([{"x": 1, "y": 2}])"});
  EXPECT_THAT(table.Rows(), IsOkAndHolds(ElementsAre("[2,1]")));
}

TEST(FieldIdTest, OneIdIsEnoughToTurnFallbacksOff) {
  ReadTestTable table(TableOf({{1, "a", TypeId::kLong}, {2, "b", TypeId::kLong}}));
  table.metadata().properties["schema.name-mapping.default"] = kMapping;
  table.AddData("f.parquet", {Col(0, "a", arrow::int64()), Col(2, "b", arrow::int64())},
                {R"([{"a": 1, "b": 2}])"});
  EXPECT_THAT(table.Rows(), IsOkAndHolds(ElementsAre("[null,2]")));
}

TEST(FieldIdTest, OrcWithoutIdsGoesByName) {
  ReadTestTable table(TableOf({{2, "b", TypeId::kLong}, {1, "a", TypeId::kLong}}));
  table.AddFile("f.orc",
                OrcBytes({Col(0, "x", arrow::int64()), Col(0, "a", arrow::int64()),
                          Col(0, "b", arrow::int32())},
                         R"([{"x": 0, "a": 1, "b": 2}, {"x": 0, "a": null, "b": 3}])"),
                FileFormat::kOrc);
  EXPECT_THAT(table.Rows(), IsOkAndHolds(ElementsAre("[2,1]", "[3,null]")));
}

}  // namespace
}  // namespace icewright
