#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "commit/commit_test_table.h"
#include "commit/conflict_check.h"
#include "commit/snapshot_update.h"

namespace icewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

std::string By(SnapshotId id) { return " by snapshot " + std::to_string(Raw(id)); }

/// A rewrite of f1 planned on `planned`.
SnapshotUpdate RewriteOfF1(const CommitTestTable& table, SnapshotId planned) {
  return {.operation = "replace",
          .added_data_files = {{table.Data("g1"), SequenceNumber(1)}},
          .removed_data_files = {table.Data("f1")},
          .validate_from = planned,
          .fail_on_new_deletes = true,
          .ignore_new_equality_deletes = true};
}

void ExpectConflict(CommitTestTable& table, const SnapshotUpdate& update, const std::string& file,
                    const std::string& reason) {
  const auto files = table.AvroFiles();
  EXPECT_THAT(table.Commit(update), HasError(Code::kConflict, HasSubstr(file)));
  ASSERT_THAT(table.report.conflicts, SizeIs(1));
  EXPECT_EQ(table.report.conflicts[0].data_file.text(), file);
  EXPECT_EQ(table.report.conflicts[0].reason, reason);
  EXPECT_EQ(table.report.attempts, 1);
  EXPECT_EQ(table.report.snapshot_id, std::nullopt);
  EXPECT_EQ(table.AvroFiles(), files) << "what was written is deleted again";
}

TEST(CommitConflictTest, AppendsInBetweenDoNotMatter) {
  CommitTestTable table;
  const SnapshotId planned = table.Append("f1");
  table.Append("f2");
  table.MustCommit(RewriteOfF1(table, planned));
  EXPECT_THAT(table.Live(), UnorderedElementsAre(Pair("g1", 1), Pair("f2", 2)));
}

TEST(CommitConflictTest, ANewPositionDeleteIsOne) {
  CommitTestTable table;
  const SnapshotId planned = table.Append("f1");
  const SnapshotId other = table.MustCommit(
      {.operation = "delete", .added_delete_files = {{table.PositionDeletes("p1")}}});
  ExpectConflict(table, RewriteOfF1(table, planned), "f1",
                 "a position delete was added" + By(other));
}

TEST(CommitConflictTest, ANewDvIsOne) {
  CommitTestTable table({.format_version = 3});
  const SnapshotId planned = table.Append("f1");
  const SnapshotId other = table.MustCommit(
      {.operation = "delete", .added_delete_files = {{MakeDv("p1", table.Data("f1"))}}});
  ExpectConflict(table, RewriteOfF1(table, planned), "f1",
                 "a deletion vector was added" + By(other));
}

TEST(CommitConflictTest, ANewEqualityDeleteIsOneOnlyWithoutBackdating) {
  CommitTestTable table;
  const SnapshotId planned = table.Append("f1");
  const SnapshotId other = table.MustCommit(
      {.operation = "delete", .added_delete_files = {{table.EqualityDeletes("e1")}}});
  SnapshotUpdate update = RewriteOfF1(table, planned);
  update.ignore_new_equality_deletes = false;
  ExpectConflict(table, update, "f1", "an equality delete was added" + By(other));
  table.MustCommit(RewriteOfF1(table, planned));
  EXPECT_THAT(table.Live(), UnorderedElementsAre(Pair("g1", 1), Pair("e1", 2)));
}

/// Rows that move to another spec leave the reach of equality deletes of the old one, and come into
/// that of the new one's.
TEST(CommitConflictTest, ANewEqualityDeleteIsOneWhereRowsMoveToAnotherSpec) {
  struct Case {
    const char* name;
    int spec;             // of the new delete
    const char* delete_;  // its name says its partition
    bool conflicts;
  };
  const Case cases[] = {
      {"of the old spec", 0, "cat=a/e1", true},
      {"of another partition of it", 0, "cat=b/e1", false},
      {"of the new spec", 1, "cat=a/e1", true},
      {"of another partition of the new spec", 1, "cat=b/e1", false},
      {"global", 2, "e1", false},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    CommitTestTable table({.partitioned = true});
    Table loaded = table.Load();
    const std::vector<TableUpdate> specs = {AddPartitionSpec{MakeSpec(1, {{2, "truncate[1]"}}, 1)},
                                            AddPartitionSpec{MakeSpec(2, {}, 2)}};
    ASSERT_THAT(loaded.Commit(table.run(), {}, specs), IsOk());
    const SnapshotId planned = table.Append("cat=a/f1");
    DataFile deletes = table.EqualityDeletes(c.delete_);
    deletes.spec_id = SpecId{c.spec};
    if (c.spec == 2) deletes.partition = {};
    const SnapshotId other =
        table.MustCommit({.operation = "delete", .added_delete_files = {{deletes}}});
    SnapshotUpdate update = RewriteOfF1(table, planned);
    update.added_data_files = {{table.Data("cat=a/g1"), SequenceNumber(1)}};
    update.added_data_files.front().file.spec_id = SpecId{1};
    update.removed_data_files = {table.Data("cat=a/f1")};
    if (c.conflicts) {
      ExpectConflict(table, update, "cat=a/f1", "an equality delete was added" + By(other));
    } else {
      table.MustCommit(update);
    }
  }
}

