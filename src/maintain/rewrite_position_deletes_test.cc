#include "maintain/rewrite_position_deletes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "maintain/position_delete_test_table.h"
#include "maintain/rewrite_position_deletes_plan.h"

namespace icewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

Properties Avro(const std::string& granularity = "partition") {
  return {{"write.delete.format.default", "avro"}, {"write.delete.granularity", granularity}};
}

// ---- The plan

struct PlanCase {
  const char* name;
  std::vector<PositionDeleteFacts> files;
  std::string groups;
  PositionDeleteSettings settings = {};
};

PositionDeleteFacts Small(const std::string& references = "") {
  PositionDeleteFacts facts{.size_bytes = 10};
  if (!references.empty()) facts.references = Location(references);
  return facts;
}
PositionDeleteFacts Sized(std::int64_t size) { return {.size_bytes = size}; }

class PositionDeletePlanTest : public ::testing::TestWithParam<PlanCase> {};

TEST_P(PositionDeletePlanTest, TakesExactly) {
  PositionDeleteSettings settings = GetParam().settings;
  settings.target = 100;
  settings.min = 75;
  settings.max = 180;
  settings.min_input_files = 3;
  if (settings.max_group_bytes == 0) settings.max_group_bytes = 1000;
  std::string picture;
  for (const auto& group : PlanPositionDeletes(GetParam().files, settings)) {
    if (!picture.empty()) picture += ';';
    for (const std::size_t i : group) picture += std::to_string(i);
  }
  EXPECT_EQ(picture, GetParam().groups);
}

INSTANTIATE_TEST_SUITE_P(
    Plans, PositionDeletePlanTest,
    ::testing::Values(PlanCase{"None", {}, ""}, PlanCase{"TooFew", {Small(), Small()}, ""},
                      PlanCase{"Enough", {Small(), Small(), Small()}, "012"},
                      PlanCase{"EnoughBytes", {Sized(70), Sized(70)}, ""},
                      PlanCase{"EnoughBytesAndAGain", {Sized(70), Sized(30)}, "01"},
                      PlanCase{"GoodOnesStay", {Small(), Sized(100), Small(), Small()}, "023"},
                      PlanCase{"TooBig", {Sized(181)}, "0"},
                      PlanCase{"NoGain", {Sized(70), Sized(70), Sized(70)}, ""},
                      PlanCase{"Detached", {{.size_bytes = 100, .attached = false}, Small()}, "01"},
                      PlanCase{"All", {Sized(100)}, "0", {.rewrite_all = true}},
                      PlanCase{"GroupsAreBounded",
                               {Small(), Small(), Small(), Small(), Small(), Small()},
                               "012;345",
                               {.max_group_bytes = 30}},
                      PlanCase{"FilesOfOneEachGainNothing",
                               {Small("a"), Small("b"), Small("c")},
                               "",
                               {.file_per_data_file = true}},
                      PlanCase{"TwoOfOneDataFile",
                               {Small("a"), Small("b"), Small("a")},
                               "012",
                               {.file_per_data_file = true}},
                      PlanCase{"AWideOneIsSplit",
                               {Small("a"), Small("b"), Small()},
                               "012",
                               {.file_per_data_file = true}},
                      PlanCase{"Vectors", {Sized(100), Small()}, "01", {.as_vectors = true}}),
    [](const auto& test) { return test.param.name; });

