// Partition tuples of every type: written, read, promoted, projected by field id.

#include "manifest/partition_codec.h"

#include <limits>

#include "codec/json.h"
#include "table/literal.h"
#include "testing/matchers.h"
#include "testing/table_builder.h"

namespace icewright {
namespace {

using manifest_internal::Input;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

avro::SchemaPtr Parse(const std::string& json) {
  auto schema = avro::ParseSchema(json);
  EXPECT_THAT(schema, IsOk()) << json;
  return *schema;
}

Field Column(int id, Type type) {
  return {.id = FieldId{id}, .name = "p" + std::to_string(id - 1000), .type = std::move(type)};
}

/// A spec whose fields have these ids, by identity.
PartitionSpec SpecOf(const std::vector<int>& ids) {
  PartitionSpec spec;
  for (const int id : ids) {
    spec.fields.push_back({.source_ids = {FieldId{id - 999}},
                           .field_id = FieldId{id},
                           .name = "p" + std::to_string(id - 1000),
                           .transform = Transform::Parse("identity")});
  }
  return spec;
}

Result<StructValue> Decode(const avro::Schema& schema, const PartitionSpec& spec, const Type& type,
                           ByteView bytes) {
  IW_ASSIGN(const auto read, manifest_internal::CompilePartitionReader(schema, spec, type));
  Input in{.decoder = avro::Decoder(bytes)};
  StructValue out;
  read(in, out);
  if (!in.decoder.ok()) return in.error.value_or(Error(Code::kCorrupt, "broken"));
  EXPECT_TRUE(in.decoder.at_end());
  return out;
}

/// One value of Avro type `written`, encoded in `bytes`, read as `type`.
Result<Literal> DecodeOne(const std::string& written, ByteView bytes, const Type& type) {
  const auto schema = Parse(R"({"type":"record","name":"r102","fields":[{"name":"x","type":)" +
                            written + R"(,"field-id":1000}]})");
  IW_ASSIGN(const auto tuple,
            Decode(*schema, SpecOf({1000}), Type::Struct({Column(1000, type)}), bytes));
  return tuple[0];
}

TEST(PartitionCodecTest, EveryTypeSurvivesWithNullsAndExtremes) {
  struct Case {
    Type type;
    std::vector<Literal> values;
  };
  const Int128 big = static_cast<Int128>(std::numeric_limits<std::int64_t>::max()) * 1000;
  constexpr auto kLow = std::numeric_limits<std::int64_t>::min();
  constexpr auto kLow32 = std::numeric_limits<std::int32_t>::min();
  const std::vector<Case> cases = {
      {Type::Of(TypeId::kBoolean), {true, false}},
      {Type::Of(TypeId::kInt), {std::int32_t{0}, kLow32}},
      {Type::Of(TypeId::kDate), {std::int32_t{-1}, std::int32_t{20000}}},
      {Type::Of(TypeId::kLong), {std::int64_t{1}, kLow}},
      {Type::Of(TypeId::kTime), {std::int64_t{86399999999}}},
      {Type::Of(TypeId::kTimestamp), {kLow}},
      {Type::Of(TypeId::kTimestampTz), {std::int64_t{1}}},
      {Type::Of(TypeId::kTimestampNs), {std::int64_t{1}}},
      {Type::Of(TypeId::kTimestampTzNs), {std::int64_t{1}}},
      {Type::Of(TypeId::kFloat), {-0.0F, 1.5F}},
      {Type::Of(TypeId::kDouble), {-0.0, 1e300}},
      {Type::Of(TypeId::kString), {std::string(), std::string("a\0\xc3\xbc", 4)}},
      {Type::Of(TypeId::kBinary), {std::string("\0\xff", 2)}},
      {Type::Fixed(3), {std::string("abc")}},
      {Type::Of(TypeId::kUuid), {std::string("0123456789abcdef")}},
      {Type::Decimal(9, 2), {Int128{-1}, Int128{999999999}, Int128{-999999999}}},
      {Type::Decimal(38, 0), {big, -big * 1000000000}},
      {Type::Of(TypeId::kUnknown), {}},
  };
  for (Case c : cases) {
    c.values.emplace_back();  // null
    // Twice, so that named Avro types are defined once and mentioned once.
    const Type tuple_type = Type::Struct({Column(1000, c.type), Column(1001, c.type)});
    const auto schema = Parse(DumpJson(manifest_internal::PartitionAvroSchema(tuple_type)));
    for (const Literal& value : c.values) {
      const StructValue tuple = {value, Literal{}};
      ASSERT_THAT(manifest_internal::CheckPartition(tuple_type, tuple), IsOk());
      Bytes bytes;
      avro::Encoder out(bytes);
      manifest_internal::WritePartition(out, tuple_type, tuple);
      EXPECT_THAT(Decode(*schema, SpecOf({1000, 1001}), tuple_type, bytes), IsOkAndHolds(tuple))
          << c.type.ToString();
    }
  }
}

TEST(PartitionCodecTest, ReadsByFieldIdIntoTheOrderOfTheSpec) {
  const auto schema = Parse(
      R"({"type":"record","name":"r102","fields":[
          {"name":"b","type":["null","int"],"field-id":1001},
          {"name":"gone","type":{"type":"array","items":"string"},"field-id":1007},
          {"name":"a","type":"string","field-id":1000}]})");
  const Type type =
      Type::Struct({Column(1000, Type::Of(TypeId::kString)), Column(1001, Type::Of(TypeId::kInt)),
                    Column(1002, Type::Of(TypeId::kLong))});
  // 1001: branch 1, value 5; 1007: ["q"]; 1000: "x"; 1002 is not there.
  const Bytes bytes = "\x02\x0a\x02\x02q";
  EXPECT_THAT(
      Decode(*schema, SpecOf({1000, 1001, 1002}), type, bytes + Bytes("\0\x02x", 3)),
      IsOkAndHolds(ElementsAre(Literal(std::string("x")), Literal(std::int32_t{5}), Literal{})));
}

