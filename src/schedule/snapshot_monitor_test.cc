// Java twins: TestMonitorSource, TestTableChange.

#include "schedule/snapshot_monitor.h"

#include <gmock/gmock.h>

#include <limits>

#include "maintain/history_test_table.h"

namespace icewright {
namespace {

class MonitorTest : public ::testing::TestWithParam<TriggerPolicy> {
 public:
  HistoryTestTable table{{.format_version = 3}};
  std::optional<MonitorPosition> position;
  std::string note;
  int max_read_back = 100;
  std::string branch = "main";

  TableChange Look() {
    const Table loaded = table.Load();
    auto change =
        LookAtBranch(table.run(), table.io(), loaded.metadata(), position,
                     {.branch = branch, .max_read_back = max_read_back, .policy = GetParam()});
    EXPECT_THAT(change, IsOk());
    if (!change) return {};
    position = change->position;
    note = change->note;
    return change->change;
  }
  SnapshotId AppendOne() { return table.Append({"f" + std::to_string(files_++)}); }

 private:
  int files_ = 0;
};

TEST_P(MonitorTest, AnEmptyTableHasNoChange) {
  EXPECT_EQ(Look(), TableChange());
  EXPECT_EQ(position, std::nullopt);
}

TEST_P(MonitorTest, OneCommitIsCountedExactlyOnce) {
  table.Append({"a", "b"});
  EXPECT_EQ(Look(),
            (TableChange{.data_file_count = 2, .data_file_size_in_bytes = 200, .commit_count = 1}));
  EXPECT_EQ(Look(), TableChange());
}

TEST_P(MonitorTest, DeleteFilesAreCountedByKind) {
  table.Append({"a"});
  Look();
  SnapshotUpdate update{.operation = "overwrite"};
  update.added_data_files.push_back({HistoryTestTable::Data("b")});
  DataFile equality = HistoryTestTable::EqualityDeletes("eq");
  equality.record_count = 3;
  update.added_delete_files.push_back({equality});
  DataFile dv = HistoryTestTable::Dv("dv.puffin", HistoryTestTable::Data("a"));
  dv.record_count = 5;
  update.added_delete_files.push_back({dv});
  table.Commit(update);
  EXPECT_EQ(Look(), (TableChange{.data_file_count = 1,
                                 .data_file_size_in_bytes = 100,
                                 .pos_delete_file_count = 1,
                                 .pos_delete_record_count = 5,
                                 .eq_delete_file_count = 1,
                                 .eq_delete_record_count = 3,
                                 .commit_count = 1}));
}

TEST_P(MonitorTest, CommitsBetweenTwoLooksAddUp) {
  AppendOne();
  Look();
  AppendOne();
  table.Append({"x", "y"});
  EXPECT_EQ(Look(),
            (TableChange{.data_file_count = 3, .data_file_size_in_bytes = 300, .commit_count = 2}));
}

TEST_P(MonitorTest, ARestoredPositionReportsOnlyWhatIsNew) {
  AppendOne();
  Look();
  AppendOne();
  const auto kept = position;
  EXPECT_EQ(Look().commit_count, 1);
  position = kept;
  EXPECT_EQ(Look().commit_count, 1);
  position.reset();
  EXPECT_EQ(Look().commit_count, 2) << "without a position history is reported again";
}

TEST_P(MonitorTest, TheFirstLookReadsBackSoFar) {
  for (int i = 0; i < 3; ++i) AppendOne();
  for (const auto& [budget, commits] : {std::pair(1, 1), {2, 2}, {100, 3}}) {
    position.reset();
    max_read_back = budget;
    EXPECT_EQ(Look().commit_count, commits);
  }
}

TEST_P(MonitorTest, AReplaceIsIgnored) {
  table.Append({"a", "b"});
  Look();
  table.Replace({"a", "b"}, {"ab"});
  EXPECT_EQ(Look(), TableChange());
}

TEST_P(MonitorTest, ADeleteOfFilesIsACommit) {
  table.Append({"a", "b"});
  Look();
  table.Replace({"a"}, {});
  EXPECT_EQ(Look(), TableChange{.commit_count = 1});
}

TEST_P(MonitorTest, OtherBranchesAreNotSeen) {
  const SnapshotId base = AppendOne();
  table.Branch("staging", base);
  Look();
  table.Append({"s"}, "staging");
  EXPECT_EQ(Look(), TableChange());
  branch = "staging";
  position.reset();
  EXPECT_EQ(Look().commit_count, 2);
}

INSTANTIATE_TEST_SUITE_P(Both, MonitorTest,
                         ::testing::Values(TriggerPolicy::kJava, TriggerPolicy::kDefault),
                         [](const auto& instance) {
                           return instance.param == TriggerPolicy::kJava ? "Java" : "Default";
                         });

// ---- Where the two differ. Each test shows Java's answer, and ours.

class MonitorDifferenceTest : public MonitorTest {
 public:
  bool java() const { return GetParam() == TriggerPolicy::kJava; }
};

TEST_P(MonitorDifferenceTest, AReplaceUsesUpJavasBudget) {
  table.Append({"a", "b"});
  AppendOne();
  Look();
  AppendOne();
  table.Replace({"a", "b"}, {"ab"});
  max_read_back = 1;
  EXPECT_EQ(Look().commit_count, java() ? 0 : 1);
}

TEST_P(MonitorDifferenceTest, WhatIsOverTheBudgetComesFromSummaries) {
  AppendOne();
  Look();
  for (int i = 0; i < 5; ++i) AppendOne();
  max_read_back = 2;
  EXPECT_EQ(
      Look(),
      java()
          ? (TableChange{.data_file_count = 2, .data_file_size_in_bytes = 200, .commit_count = 2})
          : (TableChange{.data_file_count = 5, .data_file_size_in_bytes = 500, .commit_count = 5}));
  EXPECT_EQ(note, java() ? "" : "3 snapshots over max-read-back 2 were counted by their summaries");
}

TEST_P(MonitorDifferenceTest, TheFirstLookSaysWhatItLeftOut) {
  for (int i = 0; i < 5; ++i) AppendOne();
  max_read_back = 2;
  EXPECT_EQ(Look().commit_count, 2);
  EXPECT_EQ(note, java() ? "" : "first look: counted the newest 2 snapshots, left out 3");
}

TEST_P(MonitorDifferenceTest, ARollbackCountsNothingTwice) {
  const SnapshotId first = AppendOne();
  AppendOne();
  AppendOne();
  Look();
  table.RollBackTo(first);
  EXPECT_EQ(Look().commit_count, java() ? 1 : 0);
  EXPECT_EQ(note.find("rolled back") != std::string::npos, !java()) << note;
  AppendOne();
  EXPECT_EQ(Look().commit_count, 1);
  EXPECT_EQ(note, "");
}

TEST_P(MonitorDifferenceTest, ARollbackWithNewCommitsCountsOnlyThese) {
  const SnapshotId first = AppendOne();
  AppendOne();
  Look();
  table.RollBackTo(first);
  AppendOne();
  AppendOne();
  EXPECT_EQ(Look().commit_count, java() ? 3 : 2);
}

TEST_P(MonitorDifferenceTest, AnExpiredPositionStopsAtWhatWasCounted) {
  const SnapshotId first = AppendOne();
  table.Tag("keep", first);
  const SnapshotId second = AppendOne();
  Look();
  AppendOne();
  AppendOne();
  // Only the snapshot seen last goes: its parent chain is cut there.
  table.Update({RemoveSnapshots{{second}}});
  EXPECT_EQ(Look().commit_count, 2);
  EXPECT_EQ(note.find("has been expired") != std::string::npos, !java()) << note;
}

TEST_P(MonitorDifferenceTest, ABranchThatIsGoneKeepsItsPlace) {
  const SnapshotId base = AppendOne();
  branch = "staging";
  table.Branch("staging", base);
  Look();
  table.Update({RemoveSnapshotRef{"staging"}});
  EXPECT_EQ(Look(), TableChange());
  table.Branch("staging", base);
  EXPECT_EQ(Look().commit_count, java() ? 1 : 0);
}

INSTANTIATE_TEST_SUITE_P(Both, MonitorDifferenceTest,
                         ::testing::Values(TriggerPolicy::kJava, TriggerPolicy::kDefault),
                         [](const auto& instance) {
                           return instance.param == TriggerPolicy::kJava ? "Java" : "Default";
                         });

TEST(MonitorErrorTest, AnUnreadableManifestIsAnError) {
  HistoryTestTable table;
  table.Append({"a"});
  const Table loaded = table.Load();
  const auto manifests =
      ReadManifests(table.run(), table.io(), loaded.metadata(), *loaded.metadata().FindRef("main"));
  ASSERT_THAT(manifests, IsOk());
  ASSERT_THAT(WriteFile(table.io(), (*manifests)[0].manifest_path, "x", CreateMode::kAtomicReplace),
              IsOk());
  EXPECT_THAT(LookAtBranch(table.run(), table.io(), loaded.metadata(), {}, {}),
              HasCode(Code::kCorrupt));
}

TEST(TableChangeTest, SumsStayInRange) {
  TableChange change{.commit_count = std::numeric_limits<std::int64_t>::max()};
  change += {.data_file_count = 2, .commit_count = 1};
  EXPECT_EQ(change, (TableChange{.data_file_count = 2,
                                 .commit_count = std::numeric_limits<std::int64_t>::max()}));
}

}  // namespace
}  // namespace icewright
