#include "table/name_mapping.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "testing/matchers.h"

namespace icewright {
namespace {

using ::testing::HasSubstr;

TEST(NameMappingTest, FindsByAnyNameAtEachLevel) {
  IW_ASSERT_OK_AND_ASSIGN(const NameMapping mapping,
                          NameMapping::Parse(R"([{"field-id":1,"names":["id","record_id"]},
        {"field-id":2,"names":["tags"],"fields":[{"field-id":3,"names":["element"]}]},
        {"names":["unmapped"]}, {"field-id":4,"names":[]}])"));
  ASSERT_EQ(mapping.fields.size(), 4U);
  EXPECT_EQ(NameMapping::Find(mapping.fields, "record_id"), &mapping.fields[0]);
  EXPECT_EQ(NameMapping::Find(mapping.fields, "id")->id, FieldId{1});
  const MappedField* tags = NameMapping::Find(mapping.fields, "tags");
  ASSERT_NE(tags, nullptr);
  EXPECT_EQ(NameMapping::Find(tags->fields, "element")->id, FieldId{3});
  EXPECT_EQ(NameMapping::Find(mapping.fields, "element"), nullptr);
  EXPECT_EQ(NameMapping::Find(mapping.fields, "ID"), nullptr);
  EXPECT_EQ(NameMapping::Find(mapping.fields, "unmapped")->id, std::nullopt);
}

TEST(NameMappingTest, SameNameOnTwoLevelsIsFine) {
  IW_ASSERT_OK_AND_ASSIGN(
      const NameMapping mapping,
      NameMapping::Parse(
          R"([{"field-id":1,"names":["a"],"fields":[{"field-id":2,"names":["a"]}]}])"));
  EXPECT_EQ(NameMapping::Find(mapping.fields[0].fields, "a")->id, FieldId{2});
}

TEST(NameMappingTest, MalformedTextSaysWhere) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "name mapping"},
      {"{}", "array"},
      {"[3]", "fields[0]"},
      {R"([{"field-id":1}])", "names"},
      {R"([{"field-id":"x","names":["a"]}])", "field-id"},
      {R"([{"field-id":1,"names":[7]}])", "names"},
      {R"([{"names":["a"]},{"names":["b","a"]}])", "\"a\" is mapped twice"},
      {R"([{"names":["a"],"fields":{}}])", "fields"},
      {R"([{"names":["a"],"fields":[{"names":["b","b"]}]}])", "fields[0]: name \"b\""},
  };
  for (const auto& [text, says] : cases) {
    EXPECT_THAT(NameMapping::Parse(text), HasError(Code::kCorrupt, HasSubstr(says))) << text;
  }
}

}  // namespace
}  // namespace icewright
