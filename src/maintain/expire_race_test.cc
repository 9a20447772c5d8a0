#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "maintain/deletion_journal.h"
#include "maintain/expire_snapshots.h"
#include "maintain/expire_test_table.h"
#include "testing/answering_operations.h"

namespace icewright {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

const ExpireSnapshotsOptions kAllOld = {.max_snapshot_age = 0, .retain_last = 1};

/// Three snapshots on main; the first two expire, and "a" and "b" with them.
struct Race {
  explicit Race(HistoryTestOptions options = {}) : table(std::move(options)) {
    first = table.Append({"a"});
    second = table.Append({"b"});
    head = table.Replace({"a", "b"}, {"ab"});
    table.clock().Advance(kMinute);
  }
  ExpireTestTable table;
  SnapshotId first{}, second{}, head{};
};

// ---- What others do between our load and our commit

TEST(ExpireRaceTest, ATagMadeMeanwhileKeepsItsSnapshot) {
  Race race;
  race.table.before_swap = [&]() -> Status {
    race.table.Tag("keep", race.first);
    return {};
  };
  ASSERT_THAT(race.table.Expire(kAllOld), IsOk());
  EXPECT_THAT(race.table.Snapshots(), ElementsAre(race.first, race.head));
  EXPECT_EQ(race.table.Load().metadata().refs.at("keep").snapshot_id, race.first);
  EXPECT_THAT(race.table.DataFiles(), UnorderedElementsAre("a", "ab"));
  EXPECT_THAT(race.table.Unsound(), IsEmpty());
}

// The catalog applies a commit to what is there by then; that alone must not let it through.
TEST(ExpireRaceTest, ATagMadeBeforeTheCatalogLooksKeepsItsSnapshot) {
  Race race;
  Table stale = race.table.Load();
  int looks = 0;
  race.table.before_read = [&]() -> Status {
    // 1: the task loads the table. 2: its commit looks where the table is by now.
    if (++looks != 2) return {};
    race.table.before_read = {};
    race.table.Tag("keep", race.first);
    return {};
  };
  ASSERT_THAT(race.table.ExpireLoaded(stale, kAllOld), IsOk());
  EXPECT_GE(looks, 2);
  EXPECT_THAT(race.table.Snapshots(), ElementsAre(race.first, race.head));
  EXPECT_TRUE(race.table.Load().metadata().refs.contains("keep"));
  EXPECT_THAT(race.table.DataFiles(), UnorderedElementsAre("a", "ab"));
  EXPECT_THAT(race.table.Unsound(), IsEmpty());
}

TEST(ExpireRaceTest, ABranchMadeMeanwhileAndItsCommitsStay) {
  Race race;
  int looks = 0;
  race.table.before_read = [&]() -> Status {
    if (++looks != 2) return {};
    race.table.before_read = {};
    race.table.Branch("dev", race.second);
    race.table.Append({"d"}, "dev");
    return {};
  };
  ASSERT_THAT(race.table.Expire(kAllOld), IsOk());
  EXPECT_THAT(race.table.DataFiles(), UnorderedElementsAre("a", "b", "ab", "d"));
  EXPECT_EQ(race.table.Live("dev").size(), 3U);
  EXPECT_THAT(race.table.Unsound(), IsEmpty());
}

TEST(ExpireRaceTest, AnAppendMeanwhileIsKeptAndTheExpiryRepeated) {
  Race race;
  race.table.before_swap = [&]() -> Status {
    race.table.Append({"late"});
    return {};
  };
  ASSERT_THAT(race.table.Expire(kAllOld), IsOk());
  EXPECT_THAT(race.table.DataFiles(), UnorderedElementsAre("ab", "late"));
  EXPECT_THAT(race.table.clock().sleeps(), SizeIs(1));
  EXPECT_THAT(race.table.Unsound(), IsEmpty());
}

// Ids must not pile up over retries: what a retry would keep is kept.
TEST(ExpireRaceTest, ARetryDecidesFromScratch) {
  Race race;
  race.table.before_swap = [&]() -> Status {
    race.table.Update({SetProperties{{{"history.expire.min-snapshots-to-keep", "3"}}}});
    return {};
  };
  ASSERT_THAT(race.table.Expire({.max_snapshot_age = 0}), IsOk());
  EXPECT_EQ(race.table.report.outcome, TaskOutcome::kNothingToDo);
  EXPECT_THAT(race.table.Snapshots(), SizeIs(3));
  EXPECT_EQ(race.table.Count("expired-snapshots-count"), 0);
  EXPECT_THAT(race.table.Unsound(), IsEmpty());
}

// No requirement of a commit is about statistics: this one lands on top of them.
TEST(ExpireRaceTest, StatisticsMadeMeanwhileGoWithTheirSnapshot) {
  for (const bool of_partitions : {false, true}) {
    SCOPED_TRACE(of_partitions);
    Race race;
    Table stale = race.table.Load();
    int looks = 0;
    race.table.before_read = [&]() -> Status {
      if (++looks != 2) return {};
      race.table.before_read = {};
      for (const auto& [id, name] :
           {std::pair(race.first, "late.stats"), std::pair(race.head, "kept.stats")}) {
        if (of_partitions) {
          race.table.PartitionStatistics(id, name);
        } else {
          race.table.Statistics(id, name);
        }
      }
      return {};
    };
    ASSERT_THAT(race.table.ExpireLoaded(stale, kAllOld), IsOk());
    EXPECT_THAT(race.table.Snapshots(), ElementsAre(race.head));
    EXPECT_THAT(race.table.DataFiles(), UnorderedElementsAre("ab", "kept.stats"));
    EXPECT_EQ(race.table.Count("deleted-statistics-files-count"), 1);
    EXPECT_THAT(race.table.Unsound(), IsEmpty());
  }
}

// A list that was away while its snapshot was to expire is read when the snapshot stays after all.
TEST(ExpireRaceTest, AListThatWasMissingForOneAttemptCountsInTheNext) {
  Race race;
  const Location list = race.table.Load().metadata().FindSnapshot(race.second)->manifest_list;
  int opened = 0;
  race.table.io().OnCall([&](int, const IoEvent& event) -> Status {
    if (event.call != IoCall::kOpen || event.location != list || ++opened != 1) return {};
    return Error(Code::kNotFound, "away");
  });
  race.table.before_swap = [&]() -> Status {
    race.table.Tag("keep", race.second);
    return {};
  };
  ASSERT_THAT(race.table.Expire(kAllOld), IsOk());
  race.table.io().OnCall({});
  EXPECT_GE(opened, 2);
  EXPECT_THAT(race.table.Snapshots(), ElementsAre(race.second, race.head));
  EXPECT_THAT(race.table.DataFiles(), UnorderedElementsAre("a", "b", "ab"));
  EXPECT_THAT(race.table.report.notes, Not(Contains(HasSubstr("are missing"))));
  EXPECT_THAT(race.table.Unsound(), IsEmpty());
}

TEST(ExpireRaceTest, AnotherExpiryMeanwhileIsNoError) {
  Race race;
  race.table.before_swap = [&]() -> Status {
    Table other = race.table.Load();
    TaskReport report;
    return ExpireSnapshots(kAllOld).Execute(race.table.run(), other, report);
  };
  ASSERT_THAT(race.table.Expire(kAllOld), IsOk());
  EXPECT_THAT(race.table.Snapshots(), ElementsAre(race.head));
  EXPECT_THAT(race.table.Unsound(), IsEmpty());
}

TEST(ExpireRaceTest, RetriesEndAsTheTableSays) {
  Race race({.properties = {{"commit.retry.num-retries", "2"}}});
  int races = 0;
  // Each time just before our swap; the other writer's own swap does not run into it.
  std::function<Status()> lose = [&]() -> Status {
    race.table.Append({"late" + std::to_string(++races)});
    race.table.before_swap = lose;
    return {};
  };
  race.table.before_swap = lose;
  EXPECT_THAT(race.table.Expire(kAllOld), HasError(Code::kConflict, HasSubstr("3 attempts")));
  EXPECT_EQ(races, 3);
  EXPECT_THAT(race.table.Snapshots(), SizeIs(6));
  EXPECT_THAT(race.table.Unsound(), IsEmpty()) << "nothing was deleted, no journal stays";
}

// ---- What others do between our commit and our deletes

TEST(ExpireRaceTest, ASnapshotThatComesBeforeTheDeletesKeepsItsFiles) {
  Race race;
  race.table.after_swap = [&]() -> Status {
    // A writer that started from the old state adds "a" again.
    race.table.Append({"a"});
    return {};
  };
  ASSERT_THAT(race.table.Expire(kAllOld), IsOk());
  EXPECT_THAT(race.table.DataFiles(), UnorderedElementsAre("a", "ab"));
  EXPECT_THAT(race.table.report.notes, Contains(HasSubstr("1 file(s) stay")));
  EXPECT_THAT(race.table.Unsound(), IsEmpty());
}

TEST(ExpireRaceTest, ASnapshotThatComesBetweenBatchesKeepsItsFiles) {
  Race race;
  bool done = false;
  race.table.io().OnCall([&](int, const IoEvent& event) -> Status {
    if (event.call != IoCall::kDelete || done) return {};
    done = true;
    race.table.Append({"b"});
    return {};
  });
  ExpireSnapshotsOptions options = kAllOld;
  options.delete_batch_size = 1;
  ASSERT_THAT(race.table.Expire(options), IsOk());
  race.table.io().OnCall({});
  EXPECT_THAT(race.table.DataFiles(), UnorderedElementsAre("b", "ab"));
  EXPECT_THAT(race.table.Unsound(), IsEmpty());
}

TEST(ExpireRaceTest, ATableThatIsGoneStopsTheDeletes) {
  Race race;
  race.table.after_swap = [&]() -> Status {
    return race.table.catalog().DropTable(race.table.run(), kHistoryTable, {});
  };
  ASSERT_THAT(race.table.Expire(kAllOld), IsOk());
  EXPECT_EQ(race.table.report.outcome, TaskOutcome::kPartial);
  EXPECT_THAT(race.table.DataFiles(), UnorderedElementsAre("a", "b", "ab"));
  ASSERT_THAT(race.table.report.failures, SizeIs(1));
  EXPECT_EQ(race.table.report.failures[0].code(), Code::kNotFound);
}

// ---- Unknown outcomes

/// The swap's answer is lost, and the pointer cannot be read until the test says so.
void LoseTheAnswer(ExpireTestTable& table, bool swapped) {
  auto lose = [&table]() -> Status {
    table.before_read = []() -> Status { return Error(Code::kUnavailable, "away"); };
    return Error(Code::kCommitUnknown, "no answer");
  };
  (swapped ? table.after_swap : table.before_swap) = lose;
}

TEST(ExpireRaceTest, AfterAnUnknownOutcomeNothingIsDeletedAndTheNextRunFindsOut) {
  for (const bool swapped : {true, false}) {
    SCOPED_TRACE(swapped);
    Race race({.properties = {{"commit.status-check.num-retries", "1"}}});
    LoseTheAnswer(race.table, swapped);
    EXPECT_THAT(race.table.Expire(kAllOld), HasCode(Code::kCommitUnknown));
    race.table.before_read = {};
    EXPECT_THAT(race.table.Snapshots(), SizeIs(swapped ? 1 : 3));
    EXPECT_THAT(race.table.DataFiles(), UnorderedElementsAre("a", "b", "ab"));
    EXPECT_THAT(race.table.Journals(), SizeIs(1));
    EXPECT_THAT(race.table.report.notes, Contains(HasSubstr("no file was deleted")));
    ASSERT_THAT(race.table.Expire(kAllOld), IsOk());
    EXPECT_EQ(race.table.report.outcome, TaskOutcome::kDone);
    EXPECT_EQ(race.table.Count("deleted-data-files-count"), 2);
    EXPECT_EQ(race.table.Count("expired-snapshots-count"), swapped ? 0 : 2);
    EXPECT_THAT(race.table.DataFiles(), UnorderedElementsAre("ab"));
    EXPECT_THAT(race.table.Unsound(), IsEmpty());
  }
}

TEST(ExpireRaceTest, ACommitThatLandedAgainstItsAnswerIsFinished) {
  for (const Code code : {Code::kConflict, Code::kIo}) {
    Race race;
    Table table = AnswerCommitWith(race.table.Load(), Error(code, "lost"));
    ASSERT_THAT(race.table.ExpireLoaded(table, kAllOld), IsOk());
    EXPECT_EQ(race.table.report.outcome, TaskOutcome::kDone);
    EXPECT_EQ(race.table.Count("expired-snapshots-count"), 2);
    EXPECT_EQ(race.table.Count("deleted-data-files-count"), 2);
    EXPECT_THAT(race.table.Journals(), IsEmpty());
    EXPECT_THAT(race.table.Unsound(), IsEmpty());
  }
}

// ---- Journals of earlier runs

/// Expires and dies right after the commit.
void ExpireAndDie(ExpireTestTable& table) {
  table.after_swap = [&table]() -> Status {
    table.io().FailFrom(table.io().calls());
    return {};
  };
  EXPECT_THAT(table.Expire(kAllOld), IsOk());
  table.io().FailAt(-1);
  EXPECT_THAT(table.Journals(), SizeIs(1));
}

TEST(ExpireJournalTest, TheNextRunFinishesTheDeletions) {
  Race race;
  ExpireAndDie(race.table);
  EXPECT_THAT(race.table.Snapshots(), ElementsAre(race.head));
  EXPECT_THAT(race.table.DataFiles(), UnorderedElementsAre("a", "b", "ab"));
  ASSERT_THAT(race.table.Expire(kAllOld), IsOk());
  EXPECT_EQ(race.table.report.outcome, TaskOutcome::kDone);
  EXPECT_EQ(race.table.Count("deleted-data-files-count"), 2);
  EXPECT_THAT(race.table.report.notes, Contains(HasSubstr("finished the deletions")));
  EXPECT_THAT(race.table.Unsound(), IsEmpty());
}

TEST(ExpireJournalTest, WhatHasBecomeReachableMeanwhileStays) {
  Race race;
  ExpireAndDie(race.table);
  race.table.Append({"a"});
  ASSERT_THAT(race.table.Expire({.max_snapshot_age = kDayMs}), IsOk());
  EXPECT_THAT(race.table.DataFiles(), UnorderedElementsAre("a", "ab"));
  EXPECT_THAT(race.table.Unsound(), IsEmpty());
}

TEST(ExpireJournalTest, ADryRunSaysThatItWaitsAndTouchesNothing) {
  Race race;
  ExpireAndDie(race.table);
  const auto before = race.table.Files();
  ExpireSnapshotsOptions options = kAllOld;
  options.dry_run = true;
  ASSERT_THAT(race.table.Expire(options), IsOk());
  EXPECT_EQ(race.table.Files(), before);
  EXPECT_THAT(race.table.report.notes, Contains(HasSubstr("1 journal(s)")));
}

/// A journal in the table's metadata folder, as a run that was killed would leave it.
Location PlantJournal(ExpireTestTable& table, const JournalHeader& header, const char* doomed) {
  const Location folder = table.Load().metadata().location.Child("metadata");
  const Location journal = JournalLocation(folder, "planted");
  auto writer = JournalWriter::Create(table.io(), journal, header);
  EXPECT_THAT(writer, IsOk());
  EXPECT_THAT(writer->Add({FileKind::kDataFile, table.PathOf(doomed), 1}), IsOk());
  EXPECT_THAT(writer->Close(), IsOk());
  return journal;
}

TEST(ExpireJournalTest, OneWhoseCommitDidNotLandIsDropped) {
  Race race;
  const Table table = race.table.Load();
  PlantJournal(race.table,
               {.table_uuid = table.metadata().table_uuid,
                .base_metadata = table.metadata_location(),
                .expired = {race.first}},
               "a");
  ASSERT_THAT(race.table.Expire({.max_snapshot_age = kDayMs}), IsOk());
  EXPECT_EQ(race.table.report.outcome, TaskOutcome::kNothingToDo);
  EXPECT_THAT(race.table.DataFiles(), UnorderedElementsAre("a", "b", "ab"));
  EXPECT_THAT(race.table.Journals(), IsEmpty());

  // The table has moved on since, but one of the snapshots is still there.
  PlantJournal(race.table,
               {.table_uuid = table.metadata().table_uuid,
                .base_metadata = Location("memory:/w/db/t/metadata/old.metadata.json"),
                .expired = {SnapshotId{77}, race.second}},
               "b");
  ASSERT_THAT(race.table.Expire({.max_snapshot_age = kDayMs}), IsOk());
  EXPECT_THAT(race.table.Journals(), IsEmpty());
  EXPECT_THAT(race.table.Unsound(), IsEmpty());
}

// A run that commits later than another looked finds its journal gone.
TEST(ExpireJournalTest, OneThatAnotherRunHasDroppedIsWrittenAgain) {
  for (const bool committed : {false, true}) {
    SCOPED_TRACE(committed);
    Race race;
    race.table.Statistics(race.first, "first.stats");
    const auto drop = [&]() -> Status {
      EXPECT_THAT(race.table.Journals(), SizeIs(1));
      for (const std::string& name : race.table.Journals()) {
        IW_TRY(race.table.io().Delete(Location("memory:/w/db/t/" + name)));
      }
      return {};
    };
    const auto settle = [&]() -> Status {
      Table other = race.table.Load();
      TaskReport report;
      return ExpireSnapshots({.max_snapshot_age = kDayMs}).Execute(race.table.run(), other, report);
    };
    if (committed) {
      race.table.after_swap = drop;
    } else {
      race.table.before_swap = settle;
    }
    ASSERT_THAT(race.table.Expire(kAllOld), IsOk());
    EXPECT_EQ(race.table.report.outcome, TaskOutcome::kDone);
    EXPECT_EQ(race.table.Count("deleted-data-files-count"), 2);
    EXPECT_EQ(race.table.Count("deleted-statistics-files-count"), 1);
    EXPECT_THAT(race.table.Unsound(), IsEmpty());
  }
}

// The commit lands after the other run has loaded the table.
TEST(ExpireJournalTest, OneWhoseCommitHasJustLandedIsNotDropped) {
  Race race;
  Table stale = race.table.Load();
  bool done = false;
  race.table.io().OnCall([&](int, const IoEvent& event) -> Status {
    if (event.call != IoCall::kList || std::exchange(done, true)) return {};
    ExpireAndDie(race.table);
    return {};
  });
  ASSERT_THAT(race.table.ExpireLoaded(stale, {.max_snapshot_age = kDayMs}), IsOk());
  race.table.io().OnCall({});
  EXPECT_EQ(race.table.Count("deleted-data-files-count"), 2);
  EXPECT_THAT(race.table.Unsound(), IsEmpty());
}

TEST(ExpireJournalTest, OneOfAnotherTableIsLeftAlone) {
  Race race;
  PlantJournal(race.table,
               {.table_uuid = "another",
                .base_metadata = Location("memory:/x"),
                .expired = {SnapshotId{77}}},
               "a");
  ASSERT_THAT(race.table.Expire({.max_snapshot_age = kDayMs}), IsOk());
  EXPECT_THAT(race.table.report.notes, Contains(HasSubstr("belongs to another table")));
  EXPECT_THAT(race.table.Journals(), SizeIs(1));
  EXPECT_TRUE(race.table.DataFiles().contains("a"));
}

TEST(ExpireJournalTest, ABrokenOneIsReportedAndTheRunGoesOn) {
  Race race;
  const Location journal =
      race.table.Load().metadata().location.Child("metadata/icewright-deletions-x.json");
  ASSERT_THAT(WriteFile(race.table.io(), journal, "garbage", CreateMode::kNew), IsOk());
  ASSERT_THAT(race.table.Expire(kAllOld), IsOk());
  EXPECT_EQ(race.table.report.outcome, TaskOutcome::kPartial);
  ASSERT_THAT(race.table.report.failures, SizeIs(1));
  EXPECT_EQ(race.table.report.failures[0].code(), Code::kCorrupt);
  EXPECT_THAT(race.table.Snapshots(), ElementsAre(race.head));
  EXPECT_THAT(race.table.DataFiles(), ElementsAre("ab"));
}

TEST(ExpireJournalTest, FilesThatAreGoneAlreadyAreNoError) {
  Race race;
  ExpireAndDie(race.table);
  ASSERT_THAT(race.table.io().Delete(race.table.PathOf("a")), IsOk());
  ASSERT_THAT(race.table.Expire(kAllOld), IsOk());
  EXPECT_EQ(race.table.report.outcome, TaskOutcome::kDone);
  EXPECT_THAT(race.table.Unsound(), IsEmpty());
}

// ---- Stops and locks

TEST(ExpireStopTest, ALostLockBeforeTheCommitChangesNothing) {
  bool lost = false;
  Race race({.may_write = [&]() -> Status {
    return lost ? Status(Error(Code::kLockLost, "lease ended")) : Status();
  }});
  lost = true;
  EXPECT_THAT(race.table.Expire(kAllOld), HasCode(Code::kLockLost));
  lost = false;
  EXPECT_THAT(race.table.Snapshots(), SizeIs(3));
  EXPECT_THAT(race.table.Unsound(), IsEmpty());
}

TEST(ExpireStopTest, ALockLostBetweenBatchesLeavesTheRestToTheNextRun) {
  int deletes = 0;
  Race race({.may_write = [&]() -> Status {
    return deletes >= 1 ? Status(Error(Code::kLockLost, "lease ended")) : Status();
  }});
  race.table.io().OnCall([&](int, const IoEvent& event) -> Status {
    if (event.call == IoCall::kDelete) ++deletes;
    return {};
  });
  ExpireSnapshotsOptions options = kAllOld;
  options.delete_batch_size = 1;
  ASSERT_THAT(race.table.Expire(options), IsOk());
  race.table.io().OnCall({});
  EXPECT_EQ(race.table.report.outcome, TaskOutcome::kPartial);
  ASSERT_THAT(race.table.report.failures, SizeIs(1));
  EXPECT_EQ(race.table.report.failures[0].code(), Code::kLockLost);
  EXPECT_EQ(race.table.Count("deleted-data-files-count"), 1);
  EXPECT_THAT(race.table.DataFiles(), SizeIs(2));
  deletes = 0;
  ASSERT_THAT(race.table.Expire(kAllOld), IsOk());
  EXPECT_THAT(race.table.Unsound(), IsEmpty());
}

}  // namespace
}  // namespace icewright
