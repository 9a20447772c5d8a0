#include "codec/avro/schema.h"

#include <string>

#include "testing/matchers.h"

namespace icewright::avro {
namespace {

using ::testing::Eq;
using ::testing::HasSubstr;
using ::testing::Optional;

SchemaPtr Parsed(std::string_view json) {
  auto schema = ParseSchema(json);
  EXPECT_THAT(schema, IsOk());
  return schema ? *schema : std::make_shared<Schema>();
}

TEST(AvroSchemaTest, ReadsPrimitives) {
  struct Case {
    const char* name;
    Kind kind;
    std::int64_t min_bytes;
  };
  for (const Case& c : {Case{"null", Kind::kNull, 0}, Case{"boolean", Kind::kBoolean, 1},
                        Case{"int", Kind::kInt, 1}, Case{"long", Kind::kLong, 1},
                        Case{"float", Kind::kFloat, 4}, Case{"double", Kind::kDouble, 8},
                        Case{"bytes", Kind::kBytes, 1}, Case{"string", Kind::kString, 1}}) {
    const std::string quoted = "\"" + std::string(c.name) + "\"";
    for (const std::string& text :
         {quoted, "{\"type\":" + quoted + "}", "{\"type\":{\"type\":" + quoted + "}}"}) {
      const SchemaPtr schema = Parsed(text);
      EXPECT_EQ(schema->kind, c.kind) << text;
      EXPECT_EQ(schema->min_bytes, c.min_bytes) << text;
    }
  }
}

TEST(AvroSchemaTest, ReadsIcebergsAttributes) {
  const SchemaPtr schema = Parsed(R"({"type":"record","name":"r","fields":[
    {"name":"a","type":["null","long"],"default":null,"field-id":7},
    {"name":"list","type":{"type":"array","items":"int","element-id":9},"field-id":8},
    {"name":"map","type":{"type":"map","values":"long","key-id":11,"value-id":12},"field-id":10},
    {"name":"stats","field-id":108,"type":["null",{"type":"array","logicalType":"map","items":{
       "type":"record","name":"k117_v118","fields":[
         {"name":"key","type":"int","field-id":117},{"name":"value","type":"long","field-id":118}]}}]},
    {"name":"plain","type":"string"}]})");
  ASSERT_EQ(schema->fields.size(), 5U);
  EXPECT_EQ(schema->name, "r");
  EXPECT_EQ(schema->min_bytes, 5);
  EXPECT_THAT(schema->fields[0].field_id, Optional(7));
  EXPECT_EQ(schema->fields[0].name, "a");
  EXPECT_THAT(schema->fields[1].schema->element_id, Optional(9));
  EXPECT_EQ(schema->fields[1].schema->items->kind, Kind::kInt);
  EXPECT_THAT(schema->fields[2].schema->key_id, Optional(11));
  EXPECT_THAT(schema->fields[2].schema->value_id, Optional(12));
  const auto stats = schema->fields[3].schema->AsOptional();
  ASSERT_TRUE(stats);
  EXPECT_EQ(stats->null_index, 0);
  EXPECT_EQ(stats->value->logical_type, "map");
  EXPECT_EQ(stats->value->items->name, "k117_v118");
  EXPECT_EQ(stats->value->items->min_bytes, 2);
  EXPECT_THAT(stats->value->items->fields[1].field_id, Optional(118));
  EXPECT_THAT(schema->fields[4].field_id, Eq(std::nullopt));
}

TEST(AvroSchemaTest, ReadsLogicalTypes) {
  const SchemaPtr decimal = Parsed(
      R"({"type":"fixed","name":"d","size":5,"logicalType":"decimal","precision":10,"scale":2})");
  EXPECT_EQ(decimal->logical_type, "decimal");
  EXPECT_EQ(decimal->precision, 10);
  EXPECT_EQ(decimal->scale, 2);
  EXPECT_EQ(decimal->size, 5);
  EXPECT_EQ(decimal->min_bytes, 5);
  const SchemaPtr whole = Parsed(R"({"type":"bytes","logicalType":"decimal","precision":4})");
  EXPECT_EQ(whole->precision, 4);
  EXPECT_EQ(whole->scale, 0);
  const SchemaPtr zoned =
      Parsed(R"({"type":"long","logicalType":"timestamp-micros","adjust-to-utc":true})");
  EXPECT_EQ(zoned->logical_type, "timestamp-micros");
  EXPECT_TRUE(zoned->adjust_to_utc);
  const SchemaPtr local =
      Parsed(R"({"type":"long","logicalType":"timestamp-micros","adjust-to-utc":false})");
  EXPECT_FALSE(local->adjust_to_utc);
  EXPECT_EQ(Parsed(R"({"type":"int","logicalType":"date"})")->logical_type, "date");
}

