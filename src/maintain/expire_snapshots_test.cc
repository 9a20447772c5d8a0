#include "maintain/expire_snapshots.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "maintain/expire_test_table.h"

namespace icewright {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

/// Everything that no rule but the branch heads keeps.
const ExpireSnapshotsOptions kAllOld = {.max_snapshot_age = 0, .retain_last = 1};

const Properties kMergeAtTwo = {{"commit.manifest.min-count-to-merge", "2"}};

TEST(ExpireSnapshotsTest, AppendsLeaveOnlyTheirListsBehind) {
  ExpireTestTable table;
  table.Append({"a"});
  table.Append({"b"});
  const SnapshotId head = table.Append({"c"});
  table.clock().Advance(kMinute);
  ASSERT_THAT(table.Expire(kAllOld), IsOk());
  EXPECT_EQ(table.report.outcome, TaskOutcome::kDone);
  EXPECT_THAT(table.Snapshots(), ElementsAre(head));
  EXPECT_THAT(table.DataFiles(), UnorderedElementsAre("a", "b", "c"));
  EXPECT_EQ(table.Count("expired-snapshots-count"), 2);
  EXPECT_EQ(table.Count("deleted-manifest-lists-count"), 2);
  EXPECT_EQ(table.Count("deleted-manifests-count"), 0);
  EXPECT_EQ(table.Count("deleted-data-files-count"), 0);
  EXPECT_THAT(table.Unsound(), IsEmpty());
  EXPECT_THAT(table.report.leftovers, IsEmpty());
}

TEST(ExpireSnapshotsTest, ASecondRunHasNothingToDo) {
  ExpireTestTable table;
  table.Append({"a"});
  table.Append({"b"});
  table.clock().Advance(kMinute);
  ASSERT_THAT(table.Expire(kAllOld), IsOk());
  const Location before = table.Load().metadata_location();
  ASSERT_THAT(table.Expire(kAllOld), IsOk());
  EXPECT_EQ(table.report.outcome, TaskOutcome::kNothingToDo);
  EXPECT_EQ(table.Load().metadata_location(), before);
}

TEST(ExpireSnapshotsTest, ReplacedFilesGoAtOnceThoughTheReplaceSnapshotStays) {
  ExpireTestTable table;
  table.Append({"a"});
  table.Append({"b"});
  const SnapshotId head = table.Replace({"a", "b"}, {"ab"});
  table.clock().Advance(kMinute);
  ASSERT_THAT(table.Expire(kAllOld), IsOk());
  EXPECT_THAT(table.Snapshots(), ElementsAre(head));
  EXPECT_THAT(table.DataFiles(), UnorderedElementsAre("ab"));
  EXPECT_EQ(table.Count("deleted-data-files-count"), 2);
  EXPECT_EQ(table.Count("deleted-bytes"), table.Count("planned-bytes"));
  EXPECT_THAT(table.Unsound(), IsEmpty());
}

TEST(ExpireSnapshotsTest, FilesOfMergedManifestsStay) {
  ExpireTestTable table({.properties = kMergeAtTwo});
  table.Append({"a"});
  table.Append({"b"});
  table.Append({"c"});
  table.Replace({"b"}, {});
  table.clock().Advance(kMinute);
  ASSERT_THAT(table.Expire(kAllOld), IsOk());
  EXPECT_THAT(table.DataFiles(), UnorderedElementsAre("a", "c"));
  EXPECT_GT(table.Count("deleted-manifests-count"), 0);
  EXPECT_THAT(table.Unsound(), IsEmpty());
}

TEST(ExpireSnapshotsTest, DeleteFilesAndTheirManifestsGoLikeDataFiles) {
  ExpireTestTable table;
  table.Append({"a"});
  table.Commit(
      {.operation = "delete",
       .added_delete_files = {{table.EqualityDeletes("e")}, {table.PositionDeletes("p")}}});
  table.Commit({.operation = "overwrite",
                .added_data_files = {{table.Data("b")}},
                .removed_data_files = {table.Data("a")},
                .removed_delete_files = {table.EqualityDeletes("e"), table.PositionDeletes("p")}});
  table.clock().Advance(kMinute);
  ASSERT_THAT(table.Expire(kAllOld), IsOk());
  EXPECT_THAT(table.DataFiles(), UnorderedElementsAre("b"));
  EXPECT_EQ(table.Count("deleted-equality-delete-files-count"), 1);
  EXPECT_EQ(table.Count("deleted-position-delete-files-count"), 1);
  EXPECT_EQ(table.Count("deleted-data-files-count"), 1);
  EXPECT_THAT(table.Unsound(), IsEmpty());
}

// Deletion vectors share Puffin files; replacing one must not take the others away.
TEST(ExpireSnapshotsTest, ASharedPuffinLivesAsLongAsOneOfItsVectors) {
  ExpireTestTable table({.format_version = 3});
  const DataFile a = table.Data("a");
  const DataFile b = table.Data("b");
  table.Append({"a", "b"});
  table.Commit({.operation = "delete",
                .added_delete_files = {{table.Dv("p1", a, 4)}, {table.Dv("p1", b, 44)}}});
  table.Commit({.operation = "delete",
                .added_delete_files = {{table.Dv("p2", a, 4)}},
                .removed_delete_files = {table.Dv("p1", a, 4)}});
  table.Append({"c"});
  table.clock().Advance(kMinute);
  ASSERT_THAT(table.Expire(kAllOld), IsOk());
  EXPECT_THAT(table.DataFiles(), UnorderedElementsAre("a", "b", "c", "p1", "p2"));
  table.Commit({.operation = "delete",
                .added_delete_files = {{table.Dv("p3", b, 4)}},
                .removed_delete_files = {table.Dv("p1", b, 44)}});
  table.clock().Advance(kMinute);
  ASSERT_THAT(table.Expire(kAllOld), IsOk());
  EXPECT_THAT(table.DataFiles(), UnorderedElementsAre("a", "b", "c", "p2", "p3"));
  EXPECT_EQ(table.Count("deleted-position-delete-files-count"), 1) << "one file, two vectors";
  EXPECT_THAT(table.Unsound(), IsEmpty());
}

// The fast path of a single branch must not be taken because only one is left afterwards.
TEST(ExpireSnapshotsTest, ATagThatAgesOffInTheSameRunTakesNoFileOfMain) {
  ExpireTestTable table;
  const SnapshotId first = table.Append({"A"});
  table.Tag("t", first, 1);
  table.Append({"B1", "B2"});
  const SnapshotId head = table.Replace({"B1"}, {});
  table.clock().Advance(kMinute);
  ASSERT_THAT(table.Expire(kAllOld), IsOk());
  EXPECT_THAT(table.Snapshots(), ElementsAre(head));
  EXPECT_THAT(table.DataFiles(), UnorderedElementsAre("A", "B2"));
  EXPECT_EQ(table.Count("expired-refs-count"), 1);
  EXPECT_THAT(table.Unsound(), IsEmpty());
}

TEST(ExpireSnapshotsTest, ABranchKeepsItsHeadHoweverOld) {
  ExpireTestTable table({.properties = {{"history.expire.min-snapshots-to-keep", "0"},
                                        {"history.expire.max-snapshot-age-ms", "1"}}});
  const SnapshotId first = table.Append({"A"});
  table.Branch("dev", first);
  const SnapshotId dev = table.Append({"B"}, "dev");
  const SnapshotId main = table.Append({"C"});
  table.clock().Advance(kMinute);
  ASSERT_THAT(table.Expire({}), IsOk());
  EXPECT_THAT(table.Snapshots(), ElementsAre(dev, main));
  EXPECT_THAT(table.DataFiles(), UnorderedElementsAre("A", "B", "C"));
  EXPECT_THAT(table.Unsound(), IsEmpty());
}

TEST(ExpireSnapshotsTest, RolledBackAndStagedSnapshotsGoByAge) {
  ExpireTestTable table;
  const SnapshotId first = table.Append({"a"});
  table.Append({"rolled-back"});
  table.RollBackTo(first);
  table.Stage({"staged"});
  const SnapshotId head = table.Append({"b"});
  table.clock().Advance(kMinute);
  ASSERT_THAT(table.Expire({.max_snapshot_age = 3'600'000}), IsOk());
  EXPECT_EQ(table.report.outcome, TaskOutcome::kNothingToDo);
  EXPECT_THAT(table.Snapshots(), SizeIs(4));
  ASSERT_THAT(table.Expire(kAllOld), IsOk());
  EXPECT_THAT(table.Snapshots(), ElementsAre(head));
  EXPECT_THAT(table.DataFiles(), UnorderedElementsAre("a", "b"));
  EXPECT_THAT(table.Unsound(), IsEmpty());
}

// Whichever of the two expires first: the original, or the one that took over its file.
TEST(ExpireSnapshotsTest, CherryPickedFilesStayWhicheverExpiresFirst) {
  ExpireTestTable table;
  table.Append({"a"});
  const SnapshotId staged = table.Stage({"w"});
  const SnapshotId picked = table.Append({"w"}, "main", {{"source-snapshot-id", ToString(staged)}});
  table.Append({"b"});
  table.clock().Advance(kMinute);
  ASSERT_THAT(table.Expire({.max_snapshot_age = kDayMs, .snapshot_ids = ToString(staged)}), IsOk());
  EXPECT_THAT(table.DataFiles(), UnorderedElementsAre("a", "b", "w"));
  EXPECT_THAT(table.Unsound(), IsEmpty());

  ExpireTestTable other;
  other.Append({"a"});
  const SnapshotId kept = other.Stage({"w"});
  const SnapshotId gone = other.Append({"w"}, "main", {{"source-snapshot-id", ToString(kept)}});
  other.Replace({"w"}, {});
  other.clock().Advance(kMinute);
  ASSERT_THAT(other.Expire({.max_snapshot_age = kDayMs, .snapshot_ids = ToString(gone)}), IsOk());
  EXPECT_THAT(other.DataFiles(), UnorderedElementsAre("a", "w")) << "the staged one reaches it";
  EXPECT_THAT(other.Unsound(), IsEmpty());
  EXPECT_THAT(table.Snapshots(), Contains(picked));
}

TEST(ExpireSnapshotsTest, AnExplicitIdGoesInSpiteOfAgeAndCount) {
  ExpireTestTable table;
  const SnapshotId first = table.Append({"a"});
  const SnapshotId second = table.Append({"b"});
  const SnapshotId third = table.Append({"c"});
  ASSERT_THAT(table.Expire({.retain_last = 9, .snapshot_ids = ToString(second) + ", 12345"}),
              IsOk());
  EXPECT_THAT(table.Snapshots(), ElementsAre(first, third));
  EXPECT_THAT(table.Unsound(), IsEmpty());
  EXPECT_THAT(table.Expire({.snapshot_ids = ToString(third)}),
              HasError(Code::kInvalidArgument, HasSubstr("branch main")));
}

TEST(ExpireSnapshotsTest, StatisticsGoWithTheirSnapshotUnlessAnotherNamesTheFile) {
  ExpireTestTable table;
  const SnapshotId first = table.Append({"a"});
  const SnapshotId second = table.Append({"b"});
  table.Statistics(first, "shared.stats");
  table.PartitionStatistics(first, "old.stats");
  table.Statistics(second, "shared.stats");
  table.PartitionStatistics(second, "new.stats");
  table.clock().Advance(kMinute);
  ASSERT_THAT(table.Expire(kAllOld), IsOk());
  EXPECT_THAT(table.DataFiles(), UnorderedElementsAre("a", "b", "shared.stats", "new.stats"));
  EXPECT_EQ(table.Count("deleted-statistics-files-count"), 1);
  const Table after = table.Load();
  ASSERT_THAT(after.metadata().statistics, SizeIs(1));
  EXPECT_EQ(after.metadata().statistics[0].snapshot_id, second);
  ASSERT_THAT(after.metadata().partition_statistics, SizeIs(1));
  EXPECT_THAT(table.Unsound(), IsEmpty());
}

// A manifest that an expired snapshot wrote may live on in a kept one: what it names as deleted
// goes.
TEST(ExpireSnapshotsTest, WhatAnEarlierExpiryLeftGoesWithTheSnapshotThatDeletedIt) {
  ExpireTestTable table;
  const SnapshotId first = table.Append({"a", "b"});
  table.Replace({"a"}, {"c"});
  ASSERT_THAT(table.Expire({.snapshot_ids = ToString(first), .clean_up_level = "metadata-only"}),
              IsOk());
  EXPECT_THAT(table.DataFiles(), UnorderedElementsAre("a", "b", "c"));
  table.Append({"d"});
  table.clock().Advance(kMinute);
  ASSERT_THAT(table.Expire(kAllOld), IsOk());
  EXPECT_THAT(table.DataFiles(), UnorderedElementsAre("b", "c", "d"));
  EXPECT_THAT(table.report.notes, Contains(HasSubstr("1 of the files were not reachable before")));
  EXPECT_THAT(table.Unsound(), IsEmpty());
}

struct LevelCase {
  const char* level;
  std::set<std::string> data_files;
  std::int64_t lists;
  std::int64_t manifests;
};

class CleanUpLevelTest : public ::testing::TestWithParam<LevelCase> {};

TEST_P(CleanUpLevelTest, DeletesThatMuch) {
  ExpireTestTable table;
  const SnapshotId first = table.Append({"a"});
  table.Replace({"a"}, {"b"});
  table.Statistics(first, "s");
  table.clock().Advance(kMinute);
  ExpireSnapshotsOptions options = kAllOld;
  options.clean_up_level = GetParam().level;
  const auto before = table.Files();
  ASSERT_THAT(table.Expire(options), IsOk());
  EXPECT_EQ(table.report.outcome, TaskOutcome::kDone);
  EXPECT_THAT(table.Snapshots(), SizeIs(1));
  EXPECT_EQ(table.DataFiles(), GetParam().data_files);
  EXPECT_EQ(table.Count("deleted-manifest-lists-count"), GetParam().lists);
  EXPECT_EQ(table.Count("deleted-manifests-count"), GetParam().manifests);
  EXPECT_THAT(table.Journals(), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Table, CleanUpLevelTest,
                         ::testing::Values(LevelCase{"none", {"a", "b", "s"}, 0, 0},
                                           LevelCase{"metadata-only", {"a", "b"}, 1, 1},
                                           LevelCase{"all", {"b"}, 1, 1}),
                         [](const auto& test) {
                           std::string name = test.param.level;
                           std::erase(name, '-');
                           return name;
                         });

TEST(ExpireSnapshotsTest, ADryRunCountsExactlyWhatARealRunDeletes) {
  ExpireTestTable table({.format_version = 3, .properties = kMergeAtTwo});
  table.Append({"a", "b"});
  table.Commit({.operation = "delete", .added_delete_files = {{table.Dv("p", table.Data("a"))}}});
  table.Replace({"a", "b"}, {"ab"});
  table.Append({"c"});
  table.clock().Advance(kMinute);
  ExpireSnapshotsOptions options = kAllOld;
  options.dry_run = true;
  const auto before = table.Files();
  const Location metadata = table.Load().metadata_location();
  ASSERT_THAT(table.Expire(options), IsOk());
  EXPECT_EQ(table.report.outcome, TaskOutcome::kPlanned);
  EXPECT_EQ(table.Files(), before);
  EXPECT_EQ(table.Load().metadata_location(), metadata);
  EXPECT_THAT(table.report.items, SizeIs(3));
  const auto planned = table.report.counts;
  EXPECT_EQ(planned.at("planned-data-files-count"), 2);
  EXPECT_EQ(planned.at("deleted-data-files-count"), 0);
  ASSERT_THAT(table.Expire(kAllOld), IsOk());
  for (const auto& [key, value] : planned) {
    if (!key.starts_with("planned-")) continue;
    EXPECT_EQ(table.Count("deleted-" + key.substr(8)), value) << key;
    EXPECT_EQ(table.Count(key), value) << key;
  }
  const auto after = table.Files();
  EXPECT_EQ(static_cast<std::int64_t>(before.size() - after.size()),
            table.Count("deleted-data-files-count") + table.Count("deleted-manifests-count") +
                table.Count("deleted-manifest-lists-count") +
                table.Count("deleted-position-delete-files-count"));
  EXPECT_THAT(table.Unsound(), IsEmpty());
}

TEST(ExpireSnapshotsTest, GcDisabledStopsBeforeAnyChange) {
  ExpireTestTable table({.properties = {{"gc.enabled", "false"}}});
  table.Append({"a"});
  table.Append({"b"});
  const auto before = table.Files();
  EXPECT_THAT(table.Expire(kAllOld), HasError(Code::kUnsupported, HasSubstr("gc.enabled")));
  EXPECT_EQ(table.Files(), before);
  EXPECT_THAT(table.Snapshots(), SizeIs(2));
}

TEST(ExpireSnapshotsTest, UnusedSpecsAndSchemasGoUnlessAskedNotTo) {
  for (const bool clean : {true, false}) {
    ExpireTestTable table;
    table.Append({"a"});
    table.Update({AddSchema{MakeSchema({{1, "id", TypeId::kLong}, {3, "x", TypeId::kInt}}, 1)},
                  SetCurrentSchema{}, AddPartitionSpec{MakeSpec(1, {{1, "identity"}})},
                  SetDefaultSpec{}});
    SnapshotUpdate update{.operation = "overwrite"};
    update.removed_data_files = {table.Data("a")};
    DataFile file =
        MakeDataFile(table.PathOf("b").text(), {.spec_id = 1, .partition = {std::int64_t{1}}});
    update.added_data_files = {{file}};
    table.Commit(update);
    table.Append({"tmp"}, "other");
    table.clock().Advance(kMinute);
    ExpireSnapshotsOptions options = kAllOld;
    options.clean_expired_metadata = clean;
    ASSERT_THAT(table.Expire(options), IsOk());
    // The kept head still has a manifest of spec 0: the one that says "a" was deleted.
    EXPECT_THAT(table.Load().metadata().partition_specs, SizeIs(2));
    EXPECT_THAT(table.Load().metadata().schemas, SizeIs(clean ? 1 : 2));
    table.Update({RemoveSnapshotRef{"other"}});
    update.removed_data_files = {file};
    DataFile last = file;
    last.file_path = table.PathOf("c");
    update.added_data_files = {{last}};
    table.Commit(update);
    table.clock().Advance(kMinute);
    ASSERT_THAT(table.Expire(options), IsOk());
    EXPECT_THAT(table.Load().metadata().partition_specs, SizeIs(clean ? 1 : 2));
    EXPECT_EQ(table.Count("removed-partition-specs-count"), clean ? 1 : 0);
    EXPECT_THAT(table.Unsound(), IsEmpty());
  }
}

TEST(ExpireSnapshotsTest, MetadataIsCleanedWithoutAnySnapshot) {
  ExpireTestTable table;
  table.Update({AddSchema{MakeSchema({{1, "id", TypeId::kLong}, {3, "x", TypeId::kInt}}, 1)},
                SetCurrentSchema{}, AddPartitionSpec{MakeSpec(1, {{1, "identity"}})},
                SetDefaultSpec{}});
  ASSERT_THAT(table.Expire({}), IsOk());
  EXPECT_EQ(table.report.outcome, TaskOutcome::kDone);
  EXPECT_THAT(table.Load().metadata().partition_specs, SizeIs(1));
  EXPECT_THAT(table.Load().metadata().schemas, SizeIs(1));
  ASSERT_THAT(table.Expire({}), IsOk());
  EXPECT_EQ(table.report.outcome, TaskOutcome::kNothingToDo);
}

TEST(ExpireSnapshotsTest, DeletesComeInBatchesOnManyThreads) {
  ExpireTestTable table({.threads = 4});
  std::vector<std::string> names;
  for (int i = 0; i < 57; ++i) names.push_back("f" + std::to_string(i));
  table.Append(names);
  table.Replace(names, {"all"});
  table.clock().Advance(kMinute);
  ExpireSnapshotsOptions options = kAllOld;
  options.delete_batch_size = 5;
  options.delete_parallelism = 3;
  ASSERT_THAT(table.Expire(options), IsOk());
  EXPECT_THAT(table.DataFiles(), ElementsAre("all"));
  EXPECT_EQ(table.Count("deleted-data-files-count"), 57);
  EXPECT_THAT(table.Unsound(), IsEmpty());
}

TEST(ExpireSnapshotsTest, FilesThatCannotBeDeletedAreReportedAndTriedAgain) {
  ExpireTestTable table;
  table.Append({"a", "b"});
  table.Replace({"a", "b"}, {"ab"});
  table.clock().Advance(kMinute);
  table.io().OnCall([&](int, const IoEvent& event) -> Status {
    if (event.call != IoCall::kDelete || event.location != table.PathOf("a")) return {};
    return Error(Code::kDenied, "not yours");
  });
  ASSERT_THAT(table.Expire(kAllOld), IsOk());
  EXPECT_EQ(table.report.outcome, TaskOutcome::kPartial);
  EXPECT_THAT(table.report.leftovers, ElementsAre(table.PathOf("a")));
  ASSERT_THAT(table.report.failures, SizeIs(1));
  EXPECT_EQ(table.report.failures[0].code(), Code::kDenied);
  EXPECT_THAT(table.DataFiles(), UnorderedElementsAre("a", "ab"));
  EXPECT_THAT(table.Journals(), SizeIs(1));
  table.io().OnCall({});
  ASSERT_THAT(table.Expire(kAllOld), IsOk());
  EXPECT_EQ(table.report.outcome, TaskOutcome::kDone);
  EXPECT_EQ(table.Count("deleted-data-files-count"), 1) << "only what was left";
  EXPECT_THAT(table.Unsound(), IsEmpty());
}

TEST(ExpireSnapshotsTest, AMissingManifestOfAnExpiredSnapshotIsNoted) {
  ExpireTestTable table;
  table.Append({"a"});
  table.Replace({"a"}, {"b"});
  const Table loaded = table.Load();
  const auto manifests =
      ReadManifests(table.run(), table.io(), loaded.metadata(), loaded.metadata().snapshots[0]);
  ASSERT_THAT(manifests, IsOk());
  ASSERT_THAT(table.io().Delete(manifests->front().manifest_path), IsOk());
  table.clock().Advance(kMinute);
  ASSERT_THAT(table.Expire(kAllOld), IsOk());
  EXPECT_THAT(table.report.notes, Contains(HasSubstr("are missing")));
  EXPECT_THAT(table.Snapshots(), SizeIs(1));
  EXPECT_THAT(table.DataFiles(), UnorderedElementsAre("a", "b")) << "nobody knows that a may go";
}

TEST(ExpireSnapshotsTest, AMissingManifestOfAKeptSnapshotStopsItBeforeAnyChange) {
  ExpireTestTable table;
  table.Append({"a"});
  table.Replace({"a"}, {"b"});
  const Table loaded = table.Load();
  const auto manifests =
      ReadManifests(table.run(), table.io(), loaded.metadata(), loaded.metadata().snapshots[1]);
  ASSERT_THAT(manifests, IsOk());
  ASSERT_THAT(table.io().Delete(manifests->front().manifest_path), IsOk());
  table.clock().Advance(kMinute);
  const auto before = table.Files();
  EXPECT_THAT(table.Expire(kAllOld), HasCode(Code::kNotFound));
  EXPECT_EQ(table.Files(), before);
  EXPECT_THAT(table.Snapshots(), SizeIs(2));
}

}  // namespace
}  // namespace icewright
