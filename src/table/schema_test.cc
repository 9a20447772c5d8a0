#include "table/schema.h"

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

constexpr std::string_view kNested = R"({"type":"struct","schema-id":7,"identifier-field-ids":[1],
"fields":[
 {"id":1,"name":"id","required":true,"type":"long","doc":"the key"},
 {"id":2,"name":"person","required":false,"type":{"type":"struct","fields":[
   {"id":3,"name":"Name","required":true,"type":"string"}]}},
 {"id":4,"name":"tags","required":false,
  "type":{"type":"list","element-id":5,"element":"string","element-required":false}},
 {"id":6,"name":"places","required":false,
  "type":{"type":"list","element-id":7,"element":{"type":"struct","fields":[
    {"id":8,"name":"lat","required":false,"type":"double"},
    {"id":20,"name":"inner","required":false,
     "type":{"type":"list","element-id":21,"element":{"type":"struct","fields":[
       {"id":22,"name":"z","required":false,"type":"int"}]},"element-required":true}}]},
  "element-required":true}},
 {"id":9,"name":"attrs","required":false,
  "type":{"type":"map","key-id":10,"key":{"type":"struct","fields":[
    {"id":11,"name":"k","required":true,"type":"int"}]},
   "value-id":12,"value":{"type":"struct","fields":[
    {"id":13,"name":"v","required":false,"type":"date"}]},"value-required":false}}
]})";

Schema Parse(std::string_view text) {
  auto json = ParseJson(text);
  EXPECT_THAT(json, IsOk());
  auto schema = Schema::FromJson(*json);
  EXPECT_THAT(schema, IsOk());
  return schema ? *schema : Schema();
}

TEST(SchemaTest, JsonSurvivesInOrder) {
  const Schema schema = Parse(kNested);
  EXPECT_EQ(DumpJson(schema.ToJson()), DumpJson(*ParseJson(kNested)));
  EXPECT_EQ(schema.id(), SchemaId{7});
  EXPECT_THAT(schema.identifier_field_ids(), ElementsAre(FieldId{1}));
  EXPECT_EQ(schema.fields()[0].doc, "the key");
  EXPECT_EQ(schema.highest_field_id(), 22);
}

TEST(SchemaTest, EveryFieldHasItsFullName) {
  const Schema schema = Parse(kNested);
  const std::vector<std::pair<int, std::string>> names = {{1, "id"},
                                                          {2, "person"},
                                                          {3, "person.Name"},
                                                          {4, "tags"},
                                                          {5, "tags.element"},
                                                          {6, "places"},
                                                          {7, "places.element"},
                                                          {8, "places.element.lat"},
                                                          {20, "places.element.inner"},
                                                          {21, "places.element.inner.element"},
                                                          {22, "places.element.inner.element.z"},
                                                          {9, "attrs"},
                                                          {10, "attrs.key"},
                                                          {11, "attrs.key.k"},
                                                          {12, "attrs.value"},
                                                          {13, "attrs.value.v"}};
  for (const auto& [id, name] : names) {
    EXPECT_EQ(schema.NameOf(FieldId{id}), name);
    const Field* by_name = schema.Find(name);
    ASSERT_NE(by_name, nullptr) << name;
    EXPECT_EQ(by_name->id, FieldId{id}) << name;
    EXPECT_EQ(schema.Find(FieldId{id}), by_name) << name;
  }
  EXPECT_EQ(schema.Find(FieldId{14}), nullptr);
  EXPECT_EQ(schema.NameOf(FieldId{14}), "");
}

TEST(SchemaTest, ShortNamesLeaveOutElementAndValueOfStructs) {
  const Schema schema = Parse(kNested);
  const std::vector<std::pair<std::string, int>> found = {
      {"places.lat", 8}, {"places.inner.z", 22}, {"places.inner", 20}, {"attrs.v", 13}};
  for (const auto& [name, id] : found) {
    const Field* field = schema.Find(name);
    ASSERT_NE(field, nullptr) << name;
    EXPECT_EQ(field->id, FieldId{id}) << name;
  }
  EXPECT_EQ(schema.Find("attrs.k"), nullptr);  // keys keep their step
  EXPECT_EQ(schema.Find("tags.string"), nullptr);
}

TEST(SchemaTest, FullNameWinsOverShortName) {
  const Schema schema = Parse(R"({"type":"struct","fields":[
    {"id":1,"name":"l","required":false,"type":{"type":"list","element-id":2,"element-required":true,
      "element":{"type":"struct","fields":[{"id":3,"name":"a","required":false,"type":"int"}]}}},
    {"id":4,"name":"l.a","required":false,"type":"int"}]})");
  EXPECT_EQ(schema.Find("l.a")->id, FieldId{4});
  EXPECT_EQ(schema.Find("l.element.a")->id, FieldId{3});
}

TEST(SchemaTest, LookupIgnoresCaseOnRequestAndFindsNoAmbiguousName) {
  const Schema schema = Parse(R"({"type":"struct","fields":[
    {"id":1,"name":"Id","required":true,"type":"int"},
    {"id":2,"name":"x","required":true,"type":"int"},
    {"id":3,"name":"X","required":true,"type":"int"}]})");
  EXPECT_EQ(schema.Find("id"), nullptr);
  ASSERT_NE(schema.Find("iD", /*case_sensitive=*/false), nullptr);
  EXPECT_EQ(schema.Find("iD", false)->id, FieldId{1});
  EXPECT_EQ(schema.Find("x", false), nullptr);
  EXPECT_EQ(schema.Find("X")->id, FieldId{3});
}