TEST(PositionDeleteOptionsTest, NamesWhatIsWrong) {
  TableMetadata table = MakeTable(MakeSchema({{1, "id", TypeId::kLong}}), {MakeSpec(0, {})});
  const auto message = [&](const RewritePositionDeletesOptions& options) {
    const auto settings = ResolvePositionDeleteOptions(options, table);
    return settings ? std::string("fine") : settings.error().message();
  };
  EXPECT_EQ(message({}), "fine");
  EXPECT_EQ(message({.min_input_files = 0}), "min-input-files is set to 0 but must be > 0");
  EXPECT_EQ(message({.target_file_size_bytes = 0}),
            "target-file-size-bytes is set to 0 but must be > 0");
  EXPECT_EQ(message({.target_file_size_bytes = 100, .min_file_size_bytes = 100}),
            "min-file-size-bytes is set to 100 but must be >= 0 and < target-file-size-bytes "
            "(100)");
  EXPECT_EQ(message({.target_file_size_bytes = 100, .max_file_size_bytes = 100}),
            "max-file-size-bytes is set to 100 but must be > target-file-size-bytes (100)");
  EXPECT_EQ(message({.max_file_group_size_bytes = 0}),
            "max-file-group-size-bytes is set to 0 but must be > 0");
  table.properties = {{"write.delete.granularity", "row"}};
  EXPECT_EQ(message({}), "write.delete.granularity 'row' is neither partition nor file");
}

// ---- The task

TEST(RewritePositionDeletesTest, MergesAPartitionIntoOneSortedFile) {
  PositionDeleteTestTable table({.partitioned = true, .properties = Avro()});
  table.MustCommit(
      {.added_data_files = {
           {table.Data("cat=a/1")}, {table.Data("cat=a/2")}, {table.Data("cat=b/3")}}});
  table.AddDeletes("cat=a/d1", {{"cat=a/1", 3}, {"cat=a/2", 5}});
  table.AddDeletes("cat=a/d2", {{"cat=a/1", 1}}, true);
  table.AddDeletes("cat=b/d3", {{"cat=b/3", 0}});
  table.AddDeletes("cat=a/d4", {{"cat=a/1", 3}, {"cat=a/gone", 9}});
  const auto before = table.NaiveDeleted();
  ASSERT_THAT(table.Merge({.min_input_files = 3}), IsOk());
  EXPECT_EQ(table.task.outcome, TaskOutcome::kDone);
  EXPECT_EQ(table.NaiveDeleted(), before);
  const auto entries = table.DeleteEntries();
  ASSERT_THAT(entries, SizeIs(2)) << "partition b has one file: not enough";
  const ManifestEntry& merged = entries[0].file.partition == entries[1].file.partition ? entries[0]
                                : entries[0].file.record_count == 3                    ? entries[0]
                                                                                       : entries[1];
  EXPECT_THAT(table.ReadRows(merged.file),
              ElementsAre(Pair("cat=a/1", 1), Pair("cat=a/1", 3), Pair("cat=a/2", 5)));
  EXPECT_EQ(merged.sequence_number, SequenceNumber(5)) << "that of the newest input";
  EXPECT_FALSE(merged.file.sort_order_id.has_value());
  EXPECT_THAT(merged.file.file_path.text(), HasSubstr("-deletes.avro"));
  EXPECT_EQ(table.Count("rewritten-delete-files-count"), 3);
  EXPECT_EQ(table.Count("added-delete-files-count"), 1);
  EXPECT_EQ(table.Count("positions-read"), 5);
  EXPECT_EQ(table.Count("positions-written"), 3);
  EXPECT_EQ(table.Count("positions-dropped"), 1);
  EXPECT_EQ(table.Head().operation, "replace");
  EXPECT_EQ(table.Key(table.Head(), "removed-position-delete-files"), "3");
  EXPECT_EQ(table.Key(table.Head(), "added-position-delete-files"), "1");
  EXPECT_THAT(table.Unsound(), IsEmpty());
  ASSERT_THAT(table.Merge({.min_input_files = 3}), IsOk());
  EXPECT_EQ(table.task.outcome, TaskOutcome::kNothingToDo);
}

