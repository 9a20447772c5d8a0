#include "codec/json.h"

#include <limits>
#include <string>

#include "testing/matchers.h"

namespace icewright {
namespace {

using ::testing::AllOf;
using ::testing::Eq;
using ::testing::HasSubstr;
using ::testing::IsNull;
using ::testing::Optional;

Json Parsed(std::string_view text) {
  auto json = ParseJson(text);
  EXPECT_THAT(json, IsOk());
  return json ? *std::move(json) : Json();
}

TEST(ParseJsonTest, KeepsTheOrderOfKeys) {
  EXPECT_EQ(DumpJson(Parsed(R"({"z": 1, "a": [true, null], "m": {"y": "", "b": 2}})")),
            R"({"z":1,"a":[true,null],"m":{"y":"","b":2}})");
}

TEST(ParseJsonTest, NamesTheByteThatIsWrong) {
  EXPECT_THAT(ParseJson(R"({"a": 1, "b": tru})"),
              HasError(Code::kCorrupt, HasSubstr("malformed at byte 18")));
}

TEST(ParseJsonTest, RefusesMalformedText) {
  for (const std::string_view text : {"",
                                      " ",
                                      "{",
                                      "[1",
                                      "[1,]",
                                      "{\"a\"}",
                                      "{\"a\":}",
                                      "{a:1}",
                                      "nul",
                                      "1 2",
                                      "\"\\x\"",
                                      "'a'",
                                      "[1] // comment",
                                      "{\"a\":1,}",
                                      "\"\xff\"",
                                      "\"\t\"",
                                      "1e999",
                                      "01",
                                      "+1",
                                      "NaN",
                                      "]"}) {
    EXPECT_THAT(ParseJson(text), HasCode(Code::kCorrupt)) << text;
  }
}

std::string Nested(int levels) {
  return std::string(static_cast<std::size_t>(levels), '[') +
         std::string(static_cast<std::size_t>(levels), ']');
}

TEST(ParseJsonTest, LimitsNesting) {
  EXPECT_EQ(DumpJson(Parsed(Nested(500))), Nested(500));
  EXPECT_THAT(ParseJson(Nested(501)),
              HasError(Code::kCorrupt, HasSubstr("deeper than 500 levels at byte 500")));
  EXPECT_THAT(ParseJson(std::string(10'000'000, '{')), HasCode(Code::kCorrupt));
}

TEST(ParseJsonTest, BracketsInsideStringsDoNotNest) {
  const std::string text = "\"" + std::string(1000, '[') + "\\\"" + std::string(1000, '{') + "\"";
  EXPECT_EQ(Parsed(text).get<std::string>().size(), 2001U);
}

TEST(ParseJsonTest, ManySiblingsAreNoNesting) {
  std::string text = "[[]";
  for (int i = 0; i < 2000; ++i) text += ",[{}]";
  EXPECT_EQ(Parsed(text + "]").size(), 2001U);
}

TEST(DumpJsonTest, ReplacesWhatIsNoUtf8) {
  EXPECT_EQ(DumpJson(Json("a\xff\xfez")), "\"a\xef\xbf\xbd\xef\xbf\xbdz\"");
  EXPECT_EQ(DumpJson(Json("\xc3\xa4")), "\"\xc3\xa4\"");
  EXPECT_EQ(DumpJson(Json("\xe2\x82")), "\"\xef\xbf\xbd\"");
}

TEST(DumpJsonTest, IndentsOnRequest) {
  EXPECT_EQ(DumpJson(Parsed(R"({"a":[1]})"), 2), "{\n  \"a\": [\n    1\n  ]\n}");
}

TEST(JsonAccessTest, GivesMembersByType) {
  const Json json = Parsed(R"({"i": -7, "s": "x", "t": true, "a": [1], "o": {"k": 1}})");
  EXPECT_THAT(GetInt(json, "i"), IsOkAndHolds(-7));
  EXPECT_THAT(GetString(json, "s"), IsOkAndHolds(Eq("x")));
  EXPECT_THAT(GetBool(json, "t"), IsOkAndHolds(true));
  EXPECT_THAT(GetArray(json, "a"), IsOkAndHolds(Eq(&json["a"])));
  EXPECT_THAT(GetObject(json, "o"), IsOkAndHolds(Eq(&json["o"])));
  EXPECT_THAT(FindInt(json, "i"), IsOkAndHolds(Optional(-7)));
  EXPECT_THAT(FindString(json, "s"), IsOkAndHolds(Optional(std::string("x"))));
  EXPECT_THAT(FindArray(json, "a"), IsOkAndHolds(Eq(&json["a"])));
  EXPECT_THAT(FindObject(json, "o"), IsOkAndHolds(Eq(&json["o"])));
}

TEST(JsonAccessTest, AbsentAndNullAreTheSame) {
  const Json json = Parsed(R"({"null": null})");
  for (const std::string_view key : {"null", "absent"}) {
    EXPECT_THAT(FindInt(json, key), IsOkAndHolds(Eq(std::nullopt)));
    EXPECT_THAT(FindString(json, key), IsOkAndHolds(Eq(std::nullopt)));
    EXPECT_THAT(FindArray(json, key), IsOkAndHolds(IsNull()));
    EXPECT_THAT(FindObject(json, key), IsOkAndHolds(IsNull()));
    const auto missing = HasSubstr("'" + std::string(key) + "' is missing");
    EXPECT_THAT(GetInt(json, key), HasError(Code::kCorrupt, missing));
    EXPECT_THAT(GetString(json, key), HasError(Code::kCorrupt, missing));
    EXPECT_THAT(GetBool(json, key), HasError(Code::kCorrupt, missing));
    EXPECT_THAT(GetArray(json, key), HasError(Code::kCorrupt, missing));
    EXPECT_THAT(GetObject(json, key), HasError(Code::kCorrupt, missing));
  }
}

TEST(JsonAccessTest, NamesWhatIsThereInstead) {
  const Json json = Parsed(R"({"f": 1.5, "s": "text", "a": [1], "o": {}, "t": false})");
  EXPECT_THAT(GetInt(json, "s"), HasError(Code::kCorrupt, AllOf(HasSubstr("'s' must be an integer"),
                                                                HasSubstr("string \"text\""))));
  EXPECT_THAT(GetString(json, "f"), HasError(Code::kCorrupt, HasSubstr("number 1.5")));
  EXPECT_THAT(GetBool(json, "f"), HasError(Code::kCorrupt, HasSubstr("number 1.5")));
  EXPECT_THAT(GetArray(json, "o"), HasError(Code::kCorrupt, HasSubstr("an object")));
  EXPECT_THAT(GetObject(json, "a"), HasError(Code::kCorrupt, HasSubstr("an array")));
  EXPECT_THAT(FindArray(json, "t"), HasError(Code::kCorrupt, HasSubstr("boolean false")));
  EXPECT_THAT(FindObject(json, "t"), HasCode(Code::kCorrupt));
  EXPECT_THAT(FindString(json, "t"), HasCode(Code::kCorrupt));
}

TEST(JsonAccessTest, WantsAnObject) {
  for (const std::string_view text : {"[]", "1", "\"a\"", "null"}) {
    EXPECT_THAT(GetInt(Parsed(text), "a"),
                HasError(Code::kCorrupt, HasSubstr("an object with 'a'")));
    EXPECT_THAT(FindObject(Parsed(text), "a"), HasCode(Code::kCorrupt));
  }
}

TEST(JsonAccessTest, IntegersAreExact) {
  const Json json = Parsed(R"({"max": 9223372036854775807, "min": -9223372036854775808,
      "over": 9223372036854775808, "under": -9223372036854775809, "huge": 1e300,
      "whole": 1.0, "exponent": 1e3, "true": true, "text": "1"})");
  EXPECT_THAT(GetInt(json, "max"), IsOkAndHolds(std::numeric_limits<std::int64_t>::max()));
  EXPECT_THAT(GetInt(json, "min"), IsOkAndHolds(std::numeric_limits<std::int64_t>::min()));
  for (const std::string_view key :
       {"over", "under", "huge", "whole", "exponent", "true", "text"}) {
    EXPECT_THAT(GetInt(json, key), HasCode(Code::kCorrupt)) << key;
    EXPECT_THAT(FindInt(json, key), HasCode(Code::kCorrupt)) << key;
  }
}

}  // namespace
}  // namespace icewright