TEST(CommitConflictTest, NewDeletesOfOtherFilesAndPartitionsDoNotMatter) {
  CommitTestTable table({.format_version = 3, .partitioned = true});
  table.Append("cat=b/f2");
  const SnapshotId planned = table.Append("cat=a/f1");
  table.MustCommit({.operation = "delete",
                    .added_delete_files = {{MakeDv("p1", table.Data("cat=b/f2"))},
                                           {table.EqualityDeletes("cat=b/e1")}}});
  table.MustCommit({.operation = "replace",
                    .added_data_files = {{table.Data("cat=a/g1"), SequenceNumber(2)}},
                    .removed_data_files = {table.Data("cat=a/f1")},
                    .validate_from = planned,
                    .fail_on_new_deletes = true});
  EXPECT_THAT(table.Live(), UnorderedElementsAre(Pair("cat=a/g1", 2), Pair("cat=b/f2", 1),
                                                 Pair("p1@4", 3), Pair("cat=b/e1", 3)));
}

TEST(CommitConflictTest, EqualityDeletesOfAnUnpartitionedSpecConcernEveryPartition) {
  CommitTestTable table;  // spec 0 has no fields
  Table loaded = table.Load();
  ASSERT_THAT(
      loaded.Commit(table.run(), {},
                    std::vector<TableUpdate>{AddPartitionSpec{MakeSpec(1, {{2, "identity"}})}}),
      IsOk());
  DataFile in_spec_1 = table.Data("cat=a/f1");
  in_spec_1.spec_id = SpecId(1);
  const SnapshotId planned = table.MustCommit({.added_data_files = {{in_spec_1}}});
  const SnapshotId other = table.MustCommit(
      {.operation = "delete", .added_delete_files = {{table.EqualityDeletes("e1")}}});
  SnapshotUpdate update = RewriteOfF1(table, planned);
  update.removed_data_files = {in_spec_1};
  update.ignore_new_equality_deletes = false;
  ExpectConflict(table, update, "cat=a/f1", "an equality delete was added" + By(other));
}

TEST(CommitConflictTest, AFileIsNamedOnceWithItsFirstReason) {
  CommitTestTable table;
  const SnapshotId planned = table.Append("f1");
  const SnapshotId deletes = table.MustCommit(
      {.operation = "delete", .added_delete_files = {{table.PositionDeletes("p1")}}});
  table.MustCommit({.operation = "delete", .removed_data_files = {table.Data("f1")}});
  ExpectConflict(table, RewriteOfF1(table, planned), "f1",
                 "a position delete was added" + By(deletes));
}

TEST(CommitConflictTest, DeletesKnownToThePlanDoNotMatter) {
  CommitTestTable table;
  table.Append("f1");
  const SnapshotId planned = table.MustCommit(
      {.operation = "delete", .added_delete_files = {{table.PositionDeletes("p1")}}});
  table.Append("f2");
  SnapshotUpdate update = RewriteOfF1(table, planned);
  update.added_data_files[0].sequence_number = SequenceNumber(2);
  table.MustCommit(update);
  EXPECT_THAT(table.Live(), UnorderedElementsAre(Pair("g1", 2), Pair("f2", 3), Pair("p1", 2)));
}

TEST(CommitConflictTest, WithoutAStartNothingIsValidated) {
  CommitTestTable table;
  table.Append("f1");
  table.MustCommit({.operation = "delete", .added_delete_files = {{table.PositionDeletes("p1")}}});
  table.MustCommit({.operation = "replace", .removed_data_files = {table.Data("f1")}});
  EXPECT_THAT(table.Live(), UnorderedElementsAre(Pair("p1", 2)));
}