TEST(RewritePositionDeletesTest, GranularityFileMakesOneFileADataFile) {
  PositionDeleteTestTable table({.properties = Avro("file")});
  table.MustCommit({.added_data_files = {{table.Data("1")}, {table.Data("2")}}});
  table.AddDeletes("d1", {{"1", 3}, {"2", 5}});
  table.AddDeletes("d2", {{"1", 1}}, true);
  const auto before = table.NaiveDeleted();
  ASSERT_THAT(table.Merge({.min_input_files = 2}), IsOk());
  EXPECT_EQ(table.NaiveDeleted(), before);
  std::set<std::string> referenced;
  for (const ManifestEntry& entry : table.DeleteEntries()) {
    referenced.insert(entry.file.referenced_data_file.value().text());
  }
  EXPECT_THAT(referenced, UnorderedElementsAre("1", "2"));
  ASSERT_THAT(table.Merge({.min_input_files = 2}), IsOk());
  EXPECT_EQ(table.task.outcome, TaskOutcome::kNothingToDo);
}

TEST(RewritePositionDeletesTest, OnlyMissingFilesLeaveNothing) {
  PositionDeleteTestTable table({.properties = Avro()});
  table.Append("1");
  table.AddDeletes("d1", {{"gone", 3}, {"gone2", 5}});
  ASSERT_THAT(table.Merge(), IsOk());
  EXPECT_EQ(table.task.outcome, TaskOutcome::kNothingToDo) << "from outside it may apply";
  ASSERT_THAT(table.Merge({.rewrite_all = true}), IsOk());
  EXPECT_THAT(table.DeleteEntries(), IsEmpty());
  EXPECT_EQ(table.Count("positions-dropped"), 2);
}

// Raising a delete file's number must not make it reach a data file that was too young for it.
TEST(RewritePositionDeletesTest, ADeleteOlderThanItsDataFileStaysWithoutEffect) {
  PositionDeleteTestTable table({.properties = Avro()});
  table.Append("0");
  table.AddDeletes("d1", {{"1", 7}, {"0", 1}});  // 2
  table.Append("1");                             // 3: the path comes later
  table.AddDeletes("d2", {{"1", 4}});            // 4
  const auto before = table.NaiveDeleted();
  EXPECT_THAT(before.at("1"), ElementsAre(4));
  ASSERT_THAT(table.Merge({.min_input_files = 2}), IsOk());
  EXPECT_THAT(table.DeleteEntries(), SizeIs(1));
  EXPECT_EQ(table.NaiveDeleted(), before);
}

TEST(RewritePositionDeletesTest, AfterAnUpgradeTheyBecomeVectors) {
  PositionDeleteTestTable table({.partitioned = true, .properties = Avro()});
  table.MustCommit(
      {.added_data_files = {
           {table.Data("cat=a/1")}, {table.Data("cat=a/2")}, {table.Data("cat=a/3")}}});
  table.AddDeletes("cat=a/d1", {{"cat=a/1", 3}, {"cat=a/2", 5}, {"cat=a/3", 8}});
  table.AddDeletes("cat=a/d2", {{"cat=a/1", 1}}, true);
  ASSERT_THAT(table.Update({UpgradeFormatVersion{3}}), IsOk());
  // Another engine folded what it knew into a vector for file 3.
  DataFile dv = MakeDv("v", table.Data("cat=a/3"));
  PositionBitmap bitmap;
  bitmap.Add(8);
  bitmap.Add(9);
  const Bytes blob = bitmap.SerializeDeletionVector();
  dv.file_path = PositionDeleteTestTable::PathOf("v");
  dv.content_offset = 0;
  dv.content_size_in_bytes = std::ssize(blob);
  dv.file_size_in_bytes = std::ssize(blob);
  dv.record_count = 2;
  ASSERT_THAT(WriteFile(table.io(), dv.file_path, blob, CreateMode::kNew), IsOk());
  table.MustCommit({.operation = "delete", .added_delete_files = {{dv}}});
  const auto before = table.NaiveDeleted();
  ASSERT_THAT(table.Merge(), IsOk());
  EXPECT_EQ(table.NaiveDeleted(), before);
  std::set<std::string> puffins;
  const auto entries = table.DeleteEntries();
  ASSERT_THAT(entries, SizeIs(3));
  for (const ManifestEntry& entry : entries) {
    EXPECT_TRUE(entry.file.is_deletion_vector());
    puffins.insert(entry.file.file_path.text());
  }
  EXPECT_THAT(puffins, SizeIs(2)) << "one new Puffin file, and the one that was there";
  EXPECT_EQ(table.Key(table.Head(), "added-dvs"), "2");
  EXPECT_EQ(table.Key(table.Head(), "removed-position-delete-files"), "2");
  ASSERT_THAT(table.Merge(), IsOk());
  EXPECT_EQ(table.task.outcome, TaskOutcome::kNothingToDo);
  EXPECT_THAT(table.Unsound(), IsEmpty());
}

