#include "data/row_scan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/arrow_schema.h"
#include "data/read_test_table.h"
#include "table/expression.h"

namespace icewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Type kLong = Type::Of(TypeId::kLong);
const Type kString = Type::Of(TypeId::kString);

/// Columns id, s and p{x}; rows 1 to 4 in two files.
class RowScanTest : public ::testing::Test {
 protected:
  RowScanTest()
      : table_(MakeTable(
            MakeSchema(
                {{1, "id", TypeId::kLong},
                 {2, "s", TypeId::kString},
                 {3, "p", Type::Struct({{.id = FieldId{4}, .name = "x", .type = kLong}})},
                 {5, "l", Type::List({.id = FieldId{6}, .name = "element", .type = kLong})}}),
            {MakeSpec(0, {})})) {
    const arrow::FieldVector columns = {
        Col(1, "id", arrow::int64()), Col(2, "s", arrow::utf8()),
        Col(3, "p", arrow::struct_({Col(4, "x", arrow::int64())})),
        Col(5, "l", arrow::list(Col(6, "element", arrow::int64())))};
    table_.AddData("a.parquet", columns, {R"([{"id": 1, "s": "one", "p": {"x": 10}, "l": [1]},
                        {"id": 2, "s": null, "p": null, "l": null}])"});
    table_.AddData("b.parquet", columns, {R"([{"id": 3, "s": "three", "p": {"x": null}, "l": []},
                        {"id": 4, "s": "four", "p": {"x": 40}, "l": null}])"});
  }

  Result<std::vector<std::string>> Where(const std::string& filter,
                                         std::vector<std::string> columns = {"id"}) {
    IW_ASSIGN(Expression expression, ParseExpression(table_.metadata().schema(), filter));
    return table_.Rows({.filter = std::move(expression), .columns = std::move(columns)});
  }

  ReadTestTable table_;
};

TEST_F(RowScanTest, AllColumnsByDefault) {
  EXPECT_THAT(table_.Rows(), IsOkAndHolds(ElementsAre(
                                 R"([1,"one",{"x":10},[1]])", "[2,null,null,null]",
                                 R"([3,"three",{"x":null},[]])", R"([4,"four",{"x":40},null])")));
}

TEST_F(RowScanTest, ColumnsInTheOrderAskedFor) {
  EXPECT_THAT(table_.Rows({.columns = {"s", "id", "s"}}),
              IsOkAndHolds(ElementsAre(R"(["one",1,"one"])", "[null,2,null]",
                                       R"(["three",3,"three"])", R"(["four",4,"four"])")));
}

TEST_F(RowScanTest, FiltersOnColumnsThatAreNotShown) {
  EXPECT_THAT(Where("s = 'three'"), IsOkAndHolds(ElementsAre("[3]")));
  EXPECT_THAT(Where("s is null"), IsOkAndHolds(ElementsAre("[2]")));
  EXPECT_THAT(Where("s <> 'one'"), IsOkAndHolds(ElementsAre("[3]", "[4]"))) << "null is no match";
  EXPECT_THAT(Where("p.x >= 10"), IsOkAndHolds(ElementsAre("[1]", "[4]")));
  EXPECT_THAT(Where("p.x is null"), IsOkAndHolds(ElementsAre("[2]", "[3]")));
  EXPECT_THAT(Where("id > 1 and p.x < 100", {"s"}), IsOkAndHolds(ElementsAre(R"(["four"])")));
  EXPECT_THAT(Where("id = 99"), IsOkAndHolds(IsEmpty()));
}

TEST_F(RowScanTest, LimitCountsMatchingRows) {
  for (const std::int64_t limit : {0, 1, 2, 3, 99}) {
    IW_ASSERT_OK_AND_ASSIGN(const auto rows, table_.Rows({.columns = {"id"}, .limit = limit}));
    EXPECT_EQ(rows.size(), static_cast<std::size_t>(std::min<std::int64_t>(limit, 4)));
  }
  IW_ASSERT_OK_AND_ASSIGN(Expression even,
                          ParseExpression(table_.metadata().schema(), "id in (2, 4)"));
  EXPECT_THAT(table_.Rows({.filter = even, .columns = {"id"}, .limit = 2}),
              IsOkAndHolds(ElementsAre("[2]", "[4]")));
}

