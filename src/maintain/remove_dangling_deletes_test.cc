#include "maintain/remove_dangling_deletes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>

#include "maintain/manifest_test_table.h"
#include "scan/delete_index.h"

namespace icewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

class DanglingTestTable : public ManifestTestTable {
 public:
  using ManifestTestTable::ManifestTestTable;

  Status Remove(const RemoveDanglingDeletesOptions& options = {}) {
    Table table = Load();
    task = {};
    return RemoveDanglingDeletes(options).Execute(run(), table, task);
  }
  void AddDeletes(const DataFile& file, std::optional<SequenceNumber> number = {}) {
    MustCommit({.operation = "delete", .added_delete_files = {{file, number}}});
  }
  std::set<std::string> Deletes(const std::string& branch = "main") {
    std::set<std::string> names;
    for (const auto& [key, entry] : Naive(branch)) {
      if (entry.file.content != FileContent::kData) names.insert(entry.file.file_path.text());
    }
    return names;
  }
};

TEST(RemoveDanglingDeletesTest, LesserSequenceNumbersGoAndGreaterStay) {
  DanglingTestTable table({.partitioned = true});
  table.Append("cat=a/1");                              // 1
  table.AddDeletes(table.EqualityDeletes("cat=a/e1"));  // 2
  table.AddDeletes(table.PositionDeletes("cat=a/p1"));  // 3
  table.MustCommit({.operation = "overwrite",           // 4
                    .added_data_files = {{table.Data("cat=a/2")}},
                    .removed_data_files = {table.Data("cat=a/1")}});
  table.AddDeletes(table.EqualityDeletes("cat=a/same"), SequenceNumber(4));
  table.AddDeletes(table.PositionDeletes("cat=a/psame"), SequenceNumber(4));
  table.AddDeletes(table.EqualityDeletes("cat=a/e2"));
  const auto data = table.Live();
  ASSERT_THAT(table.Remove(), IsOk());
  EXPECT_EQ(table.task.outcome, TaskOutcome::kDone);
  // An equality delete needs a greater number than its rows, a position delete not.
  EXPECT_THAT(table.Deletes(), UnorderedElementsAre("cat=a/psame", "cat=a/e2"));
  EXPECT_EQ(table.Live().count("cat=a/2"), 1U);
  EXPECT_EQ(table.Head().operation, "replace");
  ASSERT_THAT(table.Remove(), IsOk());
  EXPECT_EQ(table.task.outcome, TaskOutcome::kNothingToDo);
  EXPECT_THAT(table.Unsound(), IsEmpty());
}

TEST(RemoveDanglingDeletesTest, UnpartitionedTablesToo) {
  DanglingTestTable table;
  table.Append("1");
  table.AddDeletes(table.EqualityDeletes("e"));
  table.AddDeletes(table.PositionDeletes("p"));
  ASSERT_THAT(table.Remove(), IsOk());
  EXPECT_EQ(table.task.outcome, TaskOutcome::kNothingToDo);
  EXPECT_EQ(table.task.reason, "every delete applies to a data file");
  table.MustCommit({.operation = "delete", .removed_data_files = {table.Data("1")}});
  ASSERT_THAT(table.Remove({.dry_run = true}), IsOk());
  EXPECT_EQ(table.task.outcome, TaskOutcome::kPlanned);
  // The commit that removed the last data file has dropped the older one of the two.
  EXPECT_EQ(table.Count("planned-delete-files-count"), 1);
  EXPECT_EQ(table.Count("planned-equality-delete-files-count"), 0);
  EXPECT_EQ(table.Deletes().size(), 1U);
  ASSERT_THAT(table.Remove(), IsOk());
  EXPECT_EQ(table.Count("removed-delete-files-count"), 1);
  EXPECT_EQ(table.Count("removed-position-delete-files-count"), 1);
  EXPECT_EQ(table.Key(table.Head(), "removed-delete-files"), "1");
  EXPECT_THAT(table.Deletes(), IsEmpty());
}

// Java looks for data in "the same partition" and drops these although they still delete rows.
TEST(RemoveDanglingDeletesTest, GlobalEqualityDeletesOutliveAChangeOfTheSpec) {
  DanglingTestTable table;
  table.Append("1");
  table.AddDeletes(table.EqualityDeletes("global"));
  ASSERT_THAT(
      table.Update({AddPartitionSpec{MakeSpec(1, {{2, "identity"}})}, SetDefaultSpec{SpecId{1}}}),
      IsOk());
  // The data moves to the new spec with its old number, as a compaction does.
  table.MustCommit(
      {.operation = "replace",
       .added_data_files = {{MakeDataFile("cat=a/1", {.records = 10,
                                                      .spec_id = 1,
                                                      .partition = {Literal(std::string("a"))}}),
                             SequenceNumber(1)}},
       .removed_data_files = {table.Data("1")}});
  ASSERT_THAT(table.Remove(), IsOk());
  EXPECT_EQ(table.task.outcome, TaskOutcome::kNothingToDo);
  EXPECT_THAT(table.Deletes(), ElementsAre("global"));
}

