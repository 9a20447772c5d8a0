#include "maintain/compute_table_stats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "catalog/catalog.h"
#include "codec/json.h"
#include "codec/puffin.h"
#include "data/row_scan.h"
#include "scan/plan_files.h"
#include "testing/fault_file_io.h"
#include "testing/fixtures.h"
#include "testing/matchers.h"

namespace icewright {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Ndvs = std::map<std::string, std::int64_t>;

/// A private copy of a fixture, and the task on it.
class StatsTable {
 public:
  explicit StatsTable(std::string_view name, RunOptions options = {})
      : copy_(name), io_(std::make_shared<FaultFileIO>(copy_.io())), run_(std::move(options)) {}

  RunContext& run() { return run_; }
  FaultFileIO& io() { return *io_; }
  Table Open() {
    auto table = OpenTableAt(run_, copy_.location(), io_);
    EXPECT_THAT(table, IsOk());
    return std::move(table).value();
  }
  Status Compute(ComputeTableStatsOptions options = {}) {
    Table table = Open();
    return ComputeTableStats(std::move(options)).Execute(run_, table, report);
  }
  TaskReport report;

  static Ndvs Reported(const TaskReport& report) {
    Ndvs out;
    for (const TaskItem& item : report.items) out[item.name] = item.counts.at(0).second;
    return out;
  }

  /// What the file of the current snapshot says, read through its footer.
  Ndvs InFile() {
    Ndvs out;
    const Table table = Open();
    const TableMetadata& metadata = table.metadata();
    for (const StatisticsFile& file : metadata.statistics) {
      if (file.snapshot_id != metadata.current_snapshot_id) continue;
      auto bytes = ReadFile(*io_, file.statistics_path);
      EXPECT_THAT(bytes, IsOk());
      if (!bytes) return out;
      EXPECT_EQ(std::ssize(*bytes), file.file_size_in_bytes);
      const auto footer = ParsePuffinFooter(
          ByteView(*bytes).substr(bytes->size() -
                                  static_cast<std::size_t>(file.file_footer_size_in_bytes)),
          file.file_size_in_bytes);
      EXPECT_THAT(footer, IsOk());
      if (!footer) return out;
      EXPECT_EQ(footer->blobs.size(), file.blob_metadata.size());
      for (std::size_t i = 0; i < footer->blobs.size(); ++i) {
        const PuffinBlob& blob = footer->blobs[i];
        EXPECT_EQ(blob.type, "apache-datasketches-theta-v1");
        EXPECT_EQ(blob.snapshot_id, *metadata.current_snapshot_id);
        EXPECT_EQ(blob.sequence_number, metadata.current_snapshot()->sequence_number);
        EXPECT_EQ(blob.properties, file.blob_metadata[i].properties);
        EXPECT_EQ(blob.fields, file.blob_metadata[i].fields);
        EXPECT_THAT(DecodePuffinBlob(blob,
                                     ByteView(*bytes).substr(static_cast<std::size_t>(blob.offset),
                                                             static_cast<std::size_t>(blob.length)),
                                     1 << 20),
                    IsOkAndHolds(SizeIs(::testing::Ge(8U))));
        out[std::string(metadata.schema().NameOf(blob.fields.at(0)))] =
            std::stoll(blob.properties.at("ndv"));
      }
    }
    return out;
  }

