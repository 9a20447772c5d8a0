#include <arrow/array.h>
#include <arrow/util/key_value_metadata.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>
#include <parquet/properties.h>
#include <parquet/statistics.h>

#include "codec/json.h"
#include "data/write_test_table.h"

namespace icewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

// Arrow's reader over a file of the table, as an independent look at the bytes.
std::unique_ptr<parquet::ParquetFileReader> Footer(WriteTable& table, const DataFile& file) {
  auto input = table.io()->Open(file.file_path);
  EXPECT_THAT(input, IsOk());
  return parquet::ParquetFileReader::Open(
      ToArrowFile(std::move(input).value(), arrow::default_memory_pool()));
}

const std::string kAllTypes = R"([
  [true, 5, -7, 1.5, -2.5, 10, 1000000, 17, 18, "m", "aaaaaaaaaaaaaaaa", "abc", "x", "1.50", "-2.500", "3.0000000000"],
  [null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null],
  [false, -2147483648, 9223372036854775807, -0.0, NaN, -1, 86399999999, -1, -62135596800000000, "", "zzzzzzzzzzzzzzzz",
   "\u0000ab", "", "-9999999.99", "999999999999999.999", "-1234567890123456789012345678.0000000001"]])";

TEST(ParquetWriterTest, ReadsBackEveryPrimitiveType) {
  WriteTable table(PrimitiveSchema());
  IW_ASSERT_OK_AND_ASSIGN(const DataFile file, table.Write("a.parquet", kAllTypes));
  IW_ASSERT_OK_AND_ASSIGN(const auto rows, table.Read(file));
  const auto want = RowsOf(table.schema(), kAllTypes);
  EXPECT_TRUE(rows->Equals(*want, false, arrow::EqualOptions().nans_equal(true)))
      << rows->ToString() << want->ToString();
  EXPECT_EQ(file.record_count, 3);
  EXPECT_EQ(file.sort_order_id, SortOrderId{0});
  IW_ASSERT_OK_AND_ASSIGN(auto bytes, table.io()->Open(file.file_path));
  EXPECT_THAT(bytes->Size(), IsOkAndHolds(file.file_size_in_bytes));
}

TEST(ParquetWriterTest, SpellsTypesAsJava) {
  WriteTable table(PrimitiveSchema());
  IW_ASSERT_OK_AND_ASSIGN(const DataFile file, table.Write("a.parquet", kAllTypes));
  const auto footer = Footer(table, file);
  const parquet::SchemaDescriptor& schema = *footer->metadata()->schema();
  EXPECT_EQ(schema.name(), "table");
  const char* want[] = {
      "BOOLEAN None",
      "INT32 None",
      "INT64 None",
      "FLOAT None",
      "DOUBLE None",
      "INT32 Date",
      "INT64 Time(isAdjustedToUTC=false, timeUnit=microseconds)",
      "INT64 Timestamp(isAdjustedToUTC=false, timeUnit=microseconds, is_from_converted_type=false, "
      "force_set_converted_type=false)",
      "INT64 Timestamp(isAdjustedToUTC=true, timeUnit=microseconds, is_from_converted_type=false, "
      "force_set_converted_type=false)",
      "BYTE_ARRAY String",
      "FIXED_LEN_BYTE_ARRAY UUID",
      "FIXED_LEN_BYTE_ARRAY None",
      "BYTE_ARRAY None",
      "INT32 Decimal(precision=9, scale=2)",
      "INT64 Decimal(precision=18, scale=3)",
      "FIXED_LEN_BYTE_ARRAY Decimal(precision=38, scale=10)"};
  for (int i = 0; i < schema.num_columns(); ++i) {
    const parquet::ColumnDescriptor& column = *schema.Column(i);
    EXPECT_EQ(
        parquet::TypeToString(column.physical_type()) + " " + column.logical_type()->ToString(),
        want[i]);
    EXPECT_EQ(column.schema_node()->field_id(), i + 1);
  }
  EXPECT_EQ(schema.Column(15)->type_length(), 16);
}