// Two vectors of one file in the history, one after the other, are one live vector.
TEST(CommitConflictTest, AVectorThatWasReplacedMeanwhileStopsNoOtherFile) {
  CommitTestTable table({.format_version = 3});
  table.Append("f1");
  const SnapshotId planned = table.Append("f2");
  const DataFile first = MakeDv("p1", table.Data("f2"));
  table.MustCommit({.operation = "delete", .added_delete_files = {{first}}});
  const SnapshotId other =
      table.MustCommit({.operation = "delete",
                        .added_delete_files = {{MakeDv("p2", table.Data("f2"))}},
                        .removed_delete_files = {first}});
  SnapshotUpdate update = RewriteOfF1(table, planned);
  table.MustCommit(update);
  EXPECT_THAT(table.Live(), UnorderedElementsAre(Pair("g1", 1), Pair("f2", 2), Pair("p2@4", 4)));
  update = RewriteOfF1(table, planned);
  update.added_data_files[0].file = table.Data("g2");
  update.removed_data_files = {table.Data("f2")};
  ExpectConflict(table, update, "f2", "a deletion vector was added" + By(other));
}

TEST(CommitConflictTest, AConcurrentCompactionOfTheSameFileIsNamed) {
  CommitTestTable table;
  const SnapshotId planned = table.Append("f1");
  table.Append("f2");
  const SnapshotId other = table.MustCommit({.operation = "replace",
                                             .added_data_files = {{table.Data("h1")}},
                                             .removed_data_files = {table.Data("f1")}});
  table.Append("f3");
  ExpectConflict(table, RewriteOfF1(table, planned), "f1", "it was removed" + By(other));
}

TEST(CommitConflictTest, AllFilesInTheWayAreNamedAtOnce) {
  CommitTestTable table({.format_version = 3});
  const SnapshotId planned = table.MustCommit(
      {.added_data_files = {
           {table.Data("f1")}, {table.Data("f2")}, {table.Data("f3")}, {table.Data("f4")}}});
  const SnapshotId dv = table.MustCommit(
      {.operation = "delete", .added_delete_files = {{MakeDv("p1", table.Data("f3"))}}});
  const SnapshotId removal =
      table.MustCommit({.operation = "delete", .removed_data_files = {table.Data("f2")}});
  SnapshotUpdate update = RewriteOfF1(table, planned);
  update.removed_data_files = {table.Data("f1"), table.Data("f2"), table.Data("f3"),
                               table.Data("f4")};
  EXPECT_THAT(table.Commit(update), HasError(Code::kConflict, HasSubstr("and 1 more")));
  std::vector<std::pair<std::string, std::string>> conflicts;
  for (const FileConflict& conflict : table.report.conflicts) {
    conflicts.emplace_back(conflict.data_file.text(), conflict.reason);
  }
  EXPECT_THAT(conflicts, ElementsAre(Pair("f3", "a deletion vector was added" + By(dv)),
                                     Pair("f2", "it was removed" + By(removal))));
  // The caller drops the groups of these files and commits the rest.
  update.removed_data_files = {table.Data("f1"), table.Data("f4")};
  table.MustCommit(update);
  EXPECT_THAT(table.Live(), UnorderedElementsAre(Pair("g1", 1), Pair("f3", 1), Pair("p1@4", 2)));
}

TEST(CommitConflictTest, ABrokenChainIsAConflict) {
  CommitTestTable table;
  table.Append("f1");
  const SnapshotId planned = table.Append("f2");
  table.Append("f3");
  Table loaded = table.Load();
  const SnapshotId first = *table.Load().metadata().FindSnapshot(planned)->parent_id;
  // Rolled back below the plan.
  ASSERT_THAT(loaded.Commit(table.run(), {},
                            std::vector<TableUpdate>{
                                SetSnapshotRef{.name = "main", .ref = {.snapshot_id = first}}}),
              IsOk());
  EXPECT_THAT(table.Commit(RewriteOfF1(table, planned)),
              HasError(Code::kConflict, HasSubstr("cannot determine history")));
  EXPECT_THAT(table.report.conflicts, IsEmpty());
}