TEST(PartitionCodecTest, WidensPromotedTypes) {
  EXPECT_THAT(DecodeOne(R"("int")", "\x0a", Type::Of(TypeId::kLong)),
              IsOkAndHolds(Literal(std::int64_t{5})));
  EXPECT_THAT(DecodeOne(R"("long")", "\x0a", Type::Of(TypeId::kInt)),
              IsOkAndHolds(Literal(std::int32_t{5})));
  EXPECT_THAT(DecodeOne(R"("float")", Bytes("\0\0\xc0\x3f", 4), Type::Of(TypeId::kDouble)),
              IsOkAndHolds(Literal(1.5)));
  EXPECT_THAT(
      DecodeOne(R"({"type":"int","logicalType":"date"})", "\x04", Type::Of(TypeId::kTimestamp)),
      IsOkAndHolds(Literal(std::int64_t{2 * 86'400'000'000})));
  EXPECT_THAT(
      DecodeOne(R"({"type":"int","logicalType":"date"})", "\x01", Type::Of(TypeId::kTimestampNs)),
      IsOkAndHolds(Literal(std::int64_t{-86'400'000'000'000})));
  EXPECT_THAT(DecodeOne(R"({"type":"fixed","name":"f","size":2,"logicalType":"decimal",
                            "precision":4,"scale":1})",
                        "\xff\xfe", Type::Decimal(18, 1)),
              IsOkAndHolds(Literal(Int128{-2})));
  EXPECT_THAT(
      DecodeOne(R"({"type":"string","logicalType":"uuid"})",
                Bytes("\x48") + "61626364-6566-6768-696a-6b6c6d6e6f70", Type::Of(TypeId::kUuid)),
      IsOkAndHolds(Literal(std::string("abcdefghijklmnop"))));
}

TEST(PartitionCodecTest, KeepsValuesWhoseColumnIsGone) {
  const Type unknown;
  EXPECT_THAT(DecodeOne(R"(["null","string"])", "\x02\x02x", unknown),
              IsOkAndHolds(Literal(std::string("x"))));
  EXPECT_THAT(DecodeOne(R"({"type":"int","logicalType":"date"})", "\x04", unknown),
              IsOkAndHolds(Literal(std::int32_t{2})));
  EXPECT_THAT(DecodeOne(R"("null")", "", unknown), IsOkAndHolds(Literal{}));
}

TEST(PartitionCodecTest, RefusesTypesThatDoNotFit) {
  EXPECT_THAT(DecodeOne(R"("string")", "\x02x", Type::Of(TypeId::kInt)),
              HasError(Code::kCorrupt, HasSubstr("partition field x cannot be read as int")));
  EXPECT_THAT(DecodeOne(R"("double")", "", Type::Of(TypeId::kFloat)), HasCode(Code::kCorrupt));
  EXPECT_THAT(DecodeOne(R"({"type":"map","values":"int"})", "", Type()), HasCode(Code::kCorrupt));
  EXPECT_THAT(DecodeOne(R"(["int","string"])", "", Type::Of(TypeId::kInt)),
              HasError(Code::kUnsupported, HasSubstr("several types")));
  // 2^31 as an int, a uuid of 3 bytes, a decimal of 17 bytes
  EXPECT_THAT(DecodeOne(R"("long")", "\x80\x80\x80\x80\x10", Type::Of(TypeId::kInt)),
              HasCode(Code::kCorrupt));
  EXPECT_THAT(DecodeOne(R"("bytes")", "\x06xyz", Type::Of(TypeId::kUuid)), HasCode(Code::kCorrupt));
  EXPECT_THAT(DecodeOne(R"("bytes")", "\x22" + Bytes(17, 'x'), Type::Decimal(38, 0)),
              HasCode(Code::kCorrupt));
}

TEST(PartitionCodecTest, NamesBecomeAvroNames) {
  EXPECT_EQ(manifest_internal::AvroName("a_B9"), "a_B9");
  EXPECT_EQ(manifest_internal::AvroName("9lives"), "_9lives");
  EXPECT_EQ(manifest_internal::AvroName("part col/1"), "part_x20col_x2F1");
  EXPECT_EQ(manifest_internal::AvroName("\xc3\xa9"), "_xC3_xA9");
}

TEST(PartitionCodecTest, ASpecIsBoundToTheNewestSchemaThatHasItsSources) {
  TableMetadata table =
      MakeTable(MakeSchema({{1, "a", TypeId::kLong}}, 2),
                {MakeSpec(0, {{1, "identity"}}), MakeSpec(1, {{1, "identity"}, {2, "identity"}}),
                 MakeSpec(2, {{9, "identity"}})});
  table.schemas.insert(table.schemas.begin(),
                       {MakeSchema({{1, "a", TypeId::kInt}, {2, "b", TypeId::kString}}, 0),
                        MakeSchema({{1, "a", TypeId::kLong}, {2, "b", TypeId::kString}}, 1)});
  const auto schema_of = [&](int spec) {
    return PartitionSchemaOf(table, *table.FindSpec(SpecId{spec})).id();
  };
  EXPECT_EQ(schema_of(0), SchemaId{2});
  EXPECT_EQ(schema_of(1), SchemaId{1});
  EXPECT_EQ(schema_of(2), SchemaId{2});  // no schema has it
}

}  // namespace
}  // namespace icewright