  /// The oracle: sets of values as text, from a scan of all rows.
  Ndvs Naive() {
    const Table table = Open();
    const TableMetadata& metadata = table.metadata();
    std::vector<FileTask> tasks;
    EXPECT_THAT(PlanFiles(run_, *io_, metadata, *metadata.current_snapshot(), {},
                          [&](FileTask&& task) -> Status {
                            tasks.push_back(std::move(task));
                            return {};
                          }),
                IsOk());
    RowScanOptions options;
    std::vector<std::set<std::string>> values;
    for (const Field& field : metadata.schema().fields()) {
      if (field.type.is_primitive()) options.columns.push_back(field.name);
    }
    values.resize(options.columns.size());
    EXPECT_THAT(ScanRows(run_, *io_, metadata, metadata.schema(), tasks, options,
                         [&](const Json& row) -> Status {
                           for (std::size_t i = 0; i < values.size(); ++i) {
                             const std::string text = DumpJson(row[i]);
                             if (text != "null" && text != "\"\"") values[i].insert(text);
                           }
                           return {};
                         }),
                IsOk());
    Ndvs out;
    for (std::size_t i = 0; i < values.size(); ++i) {
      out[options.columns[i]] = std::ssize(values[i]);
    }
    return out;
  }

 private:
  FixtureCopy copy_;
  std::shared_ptr<FaultFileIO> io_;
  RunContext run_;
};

class ComputeTableStatsGolden : public ::testing::TestWithParam<const char*> {};

TEST_P(ComputeTableStatsGolden, CountsWhatAScanSees) {
  StatsTable table(GetParam(), {.threads = 2});
  const Ndvs want = table.Naive();
  ASSERT_THAT(table.Compute(), IsOk());
  EXPECT_EQ(table.report.outcome, TaskOutcome::kDone);
  EXPECT_EQ(StatsTable::Reported(table.report), want);
  EXPECT_EQ(table.InFile(), want);
  EXPECT_EQ(table.run().memory().used(), 0) << "everything taken is given back";
}

// Deletes of all kinds, all formats, evolved schemas, v1 to v3.
INSTANTIATE_TEST_SUITE_P(Tables, ComputeTableStatsGolden,
                         ::testing::Values("upsert_v2", "upsert_part_v3", "posdel_v2", "avro_v2",
                                           "orc_v2", "plain_v1", "evolve_v3", "events_v2"),
                         [](const auto& test) { return std::string(test.param); });

TEST(ComputeTableStatsGoldenTest, OneSnapshotsColumnsOnly) {
  StatsTable table("evolve_v2");
  const TableMetadata metadata = table.Open().metadata();
  const Snapshot& first = metadata.snapshots.front();
  const std::string name = metadata.SchemaOf(first).fields().front().name;
  ASSERT_THAT(table.Compute({.columns = name, .snapshot_id = Raw(first.id)}), IsOk());
  const TableMetadata after = table.Open().metadata();
  ASSERT_THAT(after.statistics, SizeIs(1));
  EXPECT_EQ(after.statistics[0].snapshot_id, first.id);
  EXPECT_THAT(after.statistics[0].blob_metadata, SizeIs(1));
  EXPECT_THAT(after.statistics[0].statistics_path.text(),
              HasSubstr("/metadata/" + std::to_string(Raw(first.id)) + "-"));
  EXPECT_THAT(after.statistics[0].statistics_path.text(), EndsWith(".stats"));
}

TEST(ComputeTableStatsGoldenTest, ReplacesTheFileOfTheSnapshot) {
  StatsTable table("refs_v2");  // has statistics written by Java
  const TableMetadata before = table.Open().metadata();
  ASSERT_THAT(before.statistics, SizeIs(::testing::Ge(1U)));
  ASSERT_THAT(table.Compute(), IsOk());
  const Location first = table.Open().metadata().statistics.back().statistics_path;
  ASSERT_THAT(table.Compute(), IsOk());
  const TableMetadata after = table.Open().metadata();
  EXPECT_NE(after.statistics.back().statistics_path, first);
  EXPECT_THAT(table.io().Exists(first), IsOkAndHolds(false)) << "the replaced file goes";
  EXPECT_EQ(table.report.counts["replaced-statistics-files-count"], 1);
  for (const StatisticsFile& file : after.statistics) {
    EXPECT_THAT(table.io().Exists(file.statistics_path), IsOkAndHolds(true));
  }
}

TEST(ComputeTableStatsGoldenTest, BadRequestsNameTheColumnOrSnapshot) {
  StatsTable table("append_v2");
  EXPECT_THAT(table.Compute({.columns = "id,nope"}),
              HasError(Code::kInvalidArgument, HasSubstr("'nope'")));
  EXPECT_THAT(table.Compute({.snapshot_id = 7}), HasError(Code::kNotFound, HasSubstr("7")));
  EXPECT_THAT(table.Compute({.branch = "nope"}), HasError(Code::kNotFound, HasSubstr("'nope'")));
  EXPECT_THAT(table.Compute({.snapshot_id = 7, .branch = "main"}),
              HasError(Code::kInvalidArgument, HasSubstr("")));
  StatsTable nested("evolve_v3");
  std::string structure;
  for (const Field& field : nested.Open().metadata().schema().fields()) {
    if (!field.type.is_primitive()) structure = field.name;
  }
  ASSERT_NE(structure, "");
  EXPECT_THAT(nested.Compute({.columns = structure}),
              HasError(Code::kInvalidArgument, HasSubstr("only primitive columns")));
}

TEST(ComputeTableStatsGoldenTest, ADryRunWritesNothing) {
  StatsTable table("append_v2");
  const auto metadata = table.Open().metadata_location();
  ASSERT_THAT(table.Compute({.dry_run = true}), IsOk());
  EXPECT_EQ(table.report.outcome, TaskOutcome::kPlanned);
  EXPECT_GT(table.report.counts["data-files-count"], 0);
  EXPECT_GT(table.report.counts["read-bytes"], 0);
  EXPECT_THAT(table.io().created(), IsEmpty());
  EXPECT_EQ(table.Open().metadata_location(), metadata);
}

TEST(ComputeTableStatsGoldenTest, ATableWithoutASnapshotHasNothingToDo) {
  StatsTable table("empty_v2");
  ASSERT_THAT(table.Compute(), IsOk());
  EXPECT_EQ(table.report.outcome, TaskOutcome::kNothingToDo);
  EXPECT_EQ(table.report.reason, "there is no snapshot");
}

TEST(ComputeTableStatsGoldenTest, MemoryBelowTheSketchesIsRefused) {
  StatsTable table("append_v2", {.memory_limit_bytes = 1 << 20});
  EXPECT_THAT(table.Compute(), HasError(Code::kExhausted, HasSubstr("sketches")));
  EXPECT_THAT(table.io().created(), IsEmpty());
}

// Whatever call fails, the table names complete files only and no other statistics file is left.
TEST(ComputeTableStatsSweep, LeavesNoFileThatNobodyNames) {
  for (int step = 0;; ++step) {
    SCOPED_TRACE(step);
    StatsTable table("append_v2");
    Table loaded = table.Open();
    const int before = table.io().calls();
    table.io().FailAt(before + step);
    const Status status =
        ComputeTableStats({.columns = "id"}).Execute(table.run(), loaded, table.report);
    const int calls = table.io().calls() - before;
    table.io().FailAt(-1);
    const TableMetadata metadata = table.Open().metadata();
    std::set<std::string> named, there, left;
    for (const auto& file : metadata.statistics) named.insert(file.statistics_path.text());
    for (const Location& file : table.io().created()) {
      if (file.text().ends_with(".stats")) there.insert(file.text());
    }
    for (const Location& file : table.io().deleted()) there.erase(file.text());
    for (const Location& file : table.report.leftovers) left.insert(file.text());
    if (status) {
      EXPECT_EQ(there, named);
    } else {
      for (const std::string& file : there) {
        EXPECT_TRUE(named.contains(file) || left.contains(file) ||
                    status.error().code() == Code::kCommitUnknown)
            << file << ' ' << status.error().message();
      }
    }
    if (calls <= step) {
      EXPECT_THAT(status, IsOk());
      break;
    }
  }
}

}  // namespace
}  // namespace icewright
