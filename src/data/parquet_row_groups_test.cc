#include <gmock/gmock.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>
#include <parquet/types.h>

#include <stop_token>

#include "data/write_test_table.h"

namespace icewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Batches = std::vector<std::shared_ptr<arrow::RecordBatch>>;

std::unique_ptr<parquet::ParquetFileReader> Footer(WriteTable& table, const DataFile& file) {
  auto input = table.io()->Open(file.file_path);
  EXPECT_THAT(input, IsOk());
  return parquet::ParquetFileReader::Open(
      ToArrowFile(std::move(input).value(), arrow::default_memory_pool()));
}

std::vector<std::int64_t> RowGroupRows(WriteTable& table, const DataFile& file) {
  std::vector<std::int64_t> rows;
  const auto metadata = Footer(table, file)->metadata();
  for (int g = 0; g < metadata->num_row_groups(); ++g) {
    rows.push_back(metadata->RowGroup(g)->num_rows());
  }
  return rows;
}

// Nested rows of every shape: null, empty and filled lists, maps and structs.
Batches NestedBatches(const Schema& schema, int batches, int rows) {
  Batches out;
  for (int b = 0; b < batches; ++b) {
    std::string json = "[";
    for (int r = 0; r < rows; ++r) {
      const int n = b * rows + r;
      const std::string id = std::to_string(n);
      json += std::string(r == 0 ? "" : ",") + "[" + id;
      json += n % 5 == 0 ? ",null" : ",[\"name" + id + "\"," + (n % 3 == 0 ? "null" : id) + "]";
      json += n % 7 == 0   ? ",null"
              : n % 7 == 1 ? ",[]"
                           : ",[\"x\",null,\"tag" + std::to_string(n % 11) + "\"]";
      json += n % 4 == 0 ? ",null" : ",[[\"k" + id + "\"," + id + "],[\"l\",null]]";
      json += n % 6 == 0   ? ",null"
              : n % 6 == 1 ? ",[]"
                           : ",[[" + id + ",[[\"q\",1.5],[\"r\",null]]],[8,null],[9,[]]]";
      json += "]";
    }
    out.push_back(RowsOf(schema, json + "]"));
  }
  return out;
}

// Writes with row groups of at most `raw_bytes` of rows, column by column; side by side if unset.
Result<DataFile> WriteWith(WriteTable& table, const std::string& name,
                           std::optional<std::int64_t> raw_bytes, const Batches& batches,
                           RunContext& run, std::size_t end_after = 0) {
  IW_ASSIGN(WritePlan plan, MakeWritePlan(table.shared(), table.schema()));
  plan.raw_row_group_bytes = raw_bytes;
  IW_ASSIGN(auto writer,
            CreateFileWriter(run, std::make_shared<const WritePlan>(std::move(plan)), *table.io(),
                             Location("memory:/t/data/" + name), MakePool(run)));
  std::size_t written = 0;
  for (const auto& batch : batches) {
    IW_TRY(writer->Write(run, *batch));
    if (++written == end_after) IW_TRY(writer->EndRowGroup(run));
  }
  return writer->Close(run);
}

TEST(ParquetRowGroupsTest, ByColumnGivesTheSameRowsAndMetrics) {
  for (const Schema& schema : {NestedSchema(), PrimitiveSchema()}) {
    WriteTable table(schema);
    const bool nested = schema.fields().size() == NestedSchema().fields().size();
    const Batches batches = nested ? NestedBatches(schema, 5, 40)
                                   : Batches{RowsOf(schema, R"([
      [true, 5, -7, 1.5, -2.5, 10, 1, 17, 18, "m", "aaaaaaaaaaaaaaaa", "abc", "x", "1.50", "-2.500", "3.0000000000"],
      [null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null]])"),
                                             RowsOf(schema, R"([
      [false, -2, 9, -0.0, 3.5, -1, 2, -1, -6, "", "zzzzzzzzzzzzzzzz", "\u0000ab", "", "-9.99", "9.999", "-1.0000000001"]])")};
    IW_ASSERT_OK_AND_ASSIGN(DataFile beside,
                            WriteWith(table, "beside", {}, batches, table.run(), 2));
    IW_ASSERT_OK_AND_ASSIGN(DataFile by_column,
                            WriteWith(table, "by-column", 1 << 20, batches, table.run(), 2));
    IW_ASSERT_OK_AND_ASSIGN(const auto want, table.Read(beside));
    IW_ASSERT_OK_AND_ASSIGN(const auto got, table.Read(by_column));
    EXPECT_TRUE(got->Equals(*want)) << got->ToString();
    EXPECT_EQ(RowGroupRows(table, by_column), RowGroupRows(table, beside));
    EXPECT_EQ(by_column.column_sizes, beside.column_sizes);
    EXPECT_EQ(by_column.value_counts, beside.value_counts);
    EXPECT_EQ(by_column.null_value_counts, beside.null_value_counts);
    EXPECT_EQ(by_column.nan_value_counts, beside.nan_value_counts);
    EXPECT_EQ(by_column.lower_bounds, beside.lower_bounds);
    EXPECT_EQ(by_column.upper_bounds, beside.upper_bounds);
    EXPECT_EQ(by_column.split_offsets, beside.split_offsets);
    EXPECT_EQ(by_column.file_size_in_bytes, beside.file_size_in_bytes);
  }
}

