#include "table/type.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "table/field.h"
#include "testing/matchers.h"

namespace icewright {
namespace {

using ::testing::HasSubstr;

Field Column(int id, std::string name, Type type, bool required = false) {
  return {
      .id = FieldId{id}, .name = std::move(name), .required = required, .type = std::move(type)};
}

struct TextCase {
  std::string text;
  Type type;
  std::string printed;  // empty: as `text`
};

TEST(TypeTest, TextOfEveryPrimitiveIsReadAndWritten) {
  const std::vector<TextCase> cases = {
      {"unknown", Type(), ""},
      {"boolean", Type::Of(TypeId::kBoolean), ""},
      {"int", Type::Of(TypeId::kInt), ""},
      {"long", Type::Of(TypeId::kLong), ""},
      {"float", Type::Of(TypeId::kFloat), ""},
      {"double", Type::Of(TypeId::kDouble), ""},
      {"date", Type::Of(TypeId::kDate), ""},
      {"time", Type::Of(TypeId::kTime), ""},
      {"timestamp", Type::Of(TypeId::kTimestamp), ""},
      {"timestamptz", Type::Of(TypeId::kTimestampTz), ""},
      {"timestamp_ns", Type::Of(TypeId::kTimestampNs), ""},
      {"timestamptz_ns", Type::Of(TypeId::kTimestampTzNs), ""},
      {"string", Type::Of(TypeId::kString), ""},
      {"uuid", Type::Of(TypeId::kUuid), ""},
      {"binary", Type::Of(TypeId::kBinary), ""},
      {"variant", Type::Of(TypeId::kVariant), ""},
      {"decimal(9, 2)", Type::Decimal(9, 2), ""},
      {"decimal(38,10)", Type::Decimal(38, 10), "decimal(38, 10)"},
      {"decimal( 1 , 0 )", Type::Decimal(1, 0), "decimal(1, 0)"},
      {"fixed[16]", Type::Fixed(16), ""},
      {"fixed[ 5 ]", Type::Fixed(5), "fixed[5]"},
      {"geometry", Type::Geometry(), ""},
      {"geometry(srid:3857)", Type::Geometry("srid:3857"), ""},
      {"geometry(OGC:CRS84)", Type::Geometry(), ""},
      {"geography", Type::Geography(), ""},
      {"geography(srid:4269)", Type::Geography("srid:4269"), ""},
      {"geography(srid:4269,karney)", Type::Geography("srid:4269", "karney"),
       "geography(srid:4269, karney)"},
      {"geography(OGC:CRS84, spherical)", Type::Geography(), ""},
      {"STRING", Type::Of(TypeId::kString), "string"},
  };
  for (const TextCase& c : cases) {
    SCOPED_TRACE(c.text);
    IW_ASSERT_OK_AND_ASSIGN(const Type type, Type::Parse(c.text));
    EXPECT_EQ(type, c.type);
    EXPECT_EQ(type.ToString(), c.printed.empty() ? c.text : c.printed);
  }
}

TEST(TypeTest, UnknownTextIsUnsupportedAndNamed) {
  for (const char* text :
       {"", "interval", "decimal", "decimal(9)", "decimal(39, 2)", "decimal(0, 0)",
        "decimal(9, -1)", "decimal(9, 99)", "decimal(9, 2", "decimal(99999999999, 2)", "fixed",
        "fixed[]", "fixed[-1]", "fixed[x]", "fixed(5)", "geography(a, )", "int32", "struct"}) {
    EXPECT_THAT(Type::Parse(text),
                HasError(Code::kUnsupported, HasSubstr('"' + std::string(text) + '"')));
  }
}

TEST(TypeTest, ParametersAreKept) {
  EXPECT_EQ(Type::Decimal(9, 2).precision(), 9);
  EXPECT_EQ(Type::Decimal(9, 2).scale(), 2);
  EXPECT_EQ(Type::Fixed(7).length(), 7);
  EXPECT_EQ(Type::Geography({}, "karney").ToString(), "geography(OGC:CRS84, karney)");
}

TEST(TypeTest, EqualityLooksAtStructureNotAtDocs) {
  const Type base = Type::Struct({Column(1, "a", Type::Of(TypeId::kInt))});
  Field documented = Column(1, "a", Type::Of(TypeId::kInt));
  documented.doc = "text";
  documented.initial_default = Literal(std::int32_t{1});
  EXPECT_EQ(base, Type::Struct({documented}));

  EXPECT_NE(base, Type::Struct({Column(2, "a", Type::Of(TypeId::kInt))}));
  EXPECT_NE(base, Type::Struct({Column(1, "b", Type::Of(TypeId::kInt))}));
  EXPECT_NE(base, Type::Struct({Column(1, "a", Type::Of(TypeId::kLong))}));
  EXPECT_NE(base, Type::Struct({Column(1, "a", Type::Of(TypeId::kInt), true)}));
  EXPECT_NE(base, Type::Struct({}));
  EXPECT_NE(Type::Decimal(9, 2), Type::Decimal(9, 3));
  EXPECT_NE(Type::Fixed(1), Type::Fixed(2));
  EXPECT_NE(Type::Geometry("a"), Type::Geometry("b"));
  EXPECT_NE(Type::Geography("a", "karney"), Type::Geography("a", "vincenty"));
}

TEST(TypeTest, NestedTypesAsText) {
  const Type list = Type::List(Column(3, "element", Type::Of(TypeId::kString), true));
  const Type map = Type::Map(Column(4, "key", Type::Of(TypeId::kString), true),
                             Column(5, "value", Type::Of(TypeId::kDouble)));
  EXPECT_EQ(Type::Struct({Column(1, "l", list, true), Column(2, "m", map)}).ToString(),
            "struct<1: l: required list<string>, 2: m: optional map<string, double>>");
  EXPECT_EQ(Type::Struct({}).ToString(), "struct<>");
}

TEST(TypeTest, NestedAndPrimitiveExcludeEachOtherAndVariant) {
  EXPECT_TRUE(Type().is_primitive());
  EXPECT_TRUE(Type::Geography().is_primitive());
  EXPECT_FALSE(Type::Of(TypeId::kVariant).is_primitive());
  EXPECT_FALSE(Type::Of(TypeId::kVariant).is_nested());
  EXPECT_TRUE(Type::Struct({}).is_nested());
  EXPECT_TRUE(Type().fields().empty());
}

TEST(TypeTest, PromotionsAreThoseOfTheSpec) {
  const std::vector<std::string> types = {
      "unknown",        "boolean",  "int",       "long",          "float",
      "double",         "date",     "timestamp", "timestamptz",   "timestamp_ns",
      "timestamptz_ns", "string",   "binary",    "decimal(9, 2)", "decimal(18, 2)",
      "decimal(18, 3)", "fixed[4]", "fixed[5]"};
  const std::vector<std::pair<std::string, std::string>> allowed = {
      {"int", "long"},
      {"float", "double"},
      {"decimal(9, 2)", "decimal(18, 2)"},
      {"date", "timestamp"},
      {"date", "timestamp_ns"}};
  for (const std::string& from : types) {
    for (const std::string& to : types) {
      bool expected = from == to || from == "unknown";
      for (const auto& [a, b] : allowed) expected = expected || (a == from && b == to);
      EXPECT_EQ(IsPromotion(*Type::Parse(from), *Type::Parse(to)), expected) << from << " " << to;
    }
  }
}

}  // namespace
}  // namespace icewright
