// All ways to resolve deletes have the same result; they differ in what they read.

#include "maintain/delete_resolver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "maintain/convert_test_table.h"
#include "testing/temp_folder.h"

namespace icewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

class DeleteResolverTest : public ::testing::Test, public ConvertTestTable {
 protected:
  ConvertEqualityDeletesOptions Indexed() {
    return {.resolve = "indexed", .index_path = folder.path()};
  }
  /// How often a data file was opened since the last call.
  std::ptrdiff_t Opens(const std::string& name) {
    const auto events = io().events();
    const IoEvent open{IoCall::kOpen, PathOf(name)};
    const auto count = std::count(events.begin() + seen_, events.end(), open);
    seen_ = std::ssize(events);
    return count;
  }

  static DataFile WithBounds(DataFile file, std::int64_t lower, std::int64_t upper) {
    const auto bytes = [](std::int64_t value) {
      return Bytes(reinterpret_cast<const char*>(&value), sizeof value);
    };
    file.value_counts = {{FieldId{1}, file.record_count}};
    file.null_value_counts = {{FieldId{1}, 0}};
    file.lower_bounds = {{FieldId{1}, bytes(lower)}};
    file.upper_bounds = {{FieldId{1}, bytes(upper)}};
    return file;
  }

  TempFolder folder;

 private:
  std::ptrdiff_t seen_ = 0;
};

// ---- Several staging snapshots, one scan

TEST_F(DeleteResolverTest, StagedSnapshotsShareOneScan) {
  Branch("staging", Upsert({}, {1, 2, 3, 4, 2}));  // f1
  std::vector<SnapshotId> staged;
  staged.push_back(Upsert({1, 2}, {1, 5}, "staging"));
  staged.push_back(Upsert({5, 1, 3}, {1}, "staging"));
  staged.push_back(Upsert({}, {7}, "staging"));
  staged.push_back(Upsert({1, 7, 4}, {}, "staging"));
  Opens("f1");
  const auto before = Snapshots().size();
  ASSERT_THAT(Promote(), IsOk());
  EXPECT_EQ(Opens("f1"), 1);
  EXPECT_EQ(Snapshots().size(), before + 4) << "one commit for each";
  EXPECT_EQ(report.snapshot_ids.size(), 4U);
  EXPECT_EQ(Marker(), std::to_string(Raw(staged.back())));
  EXPECT_THAT(Ids(), IsEmpty());
  EXPECT_EQ(Vectors()["f1"], 5);
  EXPECT_EQ(Count("resolved-delete-num"), 9);
  EXPECT_EQ(Count("read-data-file-num"), 4) << "f1 and the three that were promoted";
}

TEST_F(DeleteResolverTest, EachCommitIsAsIfMadeAlone) {
  const auto history = [](ConvertTestTable& table) {
    table.Branch("staging", table.Upsert({}, {1, 2, 3, 4, 5}));
    for (int i = 1; i <= 5; ++i) {
      table.Upsert({i, i - 1, i + 1}, {i, i + 10}, "staging");
      table.Upsert({}, {i}, "main");
    }
  };
  ConvertTestTable batched;
  ConvertTestTable alone;
  history(batched);
  history(alone);
  ASSERT_THAT(batched.Promote(), IsOk());
  for (int i = 0; i < 5; ++i) {
    ASSERT_THAT(alone.Promote({.max_staging_snapshots = 1}), IsOk());
  }
  const Table one = batched.Load();
  const Table other = alone.Load();
  ASSERT_EQ(one.metadata().snapshots.size(), other.metadata().snapshots.size());
  for (std::size_t i = 0; i < one.metadata().snapshots.size(); ++i) {
    SCOPED_TRACE(i);
    const Snapshot& a = one.metadata().snapshots[i];
    const Snapshot& b = other.metadata().snapshots[i];
    EXPECT_EQ(a.operation, b.operation);
    for (const char* key : {"added-dvs", "added-position-deletes", "total-position-deletes",
                            "added-data-files", "total-records", "removed-dvs"}) {
      const std::string* x = FindKey(a.summary, key);
      const std::string* y = FindKey(b.summary, key);
      EXPECT_EQ(x == nullptr ? "" : *x, y == nullptr ? "" : *y) << key;
    }
  }
  EXPECT_EQ(batched.LiveRows(), alone.LiveRows());
}

