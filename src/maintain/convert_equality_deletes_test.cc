#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "maintain/convert_test_table.h"
#include "maintain/expire_snapshots.h"

namespace icewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

std::string Text(SnapshotId id) { return std::to_string(Raw(id)); }

// ---- In place

TEST(ConvertInPlaceTest, AnOlderVectorIsMergedAndReplaced) {
  ConvertTestTable table;
  const DataFile f = table.Rows("f", {1, 2, 3, 4});
  table.Commit({.added_data_files = {{f}}});
  table.Commit({.operation = "delete", .added_delete_files = {{table.DvOf("d", f, {0})}}});
  const SnapshotId deleted = table.Upsert({3}, {});
  const auto rows = table.LiveRows();

  ASSERT_THAT(table.Convert(), IsOk());
  EXPECT_THAT(table.Vectors(), ElementsAre(Pair("f", 2)));
  EXPECT_EQ(table.EqualityDeleteFiles(), 0);
  EXPECT_EQ(table.LiveRows(), rows);
  EXPECT_THAT(table.Ids(), ElementsAre(2, 4));
  EXPECT_EQ(table.Operation(), "delete");
  EXPECT_EQ(table.Marker(), Text(deleted));
  EXPECT_EQ(table.Count("resolved-delete-num"), 1);
  EXPECT_EQ(table.Count("added-dv-num"), 1);
  EXPECT_EQ(table.Count("removed-dv-num"), 1);
  EXPECT_EQ(table.Count("removed-eq-delete-num"), 1);
  EXPECT_THAT(table.Unsound(), IsEmpty());

  ASSERT_THAT(table.Convert(), IsOk());
  EXPECT_EQ(table.report.outcome, TaskOutcome::kNothingToDo);
}

TEST(ConvertInPlaceTest, ADeleteThatMatchesNothingGoesWithoutAFile) {
  ConvertTestTable table;
  table.Upsert({}, {1, 2});
  table.Upsert({7}, {});
  const auto files = table.DataFiles();
  ASSERT_THAT(table.Convert(), IsOk());
  EXPECT_EQ(table.DataFiles(), files);
  EXPECT_EQ(table.EqualityDeleteFiles(), 0);
  EXPECT_THAT(table.Ids(), ElementsAre(1, 2));
  EXPECT_EQ(table.Operation(), "overwrite");
}

TEST(ConvertInPlaceTest, RowsWrittenWithOrAfterTheDeleteStay) {
  ConvertTestTable table;
  table.Upsert({}, {1, 2, 2});
  table.Upsert({1, 2}, {2});
  table.Upsert({}, {1});
  ASSERT_THAT(table.Convert(), IsOk());
  EXPECT_THAT(table.Ids(), ElementsAre(1, 2));
  EXPECT_THAT(table.Vectors(), ElementsAre(Pair("f1", 3)));
}

TEST(ConvertInPlaceTest, SnapshotsOneByOne) {
  ConvertTestTable table;
  table.Upsert({}, {1, 2, 3});
  std::vector<SnapshotId> upserts;
  for (int id = 1; id <= 3; ++id) upserts.push_back(table.Upsert({id}, {id}));
  for (int i = 0; i < 3; ++i) {
    ASSERT_THAT(table.Convert({.max_staging_snapshots = 1}), IsOk());
    EXPECT_EQ(table.EqualityDeleteFiles(), 2 - i);
    EXPECT_EQ(table.Marker(), Text(upserts[static_cast<std::size_t>(i)]));
    EXPECT_EQ(table.Vectors()["f1"], i + 1);
    EXPECT_THAT(table.Ids(), ElementsAre(1, 2, 3));
  }
}

TEST(ConvertInPlaceTest, PositionDeletesOfOneFileGoIntoTheVector) {
  // As left by the time before an upgrade from format version 2.
  RewriteTestTable old({.format_version = 2});
  const DataFile g = old.Rows("g", {1, 2, 3, 4});
  old.Commit({.added_data_files = {{g}}});
  old.Commit({.operation = "delete", .added_delete_files = {{old.DeletePositions("p", g, {1})}}});
  old.Commit({.operation = "delete", .added_delete_files = {{old.DeleteIds("e", {4})}}});
  old.Update({UpgradeFormatVersion{3}});
  Table loaded = old.Load();
  TaskReport report;
  ASSERT_THAT(
      ConvertEqualityDeletes({.equality_field_columns = "id"}).Execute(old.run(), loaded, report),
      IsOk());
  const auto live = old.Live();
  ASSERT_THAT(live, SizeIs(2));
  for (const DataFile& file : live) {
    if (file.content != FileContent::kData) {
      EXPECT_EQ(file.record_count, 2);
    }
    EXPECT_NE(file.file_path.file_name(), "p");
  }
  EXPECT_THAT(old.LiveRows(), ElementsAre(HasSubstr("[1,"), HasSubstr("[3,")));
}

