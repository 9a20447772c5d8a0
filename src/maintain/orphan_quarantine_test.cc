#include "maintain/orphan_quarantine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "maintain/orphan_test_table.h"
#include "maintain/quarantine.h"

namespace icewright {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Paths = OrphanTestTable::Paths;
constexpr const char* kPlace = "memory:/quarantine/";

/// A table with two old orphans, and a quarantine.
struct QuarantineTable : OrphanTestTable {
  QuarantineTable() {
    Append({"a"});
    Age();
    Plant("data/x");
    Plant("data/o d d/\xff");
  }

  Status Quarantine(DeleteOrphanFilesOptions options = {}) {
    options.quarantine = kPlace;
    return Clean(options);
  }
  Status Restore(RestoreOrphansOptions options = {}) {
    options.quarantine = kPlace;
    report = {};
    Table table = Load();
    return RestoreOrphans(options).Execute(run(), table, report);
  }
  Status Purge(PurgeOrphansOptions options = {}) {
    options.quarantine = kPlace;
    report = {};
    Table table = Load();
    return PurgeOrphans(options).Execute(run(), table, report);
  }

  /// Files in the quarantine, without those that say what is there.
  int Quarantined() { return CountBelow(false); }
  int Records() { return CountBelow(true); }

 private:
  int CountBelow(bool records) {
    int count = 0;
    EXPECT_THAT(io().List(Location(kPlace),
                          [&](const FileStatus& file) -> Status {
                            count += file.location.text().ends_with(".json") == records ? 1 : 0;
                            return {};
                          }),
                IsOk());
    return count;
  }
};

TEST(OrphanQuarantineTest, OrphansMoveAndComeBack) {
  QuarantineTable table;
  const Paths before = table.All();
  ASSERT_THAT(table.Quarantine(), IsOk());
  EXPECT_EQ(table.report.outcome, TaskOutcome::kDone);
  EXPECT_EQ(table.Count("quarantined-files-count"), 2);
  EXPECT_EQ(table.Count("deleted-files-count"), 0);
  EXPECT_EQ(table.DataFiles(), (Paths{"a"}));
  EXPECT_EQ(table.Quarantined(), 2);
  EXPECT_EQ(table.Records(), 1);
  ASSERT_THAT(table.Quarantine(), IsOk());
  EXPECT_EQ(table.report.outcome, TaskOutcome::kNothingToDo);

  ASSERT_THAT(table.Restore({.dry_run = true}), IsOk());
  EXPECT_EQ(table.report.outcome, TaskOutcome::kPlanned);
  EXPECT_EQ(table.Quarantined(), 2);
  ASSERT_THAT(table.Restore(), IsOk());
  EXPECT_EQ(table.report.outcome, TaskOutcome::kDone);
  EXPECT_EQ(table.Count("restored-files-count"), 2);
  EXPECT_EQ(table.Count("restored-bytes"), 2);
  EXPECT_EQ(table.All(), before);
  EXPECT_EQ(table.Quarantined() + table.Records(), 0);
  ASSERT_THAT(table.Restore(), IsOk());
  EXPECT_EQ(table.report.outcome, TaskOutcome::kNothingToDo);
}

TEST(OrphanQuarantineTest, ARecordSaysWhereEachFileWas) {
  QuarantineTable table;
  const TimePoint changed = table.Listing().at("data/x");
  ASSERT_THAT(table.Quarantine({.delete_batch_size = 1}), IsOk());
  const Table loaded = table.Load();
  const Location folder = QuarantineFolder(Location("memory:/quarantine"), loaded.metadata());
  EXPECT_EQ(folder.file_name(), loaded.metadata().table_uuid);
  const auto records = ListQuarantineRecords(table.io(), folder);
  ASSERT_THAT(records, IsOkAndHolds(SizeIs(2))) << "one a round";
  Paths originals;
  for (const Location& location : *records) {
    const auto record = ReadQuarantineRecord(table.io(), location);
    ASSERT_THAT(record, IsOk());
    EXPECT_EQ(record->table, loaded.name());
    EXPECT_EQ(record->at, table.clock().Now());
    ASSERT_THAT(record->files, SizeIs(1));
    EXPECT_EQ(record->files[0].size, 1);
    EXPECT_EQ(record->files[0].modified, changed);
    EXPECT_THAT(table.io().Exists(folder.Child(record->files[0].name)), IsOkAndHolds(true));
    originals.insert(record->files[0].original.text());
  }
  EXPECT_EQ(originals, (Paths{table.At("data/x").text(), table.At("data/o d d/\xff").text()}));
}

TEST(OrphanQuarantineTest, SomePathsComeBackAndUnknownOnesAreRefused) {
  QuarantineTable table;
  ASSERT_THAT(table.Quarantine(), IsOk());
  EXPECT_THAT(table.Restore({.paths = {table.At("data/x").text(), "memory:/no"}}),
              HasError(Code::kNotFound, HasSubstr("memory:/no")));
  EXPECT_EQ(table.DataFiles(), (Paths{"a"}));
  ASSERT_THAT(table.Restore({.paths = {table.At("data/x").text()}}), IsOk());
  EXPECT_EQ(table.DataFiles(), (Paths{"a", "x"}));
  EXPECT_EQ(table.Quarantined(), 1);
  ASSERT_THAT(table.Restore(), IsOk());
  EXPECT_THAT(table.DataFiles(), SizeIs(3));
}

TEST(OrphanQuarantineTest, RestoringOverwritesNothing) {
  QuarantineTable table;
  ASSERT_THAT(table.Quarantine(), IsOk());
  ASSERT_THAT(WriteFile(table.io(), table.At("data/x"), "newer", CreateMode::kNew), IsOk());
  ASSERT_THAT(table.Restore(), IsOk());
  EXPECT_EQ(table.report.outcome, TaskOutcome::kPartial);
  ASSERT_THAT(table.report.failures, SizeIs(1));
  EXPECT_EQ(table.report.failures[0].code(), Code::kAlreadyExists);
  EXPECT_THAT(ReadFile(table.io(), table.At("data/x")), IsOkAndHolds("newer"));
  EXPECT_EQ(table.Count("restored-files-count"), 1);
  ASSERT_THAT(table.io().Delete(table.At("data/x")), IsOk());
  ASSERT_THAT(table.Restore(), IsOk());
  EXPECT_THAT(ReadFile(table.io(), table.At("data/x")), IsOkAndHolds("x"));
  EXPECT_EQ(table.Records(), 0);
}

TEST(OrphanQuarantineTest, PurgingWaitsForTheAge) {
  QuarantineTable table;
  ASSERT_THAT(table.Quarantine(), IsOk());
  table.clock().Advance(Milliseconds(7 * kDayMs - 1));
  ASSERT_THAT(table.Purge(), IsOk());
  EXPECT_EQ(table.report.outcome, TaskOutcome::kNothingToDo);
  table.clock().Advance(Milliseconds(1));
  ASSERT_THAT(table.Purge({.dry_run = true}), IsOk());
  EXPECT_EQ(table.report.outcome, TaskOutcome::kPlanned);
  EXPECT_EQ(table.Quarantined(), 2);
  ASSERT_THAT(table.Purge({.delete_batch_size = 1}), IsOk());
  EXPECT_EQ(table.report.outcome, TaskOutcome::kDone);
  EXPECT_EQ(table.Count("purged-files-count"), 2);
  EXPECT_EQ(table.Quarantined() + table.Records(), 0);
}

TEST(OrphanQuarantineTest, AnExpiryThatTakesManifestsAwayMakesThePurgeReadAgain) {
  QuarantineTable table;
  ASSERT_THAT(table.Quarantine(), IsOk());
  table.Append({"c"});
  table.Replace({"c"}, {"d"});
  table.Age();
  table.io().OnCall([&](int, const IoEvent& event) -> Status {
    if (event.call != IoCall::kOpen || !event.location.text().ends_with("-m0.avro")) return {};
    table.io().OnCall({});
    TaskReport report;
    Table loaded = table.Load();
    return ExpireSnapshots({.max_snapshot_age = 0, .retain_last = 1})
        .Execute(table.run(), loaded, report);
  });
  ASSERT_THAT(table.Purge({.older_than = 0}), IsOk());
  EXPECT_EQ(table.Count("purged-files-count"), 2);
}

TEST(OrphanQuarantineTest, AFileThatTheTableHasComeToNameIsNotPurged) {
  QuarantineTable table;
  ASSERT_THAT(table.Quarantine(), IsOk());
  table.Append({"x"});
  ASSERT_THAT(table.io().Delete(table.At("data/x")), IsOk());
  ASSERT_THAT(table.Purge({.older_than = 0}), IsOk());
  EXPECT_EQ(table.report.outcome, TaskOutcome::kPartial);
  ASSERT_THAT(table.report.failures, SizeIs(1));
  EXPECT_THAT(table.report.failures[0].message(),
              AllOf(HasSubstr("data/x"), HasSubstr("orphans restore")));
  EXPECT_EQ(table.Quarantined(), 1);
  ASSERT_THAT(table.Restore(), IsOk());
  EXPECT_TRUE(table.DataFiles().contains("x"));
  EXPECT_THAT(table.Lost(), IsEmpty());
}

TEST(OrphanQuarantineTest, ADamagedRecordIsNamedAndNothingHappens) {
  QuarantineTable table;
  ASSERT_THAT(table.Quarantine(), IsOk());
  const Location folder = QuarantineFolder(Location("memory:/quarantine"), table.Load().metadata());
  const Location record = folder.Child("zz.json");
  const char* const kHead =
      R"({"icewright-quarantine":1,"table-uuid":"u","table":"t","quarantined-at-ms":0,"files":)";
  const std::string texts[] = {
      "garbage",
      "[]",
      std::string(kHead) + R"([["../../a",1,1,"memory:/w/db/t/data/a"]]})",
      std::string(kHead) + R"([["r/..",1,1,"memory:/x"]]})",
      std::string(kHead) + R"([["r/a/b",1,1,"memory:/x"]]})",
      std::string(kHead) + R"([["r/1",1,1]]})",
      std::string(kHead) + R"([["r/1","1",1,"memory:/x"]]})",
      std::string(kHead) + R"(7})",
  };
  for (const std::string& text : texts) {
    ASSERT_THAT(WriteFile(table.io(), record, text, CreateMode::kAtomicReplace), IsOk());
    EXPECT_THAT(table.Purge({.older_than = 0}), HasError(Code::kCorrupt, HasSubstr(record.text())))
        << text;
    EXPECT_THAT(table.Restore(), HasCode(Code::kCorrupt)) << text;
    EXPECT_EQ(table.Quarantined(), 2);
  }
  ASSERT_THAT(
      WriteFile(table.io(), record, R"({"icewright-quarantine":2})", CreateMode::kAtomicReplace),
      IsOk());
  EXPECT_THAT(table.Restore(), HasCode(Code::kUnsupported));
}

TEST(OrphanQuarantineTest, BadOptionsNameThemselves) {
  QuarantineTable table;
  Table loaded = table.Load();
  TaskReport report;
  EXPECT_THAT(RestoreOrphans().Execute(table.run(), loaded, report),
              HasError(Code::kInvalidArgument, HasSubstr("quarantine")));
  EXPECT_THAT(PurgeOrphans({.quarantine = "q"}).Execute(table.run(), loaded, report),
              HasError(Code::kInvalidArgument, HasSubstr("quarantine")));
  EXPECT_THAT(table.Purge({.older_than = -1}),
              HasError(Code::kInvalidArgument, HasSubstr("older-than")));
  EXPECT_THAT(table.Purge({.delete_batch_size = 0}),
              HasError(Code::kInvalidArgument, HasSubstr("delete-batch-size")));
}

// ---- Failures: every file is at its old place or in the quarantine, on record

enum class Step : std::uint8_t { kQuarantine, kRestore, kPurge };
struct SweepCase {
  const char* name;
  Step step;
  bool kill;
};

class OrphanQuarantineSweepTest : public ::testing::TestWithParam<SweepCase> {};

Status RunStep(QuarantineTable& table, Table& loaded, Step step) {
  table.report = {};
  switch (step) {
    case Step::kQuarantine:
      return DeleteOrphanFiles({.quarantine = kPlace, .delete_batch_size = 1})
          .Execute(table.run(), loaded, table.report);
    case Step::kRestore:
      return RestoreOrphans({.quarantine = kPlace}).Execute(table.run(), loaded, table.report);
    case Step::kPurge:
      return PurgeOrphans({.quarantine = kPlace, .older_than = 0})
          .Execute(table.run(), loaded, table.report);
  }
  return {};
}

TEST_P(OrphanQuarantineSweepTest, NoFileIsLostAndTheNextRunFinishes) {
  const SweepCase& c = GetParam();
  for (int call = 0; call < 1000; ++call) {
    SCOPED_TRACE(call);
    QuarantineTable table;
    if (c.step != Step::kQuarantine) {
      ASSERT_THAT(table.Quarantine(), IsOk());
    }
    Table loaded = table.Load();
    const int start = table.io().calls();
    if (c.kill) {
      table.io().FailFrom(start + call);
    } else {
      table.io().FailAt(start + call);
    }
    const Status status = RunStep(table, loaded, c.step);
    const bool reached = table.io().calls() > start + call;
    table.io().FailAt(-1);
    EXPECT_TRUE(table.DataFiles().contains("a"));
    if (status && table.report.outcome == TaskOutcome::kDone) {
      EXPECT_THAT(table.report.failures, IsEmpty());
    }
    if (c.step != Step::kPurge) {
      ASSERT_THAT(table.Restore(), IsOk());
      EXPECT_THAT(table.DataFiles(), SizeIs(3)) << "all can be brought back";
    } else {
      ASSERT_THAT(table.Purge({.older_than = 0}), IsOk());
      EXPECT_THAT(table.DataFiles(), ElementsAre("a"));
      EXPECT_EQ(table.Quarantined(), 0);
    }
    EXPECT_EQ(table.Records(), 0);
    if (HasFailure()) return;
    if (!reached) {
      EXPECT_GT(call, 5);
      return;
    }
  }
  FAIL() << "the operation has no end";
}

INSTANTIATE_TEST_SUITE_P(Steps, OrphanQuarantineSweepTest,
                         ::testing::Values(SweepCase{"Quarantine", Step::kQuarantine, false},
                                           SweepCase{"QuarantineKill", Step::kQuarantine, true},
                                           SweepCase{"Restore", Step::kRestore, false},
                                           SweepCase{"RestoreKill", Step::kRestore, true},
                                           SweepCase{"Purge", Step::kPurge, false},
                                           SweepCase{"PurgeKill", Step::kPurge, true}),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace icewright
