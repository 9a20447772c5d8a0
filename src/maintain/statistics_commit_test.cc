#include "maintain/statistics_commit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "maintain/expire_test_table.h"
#include "testing/answering_operations.h"

namespace icewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class StatisticsCommitTest : public ::testing::Test {
 protected:
  StatisticsCommitTest()
      : table_({.properties = {{"commit.status-check.num-retries", "1"}},
                .may_write = [this]() -> Status {
                  if (!lock_lost_) return {};
                  return Error(Code::kLockLost, "lost");
                }}) {
    first_ = table_.Append({"a"});
    second_ = table_.Append({"b"});
  }

  /// Writes a file and registers it.
  Status Commit(SnapshotId snapshot, const std::string& name, bool of_partitions = false) {
    return CommitTo(table_.Load(), snapshot, name, of_partitions);
  }
  Status CommitTo(Table loaded, SnapshotId snapshot, const std::string& name,
                  bool of_partitions = false) {
    table_.MakeFile(table_.PathOf(name));
    NewStatistics statistics;
    if (of_partitions) {
      PartitionStatisticsFile file;
      file.snapshot_id = snapshot;
      file.statistics_path = table_.PathOf(name);
      statistics = file;
    } else {
      StatisticsFile file;
      file.snapshot_id = snapshot;
      file.statistics_path = table_.PathOf(name);
      statistics = file;
    }
    report_ = {};
    return CommitStatistics(table_.run(), loaded, statistics, report_);
  }
  std::vector<std::string> Named(bool of_partitions = false) {
    std::vector<std::string> out;
    const Table loaded = table_.Load();
    const TableMetadata& metadata = loaded.metadata();
    for (const auto& file : metadata.statistics) {
      if (!of_partitions) out.push_back(file.statistics_path.text().substr(20));
    }
    for (const auto& file : metadata.partition_statistics) {
      if (of_partitions) out.push_back(file.statistics_path.text().substr(20));
    }
    return out;
  }
  HistoryTestTable::Paths StatisticsFiles() {
    HistoryTestTable::Paths out;
    for (const std::string& file : table_.DataFiles()) {
      if (file.ends_with(".stats")) out.insert(file);
    }
    return out;
  }

  bool lock_lost_ = false;
  ExpireTestTable table_;
  SnapshotId first_, second_;
  TaskReport report_;
};

TEST_F(StatisticsCommitTest, OneFilePerSnapshotAndKindAndTheReplacedOneGoes) {
  for (const bool of_partitions : {false, true}) {
    SCOPED_TRACE(of_partitions);
    const std::string p = of_partitions ? "p" : "t";
    ASSERT_THAT(Commit(first_, p + "1.stats", of_partitions), IsOk());
    ASSERT_THAT(Commit(second_, p + "2.stats", of_partitions), IsOk());
    EXPECT_THAT(report_.leftovers, IsEmpty());
    ASSERT_THAT(Commit(second_, p + "3.stats", of_partitions), IsOk());
    EXPECT_EQ(report_.outcome, TaskOutcome::kDone);
    EXPECT_THAT(Named(of_partitions), UnorderedElementsAre(p + "1.stats", p + "3.stats"));
  }
  EXPECT_THAT(StatisticsFiles(),
              UnorderedElementsAre("t1.stats", "t3.stats", "p1.stats", "p3.stats"));
}

TEST_F(StatisticsCommitTest, AReplacedFileThatAnotherSnapshotNamesStays) {
  table_.Statistics(first_, "shared.stats");
  table_.Statistics(second_, "shared.stats");
  ASSERT_THAT(Commit(second_, "new.stats"), IsOk());
  EXPECT_THAT(StatisticsFiles(), UnorderedElementsAre("shared.stats", "new.stats"));
  table_.PartitionStatistics(first_, "both.stats");
  ASSERT_THAT(Commit(first_, "newer.stats"), IsOk()) << "shared.stats has no name left";
  EXPECT_THAT(StatisticsFiles(), UnorderedElementsAre("both.stats", "new.stats", "newer.stats"));
}

TEST_F(StatisticsCommitTest, WithoutGarbageCollectionTheReplacedFileStays) {
  table_.Update({SetProperties{{{"gc.enabled", "false"}}}});
  ASSERT_THAT(Commit(first_, "1.stats"), IsOk());
  ASSERT_THAT(Commit(first_, "2.stats"), IsOk());
  EXPECT_THAT(StatisticsFiles(), UnorderedElementsAre("1.stats", "2.stats"));
}

TEST_F(StatisticsCommitTest, ALostRaceIsRepeated) {
  table_.before_swap = [&] {
    table_.Append({"c"});
    return Status();
  };
  ASSERT_THAT(Commit(second_, "1.stats"), IsOk());
  EXPECT_THAT(Named(), ElementsAre("1.stats"));
  EXPECT_THAT(table_.Snapshots(), ::testing::SizeIs(3));
}