TEST(RewritePositionDeletesTest, AFilterChoosesPartitions) {
  PositionDeleteTestTable table({.partitioned = true, .properties = Avro()});
  table.MustCommit({.added_data_files = {{table.Data("cat=a/1")}, {table.Data("cat=b/2")}}});
  table.AddDeletes("cat=a/d1", {{"cat=a/1", 3}});
  table.AddDeletes("cat=b/d2", {{"cat=b/2", 3}});
  ASSERT_THAT(table.Merge({.rewrite_all = true, .filter = "cat = 'b'", .dry_run = true}), IsOk());
  EXPECT_EQ(table.task.outcome, TaskOutcome::kPlanned);
  ASSERT_THAT(table.task.items, SizeIs(1));
  EXPECT_EQ(table.task.items[0].name, "partition p0=b");
  EXPECT_EQ(table.Count("planned-delete-files-count"), 1);
  ASSERT_THAT(table.Merge({.rewrite_all = true, .filter = "cat = 'b'"}), IsOk());
  EXPECT_EQ(table.Count("rewritten-delete-files-count"), 1);
  EXPECT_THAT(table.Merge({.filter = "nope ="}), HasCode(Code::kInvalidArgument));
  EXPECT_THAT(table.Merge({.branch = "no"}), HasCode(Code::kNotFound));
}

TEST(RewritePositionDeletesRaceTest, AnAppendAndMoreDeletesAreNoConflict) {
  PositionDeleteTestTable table({.properties = Avro()});
  table.Append("1");
  table.AddDeletes("d1", {{"1", 3}});
  table.AddDeletes("d2", {{"1", 4}});
  const DataFile later = table.WriteDeletes("d3", {{"1", 5}});
  table.before_swap = [&]() -> Status {
    CommitReport report;
    Table other = table.Load();
    return CommitSnapshot(table.run(), other,
                          {.operation = "overwrite",
                           .added_data_files = {{table.Data("2")}},
                           .added_delete_files = {{later}}},
                          report);
  };
  ASSERT_THAT(table.Merge({.min_input_files = 2}), IsOk());
  EXPECT_THAT(table.task.notes, IsEmpty());
  EXPECT_THAT(table.NaiveDeleted().at("1"), ElementsAre(3, 4, 5));
}

TEST(RewritePositionDeletesRaceTest, AVectorAddedMeanwhileMakesItPlanAgain) {
  PositionDeleteTestTable table({.properties = Avro()});
  table.MustCommit({.added_data_files = {{table.Data("1")}, {table.Data("2")}}});
  table.AddDeletes("d1", {{"1", 3}, {"2", 6}});
  ASSERT_THAT(table.Update({UpgradeFormatVersion{3}}), IsOk());
  DataFile dv = MakeDv("v", table.Data("1"));
  PositionBitmap bitmap;
  bitmap.Add(3);
  bitmap.Add(4);
  const Bytes blob = bitmap.SerializeDeletionVector();
  dv.file_path = PositionDeleteTestTable::PathOf("v");
  dv.content_offset = 0;
  dv.content_size_in_bytes = dv.file_size_in_bytes = std::ssize(blob);
  dv.record_count = 2;
  ASSERT_THAT(WriteFile(table.io(), dv.file_path, blob, CreateMode::kNew), IsOk());
  table.before_swap = [&]() -> Status {
    CommitReport report;
    Table other = table.Load();
    return CommitSnapshot(table.run(), other, {.operation = "delete", .added_delete_files = {{dv}}},
                          report);
  };
  ASSERT_THAT(table.Merge(), IsOk());
  ASSERT_THAT(table.task.notes, SizeIs(1));
  EXPECT_THAT(table.NaiveDeleted().at("1"), ElementsAre(3, 4));
  EXPECT_THAT(table.NaiveDeleted().at("2"), ElementsAre(6));
  EXPECT_THAT(table.UnnamedDataFiles(), IsEmpty()) << "files of the lost plan are gone";
}

