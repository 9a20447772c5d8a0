// Promotion snapshot by snapshot: what a key goes through, what stands beside a staged delete, what
// becomes of the target meanwhile.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "maintain/convert_ways_test_table.h"

namespace icewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

class ConvertStagedTest : public ConvertWaysTest {
 protected:
  ConvertStagedTest() : ConvertWaysTest({.threads = 4}) {}
};
INSTANTIATE_TEST_SUITE_P(Ways, ConvertStagedTest, kEachWay, NameOfWay);

// ---- One key

TEST_P(ConvertStagedTest, AKeyIsWrittenChangedDeletedAndWrittenAgain) {
  Branch("staging", Upsert({}, {1}));
  const auto file_of_7 = [&] {
    std::string files;
    for (const std::string& row : LiveColumns({"id", "_file"})) {
      if (row.starts_with("[7,")) files += row.substr(row.rfind('/') + 1);
    }
    return files;
  };
  struct Step {
    std::vector<int> deleted, added;
    const char* file;
  };
  const Step steps[] = {{{}, {7}, "f2\"]"},
                        {{7}, {7}, "f4\"]"},
                        {{7}, {}, ""},
                        {{}, {7}, "f6\"]"},
                        {{7}, {7}, "f8\"]"}};
  for (const Step& step : steps) {
    Upsert(step.deleted, step.added, "staging");
    ASSERT_THAT(PromoteAll(), IsOk());
    EXPECT_EQ(file_of_7(), step.file);
    EXPECT_EQ(LiveNames("main"), LiveNames("staging"));
  }
  EXPECT_THAT(Ids(), ElementsAre(1, 7));
  EXPECT_THAT(Vectors(), ElementsAre(Pair("f2", 1), Pair("f4", 1), Pair("f6", 1)));
}

TEST_P(ConvertStagedTest, TheSameInOneRun) {
  Branch("staging", Upsert({}, {1}));
  Upsert({}, {7}, "staging");
  Upsert({7}, {7}, "staging");
  Upsert({7}, {}, "staging");
  Upsert({}, {7}, "staging");
  Upsert({7}, {7}, "staging");
  ASSERT_THAT(PromoteAll(), IsOk());
  EXPECT_THAT(Ids(), ElementsAre(1, 7));
  EXPECT_THAT(Vectors(), ElementsAre(Pair("f2", 1), Pair("f4", 1), Pair("f6", 1)));
}

TEST_P(ConvertStagedTest, AKeyInTwoFilesGivesTwoVectors) {
  Upsert({}, {1, 2});
  Upsert({}, {2, 3, 2});
  BranchHere();
  Upsert({2}, {}, "staging");
  Upsert({4}, {}, "staging");  // matches nothing
  ASSERT_THAT(PromoteAll(), IsOk());
  EXPECT_THAT(Vectors(), ElementsAre(Pair("f1", 1), Pair("f2", 2)));
  EXPECT_THAT(Ids(), ElementsAre(1, 3));
}

/// Whatever order the threads take the files in.
TEST_P(ConvertStagedTest, AKeyDeletedAndWrittenInOneSnapshotStays) {
  std::vector<int> ids(400);
  std::iota(ids.begin(), ids.end(), 0);
  const auto part = [&](int i) {
    return std::vector<int>(ids.begin() + i * 100, ids.begin() + (i + 1) * 100);
  };
  for (int i = 0; i < 4; ++i) Upsert({}, part(i));
  BranchHere();
  for (int round = 0; round < 2; ++round) {
    SnapshotUpdate update{.operation = "overwrite", .branch = "staging"};
    for (int i = 0; i < 4; ++i) {
      update.added_data_files.push_back({Rows(NewName("f"), part(3 - i))});
      update.added_delete_files.push_back({DeleteIds(NewName("e"), part(i))});
    }
    Commit(update);
  }
  ASSERT_THAT(PromoteAll(), IsOk());
  EXPECT_EQ(Ids(), ids);
  EXPECT_THAT(Vectors(), SizeIs(8)) << "of main, and of the first round";
  EXPECT_EQ(LiveNames("main"), LiveNames("staging"));
}

// ---- Staged vectors beside staged equality deletes

