#include "data/partitioner.h"

#include "data/arrow_values.h"
#include "data/write_test_table.h"

namespace icewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// "tuple: rows" of each part, as JSON-like text; the rows are those of the first column.
std::vector<std::string> Split(Partitioner& partitioner, const Schema& schema,
                               const PartitionSpec& spec,
                               const std::shared_ptr<arrow::RecordBatch>& batch) {
  auto parts = partitioner.Split(batch, arrow::default_memory_pool());
  EXPECT_THAT(parts, IsOk());
  std::vector<std::string> out;
  for (const PartitionedRows& part : *parts) {
    std::string text = spec.PathOf(schema, partitioner.partitions()[part.partition]) + ":";
    for (std::int64_t row = 0; row < part.rows->num_rows(); ++row) {
      auto value = LiteralAt(*part.rows->column(0), row);
      EXPECT_THAT(value, IsOk());
      text += " " + std::to_string(std::get<std::int64_t>(*value));
    }
    out.push_back(text);
  }
  return out;
}

struct Case {
  std::string name, transform, column_json;
  TypeId type;
  std::vector<std::string> want;
};

class PartitionerTest : public ::testing::TestWithParam<Case> {};

TEST_P(PartitionerTest, SplitsByTransform) {
  const Case& c = GetParam();
  const Schema schema = MakeSchema({{1, "n", TypeId::kLong}, {2, "c", c.type}});
  const PartitionSpec spec = MakeSpec(0, {{2, c.transform}});
  IW_ASSERT_OK_AND_ASSIGN(Partitioner partitioner, Partitioner::Make(schema, spec));
  EXPECT_EQ(Split(partitioner, schema, spec, RowsOf(schema, c.column_json)), c.want);
}

INSTANTIATE_TEST_SUITE_P(
    Table, PartitionerTest,
    ::testing::Values(Case{"Identity",
                           "identity",
                           R"([[1, "a"], [2, "b"], [3, "a"], [4, null]])",
                           TypeId::kString,
                           {"p0=a: 1 3", "p0=b: 2", "p0=null: 4"}},
                      Case{"EmptyIsNotNull",
                           "identity",
                           R"([[1, ""], [2, null]])",
                           TypeId::kString,
                           {"p0=: 1", "p0=null: 2"}},
                      Case{"Truncate",
                           "truncate[2]",
                           R"([[1, "abc"], [2, "abd"], [3, "b"]])",
                           TypeId::kString,
                           {"p0=ab: 1 2", "p0=b: 3"}},
                      Case{"TruncateNegative",
                           "truncate[10]",
                           "[[1, -1], [2, 9], [3, -10]]",
                           TypeId::kInt,
                           {"p0=-10: 1 3", "p0=0: 2"}},
                      Case{"Day",
                           "day",
                           "[[1, 0], [2, 86399999999], [3, 86400000000], [4, -1]]",
                           TypeId::kTimestampTz,
                           {"p0=1970-01-01: 1 2", "p0=1970-01-02: 3", "p0=1969-12-31: 4"}},
                      Case{"Bucket",
                           "bucket[16]",
                           "[[1, 34], [2, 34], [3, null]]",
                           TypeId::kLong,
                           {"p0=3: 1 2", "p0=null: 3"}},
                      Case{"Void", "void", "[[1, 5], [2, 6]]", TypeId::kInt, {": 1 2"}},
                      Case{"ZerosDiffer",
                           "identity",
                           "[[1, 0.0], [2, -0.0], [3, NaN], [4, NaN]]",
                           TypeId::kDouble,
                           {"p0=0.0: 1", "p0=-0.0: 2", "p0=NaN: 3 4"}},
                      Case{"Nothing", "identity", "[]", TypeId::kInt, {}}),
    [](const auto& test) { return test.param.name; });

TEST(PartitionerTest, KeepsPartitionsOverBatches) {
  const Schema schema = MakeSchema({{1, "n", TypeId::kLong}, {2, "c", TypeId::kInt}});
  const PartitionSpec spec = MakeSpec(0, {{2, "identity"}, {1, "truncate[10]"}});
  IW_ASSERT_OK_AND_ASSIGN(Partitioner partitioner, Partitioner::Make(schema, spec));
  EXPECT_THAT(Split(partitioner, schema, spec, RowsOf(schema, "[[1, 7], [11, 7], [2, 8]]")),
              ElementsAre("p0=7/p1=0: 1", "p0=7/p1=10: 11", "p0=8/p1=0: 2"));
  EXPECT_THAT(Split(partitioner, schema, spec, RowsOf(schema, "[[3, 8], [4, 8]]")),
              ElementsAre("p0=8/p1=0: 3 4"));
  EXPECT_EQ(partitioner.partitions().size(), 3u);
}

TEST(PartitionerTest, OnePartitionIsNotCopied) {
  const Schema schema = MakeSchema({{1, "n", TypeId::kLong}});
  IW_ASSERT_OK_AND_ASSIGN(Partitioner partitioner,
                          Partitioner::Make(schema, MakeSpec(0, {{1, "truncate[100]"}})));
  const auto batch = RowsOf(schema, "[[1], [2], [3]]");
  IW_ASSERT_OK_AND_ASSIGN(const auto parts, partitioner.Split(batch, arrow::default_memory_pool()));
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].rows, batch);
}

TEST(PartitionerTest, SourcesInsideStructs) {
  const Schema schema = NestedSchema();
  const PartitionSpec spec = MakeSpec(0, {{10, "identity"}});
  IW_ASSERT_OK_AND_ASSIGN(Partitioner partitioner, Partitioner::Make(schema, spec));
  EXPECT_THAT(Split(partitioner, schema, spec, RowsOf(schema, R"([
      [1, ["ann", 30], null, null, null], [2, null, null, null, null],
      [3, ["ann", null], null, null, null]])")),
              ElementsAre("p0=ann: 1 3", "p0=null: 2"));
}

TEST(PartitionerTest, RefusesWhatItCannotCompute) {
  const Schema schema = NestedSchema();
  EXPECT_THAT(Partitioner::Make(schema, MakeSpec(0, {{1, "zorder[2]"}})),
              HasError(Code::kUnsupported, HasSubstr("zorder[2]")));
  EXPECT_THAT(Partitioner::Make(schema, MakeSpec(0, {{99, "identity"}})),
              HasError(Code::kUnsupported, HasSubstr("no longer in the schema")));
  EXPECT_THAT(Partitioner::Make(schema, MakeSpec(0, {{12, "identity"}})),
              HasCode(Code::kUnsupported))
      << "a list element is no source";
  EXPECT_THAT(Partitioner::Make(schema, MakeSpec(0, {{99, "void"}})), IsOk());
}

}  // namespace
}  // namespace icewright
