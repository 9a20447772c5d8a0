// Conversion beside writers that do not wait: it finishes, and loses no row.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <thread>

#include "maintain/convert_test_table.h"

namespace icewright {
namespace {

/// Commits before each swap of another, as often as it is told to.
class Interfering {
 public:
  Interfering(ConvertTestTable& table, int times, std::function<void(int)> act)
      : table_(table), left_(times), act_(std::move(act)) {
    Arm();
  }
  int done() const { return done_; }

 private:
  void Arm() {
    table_.before_swap = [this] {
      act_(done_++);
      if (--left_ > 0) Arm();
      return Status();
    };
  }

  ConvertTestTable& table_;
  int left_;
  int done_ = 0;
  std::function<void(int)> act_;
};

TEST(ConvertBusyWriterTest, InPlaceBesideUpsertsBeforeEachSwap) {
  ConvertTestTable table;
  table.Upsert({}, {1, 2, 3, 4});
  table.Upsert({1, 2}, {2});
  const Interfering writer(table, 12, [&](int i) {
    // An append, and an upsert of what the conversion has just resolved and of what it has not.
    table.Upsert({}, {100 + i});
    table.Upsert({2, 3}, {2, 3});
  });
  ASSERT_THAT(table.Convert(), IsOk());
  EXPECT_EQ(writer.done(), 12);
  std::vector<int> ids = {2, 3, 4};
  for (int i = 0; i < 12; ++i) ids.push_back(100 + i);
  EXPECT_EQ(table.Ids(), ids);
  EXPECT_EQ(table.EqualityDeleteFiles(), 12) << "those of the writer wait for the next run";
  EXPECT_EQ(table.Vectors()["f1"], 2);
  ASSERT_THAT(table.Convert(), IsOk());
  EXPECT_EQ(table.EqualityDeleteFiles(), 0);
  EXPECT_EQ(table.Ids(), ids);
}

/// Each attempt is planned anew: the writer puts a vector where the conversion wants one.
TEST(ConvertBusyWriterTest, InPlaceBesideVectorsBeforeEachSwap) {
  ConvertTestTable table;
  const DataFile f = table.Rows("f", {1, 2, 3, 4, 5, 6, 7, 8, 9});
  table.Commit({.added_data_files = {{f}}});
  table.Upsert({1}, {});
  std::vector<int> gone;
  std::optional<DataFile> vector;
  const Interfering writer(table, 6, [&](int i) {
    gone.push_back(2 + i);
    SnapshotUpdate update{.operation = "delete"};
    if (vector) update.removed_delete_files = {*vector};
    vector = table.DvOf(table.NewName("d"), f, gone);
    update.added_delete_files = {{*vector}};
    table.CommitNow(update);
  });
  ASSERT_THAT(table.Convert(), IsOk());
  EXPECT_EQ(writer.done(), 6);
  EXPECT_THAT(table.Ids(), ::testing::ElementsAre(2, 9));
  EXPECT_EQ(table.Vectors()["f"], 7);
  EXPECT_EQ(table.EqualityDeleteFiles(), 0);
  for (const std::string& file : table.Unsound()) {
    EXPECT_FALSE(file.ends_with(".puffin")) << "a lost attempt left " << file;
  }
}

TEST(ConvertBusyWriterTest, PromotionBesideAppendsBeforeEachSwap) {
  ConvertTestTable table;
  table.Branch("staging", table.Upsert({}, {1, 2, 3}));
  for (int i = 0; i < 4; ++i) table.Upsert({1 + i}, {1 + i, 50 + i}, "staging");
  const auto staged = table.Ids("staging");
  const Interfering writer(table, 10, [&](int i) { table.Upsert({}, {1, 100 + i}); });
  ASSERT_THAT(table.Promote(), IsOk());
  EXPECT_EQ(writer.done(), 10);
  EXPECT_EQ(table.report.snapshot_ids.size(), 4U);
  std::vector<int> ids = staged;
  for (int i = 0; i < 10; ++i) ids.insert(ids.end(), {1, 100 + i});
  std::ranges::sort(ids);
  EXPECT_EQ(table.Ids(), ids) << "rows that came after the deletes stay";
  EXPECT_EQ(table.EqualityDeleteFiles(), 0);
}

/// Compaction removes what each attempt has resolved.
TEST(ConvertBusyWriterTest, PromotionBesideCompactionsBeforeEachSwap) {
  ConvertTestTable table;
  table.Branch("staging", table.Upsert({}, {1, 2, 3}));
  for (int i = 0; i < 3; ++i) table.Upsert({1 + i}, {1 + i, 50 + i}, "staging");
  const Interfering writer(table, 6, [&](int) {
    Table loaded = table.Load();
    TaskReport done;
    EXPECT_THAT(RewriteDataFiles({.rewrite_all = true}).Execute(table.run(), loaded, done), IsOk());
  });
  ASSERT_THAT(table.Promote(), IsOk());
  EXPECT_EQ(writer.done(), 6);
  EXPECT_EQ(table.Ids(), table.Ids("staging"));
}

// ---- On the machine's clock

/// A thread that appends and upserts until it is told to stop. Its commits retry as anyone's.
class WriterThread {
 public:
  WriterThread(ConvertTestTable& table, std::string branch, bool with_deletes)
      : table_(table), branch_(std::move(branch)), with_deletes_(with_deletes) {
    // Files are made beforehand: the table's own context is for one thread.
    for (int i = 0; i < kCommits; ++i) {
      SnapshotUpdate update{.branch = branch_};
      update.added_data_files = {{table_.Rows(table_.NewName("w"), {1000 + i, 1})}};
      if (with_deletes_) {
        update.operation = "overwrite";
        update.added_delete_files = {{table_.DeleteIds(table_.NewName("e"), {1})}};
      }
      updates_.push_back(std::move(update));
    }
    thread_ = std::thread([this] {
      Write();
      ended_ = true;
    });
  }
  ~WriterThread() { Stop(); }
  void AwaitCommits(int n) const {
    while (commits_ < n && !ended_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  void Stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }
  int commits() const { return commits_; }

 private:
  static constexpr int kCommits = 40;

  void Write() {
    RunContext run;
    while (!stop_ && commits_ < kCommits) {
      auto table = table_.catalog().LoadTable(run, kHistoryTable);
      ASSERT_THAT(table, IsOk());
      CommitReport report;
      ASSERT_THAT(CommitSnapshot(run, *table, updates_[static_cast<std::size_t>(commits_)], report),
                  IsOk());
      ++commits_;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }

  ConvertTestTable& table_;
  std::string branch_;
  bool with_deletes_;
  std::vector<SnapshotUpdate> updates_;
  std::atomic<bool> stop_ = false;
  std::atomic<bool> ended_ = false;
  std::atomic<int> commits_ = 0;
  std::thread thread_;
};

std::map<int, int> Counted(const std::vector<int>& ids) {
  std::map<int, int> counts;
  for (const int id : ids) ++counts[id];
  return counts;
}

/// The writer waits less than a commit takes, so that the two meet again and again.
const Properties kShortWaits = {{"commit.retry.min-wait-ms", "1"},
                                {"commit.retry.max-wait-ms", "20"}};

TEST(ConvertBusyWriterTest, InPlaceBesideAThread) {
  ConvertTestTable table({.properties = kShortWaits});
  table.Upsert({}, {1, 2, 3});
  table.Upsert({1, 2}, {2});
  WriterThread writer(table, "main", true);
  writer.AwaitCommits(1);
  RunContext run({.threads = 2});
  for (int i = 0; i < 5; ++i) {
    Table loaded = table.catalog().LoadTable(run, kHistoryTable).value();
    TaskReport report;
    ASSERT_THAT(
        ConvertEqualityDeletes({.equality_field_columns = "id"}).Execute(run, loaded, report),
        IsOk());
  }
  writer.Stop();
  ASSERT_THAT(table.Convert(), IsOk());
  EXPECT_EQ(table.EqualityDeleteFiles(), 0);
  std::map<int, int> expected = {{1, 1}, {2, 1}, {3, 1}};
  for (int i = 0; i < writer.commits(); ++i) expected[1000 + i] = 1;
  EXPECT_EQ(Counted(table.Ids()), expected);
  table.Vectors();
  for (const std::string& file : table.Unsound()) {
    EXPECT_FALSE(file.starts_with("!")) << file;
  }
}

TEST(ConvertBusyWriterTest, PromotionBesideAThread) {
  ConvertTestTable table({.properties = kShortWaits});
  table.Branch("staging", table.Upsert({}, {1, 2, 3}));
  for (int i = 0; i < 8; ++i) table.Upsert({1, 2, 49 + i}, {2, 50 + i}, "staging");
  std::map<int, int> expected = Counted(table.Ids("staging"));
  WriterThread writer(table, "main", false);
  writer.AwaitCommits(1);
  RunContext run({.threads = 2});
  Table loaded = table.catalog().LoadTable(run, kHistoryTable).value();
  TaskReport report;
  ASSERT_THAT(ConvertEqualityDeletes({.staging_branch = "staging", .equality_field_columns = "id"})
                  .Execute(run, loaded, report),
              IsOk());
  writer.Stop();
  EXPECT_EQ(report.snapshot_ids.size(), 8U);
  for (int i = 0; i < writer.commits(); ++i) {
    expected[1000 + i] = 1;
    ++expected[1];
  }
  EXPECT_EQ(Counted(table.Ids()), expected);
  table.Vectors();
}

}  // namespace
}  // namespace icewright
