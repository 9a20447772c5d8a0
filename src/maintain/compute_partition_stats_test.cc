#include "maintain/compute_partition_stats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "data/literal_file.h"
#include "maintain/expire_test_table.h"
#include "maintain/partition_tally.h"

namespace icewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// spec and partition as text -> files and rows, as the test counts them. Empty partitions are left
/// out: how long they stay is not promised.
using Counts = std::map<std::string, std::vector<std::int64_t>>;

std::string TextOf(const Literal& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* number = std::get_if<std::int32_t>(&value)) return std::to_string(*number);
  return "~";
}

/// Spec 0 is unpartitioned, spec 1 by category, spec 2 by category and a bucket of the id.
class PartitionedTable : public ExpireTestTable {
 public:
  explicit PartitionedTable(HistoryTestOptions options = {}) : ExpireTestTable(options) {
    Update({AddPartitionSpec{MakeSpec(1, {{2, "identity"}})}, SetDefaultSpec{}});
    Update({AddPartitionSpec{MakeSpec(2, {{2, "identity"}, {1, "bucket[4]"}})}});
  }

  DataFile In(DataFile file, int spec, const Literal& category, std::int32_t bucket = 0) {
    file.spec_id = SpecId{spec};
    file.record_count = ++records_;
    file.file_size_in_bytes = 100 * records_;
    if (spec >= 1) file.partition.push_back(category);
    if (spec >= 2) file.partition.emplace_back(bucket);
    return file;
  }
  SnapshotId Add(std::vector<DataFile> files) {
    SnapshotUpdate update;
    for (DataFile& file : files) {
      auto& list =
          file.content == FileContent::kData ? update.added_data_files : update.added_delete_files;
      list.push_back({std::move(file)});
    }
    return Commit(update);
  }
  SnapshotId Remove(std::vector<DataFile> files, std::vector<DataFile> added = {}) {
    SnapshotUpdate update{.operation = added.empty() ? "delete" : "overwrite"};
    update.removed_data_files = std::move(files);
    for (DataFile& file : added) update.added_data_files.push_back({std::move(file)});
    return Commit(update);
  }

  Status Compute(ComputePartitionStatsOptions options = {}) {
    Table table = Load();
    report = {};
    return ComputePartitionStats(std::move(options)).Execute(run(), table, report);
  }

  std::optional<PartitionStatisticsFile> FileOf(SnapshotId id) {
    const Table table = Load();
    for (const auto& file : table.metadata().partition_statistics) {
      if (file.snapshot_id == id) return file;
    }
    return std::nullopt;
  }

  /// What the file of the current snapshot says.
  std::vector<StructValue> Rows() {
    std::vector<StructValue> rows;
    const Table table = Load();
    const auto stats = FileOf(*table.metadata().current_snapshot_id);
    EXPECT_TRUE(stats);
    if (!stats) return rows;
    auto unified = UnifiedPartition::Make(table.metadata());
    EXPECT_THAT(unified, IsOk());
    DataFile file;
    file.file_path = stats->statistics_path;
    file.file_size_in_bytes = stats->file_size_in_bytes;
    if (file.file_path.text().ends_with(".avro")) file.file_format = FileFormat::kAvro;
    EXPECT_THAT(
        ReadLiteralFile(run(), table.shared_io(), table.shared_metadata(),
                        PartitionStatisticsSchema(unified->type(), table.metadata().format_version),
                        file,
                        [&](StructValue&& row) -> Status {
                          rows.push_back(std::move(row));
                          return {};
                        }),
        IsOk());
    return rows;
  }
  /// The same as Model() has it. `dvs` of v2 files: 0.
  Counts InFile() {
    Counts out;
    for (const StructValue& row : Rows()) {
      std::vector<std::int64_t> numbers;
      for (std::size_t i = 3; i < row.size(); ++i) {
        if (i >= 10 && i <= 12) continue;  // total_record_count, last_updated_*
        const auto* narrow = std::get_if<std::int32_t>(&row[i]);
        numbers.push_back(narrow != nullptr ? *narrow : std::get<std::int64_t>(row[i]));
      }
      numbers.resize(8);
      if (std::ranges::any_of(numbers, [](std::int64_t n) { return n != 0; })) {
        out[TextOf(row[2]) + "/" + TextOf(row[0]) + "/" + TextOf(row[1])] = numbers;
      }
    }
    return out;
  }

