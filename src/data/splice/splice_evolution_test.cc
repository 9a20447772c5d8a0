// Random schema evolution, deletes and row lineage: splicing and decoding agree.

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "data/splice/random_rows.h"
#include "data/splice/splice_test_table.h"

namespace icewright {
namespace {

Schema FirstSchema(RandomRows& random) {
  constexpr int kMoved = 50;
  std::vector<Field> fields;
  const Schema primitives = PrimitiveSchema();
  for (Field field : primitives.fields()) {
    field.id = FieldId{Raw(field.id) + kMoved};
    field.required = random.OneIn(4);
    if (random.OneIn(2)) fields.push_back(std::move(field));
  }
  const Schema nested = NestedSchema();
  for (const Field& field : nested.fields()) {
    if (field.type.is_nested() && random.OneIn(3)) fields.push_back(field);
  }
  fields.push_back(MakeField(90, "kept", Type::Of(TypeId::kInt)));
  return Schema(std::move(fields), SchemaId{0});
}

Type Promoted(const Type& type) {
  switch (type.id()) {
    case TypeId::kInt:
      return Type::Of(TypeId::kLong);
    case TypeId::kFloat:
      return Type::Of(TypeId::kDouble);
    case TypeId::kDecimal:
      return Type::Decimal(std::min(38, type.precision() + 7), type.scale());
    default:
      return type;
  }
}

// Ids are never used again, as the format demands: `next` is the first free one.
Schema Evolved(RandomRows& random, const Schema& schema, int& next) {
  std::vector<Field> fields;
  for (Field field : schema.fields()) {
    if (field.id != FieldId{90} && random.OneIn(5)) continue;  // dropped
    if (random.OneIn(3)) field.name += "_renamed";
    if (random.OneIn(2)) field.type = Promoted(field.type);
    if (random.OneIn(2)) field.required = false;
    fields.insert(fields.begin() + random.Below(static_cast<int>(fields.size()) + 1),
                  std::move(field));
  }
  const auto name = [&](const char* of) { return of + std::to_string(next); };
  Field text = MakeField(next, name("added"), Type::Of(TypeId::kString));
  if (random.OneIn(2)) text.initial_default = std::string("default");
  if (random.OneIn(2)) fields.push_back(text);
  Field number = MakeField(next + 1, name("number"), Type::Of(TypeId::kLong));
  if (random.OneIn(2)) number.initial_default = std::int64_t{-7};
  if (random.OneIn(2)) fields.insert(fields.begin(), number);
  if (random.OneIn(3)) {
    Field element = MakeField(next + 3, "element", Type::Of(TypeId::kInt));
    fields.push_back(MakeField(next + 2, name("list"), Type::List(std::move(element))));
  }
  next += 4;
  return Schema(std::move(fields), SchemaId{0});
}

std::vector<int> Positions(RandomRows& random, std::int64_t rows) {
  std::vector<int> out;
  const int count = static_cast<int>(rows);
  if (random.OneIn(3)) {  // a range
    const int first = random.Below(count);
    for (int i = first; i < std::min(count, first + 1 + random.Below(60)); ++i) out.push_back(i);
    return out;
  }
  for (int i = 0; i < count; ++i) {
    if (random.OneIn(random.OneIn(10) ? 3 : 40)) out.push_back(i);
  }
  if (out.empty()) out.push_back(count - 1);
  return out;
}

std::shared_ptr<arrow::RecordBatch> Stored(SpliceTable& table, std::vector<DataFile> files) {
  for (DataFile& file : files) file.first_row_id = 1'000'000'000;
  const Schema schema = RewriteSchema(table.metadata());
  return table.ReadAll(files, schema);
}

void EvolveOne(std::uint64_t seed) {
  SCOPED_TRACE("ICEWRIGHT_TEST_SEED=" + std::to_string(seed));
  RandomRows random(seed);
  const int version = random.OneIn(2) ? 3 : 2;
  Properties properties = {{"write.parquet.compression-codec", random.OneIn(2) ? "zstd" : "snappy"},
                           {"write.metadata.metrics.default", "truncate(7)"}};
  if (random.OneIn(2)) properties["write.parquet.page-row-limit"] = "100";
  if (random.OneIn(2)) properties["write.parquet.row-group-size-bytes"] = "30000";
  Schema schema = FirstSchema(random);
  SpliceTable table(schema, properties, version);
  std::vector<FileTask> tasks;
  int next_id = 91;
  const int files = 2 + random.Below(4);
  for (int i = 0; i < files; ++i) {
    if (random.OneIn(2)) {
      schema = Evolved(random, schema, next_id);
      table.metadata().schemas = {schema};
    }
    const auto rows = random.Make(schema, 1 + random.Below(random.OneIn(3) ? 3000 : 200));
    const std::string name = "f" + std::to_string(i);
    if (random.OneIn(2)) {
      auto written = table.Write(name, {rows});
      ASSERT_THAT(written, IsOk());
      tasks.push_back({.data_file = std::move(*written), .deletes = {}});
    } else {
      tasks.push_back(table.ArrowFile(name, rows, RandomProperties(random, schema, true)));
    }
    FileTask& task = tasks.back();
    if (!random.OneIn(4)) task.data_file.first_row_id = 1000 * i;
    task.sequence_number = SequenceNumber{1 + random.Below(3)};
    if (random.OneIn(3)) {
      task.deletes = {table.DeletePositions("d" + std::to_string(i), task.data_file,
                                            Positions(random, task.data_file.record_count))};
    }
  }
  RewriteGroupRequest request = RequestOf(std::move(tasks));
  request.verify_values = true;
  auto spliced = table.Splice(request);
  ASSERT_THAT(spliced, IsOk());
  table.SetOperation("decoded");
  auto decoded = table.Rewrite(request);
  ASSERT_THAT(decoded, IsOk());
  const auto options = arrow::EqualOptions::Defaults().nans_equal(true);
  EXPECT_TRUE(
      Stored(table, spliced->added)->Equals(*Stored(table, decoded->added), false, options));
  EXPECT_EQ(spliced->rows_deleted, decoded->rows_deleted);
  if (spliced->added.size() == 1 && decoded->added.size() == 1) {
    EXPECT_EQ(spliced->added[0].value_counts, decoded->added[0].value_counts);
    EXPECT_EQ(spliced->added[0].null_value_counts, decoded->added[0].null_value_counts);
    EXPECT_EQ(spliced->added[0].nan_value_counts, decoded->added[0].nan_value_counts);
    if (spliced->rows_deleted == 0) {
      EXPECT_EQ(spliced->added[0].lower_bounds, decoded->added[0].lower_bounds);
      EXPECT_EQ(spliced->added[0].upper_bounds, decoded->added[0].upper_bounds);
    }
  }
}

void EvolveMany(std::uint64_t first, std::uint64_t count) {
  if (const char* seed = std::getenv("ICEWRIGHT_TEST_SEED")) {
    EvolveOne(std::strtoull(seed, nullptr, 10));
    return;
  }
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    EvolveOne(seed);
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(SpliceEvolutionTest, SplicingAndDecodingAgree) { EvolveMany(1, 150); }

TEST(SpliceEvolutionSlowTest, SplicingAndDecodingAgree) { EvolveMany(1000, 2000); }

}  // namespace
}  // namespace icewright