TEST(AvroSchemaTest, DropsLogicalTypesThatMakeNoSense) {
  for (const char* attributes :
       {R"("precision":2,"scale":3)", R"("precision":0)", R"("precision":-1)", R"("scale":1)",
        R"("precision":"4")", R"("precision":4,"scale":-1)", R"("precision":99999999999)"}) {
    const SchemaPtr schema =
        Parsed(R"({"type":"bytes","logicalType":"decimal",)" + std::string(attributes) + "}");
    EXPECT_EQ(schema->logical_type, "") << attributes;
    EXPECT_EQ(schema->precision, 0) << attributes;
  }
  EXPECT_EQ(Parsed(R"({"type":"int","logicalType":7})")->logical_type, "");
}

TEST(AvroSchemaTest, NamedTypesAreShared) {
  const SchemaPtr schema = Parsed(R"({"type":"record","name":"r","fields":[
    {"name":"a","type":{"type":"fixed","name":"uuid_fixed","size":16,"logicalType":"uuid"}},
    {"name":"b","type":["null","uuid_fixed"]},
    {"name":"c","type":{"type":"uuid_fixed"}}]})");
  EXPECT_EQ(schema->fields[0].schema, schema->fields[1].schema->branches[1]);
  EXPECT_EQ(schema->fields[0].schema, schema->fields[2].schema);
  EXPECT_EQ(schema->min_bytes, 33);
}

TEST(AvroSchemaTest, NamesAreResolvedInTheirNamespace) {
  const SchemaPtr schema = Parsed(R"({"type":"record","name":"r","namespace":"org.x","fields":[
    {"name":"a","type":{"type":"fixed","name":"f","size":1}},
    {"name":"b","type":{"type":"fixed","name":"f","namespace":"org.y","size":2}},
    {"name":"c","type":"f"}, {"name":"d","type":"org.y.f"}, {"name":"e","type":"org.x.f"},
    {"name":"g","type":{"type":"record","name":"org.z.inner","fields":[
       {"name":"h","type":{"type":"fixed","name":"f","size":3}},{"name":"i","type":"f"}]}},
    {"name":"j","type":{"type":"fixed","name":"root","namespace":"","size":9}},
    {"name":"k","type":"root"}]})");
  const auto size = [&](std::size_t i) { return schema->fields[i].schema->size; };
  EXPECT_EQ(schema->name, "org.x.r");
  EXPECT_EQ(schema->fields[0].schema->name, "org.x.f");
  EXPECT_EQ(size(0), 1);
  EXPECT_EQ(size(1), 2);
  EXPECT_EQ(size(2), 1);
  EXPECT_EQ(size(3), 2);
  EXPECT_EQ(size(4), 1);
  EXPECT_EQ(schema->fields[5].schema->fields[1].schema->size, 3);
  EXPECT_EQ(size(7), 9);
}

TEST(AvroSchemaTest, ALaterDefinitionShadowsAnEarlierOne) {
  const SchemaPtr schema = Parsed(R"({"type":"record","name":"r","fields":[
    {"name":"a","type":{"type":"fixed","name":"f","size":1}},
    {"name":"b","type":{"type":"fixed","name":"f","size":2}},
    {"name":"c","type":"f"}]})");
  EXPECT_EQ(schema->fields[0].schema->size, 1);
  EXPECT_EQ(schema->fields[2].schema->size, 2);
}

TEST(AvroSchemaTest, EnumsKeepTheirSymbols) {
  const SchemaPtr schema = Parsed(R"({"type":"enum","name":"e","symbols":["A","B"]})");
  EXPECT_EQ(schema->kind, Kind::kEnum);
  EXPECT_THAT(schema->symbols, ::testing::ElementsAre("A", "B"));
}

TEST(AvroSchemaTest, OptionalIsAUnionOfTwoWithOneNull) {
  EXPECT_EQ(Parsed(R"(["null","long"])")->AsOptional()->null_index, 0);
  EXPECT_EQ(Parsed(R"(["long","null"])")->AsOptional()->null_index, 1);
  EXPECT_EQ(Parsed(R"(["long","null"])")->AsOptional()->value->kind, Kind::kLong);
  for (const char* other : {R"(["null"])", R"(["int","long"])", R"(["null","int","long"])",
                            R"(["null","null"])", R"("long")", "[]"}) {
    EXPECT_FALSE(Parsed(other)->AsOptional()) << other;
  }
}

struct BadCase {
  const char* json;
  const char* message;
};