TEST(RewritePositionDeletesRaceTest, AfterAnUnknownOutcomeNothingIsDeleted) {
  PositionDeleteTestTable table({.properties = Avro()});
  table.Append("1");
  table.AddDeletes("d1", {{"1", 3}});
  table.AddDeletes("d2", {{"1", 4}});
  Table silent = table.LoadSilent();
  EXPECT_THAT(table.MergeLoaded(silent, {.min_input_files = 2}), HasCode(Code::kCommitUnknown));
  EXPECT_THAT(table.io().deleted(), IsEmpty());
  const std::vector<Location> created = table.io().created();
  EXPECT_THAT(table.task.leftovers, ::testing::Contains(::testing::Property(
                                        &Location::text, ::testing::EndsWith("-deletes.avro"))));
  EXPECT_THAT(created, ::testing::IsSupersetOf(table.task.leftovers));
  EXPECT_THAT(table.NaiveDeleted().at("1"), ElementsAre(3, 4));
}

TEST(RewritePositionDeletesRaceTest, ADataFileRemovedMeanwhileMakesItPlanAgain) {
  PositionDeleteTestTable table({.properties = Avro("file")});
  table.MustCommit({.added_data_files = {{table.Data("1")}, {table.Data("2")}}});
  table.AddDeletes("d1", {{"1", 3}, {"2", 6}});
  table.AddDeletes("d2", {{"1", 4}});
  table.before_swap = [&]() -> Status {
    CommitReport report;
    Table other = table.Load();
    return CommitSnapshot(table.run(), other,
                          {.operation = "delete", .removed_data_files = {table.Data("2")}}, report);
  };
  ASSERT_THAT(table.Merge({.min_input_files = 2}), IsOk());
  ASSERT_THAT(table.task.notes, SizeIs(1));
  EXPECT_THAT(table.DeleteEntries(), SizeIs(1));
  EXPECT_THAT(table.NaiveDeleted(), ElementsAre(Pair("1", ElementsAre(3, 4))));
  EXPECT_THAT(table.UnnamedDataFiles(), IsEmpty());
}

// ---- Random histories