// ---- In place, with others at work. Each does its worst just before the swap.

TEST(ConvertInPlaceTest, AppendsAndNewDeletesMeanwhileDoNotMatter) {
  ConvertTestTable table;
  table.Upsert({}, {1, 2});
  table.Upsert({1}, {});
  table.before_swap = [&] {
    table.Upsert({2}, {1, 3});
    return Status();
  };
  ASSERT_THAT(table.Convert(), IsOk());
  EXPECT_THAT(table.Ids(), ElementsAre(1, 3));
  EXPECT_EQ(table.EqualityDeleteFiles(), 1) << "the new one waits for the next run";
  EXPECT_THAT(table.Vectors(), ElementsAre(Pair("f1", 1)));
}

TEST(ConvertInPlaceTest, AVectorAddedMeanwhileIsMerged) {
  ConvertTestTable table;
  const DataFile f = table.Rows("f", {1, 2, 3});
  table.Commit({.added_data_files = {{f}}});
  table.Upsert({1}, {});
  table.before_swap = [&] {
    table.Commit({.operation = "delete", .added_delete_files = {{table.DvOf("d", f, {2})}}});
    return Status();
  };
  ASSERT_THAT(table.Convert(), IsOk());
  EXPECT_THAT(table.Vectors(), ElementsAre(Pair("f", 2)));
  EXPECT_THAT(table.Ids(), ElementsAre(2));
  EXPECT_EQ(table.EqualityDeleteFiles(), 0);
  EXPECT_THAT(table.Unsound(), IsEmpty()) << "the first attempt's vectors are gone";
}

TEST(ConvertInPlaceTest, CompactionMeanwhileIsPlannedAnew) {
  ConvertTestTable table;
  table.Upsert({}, {1, 2});
  table.Upsert({}, {3});
  table.Upsert({1}, {});
  const auto rows = table.LiveRows();
  table.before_swap = [&] { return table.Rewrite({.rewrite_all = true}); };
  ASSERT_THAT(table.Convert(), IsOk());
  EXPECT_EQ(table.LiveRows(), rows);
  EXPECT_EQ(table.EqualityDeleteFiles(), 0);
}

TEST(ConvertInPlaceTest, AFileWithAnOldNumberIsSeen) {
  ConvertTestTable table;
  table.Upsert({}, {1, 2});
  table.Upsert({1}, {});
  table.before_swap = [&] {
    // A rewrite of something else that puts its rows back behind the delete.
    table.Commit({.operation = "overwrite",
                  .added_data_files = {{table.Rows("old", {1, 5}), SequenceNumber(1)}}});
    return Status();
  };
  ASSERT_THAT(table.Convert(), IsOk());
  EXPECT_THAT(table.Ids(), ElementsAre(2, 5));
  EXPECT_EQ(table.Vectors()["old"], 1);
}

TEST(ConvertInPlaceTest, TwoAtOnceDoItOnce) {
  ConvertTestTable table;
  table.Upsert({}, {1, 2});
  table.Upsert({1}, {1});
  table.before_swap = [&] { return table.Convert(); };
  Table loaded = table.Load();
  TaskReport report;
  ASSERT_THAT(
      ConvertEqualityDeletes({.equality_field_columns = "id"}).Execute(table.run(), loaded, report),
      IsOk());
  EXPECT_EQ(report.outcome, TaskOutcome::kNothingToDo);
  EXPECT_EQ(table.report.outcome, TaskOutcome::kDone);
  EXPECT_THAT(table.Ids(), ElementsAre(1, 2));
  EXPECT_THAT(table.Vectors(), ElementsAre(Pair("f1", 1)));
  EXPECT_THAT(table.Unsound(), IsEmpty());
}