TEST(RemoveDanglingDeletesTest, VectorsOfMissingFilesGoByBlob) {
  DanglingTestTable table({.format_version = 3});
  table.MustCommit({.added_data_files = {{table.Data("1")}, {table.Data("2")}}});
  table.MustCommit({.operation = "delete",
                    .added_delete_files = {{MakeDv("p", table.Data("1"), 4)},
                                           {MakeDv("p", table.Data("gone"), 44)}}});
  ASSERT_THAT(table.Remove(), IsOk());
  EXPECT_EQ(table.Count("removed-dvs-count"), 1);
  EXPECT_EQ(table.Count("removed-bytes"), 40) << "the blob, not the Puffin file";
  EXPECT_EQ(table.Live().count("p@4"), 1U);
  EXPECT_EQ(table.Live().count("p@44"), 0U);
}

TEST(RemoveDanglingDeletesTest, OnTheBranchThatWasAskedFor) {
  DanglingTestTable table;
  const SnapshotId first = table.Append("1");
  ASSERT_THAT(table.Update({SetSnapshotRef{"dev", {.snapshot_id = first}}}), IsOk());
  table.MustCommit({.operation = "delete",
                    .branch = "dev",
                    .added_delete_files = {{table.EqualityDeletes("e")}}});
  table.MustCommit({.operation = "overwrite",
                    .branch = "dev",
                    .added_data_files = {{table.Data("2")}},
                    .removed_data_files = {table.Data("1")}});
  table.AddDeletes(table.EqualityDeletes("main-e"));
  ASSERT_THAT(table.Remove({.branch = "dev"}), IsOk());
  EXPECT_THAT(table.Deletes("dev"), IsEmpty());
  EXPECT_THAT(table.Deletes(), ElementsAre("main-e"));
  EXPECT_THAT(table.Remove({.branch = "no"}), HasCode(Code::kNotFound));
}

TEST(RemoveDanglingDeletesRaceTest, AnotherRemovalMakesItPlanAgain) {
  DanglingTestTable table({.partitioned = true});
  table.Append("cat=b/0");  // old: no commit drops deletes by their number
  table.Append("cat=a/1");
  table.AddDeletes(table.EqualityDeletes("cat=a/e1"));
  table.AddDeletes(table.EqualityDeletes("cat=a/e2"));
  table.MustCommit({.operation = "overwrite",
                    .added_data_files = {{table.Data("cat=a/2")}},
                    .removed_data_files = {table.Data("cat=a/1")}});
  table.before_swap = [&]() -> Status {
    CommitReport report;
    Table other = table.Load();
    return CommitSnapshot(
        table.run(), other,
        {.operation = "replace", .removed_delete_files = {table.EqualityDeletes("cat=a/e1")}},
        report);
  };
  ASSERT_THAT(table.Remove(), IsOk());
  ASSERT_THAT(table.task.notes, SizeIs(1));
  EXPECT_THAT(table.task.notes[0], HasSubstr("planned again"));
  EXPECT_EQ(table.Count("removed-delete-files-count"), 1);
  EXPECT_THAT(table.Deletes(), IsEmpty());
  EXPECT_THAT(table.Unsound(), IsEmpty());
}

// A table rolled back meanwhile has its old files again, and the deletes that apply to them.
TEST(RemoveDanglingDeletesRaceTest, ARollbackMakesItPlanAgain) {
  DanglingTestTable table;
  table.Append("1");
  table.AddDeletes(table.EqualityDeletes("e1"));
  const SnapshotId good = table.Head().id;
  table.MustCommit({.operation = "overwrite",
                    .added_data_files = {{table.Data("2")}},
                    .removed_data_files = {table.Data("1")}});
  table.before_swap = [&] { return table.Update({SetSnapshotRef{"main", {.snapshot_id = good}}}); };
  ASSERT_THAT(table.Remove(), IsOk());
  EXPECT_EQ(table.task.outcome, TaskOutcome::kNothingToDo);
  EXPECT_THAT(table.Deletes(), ElementsAre("e1"));
}

// ---- A naive model: each delete against each data file, by the words of the spec.

bool Applies(const ManifestEntry& deletes, const ManifestEntry& data, bool has_dv) {
  const DataFile& d = deletes.file;
  const auto number = Raw(*deletes.sequence_number);
  const auto data_number = Raw(*data.sequence_number);
  const bool same_partition =
      d.spec_id == data.file.spec_id && StructValueEqual{}(d.partition, data.file.partition);
  if (d.is_deletion_vector()) return d.referenced_data_file == data.file.file_path;
  if (d.content == FileContent::kEqualityDeletes) {
    return number > data_number && (d.partition.empty() || same_partition);
  }
  return !has_dv && number >= data_number && same_partition;
}

