#include "commit/manifest_swap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "commit/commit_test_table.h"
#include "commit/snapshot_update.h"
#include "manifest/manifest_writer.h"

namespace icewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

ManifestFile Manifest(const std::string& path, int live, int added = 0,
                      ManifestContent content = ManifestContent::kData) {
  ManifestFile manifest;
  manifest.manifest_path = Location(path);
  manifest.content = content;
  manifest.added_files_count = added;
  manifest.existing_files_count = live - added;
  manifest.deleted_files_count = 0;
  manifest.added_rows_count = added * 10;
  manifest.existing_rows_count = (live - added) * 10;
  return manifest;
}

std::vector<std::string> Paths(const std::vector<ManifestFile>& manifests) {
  std::vector<std::string> paths;
  for (const ManifestFile& manifest : manifests) paths.push_back(manifest.manifest_path.text());
  return paths;
}

TEST(ManifestSwapTest, CheckRefusesWhatIsNoSwap) {
  const ManifestSwap good{.replaced = {Manifest("a", 2, 2), Manifest("b", 1)},
                          .added = {Manifest("c", 3)}};
  EXPECT_THAT(CheckSwap(good), IsOk());

  ManifestSwap swap = good;
  swap.replaced.clear();
  EXPECT_THAT(CheckSwap(swap), HasCode(Code::kInvalidArgument));

  swap = good;
  swap.added[0] = Manifest("c", 3, 1);
  EXPECT_THAT(CheckSwap(swap).error().message(), HasSubstr("only existing files"));

  swap = good;
  swap.added[0].deleted_files_count = 1;
  EXPECT_THAT(CheckSwap(swap).error().message(), HasSubstr("only existing files"));

  swap = good;
  swap.added[0] = Manifest("c", 2);
  EXPECT_EQ(CheckSwap(swap).error().message(),
            "the replaced manifests have 3 live files, the new ones 2");

  swap = good;
  swap.added[0].existing_rows_count = 31;
  EXPECT_EQ(CheckSwap(swap).error().message(),
            "the replaced manifests have 30 live rows, the new ones 31");

  swap = good;
  swap.added[0].content = ManifestContent::kDeletes;
  EXPECT_THAT(CheckSwap(swap), HasCode(Code::kInvalidArgument)) << "counts hold per content";

  swap = good;
  swap.added[0].first_row_id = 7;
  EXPECT_THAT(CheckSwap(swap).error().message(), HasSubstr("first row id"));

  swap = good;  // version 1 does not always tell
  swap.replaced[0].existing_files_count.reset();
  swap.replaced[0].existing_rows_count.reset();
  EXPECT_THAT(CheckSwap(swap), IsOk());
}

TEST(ManifestSwapTest, NewOnesComeFirstAndDeletesLast) {
  const auto deletes = ManifestContent::kDeletes;
  const ManifestSwap swap{
      .replaced = {Manifest("a", 1), Manifest("c", 1), Manifest("d", 1, 0, deletes)},
      .added = {Manifest("y", 1, 0, deletes), Manifest("x", 2)}};
  const auto swapped =
      SwapManifests(swap, SnapshotId{9}, 2,
                    {Manifest("new", 1, 1), Manifest("a", 1), Manifest("b", 1), Manifest("c", 1),
                     Manifest("d", 1, 0, deletes), Manifest("e", 1, 0, deletes)});
  ASSERT_THAT(swapped, IsOk());
  EXPECT_THAT(Paths(*swapped), ElementsAre("x", "new", "b", "y", "e"));
  EXPECT_EQ((*swapped)[0].added_snapshot_id, SnapshotId{9});
  EXPECT_TRUE((*swapped)[0].sequence_number_pending);
  EXPECT_FALSE((*swapped)[1].sequence_number_pending);
}

TEST(ManifestSwapTest, WhatIsGoneOrChangedIsAConflict) {
  const ManifestSwap swap{.replaced = {Manifest("a", 1), Manifest("b", 1)},
                          .added = {Manifest("x", 2)}};
  const auto gone = SwapManifests(swap, SnapshotId{9}, 2, {Manifest("a", 1)});
  EXPECT_THAT(gone, HasCode(Code::kConflict));
  EXPECT_THAT(gone.error().message(), HasSubstr("1 of 2 manifests"));

  ManifestFile numbered = Manifest("b", 1);
  numbered.first_row_id = 100;
  EXPECT_THAT(SwapManifests(swap, SnapshotId{9}, 2, {Manifest("a", 1), numbered}),
              HasCode(Code::kConflict))
      << "its entries have row ids by now";
  EXPECT_THAT(SwapManifests(swap, SnapshotId{9}, 3, swap.replaced), HasCode(Code::kConflict));
}

// ---- Through CommitSnapshot