TEST_F(DeleteResolverTest, ARefusedSnapshotDoesNotHoldUpThoseBeforeIt) {
  Branch("staging", Upsert({}, {1, 2, 3}));
  Upsert({1}, {}, "staging");
  Upsert({2}, {}, "staging");
  const DataFile g = Rows("g", {8});
  Commit({.branch = "staging", .added_data_files = {{g}}});
  Commit({.operation = "delete", .branch = "staging", .removed_data_files = {g}});
  EXPECT_THAT(Promote(), HasError(Code::kUnsupported, HasSubstr("removes data file")));
  EXPECT_THAT(Ids(), ElementsAre(3, 8));
}

TEST_F(DeleteResolverTest, NorDoesADeleteThatCannotBeRead) {
  Branch("staging", Upsert({}, {1, 2, 3}));
  Upsert({1}, {}, "staging");
  Upsert({2}, {}, "staging");
  const DataFile lost = DeleteIds("lost", {3});
  Commit({.operation = "delete", .branch = "staging", .added_delete_files = {{lost}}});
  ASSERT_THAT(io().DeleteFiles({{lost.file_path}}), IsEmpty());
  EXPECT_THAT(Promote(), HasError(Code::kNotFound, HasSubstr("lost")));
  EXPECT_THAT(Ids(), ElementsAre(3)) << "what was staged before it is promoted";
  DeleteIds("lost", {3});
  ASSERT_THAT(Promote(), IsOk());
  EXPECT_THAT(Ids(), IsEmpty());
}

TEST_F(DeleteResolverTest, FilesWhoseBoundsExcludeTheKeysAreNotRead) {
  for (const char* way : {"stateless", "indexed"}) {
    const std::string name = std::string("far-") + way;
    const std::string branch = std::string("staging-") + way;
    const SnapshotId base = Upsert({}, {1, 2, 3});
    Commit({.added_data_files = {{WithBounds(Rows(name, {100, 101}), 100, 101)}}});
    Branch(branch, base);
    const DataFile one = WithBounds(DeleteIds(NewName("e"), {2}), 2, 2);
    Commit({.operation = "delete", .branch = branch, .added_delete_files = {{one}}});
    ConvertEqualityDeletesOptions options = Indexed();
    options.resolve = way;
    options.staging_branch = branch;
    options.target_branch = branch + "-target";
    Branch(options.target_branch, *Load().metadata().current_snapshot_id);
    Opens(name);
    ASSERT_THAT(Convert(options), IsOk()) << way;
    EXPECT_EQ(Opens(name), 0) << way;
    EXPECT_EQ(Count("resolved-delete-num"), way == std::string("stateless") ? 1 : 2) << way;
  }
}

/// A scan that broke off knows nothing of the files it did not get to: the next plan reads them.
TEST_F(DeleteResolverTest, AScanThatBrokeOffIsNotBuiltUpon) {
  Upsert({}, {1, 2});
  Branch("staging", Upsert({}, {3, 4}));
  Upsert({1, 3}, {}, "staging");
  Upsert({2}, {}, "staging");
  bool gone = false;
  io().OnCall([&](int, const IoEvent& event) -> Status {
    if (gone || event != IoEvent{IoCall::kOpen, PathOf("f1")}) return {};
    gone = true;
    Upsert({}, {9});  // the table moves on, so that it is planned again
    return Error(Code::kNotFound, "f1 is away for a moment");
  });
  ASSERT_THAT(Promote(), IsOk());
  EXPECT_TRUE(gone);
  EXPECT_THAT(Ids(), ElementsAre(4, 9));
}