TEST(ParquetWriterTest, KeepsNestedShapesApart) {
  WriteTable table(NestedSchema());
  const std::string json = R"([
      [1, ["ann", 30], ["x", null, "y"], [["k", 1], ["l", null]], [[7, [["q", 1.5]]], [8, null]]],
      [2, null, null, null, null],
      [3, ["bob", null], [], [], []],
      [4, ["c", 1], [null], [["", 0]], [[9, []], [10, [["r", null]]]]]])";
  IW_ASSERT_OK_AND_ASSIGN(const DataFile file, table.Write("a.parquet", json));
  IW_ASSERT_OK_AND_ASSIGN(const auto rows, table.Read(file));
  EXPECT_TRUE(rows->Equals(*RowsOf(table.schema(), json))) << rows->ToString();

  const auto footer = Footer(table, file);
  const parquet::SchemaDescriptor& schema = *footer->metadata()->schema();
  std::vector<std::pair<std::string, int>> leaves;
  for (int i = 0; i < schema.num_columns(); ++i) {
    leaves.emplace_back(schema.Column(i)->path()->ToDotString(),
                        schema.Column(i)->schema_node()->field_id());
  }
  EXPECT_THAT(leaves,
              ElementsAre(Pair("id", 1), Pair("person.name", 10), Pair("person.age", 11),
                          Pair("tags.list.element", 12), Pair("attrs.key_value.key", 13),
                          Pair("attrs.key_value.value", 14), Pair("deep.list.element.a", 21),
                          Pair("deep.list.element.m.key_value.key", 23),
                          Pair("deep.list.element.m.key_value.value", 24)));
  EXPECT_EQ(schema.group_node()->field(1)->field_id(), 2);
  EXPECT_EQ(schema.group_node()->field(4)->field_id(), 5);
  // As Java: sizes of all columns, counts outside of lists and maps only.
  EXPECT_THAT(file.column_sizes, SizeIs(9));
  EXPECT_THAT(file.value_counts,
              ElementsAre(Pair(FieldId{1}, 4), Pair(FieldId{10}, 4), Pair(FieldId{11}, 4)));
}

TEST(ParquetWriterTest, HiddenElementsOfNullListsAreNotWritten) {
  const Schema schema(
      {MakeField(1, "l", Type::List(MakeField(2, "element", Type::Of(TypeId::kInt))))},
      SchemaId{0});
  WriteTable table(schema);
  // Lists [1], null, [4, 5], null, [] over elements 1 to 6: the nulls hide 2, 3 and 6.
  auto type = ToArrowSchema(schema);
  auto elements = arrow::json::ArrayFromJSONString(arrow::int32(), "[1, 2, 3, 4, 5, 6]");
  auto offsets = arrow::json::ArrayFromJSONString(arrow::int32(), "[0, 1, 3, 5, 6, 6]");
  const std::uint8_t valid = 0b10101;
  const auto lists = std::make_shared<arrow::ListArray>(
      (*type)->field(0)->type(), 5, (*offsets)->data()->buffers[1], *elements,
      std::make_shared<arrow::Buffer>(&valid, 1), 2);
  const auto batch = arrow::RecordBatch::Make(*type, 5, {lists});
  IW_ASSERT_OK_AND_ASSIGN(const DataFile file, table.Write("a", {batch, batch->Slice(2, 3)}));
  IW_ASSERT_OK_AND_ASSIGN(const auto rows, table.Read(file));
  EXPECT_TRUE(rows->Equals(
      *RowsOf(schema, "[[[1]], [null], [[4, 5]], [null], [[]], [[4, 5]], [null], [[]]]")))
      << rows->ToString();
}

TEST(ParquetWriterTest, SlicedNestedRowsKeepTheirValues) {
  WriteTable table(NestedSchema());
  const auto rows = RowsOf(table.schema(), R"([
      [1, ["a", 1], ["x"], [["k", 1]], [[7, [["q", 1.5]]]]],
      [2, null, ["y", "z"], null, [[8, null]]],
      [3, ["c", null], null, [["m", 2], ["n", 3]], null]])");
  IW_ASSERT_OK_AND_ASSIGN(const DataFile file,
                          table.Write("a", {rows->Slice(1, 2), rows->Slice(0, 1)}));
  IW_ASSERT_OK_AND_ASSIGN(const auto got, table.Read(file));
  EXPECT_TRUE(got->Slice(0, 2)->Equals(*rows->Slice(1, 2))) << got->ToString();
  EXPECT_TRUE(got->Slice(2, 1)->Equals(*rows->Slice(0, 1))) << got->ToString();
}

TEST(ParquetWriterTest, TellsIcebergsSchemaAndNoArrowSchema) {
  WriteTable table(PrimitiveSchema());
  IW_ASSERT_OK_AND_ASSIGN(const DataFile file, table.Write("a.parquet", "[]"));
  const auto footer = Footer(table, file);
  const auto& metadata = *footer->metadata()->key_value_metadata();
  ASSERT_THAT(metadata.keys(), ElementsAre("iceberg.schema"));
  IW_ASSERT_OK_AND_ASSIGN(const Json json, ParseJson(metadata.value(0)));
  IW_ASSERT_OK_AND_ASSIGN(const Schema schema, Schema::FromJson(json));
  EXPECT_TRUE(schema.SameAs(table.schema()));
  EXPECT_EQ(footer->metadata()->created_by(), "icewright version 0.1.0");
  EXPECT_EQ(file.record_count, 0);
  EXPECT_THAT(file.split_offsets, IsEmpty());
}

