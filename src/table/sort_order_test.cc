#include "table/sort_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "codec/json.h"
#include "testing/matchers.h"

namespace icewright {
namespace {

using ::testing::HasSubstr;

Schema TestSchema() {
  return Schema(
      {{.id = FieldId{1}, .name = "a", .type = Type::Of(TypeId::kLong)},
       {.id = FieldId{2}, .name = "b", .type = Type::Of(TypeId::kString)},
       {.id = FieldId{3}, .name = "ts", .type = Type::Of(TypeId::kTimestamp)},
       {.id = FieldId{4}, .name = "with space", .type = Type::Of(TypeId::kInt)},
       {.id = FieldId{5},
        .name = "p",
        .type = Type::Struct({{.id = FieldId{6}, .name = "x", .type = Type::Of(TypeId::kInt)}})}});
}

TEST(SortOrderTest, JsonSurvives) {
  constexpr std::string_view kText =
      R"({"order-id":2,"fields":[)"
      R"({"transform":"identity","source-id":1,"direction":"asc","null-order":"nulls-first"},)"
      R"({"transform":"bucket[4]","source-id":2,"direction":"desc","null-order":"nulls-last"},)"
      R"({"transform":"zorder","source-ids":[1,2],"direction":"asc","null-order":"nulls-last"}]})";
  IW_ASSERT_OK_AND_ASSIGN(const SortOrder order, SortOrder::FromJson(*ParseJson(kText)));
  EXPECT_EQ(DumpJson(order.ToJson()), kText);
  EXPECT_EQ(order.id, SortOrderId{2});
  EXPECT_EQ(order.fields[1].direction, SortField::Direction::kDesc);
  EXPECT_EQ(order.fields[1].nulls, SortField::Nulls::kLast);
}

TEST(SortOrderTest, MalformedJsonNamesTheMember) {
  const std::string good =
      R"({"order-id":2,"fields":[{"transform":"day","source-id":1,"direction":"asc","null-order":"nulls-first"}]})";
  ASSERT_THAT(SortOrder::FromJson(*ParseJson(good)), IsOk());
  const std::vector<std::vector<std::string>> cases = {
      {R"("order-id":2,)", "", "order-id"},
      {R"("transform":"day",)", "", "transform"},
      {R"("source-id":1,)", "", "source-id"},
      {R"("asc")", R"("up")", "direction: \"up\""},
      {R"("nulls-first")", R"("first")", "null-order: \"first\""},
      {R"("direction":"asc",)", "", "direction"}};
  for (const auto& c : cases) {
    std::string text = good;
    text.replace(text.find(c[0]), c[0].size(), c[1]);
    EXPECT_THAT(SortOrder::FromJson(*ParseJson(text)), HasError(Code::kCorrupt, HasSubstr(c[2])));
  }
}

struct ParseCase {
  std::string text;
  std::string fields;  // "transform source direction nulls; ..."
};

std::string Text(const SortOrder& order) {
  std::string out;
  for (const SortField& field : order.fields) {
    if (!out.empty()) out += "; ";
    out += field.transform.text() + " " + std::to_string(Raw(field.source_id()));
    out += field.direction == SortField::Direction::kAsc ? " asc" : " desc";
    out += field.nulls == SortField::Nulls::kFirst ? " first" : " last";
  }
  return out;
}

TEST(SortOrderTest, TextIsParsed) {
  const std::vector<ParseCase> cases = {
      {"a", "identity 1 asc first"},
      {"a asc", "identity 1 asc first"},
      {"a DESC", "identity 1 desc last"},
      {"a nulls last", "identity 1 asc last"},
      {"a desc NULLS FIRST", "identity 1 desc first"},
      {"a asc nulls first, bucket(4, b) desc, days(ts)",
       "identity 1 asc first; bucket[4] 2 desc last; day 3 asc first"},
      {"bucket (4,b)", "bucket[4] 2 asc first"},
      {"truncate(b, 8) desc", "truncate[8] 2 desc last"},
      {"  hour( ts )  ", "hour 3 asc first"},
      {"years(ts),months(ts),identity(a)",
       "year 3 asc first; month 3 asc first; identity 1 asc first"},
      {"`with space` desc", "identity 4 desc last"},
      {"p.x", "identity 6 asc first"},
      {"A", "identity 1 asc first"},
  };
  for (const ParseCase& c : cases) {
    SCOPED_TRACE(c.text);
    IW_ASSERT_OK_AND_ASSIGN(const SortOrder order, SortOrder::Parse(TestSchema(), c.text));
    EXPECT_EQ(Text(order), c.fields);
    EXPECT_EQ(order.id, SortOrderId{0});
  }
}

TEST(SortOrderTest, WrongTextNamesThePart) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "empty part"},
      {"a,", "empty part"},
      {"a,,b", "empty part"},
      {"nope", "\"nope\""},
      {"a up", "\"up\""},
      {"a asc nulls", "\"nulls\""},
      {"a asc nulls middle", "nulls"},
      {"a asc desc", "\"desc\""},
      {"cube(a)", "\"cube\""},
      {"bucket(b)", "bucket(b)"},
      {"bucket(0, b)", "positive"},
      {"bucket(-4, b)", "positive"},
      {"bucket(x, b)", "bucket(x, b)"},
      {"bucket(4, b", "closing parenthesis"},
      {"days(a)", "day cannot take column \"a\" of type long"},
      {"days(ts, a)", "one column"},
      {"p", "cannot take column \"p\""},
      {"()", "\"\""},
      {")", "\")\""},
  };
  for (const auto& [text, says] : cases) {
    EXPECT_THAT(SortOrder::Parse(TestSchema(), text),
                HasError(Code::kInvalidArgument, HasSubstr(says)))
        << text;
  }
}

}  // namespace
}  // namespace icewright
