#include <arrow/array/builder_primitive.h>

#include "data/rewrite_test_table.h"

namespace icewright {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

// One column of the numbers first, first + step, ...
std::shared_ptr<arrow::RecordBatch> Numbers(const Schema& schema, std::int64_t first,
                                            std::int64_t count, std::int64_t step = 1) {
  arrow::Int64Builder builder;
  for (std::int64_t i = 0; i < count; ++i) EXPECT_TRUE(builder.Append(first + i * step).ok());
  auto array = builder.Finish();
  auto type = ToArrowSchema(schema);
  EXPECT_THAT(type, IsOk());
  return arrow::RecordBatch::Make(*type, count, {*array});
}

// Each data file sees all keys, but the set of them is held once.
TEST(LargeRewriteTest, ManySmallFilesShareTheSetsOfMillionsOfKeys) {
  const Schema schema = MakeSchema({{1, "id", TypeId::kLong}});
  RewriteTestTable table(schema);
  constexpr std::int64_t kFiles = 200;
  constexpr std::int64_t kRows = 50;
  constexpr std::int64_t kKeys = 1'000'000;
  std::vector<std::shared_ptr<const DeleteTask>> deletes;
  for (int d = 0; d < 2; ++d) {
    // Every thousandth id from d on is deleted; most keys are beyond all rows.
    IW_ASSERT_OK_AND_ASSIGN(
        DataFile file, table.Write("eq" + std::to_string(d), {Numbers(schema, d, kKeys, 1000)}));
    auto task = std::make_shared<DeleteTask>();
    task->file = std::move(file);
    task->file.content = FileContent::kEqualityDeletes;
    task->file.equality_ids = {FieldId{1}};
    task->sequence_number = SequenceNumber{2 + d};
    deletes.push_back(std::move(task));
  }
  std::vector<FileTask> tasks;
  for (std::int64_t f = 0; f < kFiles; ++f) {
    IW_ASSERT_OK_AND_ASSIGN(
        DataFile file, table.Write("f" + std::to_string(f), {Numbers(schema, f * kRows, kRows)}));
    tasks.push_back(
        {.data_file = std::move(file), .sequence_number = SequenceNumber{1}, .deletes = deletes});
  }
  RunContext run({.memory_limit_bytes = 184 * kMiB, .threads = 8});  // --memory 256MiB
  IW_ASSERT_OK_AND_ASSIGN(const RewrittenGroup group, table.Rewrite(run, RequestOf(tasks)));
  EXPECT_EQ(group.rows_read, kFiles * kRows);
  EXPECT_EQ(group.rows_deleted, 2 * kFiles * kRows / 1000);
  EXPECT_LE(run.memory().peak(), 184 * kMiB);
  std::vector<std::string> want;
  for (std::int64_t id = 0; id < kFiles * kRows; ++id) {
    if (id % 1000 > 1) want.push_back("[" + std::to_string(id) + "]");
  }
  EXPECT_EQ(table.Rows(group.added), want);
}

// As many rows as fit wait for one column writer; all threads or one, in order or sorted.
TEST(LargeRewriteTest, TablesOfManyColumnsAreWrittenColumnByColumn) {
  std::vector<TestColumn> columns;
  for (int i = 1; i <= 200; ++i) columns.emplace_back(i, "c" + std::to_string(i), TypeId::kLong);
  RewriteTestTable table(MakeSchema(columns), {{"write.parquet.compression-codec", "zstd"}});
  std::vector<FileTask> tasks;
  for (int f = 0; f < 4; ++f) {
    std::string json;
    for (int r = 0; r < 500; ++r) {
      json += r == 0 ? "[[" : ",[";
      for (int c = 0; c < 200; ++c) {
        const int value = (f * 500 + r) * 7919 + c * 31;
        json +=
            (c == 0 ? "" : ",") + (value % 13 == 0 ? std::string("null") : std::to_string(value));
      }
      json += "]";
    }
    tasks.push_back(table.Task("f" + std::to_string(f), json + "]"));
  }
  std::vector<DataFile> before;
  for (const FileTask& task : tasks) before.push_back(task.data_file);
  const std::vector<std::string> want = table.Rows(before);
  for (const int threads : {1, 2}) {
    table.SetOperation("op" + std::to_string(threads));
    RunContext run({.memory_limit_bytes = 24 * kMiB, .threads = threads});
    auto request = RequestOf(tasks);
    request.roll_at_bytes = 64 * kMiB;
    request.verify_values = true;
    IW_ASSERT_OK_AND_ASSIGN(const RewrittenGroup group, table.Rewrite(run, request));
    EXPECT_EQ(table.Rows(group.added), want);
    ASSERT_THAT(group.added, SizeIs(1));
    EXPECT_THAT(group.notes, ::testing::Contains(HasSubstr("column by column")));
    EXPECT_LE(run.memory().peak(), 24 * kMiB);
    EXPECT_EQ(run.memory().used(), 0);
  }
  table.SetOperation("unlimited");
  RunContext run;
  IW_ASSERT_OK_AND_ASSIGN(const RewrittenGroup whole, table.Rewrite(run, RequestOf(tasks)));
  EXPECT_THAT(whole.notes, IsEmpty());
}

}  // namespace
}  // namespace icewright