TEST(ParquetWriterTest, CutsRowGroupsByBytes) {
  WriteTable table(MakeSchema({{1, "s", TypeId::kString}}),
                   {{"write.parquet.row-group-size-bytes", "20000"},
                    {"write.parquet.compression-codec", "uncompressed"},
                    {"write.parquet.dict-encoding-enabled.column.s", "false"}});
  std::string json = "[";
  for (int i = 0; i < 2000; ++i) {
    json += (i == 0 ? "" : ",") + std::string("[\"0123456789012345678901234567890123456789") +
            std::to_string(10000 + i) + "\"]";
  }
  IW_ASSERT_OK_AND_ASSIGN(const DataFile file, table.Write("a.parquet", json + "]"));
  const auto footer = Footer(table, file);
  const auto& metadata = *footer->metadata();
  // 49 bytes a row and at least 100 rows between two looks at the size.
  ASSERT_EQ(metadata.num_row_groups(), 5);
  std::vector<std::int64_t> starts;
  for (int g = 0; g < metadata.num_row_groups(); ++g) {
    if (g + 1 < metadata.num_row_groups()) {
      EXPECT_GE(metadata.RowGroup(g)->total_byte_size(), 20000);
      EXPECT_LT(metadata.RowGroup(g)->total_byte_size(), 20000 + 100 * 60);
    }
    starts.push_back(metadata.RowGroup(g)->ColumnChunk(0)->data_page_offset());
  }
  EXPECT_EQ(file.split_offsets, starts);
  EXPECT_EQ(file.split_offsets[0], 4);
}

struct SettingCase {
  std::string name;
  Properties properties;
  std::string want;  // codec, dictionary, statistics, bloom filter
};

class ParquetSettingsTest : public ::testing::TestWithParam<SettingCase> {};

TEST_P(ParquetSettingsTest, ComeFromTableProperties) {
  const SettingCase& c = GetParam();
  WriteTable table(MakeSchema({{1, "s", TypeId::kString}}), c.properties);
  IW_ASSERT_OK_AND_ASSIGN(const DataFile file,
                          table.Write("a.parquet", R"([["x"], ["x"], ["y"], [null]])"));
  const auto footer = Footer(table, file);
  const auto chunk = footer->metadata()->RowGroup(0)->ColumnChunk(0);
  std::string got = arrow::util::Codec::GetCodecAsString(chunk->compression());
  got += chunk->has_dictionary_page() ? " dict" : " plain";
  got += chunk->is_stats_set() ? " stats" : " -";
  got += chunk->bloom_filter_offset() ? " bloom" : " -";
  EXPECT_EQ(got, c.want);
  IW_ASSERT_OK_AND_ASSIGN(const auto rows, table.Read(file));
  EXPECT_TRUE(rows->Equals(*RowsOf(table.schema(), R"([["x"], ["x"], ["y"], [null]])")));
}

INSTANTIATE_TEST_SUITE_P(
    Table, ParquetSettingsTest,
    ::testing::Values(
        SettingCase{"AbsentCodecIsGzip", {}, "gzip dict stats -"},
        SettingCase{
            "Zstd",
            {{"write.parquet.compression-codec", "ZSTD"}, {"write.parquet.compression-level", "9"}},
            "zstd dict stats -"},
        SettingCase{"Snappy",
                    {{"write.parquet.compression-codec", "snappy"},
                     {"write.parquet.compression-level", "9"}},
                    "snappy dict stats -"},
        SettingCase{"Lz4", {{"write.parquet.compression-codec", "lz4"}}, "lz4_raw dict stats -"},
        SettingCase{"None",
                    {{"write.parquet.compression-codec", "uncompressed"}},
                    "uncompressed dict stats -"},
        SettingCase{"PagesV2", {{"write.parquet.page-version", "v2"}}, "gzip dict stats -"},
        SettingCase{"NoDictionary",
                    {{"write.parquet.dict-encoding-enabled.column.s", "false"}},
                    "gzip plain stats -"},
        SettingCase{
            "NoStatistics", {{"write.parquet.stats-enabled.column.s", "false"}}, "gzip dict - -"},
        SettingCase{"Bloom",
                    {{"write.parquet.bloom-filter-enabled.column.s", "true"}},
                    "gzip dict stats bloom"},
        SettingCase{"BloomWithNdv",
                    {{"write.parquet.bloom-filter-enabled.column.s", "true"},
                     {"write.parquet.bloom-filter-ndv.column.s", "1000"},
                     {"write.parquet.bloom-filter-fpp.column.s", "0.05"}},
                    "gzip dict stats bloom"}),
    [](const auto& test) { return test.param.name; });