TEST_F(StatisticsCommitTest, OfASnapshotThatExpiredBeforeNothingStays) {
  ASSERT_THAT(table_.Expire({.max_snapshot_age = 0, .retain_last = 1}), IsOk());
  EXPECT_THAT(Commit(first_, "1.stats"), HasError(Code::kConflict, HasSubstr("expired")));
  EXPECT_THAT(StatisticsFiles(), IsEmpty());
}

TEST_F(StatisticsCommitTest, OfASnapshotThatExpiresMeanwhileNothingStays) {
  table_.before_swap = [&] { return table_.Expire({.max_snapshot_age = 0, .retain_last = 1}); };
  EXPECT_THAT(Commit(first_, "1.stats"), HasError(Code::kConflict, HasSubstr("expired")));
  EXPECT_THAT(StatisticsFiles(), IsEmpty());
  EXPECT_THAT(Named(), IsEmpty());
}

TEST_F(StatisticsCommitTest, AfterAnUnknownOutcomeBothFilesStay) {
  ASSERT_THAT(Commit(first_, "1.stats"), IsOk());
  for (const bool landed : {false, true}) {
    // No answer to the swap, and none to the question whether it took place.
    const auto lose = [this] {
      table_.before_read = [] { return Status(Error(Code::kUnavailable, "away")); };
      return Status(Error(Code::kCommitUnknown, "no answer"));
    };
    (landed ? table_.after_swap : table_.before_swap) = lose;
    EXPECT_THAT(Commit(first_, landed ? "3.stats" : "2.stats"), HasCode(Code::kCommitUnknown));
    EXPECT_THAT(report_.notes, ElementsAre(HasSubstr("stays")));
    table_.before_read = {};
  }
  EXPECT_THAT(StatisticsFiles(), UnorderedElementsAre("1.stats", "2.stats", "3.stats"));
}

// What the table names is not deleted, whatever the catalog answers.
TEST_F(StatisticsCommitTest, ACommitThatLandedAgainstItsAnswerIsDone) {
  table_.Update({SetProperties{{{"commit.retry.num-retries", "0"}}}});
  ASSERT_THAT(Commit(first_, "1.stats"), IsOk());
  for (const Code code : {Code::kConflict, Code::kIo}) {
    const std::string name = code == Code::kConflict ? "2.stats" : "3.stats";
    EXPECT_THAT(CommitTo(AnswerCommitWith(table_.Load(), Error(code, "lost")), first_, name),
                IsOk());
    EXPECT_EQ(report_.outcome, TaskOutcome::kDone);
    EXPECT_THAT(Named(), ElementsAre(name));
    EXPECT_THAT(StatisticsFiles(), ElementsAre(name)) << "the replaced one goes";
  }
}

TEST_F(StatisticsCommitTest, AFailedDeletionIsALeftover) {
  ASSERT_THAT(Commit(first_, "1.stats"), IsOk());
  table_.io().OnCall([&](int, const IoEvent& event) -> Status {
    if (event.call != IoCall::kDelete || !event.location.text().ends_with("1.stats")) return {};
    return Error(Code::kIo, "no");
  });
  ASSERT_THAT(Commit(first_, "2.stats"), IsOk());
  EXPECT_THAT(report_.leftovers, ElementsAre(table_.PathOf("1.stats")));
}

TEST_F(StatisticsCommitTest, ExpiryDeletesTheStatisticsOfExpiredSnapshotsOnly) {
  ASSERT_THAT(Commit(first_, "1.stats"), IsOk());
  ASSERT_THAT(Commit(second_, "2.stats"), IsOk());
  ASSERT_THAT(Commit(first_, "p1.stats", true), IsOk());
  ASSERT_THAT(Commit(second_, "p2.stats", true), IsOk());
  ASSERT_THAT(table_.Expire({.max_snapshot_age = 0, .retain_last = 1}), IsOk());
  EXPECT_THAT(StatisticsFiles(), UnorderedElementsAre("2.stats", "p2.stats"));
  EXPECT_THAT(Named(), ElementsAre("2.stats"));
  EXPECT_THAT(Named(true), ElementsAre("p2.stats"));
  EXPECT_EQ(table_.Count("deleted-statistics-files-count"), 2);
}

TEST_F(StatisticsCommitTest, WithoutTheLockNothingIsCommitted) {
  lock_lost_ = true;
  EXPECT_THAT(Commit(first_, "1.stats"), HasError(Code::kLockLost, "lost"));
  EXPECT_THAT(StatisticsFiles(), IsEmpty()) << "its own file is known to be unnamed";
  EXPECT_THAT(Named(), IsEmpty());
}

}  // namespace
}  // namespace icewright
