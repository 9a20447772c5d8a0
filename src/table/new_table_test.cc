#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "codec/json.h"
#include "table/table_update.h"
#include "testing/matchers.h"

namespace icewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

const TimePoint kNow = FromMillis(1234);

Schema ParseSchema(std::string_view text) {
  auto schema = Schema::FromJson(*ParseJson(text));
  EXPECT_THAT(schema, IsOk());
  return schema ? *schema : Schema();
}

NewTable SmallTable() {
  return {.location = Location("s3://b/t/"),
          .schema = ParseSchema(R"({"type":"struct","identifier-field-ids":[7],"fields":[
             {"id":7,"name":"id","required":true,"type":"long"},
             {"id":3,"name":"ts","required":false,"type":"timestamptz"}]})"),
          .spec = {},
          .sort_order = {},
          .properties = {}};
}

PartitionField PartitionBy(int source, std::string_view transform, std::string name) {
  return {.source_ids = {FieldId{source}},
          .field_id = FieldId{1},
          .name = std::move(name),
          .transform = Transform::Parse(transform)};
}

TEST(NewTableTest, FirstMetadataIsComplete) {
  NewTable table = SmallTable();
  table.spec.id = SpecId{9};
  table.spec.fields = {PartitionBy(3, "day", "ts_day"), PartitionBy(7, "bucket[4]", "id_bucket")};
  table.sort_order.fields = {{.source_ids = {FieldId{7}}, .transform = Transform()}};
  table.properties = {{"format-version", "2"}, {"owner", "me"}, {"uuid", "x"}};
  IW_ASSERT_OK_AND_ASSIGN(const TableMetadata t, MakeTableMetadata(table, "uuid-1", kNow));
  EXPECT_EQ(
      SerializeTableMetadata(t),
      R"({"format-version":2,"table-uuid":"uuid-1","location":"s3://b/t","last-sequence-number":0,)"
      R"("last-updated-ms":1234,"last-column-id":2,"current-schema-id":0,"schemas":[)"
      R"({"type":"struct","schema-id":0,"identifier-field-ids":[1],"fields":[)"
      R"({"id":1,"name":"id","required":true,"type":"long"},)"
      R"({"id":2,"name":"ts","required":false,"type":"timestamptz"}]}],)"
      R"("default-spec-id":0,"partition-specs":[{"spec-id":0,"fields":[)"
      R"({"name":"ts_day","transform":"day","source-id":2,"field-id":1000},)"
      R"({"name":"id_bucket","transform":"bucket[4]","source-id":1,"field-id":1001}]}],)"
      R"("last-partition-id":1001,"default-sort-order-id":1,"sort-orders":[{"order-id":1,"fields":[)"
      R"({"transform":"identity","source-id":1,"direction":"asc","null-order":"nulls-first"}]}],)"
      R"("properties":{"owner":"me","write.parquet.compression-codec":"zstd"},)"
      R"("current-snapshot-id":-1,"refs":{},"snapshots":[],"statistics":[],)"
      R"("partition-statistics":[],"snapshot-log":[],"metadata-log":[]})");
  EXPECT_THAT(ParseTableMetadata(SerializeTableMetadata(t), "x"), IsOk());
}

TEST(NewTableTest, FormatVersionIsAPropertyThatIsObeyed) {
  for (const auto& [text, version] :
       std::vector<std::pair<std::string, int>>{{"", 2}, {"1", 1}, {"2", 2}, {"3", 3}}) {
    NewTable table = SmallTable();
    if (!text.empty()) table.properties["format-version"] = text;
    IW_ASSERT_OK_AND_ASSIGN(const TableMetadata t, MakeTableMetadata(table, "u", kNow));
    EXPECT_EQ(t.format_version, version);
    EXPECT_EQ(t.Property("format-version"), std::nullopt);
    EXPECT_EQ(t.next_row_id, version == 3 ? std::optional<std::int64_t>(0) : std::nullopt);
    EXPECT_EQ(t.last_partition_id, 999);
    EXPECT_EQ(t.default_sort_order_id, SortOrderId{0});
  }
  for (const auto& [text, code] :
       std::vector<std::pair<std::string, Code>>{{"4", Code::kUnsupported},
                                                 {"0", Code::kInvalidArgument},
                                                 {"two", Code::kInvalidArgument}}) {
    NewTable table = SmallTable();
    table.properties["format-version"] = text;
    EXPECT_THAT(MakeTableMetadata(table, "u", kNow), HasError(code, HasSubstr(text)));
  }
}