struct RefusalCase {
  std::string key, value;
  Code code;
};

TEST(ParquetWriterTest, RefusesSettingsItCannotKeep) {
  const RefusalCase cases[] = {
      {"write.parquet.compression-codec", "lzo", Code::kUnsupported},
      {"write.parquet.compression-codec", "magic", Code::kUnsupported},
      {"write.parquet.page-version", "v3", Code::kInvalidArgument},
      {"write.parquet.page-size-bytes", "0", Code::kInvalidArgument},
      {"write.parquet.page-row-limit", "-1", Code::kInvalidArgument},
      {"write.parquet.row-group-size-bytes", "0", Code::kInvalidArgument},
      {"write.parquet.row-group-size-bytes", "big", Code::kInvalidArgument},
      {"write.parquet.dict-size-bytes", "-5", Code::kInvalidArgument},
      {"write.format.default", "csv", Code::kUnsupported},
      {"write.format.default", "puffin", Code::kUnsupported},
  };
  for (const RefusalCase& c : cases) {
    WriteTable table(PrimitiveSchema(), {{c.key, c.value}});
    EXPECT_THAT(
        table.Open("a"),
        HasError(c.code, HasSubstr(c.value == "0" || c.value[0] == '-' ? "above 0" : c.value)))
        << c.key;
    EXPECT_THAT(table.FileNames(), IsEmpty());
  }
}

TEST(ParquetWriterTest, DestructionWithoutCloseLeavesNoFile) {
  WriteTable table(PrimitiveSchema());
  {
    IW_ASSERT_OK_AND_ASSIGN(auto writer, table.Open("a.parquet"));
    ASSERT_THAT(writer->Write(table.run(), *RowsOf(table.schema(), kAllTypes)), IsOk());
  }
  EXPECT_THAT(table.FileNames(), IsEmpty());
}

TEST(ParquetWriterTest, RefusesNullsInRequiredColumns) {
  const Schema optional = MakeSchema({{1, "id", TypeId::kLong}});
  WriteTable table(MakeSchema({{1, "id", Type::Of(TypeId::kLong), true}}));
  EXPECT_THAT(table.Write("a", {RowsOf(optional, "[[1], [null]]")}),
              HasError(Code::kCorrupt, HasSubstr("id")));
  EXPECT_THAT(table.FileNames(), IsEmpty());
}

TEST(ParquetWriterTest, LeavesOutColumnsOfUnknownType) {
  WriteTable table(MakeSchema({{1, "id", TypeId::kLong}, {2, "gone", TypeId::kUnknown}}), {}, 3);
  IW_ASSERT_OK_AND_ASSIGN(const DataFile file, table.Write("a", "[[1, null], [2, null]]"));
  EXPECT_EQ(Footer(table, file)->metadata()->num_columns(), 1);
  EXPECT_THAT(file.value_counts, ElementsAre(Pair(FieldId{1}, 2)));
}

