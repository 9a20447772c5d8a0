// Every fixture table, spliced and decoded: the same rows, row lineage and metrics.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "codec/json.h"
#include "data/rewrite_engine.h"
#include "data/row_scan.h"
#include "io/memory_file_io.h"
#include "scan/plan_files.h"
#include "table/literal.h"
#include "table/metadata.h"
#include "testing/fixtures.h"
#include "testing/matchers.h"

namespace icewright {
namespace {

// Reads fixtures; what is written goes to memory.
class ScratchIO final : public FileIO {
 public:
  Result<std::unique_ptr<InputFile>> Open(const Location& location,
                                          std::optional<std::int64_t> size) override {
    return Of(location).Open(location, size);
  }
  Result<std::unique_ptr<OutputFile>> Create(const Location& location, CreateMode mode) override {
    return Of(location).Create(location, mode);
  }
  Result<bool> Exists(const Location& location) override { return Of(location).Exists(location); }
  Status Delete(const Location& location) override { return Of(location).Delete(location); }
  Status List(const Location& prefix,
              const std::function<Status(const FileStatus&)>& visit) override {
    return Of(prefix).List(prefix, visit);
  }
  Result<std::vector<std::string>> ListFolders(const Location& folder) override {
    return Of(folder).ListFolders(folder);
  }
  Status DeleteFolder(const Location& folder) override { return Of(folder).DeleteFolder(folder); }
  Status MakeFolder(const Location& folder) override { return Of(folder).MakeFolder(folder); }

 private:
  FileIO& Of(const Location& location) {
    return location.text().starts_with("memory:") ? *memory_ : *fixtures_;
  }
  std::shared_ptr<FileIO> memory_ = MakeMemoryFileIO();
  std::shared_ptr<FileIO> fixtures_ = FixtureIO();
};

struct Loaded {
  TableMetadata metadata;
  std::vector<FileTask> tasks;
};

Result<Loaded> Load(RunContext& run, const Fixture& fixture) {
  Loaded out;
  IW_ASSIGN(const Json expected, ParseJson(ReadExpected(fixture)));
  const Location location = fixture.location.Child(expected["metadata_file"].get<std::string>());
  IW_ASSIGN(const Bytes json, ReadFile(*FixtureIO(), location));
  IW_ASSIGN(out.metadata, ParseTableMetadata(json, location.text()));
  const Snapshot* snapshot = out.metadata.current_snapshot();
  if (snapshot == nullptr) return out;
  IW_TRY(PlanFiles(run, *FixtureIO(), out.metadata, *snapshot, {}, [&](FileTask&& task) -> Status {
    out.tasks.push_back(std::move(task));
    return {};
  }));
  return out;
}

// As the planner groups them: by spec and partition.
std::vector<std::vector<FileTask>> GroupsOf(const std::vector<FileTask>& tasks) {
  std::vector<std::vector<FileTask>> groups;
  const StructValueEqual same;
  for (const FileTask& task : tasks) {
    const auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& candidate) {
      return candidate.front().data_file.spec_id == task.data_file.spec_id &&
             same(candidate.front().data_file.partition, task.data_file.partition);
    });
    if (group == groups.end()) {
      groups.push_back({task});
    } else {
      group->push_back(task);
    }
  }
  return groups;
}

std::vector<std::string> RowsOf(RunContext& run, FileIO& io, const TableMetadata& metadata,
                                const std::vector<DataFile>& files) {
  std::vector<FileTask> tasks;
  for (const DataFile& file : files) {
    tasks.push_back({.data_file = file, .deletes = {}});
    // As if a commit had given one: stored lineage shows.
    if (metadata.format_version >= 3) tasks.back().data_file.first_row_id = 1'000'000;
  }
  std::vector<std::string> columns;
  for (const Field& field : metadata.schema().fields()) columns.push_back(field.name);
  if (metadata.format_version >= 3) {
    columns.insert(columns.end(), {"_row_id", "_last_updated_sequence_number"});
  }
  std::vector<std::string> rows;
  const Status status = ScanRows(run, io, metadata, metadata.schema(), tasks, {.columns = columns},
                                 [&](const Json& row) -> Status {
                                   rows.push_back(DumpJson(row));
                                   return {};
                                 });
  EXPECT_THAT(status, IsOk());
  return rows;
}

// Writers store -0.0 as a lower bound for any zero.
ColumnBounds WithoutSignOfZero(ColumnBounds bounds) {
  for (auto& [id, value] : bounds) {
    Bytes zero(value.size(), '\0');
    if (!zero.empty()) zero.back() = '\x80';
    if (value == zero) value.back() = '\0';
  }
  return bounds;
}

class SpliceGoldenTest : public ::testing::TestWithParam<std::string> {};

TEST_P(SpliceGoldenTest, IsWhatDecodingMakes) {
  RunContext run;
  IW_ASSERT_OK_AND_ASSIGN(Loaded table, Load(run, FindFixture(GetParam())));
  table.metadata.properties["write.data.path"] = "memory:/out";
  const auto metadata = std::make_shared<const TableMetadata>(table.metadata);
  const auto io = std::make_shared<ScratchIO>();
  const auto splicing = MakeEngine(EngineChoice::kSplice, metadata, io, "spliced");
  const auto decoding = MakeEngine(EngineChoice::kDecode, metadata, io, "decoded");
  ASSERT_EQ(splicing.has_value(), decoding.has_value());
  if (!splicing) return;  // a table that no engine can rewrite: variant, encrypted
  for (const auto& tasks : GroupsOf(table.tasks)) {
    RewriteGroupRequest request;
    request.output_spec_id = tasks.front().data_file.spec_id;
    request.roll_at_bytes = 1 << 30;
    request.verify_values = true;
    request.tasks = tasks;
    const auto spliced = (*splicing)->Rewrite(run, request);
    const auto decoded = (*decoding)->Rewrite(run, request);
    ASSERT_EQ(spliced.has_value(), decoded.has_value())
        << (spliced ? decoded.error().message() : spliced.error().message());
    if (!decoded) continue;
    EXPECT_EQ(RowsOf(run, *io, *metadata, spliced->added),
              RowsOf(run, *io, *metadata, decoded->added));
    EXPECT_EQ(spliced->rows_read, decoded->rows_read);
    EXPECT_EQ(spliced->rows_deleted, decoded->rows_deleted);
    EXPECT_EQ(spliced->rows_written, decoded->rows_written);
    ASSERT_EQ(spliced->added.size(), decoded->added.size());
    for (std::size_t i = 0; i < spliced->added.size(); ++i) {
      const DataFile& a = spliced->added[i];
      const DataFile& b = decoded->added[i];
      EXPECT_EQ(a.partition, b.partition);
      EXPECT_EQ(a.value_counts, b.value_counts);
      EXPECT_EQ(a.null_value_counts, b.null_value_counts);
      EXPECT_EQ(a.nan_value_counts, b.nan_value_counts);
      // Bounds of deleted rows are bounds still.
      if (spliced->rows_deleted > 0) continue;
      EXPECT_EQ(WithoutSignOfZero(a.lower_bounds), WithoutSignOfZero(b.lower_bounds));
      EXPECT_EQ(WithoutSignOfZero(a.upper_bounds), WithoutSignOfZero(b.upper_bounds));
    }
  }
}

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const Fixture& fixture : ListFixtures()) names.push_back(fixture.name);
  return names;
}

std::string CaseName(const ::testing::TestParamInfo<std::string>& fixture) {
  std::string name = fixture.param;
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Fixtures, SpliceGoldenTest, ::testing::ValuesIn(Names()), CaseName);

}  // namespace
}  // namespace icewright