TEST(SchemaTest, TopLevelColumnOfEveryDepth) {
  const Schema schema = Parse(kNested);
  for (const auto& [id, top] : std::vector<std::pair<int, int>>{
           {1, 1}, {3, 2}, {5, 4}, {22, 6}, {7, 6}, {11, 9}, {13, 9}}) {
    ASSERT_NE(schema.TopLevelOf(FieldId{id}), nullptr);
    EXPECT_EQ(schema.TopLevelOf(FieldId{id})->id, FieldId{top}) << id;
  }
  EXPECT_EQ(schema.TopLevelOf(FieldId{99}), nullptr);
}

TEST(SchemaTest, DefaultsAndUnknownMembersSurvive) {
  constexpr std::string_view kText =
      R"({"type":"struct","schema-id":0,"fields":[)"
      R"({"id":1,"name":"n","required":true,"type":"int","initial-default":3,"write-default":4,)"
      R"("collation":"x"},{"id":2,"name":"s","required":false,)"
      R"("type":{"type":"struct","fields":[]},"initial-default":{}}],"sealed":true})";
  const Schema schema = Parse(kText);
  EXPECT_EQ(schema.fields()[0].initial_default, Literal(std::int32_t{3}));
  EXPECT_EQ(schema.fields()[0].write_default, Literal(std::int32_t{4}));
  EXPECT_EQ(DumpJson(schema.ToJson()), kText);
}

TEST(SchemaTest, SameAsLooksAtDocsDefaultsAndIdentifiersNotAtIds) {
  const Schema base = Parse(kNested);
  const auto with = [](std::string_view what, std::string_view by) {
    std::string text(kNested);
    text.replace(text.find(what), what.size(), by);
    return Parse(text);
  };
  EXPECT_TRUE(base.SameAs(with(R"("schema-id":7)", R"("schema-id":8)")));
  EXPECT_FALSE(base.SameAs(with("the key", "another")));
  EXPECT_FALSE(base.SameAs(with(R"("identifier-field-ids":[1])", R"("identifier-field-ids":[])")));
  EXPECT_FALSE(base.SameAs(with(R"("name":"z")", R"("name":"zz")")));
  EXPECT_FALSE(base.SameAs(with(R"("name":"z",)", R"("name":"z","initial-default":1,)")));
  EXPECT_FALSE(
      base.SameAs(with(R"("name":"z","required":false)", R"("name":"z","required":true)")));
}

struct BadCase {
  std::string text;
  Code code;
  std::vector<std::string> says;
};

TEST(SchemaTest, MalformedJsonNamesTheMember) {
  const std::vector<BadCase> cases = {
      {R"([])", Code::kCorrupt, {"schema"}},
      {R"({"type":"struct"})", Code::kCorrupt, {"fields"}},
      {R"({"fields":[1]})", Code::kCorrupt, {"fields[0]"}},
      {R"({"fields":[{"name":"a","required":true,"type":"int"}]})",
       Code::kCorrupt,
       {"field \"a\"", "id"}},
      {R"({"fields":[{"id":1,"required":true,"type":"int"}]})",
       Code::kCorrupt,
       {"fields[0]", "name"}},
      {R"({"fields":[{"id":1,"name":"a","type":"int"}]})",
       Code::kCorrupt,
       {"field \"a\"", "required"}},
      {R"({"fields":[{"id":1,"name":"a","required":true}]})",
       Code::kCorrupt,
       {"field \"a\"", "type: missing"}},
      {R"({"fields":[{"id":1,"name":"a","required":true,"type":5}]})",
       Code::kCorrupt,
       {"field \"a\"", "type"}},
      {R"({"fields":[{"id":99999999999,"name":"a","required":true,"type":"int"}]})",
       Code::kCorrupt,
       {"field \"a\"", "32 bits"}},
      {R"({"fields":[{"id":1,"name":"a","required":true,"type":"interval"}]})",
       Code::kUnsupported,
       {"field \"a\"", "interval"}},
      {R"({"fields":[{"id":1,"name":"a","required":true,"type":{"type":"union"}}]})",
       Code::kUnsupported,
       {"union"}},
      {R"({"fields":[{"id":1,"name":"a","required":true,"type":{"type":"list","element":"int"}}]})",
       Code::kCorrupt,
       {"field \"a\"", "element-id"}},
      {R"({"fields":[{"id":1,"name":"a","required":true,"type":{"type":"map","key-id":2,"key":"int",
          "value-id":3,"value":"int"}}]})",
       Code::kCorrupt,
       {"value-required"}},
      {R"({"fields":[{"id":1,"name":"a","required":true,"type":"int","initial-default":"x"}]})",
       Code::kCorrupt,
       {"field \"a\"", "initial-default"}},
      {R"({"fields":[{"id":1,"name":"a","required":true,"type":"int"},
          {"id":1,"name":"b","required":true,"type":"int"}]})",
       Code::kCorrupt,
       {"field id 1 occurs twice", "\"b\""}},
      {R"({"fields":[],"identifier-field-ids":["x"]})", Code::kCorrupt, {"identifier-field-ids"}},
  };
  for (const BadCase& c : cases) {
    SCOPED_TRACE(c.text);
    const auto schema = Schema::FromJson(*ParseJson(c.text));
    for (const std::string& part : c.says) {
      EXPECT_THAT(schema, HasError(c.code, HasSubstr(part)));
    }
  }
}

TEST(SchemaTest, EmptySchemaHasNothing) {
  const Schema schema;
  EXPECT_EQ(schema.id(), std::nullopt);
  EXPECT_TRUE(schema.fields().empty());
  EXPECT_EQ(schema.highest_field_id(), 0);
  EXPECT_EQ(schema.Find("x"), nullptr);
}

}  // namespace
}  // namespace icewright