TEST(ParquetWriterTest, TakesDictionariesAndDenseBatchesInOneColumn) {
  WriteTable table(MakeSchema({{1, "s", TypeId::kString}}));
  const auto dictionary = [](const char* indices, const char* values) {
    auto array = arrow::json::DictArrayFromJSONString(
        arrow::dictionary(arrow::int32(), arrow::utf8()), indices, values);
    EXPECT_TRUE(array.ok()) << array.status().ToString();
    return arrow::RecordBatch::Make(arrow::schema({arrow::field("s", (*array)->type())}),
                                    (*array)->length(), {*array});
  };
  IW_ASSERT_OK_AND_ASSIGN(const DataFile file,
                          table.Write("a", {dictionary("[0, 1, null, 0]", R"(["b", "c"])"),
                                            RowsOf(table.schema(), R"([["a"], [null], ["d"]])"),
                                            dictionary("[1, 1, 0]", R"(["e", "b"])")}));
  IW_ASSERT_OK_AND_ASSIGN(const auto rows, table.Read(file));
  EXPECT_TRUE(rows->Equals(*RowsOf(table.schema(),
                                   R"([["b"], ["c"], [null], ["b"], ["a"], [null], ["d"], ["b"],
                                       ["b"], ["e"]])")))
      << rows->ToString();
  EXPECT_THAT(file.lower_bounds, ElementsAre(Pair(FieldId{1}, "a")));
  EXPECT_THAT(file.upper_bounds, ElementsAre(Pair(FieldId{1}, "e")));
  EXPECT_THAT(file.null_value_counts, ElementsAre(Pair(FieldId{1}, 2)));
}

// Rows (key, text, few): key and text have `distinct` values each, few has ten.
std::string ManyRows(int rows, int distinct) {
  std::string out = "[";
  for (int i = 0; i < rows; ++i) {
    const std::string n = std::to_string(i % distinct);
    out += (i == 0 ? "[" : ",[") + n + ",\"text" + n + "\"," + std::to_string(i % 10) + "]";
  }
  return out + "]";
}

TEST(ParquetWriterTest, NearUniqueColumnsGetNoDictionary) {
  struct Case {
    const char* name;
    int rows, distinct;
    bool dictionary;
  };
  constexpr Case kCases[] = {{"unique", 3000, 3000, false},
                             {"nearly", 3000, 2750, false},
                             {"half", 3000, 1500, true},
                             {"too few to tell", 900, 900, true}};
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    WriteTable table(MakeSchema(
        {{1, "key", TypeId::kLong}, {2, "text", TypeId::kString}, {3, "few", TypeId::kInt}}));
    const std::string rows = ManyRows(c.rows, c.distinct);
    IW_ASSERT_OK_AND_ASSIGN(const DataFile file, table.Write("a.parquet", rows));
    const auto footer = Footer(table, file);
    const auto group = footer->metadata()->RowGroup(0);
    EXPECT_EQ(group->ColumnChunk(0)->has_dictionary_page(), c.dictionary);
    EXPECT_EQ(group->ColumnChunk(1)->has_dictionary_page(), c.dictionary);
    EXPECT_TRUE(group->ColumnChunk(2)->has_dictionary_page());
    IW_ASSERT_OK_AND_ASSIGN(const auto got, table.Read(file));
    EXPECT_TRUE(got->Equals(*RowsOf(table.schema(), rows)));
  }
}

TEST(ParquetWriterTest, NearUniqueIsCountedAmongValuesThatArePresent) {
  WriteTable table(MakeSchema({{1, "key", TypeId::kLong}, {2, "rare", TypeId::kLong}}));
  std::string rows = "[";
  for (int i = 0; i < 4000; ++i) {
    const std::string n = std::to_string(i);
    rows +=
        (i == 0 ? "[" : ",[") + (i % 2 == 0 ? n : "null") + "," + (i % 5 == 0 ? n : "null") + "]";
  }
  IW_ASSERT_OK_AND_ASSIGN(const DataFile file, table.Write("a.parquet", rows + "]"));
  const auto footer = Footer(table, file);
  const auto group = footer->metadata()->RowGroup(0);
  EXPECT_FALSE(group->ColumnChunk(0)->has_dictionary_page());
  EXPECT_TRUE(group->ColumnChunk(1)->has_dictionary_page()) << "800 values tell too little";
}

TEST(ParquetWriterTest, NearUniqueDictionariesOfABatchAreWrittenAsValues) {
  WriteTable table(MakeSchema({{1, "s", TypeId::kString}}));
  std::string indices = "[";
  std::string values = "[";
  std::string rows = "[";
  constexpr int kRows = 2000;
  for (int i = 0; i < kRows; ++i) {
    const char* comma = i == 0 ? "" : ",";
    indices += comma + std::to_string(kRows - 1 - i);
    values += comma + ("\"v" + std::to_string(i) + "\"");
    rows += comma + ("[\"v" + std::to_string(kRows - 1 - i) + "\"]");
  }
  const auto array = *arrow::json::DictArrayFromJSONString(
      arrow::dictionary(arrow::int32(), arrow::utf8()), indices + "]", values + "]");
  const auto batch =
      arrow::RecordBatch::Make(arrow::schema({arrow::field("s", array->type())}), kRows, {array});
  IW_ASSERT_OK_AND_ASSIGN(const DataFile file, table.Write("a", {batch, batch}));
  const auto footer = Footer(table, file);
  EXPECT_FALSE(footer->metadata()->RowGroup(0)->ColumnChunk(0)->has_dictionary_page());
  IW_ASSERT_OK_AND_ASSIGN(const auto got, table.Read(file));
  const auto want = RowsOf(table.schema(), rows + "]");
  EXPECT_TRUE(got->Slice(0, kRows)->Equals(*want));
  EXPECT_TRUE(got->Slice(kRows)->Equals(*want));
}

}  // namespace
}  // namespace icewright