TEST_F(DeleteResolverTest, WithoutRoomForABatchOneByOne) {
  std::vector<int> ids;
  for (int i = 0; i < 6000; ++i) ids.push_back(i);
  Branch("staging", Upsert({}, ids));
  const std::vector<int> odd(ids.begin(), ids.begin() + 3000);
  Upsert(odd, {}, "staging");
  Upsert({ids.begin() + 3000, ids.end() - 1}, {}, "staging");
  Opens("f1");
  RunContext small({.memory_limit_bytes = 1 << 20});
  Table loaded = Load();
  TaskReport done;
  ASSERT_THAT(ConvertEqualityDeletes({.staging_branch = "staging", .equality_field_columns = "id"})
                  .Execute(small, loaded, done),
              IsOk());
  EXPECT_EQ(Opens("f1"), 2);
  EXPECT_EQ(small.memory().used(), 0);
  EXPECT_THAT(Ids(), ElementsAre(5999));
}

// ---- With an index

TEST_F(DeleteResolverTest, WithAnIndexOldFilesAreNotReadAgain) {
  Upsert({}, {1, 2, 3, 4});
  Upsert({2}, {2, 5});
  ASSERT_THAT(Convert(Indexed()), IsOk());
  EXPECT_EQ(Count("read-data-file-num"), 1) << "f1: the newer file has no older row";
  EXPECT_EQ(Count("indexed-key-num"), 4);
  EXPECT_EQ(Count("reindex-num"), 0);
  Opens("f1");
  Upsert({3, 5}, {3});
  ASSERT_THAT(Convert(Indexed()), IsOk());
  EXPECT_EQ(Opens("f1"), 0);
  EXPECT_EQ(Count("read-data-file-num"), 1);
  EXPECT_EQ(Count("resolved-delete-num"), 2);
  EXPECT_THAT(Ids(), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(Vectors()["f1"], 2);
  EXPECT_THAT(report.notes, IsEmpty());
}

TEST_F(DeleteResolverTest, AKeyThatMostRowsHave) {
  std::vector<int> ids(10'000, 7);
  ids.push_back(8);
  Upsert({}, ids);
  Upsert({7}, {});
  ASSERT_THAT(Convert(Indexed()), IsOk());
  EXPECT_THAT(Ids(), ElementsAre(8));
  EXPECT_EQ(Count("resolved-delete-num"), 10'000);
}

TEST_F(DeleteResolverTest, CompactionsAndRollbacksInBetween) {
  const SnapshotId first = Upsert({}, {1, 2, 3, 4});
  Upsert({2}, {2});
  ASSERT_THAT(Convert(Indexed()), IsOk());
  ASSERT_THAT(Rewrite({.rewrite_all = true}), IsOk());
  Upsert({1}, {});
  ASSERT_THAT(Convert(Indexed()), IsOk());
  EXPECT_THAT(Ids(), ElementsAre(2, 3, 4));
  RollBackTo(first);
  Upsert({4, 2}, {});
  ASSERT_THAT(Convert(Indexed()), IsOk());
  EXPECT_THAT(Ids(), ElementsAre(1, 3));
  EXPECT_THAT(Vectors(), ElementsAre(Pair("f1", 2)));
}

/// The commit does not land, or nobody learns that it did: the index knows files, not commits.
TEST_F(DeleteResolverTest, CommitsThatDoNotLandLeaveTheIndexRight) {
  Upsert({}, {1, 2, 3});
  Upsert({2}, {2});
  before_swap = [&]() -> Status { return Error(Code::kIo, "refused"); };
  EXPECT_THAT(Convert(Indexed()), HasCode(Code::kIo));
  ASSERT_THAT(Convert(Indexed()), IsOk());
  EXPECT_EQ(Count("read-data-file-num"), 0);
  EXPECT_EQ(Count("resolved-delete-num"), 1);
  EXPECT_THAT(Ids(), ElementsAre(1, 2, 3));
  Upsert({2}, {});
  after_swap = [&]() -> Status { return Error(Code::kCommitUnknown, "lost"); };
  (void)Convert(Indexed());
  ASSERT_THAT(Convert(Indexed()), IsOk());
  EXPECT_THAT(Ids(), ElementsAre(1, 3));
}

TEST_F(DeleteResolverTest, ADamagedIndexIsMadeAnew) {
  Upsert({}, {1, 2, 3});
  Upsert({2}, {});
  ASSERT_THAT(Convert(Indexed()), IsOk());
  for (const auto& file : std::filesystem::recursive_directory_iterator(folder.path())) {
    if (file.path().extension() == ".sst") std::ofstream(file.path()) << "no table";
  }
  Upsert({3}, {});
  ASSERT_THAT(Convert(Indexed()), IsOk());
  EXPECT_THAT(report.notes, ElementsAre(HasSubstr("begun anew")));
  EXPECT_THAT(Ids(), ElementsAre(1));
}

TEST_F(DeleteResolverTest, APlaceWithoutAnIndexIsAnErrorOrANote) {
  Upsert({}, {1, 2});
  Upsert({2}, {});
  EXPECT_THAT(Convert({.resolve = "indexed", .index_path = "/proc/x"}),
              HasError(Code::kIo, HasSubstr("index-path")));
  EXPECT_THAT(Ids(), ElementsAre(1));
  EXPECT_EQ(EqualityDeleteFiles(), 1);
}

/// Files without field ids are read by other names from now on.
TEST_F(DeleteResolverTest, AnotherNameMappingIsAnotherIndex) {
  Upsert({}, {1, 2, 3});
  Upsert({2}, {});
  ASSERT_THAT(Convert(Indexed()), IsOk());
  Update({SetProperties{
      {{"schema.name-mapping.default", R"([{"field-id": 1, "names": ["number"]}])"}}}});
  Upsert({3}, {});
  Opens("f1");
  ASSERT_THAT(Convert(Indexed()), IsOk());
  EXPECT_THAT(report.notes,
              ElementsAre(HasSubstr("begun anew: it was made for other key columns")));
  EXPECT_GE(Opens("f1"), 1);
  EXPECT_THAT(Ids(), ElementsAre(1));
}

/// A choice made for the user never costs the run.
TEST_F(DeleteResolverTest, AnIndexThatFailsIsANoteWhereItWasNotAskedFor) {
  std::vector<int> ids(2000);
  std::iota(ids.begin(), ids.end(), 0);
  Upsert({}, ids);
  Upsert({7}, {});
  ASSERT_THAT(Convert({.index_path = "/proc/x"}), IsOk());
  EXPECT_THAT(report.notes, ElementsAre(HasSubstr("the index is not used: index-path")));
  EXPECT_EQ(Ids().size(), 1999U);
}

TEST_F(DeleteResolverTest, CostDecidesUnlessForced) {
  std::vector<int> ids(2000);
  for (int i = 0; i < 2000; ++i) ids[static_cast<std::size_t>(i)] = i;
  Upsert({}, ids);
  std::vector<int> many(ids.begin(), ids.begin() + 500);
  Upsert(many, {});
  ASSERT_THAT(Convert({.index_path = folder.path()}), IsOk());
  EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << "a scan is cheaper than 500 look-ups";
  Upsert({777}, {});
  ASSERT_THAT(Convert({.index_path = folder.path()}), IsOk());
  EXPECT_FALSE(std::filesystem::is_empty(folder.path()));
  Upsert({778}, {});
  Opens("f1");
  ASSERT_THAT(Convert({.index_path = folder.path()}), IsOk());
  EXPECT_EQ(Opens("f1"), 0);
  Upsert({779}, {});
  ASSERT_THAT(Convert({.resolve = "stateless", .index_path = folder.path()}), IsOk());
  EXPECT_EQ(Opens("f1"), 1);
  EXPECT_EQ(Ids().size(), 1497U);
}

TEST_F(DeleteResolverTest, OptionsAreChecked) {
  Upsert({}, {1});
  EXPECT_THAT(Convert({.resolve = "indexed"}),
              HasError(Code::kInvalidArgument, HasSubstr("set index-path")));
  EXPECT_THAT(Convert({.resolve = "magic"}),
              HasError(Code::kInvalidArgument, HasSubstr("'magic' is none of auto")));
}

}  // namespace
}  // namespace icewright
