#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "maintain/orphan_test_table.h"

namespace icewright {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

using Options = DeleteOrphanFilesOptions;
using Paths = OrphanTestTable::Paths;

/// Three old orphans beside a live file.
struct Race {
  explicit Race(HistoryTestOptions options = {}) : table(std::move(options)) {
    table.Append({"a"});
    table.Age();
    for (const char* name : {"data/x", "data/y", "data/z"}) table.Plant(name);
  }

  /// Does something once, at the first call of this kind that a run makes, or a later one.
  void At(IoCall call, const std::function<void()>& action, int skip = 0) {
    const auto left = std::make_shared<int>(skip);
    table.io().OnCall([this, call, action, left](int, const IoEvent& event) -> Status {
      if (event.call != call || (*left)-- > 0) return {};
      const auto once = action;  // the hook goes, and this closure with it
      table.io().OnCall({});
      once();
      return {};
    });
  }

  /// As At, when the first manifest is opened.
  void AtManifest(const std::function<void()>& action) {
    table.io().OnCall([this, action](int, const IoEvent& event) -> Status {
      if (event.call != IoCall::kOpen || !event.location.text().ends_with("-m0.avro")) return {};
      const auto once = action;  // as above
      table.io().OnCall({});
      once();
      return {};
    });
  }
  void ExpireAll() {
    TaskReport report;
    Table loaded = table.Load();
    EXPECT_THAT(ExpireSnapshots({.max_snapshot_age = 0, .retain_last = 1})
                    .Execute(table.run(), loaded, report),
                IsOk());
  }