TEST_P(ConvertStagedTest, VectorAndEqualityDeleteOfOneSnapshotForOneFile) {
  const DataFile f = Rows("f", {1, 2, 3, 4, 5});
  const DataFile g = Rows("g", {11, 12, 13});
  const DataFile h = Rows("h", {21, 22});
  const DataFile p = Rows("p", {31, 32, 33});
  Commit({.added_data_files = {{f}, {g}, {h}, {p}}});
  const DataFile f_old = DvOf("f-old", f, {0});
  const DataFile g_old = DvOf("g-old", g, {0});
  Commit({.operation = "delete", .added_delete_files = {{f_old}, {g_old}}});
  BranchHere();
  const DataFile k = Rows("k", {2, 41, 42});
  Commit({.operation = "overwrite",
          .branch = "staging",
          .added_data_files = {{k}},
          .added_delete_files = {{DvOf("f-new", f, {0, 1})},
                                 {DvOf("g-new", g, {0, 2})},
                                 {DvOf("h-new", h, {1})},
                                 {DvOf("k-new", k, {2})},
                                 {DeleteIds("e", {3, 22, 33, 42, 2})}},
          .removed_delete_files = {f_old, g_old}});
  Upsert({41, 4}, {}, "staging");
  ASSERT_THAT(PromoteAll(), IsOk());
  EXPECT_THAT(Ids(), ElementsAre(2, 5, 12, 21, 31, 32));
  EXPECT_THAT(Vectors(),
              ElementsAre(Pair("f", 4), Pair("g", 2), Pair("h", 1), Pair("k", 2), Pair("p", 1)));
  EXPECT_EQ(EqualityDeleteFiles(), 0);
}

/// The target has a vector that the staging branch never saw.
TEST_P(ConvertStagedTest, AStagedVectorMeetsOneOfTheTargetsOwn) {
  const DataFile f = Rows("f", {1, 2, 3, 4, 5});
  const DataFile g = Rows("g", {11, 12, 13});
  Commit({.added_data_files = {{f}, {g}}});
  BranchHere();
  Commit({.operation = "delete",
          .added_delete_files = {{DvOf("f-own", f, {4})}, {DvOf("g-own", g, {2})}}});
  Commit({.operation = "delete",
          .branch = "staging",
          .added_delete_files = {
              {DvOf("f-new", f, {0})}, {DvOf("g-new", g, {0})}, {DeleteIds("e", {2, 5})}}});
  Upsert({3}, {}, "staging");
  ASSERT_THAT(PromoteAll(), IsOk());
  EXPECT_THAT(Ids(), ElementsAre(4, 12));
  EXPECT_THAT(Vectors(), ElementsAre(Pair("f", 4), Pair("g", 2)));
}

// ---- The target moves

TEST_P(ConvertStagedTest, AFileRemovedBetweenRunsGetsNoVector) {
  const DataFile f = Rows("f", {1, 2});
  Commit({.added_data_files = {{f}}});
  Upsert({}, {2, 3, 4});
  BranchHere();
  Upsert({3}, {}, "staging");
  Upsert({1}, {}, "staging");
  ASSERT_THAT(PromoteAll(), IsOk());
  EXPECT_THAT(Ids(), ElementsAre(2, 2, 4));
  Commit({.operation = "delete", .removed_data_files = {f}});
  Upsert({2}, {}, "staging");
  ASSERT_THAT(PromoteAll(), IsOk());
  EXPECT_THAT(Ids(), ElementsAre(4));
  EXPECT_THAT(Vectors(), ElementsAre(Pair("f1", 2)));
}

/// Each does its worst just before the first of two promotions lands.
class ConvertStagedRaceTest : public ConvertStagedTest {
 protected:
  ConvertStagedRaceTest() {
    Commit({.added_data_files = {{f}}});
    Upsert({}, {2, 3, 4});
    BranchHere();
    Upsert({1, 3}, {5}, "staging");
    Upsert({2, 5}, {1}, "staging");
  }
  void Meanwhile(std::function<void()> act) {
    before_swap = [this, act = std::move(act)] {
      act();
      moved = true;
      return Status();
    };
  }
  void Finish(const std::vector<int>& ids) {
    ASSERT_THAT(PromoteAll(), IsOk());
    EXPECT_TRUE(moved);
    EXPECT_EQ(Ids(), ids);
    EXPECT_EQ(EqualityDeleteFiles(), 0);
    const Paths unsound = Unsound();
    for (const std::string& file : unsound) EXPECT_FALSE(file.ends_with(".puffin")) << file;
  }
  const DataFile f = Rows("f", {1, 2, 9});
  bool moved = false;
};
INSTANTIATE_TEST_SUITE_P(Ways, ConvertStagedRaceTest, kEachWay, NameOfWay);

TEST_P(ConvertStagedRaceTest, AFileIsRemoved) {
  Meanwhile([&] { Commit({.operation = "delete", .removed_data_files = {f}}); });
  Finish({1, 4});
  EXPECT_THAT(Vectors(), ElementsAre(Pair("f1", 2), Pair(::testing::_, 1)));
}

TEST_P(ConvertStagedRaceTest, RowsAreAppended) {
  Meanwhile([&] { Upsert({}, {1, 2, 5, 8}); });
  Finish({1, 1, 2, 4, 5, 8, 9});
}

