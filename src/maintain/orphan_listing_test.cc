#include "maintain/orphan_listing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "icewright/actions.h"
#include "maintain/orphan_test_table.h"
#include "manifest/manifest_writer.h"

namespace icewright {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Paths = OrphanTestTable::Paths;

struct OldTable : OrphanTestTable {
  explicit OldTable(HistoryTestOptions options = {}) : OrphanTestTable(std::move(options)) {
    Append({"a"});
    Age();
  }
};

// ---- A list of files instead of a listing

const Location kList("memory:/lists/files.tsv");

Status CleanWithList(OrphanTestTable& table, const std::string& text, bool dry_run = true) {
  EXPECT_THAT(WriteFile(table.io(), kList, text, CreateMode::kAtomicReplace), IsOk());
  return table.Clean({.compare_to_file_list = kList.text(), .dry_run = dry_run});
}

Paths ItemNames(const OrphanTestTable& table) {
  Paths names;
  for (const TaskItem& item : table.report.items) {
    names.insert(item.name.substr(OrphanTestTable::kFolder.size()));
  }
  return names;
}

TEST(OrphanFileListTest, OnlyListedFilesBelowTheLocationThatAreOldEnoughGo) {
  OldTable table;
  table.Plant("data/listed");
  table.Plant("data/not-listed");
  const std::string at = "memory:/w/db/t/";
  ASSERT_THAT(CleanWithList(table,
                            at + "data/listed\t2020-01-01T00:00:00Z\t10\n" +          //
                                at + "data/a\t2020-01-01 00:00:00\n" +                // named
                                at + "data/young\t2100-01-01T00:00:00+01:00\n" +      //
                                at + "data/_hidden\t1577836800000\n" +                //
                                at + "data//gone\t1577836800000\t5\r\n\n" +           //
                                "memory:/w/db/t2/data/x\t1577836800000\n" +           // elsewhere
                                at + "data/listed\t2020-01-01 00:00:00.123456 UTC"),  // again
              IsOk());
  EXPECT_EQ(ItemNames(table), (Paths{"data//gone", "data/listed"}));
  EXPECT_EQ(table.Count("orphan-files-count"), 2);
  EXPECT_EQ(table.Count("listed-files-count"), 7);
  EXPECT_EQ(table.Count("young-files-count"), 1);
  EXPECT_EQ(table.Count("hidden-files-count"), 1);
  EXPECT_EQ(table.Count("referenced-files-count"), 1);
  ASSERT_THAT(
      CleanWithList(table, at + "data/listed\t1577836800000\n" + at + "data/gone\t1577836800000",
                    false),
      IsOk());
  EXPECT_EQ(table.report.outcome, TaskOutcome::kDone) << "a file that is gone already is no error";
  EXPECT_EQ(table.DataFiles(), (Paths{"a", "not-listed"}));
}

TEST(OrphanFileListTest, AHeaderNamesTheColumns) {
  OldTable table;
  ASSERT_THAT(CleanWithList(table,
                            "size\tlast_modified\towner\tfile_path\n"
                            "7\t2020-01-01T00:00:00Z\tme\tmemory:/w/db/t/data/x\n"),
              IsOk());
  EXPECT_EQ(ItemNames(table), (Paths{"data/x"}));
  EXPECT_EQ(table.Count("orphan-bytes"), 7);
}

TEST(OrphanFileListTest, WhatIsNoListIsRefusedWithItsLine) {
  OldTable table;
  const std::string path = "memory:/w/db/t/data/x\t";
  const std::pair<std::string, const char*> cases[] = {
      {path + "yesterday", "line 1: last_modified 'yesterday'"},
      {path, "line 1: last_modified ''"},
      {path + "1577836800", "line 1: last_modified"},        // seconds
      {path + "1577836800000000", "line 1: last_modified"},  // microseconds
      {path + "1577836800000\tmany", "line 1: size 'many'"},
      {path + "1577836800000\t-1", "line 1: size '-1'"},
      {path + "1577836800000\n\t1577836800000", "line 2: the path is missing"},
      {"file_path\tmodified\n", "line 1: there is no column last_modified"},
      {path + "1577836800000\ndata/x\t1577836800000", "'data/x' is not an absolute location"},
  };
  for (const auto& [text, what] : cases) {
    EXPECT_THAT(
        CleanWithList(table, text, false),
        HasError(Code::kInvalidArgument, AllOf(HasSubstr("compare-to-file-list"), HasSubstr(what))))
        << text;
  }
  EXPECT_THAT(CleanWithList(table, std::string(100'000, 'x'), false), HasCode(Code::kCorrupt));
  EXPECT_THAT(table.Clean({.compare_to_file_list = "memory:/no/list"}), HasCode(Code::kNotFound));
}

TEST(OrphanFileListTest, ProgramsGiveTheirOwn) {
  OldTable table;
  table.Plant("data/x");
  table.Plant("data/y");
  const auto files = [&](const FileVisitor& visit) -> Status {
    IW_TRY(visit({table.At("data/a"), 1, TimePoint()}));
    return visit({table.At("data/x"), 1, TimePoint()});
  };
  auto report = Actions::ForTable(table.Load())
                    .DeleteOrphanFiles()
                    .MinAge(Milliseconds(kDayMs))
                    .CompareToFileList(files)
                    .Execute(table.run());
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->counts["deleted-files-count"], 1);
  EXPECT_EQ(table.DataFiles(), (Paths{"a", "y"}));

  EXPECT_THAT(Actions::ForTable(table.Load())
                  .DeleteOrphanFiles()
                  .Option("min-ages", "3d")
                  .Execute(table.run()),
              HasError(Code::kInvalidArgument, HasSubstr("min-age")));
  report = Actions::ForTable(table.Load())
               .DeleteOrphanFiles()
               .Location("memory:/w/db/t/data")
               .PrefixMismatchMode("IGNORE")
               .UsePrefixListing(false)
               .DryRun(true)
               .Execute(table.run());
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->outcome, TaskOutcome::kPlanned);
  EXPECT_EQ(report->counts["orphan-files-count"], 1);
}

TEST(OrphanFileListTest, AnErrorOfTheListingDeletesNothing) {
  OldTable table;
  table.Plant("data/x");
  const auto files = [&](const FileVisitor& visit) -> Status {
    IW_TRY(visit({table.At("data/x"), 1, TimePoint()}));
    return Error(Code::kUnavailable, "the inventory ended too early");
  };
  EXPECT_THAT(table.Clean({}, files), HasError(Code::kUnavailable, HasSubstr("inventory")));
  EXPECT_TRUE(table.DataFiles().contains("x"));
}

// ---- Walking

TEST(OrphanListingTest, AWalkFindsWhatAListingFindsAndLooksIntoNoHiddenFolder) {
  OldTable table({.threads = 2});
  for (const char* file : {"x", "data/d1/d2/d3/x", "data/d1/y", "_tmp/x", "data/.s/t/x"}) {
    table.Plant(file);
  }
  ASSERT_THAT(table.Clean({.dry_run = true}), IsOk());
  const Paths by_listing = ItemNames(table);
  EXPECT_EQ(table.Count("hidden-files-count"), 2);
  ASSERT_THAT(table.Clean({.use_prefix_listing = false, .dry_run = true}), IsOk());
  EXPECT_EQ(ItemNames(table), by_listing);
  EXPECT_EQ(by_listing, (Paths{"x", "data/d1/d2/d3/x", "data/d1/y"}));
  EXPECT_EQ(table.Count("hidden-files-count"), 0) << "never listed";
}

// ---- What a streaming sink has staged

/// A manifest as Flink's sink stages it, which names these data files.
void Stage(OrphanTestTable& table, const Location& manifest,
           const std::vector<std::string>& names) {
  const Table loaded = table.Load();
  const TableMetadata& metadata = loaded.metadata();
  auto writer = ManifestWriter::Create(table.run(), table.io(), manifest, metadata.schema(),
                                       metadata.default_spec(), {.snapshot_id = SnapshotId{0}});
  ASSERT_THAT(writer, IsOk());
  for (const std::string& name : names) ASSERT_THAT(writer->AddAdded(table.Data(name)), IsOk());
  ASSERT_THAT(writer->Close(), IsOk());
}

constexpr const char* kStaged =
    "metadata/"
    "1f3c6a5be0e94e8c8f6f1d2c3b4a5960-cbc357ccb763df2852fee8c4fc7d55f2-00000-0-7-00001.avro";

TEST(OrphanStagedTest, AStagedManifestKeepsItsFilesForTwiceTheAge) {
  OldTable table;
  table.Plant("data/staged", 9 * kDayMs);
  table.Plant("data/x", 9 * kDayMs);
  Stage(table, table.At(kStaged), {"staged", "never-written"});
  table.clock().Advance(Milliseconds(6 * kDayMs));
  ASSERT_THAT(table.Clean(), IsOk());
  EXPECT_EQ(table.DataFiles(), (Paths{"a", "staged"}));
  EXPECT_TRUE(table.All().contains(kStaged)) << "a restored sink reads it";
  table.clock().Advance(Milliseconds(1));
  ASSERT_THAT(table.Clean(), IsOk());
  EXPECT_EQ(table.DataFiles(), (Paths{"a"}));
  EXPECT_FALSE(table.All().contains(kStaged));
}

TEST(OrphanStagedTest, TheTableMaySayWhereSinksStage) {
  OldTable table({.properties = {{"flink.manifests.location", "memory:/staging/"}}});
  table.Plant("data/staged");
  Stage(table, Location("memory:/staging/job-op-00000-0-7-00001.avro"), {"staged"});
  Stage(table, table.At(kStaged), {"a"});
  ASSERT_THAT(table.Clean(), IsOk());
  EXPECT_EQ(table.DataFiles(), (Paths{"a", "staged"}));
}

TEST(OrphanStagedTest, ManifestsOfCommitsThatDidNotLandKeepNothing) {
  OldTable table;
  table.Plant("data/x");
  Stage(table, table.At("metadata/6f1d2c3b-4a59-4c0e-9f7e-0d1c2b3a4f5e-m12.avro"), {"x"});
  table.clock().Advance(Milliseconds(4 * kDayMs));
  ASSERT_THAT(table.Clean(), IsOk());
  EXPECT_EQ(table.DataFiles(), (Paths{"a"}));
}

TEST(OrphanStagedTest, AnAvroFileThatIsNoManifestIsAnOrdinaryFile) {
  OldTable table;
  table.Plant("data/x");
  table.Plant("metadata/other.avro", 4 * kDayMs);
  ASSERT_THAT(table.Clean(), IsOk());
  EXPECT_FALSE(table.All().contains("metadata/other.avro"));
  EXPECT_EQ(table.DataFiles(), (Paths{"a"}));
}

TEST(OrphanStagedTest, WhatIsStagedDuringTheRunCounts) {
  OldTable table;
  table.Plant("data/late");
  table.Plant("data/x");
  table.io().OnCall([&](int, const IoEvent& event) -> Status {
    if (event.call != IoCall::kDelete) return {};
    return {};
  });
  int listings = 0;
  table.io().OnCall([&](int, const IoEvent& event) -> Status {
    // 1: the table's files. 2: what is staged. 3: what is staged by now.
    if (event.call == IoCall::kList && ++listings == 3) {
      table.io().OnCall({});
      Stage(table, table.At(kStaged), {"late"});
    }
    return {};
  });
  ASSERT_THAT(table.Clean(), IsOk());
  EXPECT_EQ(table.DataFiles(), (Paths{"a", "late"}));
  EXPECT_THAT(table.report.notes, Contains(HasSubstr("1 file(s) stay")));
}

// ---- Explanations

TEST(OrphanExplainTest, EachCandidateHasItsReason) {
  OldTable table;
  const std::pair<const char*, const char*> cases[] = {
      {"data/x.parquet", "no snapshot, branch or tag reaches it"},
      {"metadata/00007-x.metadata.json", "neither the current one nor in the metadata log"},
      {"metadata/snap-1-2-x.avro", "a manifest list that no snapshot has"},
      {"metadata/x-m3.avro", "a manifest that no snapshot has"},
      {"metadata/x.stats", "a statistics file that the metadata does not name"},
      {"metadata/v9.metadata.json.17-1.tmp", "a temporary file"},
  };
  for (const auto& [file, reason] : cases) table.Plant(file);
  ASSERT_THAT(table.Clean({.explain = true, .dry_run = true}), IsOk());
  EXPECT_THAT(table.report.items, SizeIs(std::size(cases)));
  for (const auto& [file, reason] : cases) {
    const auto item = std::ranges::find(table.report.items, table.At(file).text(), &TaskItem::name);
    ASSERT_NE(item, table.report.items.end()) << file;
    EXPECT_THAT(item->reason,
                AllOf(HasSubstr(reason), HasSubstr("10 d 0 h ago"), HasSubstr("min-age 3 d 0 h")));
  }
}

}  // namespace
}  // namespace icewright
