#include "maintain/task_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace icewright {
namespace {

FileTask Sample(std::int64_t i) {
  FileTask task;
  DataFile& file = task.data_file;
  file.file_path = Location("s3://b/data/" + std::string(static_cast<std::size_t>(i % 200), 'x') +
                            std::to_string(i));
  file.file_format = i % 3 == 0 ? FileFormat::kOrc : FileFormat::kParquet;
  if (i % 4 != 0) file.partition = {Literal(std::int32_t(i % 7)), Literal(std::string("p"))};
  file.spec_id = SpecId{static_cast<std::int32_t>(i % 2)};
  file.record_count = i * 1'000'000'007;
  file.file_size_in_bytes = i + 5;
  if (i % 5 == 0) file.first_row_id = i << 40;
  if (i % 6 == 0) file.sort_order_id = SortOrderId{3};
  task.sequence_number = SequenceNumber{i};
  if (i % 2 == 0) task.file_sequence_number = SequenceNumber{i + 1};
  for (std::int64_t d = 0; d < i % 3; ++d) {
    auto deletes = std::make_shared<DeleteTask>();
    deletes->sequence_number = SequenceNumber{i * 10 + d};
    task.deletes.push_back(std::move(deletes));
  }
  return task;
}

TEST(TaskStoreTest, GivesBackWhatARewriteNeeds) {
  TaskStore store;
  std::vector<FileTask> tasks;
  for (std::int64_t i = 0; i < 20'000; ++i) {  // several blocks
    tasks.push_back(Sample(i));
    store.Add(tasks.back());
  }
  ASSERT_EQ(store.size(), tasks.size());
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const FileTask got = store.Get(i);
    const DataFile& want = tasks[i].data_file;
    ASSERT_EQ(got.data_file.file_path, want.file_path);
    ASSERT_EQ(got.data_file.file_format, want.file_format);
    ASSERT_EQ(got.data_file.partition, want.partition);
    ASSERT_EQ(got.data_file.spec_id, want.spec_id);
    ASSERT_EQ(got.data_file.record_count, want.record_count);
    ASSERT_EQ(got.data_file.file_size_in_bytes, want.file_size_in_bytes);
    ASSERT_EQ(got.data_file.first_row_id, want.first_row_id);
    ASSERT_EQ(got.data_file.sort_order_id, want.sort_order_id);
    ASSERT_EQ(got.sequence_number, tasks[i].sequence_number);
    ASSERT_EQ(got.file_sequence_number, tasks[i].file_sequence_number);
    ASSERT_EQ(got.deletes, tasks[i].deletes);
  }
}

TEST(TaskStoreTest, TakesPathsOfAnyLength) {
  TaskStore store;
  FileTask task;
  task.data_file.file_path = Location(std::string(3 << 20, 'p'));
  store.Add(task);
  store.Add(Sample(1));
  EXPECT_EQ(store.Get(0).data_file.file_path, task.data_file.file_path);
  EXPECT_EQ(store.Get(1).data_file.file_path, Sample(1).data_file.file_path);
}

}  // namespace
}  // namespace icewright