  /// The oracle: every live file of main, counted one by one.
  Counts Model() {
    Counts out;
    for (const DataFile& file : Live()) {
      const auto part = [&](std::size_t i) {
        return i < file.partition.size() ? TextOf(file.partition[i]) : "~";
      };
      auto& n = out[std::to_string(Raw(file.spec_id)) + "/" + part(0) + "/" + part(1)];
      n.resize(8);
      switch (file.content) {
        case FileContent::kData:
          n[0] += file.record_count;
          n[1] += 1;
          n[2] += file.file_size_in_bytes;
          break;
        case FileContent::kPositionDeletes:
          n[3] += file.record_count;
          n[file.is_deletion_vector() ? 7 : 4] += 1;
          break;
        case FileContent::kEqualityDeletes:
          n[5] += file.record_count;
          n[6] += 1;
      }
    }
    return out;
  }

 private:
  std::int64_t records_ = 0;
};

TEST(ComputePartitionStatsTest, CountsFilesOfAllKindsBySpecAndPartition) {
  PartitionedTable table;
  const DataFile a = table.In(table.Data("a"), 1, std::string("x"));
  table.Add({a, table.In(table.Data("b"), 1, std::string("x")),
             table.In(table.Data("c"), 2, std::string("x"), 3),
             table.In(table.Data("d"), 2, Literal(), 3), table.In(table.Data("e"), 0, {})});
  const SnapshotId last = table.Add({table.In(table.PositionDeletes("p"), 1, std::string("x")),
                                     table.In(table.EqualityDeletes("q"), 1, std::string("y"))});
  ASSERT_THAT(table.Compute(), IsOk());
  EXPECT_EQ(table.report.outcome, TaskOutcome::kDone);
  EXPECT_THAT(table.report.notes, IsEmpty());
  EXPECT_EQ(table.Count("partitions-count"), 5);
  EXPECT_EQ(table.InFile(), table.Model());
  EXPECT_EQ(table.InFile().at("1/x/~"), (std::vector<std::int64_t>{3, 2, 300, 6, 1, 0, 0, 0}));

  // Sorted by partition, nulls first; then by spec.
  std::vector<std::string> order;
  for (const StructValue& row : table.Rows()) {
    order.push_back(TextOf(row[0]) + TextOf(row[1]) + TextOf(row[2]));
  }
  EXPECT_THAT(order, ElementsAre("~~0", "~32", "x~1", "x32", "y~1"));

  const StructValue y = table.Rows().back();
  const TableMetadata metadata = table.Load().metadata();
  EXPECT_TRUE(IsNull(y[10])) << "total_record_count is not known";
  EXPECT_EQ(y[11], Literal(ToMillis(metadata.FindSnapshot(last)->timestamp)));
  EXPECT_EQ(y[12], Literal(Raw(last)));

  ASSERT_THAT(table.Compute(), IsOk());
  EXPECT_EQ(table.report.outcome, TaskOutcome::kNothingToDo);
  EXPECT_EQ(table.report.reason, "the snapshot has partition statistics");
}

TEST(ComputePartitionStatsTest, TablesWithoutSnapshotOrPartitionHaveNothingToDo) {
  PartitionedTable empty;
  ASSERT_THAT(empty.Compute(), IsOk());
  EXPECT_EQ(empty.report.reason, "there is no snapshot");
  ExpireTestTable plain;
  plain.Append({"a"});
  Table loaded = plain.Load();
  TaskReport report;
  ASSERT_THAT(ComputePartitionStats().Execute(plain.run(), loaded, report), IsOk());
  EXPECT_EQ(report.outcome, TaskOutcome::kNothingToDo);
  EXPECT_EQ(report.reason, "the table is not partitioned");
}

