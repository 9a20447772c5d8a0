// Plans and metadata tables of tables by other engines.

#include <algorithm>
#include <map>
#include <set>

#include "codec/json.h"
#include "scan/metadata_tables.h"
#include "scan/plan_files.h"
#include "table/literal.h"
#include "testing/fixtures.h"
#include "testing/matchers.h"

namespace icewright {
namespace {

class ScanGoldenTest : public ::testing::TestWithParam<Fixture> {
 protected:
  void SetUp() override {
    auto expected = ParseJson(ReadExpected(GetParam()));
    ASSERT_THAT(expected, IsOk());
    expected_ = *expected;
    location_ = GetParam().location.Child(expected_.at("metadata_file").get<std::string>());
    auto bytes = ReadFile(*io_, location_);
    ASSERT_THAT(bytes, IsOk());
    auto metadata = ParseTableMetadata(*bytes, location_.text());
    ASSERT_THAT(metadata, IsOk());
    metadata_ = *metadata;
  }

  std::multiset<std::string> ExpectedPaths(const char* member) const {
    std::multiset<std::string> paths;
    for (const Json& file : expected_.value(member, Json::array())) {
      const std::string path = file.at("path");
      const bool is_absolute = path.starts_with("file:") || path.starts_with("/");
      paths.insert(is_absolute ? path : GetParam().location.Child(path).text());
    }
    return paths;
  }

  std::size_t CountRows(const std::string& what) {
    std::size_t rows = 0, width = 0;
    EXPECT_THAT(ScanMetadataTable(
                    run_, *io_, metadata_, location_, {.what = what},
                    [&](const std::vector<std::string>& columns) {
                      width = columns.size();
                      return Status();
                    },
                    [&](Json&& row) {
                      EXPECT_EQ(row.size(), width);
                      EXPECT_THAT(ParseJson(DumpJson(row)), IsOk());
                      ++rows;
                      return Status();
                    }),
                IsOk())
        << what;
    return rows;
  }

  std::shared_ptr<FileIO> io_ = FixtureIO();
  RunContext run_{RunOptions{.threads = 2}};
  Json expected_;
  Location location_;
  TableMetadata metadata_;
};

/// A delete, without looking at metrics. The rule is spelled out in the tests of DeleteIndex.
bool MayApply(const TableMetadata& table, const DeleteTask& task, const FileTask& data) {
  const bool same = task.file.spec_id == data.data_file.spec_id &&
                    std::ranges::equal(task.file.partition, data.data_file.partition, SameValue);
  if (task.file.content == FileContent::kEqualityDeletes) {
    return task.sequence_number > data.sequence_number &&
           (same || table.FindSpec(task.file.spec_id)->is_unpartitioned());
  }
  const auto referenced = ReferencedDataFile(task.file);
  return same && task.sequence_number >= data.sequence_number &&
         (!referenced || *referenced == data.data_file.file_path);
}

TEST_P(ScanGoldenTest, ThePlanOfMainHasItsFilesAndOnlyDeletesThatMayApply) {
  const Snapshot* head = metadata_.current_snapshot();
  if (head == nullptr) return;
  std::multiset<std::string> data_files;
  std::set<std::string> deletes;
  IW_ASSERT_OK_AND_ASSIGN(const PlanSummary summary,
                          PlanFiles(run_, *io_, metadata_, *head, {}, [&](FileTask&& task) {
                            data_files.insert(task.data_file.file_path.text());
                            for (const auto& task_delete : task.deletes) {
                              EXPECT_TRUE(MayApply(metadata_, *task_delete, task));
                              deletes.insert(task_delete->file.file_path.text());
                            }
                            return Status();
                          }));
  EXPECT_EQ(data_files, ExpectedPaths("data_files"));
  EXPECT_EQ(summary.data_files, static_cast<std::int64_t>(data_files.size()));
  const auto all_deletes = ExpectedPaths("delete_files");
  EXPECT_EQ(summary.delete_files, static_cast<std::int64_t>(all_deletes.size()));
  for (const std::string& path : deletes) EXPECT_TRUE(all_deletes.contains(path)) << path;
}

TEST_P(ScanGoldenTest, EveryMetadataTableIsReadable) {
  std::map<std::string, std::size_t> rows;
  for (const std::string& name : MetadataTableNames()) rows[name] = CountRows(name);
  EXPECT_EQ(rows["snapshots"], expected_.at("snapshots").size());
  EXPECT_EQ(rows["refs"], expected_.at("refs").size());
  EXPECT_EQ(rows["history"], expected_.at("snapshot_log_entries").get<std::size_t>());
  EXPECT_EQ(rows["metadata-log"], expected_.at("metadata_log_entries").get<std::size_t>() + 1);
  EXPECT_EQ(rows["manifests"], expected_.value("manifests", Json::array()).size());
  EXPECT_EQ(rows["data-files"], ExpectedPaths("data_files").size());
  EXPECT_EQ(rows["delete-files"], ExpectedPaths("delete_files").size());
  EXPECT_EQ(rows["files"], rows["data-files"] + rows["delete-files"]);
  EXPECT_EQ(rows["all-files"], rows["all-data-files"] + rows["all-delete-files"]);
  EXPECT_GE(rows["all-entries"], rows["entries"]);
}

INSTANTIATE_TEST_SUITE_P(Fixtures, ScanGoldenTest, ::testing::ValuesIn(ListFixtures()),
                         [](const ::testing::TestParamInfo<Fixture>& fixture) {
                           return fixture.param.ns + "_" + fixture.param.name;
                         });

}  // namespace
}  // namespace icewright