TEST(ParquetRowGroupsTest, ByColumnCutsAtTheRawLimit) {
  WriteTable table(MakeSchema({{1, "a", TypeId::kLong}, {2, "b", TypeId::kLong}}));
  std::string json;
  for (int i = 0; i < 1000; ++i) {
    json += (i == 0 ? "[[" : ",[") + std::to_string(i) + "," + std::to_string(-i) + "]";
  }
  const auto batch = RowsOf(table.schema(), json + "]");
  // 16 bytes of values a row.
  IW_ASSERT_OK_AND_ASSIGN(const DataFile file,
                          WriteWith(table, "a", 16 * 400, {batch}, table.run()));
  EXPECT_THAT(RowGroupRows(table, file), ElementsAre(400, 400, 200));
  EXPECT_THAT(file.split_offsets, SizeIs(3));
  IW_ASSERT_OK_AND_ASSIGN(const auto rows, table.Read(file));
  EXPECT_TRUE(rows->Equals(*batch));
}

TEST(ParquetRowGroupsTest, AStopEndsTheWritingOfColumns) {
  WriteTable table(NestedSchema());
  std::stop_source stop;
  RunContext run(RunOptions{.stop = stop.get_token()});
  IW_ASSERT_OK_AND_ASSIGN(WritePlan plan, MakeWritePlan(table.shared(), table.schema()));
  plan.raw_row_group_bytes = 1 << 20;
  {
    IW_ASSERT_OK_AND_ASSIGN(
        auto writer, CreateFileWriter(run, std::make_shared<const WritePlan>(std::move(plan)),
                                      *table.io(), Location("memory:/t/data/a"), MakePool(run)));
    for (const auto& batch : NestedBatches(table.schema(), 3, 20)) {
      ASSERT_THAT(writer->Write(run, *batch), IsOk());
    }
    EXPECT_GT(writer->buffered_bytes(), 0);
    stop.request_stop();
    EXPECT_THAT(writer->EndRowGroup(run), HasError(Code::kCancelled, HasSubstr("")));
  }
  EXPECT_THAT(table.FileNames(), IsEmpty());
}

TEST(ParquetRowGroupsTest, ByColumnRefusesNullsInRequiredColumns) {
  const Schema optional = MakeSchema({{1, "id", TypeId::kLong}});
  WriteTable table(MakeSchema({{1, "id", Type::Of(TypeId::kLong), true}}));
  EXPECT_THAT(WriteWith(table, "a", 100, {RowsOf(optional, "[[1], [null]]")}, table.run()),
              HasError(Code::kCorrupt, HasSubstr("id")));
  EXPECT_THAT(table.FileNames(), IsEmpty());
}

TEST(ParquetRowGroupsTest, ReadingByColumnGivesTheSameRows) {
  WriteTable table(NestedSchema());
  const Batches batches = NestedBatches(table.schema(), 5, 40);
  IW_ASSERT_OK_AND_ASSIGN(const DataFile file,
                          WriteWith(table, "a", 1 << 20, batches, table.run(), 2));
  IW_ASSERT_OK_AND_ASSIGN(const auto want, table.Read(file));
  for (const std::int64_t limit : {std::int64_t{1}, std::int64_t{1} << 30}) {
    IW_ASSERT_OK_AND_ASSIGN(const auto made, MakeReadPlan(table.shared(), table.schema()));
    auto plan = std::make_shared<ReadPlan>(*made);
    plan->batch_rows = 7;
    plan->by_column_bytes = limit;
    IW_ASSERT_OK_AND_ASSIGN(
        auto reader, OpenTask(table.run(), plan, table.io(), nullptr,
                              FileTask{.data_file = file, .deletes = {}}, MakePool(table.run())));
    arrow::RecordBatchVector got;
    for (;;) {
      IW_ASSERT_OK_AND_ASSIGN(auto batch, reader->Next(table.run()));
      if (batch == nullptr) break;
      EXPECT_LE(batch->num_rows(), 7);
      got.push_back(std::move(batch));
    }
    const auto all = arrow::ConcatenateRecordBatches(got);
    ASSERT_TRUE(all.ok());
    EXPECT_TRUE((*all)->Equals(*want)) << limit;
  }
}

struct GeoCase {
  Type type;
  std::string crs;
  std::string algorithm;  // empty for geometry
};

TEST(ParquetRowGroupsTest, GeospatialColumnsKeepTheirReferenceSystem) {
  const GeoCase cases[] = {{Type::Geometry(), "", ""},
                           {Type::Geometry("srid:3857"), "srid:3857", ""},
                           {Type::Geography(), "", "spherical"},
                           {Type::Geography("srid:4269"), "srid:4269", "spherical"},
                           {Type::Geography("srid:4269", "karney"), "srid:4269", "karney"},
                           {Type::Geography({}, "Vincenty"), "", "vincenty"}};
  for (const GeoCase& c : cases) {
    WriteTable table(MakeSchema({{1, "g", c.type}}), {}, 3);
    IW_ASSERT_OK_AND_ASSIGN(const DataFile file, table.Write("a", "[[null]]"));
    const auto metadata = Footer(table, file)->metadata();
    const auto logical = metadata->schema()->Column(0)->logical_type();
    if (c.algorithm.empty()) {
      ASSERT_TRUE(logical->is_geometry());
      EXPECT_EQ(static_cast<const parquet::GeometryLogicalType&>(*logical).crs(), c.crs);
    } else {
      ASSERT_TRUE(logical->is_geography());
      const auto& geography = static_cast<const parquet::GeographyLogicalType&>(*logical);
      EXPECT_EQ(geography.crs(), c.crs);
      EXPECT_EQ(geography.algorithm_name(), c.algorithm);
    }
  }
  WriteTable odd(MakeSchema({{1, "g", Type::Geography("srid:1", "straight")}}), {}, 3);
  EXPECT_THAT(odd.Open("a"), HasError(Code::kUnsupported, HasSubstr("straight")));
}

}  // namespace
}  // namespace icewright
