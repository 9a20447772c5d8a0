#include "data/column_sketches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "data/arrow_schema.h"
#include "data/read_test_table.h"
#include "table/literal.h"

namespace icewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ColumnSketchesTest : public ::testing::Test {
 protected:
  static Result<std::vector<ThetaSketch>> Sketch(ReadTestTable& table, std::vector<int> columns,
                                                 int threads = 1) {
    RunContext run(RunOptions{.threads = threads});
    std::vector<FieldId> ids;
    for (const int id : columns) ids.push_back(FieldId{id});
    const std::shared_ptr<const TableMetadata> metadata(std::shared_ptr<void>(), &table.metadata());
    IW_ASSIGN(const auto sketches, ColumnSketches::Make(run, table.shared_io(), metadata,
                                                        table.metadata().schema(), ids));
    IW_TRY(sketches->Add(run, table.tasks()));
    return sketches->sketches();
  }
  static std::vector<std::int64_t> Estimates(const Result<std::vector<ThetaSketch>>& sketches) {
    std::vector<std::int64_t> out;
    EXPECT_THAT(sketches, IsOk());
    if (sketches) {
      for (const ThetaSketch& sketch : *sketches) out.push_back(sketch.Estimate());
    }
    return out;
  }
};

const Type kLong = Type::Of(TypeId::kLong);

TEST_F(ColumnSketchesTest, CountsDistinctValuesWithoutNullsAndDeletedRows) {
  ReadTestTable table(MakeTable(
      MakeSchema({{1, "id", TypeId::kLong},
                  {2, "s", TypeId::kString},
                  {3, "p", Type::Struct({{.id = FieldId{4}, .name = "x", .type = kLong}})},
                  {5, "l", Type::List({.id = FieldId{6}, .name = "element", .type = kLong})}}),
      {MakeSpec(0, {})}));
  const arrow::FieldVector columns = {Col(1, "id", arrow::int64()), Col(2, "s", arrow::utf8()),
                                      Col(3, "p", arrow::struct_({Col(4, "x", arrow::int64())}))};
  table.AddData("a.parquet", columns,
                {R"([{"id": 1, "s": "a", "p": {"x": 10}}, {"id": 2, "s": null, "p": null}])",
                 R"([{"id": 3, "s": "", "p": {"x": null}}])"});
  table.AddData("b.parquet", columns,
                {R"([{"id": 2, "s": "b", "p": {"x": 11}}, {"id": 4, "s": "a", "p": {"x": 10}}])"});
  // "" has no bytes: no value, as in Java.
  EXPECT_THAT(Estimates(Sketch(table, {1, 2, 4})), ElementsAre(4, 2, 2));
  EXPECT_THAT(Estimates(Sketch(table, {4, 1}, 3)), ElementsAre(2, 4)) << "in the order asked for";
  table.DeletePositions("d.parquet", {{"a.parquet", 0}});
  EXPECT_THAT(Estimates(Sketch(table, {1, 2, 4})), ElementsAre(3, 2, 2));
  table.DeleteKeys("e.parquet", {Col(1, "id", arrow::int64())}, R"([{"id": 4}])", {1});
  EXPECT_THAT(Estimates(Sketch(table, {1, 2, 4})), ElementsAre(2, 1, 1));

  EXPECT_THAT(Sketch(table, {6}), HasError(Code::kInvalidArgument, HasSubstr("'l.element'")));
  EXPECT_THAT(Sketch(table, {3}), HasError(Code::kInvalidArgument, HasSubstr("field 3")));
  EXPECT_THAT(Sketch(table, {99}), HasError(Code::kInvalidArgument, HasSubstr("field 99")));
}

