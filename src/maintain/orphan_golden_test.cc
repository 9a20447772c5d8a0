// What Flink's own task made of the fixture with orphans, and what this one does.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "catalog/catalog.h"
#include "codec/json.h"
#include "maintain/delete_orphan_files.h"
#include "testing/fake_clock.h"
#include "testing/fixtures.h"
#include "testing/matchers.h"

namespace icewright {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

namespace fs = std::filesystem;
using Paths = std::set<std::string>;

constexpr const char* kEncodedOrphan = "data/with space/orphan 100%25.parquet";

struct GoldenTable {
  explicit GoldenTable(const char* name) : copy(name) {
    auto opened = OpenTableAt(run, copy.location(), copy.io());
    EXPECT_THAT(opened, IsOk());
    table.emplace(std::move(opened).value());
  }
  Paths Files() const {
    Paths files;
    for (const auto& entry : fs::recursive_directory_iterator(copy.table_path())) {
      if (entry.is_regular_file()) {
        files.insert(fs::relative(entry.path(), copy.table_path()).string());
      }
    }
    return files;
  }
  void Touch(const std::string& file) {
    fs::last_write_time(copy.table_path() + "/" + file, fs::file_time_type::clock::now());
  }
  /// What went.
  Paths Clean(const DeleteOrphanFilesOptions& options) {
    Paths gone = Files();
    report = {};
    EXPECT_THAT(DeleteOrphanFiles(options).Execute(run, *table, report), IsOk());
    for (const std::string& file : Files()) gone.erase(file);
    return gone;
  }

  FixtureCopy copy;
  RunContext run;
  std::optional<Table> table;
  TaskReport report;
};

Paths RemovedByFlink(const GoldenTable& golden, const char* result) {
  const auto json = ParseJson(ReadExpected(golden.copy.fixture(), result));
  EXPECT_THAT(json, IsOk());
  Paths removed;
  for (const Json& file : (*json)["files_removed"]) removed.insert(file.get<std::string>());
  return removed;
}

TEST(OrphanGoldenTest, WhatFlinkRemovesGoesAndTheOrphanThatItMisses) {
  GoldenTable golden("orphans_v2");
  // Whatever was young when the fixture was recorded is made young again.
  Paths want = RemovedByFlink(golden, "after-delete-orphan-files.result.json");
  const Paths of_any_age = RemovedByFlink(golden, "after-delete-orphan-files-any-age.result.json");
  for (const std::string& file : of_any_age) {
    if (!want.contains(file)) golden.Touch(file);
  }
  ASSERT_THAT(want, SizeIs(8));
  want.insert(kEncodedOrphan);
  // Java asks for this spelling of it, which is another file.
  const std::string twin = "data/with%20space/orphan%20100%2525.parquet";
  fs::create_directories(golden.copy.table_path() + "/data/with%20space");
  std::ofstream(golden.copy.table_path() + "/" + twin) << "another file";
  EXPECT_EQ(golden.Clean({}), want);
  EXPECT_TRUE(golden.Files().contains(twin));
  EXPECT_THAT(golden.Clean({}), IsEmpty());
  EXPECT_EQ(golden.report.outcome, TaskOutcome::kNothingToDo);
}

TEST(OrphanGoldenTest, WithoutAnAgeWhatFlinkRemovesGoesAndTheOrphanThatItMisses) {
  for (const bool prefix_listing : {true, false}) {
    GoldenTable golden("orphans_v2");
    Paths want = RemovedByFlink(golden, "after-delete-orphan-files-any-age.result.json");
    want.insert(kEncodedOrphan);
    EXPECT_EQ(
        golden.Clean({.min_age = 0, .force_min_age = true, .use_prefix_listing = prefix_listing}),
        want);
    EXPECT_EQ(golden.report.counts["orphan-files-count"], std::ssize(want));
  }
}

// Files that an engine left beside its table are named here; all else must be kept.
TEST(OrphanGoldenTest, InTablesOfAllEnginesNothingThatIsNamedIsAnOrphan) {
  int tables = 0;
  for (const Fixture& fixture : ListFixtures()) {
    if (fixture.name == "orphans_v2") continue;
    SCOPED_TRACE(fixture.name);
    RunContext run(RunOptions{.threads = 2});
    auto table = OpenTableAt(run, fixture.location, FixtureIO());
    ASSERT_THAT(table, IsOk());
    TaskReport report;
    ASSERT_THAT(
        DeleteOrphanFiles({.min_age = 0, .force_min_age = true, .explain = true, .dry_run = true})
            .Execute(run, *table, report),
        IsOk());
    ++tables;
    for (const TaskItem& item : report.items) {
      const bool is_old_metadata = item.name.ends_with(".metadata.json");
      EXPECT_TRUE(is_old_metadata) << item.name << ": " << item.reason;
    }
  }
  EXPECT_GE(tables, 46);
}

TEST(OrphanGoldenTest, ATableOfACatalogOpenedByPathIsRefused) {
  FixtureCopy copy("jdbc_v2");
  RunContext run;
  auto table = OpenTableAt(run, copy.location(), copy.io());
  ASSERT_THAT(table, IsOk());
  TaskReport report;
  EXPECT_THAT(DeleteOrphanFiles().Execute(run, *table, report),
              HasError(Code::kUnsupported, HasSubstr("register")));
  EXPECT_THAT(DeleteOrphanFiles({.dry_run = true}).Execute(run, *table, report), IsOk());
}

}  // namespace
}  // namespace icewright
