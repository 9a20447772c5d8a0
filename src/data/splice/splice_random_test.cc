// Random tables: splicing, decoding and the inputs agree.

#include <cstdlib>

#include "data/splice/random_rows.h"
#include "data/splice/splice_test_table.h"

namespace icewright {
namespace {

// Ids of primitive columns are moved past those inside the nested ones.
Schema AllTypes() {
  constexpr int kMoved = 50;
  std::vector<Field> fields = NestedSchema().fields();
  const Schema primitives = PrimitiveSchema();
  for (Field field : primitives.fields()) {
    field.id = FieldId{Raw(field.id) + kMoved};
    fields.push_back(std::move(field));
  }
  fields.push_back(MakeField(200, "required_text", Type::Of(TypeId::kString), true));
  fields.push_back(MakeField(201, "required_double", Type::Of(TypeId::kDouble), true));
  return Schema(std::move(fields), SchemaId{0});
}

// Some columns of a schema, at least one.
Schema SomeColumns(RandomRows& random, const Schema& all) {
  std::vector<Field> fields;
  for (const Field& field : all.fields()) {
    if (random.OneIn(3)) fields.push_back(field);
  }
  if (fields.empty()) fields.push_back(all.fields().front());
  return Schema(std::move(fields), SchemaId{0});
}

Properties TableProperties(RandomRows& random) {
  constexpr const char* kCodecs[] = {"uncompressed", "snappy", "gzip", "zstd", "lz4"};
  Properties out = {{"write.parquet.compression-codec", kCodecs[random.Below(5)]},
                    {"write.metadata.metrics.default", random.OneIn(3)   ? "full"
                                                       : random.OneIn(3) ? "counts"
                                                                         : "truncate(5)"}};
  if (random.OneIn(2)) out["write.parquet.page-version"] = "v2";
  if (random.OneIn(2)) out["write.parquet.row-group-size-bytes"] = "20000";
  if (random.OneIn(2))
    out["write.parquet.page-row-limit"] = std::to_string(100 + random.Below(900));
  if (random.OneIn(3)) out["write.parquet.dict-size-bytes"] = "500";
  if (random.OneIn(3)) out["write.parquet.page-size-bytes"] = "4096";
  return out;
}

std::string Show(const ColumnBounds& bounds) {
  std::string out;
  for (const auto& [id, bytes] : bounds) out += std::to_string(Raw(id)) + ":" + ToHex(bytes) + " ";
  return out;
}

// Metrics of one engine's only file are the other's.
void ExpectSameMetrics(const std::vector<DataFile>& spliced, const std::vector<DataFile>& decoded) {
  if (spliced.size() != 1 || decoded.size() != 1) return;
  const DataFile& a = spliced.front();
  const DataFile& b = decoded.front();
  EXPECT_EQ(a.record_count, b.record_count);
  EXPECT_EQ(a.value_counts, b.value_counts);
  EXPECT_EQ(a.null_value_counts, b.null_value_counts);
  EXPECT_EQ(a.nan_value_counts, b.nan_value_counts);
  EXPECT_EQ(Show(a.lower_bounds), Show(b.lower_bounds));
  EXPECT_EQ(Show(a.upper_bounds), Show(b.upper_bounds));
  ASSERT_EQ(a.column_sizes.size(), b.column_sizes.size());
  for (std::size_t i = 0; i < a.column_sizes.size(); ++i) {
    EXPECT_EQ(a.column_sizes[i].first, b.column_sizes[i].first);
  }
}

// The files are sound, and know what all inputs knew.
void ExpectSoundFiles(SpliceTable& table, const std::vector<DataFile>& files,
                      const std::vector<ChunkCounters>& inputs) {
  for (const DataFile& file : files) {
    const auto reader = table.OpenParquet(file);
    const auto footer = reader->metadata();
    EXPECT_EQ(footer->num_rows(), file.record_count);
    ASSERT_EQ(footer->num_row_groups(), std::ssize(file.split_offsets));
    for (int g = 0; g < footer->num_row_groups(); ++g) {
      EXPECT_EQ(footer->RowGroup(g)->file_offset(),
                file.split_offsets[static_cast<std::size_t>(g)]);
    }
    for (int i = 0; i < footer->num_columns(); ++i) {
      const ChunkCounters in = inputs[static_cast<std::size_t>(i)];
      const ChunkCounters out = CountersOf(*reader, i);
      const std::string path = footer->schema()->Column(i)->path()->ToDotString();
      if (in.with_bounds == in.chunks) {
        EXPECT_EQ(out.with_bounds, out.chunks) << path;
      }
      if (in.with_nulls == in.chunks) {
        EXPECT_EQ(out.with_nulls, out.chunks) << path;
      }
      if (in.with_column_index == in.chunks) {
        EXPECT_EQ(out.with_column_index, out.chunks) << path;
      }
      EXPECT_EQ(out.with_offset_index, out.chunks) << path;
    }
  }
}

void AddUp(std::vector<ChunkCounters>& sum, parquet::ParquetFileReader& reader) {
  sum.resize(static_cast<std::size_t>(reader.metadata()->num_columns()));
  for (std::size_t i = 0; i < sum.size(); ++i) {
    const ChunkCounters one = CountersOf(reader, static_cast<int>(i));
    sum[i].chunks += one.chunks;
    sum[i].with_bounds += one.with_bounds;
    sum[i].with_nulls += one.with_nulls;
    sum[i].with_column_index += one.with_column_index;
  }
}

void SpliceOne(std::uint64_t seed) {
  SCOPED_TRACE("ICEWRIGHT_TEST_SEED=" + std::to_string(seed));
  RandomRows random(seed);
  const Schema schema = SomeColumns(random, AllTypes());
  SpliceTable table(schema, TableProperties(random));
  arrow::RecordBatchVector expected;
  std::vector<FileTask> tasks;
  std::vector<ChunkCounters> counters;
  const int files = 1 + random.Below(5);
  const bool same_properties = random.OneIn(2);
  auto properties = RandomProperties(random, schema, random.OneIn(2));
  for (int i = 0; i < files; ++i) {
    if (!same_properties) properties = RandomProperties(random, schema, random.OneIn(2));
    expected.push_back(random.Make(schema, 1 + random.Below(random.OneIn(3) ? 4000 : 300)));
    tasks.push_back(table.ArrowFile("f" + std::to_string(i), expected.back(), properties));
    AddUp(counters, *table.OpenParquet(tasks.back().data_file));
  }
  RewriteGroupRequest request = RequestOf(std::move(tasks));
  request.verify_values = true;
  RunContext run({.threads = 2});
  request.threads = 1 + random.Below(2);
  auto spliced = table.Splice(run, request);
  ASSERT_THAT(spliced, IsOk());
  const auto rows = *arrow::ConcatenateRecordBatches(expected);
  EXPECT_TRUE(table.ReadAll(spliced->added, schema)
                  ->Equals(*rows, false, arrow::EqualOptions::Defaults().nans_equal(true)));
  table.SetOperation("decoded");
  auto decoded = table.Rewrite(request);
  ASSERT_THAT(decoded, IsOk());
  ExpectSameMetrics(spliced->added, decoded->added);
  ExpectSoundFiles(table, spliced->added, counters);
  EXPECT_EQ(spliced->rows_read, rows->num_rows());
  EXPECT_EQ(spliced->rows_written, rows->num_rows());

  // What was spliced can be spliced again.
  std::vector<FileTask> again;
  for (const DataFile& file : spliced->added) again.push_back({.data_file = file, .deletes = {}});
  RewriteGroupRequest second = RequestOf(std::move(again));
  auto twice = table.Splice(second);
  ASSERT_THAT(twice, IsOk());
  EXPECT_TRUE(table.ReadAll(twice->added, schema)
                  ->Equals(*rows, false, arrow::EqualOptions::Defaults().nans_equal(true)));
  ExpectSameMetrics(twice->added, decoded->added);
}

void SpliceMany(std::uint64_t first, std::uint64_t count) {
  if (const char* seed = std::getenv("ICEWRIGHT_TEST_SEED")) {
    SpliceOne(std::strtoull(seed, nullptr, 10));
    return;
  }
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    SpliceOne(seed);
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(SpliceRandomTest, RowsMetricsAndCountersAgree) { SpliceMany(1, 150); }

TEST(SpliceRandomSlowTest, RowsMetricsAndCountersAgree) { SpliceMany(1000, 3000); }

}  // namespace
}  // namespace icewright