TEST(NewTableTest, CompressionOfTheUserWins) {
  NewTable table = SmallTable();
  table.properties["write.parquet.compression-codec"] = "gzip";
  IW_ASSERT_OK_AND_ASSIGN(const TableMetadata t, MakeTableMetadata(table, "u", kNow));
  EXPECT_THAT(t.properties, ElementsAre(Pair("write.parquet.compression-codec", "gzip")));
}

TEST(NewTableTest, IdsCountALevelBeforeWhatIsInside) {
  NewTable table = SmallTable();
  table.schema = ParseSchema(R"({"type":"struct","fields":[
    {"id":10,"name":"p","required":false,"type":{"type":"struct","fields":[
      {"id":11,"name":"name","required":true,"type":"string"},
      {"id":12,"name":"age","required":false,"type":"int"}]}},
    {"id":13,"name":"m","required":false,"type":{"type":"map","key-id":14,"key":"string",
      "value-id":15,"value":{"type":"list","element-id":16,"element":"int",
      "element-required":true},"value-required":false}},
    {"id":17,"name":"z","required":false,"type":"int"}]})");
  IW_ASSERT_OK_AND_ASSIGN(const TableMetadata t, MakeTableMetadata(table, "u", kNow));
  const std::vector<std::pair<std::string, int>> ids = {
      {"p", 1},     {"m", 2},     {"z", 3},       {"p.name", 4},
      {"p.age", 5}, {"m.key", 6}, {"m.value", 7}, {"m.value.element", 8}};
  for (const auto& [name, id] : ids) EXPECT_EQ(t.schema().Find(name)->id, FieldId{id}) << name;
  EXPECT_EQ(t.last_column_id, 8);
}

TEST(NewTableTest, WhatDoesNotFitIsNamed) {
  const auto with_spec = [](PartitionField field) {
    NewTable table = SmallTable();
    table.spec.fields = {field, PartitionBy(7, "bucket[2]", "b")};
    return table;
  };
  NewTable bad_sort = SmallTable();
  bad_sort.sort_order.fields = {{.source_ids = {FieldId{8}}, .transform = Transform()}};
  NewTable bad_identifier = SmallTable();
  bad_identifier.schema = Schema(bad_identifier.schema.fields(), {}, {FieldId{3}});
  NewTable new_type = SmallTable();
  new_type.schema = Schema({{.id = FieldId{1}, .name = "v", .type = Type::Of(TypeId::kVariant)}});
  const std::vector<std::pair<NewTable, std::string>> cases = {
      {with_spec(PartitionBy(8, "day", "x")), "partition field x: there is no source column 8"},
      {with_spec(PartitionBy(7, "day", "x")), "day cannot take column id of type long"},
      {with_spec(PartitionBy(3, "day", "id")), "a column has this name"},
      {with_spec(PartitionBy(3, "day", "b")), "partition field b: the name is used twice"},
      {bad_sort, "sort order: there is no source column 8"},
      {bad_identifier, "optional"},
      {new_type, "variant needs format version 3"}};
  for (const auto& [table, says] : cases) {
    EXPECT_THAT(MakeTableMetadata(table, "u", kNow),
                HasError(Code::kInvalidArgument, HasSubstr(says)));
  }
}

}  // namespace
}  // namespace icewright