void RunSeeds(unsigned first, unsigned seeds) {
  int rewritten = 0;
  for (unsigned seed = first; seed < first + seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 rng(seed);
    const auto below = [&](std::size_t n) { return static_cast<int>(rng() % n); };
    const bool partitioned = below(2) == 0;
    PositionDeleteTestTable table({.partitioned = partitioned,
                                   .properties = Avro(below(2) == 0 ? "file" : "partition"),
                                   .run = {.threads = 1 + below(2)}});
    int names = 0;
    const auto name = [&](char letter) {
      return std::string(partitioned ? "cat=" : "any-") + letter + "/" + std::to_string(++names);
    };
    const int steps = 4 + below(14);
    for (int step = 0; step < steps; ++step) {
      std::vector<DataFile> data;
      for (const auto& [key, entry] : table.Naive()) {
        if (entry.file.content == FileContent::kData) data.push_back(entry.file);
      }
      const auto any = [&] { return data[static_cast<std::size_t>(below(data.size()))]; };
      if (data.empty() || below(3) == 0) {
        table.MustCommit({.added_data_files = {{table.Data(name('a'))}, {table.Data(name('b'))}}});
      } else if (below(4) == 0) {
        table.MustCommit({.operation = "delete", .removed_data_files = {any()}});
      } else {
        PositionDeleteTestTable::Rows rows;
        const bool scoped = below(2) == 0;
        const DataFile target = any();
        for (int i = 1 + below(6); i > 0; --i) {
          const DataFile other = scoped ? target : any();
          if (!StructValueEqual{}(other.partition, target.partition)) continue;
          rows.emplace_back(below(5) == 0 && !scoped ? "gone" : other.file_path.text(), below(9));
        }
        if (rows.empty()) continue;
        std::ranges::sort(rows);
        table.AddDeletes(name(target.file_path.text()[4]), rows, scoped);
      }
    }
    if (below(2) == 0) {
      ASSERT_THAT(table.Update({UpgradeFormatVersion{3}}), IsOk());
    }
    const auto before = table.NaiveDeleted();
    const RewritePositionDeletesOptions options{.min_input_files = 1 + below(3),
                                                .rewrite_all = below(3) == 0};
    ASSERT_THAT(table.Merge(options), IsOk());
    rewritten += table.task.outcome == TaskOutcome::kDone ? 1 : 0;
    ASSERT_EQ(table.NaiveDeleted(), before);
    ASSERT_THAT(table.Unsound(), IsEmpty());
    ASSERT_THAT(table.UnnamedDataFiles(), IsEmpty());
    ASSERT_THAT(table.Merge({.min_input_files = options.min_input_files}), IsOk());
    EXPECT_EQ(table.task.outcome, TaskOutcome::kNothingToDo) << "a second run";
    ASSERT_EQ(table.NaiveDeleted(), before);
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(rewritten, static_cast<int>(seeds) / 4);
}

TEST(RewritePositionDeletesRandomTest, TheSameRowsAreDeleted) { RunSeeds(1, 40); }
TEST(RewritePositionDeletesRandomSlowTest, TheSameRowsAreDeleted) { RunSeeds(10'000, 3000); }

// ---- Whichever call fails

TEST(RewritePositionDeletesSweepTest, LosesNothingWhicheverCallFails) {
  for (const bool upgrade : {false, true}) {
    for (const bool answer : {upgrade}) {
      for (int step = 0;; ++step) {
        SCOPED_TRACE(step);
        PositionDeleteTestTable table({.properties = Avro("file")});
        table.MustCommit({.added_data_files = {{table.Data("1")}, {table.Data("2")}}});
        table.AddDeletes("d1", {{"1", 3}, {"2", 6}});
        table.AddDeletes("d2", {{"1", 4}});
        if (upgrade) {
          ASSERT_THAT(table.Update({UpgradeFormatVersion{3}}), IsOk());
        }
        const auto before = table.NaiveDeleted();
        Table loaded = table.Load();
        const int start = table.io().calls();
        table.io().FailAt(start + step, Error(Code::kIo, "injected failure"),
                          answer ? FaultFileIO::When::kAfter : FaultFileIO::When::kBefore);
        const Status status = table.MergeLoaded(loaded, {.min_input_files = 2});
        const bool reached = table.io().calls() > start + step;
        table.io().FailAt(-1);
        EXPECT_EQ(table.NaiveDeleted(), before);
        std::set<std::string> told;
        for (const Location& left : table.task.leftovers) told.insert(left.text());
        auto unsound = table.Unsound();
        for (const std::string& file : table.UnnamedDataFiles()) {
          // What the file system kept of a close whose answer was lost is told by the error.
          if (!status && status.error().message().find(file) != std::string::npos) continue;
          unsound.insert(file);
        }
        for (const std::string& file : unsound) {
          EXPECT_EQ(told.count(file), 1U) << "missing, or left behind and not told: " << file;
        }
        if (::testing::Test::HasFailure() || step > 500) return;
        if (!reached) {
          EXPECT_THAT(status, IsOk());
          EXPECT_GT(step, 20);
          break;
        }
      }
    }
  }
}

}  // namespace
}  // namespace icewright
