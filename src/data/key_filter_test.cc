// Row groups that can have none of the deleted keys are not read, and nothing is lost by that.

#include "data/key_filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>

#include "data/dropped_rows.h"
#include "data/read_test_table.h"

namespace icewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const arrow::FieldVector kColumns = {Col(1, "id", arrow::int64()), Col(2, "small", arrow::int32()),
                                     Col(3, "text", arrow::utf8()), Col(4, "flag", arrow::uint32()),
                                     Col(5, "at", arrow::timestamp(arrow::TimeUnit::MICRO))};
constexpr char kRows[] =
    R"([{"id": 10, "small": 10, "text": "b", "flag": 10, "at": 10},
        {"id": 20, "small": -20, "text": "d", "flag": 20, "at": 20},
        {"id": null, "small": 30, "text": null, "flag": 30, "at": 30}])";

std::unique_ptr<parquet::ParquetFileReader> File(bool bloom, bool statistics = true) {
  auto sink = arrow::io::BufferOutputStream::Create().ValueOrDie();
  parquet::WriterProperties::Builder properties;
  if (!statistics) properties.disable_statistics();
  for (const auto& column : kColumns) {
    if (bloom) properties.enable_bloom_filter(column->name(), {.ndv = 1000, .fpp = 0.001});
  }
  const auto table =
      arrow::Table::FromRecordBatches(arrow::schema(kColumns), {BatchOf(kColumns, kRows)})
          .ValueOrDie();
  EXPECT_TRUE(parquet::arrow::WriteTable(*table, arrow::default_memory_pool(), sink, 1000,
                                         properties.build())
                  .ok());
  return parquet::ParquetFileReader::Open(
      std::make_shared<arrow::io::BufferReader>(sink->Finish().ValueOrDie()));
}

TEST(KeyFilterTest, BoundsAndBloomFiltersExclude) {
  struct Case {
    const char* name;
    int leaf;
    KeyFilter keys;
    bool bounds;  // may hold by bounds alone
    bool bloom;   // and by the Bloom filter alone
  };
  const Case cases[] = {
      {"there", 0, {.integers = {20}}, true, true},
      {"one of many", 0, {.integers = {-5, 11, 20, 99}}, true, true},
      {"on the bound", 0, {.integers = {10}}, true, true},
      {"below and above", 0, {.integers = {9, 21}}, false, false},
      {"between", 0, {.integers = {11, 19}}, true, false},
      {"int as long", 1, {.integers = {-20}}, true, true},
      {"no int has it", 1, {.integers = {5'000'000'000}}, false, false},
      {"text", 2, {.texts = {"a", "d"}}, true, true},
      {"no such text", 2, {.texts = {"c"}}, true, false},
      {"text outside", 2, {.texts = {"", "a", "da"}}, false, false},
      {"unsigned: not looked at", 3, {.integers = {5}}, true, true},
      {"timestamp: not looked at", 4, {.integers = {5}}, true, true},
      {"texts in a column of integers", 0, {.texts = {"x"}}, true, true},
      {"integers in a column of texts", 2, {.integers = {1}}, true, true},
  };
  const auto bounds_only = File(false);
  const auto bloom_only = File(true, false);
  const auto both = File(true);
  const auto neither = File(false, false);
  for (const Case& c : cases) {
    EXPECT_EQ(MayHold(c.keys, *bounds_only, 0, c.leaf), c.bounds) << c.name;
    EXPECT_EQ(MayHold(c.keys, *bloom_only, 0, c.leaf), c.bloom) << c.name;
    EXPECT_EQ(MayHold(c.keys, *both, 0, c.leaf), c.bounds && c.bloom) << c.name;
    EXPECT_TRUE(MayHold(c.keys, *neither, 0, c.leaf)) << c.name;
  }
}

/// Ids 0 to 3 in the first row group, 10 to 12 and null in the second, whose page is damaged.
class SkippedRowGroupsTest : public ::testing::Test, public ReadTestTable {
 protected:
  SkippedRowGroupsTest()
      : ReadTestTable(MakeTable(MakeSchema({{1, "id", TypeId::kLong}}), {MakeSpec(0, {})})) {
    Bytes bytes = ParquetBytes(kIds, {R"([{"id": 0}, {"id": 1}, {"id": 2}, {"id": 3}])",
                                      R"([{"id": 10}, {"id": null}, {"id": 12}])"});
    const auto file = parquet::ParquetFileReader::Open(
        std::make_shared<arrow::io::BufferReader>(arrow::Buffer::FromString(bytes)));
    const auto chunk = file->metadata()->RowGroup(1)->ColumnChunk(0);
    const auto end = chunk->dictionary_page_offset() + chunk->total_compressed_size();
    bytes[static_cast<std::size_t>(end - 1)] ^= 1;
    AddFile("f.parquet", bytes);
  }

  Result<std::vector<std::int64_t>> Dropped() {
    RunContext run;
    IW_ASSIGN(
        const DroppedRowFinder finder,
        DroppedRowFinder::Make(std::make_shared<const TableMetadata>(metadata()), shared_io()));
    IW_ASSIGN(const DroppedRows rows, finder.Find(run, tasks()[0]));
    std::vector<std::int64_t> out;
    rows.positions.ForEach([&](std::int64_t position) { out.push_back(position); });
    return out;
  }

  const arrow::FieldVector kIds = {Col(1, "id", arrow::int64())};
};

TEST_F(SkippedRowGroupsTest, WithoutAKeyInThemTheyAreNotRead) {
  DeleteKeys("e.parquet", kIds, R"([{"id": 2}, {"id": 5}, {"id": 77}])", {1}, 2);
  EXPECT_THAT(Dropped(), IsOkAndHolds(ElementsAre(2)));
}

TEST_F(SkippedRowGroupsTest, PositionsStayThoseOfTheFile) {
  DeleteVector("v.puffin", {1, 6});
  DeleteKeys("e.parquet", kIds, R"([{"id": 99}])", {1}, 2);
  EXPECT_THAT(Dropped(), IsOkAndHolds(ElementsAre(1, 6)));
}

TEST_F(SkippedRowGroupsTest, WithAKeyInThemTheyAre) {
  DeleteKeys("e.parquet", kIds, R"([{"id": 11}])", {1}, 2);
  EXPECT_THAT(Dropped(), HasError(Code::kIo, HasSubstr("checksum")));
}

TEST_F(SkippedRowGroupsTest, NullIsEverywhere) {
  DeleteKeys("e.parquet", kIds, R"([{"id": 2}, {"id": null}])", {1}, 2);
  EXPECT_THAT(Dropped(), HasError(Code::kIo, HasSubstr("checksum")));
}

TEST_F(SkippedRowGroupsTest, ADeleteOfTwoColumnsSkipsNone) {
  metadata() = MakeTable(MakeSchema({{1, "id", TypeId::kLong}, {2, "cat", TypeId::kLong}}),
                         {MakeSpec(0, {})});
  DeleteKeys("e.parquet", {Col(1, "id", arrow::int64()), Col(2, "cat", arrow::int64())},
             R"([{"id": 2, "cat": null}])", {1, 2}, 2);
  EXPECT_THAT(Dropped(), HasError(Code::kIo, HasSubstr("checksum")));
}

}  // namespace
}  // namespace icewright