TEST(AvroSchemaTest, SaysWhatIsWrong) {
  const BadCase cases[] = {
      {"", "malformed at byte"},
      {"7", "7 is no type"},
      {"null", "null is no type"},
      {R"("lon")", "'lon' is not defined"},
      {"{}", "without 'type'"},
      {R"({"type":"record"})", "'name' is missing"},
      {R"({"type":"record","name":""})", "empty name"},
      {R"({"type":"record","name":5,"fields":[]})", "'name' must be a string"},
      {R"({"type":"record","name":"r"})", "record r: 'fields' is missing"},
      {R"({"type":"record","name":"r","fields":{}})", "'fields' must be an array"},
      {R"({"type":"record","name":"r","fields":[1]})", "field of record r"},
      {R"({"type":"record","name":"r","fields":[{"type":"int"}]})", "'name' is missing"},
      {R"({"type":"record","name":"r","fields":[{"name":"a"}]})", "field r.a has no 'type'"},
      {R"({"type":"record","name":"r","fields":[{"name":"a","type":"x"}]})", "field r.a: type 'x'"},
      {R"({"type":"record","name":"r","fields":[{"name":"a","type":"int"},{"name":"a","type":"int"}]})",
       "field r.a is there twice"},
      {R"({"type":"record","name":"r","fields":[{"name":"a","type":"int","field-id":"1"}]})",
       "'field-id' must be an integer"},
      {R"({"type":"record","name":"r","fields":[{"name":"a","type":"int","field-id":4294967296}]})",
       "does not fit 32 bits"},
      {R"({"type":"fixed","name":"f"})", "'size' is missing"},
      {R"({"type":"fixed","name":"f","size":-1})", "has the size -1"},
      {R"({"type":"fixed","name":"f","size":2147483648})", "has the size 2147483648"},
      {R"({"type":"enum","name":"e"})", "'symbols' is missing"},
      {R"({"type":"enum","name":"e","symbols":[1]})", "a symbol of enum e"},
      {R"({"type":"array"})", "without 'items'"},
      {R"({"type":"map"})", "without 'values'"},
      {R"({"type":"array","items":"x"})", "items: type 'x'"},
      {R"({"type":"array","items":"int","element-id":1.5})", "'element-id' must be an integer"},
      {R"(["int",["null","long"]])", "a union inside a union"},
      {R"({"type":"record","name":"r","fields":[{"name":"a","type":{"type":"fixed","name":"r","size":1}}]})",
       "'r' is defined inside itself"},
  };
  for (const BadCase& c : cases) {
    EXPECT_THAT(ParseSchema(c.json), HasError(Code::kCorrupt, HasSubstr(c.message))) << c.json;
  }
}

TEST(AvroSchemaTest, RefusesRecursion) {
  EXPECT_THAT(ParseSchema(R"({"type":"record","name":"node","fields":[
                {"name":"next","type":["null","node"]}]})"),
              HasError(Code::kUnsupported, HasSubstr("'node' contains itself")));
  EXPECT_THAT(ParseSchema(R"({"type":"record","name":"a","fields":[{"name":"b","type":
                {"type":"record","name":"b","fields":[{"name":"c","type":
                  {"type":"array","items":"a"}}]}}]})"),
              HasCode(Code::kUnsupported));
}

/// A record whose field i defines a type from `copies` fields of type i - 1.
std::string Chain(int length, int copies) {
  std::string text = R"({"type":"record","name":"top","fields":[
      {"name":"f0","type":{"type":"fixed","name":"t0","size":0}})";
  for (int i = 1; i <= length; ++i) {
    text += ",{\"name\":\"f" + std::to_string(i) + "\",\"type\":{\"type\":\"record\",\"name\":\"t" +
            std::to_string(i) + "\",\"fields\":[";
    for (int copy = 0; copy < copies; ++copy) {
      text += std::string(copy == 0 ? "" : ",") + "{\"name\":\"c" + std::to_string(copy) +
              "\",\"type\":\"t" + std::to_string(i - 1) + "\"}";
    }
    text += "]}}";
  }
  return text + "]}";
}

TEST(AvroSchemaTest, RefusesWhatReuseBlowsUp) {
  EXPECT_THAT(ParseSchema(Chain(400, 1)), IsOk());
  EXPECT_THAT(ParseSchema(Chain(5000, 1)),
              HasError(Code::kUnsupported, HasSubstr("deeper than 500")));
  EXPECT_THAT(ParseSchema(Chain(60, 2)),
              HasError(Code::kUnsupported, HasSubstr("more than 1000000 nodes")));
}

}  // namespace
}  // namespace icewright::avro
