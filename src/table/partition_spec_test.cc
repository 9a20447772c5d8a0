#include "table/partition_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "codec/json.h"
#include "testing/matchers.h"

namespace icewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Schema TestSchema() {
  return Schema({{.id = FieldId{1}, .name = "id", .type = Type::Of(TypeId::kLong)},
                 {.id = FieldId{2}, .name = "s", .type = Type::Of(TypeId::kString)},
                 {.id = FieldId{3}, .name = "ts", .type = Type::Of(TypeId::kTimestampTz)}});
}

PartitionSpec Spec(std::string_view fields) {
  auto parsed = PartitionSpec::FieldsFromJson(*ParseJson(fields));
  EXPECT_THAT(parsed, IsOk());
  return {.id = SpecId{0}, .fields = parsed ? *parsed : std::vector<PartitionField>()};
}

TEST(PartitionSpecTest, JsonSurvives) {
  constexpr std::string_view kText =
      R"({"spec-id":3,"fields":[)"
      R"({"name":"id_bucket","transform":"bucket[16]","source-id":1,"field-id":1000},)"
      R"({"name":"x","transform":"zorder","source-ids":[1,2],"field-id":1001},)"
      R"({"name":"gone","transform":"void","source-id":2,"field-id":1002}]})";
  IW_ASSERT_OK_AND_ASSIGN(const PartitionSpec spec, PartitionSpec::FromJson(*ParseJson(kText)));
  EXPECT_EQ(spec.id, SpecId{3});
  EXPECT_EQ(spec.fields[0].transform, Transform::Bucket(16));
  EXPECT_EQ(spec.fields[1].transform.kind(), Transform::Kind::kUnknown);
  EXPECT_THAT(spec.fields[1].source_ids, ElementsAre(FieldId{1}, FieldId{2}));
  EXPECT_EQ(DumpJson(spec.ToJson()), kText);
}

TEST(PartitionSpecTest, MissingFieldIdsCountFrom1000) {
  const PartitionSpec spec = Spec(R"([{"name":"a","transform":"identity","source-id":1},
               {"name":"b","transform":"day","source-id":3}])");
  EXPECT_EQ(spec.fields[0].field_id, FieldId{1000});
  EXPECT_EQ(spec.fields[1].field_id, FieldId{1001});
}

TEST(PartitionSpecTest, MalformedJsonNamesTheMember) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({})", "array"},
      {R"([3])", "fields[0]"},
      {R"([{"transform":"day","source-id":1,"field-id":1000}])", "name"},
      {R"([{"name":"a","source-id":1,"field-id":1000}])", "transform"},
      {R"([{"name":"a","transform":"day","field-id":1000}])", "source-id"},
      {R"([{"name":"a","transform":"day","source-ids":[],"field-id":1000}])", "source-id"},
      {R"([{"name":"a","transform":"day","source-id":1,"field-id":"x"}])", "field-id"},
      {R"([{"name":"a","transform":"day","source-id":1,"field-id":1000},
           {"name":"b","transform":"day","source-id":1}])",
       "field-id"},
  };
  for (const auto& [text, says] : cases) {
    EXPECT_THAT(PartitionSpec::FieldsFromJson(*ParseJson(text)),
                HasError(Code::kCorrupt, HasSubstr(says)))
        << text;
  }
  EXPECT_THAT(PartitionSpec::FromJson(*ParseJson(R"({"fields":[]})")),
              HasError(Code::kCorrupt, HasSubstr("spec-id")));
  EXPECT_THAT(PartitionSpec::FromJson(*ParseJson("7")), HasCode(Code::kCorrupt));
}

TEST(PartitionSpecTest, OnlyVoidFieldsPartitionNothing) {
  EXPECT_TRUE(Spec("[]").is_unpartitioned());
  EXPECT_TRUE(Spec(R"([{"name":"a","transform":"void","source-id":1}])").is_unpartitioned());
  EXPECT_FALSE(Spec(R"([{"name":"a","transform":"void","source-id":1},
                        {"name":"b","transform":"day","source-id":3}])")
                   .is_unpartitioned());
}

TEST(PartitionSpecTest, PartitionTypeHasTheResultsOfTheTransforms) {
  const PartitionSpec spec = Spec(
      R"([{"name":"s","transform":"identity","source-id":2},
          {"name":"b","transform":"bucket[4]","source-id":2},
          {"name":"d","transform":"day","source-id":3},
          {"name":"h","transform":"hour","source-id":3},
          {"name":"lost","transform":"identity","source-id":9},
          {"name":"lost_b","transform":"bucket[4]","source-id":9},
          {"name":"lost_d","transform":"day","source-id":9}])");
  EXPECT_EQ(spec.PartitionType(TestSchema()).ToString(),
            "struct<1000: s: optional string, 1001: b: optional int, 1002: d: optional date, "
            "1003: h: optional int, 1004: lost: optional unknown, 1005: lost_b: optional int, "
            "1006: lost_d: optional date>");
}

TEST(PartitionSpecTest, PathsAreFormEncodedAsJavaDoes) {
  PartitionSpec spec = Spec(R"([{"name":"part col/1","transform":"identity","source-id":2},
                                {"name":"s_trunc","transform":"truncate[4]","source-id":2}])");
  // What Spark wrote for these values.
  const std::vector<std::pair<std::string, std::string>> values = {
      {"plain", "plain"},
      {"", ""},
      {"~tilde*star", "%7Etilde*star"},
      {"a/b/c", "a%2Fb%2Fc"},
      {"new\nline", "new%0Aline"},
      {"with space", "with+space"},
      {"\xF0\x9F\x8D\x8C", "%F0%9F%8D%8C"},
      {"q?u#e", "q%3Fu%23e"},
      {"_under", "_under"},
      {"..", ".."},
      {"tab\there", "tab%09here"},
      {"dot.end.", "dot.end."},
      {"quo\"te'", "quo%22te%27"},
      {"%2F", "%252F"},
      {"a=b&c+d", "a%3Db%26c%2Bd"},
      {"AZaz09-_.*", "AZaz09-_.*"}};
  for (const auto& [value, encoded] : values) {
    EXPECT_EQ(spec.PathOf(TestSchema(), {Literal(value), Literal(std::string("othe"))}),
              "part+col%2F1=" + encoded + "/s_trunc=othe");
  }
  EXPECT_EQ(spec.PathOf(TestSchema(), {Literal(), Literal()}), "part+col%2F1=null/s_trunc=null");
}

TEST(PartitionSpecTest, PathsShowValuesForPeople) {
  const PartitionSpec spec = Spec(
      R"([{"name":"id","transform":"identity","source-id":1},
          {"name":"b","transform":"bucket[4]","source-id":1},
          {"name":"d","transform":"day","source-id":3},
          {"name":"h","transform":"hour","source-id":3},
          {"name":"m","transform":"month","source-id":3},
          {"name":"y","transform":"year","source-id":3}])");
  EXPECT_EQ(spec.PathOf(TestSchema(), {Literal(std::int64_t{-7}), Literal(std::int32_t{3}),
                                       Literal(std::int32_t{19791}), Literal(std::int32_t{474985}),
                                       Literal(std::int32_t{650}), Literal(std::int32_t{54})}),
            "id=-7/b=3/d=2024-03-09/h=2024-03-09-01/m=2024-03/y=2024");
  EXPECT_EQ(Spec("[]").PathOf(TestSchema(), {}), "");
}

}  // namespace
}  // namespace icewright