TEST(CommitConflictTest, AnExpiredLinkIsAConflictButAnExpiredStartIsNot) {
  CommitTestTable table;
  const SnapshotId planned = table.Append("f1");
  const SnapshotId link = table.Append("f2");
  table.Append("f3");
  Table loaded = table.Load();
  ASSERT_THAT(loaded.Commit(table.run(), {}, std::vector<TableUpdate>{RemoveSnapshots{{planned}}}),
              IsOk());
  table.MustCommit(RewriteOfF1(table, planned));
  loaded = table.Load();
  ASSERT_THAT(loaded.Commit(table.run(), {}, std::vector<TableUpdate>{RemoveSnapshots{{link}}}),
              IsOk());
  SnapshotUpdate update = RewriteOfF1(table, planned);
  update.added_data_files[0].file = table.Data("g2");
  update.removed_data_files = {table.Data("f2")};
  EXPECT_THAT(table.Commit(update),
              HasError(Code::kConflict, HasSubstr("cannot determine history")));
}

TEST(CommitConflictTest, WithAnExpiredStartNewDeletesAreStillSeen) {
  CommitTestTable table;
  table.Append("f0");
  table.MustCommit({.operation = "delete", .added_delete_files = {{table.PositionDeletes("p0")}}});
  const SnapshotId planned = table.Append("f1");
  table.Append("f2");
  Table loaded = table.Load();
  ASSERT_THAT(loaded.Commit(table.run(), {}, std::vector<TableUpdate>{RemoveSnapshots{{planned}}}),
              IsOk());
  const SnapshotId other = table.MustCommit(
      {.operation = "delete", .added_delete_files = {{table.PositionDeletes("p1")}}});
  ExpectConflict(table, RewriteOfF1(table, planned), "f1",
                 "a position delete was added" + By(other));
}

TEST(CommitConflictTest, ASecondVectorOfADataFileIsRefused) {
  CommitTestTable table({.format_version = 3});
  table.Append("f1");
  const DataFile first = MakeDv("p1", table.Data("f1"));
  const SnapshotId other =
      table.MustCommit({.operation = "delete", .added_delete_files = {{first}}});
  SnapshotUpdate update{.operation = "delete",
                        .added_delete_files = {{MakeDv("p2", table.Data("f1"))}}};
  ExpectConflict(table, update, "f1",
                 "it has another deletion vector of snapshot " + std::to_string(Raw(other)));
  update.removed_delete_files = {first};
  table.MustCommit(update);
  EXPECT_THAT(table.Live(), UnorderedElementsAre(Pair("f1", 1), Pair("p2@4", 3)));
}

TEST(CommitConflictTest, DeletesForAFileThatWasRemovedMeanwhileAreRefused) {
  CommitTestTable table({.format_version = 3});
  table.Append("f1");
  const SnapshotId planned = table.Append("f2");
  const SnapshotId other = table.MustCommit({.operation = "replace",
                                             .added_data_files = {{table.Data("g1")}},
                                             .removed_data_files = {table.Data("f1")}});
  SnapshotUpdate update{.operation = "delete",
                        .added_delete_files = {{MakeDv("p1", table.Data("f1"))}},
                        .validate_from = planned};
  ExpectConflict(table, update, "f1", "it was removed" + By(other));
  update.added_delete_files = {{MakeDv("p1", table.Data("f2"))}};
  table.MustCommit(update);
}

TEST(HistorySinceTest, WalksFromTheHeadToTheStart) {
  TableMetadata metadata;
  for (int i = 1; i <= 4; ++i) {
    Snapshot snapshot{.id = SnapshotId(i)};
    if (i > 1) snapshot.parent_id = SnapshotId(i - 1);
    metadata.snapshots.push_back(snapshot);
  }
  const Snapshot* head = metadata.FindSnapshot(SnapshotId(4));
  IW_ASSERT_OK_AND_ASSIGN(const auto history, HistorySince(metadata, head, SnapshotId(2)));
  ASSERT_THAT(history, SizeIs(2));
  EXPECT_EQ(history[0]->id, SnapshotId(4));
  EXPECT_EQ(history[1]->id, SnapshotId(3));
  EXPECT_THAT(HistorySince(metadata, head, SnapshotId(4)), IsOkAndHolds(IsEmpty()));
  EXPECT_THAT(HistorySince(metadata, head, SnapshotId(9)), HasCode(Code::kConflict));
  EXPECT_THAT(HistorySince(metadata, nullptr, SnapshotId(1)), HasCode(Code::kConflict));
  metadata.snapshots[0].parent_id = SnapshotId(4);  // a ring, as only a broken table has it
  EXPECT_THAT(HistorySince(metadata, metadata.FindSnapshot(SnapshotId(4)), SnapshotId(9)),
              HasCode(Code::kConflict));
}

}  // namespace
}  // namespace icewright