  OrphanTestTable table;
};

/// A slow writer commits files that were written long ago.
void CommitOldFile(OrphanTestTable& table, const std::string& name) {
  SnapshotUpdate update;
  update.added_data_files = {{table.Data(name)}};
  Table loaded = table.Load();
  CommitReport commit;
  EXPECT_THAT(CommitSnapshot(table.run(), loaded, update, commit), IsOk());
}

TEST(OrphanRaceTest, AFileCommittedDuringTheListingStays) {
  Race race;
  const auto listing = [&](const FileVisitor& visit) -> Status {
    IW_TRY(race.table.io().List(Location("memory:/w/db/t"), visit));
    CommitOldFile(race.table, "y");
    return {};
  };
  ASSERT_THAT(race.table.Clean({}, listing), IsOk());
  EXPECT_EQ(race.table.DataFiles(), (Paths{"a", "y"}));
  EXPECT_EQ(race.table.Count("orphan-files-count"), 2);
}

TEST(OrphanRaceTest, AFileCommittedAfterTheComparisonStays) {
  Race race;
  // 1: the table's files. 2: what is staged, the last thing before the comparison.
  race.At(
      IoCall::kList, [&] { CommitOldFile(race.table, "y"); }, 1);
  ASSERT_THAT(race.table.Clean(), IsOk());
  EXPECT_EQ(race.table.DataFiles(), (Paths{"a", "y"}));
  EXPECT_EQ(race.table.Count("orphan-files-count"), 3);
  EXPECT_EQ(race.table.Count("deleted-files-count"), 2);
  EXPECT_THAT(race.table.report.notes, Contains(HasSubstr("1 file(s) stay")));
  EXPECT_EQ(race.table.report.outcome, TaskOutcome::kDone);
}

TEST(OrphanRaceTest, AFileCommittedBetweenTwoBatchesStays) {
  Race race;
  std::string committed;
  race.At(IoCall::kDelete, [&] {
    // Whichever goes first, one of the others is committed now.
    const std::string first = race.table.io().events().back().location.text();
    committed = first.ends_with("y") ? "z" : "y";
    CommitOldFile(race.table, committed);
  });
  ASSERT_THAT(race.table.Clean({.delete_batch_size = 1}), IsOk());
  EXPECT_EQ(race.table.DataFiles(), (Paths{"a", committed}));
  EXPECT_EQ(race.table.Count("deleted-files-count"), 2);
}

TEST(OrphanRaceTest, NewMetadataFilesOfOthersStay) {
  Race race;
  race.At(IoCall::kDelete, [&] { race.table.Append({"new"}); });
  ASSERT_THAT(race.table.Clean({.min_age = 0, .force_min_age = true, .delete_batch_size = 1}),
              IsOk());
  EXPECT_EQ(race.table.DataFiles(), (Paths{"a", "new"}));
  EXPECT_THAT(race.table.Lost(), IsEmpty());
}

/// Everything that is old expires at a moment that `arm` chooses, once the files are listed.
void ExpiresWhileItReads(const std::function<void(Race&)>& arm) {
  Race race;
  race.table.Replace({"a"}, {"b"});
  race.table.Append({"c"});
  race.table.Age();
  const auto listing = [&](const FileVisitor& visit) -> Status {
    IW_TRY(race.table.io().List(Location("memory:/w/db/t"), visit));
    arm(race);
    return {};
  };
  ASSERT_THAT(race.table.Clean({}, listing), IsOk());
  EXPECT_EQ(race.table.DataFiles(), (Paths{"b", "c"}));
  EXPECT_THAT(race.table.Lost(), IsEmpty());
}

TEST(OrphanRaceTest, AnExpiryThatTakesManifestsAwayMakesTheRunReadAgain) {
  // The first manifest list that is read.
  ExpiresWhileItReads([](Race& race) { race.At(IoCall::kOpen, [&] { race.ExpireAll(); }); });
}

// The lists are read by then, and what they name is not there any more.
TEST(OrphanRaceTest, AnExpiryAfterTheListsWereReadMakesTheRunReadAgain) {
  ExpiresWhileItReads([](Race& race) { race.AtManifest([&] { race.ExpireAll(); }); });
}

TEST(OrphanRaceTest, AnExpiryWhileTheRunLooksAgainIsNoError) {
  Race race;
  // The manifest of "c" is new to the run, and the expiry takes it away.
  const auto commit_and_expire = [&] {
    race.table.Append({"c"});
    race.table.Replace({"c"}, {"d"});
    CommitOldFile(race.table, "y");
    race.AtManifest([&] { race.ExpireAll(); });
  };
  race.At(IoCall::kList, commit_and_expire, 1);
  ASSERT_THAT(race.table.Clean(), IsOk());
  EXPECT_EQ(race.table.report.outcome, TaskOutcome::kDone);
  EXPECT_EQ(race.table.DataFiles(), (Paths{"a", "d", "y"}));
  EXPECT_EQ(race.table.Count("deleted-files-count"), 2);
  EXPECT_THAT(race.table.Lost(), IsEmpty());
}

// Something that is missing for good is not read for ever.
TEST(OrphanRaceTest, AManifestThatIsMissingIsAnError) {
  Race race;
  const Table table = race.table.Load();
  IW_ASSERT_OK_AND_ASSIGN(const auto manifests,
                          ReadManifests(race.table.run(), race.table.io(), table.metadata(),
                                        *table.metadata().current_snapshot()));
  ASSERT_THAT(race.table.io().Delete(manifests.at(0).manifest_path), IsOk());
  EXPECT_THAT(race.table.Clean(), HasCode(Code::kNotFound));
  EXPECT_THAT(race.table.DataFiles(), SizeIs(4));
}

TEST(OrphanRaceTest, AnotherTableInThePlaceStopsTheRun) {
  Race race;
  const auto listing = [&](const FileVisitor& visit) -> Status {
    IW_TRY(race.table.io().List(Location("memory:/w/db/t"), visit));
    IW_TRY(race.table.catalog().DropTable(race.table.run(), kHistoryTable, {}));
    CreateTableRequest request{.schema = MakeSchema({{1, "id", TypeId::kLong}})};
    return race.table.catalog().CreateTable(race.table.run(), kHistoryTable, request)
               ? Status()
               : Status(Error(Code::kInternal, "not made"));
  };
  EXPECT_THAT(race.table.Clean({}, listing), HasError(Code::kConflict, HasSubstr("another table")));
  EXPECT_THAT(race.table.DataFiles(), SizeIs(4));
}

TEST(OrphanRaceTest, AFileThatIsGoneAlreadyIsNoError) {
  Race race;
  race.At(IoCall::kDelete, [&] {
    for (const char* name : {"x", "y", "z"}) {
      EXPECT_THAT(race.table.io().Delete(race.table.PathOf(name)), IsOk());
    }
  });
  ASSERT_THAT(race.table.Clean(), IsOk());
  EXPECT_EQ(race.table.report.outcome, TaskOutcome::kDone);
  EXPECT_EQ(race.table.DataFiles(), (Paths{"a"}));
}

// ---- Stops, locks, failures

TEST(OrphanStopTest, ALostLockBeforeTheFirstBatchDeletesNothing) {
  bool lost = false;
  Race race({.may_write = [&]() -> Status {
    return lost ? Status(Error(Code::kLockLost, "lease ended")) : Status();
  }});
  lost = true;
  ASSERT_THAT(race.table.Clean(), IsOk());
  EXPECT_EQ(race.table.report.outcome, TaskOutcome::kPartial);
  ASSERT_THAT(race.table.report.failures, SizeIs(1));
  EXPECT_EQ(race.table.report.failures[0].code(), Code::kLockLost);
  EXPECT_THAT(race.table.DataFiles(), SizeIs(4));
}

TEST(OrphanStopTest, ALockLostBetweenBatchesLeavesTheRest) {
  int deletes = 0;
  Race race({.may_write = [&]() -> Status {
    return deletes > 0 ? Status(Error(Code::kLockLost, "lease ended")) : Status();
  }});
  race.table.io().OnCall([&](int, const IoEvent& event) -> Status {
    if (event.call == IoCall::kDelete) ++deletes;
    return {};
  });
  ASSERT_THAT(race.table.Clean({.delete_batch_size = 1}), IsOk());
  EXPECT_EQ(race.table.report.outcome, TaskOutcome::kPartial);
  EXPECT_THAT(race.table.report.failures[0].message(), HasSubstr("2 orphan(s) are left"));
  EXPECT_EQ(race.table.Count("deleted-files-count"), 1);
  EXPECT_THAT(race.table.DataFiles(), SizeIs(3));
}

TEST(OrphanStopTest, FilesThatCannotBeDeletedAreLeftoversAndTheRestGoes) {
  Race race;
  int tries = 0;
  race.table.io().OnCall([&](int, const IoEvent& event) -> Status {
    if (event.call != IoCall::kDelete || !event.location.text().ends_with("/y")) return {};
    ++tries;
    return Error(Code::kDenied, "no");
  });
  ASSERT_THAT(race.table.Clean(), IsOk());
  EXPECT_EQ(race.table.report.outcome, TaskOutcome::kPartial);
  EXPECT_THAT(race.table.report.leftovers, ElementsAre(race.table.PathOf("y")));
  EXPECT_EQ(race.table.Count("deleted-files-count"), 2);
  EXPECT_EQ(tries, 1) << "what is denied is not tried again";
}

TEST(OrphanStopTest, WhatFailsForTheMomentIsTriedAgainAFewTimes) {
  Race race;
  int tries = 0;
  race.table.io().OnCall([&](int, const IoEvent& event) -> Status {
    if (event.call != IoCall::kDelete || !event.location.text().ends_with("/y")) return {};
    return ++tries < 3 ? Status(Error(Code::kUnavailable, "busy")) : Status();
  });
  ASSERT_THAT(race.table.Clean(), IsOk());
  EXPECT_EQ(race.table.report.outcome, TaskOutcome::kDone);
  tries = -1000;
  race.table.Plant("data/y");
  ASSERT_THAT(race.table.Clean(), IsOk());
  EXPECT_EQ(race.table.report.outcome, TaskOutcome::kPartial);
  EXPECT_EQ(tries, -996);
  EXPECT_THAT(race.table.report.leftovers, SizeIs(1));
}

TEST(OrphanStopTest, AStopBeforeDeletingIsAnError) {
  std::stop_source stop;
  Race race;
  RunContext run(RunOptions{.stop = stop.get_token(), .clock = &race.table.clock()});
  Table table = race.table.Load();
  TaskReport report;
  const auto listing = [&](const FileVisitor& visit) -> Status {
    IW_TRY(race.table.io().List(Location("memory:/w/db/t"), visit));
    stop.request_stop();
    return {};
  };
  EXPECT_THAT(DeleteOrphanFiles({}, listing).Execute(run, table, report),
              HasCode(Code::kCancelled));
  EXPECT_THAT(race.table.DataFiles(), SizeIs(4));
}

TEST(OrphanStopTest, TooLittleMemoryIsSaidAndDeletesNothing) {
  Race race;
  RunContext run(RunOptions{.clock = &race.table.clock(), .memory_limit_bytes = 1 << 20});
  Table table = race.table.Load();
  TaskReport report;
  EXPECT_THAT(DeleteOrphanFiles().Execute(run, table, report), HasCode(Code::kExhausted));
  EXPECT_THAT(race.table.DataFiles(), SizeIs(4));
}

// ---- Every call may fail

struct SweepCase {
  const char* name;
  enum class Kind : std::uint8_t { kOneCall, kOneAnswer, kKill } kind;
  Code code = Code::kIo;
};

class OrphanSweepTest : public ::testing::TestWithParam<SweepCase> {};

struct Sweep : OrphanTestTable {
  Sweep() : OrphanTestTable({.format_version = 3}) {
    const SnapshotId first = Append({"a", "b"});
    Commit({.operation = "delete",
            .added_delete_files = {{EqualityDeletes("e")}, {Dv("p1", Data("a"), 4)}}});
    Statistics(first, "s");
    Stage({"staged"});
    Append({"c"});
    Age();
    for (const char* name : {"data/x", "data/y", "metadata/x-m0.avro", "data/d/z"}) Plant(name);
    Plant("data/young", 1000);
  }
};

TEST_P(OrphanSweepTest, NothingNamedGoesAndTheNextRunFinishes) {
  const SweepCase& c = GetParam();
  int failures = 0;
  int partial = 0;
  for (int step = 0; step < 1000; ++step) {
    SCOPED_TRACE(step);
    Sweep table;
    const Paths before = table.All();
    const Paths orphans = table.Orphans();
    ASSERT_THAT(orphans, SizeIs(4));
    Table loaded = table.Load();
    const int call = table.io().calls() + step;
    const Error error(c.code, "injected failure");
    if (c.kind == SweepCase::Kind::kKill) {
      table.io().FailFrom(call, error);
    } else {
      table.io().FailAt(call, error,
                        c.kind == SweepCase::Kind::kOneCall ? FaultFileIO::When::kBefore
                                                            : FaultFileIO::When::kAfter);
    }
    const Status status = table.CleanLoaded(loaded, {.delete_batch_size = 2});
    const bool reached = table.io().calls() > call;
    table.io().FailAt(-1);
    EXPECT_THAT(table.Lost(), IsEmpty());
    const Paths after = table.All();
    for (const std::string& file : before) {
      EXPECT_TRUE(after.contains(file) || orphans.contains(file)) << file;
    }
    if (!status) {
      ++failures;
      EXPECT_EQ(after, before) << "an error means that nothing was deleted";
    } else if (table.report.outcome == TaskOutcome::kPartial) {
      ++partial;
      EXPECT_THAT(table.report.failures, Not(IsEmpty()));
    } else {
      EXPECT_THAT(table.Orphans(), IsEmpty());
    }
    ASSERT_THAT(table.Clean(), IsOk());
    EXPECT_THAT(table.Orphans(), IsEmpty());
    EXPECT_THAT(table.Lost(), IsEmpty());
    if (HasFailure()) return;
    if (!reached) {
      EXPECT_THAT(status, IsOk());
      EXPECT_GT(step, 20) << "the operation has more calls than that";
      if (c.code == Code::kIo) {
        EXPECT_GT(failures, 10) << "calls before the deletes matter";
        EXPECT_GT(partial, 3) << "calls among the deletes matter";
      }
      return;
    }
  }
  FAIL() << "the operation has no end";
}

INSTANTIATE_TEST_SUITE_P(Table, OrphanSweepTest,
                         ::testing::Values(SweepCase{"Call", SweepCase::Kind::kOneCall},
                                           SweepCase{"Answer", SweepCase::Kind::kOneAnswer},
                                           SweepCase{"Kill", SweepCase::Kind::kKill},
                                           SweepCase{"AwayForAMoment", SweepCase::Kind::kOneCall,
                                                     Code::kUnavailable}),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace icewright