TEST_P(ConvertStagedRaceTest, AVectorIsAdded) {
  Meanwhile(
      [&] { Commit({.operation = "delete", .added_delete_files = {{DvOf("own", f, {2})}}}); });
  Finish({1, 4});
  EXPECT_EQ(Vectors()["f"], 3);
}

TEST_P(ConvertStagedRaceTest, TheTargetIsCompacted) {
  Meanwhile([&] {
    Table loaded = Load();
    TaskReport done;
    EXPECT_THAT(RewriteDataFiles({.rewrite_all = true}).Execute(run(), loaded, done), IsOk());
  });
  Finish({1, 4, 9});
  EXPECT_THAT(LiveNames(), ElementsAre(::testing::_, ::testing::_, "new"));
}

TEST_P(ConvertStagedRaceTest, RowsAreAppendedAndCompacted) {
  Meanwhile([&] {
    Upsert({}, {1, 2, 5});
    Table loaded = Load();
    TaskReport done;
    EXPECT_THAT(RewriteDataFiles({.rewrite_all = true}).Execute(run(), loaded, done), IsOk());
  });
  Finish({1, 1, 2, 4, 5, 9});
}

// ---- Two staging branches of one target

/// What the other branch brings is of others: a delete reaches it only if it was there before.
TEST_P(ConvertStagedTest, RowsPromotedFromAnotherBranchAreThoseOfOthers) {
  const SnapshotId base = Upsert({}, {1, 2, 3});
  Branch("staging", base);
  Branch("other", base);
  Upsert({}, {9}, "staging");
  ASSERT_THAT(PromoteAll(), IsOk());
  Upsert({}, {7, 9}, "other");
  ASSERT_THAT(Convert({.staging_branch = "other", .resume_from = Raw(base)}), IsOk());
  Upsert({7}, {7, 8}, "staging");
  Upsert({8, 1, 4}, {}, "staging");
  Upsert({}, {4, 8}, "other");
  ASSERT_THAT(Convert({.staging_branch = "other"}), IsOk());
  ASSERT_THAT(PromoteAll(), IsOk());
  EXPECT_THAT(Ids(), ElementsAre(2, 3, 4, 7, 8, 9, 9));
}

// ---- What is refused

TEST_P(ConvertStagedTest, StagedDeletesByOtherColumnsAreRefused) {
  Branch("staging", Upsert({}, {1, 2}));
  Upsert({1}, {}, "staging");
  DataFile other = DeleteIds("other", {2});
  other.equality_ids = {FieldId{1}, FieldId{2}};
  Commit({.operation = "delete", .branch = "staging", .added_delete_files = {{other}}});
  EXPECT_THAT(PromoteAll(),
              HasError(Code::kUnsupported, HasSubstr("other has the columns id,cat, but "
                                                     "equality-field-columns is id")));
  EXPECT_THAT(Ids(), ElementsAre(2)) << "what was staged before it is promoted";
}

TEST(ConvertStagedRefusalTest, PositionDeleteFiles) {
  RewriteTestTable table({.format_version = 2});
  const DataFile f = table.Rows("f", {1, 2});
  table.Branch("staging", table.Commit({.added_data_files = {{f}}}));
  table.Commit({.operation = "delete",
                .branch = "staging",
                .added_delete_files = {{table.DeletePositions("p", f, {0})}}});
  table.Update({UpgradeFormatVersion{3}});
  Table loaded = table.Load();
  TaskReport report;
  EXPECT_THAT(ConvertEqualityDeletes({.staging_branch = "staging", .equality_field_columns = "id"})
                  .Execute(table.run(), loaded, report),
              HasError(Code::kUnsupported, HasSubstr("/p: only deletion vectors can be promoted")));
  EXPECT_THAT(table.LiveRows(), SizeIs(2));
}

TEST(ConvertStagedRefusalTest, APartitionColumnOutsideOfTheKey) {
  ConvertTestTable table;
  table.Branch("staging", table.Upsert({}, {1, 2}));
  table.Update({AddPartitionSpec{MakeSpec(1, {{2, "identity"}})}, SetDefaultSpec{}});
  DataFile deletes = table.DeleteIds("e", {1});
  deletes.spec_id = table.Load().metadata().default_spec_id;
  deletes.partition = {Literal(std::string("c1"))};
  table.Commit({.operation = "delete", .branch = "staging", .added_delete_files = {{deletes}}});
  EXPECT_THAT(table.Promote(),
              HasError(Code::kUnsupported, HasSubstr("partitioned by 'cat', which is not among")));
  EXPECT_THAT(table.report.snapshot_ids, IsEmpty());
}

}  // namespace
}  // namespace icewright