TEST(ConvertInPlaceTest, AfterAnUnknownOutcomeNothingIsDeleted) {
  ConvertTestTable table;
  table.Upsert({}, {1, 2});
  table.Upsert({1}, {});
  const auto files = table.Files().size();
  table.before_swap = [&]() -> Status {
    table.before_read = [] { return Status(Error(Code::kUnavailable, "gone")); };
    return Error(Code::kCommitUnknown, "the answer is lost");
  };
  EXPECT_THAT(table.Convert(), HasError(Code::kCommitUnknown, HasSubstr("the answer is lost")));
  EXPECT_THAT(table.io().deleted(), IsEmpty());
  EXPECT_GT(table.Files().size(), files);
  EXPECT_THAT(table.report.leftovers,
              ::testing::Contains(::testing::Property(&Location::text, HasSubstr(".puffin"))));
}

TEST(ConvertInPlaceTest, KeysThatDoNotFitAreDoneInParts) {
  ConvertTestTable table;
  std::vector<int> ids;
  for (int i = 0; i < 30'000; ++i) ids.push_back(i);
  table.Upsert({}, ids);
  table.Upsert(std::vector<int>(ids.begin(), ids.end() - 1), {});
  RunContext small({.memory_limit_bytes = 1 << 20});
  ASSERT_THAT(table.ConvertIn(small), IsOk());
  EXPECT_LT(small.memory().peak(), 1 << 20);
  EXPECT_EQ(small.memory().used(), 0);
  EXPECT_THAT(table.Ids(), ElementsAre(29'999));
  EXPECT_THAT(table.Vectors(), ElementsAre(Pair("f1", 29'999)));
}

/// Each delete stands beside each data file in a plan.
TEST(ConvertInPlaceTest, APlanThatDoesNotFitIsDoneInParts) {
  ConvertTestTable table;
  SnapshotUpdate data;
  for (int i = 0; i < 100; ++i)
    data.added_data_files.push_back({table.Rows(table.NewName("f"), {i})});
  table.Commit(data);
  for (int half = 0; half < 2; ++half) {
    SnapshotUpdate deletes{.operation = "delete"};
    for (int i = half * 40; i < half * 40 + 40; ++i) {
      deletes.added_delete_files.push_back({table.DeleteIds(table.NewName("e"), {i})});
    }
    table.Commit(deletes);
  }
  RunContext small({.memory_limit_bytes = 1 << 20});
  ASSERT_THAT(table.ConvertIn(small), IsOk());
  EXPECT_EQ(table.report.snapshot_ids.size(), 2U) << "54 deletes fit beside 100 files";
  EXPECT_EQ(table.Count("removed-eq-delete-num"), 80);
  EXPECT_EQ(table.EqualityDeleteFiles(), 0);
  EXPECT_EQ(table.Ids().size(), 20U);
}

void ManyCommitsOfUpserts(std::int64_t limit) {
  constexpr int kRows = 20'000;
  ConvertTestTable table({.threads = 2});
  std::vector<int> ids(kRows);
  std::iota(ids.begin(), ids.end(), 0);
  table.Upsert({}, ids);
  std::map<int, int> file_of;  // id -> the upsert that wrote its live row
  for (int commit = 1; commit <= 25; ++commit) {
    std::vector<int> keys;
    for (int i = 0; i < 1000; ++i) keys.push_back((i * 7919 + commit * 4241) % kRows);
    table.Upsert(keys, keys);
    for (const int key : keys) file_of[key] = commit;
  }
  std::map<int, std::int64_t> live;
  for (const auto& [id, commit] : file_of) ++live[commit];
  std::int64_t dropped = std::ssize(file_of);  // in the first file
  for (int commit = 1; commit <= 25; ++commit) dropped += 1000 - live[commit];

  const auto rows = table.LiveRows();
  RunContext run({.memory_limit_bytes = limit, .threads = 2});
  ASSERT_THAT(table.ConvertIn(run), IsOk());
  EXPECT_EQ(table.LiveRows(), rows);
  EXPECT_EQ(table.Count("resolved-delete-num"), dropped);
  EXPECT_EQ(table.Count("removed-eq-delete-num"), 25);
  EXPECT_EQ(table.Vectors()["f1"], std::ssize(file_of));
  EXPECT_LE(run.memory().peak(), limit);
  EXPECT_EQ(run.memory().used(), 0);
}

TEST(ConvertInPlaceTest, ManyCommitsOfUpserts) { ManyCommitsOfUpserts(1 << 30); }

TEST(ConvertInPlaceTest, ManyCommitsOfUpsertsInLittleMemory) { ManyCommitsOfUpserts(1 << 20); }

// ---- Promotion

class ConvertPromotionTest : public ::testing::Test, public ConvertTestTable {
 protected:
  /// f1 with 1, 2, 3 on main; a staging branch from there.
  ConvertPromotionTest() { Branch("staging", Upsert({}, {1, 2, 3})); }
};

TEST_F(ConvertPromotionTest, DataAndDeletesOneCommitForEachSnapshot) {
  const SnapshotId first = Upsert({1}, {1, 4}, "staging");
  const SnapshotId second = Upsert({4, 2}, {}, "staging");
  const SnapshotId third = Upsert({}, {5}, "staging");
  const auto staged = Ids("staging");

  ASSERT_THAT(Promote({.max_staging_snapshots = 1}), IsOk());
  EXPECT_THAT(Ids(), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(Operation(), "overwrite");
  EXPECT_EQ(Marker(), Text(first));
  EXPECT_THAT(Vectors(), ElementsAre(Pair("f1", 1)));
  ASSERT_THAT(Promote({.max_staging_snapshots = 1}), IsOk());
  EXPECT_THAT(Ids(), ElementsAre(1, 3));
  EXPECT_EQ(Operation(), "delete");
  EXPECT_EQ(Marker(), Text(second));
  ASSERT_THAT(Promote(), IsOk());
  EXPECT_EQ(Ids(), staged);
  EXPECT_EQ(Operation(), "append");
  EXPECT_EQ(Marker(), Text(third));
  EXPECT_EQ(EqualityDeleteFiles(), 0);
  EXPECT_EQ(
      Load().metadata().properties.at("icewright.equality-convert.main.last-staging-snapshot"),
      Text(third));
  ASSERT_THAT(Promote(), IsOk());
  EXPECT_EQ(report.outcome, TaskOutcome::kNothingToDo);
  EXPECT_THAT(Unsound(), IsEmpty());
}

TEST_F(ConvertPromotionTest, RowIdsAreGivenOnceAndThenStable) {
  Upsert({1}, {1}, "staging");
  ASSERT_THAT(Promote(), IsOk());
  const auto rows = LiveRows();
  Upsert({3}, {9}, "staging");
  ASSERT_THAT(Promote(), IsOk());
  const auto later = LiveRows();
  for (const std::string& row : rows) {
    if (!row.starts_with("[3,")) {
      EXPECT_THAT(later, ::testing::Contains(row));
    }
  }
}

TEST_F(ConvertPromotionTest, RowsThatOthersAddedAfterTheDeleteStay) {
  Upsert({}, {2}, "main");  // before the delete is staged: it goes
  Upsert({1, 2}, {}, "staging");
  Upsert({}, {1, 2}, "main");  // after: it stays
  ASSERT_THAT(Promote(), IsOk());
  EXPECT_THAT(Ids(), ElementsAre(1, 2, 3));
}

TEST_F(ConvertPromotionTest, RowsAreToldApartInACompactedFileToo) {
  Upsert({1, 2}, {4}, "staging");
  Upsert({}, {1, 5}, "main");
  ASSERT_THAT(Rewrite({.rewrite_all = true, .use_starting_sequence_number = false}), IsOk());
  ASSERT_THAT(Promote(), IsOk());
  EXPECT_THAT(Ids(), ElementsAre(1, 3, 4, 5));
}

/// As an engine does that knows no row lineage.
TEST_F(ConvertPromotionTest, ARewriteWithoutLineageHidesWhenRowsCame) {
  Upsert({1}, {}, "staging");
  Upsert({}, {1}, "main");
  const DataFile merged = Rows("merged", {1, 2, 3, 1});
  SnapshotUpdate rewrite{.operation = "replace"};
  for (const DataFile& file : Live()) rewrite.removed_data_files.push_back(file);
  rewrite.added_data_files = {{merged, Load().metadata().FindRef("main")->sequence_number}};
  Commit(rewrite);
  EXPECT_THAT(Promote(), HasError(Code::kConflict, HasSubstr("merged was rewritten without row")));
  EXPECT_THAT(Ids(), ElementsAre(1, 1, 2, 3));
}

/// By default the output of compaction has the number of the head, here of a promotion.
TEST_F(ConvertPromotionTest, RowsAreToldApartInAFileThatHasTheNumberOfAPromotion) {
  Upsert({}, {9}, "staging");
  Upsert({1}, {}, "staging");
  Upsert({}, {1}, "main");
  ASSERT_THAT(Promote({.max_staging_snapshots = 1}), IsOk());
  ASSERT_THAT(Rewrite({.rewrite_all = true}), IsOk());
  ASSERT_THAT(Promote(), IsOk());
  EXPECT_THAT(Ids(), ElementsAre(1, 2, 3, 9)) << "1 was staged as deleted before it was added";
}

TEST_F(ConvertPromotionTest, PromotedRowsAreOlderThanLaterStagedDeletes) {
  Upsert({}, {4}, "staging");
  Upsert({4}, {}, "staging");
  ASSERT_THAT(Promote({.max_staging_snapshots = 1}), IsOk());
  EXPECT_THAT(Ids(), ElementsAre(1, 2, 3, 4));
  ASSERT_THAT(Rewrite({.rewrite_all = true, .use_starting_sequence_number = false}), IsOk());
  ASSERT_THAT(Promote(), IsOk());
  EXPECT_THAT(Ids(), ElementsAre(1, 2, 3));
}

TEST_F(ConvertPromotionTest, AnUnknownOriginIsRefused) {
  const SnapshotId promoted = Upsert({}, {7}, "staging");
  ASSERT_THAT(Promote(), IsOk());
  Upsert({1}, {}, "staging");
  const SnapshotId foreign = Upsert({}, {1}, "main");
  Upsert({}, {6}, "main");
  Update({RemoveSnapshots{{foreign}}});
  const auto files = Files();
  EXPECT_THAT(Promote(), HasError(Code::kConflict, HasSubstr(Text(promoted) + " was promoted")));
  EXPECT_THAT(Promote({.resume_from = Raw(promoted)}),
              HasError(Code::kConflict, HasSubstr("has expired")));
  EXPECT_EQ(Files(), files);
}

/// Expiry leaves what a backlog needs: also where the target's rows came from since.
TEST_F(ConvertPromotionTest, ABacklogOutlivesExpiry) {
  Upsert({}, {9}, "staging");
  Upsert({1}, {}, "staging");
  Upsert({}, {1}, "main");
  ASSERT_THAT(Promote({.max_staging_snapshots = 1}), IsOk());
  Upsert({}, {6}, "main");
  Upsert({2}, {}, "main");
  ASSERT_THAT(Convert(), IsOk()) << "in place";
  ASSERT_THAT(Rewrite({.rewrite_all = true}), IsOk());
  Table loaded = Load();
  const auto before = loaded.metadata().snapshots.size();
  report = {};
  ASSERT_THAT(ExpireSnapshots({.max_snapshot_age = 0, .retain_last = 1, .flink_guard_age = 0})
                  .Execute(run(), loaded, report),
              IsOk());
  EXPECT_LT(Load().metadata().snapshots.size(), before);
  ASSERT_THAT(Promote(), IsOk());
  EXPECT_THAT(Ids(), ElementsAre(1, 3, 6, 9));
}

TEST_F(ConvertPromotionTest, AStagingBranchMadeAnewGoesOn) {
  Upsert({1}, {4}, "staging");
  ASSERT_THAT(Promote(), IsOk());
  Branch("staging", *Load().metadata().current_snapshot_id);
  Upsert({4}, {5}, "staging");
  ASSERT_THAT(Promote(), IsOk());
  EXPECT_THAT(Ids(), ElementsAre(2, 3, 5));
}

TEST_F(ConvertPromotionTest, StagedVectorsPassOrMerge) {
  const DataFile g = Rows("g", {4, 5, 6});
  const DataFile d = DvOf("d", g, {0});
  Commit({.branch = "staging", .added_data_files = {{g}}});
  Commit({.operation = "delete", .branch = "staging", .added_delete_files = {{d}}});
  ASSERT_THAT(Promote(), IsOk());
  EXPECT_THAT(Vectors(), ElementsAre(Pair("g", 1)));
  Upsert({5}, {}, "staging");
  ASSERT_THAT(Promote(), IsOk());
  EXPECT_THAT(Vectors(), ElementsAre(Pair("g", 2)));
  // The staging branch's own vector knows nothing of what was resolved.
  Commit({.operation = "overwrite",
          .branch = "staging",
          .added_delete_files = {{DvOf("d2", g, {0, 2})}},
          .removed_delete_files = {d}});
  ASSERT_THAT(Promote(), IsOk());
  EXPECT_THAT(Vectors(), ElementsAre(Pair("g", 3)));
  EXPECT_THAT(Ids(), ElementsAre(1, 2, 3));
}

TEST_F(ConvertPromotionTest, AStagedVectorOfARewrittenFileIsRefused) {
  const DataFile g = Rows("g", {4, 5, 6});
  Commit({.branch = "staging", .added_data_files = {{g}}});
  ASSERT_THAT(Promote(), IsOk());
  Commit({.operation = "delete", .branch = "staging", .added_delete_files = {{DvOf("d", g, {0})}}});
  ASSERT_THAT(Rewrite({.rewrite_all = true}), IsOk());
  EXPECT_THAT(Promote(), HasError(Code::kConflict, HasSubstr("is not on branch 'main'")));
}

TEST_F(ConvertPromotionTest, TwoAtOncePromoteOnce) {
  Upsert({1}, {1, 4}, "staging");
  before_swap = [&] { return Promote(); };
  Table loaded = Load();
  TaskReport other;
  ASSERT_THAT(ConvertEqualityDeletes({.staging_branch = "staging", .equality_field_columns = "id"})
                  .Execute(run(), loaded, other),
              IsOk());
  EXPECT_EQ(other.outcome, TaskOutcome::kNothingToDo);
  EXPECT_EQ(report.outcome, TaskOutcome::kDone);
  EXPECT_THAT(Ids(), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(Unsound(), IsEmpty());
}

TEST_F(ConvertPromotionTest, WhatCannotBePromotedIsNamed) {
  const DataFile g = Rows("g", {4});
  Commit({.branch = "staging", .added_data_files = {{g}}});
  Commit({.operation = "delete", .branch = "staging", .removed_data_files = {g}});
  EXPECT_THAT(Promote(), HasError(Code::kUnsupported, HasSubstr("removes data file")));
  EXPECT_THAT(Ids(), ElementsAre(1, 2, 3, 4)) << "what came before it is promoted";
}

TEST_F(ConvertPromotionTest, ATargetWithEqualityDeletesIsRefused) {
  Upsert({1}, {4}, "staging");
  Upsert({2}, {}, "main");
  EXPECT_THAT(Promote(), HasError(Code::kUnsupported, HasSubstr("convert them first")));
  ASSERT_THAT(Convert(), IsOk());
  ASSERT_THAT(Promote(), IsOk());
  EXPECT_THAT(Ids(), ElementsAre(3, 4));
}

TEST(ConvertPromotionToEmptyTest, FillsMain) {
  ConvertTestTable table;
  table.Commit({.branch = "staging", .added_data_files = {{table.Rows("f", {1, 2})}}});
  table.Upsert({1}, {3}, "staging");
  ASSERT_THAT(table.Promote(), IsOk());
  EXPECT_THAT(table.Ids(), ElementsAre(2, 3));
}

TEST(ConvertPromotionToEmptyTest, TwoAtOnceFillItOnce) {
  ConvertTestTable table;
  table.Commit({.branch = "staging", .added_data_files = {{table.Rows("f", {1, 2})}}});
  table.before_swap = [&] { return table.Promote(); };
  Table loaded = table.Load();
  TaskReport other;
  ASSERT_THAT(ConvertEqualityDeletes({.staging_branch = "staging", .equality_field_columns = "id"})
                  .Execute(table.run(), loaded, other),
              IsOk());
  EXPECT_EQ(other.outcome, TaskOutcome::kNothingToDo);
  EXPECT_THAT(table.Ids(), ElementsAre(1, 2));
}

TEST_F(ConvertPromotionTest, ADryRunShowsWhatWaits) {
  Upsert({1}, {4}, "staging");
  Upsert({2, 3}, {}, "staging");
  const auto files = Files();
  ASSERT_THAT(Promote({.dry_run = true}), IsOk());
  EXPECT_EQ(report.outcome, TaskOutcome::kPlanned);
  ASSERT_THAT(report.items, SizeIs(2));
  EXPECT_EQ(Count("equality-deletes"), 3);
  EXPECT_EQ(Files(), files);
}

}  // namespace
}  // namespace icewright