TEST(RemoveDanglingDeletesRandomTest, ExactlyWhatAppliesToNothingGoes) {
  int removed = 0;
  int kept = 0;
  for (unsigned seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 rng(seed);
    const auto below = [&](std::size_t n) { return static_cast<int>(rng() % n); };
    DanglingTestTable table({.format_version = 2 + below(2), .partitioned = true});
    const bool v3 = table.Load().metadata().format_version == 3;
    int names = 0;
    const auto name = [&] {
      return std::string("cat=") + static_cast<char>('a' + below(3)) + "/" +
             std::to_string(++names);
    };
    for (int step = 0; step < 14; ++step) {
      std::vector<DataFile> data;
      std::set<std::string> with_dv;
      for (const auto& [key, entry] : table.Naive()) {
        if (entry.file.content == FileContent::kData) data.push_back(entry.file);
        if (entry.file.referenced_data_file) {
          with_dv.insert(entry.file.referenced_data_file->text());
        }
      }
      if (data.empty() || below(3) == 0) {
        table.Append(name());
      } else if (below(3) == 0) {
        const DataFile& old = data[static_cast<std::size_t>(below(data.size()))];
        SnapshotUpdate update{.operation = "overwrite", .removed_data_files = {old}};
        update.added_data_files = {{table.Data(name())}};
        table.MustCommit(update);
      } else if (!v3 && below(2) == 0) {
        table.AddDeletes(table.PositionDeletes(name()));
      } else if (v3 && below(2) == 0) {
        const DataFile& target = data[static_cast<std::size_t>(below(data.size()))];
        if (!with_dv.contains(target.file_path.text())) table.AddDeletes(MakeDv(name(), target));
      } else if (below(2) == 0) {
        table.AddDeletes(table.EqualityDeletes(name()));
      } else {
        table.AddDeletes(table.EqualityDeletes(name()), SequenceNumber(1 + below(6)));
      }
    }
    std::set<std::string> expected;
    const auto live = table.Naive();
    for (const auto& [key, deletes] : live) {
      if (deletes.file.content == FileContent::kData) continue;
      for (const auto& [other, data] : live) {
        if (data.file.content != FileContent::kData) continue;
        const bool has_dv = std::ranges::any_of(live, [&](const auto& one) {
          return one.second.file.referenced_data_file == data.file.file_path;
        });
        if (Applies(deletes, data, has_dv)) expected.insert(deletes.file.file_path.text());
      }
    }
    const std::size_t before = table.Deletes().size();
    ASSERT_THAT(table.Remove(), IsOk());
    EXPECT_EQ(table.Deletes(), expected);
    removed += static_cast<int>(before - expected.size());
    kept += static_cast<int>(expected.size());
    if (HasFailure()) return;
  }
  EXPECT_GT(removed, 10);
  EXPECT_GT(kept, 30);
}

// ---- Whichever call fails

TEST(RemoveDanglingDeletesSweepTest, RemovesAllOrNothing) {
  for (const bool answer : {false, true}) {
    for (int step = 0;; ++step) {
      SCOPED_TRACE(step);
      DanglingTestTable table;
      table.Append("1");
      table.AddDeletes(table.EqualityDeletes("e1"));
      table.MustCommit({.operation = "overwrite",
                        .added_data_files = {{table.Data("2")}},
                        .removed_data_files = {table.Data("1")}});
      table.AddDeletes(table.EqualityDeletes("e2"));
      const int start = table.io().calls();
      Table loaded = table.Load();
      table.io().FailAt(start + step, Error(Code::kIo, "injected failure"),
                        answer ? FaultFileIO::When::kAfter : FaultFileIO::When::kBefore);
      table.task = {};
      const Status status = RemoveDanglingDeletes().Execute(table.run(), loaded, table.task);
      const bool reached = table.io().calls() > start + step;
      table.io().FailAt(-1);
      EXPECT_EQ(table.Deletes().count("e2"), 1U);
      EXPECT_EQ(table.Live().count("2"), 1U);
      if (status) {
        EXPECT_EQ(table.Deletes().count("e1"), 0U);
      }
      std::set<std::string> told;
      for (const Location& left : table.task.leftovers) told.insert(left.text());
      for (const std::string& file : table.Unsound()) {
        EXPECT_EQ(told.count(file), 1U) << "missing, or left behind and not told: " << file;
      }
      if (HasFailure() || step > 500) return;
      if (!reached) {
        EXPECT_GT(step, 10);
        EXPECT_THAT(status, IsOk());
        break;
      }
    }
  }
}

}  // namespace
}  // namespace icewright