TEST(ComputePartitionStatsTest, TheFileIsInTheTablesFormatThatJavaReads) {
  for (const auto& [format, extension] : std::map<std::string, std::string>{
           {"parquet", ".parquet"}, {"avro", ".avro"}, {"orc", ".parquet"}}) {
    PartitionedTable table({.properties = {{"write.format.default", format}}});
    const SnapshotId id = table.Add({table.In(table.Data("a"), 2, std::string("x"), 1)});
    ASSERT_THAT(table.Compute(), IsOk());
    const std::string path = table.FileOf(id)->statistics_path.text();
    EXPECT_THAT(path, HasSubstr("/metadata/partition-stats-" + std::to_string(Raw(id)) + "-"));
    EXPECT_TRUE(path.ends_with(extension)) << path;
    EXPECT_EQ(table.InFile(), table.Model());
  }
}

TEST(ComputePartitionStatsTest, AnIncrementReadsOnlyWhatWasWrittenSince) {
  PartitionedTable table;
  std::vector<DataFile> files;
  for (int i = 0; i < 6; ++i) {
    files.push_back(table.In(table.Data("f" + std::to_string(i)), 1, std::string("x")));
    table.Add({files.back()});
  }
  const SnapshotId base = *table.Load().metadata().current_snapshot_id;
  ASSERT_THAT(table.Compute(), IsOk());
  EXPECT_EQ(table.Count("manifests-count"), 6);
  table.Add({table.In(table.Data("g"), 1, std::string("y"))});
  table.Remove({files[0], files[1]});
  ASSERT_THAT(table.Compute(), IsOk());
  EXPECT_THAT(table.report.notes,
              ElementsAre("computed from the statistics of snapshot " + std::to_string(Raw(base))));
  EXPECT_EQ(table.Count("manifests-count"), 3) << "one added, two with a deleted file";
  EXPECT_EQ(table.InFile(), table.Model());

  ASSERT_THAT(table.Compute({.full = true}), IsOk());
  EXPECT_THAT(table.report.notes, IsEmpty());
  EXPECT_EQ(table.InFile(), table.Model());
}

TEST(ComputePartitionStatsTest, APartitionThatBecameEmptyStays) {
  PartitionedTable table;
  const DataFile file = table.In(table.Data("a"), 1, std::string("x"));
  table.Add({file, table.In(table.Data("b"), 1, std::string("y"))});
  ASSERT_THAT(table.Compute(), IsOk());
  const SnapshotId last = table.Remove({file});
  ASSERT_THAT(table.Compute(), IsOk());
  const auto rows = table.Rows();
  ASSERT_THAT(rows, ::testing::SizeIs(2));
  EXPECT_EQ(rows[0][0], Literal(std::string("x")));
  EXPECT_EQ(rows[0][4], Literal(0));
  EXPECT_EQ(rows[0][12], Literal(Raw(last)));
}