/// Two appends, and their entries in one manifest that is not committed yet.
struct Swapping {
  explicit Swapping(int version = 2) : table({.format_version = version}) {
    table.MustCommit({.added_data_files = {{table.Data("f1")}, {table.Data("f2")}}});
    table.Append("f3");
    swap.replaced = table.Manifests(table.Head());
    swap.format_version = version;
    swap.entries_processed = 3;
    const Table loaded = table.Load();
    auto writer = ManifestWriter::Create(
        table.run(), table.io(), Location("memory:/w/new.avro"), loaded.metadata().schema(),
        loaded.metadata().default_spec(), {.format_version = version});
    EXPECT_THAT(writer, IsOk());
    for (const ManifestFile& manifest : swap.replaced) {
      for (const ManifestEntry& entry : table.Entries(manifest)) {
        EXPECT_THAT(writer->AddExisting(entry), IsOk());
      }
    }
    auto manifest = writer->Close();
    EXPECT_THAT(manifest, IsOk());
    swap.added = {*manifest};
    update.manifests = swap;
  }

  CommitTestTable table;
  ManifestSwap swap;
  SnapshotUpdate update{.operation = "replace"};
};

TEST(ManifestSwapTest, CommitKeepsFilesNumbersAndTotals) {
  for (const int version : {1, 2, 3}) {
    SCOPED_TRACE(version);
    Swapping swapping(version);
    CommitTestTable& table = swapping.table;
    const auto live = table.Live();
    const Snapshot before = table.Head();
    table.MustCommit(swapping.update);
    const Snapshot head = table.Head();
    EXPECT_EQ(head.operation, "replace");
    EXPECT_EQ(table.Live(), live);
    EXPECT_THAT(table.Picture(head), ElementsAre("=f3 =f1 =f2"));
    EXPECT_EQ(table.Key(head, "manifests-created"), "1");
    EXPECT_EQ(table.Key(head, "manifests-kept"), "0");
    EXPECT_EQ(table.Key(head, "manifests-replaced"), "2");
    EXPECT_EQ(table.Key(head, "entries-processed"), "3");
    EXPECT_EQ(table.Key(head, "changed-partition-count"), "0");
    for (const char* total : {"total-data-files", "total-records", "total-files-size"}) {
      EXPECT_EQ(table.Key(head, total), table.Key(before, total)) << total;
    }
    const ManifestFile manifest = table.Manifests(head).at(0);
    EXPECT_EQ(manifest.added_snapshot_id, head.id);
    EXPECT_EQ(manifest.sequence_number, head.sequence_number);
    EXPECT_EQ(Raw(manifest.min_sequence_number), version == 1 ? 0 : 1);
    if (version == 3) {
      const auto entries = table.Entries(manifest);
      EXPECT_EQ(entries.at(0).file.first_row_id, 20);
      EXPECT_EQ(entries.at(1).file.first_row_id, 0);
      EXPECT_EQ(entries.at(2).file.first_row_id, 10);
    }
    EXPECT_THAT(table.Unsound(), IsEmpty());
  }
}

TEST(ManifestSwapTest, AnAppendMeanwhileIsKept) {
  Swapping swapping;
  CommitTestTable& table = swapping.table;
  table.before_swap = [&]() -> Status {
    CommitReport report;
    Table other = table.Load();
    return CommitSnapshot(table.run(), other, {.added_data_files = {{table.Data("g")}}}, report);
  };
  table.MustCommit(swapping.update);
  EXPECT_EQ(table.report.attempts, 2);
  EXPECT_THAT(table.Picture(table.Head()), ElementsAre("=f3 =f1 =f2", "+g"));
  EXPECT_THAT(table.Live(),
              UnorderedElementsAre(Pair("f1", 1), Pair("f2", 1), Pair("f3", 2), Pair("g", 3)));
  EXPECT_THAT(table.Unsound(), IsEmpty());
}

TEST(ManifestSwapTest, ADeleteMeanwhileIsAConflict) {
  Swapping swapping;
  CommitTestTable& table = swapping.table;
  table.before_swap = [&]() -> Status {
    CommitReport report;
    Table other = table.Load();
    return CommitSnapshot(table.run(), other,
                          {.operation = "delete", .removed_data_files = {table.Data("f2")}},
                          report);
  };
  EXPECT_THAT(table.Commit(swapping.update), HasCode(Code::kConflict));
  EXPECT_THAT(table.report.leftovers, IsEmpty());
  EXPECT_THAT(table.Live(), UnorderedElementsAre(Pair("f1", 1), Pair("f3", 2)));
  EXPECT_THAT(table.Unsound(), UnorderedElementsAre("memory:/w/new.avro"))
      << "the new manifest is the caller's";
}

TEST(ManifestSwapTest, FilesBesideItAreRefused) {
  Swapping swapping;
  SnapshotUpdate update = swapping.update;
  update.operation = "append";
  EXPECT_THAT(swapping.table.Commit(update), HasCode(Code::kInvalidArgument));
  update = swapping.update;
  update.removed_data_files = {swapping.table.Data("f1")};
  EXPECT_THAT(swapping.table.Commit(update), HasCode(Code::kInvalidArgument));
}

}  // namespace
}  // namespace icewright