TEST_F(RowScanTest, DoesNotOpenFilesBeyondTheLimit) {
  table_.tasks()[1].data_file.file_path = Location("gone.parquet");
  EXPECT_THAT(table_.Rows({.columns = {"id"}, .limit = 2}),
              IsOkAndHolds(ElementsAre("[1]", "[2]")));
}

TEST_F(RowScanTest, NamesUnknownColumns) {
  EXPECT_THAT(table_.Rows({.columns = {"id", "nope"}}),
              HasError(Code::kInvalidArgument, HasSubstr("'nope'")));
  const Expression element = Expression::Predicate(Expression::Op::kNotNull, FieldId{6}, kLong);
  EXPECT_THAT(table_.Rows({.filter = element}),
              HasError(Code::kInvalidArgument, HasSubstr("l.element")));
}

TEST_F(RowScanTest, ErrorsOfTheVisitorEndTheScan) {
  RunContext run;
  int visits = 0;
  const Status status = ScanRows(run, table_.io(), table_.metadata(), table_.metadata().schema(),
                                 table_.tasks(), {}, [&](const Json&) -> Status {
                                   if (++visits == 3) return Error(Code::kIo, "pipe closed");
                                   return {};
                                 });
  EXPECT_THAT(status, HasError(Code::kIo, "pipe closed"));
  EXPECT_EQ(visits, 3);
}

TEST(RowJsonTest, TextForms) {
  struct Case {
    Type type;
    std::string stored;
    std::string expected;
  };
  const Case cases[] = {
      {Type::Of(TypeId::kBoolean), "true", "[true]"},
      {Type::Of(TypeId::kFloat), "0.1", "[0.1]"},
      {Type::Of(TypeId::kDouble), "NaN", R"(["NaN"])"},
      {Type::Decimal(9, 2), R"("-0.05")", R"(["-0.05"])"},
      {Type::Of(TypeId::kDate), "-1", R"(["1969-12-31"])"},
      {Type::Of(TypeId::kTime), "3600000001", R"(["01:00:00.000001"])"},
      {Type::Of(TypeId::kTimestampTz), "-1", R"(["1969-12-31T23:59:59.999999+00:00"])"},
      {Type::Of(TypeId::kUuid), R"("0123456789abcdef")",
       R"(["30313233-3435-3637-3839-616263646566"])"},
      {Type::Fixed(2), R"("ab")", R"(["6162"])"},
      {Type::Of(TypeId::kBinary), R"("")", R"([""])"},
      {Type::Map({.id = FieldId{2}, .name = "key", .required = true, .type = kString},
                 {.id = FieldId{3}, .name = "value", .type = kLong}),
       R"([["a", 1], ["b", null]])", R"([{"a":1,"b":null}])"},
      {Type::Map({.id = FieldId{2}, .name = "key", .required = true, .type = kLong},
                 {.id = FieldId{3}, .name = "value", .type = kLong}),
       "[[1, 2]]", R"([[{"key":1,"value":2}]])"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.type.ToString());
    ReadTestTable table(MakeTable(MakeSchema({{1, "v", c.type}}), {MakeSpec(0, {})}));
    IW_ASSERT_OK_AND_ASSIGN(const auto schema, ToArrowSchema(table.metadata().schema()));
    table.AddData("f.parquet", schema->fields(), {"[{\"v\": " + c.stored + "}, {\"v\": null}]"});
    EXPECT_THAT(table.Rows(), IsOkAndHolds(ElementsAre(c.expected, "[null]")));
  }
}

}  // namespace
}  // namespace icewright