TEST(ComputePartitionStatsTest, WhatCannotBeTrustedIsComputedAnew) {
  struct Case {
    const char* name;
    std::function<void(PartitionedTable&, const PartitionStatisticsFile&)> spoil;
    const char* note;
  };
  const Case cases[] = {
      {"missing",
       [](PartitionedTable& table, const PartitionStatisticsFile& file) {
         EXPECT_THAT(table.io().Delete(file.statistics_path), IsOk());
       },
       "computed anew"},
      {"garbage",
       [](PartitionedTable& table, const PartitionStatisticsFile& file) {
         EXPECT_THAT(table.io().Delete(file.statistics_path), IsOk());
         const Bytes garbage(static_cast<std::size_t>(file.file_size_in_bytes), 'x');
         EXPECT_THAT(WriteFile(table.io(), file.statistics_path, garbage, CreateMode::kNew),
                     IsOk());
       },
       "computed anew"},
      {"another snapshot's",
       [](PartitionedTable& table, const PartitionStatisticsFile& file) {
         PartitionStatisticsFile lie = file;
         lie.snapshot_id = *table.Load().metadata().snapshots[1].parent_id;
         table.Update({SetPartitionStatistics{lie}, RemovePartitionStatistics{file.snapshot_id}});
       },
       "do not add up"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    PartitionedTable table;
    table.Add({table.In(table.Data("a"), 1, std::string("x"))});
    const SnapshotId base = table.Add({table.In(table.Data("b"), 1, std::string("x"))});
    ASSERT_THAT(table.Compute(), IsOk());
    c.spoil(table, *table.FileOf(base));
    table.Add({table.In(table.Data("c"), 1, std::string("x"))});
    ASSERT_THAT(table.Compute(), IsOk());
    EXPECT_THAT(table.report.notes, ElementsAre(HasSubstr(c.note)));
    EXPECT_EQ(table.InFile(), table.Model());
  }
}

TEST(ComputePartitionStatsTest, StatisticsOfAnOlderFormatVersionAreUnderstood) {
  PartitionedTable table;
  const DataFile file = table.In(table.Data("a"), 1, std::string("x"));
  table.Add({file});
  ASSERT_THAT(table.Compute(), IsOk());
  table.Update({UpgradeFormatVersion{3}});
  table.Add({table.In(table.Data("b"), 2, std::string("x"), 1)});
  DataFile dv = table.Dv("dv", file);
  table.Add({dv});
  ASSERT_THAT(table.Compute(), IsOk());
  EXPECT_THAT(table.report.notes, ElementsAre(HasSubstr("from the statistics of snapshot")));
  EXPECT_EQ(table.InFile(), table.Model());
  EXPECT_EQ(table.InFile().at("1/x/~")[7], 1);
}

TEST(ComputePartitionStatsTest, ADryRunWritesNothing) {
  PartitionedTable table;
  table.Add({table.In(table.Data("a"), 1, std::string("x"))});
  const auto files = table.Files();
  ASSERT_THAT(table.Compute({.dry_run = true}), IsOk());
  EXPECT_EQ(table.report.outcome, TaskOutcome::kPlanned);
  EXPECT_EQ(table.Count("partitions-count"), 1);
  EXPECT_EQ(table.Files(), files);
}

TEST(ComputePartitionStatsTest, ADroppedSourceColumnLeavesThePartition) {
  PartitionedTable table;
  table.Add({table.In(table.Data("a"), 2, std::string("x"), 1),
             table.In(table.Data("b"), 2, std::string("y"), 1)});
  ASSERT_THAT(table.Compute(), IsOk());
  table.Update({AddPartitionSpec{MakeSpec(3, {{1, "bucket[4]"}}, 1)}, SetDefaultSpec{},
                AddSchema{MakeSchema({{1, "id", TypeId::kLong}}, 1)}, SetCurrentSchema{}});
  DataFile last = table.Data("c");
  last.spec_id = SpecId{3};
  last.partition = {std::int32_t{1}};
  table.Add({last});
  ASSERT_THAT(table.Compute(), IsOk());
  EXPECT_EQ(table.Count("partitions-count"), 2) << "x and y are one, in each spec";
}

// b was dropped and a promoted since: tuples of the old spec are read with the types it had.
TEST(ComputePartitionStatsTest, APromotedTypeIsTheSamePartition) {
  const TableMetadata metadata =
      MakeTable(MakeSchema({{1, "a", TypeId::kLong}}),
                {MakeSpec(1, {{1, "identity"}, {2, "identity"}}), MakeSpec(2, {{1, "identity"}})});
  IW_ASSERT_OK_AND_ASSIGN(const auto unified, UnifiedPartition::Make(metadata));
  EXPECT_THAT(unified.Unify(SpecId{1}, {std::int32_t{7}, std::int32_t{8}}),
              IsOkAndHolds(ElementsAre(Literal(std::int64_t{7}))));
  EXPECT_THAT(unified.Unify(SpecId{2}, {std::int64_t{7}}),
              IsOkAndHolds(ElementsAre(Literal(std::int64_t{7}))));
  EXPECT_THAT(unified.Unify(SpecId{2}, {std::string("no")}),
              HasError(Code::kCorrupt, HasSubstr("is not a long")));
  EXPECT_THAT(unified.Unify(SpecId{2}, {}), HasError(Code::kCorrupt, HasSubstr("shorter")));
  EXPECT_THAT(unified.Unify(SpecId{9}, {}), HasError(Code::kCorrupt, HasSubstr("spec 9")));
}

/// A random history; whatever happened, a file says what the live files say.
void CheckRandomHistory(std::uint64_t seed) {
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::mt19937_64 rng(seed);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(rng() % n); };
  const int version = 2 + static_cast<int>(below(2));
  PartitionedTable table(
      {.format_version = version,
       .properties = {{"commit.manifest.min-count-to-merge", std::to_string(2 + below(4))}},
       .threads = 1 + static_cast<int>(below(2))});
  int names = 0;
  const auto place = [&](DataFile file) {
    const Literal category =
        below(5) == 0 ? Literal() : Literal(std::string(1, static_cast<char>('a' + below(3))));
    return table.In(std::move(file), static_cast<int>(below(3)), category,
                    static_cast<std::int32_t>(below(2)));
  };
  const auto new_file = [&] { return place(table.Data("f" + std::to_string(++names))); };
  for (int step = 0; step < 14; ++step) {
    std::vector<DataFile> data, vectors;
    for (DataFile& file : table.Live()) {
      if (file.content == FileContent::kData) data.push_back(file);
      if (file.is_deletion_vector()) vectors.push_back(file);
    }
    std::ranges::shuffle(data, rng);
    switch (below(6)) {
      case 0:
      case 1: {
        std::vector<DataFile> files(1 + below(3));
        std::ranges::generate(files, new_file);
        table.Add(files);
        break;
      }
      case 2:
        if (!data.empty()) {
          data.resize(1 + below(std::min<std::size_t>(3, data.size())));
          table.Remove(data, below(2) == 0 ? std::vector<DataFile>() : std::vector{new_file()});
        }
        break;
      case 3:
        table.Add({place(table.EqualityDeletes("f" + std::to_string(++names)))});
        break;
      case 4:
        if (version == 2) {
          table.Add({place(table.PositionDeletes("f" + std::to_string(++names)))});
        } else if (!data.empty()) {
          const auto is_of = [&](const DataFile& dv) {
            return dv.referenced_data_file == data[0].file_path;
          };
          if (std::ranges::none_of(vectors, is_of)) {
            table.Add({table.Dv("f" + std::to_string(++names), data[0])});
          }
        }
        break;
      default:
        ASSERT_THAT(table.Expire({.max_snapshot_age = 0,
                                  .retain_last = 1 + static_cast<int>(below(3)),
                                  .clean_expired_metadata = false}),
                    IsOk());
    }
    if (below(3) != 0 || !table.Load().metadata().current_snapshot_id) continue;
    ASSERT_THAT(table.Compute({.full = below(4) == 0}), IsOk());
    for (const std::string& note : table.report.notes) {
      ASSERT_THAT(note, HasSubstr("computed from")) << "increments of own statistics add up";
    }
    ASSERT_EQ(table.InFile(), table.Model());
  }
}

TEST(ComputePartitionStatsTest, RandomHistories) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CheckRandomHistory(seed);
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(ComputePartitionStatsSlow, RandomHistories) {
  for (std::uint64_t seed = 1000; seed < 3000; ++seed) {
    CheckRandomHistory(seed);
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace icewright
