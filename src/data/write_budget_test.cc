#include "data/write_budget.h"

#include "testing/matchers.h"
#include "testing/table_builder.h"

namespace icewright {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

WritePlan PlanOf(std::int64_t row_group_bytes) {
  WritePlan plan;
  plan.schema = MakeSchema({{1, "a", TypeId::kLong}, {2, "b", TypeId::kString}});
  plan.row_group_bytes = row_group_bytes;
  plan.dictionary_bytes = 2 * kMiB;
  return plan;
}

TEST(WriteBudgetTest, WithoutALimitTheTablesSizesHold) {
  const WriteBudget budget = PlanWriteBudget(MemoryBudget::kUnlimited, 4, PlanOf(128 * kMiB), 50);
  EXPECT_EQ(budget.max_open_writers, 512);
  EXPECT_EQ(budget.row_group_bytes, 128 * kMiB);
  EXPECT_EQ(budget.dictionary_bytes, 2 * kMiB);
  EXPECT_EQ(budget.batch_rows, 65536);
  EXPECT_THAT(budget.notes, IsEmpty());
}

TEST(WriteBudgetTest, FirstFewerOpenWriters) {
  const WriteBudget budget = PlanWriteBudget(2048 * kMiB, 1, PlanOf(128 * kMiB), 50);
  EXPECT_EQ(budget.max_open_writers, 5);  // two thirds of 2048, by 256
  EXPECT_EQ(budget.row_group_bytes, 128 * kMiB);
  EXPECT_THAT(budget.notes, IsEmpty());
  EXPECT_EQ(PlanWriteBudget(2048 * kMiB, 2, PlanOf(128 * kMiB), 50).max_open_writers, 2);
}

TEST(WriteBudgetTest, ThenSmallerRowGroups) {
  const WriteBudget budget = PlanWriteBudget(256 * kMiB, 1, PlanOf(128 * kMiB), 50);
  EXPECT_EQ(budget.max_open_writers, 1);
  EXPECT_EQ(budget.dictionary_bytes, 2 * kMiB) << "two columns leave room for full dictionaries";
  EXPECT_EQ(budget.row_group_bytes, 256 * kMiB * 2 / 3 / 2);
  EXPECT_THAT(budget.notes, ElementsAre("row groups of 85 MiB instead of 128 MiB: memory limit"));
}

TEST(WriteBudgetTest, DictionariesOfWideTablesGoBeforeRowGroups) {
  WritePlan plan = PlanOf(128 * kMiB);
  std::vector<TestColumn> columns;
  for (int i = 1; i <= 64; ++i) columns.emplace_back(i, "c" + std::to_string(i), TypeId::kString);
  plan.schema = MakeSchema(columns);
  const WriteBudget budget = PlanWriteBudget(256 * kMiB, 1, plan, 50);
  EXPECT_EQ(budget.dictionary_bytes, 256 * kMiB * 2 / 3 / 4 / 64);
  EXPECT_THAT(budget.notes, ElementsAre("dictionaries of 682 KiB instead of 2 MiB: memory limit",
                                        "row groups of 85 MiB instead of 128 MiB: memory limit"));
}

TEST(WriteBudgetTest, ColumnWritersTakePartOfWhatAnOpenWriterNeeds) {
  WritePlan plan = PlanOf(128 * kMiB);
  plan.open_column_bytes = 40 * kMiB;
  const WriteBudget budget = PlanWriteBudget(2048 * kMiB, 1, plan, 50);
  EXPECT_EQ(budget.max_open_writers, 4);  // two thirds of 2048, by 256 + 2 * 40
  EXPECT_FALSE(budget.raw_row_group_bytes);
}

TEST(WriteBudgetTest, ManyColumnWritersAreOpenedOneByOne) {
  WritePlan plan = PlanOf(128 * kMiB);
  plan.open_column_bytes = 30 * kMiB;  // of two columns: more than a quarter of two thirds of 256
  const WriteBudget budget = PlanWriteBudget(256 * kMiB, 2, plan, 50);
  EXPECT_EQ(budget.raw_row_group_bytes, 256 * kMiB / 3);
  EXPECT_EQ(budget.by_column_bytes, 128 * kMiB);
  EXPECT_EQ(budget.max_open_writers, 1);
  EXPECT_EQ(budget.row_group_bytes, 128 * kMiB);
  EXPECT_THAT(budget.notes,
              ElementsAre("row groups written column by column, each of at most 85 MiB of rows "
                          "before encoding: memory limit"));
}

TEST(WriteBudgetTest, BatchesShrinkWithTheLimitAndTheRows) {
  EXPECT_EQ(PlanWriteBudget(64 * kMiB, 1, PlanOf(kMiB), 1024).batch_rows, 1024);
  EXPECT_EQ(PlanWriteBudget(64 * kMiB, 1, PlanOf(kMiB), 64).batch_rows, 16384);
  EXPECT_EQ(PlanWriteBudget(64 * kMiB, 1, PlanOf(kMiB), 1 << 20).batch_rows, 1024);
}

TEST(WriteBudgetTest, SortingGetsAnEighth) {
  EXPECT_EQ(PlanWriteBudget(64 * kMiB, 1, PlanOf(kMiB), 64).sort_bytes, 8 * kMiB);
}

}  // namespace
}  // namespace icewright
