#include "maintain/delete_orphan_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "maintain/orphan_test_table.h"

namespace icewright {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::SizeIs;

using Options = DeleteOrphanFilesOptions;
using Paths = OrphanTestTable::Paths;

/// What went between two listings.
Paths Gone(const Paths& before, OrphanTestTable& table) {
  Paths gone = before;
  for (const std::string& file : table.All()) gone.erase(file);
  return gone;
}

/// Two snapshots with deletes and statistics, all of it old.
struct OldTable : OrphanTestTable {
  explicit OldTable(HistoryTestOptions options = {}) : OrphanTestTable(std::move(options)) {
    const SnapshotId first = Append({"a", "b"});
    Commit({.operation = "delete",
            .added_delete_files = {{EqualityDeletes("e")}, {PositionDeletes("p")}}});
    Statistics(first, "theta.stats");
    PartitionStatistics(first, "partition.parquet");
    MakeFile(At("metadata/version-hint.text"));
    Age();
  }
};

TEST(DeleteOrphanFilesTest, JunkGoesAndWhatTheTableNamesStays) {
  OldTable table;
  const Paths before = table.All();
  for (const char* junk : {"data/x", "data/day=1/x.parquet", "metadata/x-m0.avro", "elsewhere/y",
                           "metadata/snap-1-1-x.avro", "metadata/x.stats", "z"}) {
    table.Plant(junk);
  }
  ASSERT_THAT(table.Clean(), IsOk());
  EXPECT_EQ(table.All(), before);
  EXPECT_EQ(table.report.outcome, TaskOutcome::kDone);
  EXPECT_EQ(table.Count("orphan-files-count"), 7);
  EXPECT_EQ(table.Count("deleted-files-count"), 7);
  EXPECT_EQ(table.Count("orphan-bytes"), 7);
  EXPECT_EQ(table.Count("deleted-bytes"), 7);
  EXPECT_EQ(table.Count("referenced-files-count"), std::ssize(before));
  EXPECT_EQ(table.Count("listed-files-count"), std::ssize(before) + 7);
  EXPECT_THAT(table.report.items, SizeIs(7));
  EXPECT_EQ(table.report.items[0].name, "memory:/w/db/t/data/day=1/x.parquet");
  EXPECT_EQ(table.report.items[0].reason, "");
  ASSERT_THAT(table.Clean(), IsOk());
  EXPECT_EQ(table.report.outcome, TaskOutcome::kNothingToDo);
}

TEST(DeleteOrphanFilesTest, ATableWithoutSnapshotsKeepsItsMetadata) {
  OrphanTestTable table;
  table.Update({SetProperties{{{"k", "v"}}}});
  table.MakeFile(table.At("metadata/version-hint.text"));
  table.Age();
  const Paths before = table.All();
  table.Plant("data/x");
  ASSERT_THAT(table.Clean(), IsOk());
  EXPECT_EQ(table.All(), before);
  EXPECT_THAT(before, SizeIs(3));
}

TEST(DeleteOrphanFilesTest, OnlyWhatIsOlderThanTheAgeGoes) {
  OldTable table;
  const Paths before = table.All();
  table.Plant("data/old", 3 * kDayMs + 1);
  table.Plant("data/just", 3 * kDayMs);
  table.Plant("data/young", 1000);
  ASSERT_THAT(table.Clean(), IsOk());
  EXPECT_EQ(table.Count("deleted-files-count"), 1);
  EXPECT_EQ(table.Count("young-files-count"), 2);
  EXPECT_TRUE(table.All().contains("data/just"));
  EXPECT_FALSE(table.All().contains("data/old"));

  EXPECT_THAT(
      table.Clean({.min_age = kDayMs - 1}),
      HasError(Code::kInvalidArgument, AllOf(HasSubstr("24h"), HasSubstr("force-min-age"))));
  EXPECT_THAT(table.Clean({.min_age = -1, .force_min_age = true}), HasCode(Code::kInvalidArgument));
  ASSERT_THAT(table.Clean({.min_age = kDayMs}), IsOk());
  EXPECT_TRUE(table.All().contains("data/young"));
  ASSERT_THAT(table.Clean({.min_age = 0, .force_min_age = true}), IsOk());
  EXPECT_EQ(table.All(), before);
}

TEST(DeleteOrphanFilesTest, MetadataFilesThatFellOffTheLogGo) {
  OrphanTestTable table({.properties = {{"write.metadata.previous-versions-max", "2"}}});
  for (int i = 0; i < 6; ++i) table.Append({"f" + std::to_string(i)});
  table.Age();
  const Paths orphans = table.Orphans();
  EXPECT_THAT(orphans, SizeIs(4)) << "7 versions, of which the table names 3";
  const Paths before = table.All();
  ASSERT_THAT(table.Clean(), IsOk());
  EXPECT_EQ(Gone(before, table), orphans);
}

TEST(DeleteOrphanFilesTest, StagedRolledBackAndBranchSnapshotsCount) {
  OrphanTestTable table;
  const SnapshotId first = table.Append({"a"});
  table.Append({"rolled-back"});
  table.RollBackTo(first);
  table.Stage({"staged"});
  table.Branch("dev", first);
  table.Append({"on-dev"}, "dev");
  table.Age();
  table.Plant("data/x");
  const Paths before = table.All();
  ASSERT_THAT(table.Clean(), IsOk());
  EXPECT_THAT(Gone(before, table), ElementsAre("data/x"));
}

TEST(DeleteOrphanFilesTest, SharedPuffinFilesStayWithOneLiveVector) {
  OrphanTestTable table({.format_version = 3});
  table.Append({"a", "b"});
  table.Commit({.operation = "delete",
                .added_delete_files = {{table.Dv("p1", table.Data("a"), 4)},
                                       {table.Dv("p1", table.Data("b"), 44)}}});
  table.Commit({.operation = "delete",
                .added_delete_files = {{table.Dv("p2", table.Data("a"))}},
                .removed_delete_files = {table.Dv("p1", table.Data("a"), 4)}});
  table.clock().Advance(kMinute);
  ASSERT_THAT(table.Expire({.max_snapshot_age = 0, .retain_last = 1}), IsOk());
  table.Age();
  table.Plant("data/p3");
  const Paths orphans = table.Orphans();
  const Paths before = table.All();
  ASSERT_THAT(table.Clean(), IsOk());
  EXPECT_EQ(Gone(before, table), orphans);
  EXPECT_THAT(table.All(), IsSupersetOf({"data/p1", "data/p2", "data/a", "data/b"}));
}

TEST(DeleteOrphanFilesTest, HiddenPathsStay) {
  OldTable table;
  const std::vector<std::string> hidden = {"data/_SUCCESS", "data/.x.crc",   "_tmp/x",
                                           ".staging/y/z",  "data/_day=1/x", "data/_cat_x/y"};
  for (const std::string& file : hidden) table.Plant(file);
  table.Plant("data/da_y/x.y");
  for (const bool prefix : {true, false}) {
    ASSERT_THAT(table.Clean({.use_prefix_listing = prefix}), IsOk());
    EXPECT_THAT(table.All(), IsSupersetOf(hidden));
  }
  EXPECT_FALSE(table.All().contains("data/da_y/x.y"));
}

TEST(DeleteOrphanFilesTest, PartitionFoldersThatLookHiddenAreSearchedAlsoAfterTheSpecHasChanged) {
  OldTable table;
  const PartitionSpec spec{.fields = {{.source_ids = {FieldId{2}},
                                       .field_id = FieldId{1000},
                                       .name = "_cat",
                                       .transform = Transform::Of(Transform::Kind::kIdentity)}}};
  table.Update({AddPartitionSpec{spec}, SetDefaultSpec{}});
  table.Update({SetDefaultSpec{SpecId{0}}});
  table.Age();
  for (const char* file : {"data/_cat=1/x", "data/_cat=1/_x", "data/_cats=1/x", "data/_cat/x"}) {
    table.Plant(file);
  }
  const Paths before = table.All();
  ASSERT_THAT(table.Clean({.dry_run = true}), IsOk());
  EXPECT_EQ(table.All(), before);
  EXPECT_EQ(table.report.outcome, TaskOutcome::kPlanned);
  ASSERT_THAT(table.Clean({.use_prefix_listing = false}), IsOk());
  EXPECT_THAT(Gone(before, table), ElementsAre("data/_cat=1/x"));
}

TEST(DeleteOrphanFilesTest, ALocationNarrowsTheSearch) {
  OldTable table;
  for (const char* file : {"data/x", "data/sub/x", "data2/x", "metadata/x"}) table.Plant(file);
  const Paths before = table.All();
  ASSERT_THAT(table.Clean({.location = "memory:/w/db/t/data//"}), IsOk());
  EXPECT_THAT(Gone(before, table), ElementsAre("data/sub/x", "data/x"));
  EXPECT_THAT(table.Clean({.location = "data"}), HasCode(Code::kInvalidArgument));
  EXPECT_THAT(table.Clean({.location = "file:///"}),
              HasError(Code::kInvalidArgument, HasSubstr("root")));
}

// A folder above the table may be hidden, and another table's name may continue ours.
TEST(DeleteOrphanFilesTest, OnlyPartsBelowTheLocationDecide) {
  OldTable table;
  table.PlantAt(Location("memory:/w/db/t2/data/x"));
  table.PlantAt(Location("memory:/_w/t/data/x"));
  table.PlantAt(Location("memory:/_w/t/data/_x"));
  ASSERT_THAT(table.Clean(), IsOk());
  EXPECT_THAT(table.io().Exists(Location("memory:/w/db/t2/data/x")), IsOkAndHolds(true));
  ASSERT_THAT(table.Clean({.location = "memory:/_w/t"}), IsOk());
  EXPECT_THAT(table.io().Exists(Location("memory:/_w/t/data/x")), IsOkAndHolds(false));
  EXPECT_THAT(table.io().Exists(Location("memory:/_w/t/data/_x")), IsOkAndHolds(true));
}

TEST(DeleteOrphanFilesTest, AFolderSharedWithAnotherTableIsRefused) {
  OldTable table;
  table.Plant("data/x");
  table.Plant("nested/metadata/v3.metadata.json", 0);
  EXPECT_THAT(table.Clean(),
              HasError(Code::kInvalidArgument, AllOf(HasSubstr("nested/metadata/v3.metadata.json"),
                                                     HasSubstr("another table"))));
  EXPECT_TRUE(table.All().contains("data/x"));
  ASSERT_THAT(table.Clean({.location = "memory:/w/db/t/data"}), IsOk());
  EXPECT_FALSE(table.All().contains("data/x"));
}

TEST(DeleteOrphanFilesTest, WhatIsKeptElsewhereIsSaidNotToBeSearched) {
  OldTable table({.properties = {{"write.metadata.path", "memory:/w/db/t/meta"},
                                 {"write.data.path", "memory:/elsewhere"}}});
  table.Plant("data/x");
  ASSERT_THAT(table.Clean({.dry_run = true}), IsOk());
  EXPECT_THAT(table.report.notes, ElementsAre(HasSubstr("write.data.path is memory:/elsewhere")));
}

// ---- Refusals: nothing is deleted

TEST(DeleteOrphanFilesTest, GcEnabledFalseIsRefusedAtEachRun) {
  OldTable table;
  table.Plant("data/x");
  Table loaded = table.Load();
  table.Update({SetProperties{{{"gc.enabled", "false"}}}});
  EXPECT_THAT(table.CleanLoaded(loaded), HasError(Code::kUnsupported, HasSubstr("gc.enabled")));
  EXPECT_TRUE(table.All().contains("data/x"));
}

TEST(DeleteOrphanFilesTest, GcTurnedOffDuringTheRunStopsIt) {
  OldTable table;
  table.Plant("data/x");
  const auto turn_off = [&](const FileVisitor& visit) -> Status {
    table.Update({SetProperties{{{"gc.enabled", "false"}}}});
    return table.io().List(Location("memory:/w/db/t"), visit);
  };
  EXPECT_THAT(table.Clean({}, turn_off), HasCode(Code::kUnsupported));
  EXPECT_TRUE(table.All().contains("data/x"));
}

TEST(DeleteOrphanFilesTest, BadOptionsNameThemselves) {
  OldTable table;
  const std::pair<Options, const char*> cases[] = {
      {{.delete_batch_size = 0}, "delete-batch-size"},
      {{.delete_parallelism = 0}, "delete-parallelism"},
      {{.planning_parallelism = 0}, "planning-parallelism"},
      {{.prefix_mismatch_mode = "never"}, "prefix-mismatch-mode"},
      {{.equal_schemes = "a"}, "equal-schemes"},
      {{.equal_authorities = "=a"}, "equal-authorities"},
      {{.quarantine = "x"}, "quarantine"},
      {{.quarantine = "memory:/w/db/t/q"}, "is inside memory:/w/db/t"},
      {{.quarantine = "memory:/w/db/t"}, "is inside memory:/w/db/t"},
      {{.location = "memory:/other", .quarantine = "memory:/other/q"}, "is inside memory:/other"},
      {{.min_age = std::numeric_limits<std::int64_t>::max()}, "36500d"},
  };
  for (const auto& [options, what] : cases) {
    EXPECT_THAT(table.Clean(options), HasError(Code::kInvalidArgument, HasSubstr(what)));
  }
}

TEST(DeleteOrphanFilesTest, AManifestThatIsMissingOrBrokenStopsTheRun) {
  OldTable table;
  const Table loaded = table.Load();
  const auto manifests =
      ReadManifests(table.run(), table.io(), loaded.metadata(), loaded.metadata().snapshots.back());
  ASSERT_THAT(manifests, IsOk());
  const Location manifest = manifests->front().manifest_path;
  const auto bytes = ReadFile(table.io(), manifest);
  table.Plant("data/x");
  ASSERT_THAT(table.io().Delete(manifest), IsOk());
  EXPECT_THAT(table.Clean(), HasError(Code::kNotFound, HasSubstr(manifest.text())));
  ASSERT_THAT(WriteFile(table.io(), manifest, "garbage", CreateMode::kNew), IsOk());
  EXPECT_THAT(table.Clean(), HasError(Code::kCorrupt, HasSubstr(manifest.text())));
  EXPECT_TRUE(table.All().contains("data/x"));
  ASSERT_THAT(WriteFile(table.io(), manifest, *bytes, CreateMode::kAtomicReplace), IsOk());
  ASSERT_THAT(table.Clean(), IsOk());
  EXPECT_FALSE(table.All().contains("data/x"));
}

// ---- Spellings

TEST(DeleteOrphanFilesTest, AnOrphanAndItsPercentEncodedTwinAreTwoFiles) {
  OldTable table;
  const Paths before = table.All();
  table.Plant("data/with space/x 100%25.parquet");
  table.Plant("data/with%20space/x%20100%2525.parquet", 1000);
  ASSERT_THAT(table.Clean(), IsOk());
  EXPECT_TRUE(table.All().contains("data/with%20space/x%20100%2525.parquet"));
  EXPECT_FALSE(table.All().contains("data/with space/x 100%25.parquet"));
  EXPECT_THAT(table.io().deleted(), ElementsAre(table.At("data/with space/x 100%25.parquet")));
}

TEST(DeleteOrphanFilesTest, ALiveFileAndItsPercentEncodedTwinAreTwoFiles) {
  OrphanTestTable table;
  table.Append({"a b", "c%20d"});
  table.Age();
  table.Plant("data/a%20b");
  table.Plant("data/c d");
  ASSERT_THAT(table.Clean(), IsOk());
  EXPECT_EQ(table.DataFiles(), (Paths{"a b", "c%20d"}));
}

TEST(DeleteOrphanFilesTest, DoubledSlashesAreTheSameFileForUs) {
  OrphanTestTable table;
  SnapshotUpdate update;
  update.added_data_files = {{MakeDataFile("memory:/w/db/t/data//twice")}};
  table.Commit(update);
  table.Age();
  table.Plant("data/twice");
  table.Plant("data//once");
  ASSERT_THAT(table.Clean(), IsOk());
  EXPECT_TRUE(table.All().contains("data/twice")) << "the table may mean this one";
  EXPECT_FALSE(table.All().contains("data//once"));
}

// The table names files of "mem2:", the listing shows the same paths in "memory:".
struct OtherPrefix : OrphanTestTable {
  OtherPrefix() {
    MakeFile(Location("mem2://host/w/db/t/data/f"));
    SnapshotUpdate update;
    update.added_data_files = {{MakeDataFile("mem2://host/w/db/t/data/f")}};
    Commit(update);
    Age();
    Plant("data/f");
    Plant("data/x");
  }
};

TEST(DeleteOrphanFilesTest, PrefixesThatDifferAreAnErrorThatNamesThem) {
  OtherPrefix table;
  const Paths before = table.All();
  EXPECT_THAT(
      table.Clean(),
      HasError(Code::kInvalidArgument,
               AllOf(HasSubstr("listed with memory:, named with mem2://host"), HasSubstr("data/f"),
                     HasSubstr("equal-schemes"), HasSubstr("1 listed file(s)"))));
  EXPECT_EQ(table.All(), before) << "not even the plain orphan goes";
}

TEST(DeleteOrphanFilesTest, PrefixesThatDifferMayBeIgnoredDeletedOrDeclaredEqual) {
  OtherPrefix ignore;
  ASSERT_THAT(ignore.Clean({.prefix_mismatch_mode = "IGNORE"}), IsOk());
  EXPECT_EQ(ignore.DataFiles(), (Paths{"f"}));
  EXPECT_EQ(ignore.Count("mismatched-files-count"), 1);

  OtherPrefix remove;
  ASSERT_THAT(remove.Clean({.prefix_mismatch_mode = "DELETE", .explain = true}), IsOk());
  EXPECT_THAT(remove.DataFiles(), IsEmpty());
  EXPECT_THAT(remove.report.items[0].reason, HasSubstr("names this path with mem2://host only"));

  OtherPrefix equal;
  EXPECT_THAT(equal.Clean({.equal_schemes = "memory=mem2"}), HasCode(Code::kInvalidArgument))
      << "the hosts still differ";
  const auto with_host = [&](const FileVisitor& visit) -> Status {
    for (const char* name : {"data/f", "data/x"}) {
      IW_TRY(visit({Location(std::string("memory://HOST/w/db/t/") + name), 1, TimePoint()}));
    }
    return {};
  };
  ASSERT_THAT(equal.Clean({.equal_schemes = "memory=mem2", .dry_run = true}, with_host), IsOk());
  ASSERT_THAT(equal.report.items, SizeIs(1));
  EXPECT_THAT(equal.report.items[0].name, HasSubstr("data/x"));
}

TEST(DeleteOrphanFilesTest, OfSeveralSpellingsOneThatMatchesIsEnough) {
  OtherPrefix table;
  SnapshotUpdate update;
  update.added_data_files = {{MakeDataFile("memory:/w/db/t/data/f")}};
  table.Commit(update);
  table.Age();
  for (const char* mode : {"ERROR", "IGNORE", "DELETE"}) {
    ASSERT_THAT(table.Clean({.prefix_mismatch_mode = mode}), IsOk()) << mode;
    EXPECT_EQ(table.DataFiles(), (Paths{"f"})) << mode;
  }
}

TEST(DeleteOrphanFilesTest, ARelativePathInTheTableStopsTheRun) {
  OldTable table;
  table.Plant("data/x");
  StatisticsFile file;
  file.snapshot_id = table.Load().metadata().snapshots.back().id;
  file.statistics_path = Location("metadata/relative.stats");
  table.Update({SetStatistics{file}});
  EXPECT_THAT(table.Clean(), HasError(Code::kCorrupt, HasSubstr("metadata/relative.stats")));
  EXPECT_TRUE(table.All().contains("data/x"));
}

}  // namespace
}  // namespace icewright