TEST_F(ColumnSketchesTest, ValuesAreTheirSingleValueBytes) {
  struct Case {
    Type type;
    std::string json;  // two rows
    Literal first, second;
  };
  const Case cases[] = {
      {Type::Of(TypeId::kBoolean), "true|false", true, false},
      {Type::Of(TypeId::kInt), "1|-7", 1, -7},
      {kLong, "1|-7", std::int64_t{1}, std::int64_t{-7}},
      {Type::Of(TypeId::kFloat), "0.5|-1", 0.5F, -1.0F},
      {Type::Of(TypeId::kDouble), "0.5|-1", 0.5, -1.0},
      {Type::Of(TypeId::kDate), "3|-1", 3, -1},
      {Type::Of(TypeId::kTime), "3|9", std::int64_t{3}, std::int64_t{9}},
      {Type::Of(TypeId::kTimestamp), "3|-9", std::int64_t{3}, std::int64_t{-9}},
      {Type::Of(TypeId::kString), R"("a"|"bc")", std::string("a"), std::string("bc")},
      {Type::Of(TypeId::kBinary), R"("a"|"bc")", std::string("a"), std::string("bc")},
      {Type::Fixed(2), R"("ab"|"cd")", std::string("ab"), std::string("cd")},
      {Type::Of(TypeId::kUuid), R"("0123456789abcdef"|"fedcba9876543210")",
       std::string("0123456789abcdef"), std::string("fedcba9876543210")},
      {Type::Decimal(9, 2), R"("0.05"|"-300.00")", Int128{5}, Int128{-30000}},
      {Type::Decimal(38, 10), R"("0.0000000005"|"-3.0000000000")", Int128{5}, Int128{-30000000000}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.type.ToString());
    ReadTestTable table(MakeTable(MakeSchema({{1, "v", c.type}}), {MakeSpec(0, {})}));
    IW_ASSERT_OK_AND_ASSIGN(const auto schema, ToArrowSchema(table.metadata().schema()));
    const std::size_t bar = c.json.find('|');
    const std::string json = "[{\"v\": " + c.json.substr(0, bar) +
                             "}, {\"v\": null}, {\"v\": " + c.json.substr(bar + 1) + "}]";
    table.AddData("f.parquet", schema->fields(), {json, json});
    ThetaSketch want;
    want.Update(ToBytes(c.type, c.first));
    want.Update(ToBytes(c.type, c.second));
    IW_ASSERT_OK_AND_ASSIGN(const auto sketches, Sketch(table, {1}));
    EXPECT_EQ(sketches[0].Serialize(), want.Serialize());
  }
}

TEST_F(ColumnSketchesTest, OlderFilesAndSchemasAreReadAsTheColumnIsNow) {
  ReadTestTable table(MakeTable(MakeSchema({{1, "id", TypeId::kLong}, {2, "new", TypeId::kString}}),
                                {MakeSpec(0, {})}));
  table.AddData("old.parquet", {Col(1, "id", arrow::int32())}, {R"([{"id": 1}, {"id": 2}])"});
  table.AddData("new.parquet", {Col(1, "id", arrow::int64()), Col(2, "new", arrow::utf8())},
                {R"([{"id": 2, "new": "x"}])"});
  EXPECT_THAT(Estimates(Sketch(table, {1, 2})), ElementsAre(2, 1)) << "an int 2 is a long 2";
}

TEST_F(ColumnSketchesTest, MemoryIsTakenBeforeAnythingIsRead) {
  ReadTestTable table(MakeTable(MakeSchema({{1, "id", TypeId::kLong}}), {MakeSpec(0, {})}));
  RunContext run(RunOptions{.memory_limit_bytes = ThetaSketch::kMaxBytes * 2 - 1, .threads = 1});
  const auto metadata = std::make_shared<const TableMetadata>(table.metadata());
  EXPECT_THAT(
      ColumnSketches::Make(run, table.shared_io(), metadata, metadata->schema(), {FieldId{1}}),
      HasError(Code::kExhausted, HasSubstr("sketches of columns")));
}

}  // namespace
}  // namespace icewright
