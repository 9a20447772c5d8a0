// Reads every fixture table and compares with the digest that its expectation records.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/bytes.h"
#include "codec/json.h"
#include "data/row_scan.h"
#include "scan/plan_files.h"
#include "table/metadata.h"
#include "testing/fixtures.h"
#include "testing/matchers.h"

namespace icewright {
namespace {

using ::testing::HasSubstr;

std::string Hex(std::uint64_t value) {
  std::string big_endian;
  for (int shift = 56; shift >= 0; shift -= 8) big_endian += static_cast<char>(value >> shift);
  return ToHex(big_endian);
}

struct Loaded {
  Json expected;
  TableMetadata metadata;
  std::vector<FileTask> tasks;
};

Result<Loaded> Load(RunContext& run, const Fixture& fixture) {
  Loaded out;
  IW_ASSIGN(out.expected, ParseJson(ReadExpected(fixture)));
  const Location location =
      fixture.location.Child(out.expected["metadata_file"].get<std::string>());
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

class ReadGoldenTest : public ::testing::TestWithParam<std::string> {};

TEST_P(ReadGoldenTest, RowsHaveTheRecordedDigest) {
  RunContext run({.threads = 2});
  IW_ASSERT_OK_AND_ASSIGN(const Loaded table, Load(run, FindFixture(GetParam())));
  const auto digest = DigestRows(run, *FixtureIO(), table.metadata, table.tasks);
  if (GetParam().find("variant") != std::string::npos) {
    EXPECT_THAT(digest, HasError(Code::kUnsupported, HasSubstr("variant")));
    return;
  }
  ASSERT_THAT(digest, IsOk());
  const Json rows = table.expected.value("rows", Json{{"count", 0}, {"digest", Hex(0)}});
  EXPECT_EQ(digest->rows, rows["count"].get<std::int64_t>());
  EXPECT_EQ(Hex(digest->digest), rows["digest"].get<std::string>());
  EXPECT_EQ(digest->lineage_digest.has_value(), table.metadata.format_version >= 3);
  if (rows.contains("lineage_digest")) {
    EXPECT_EQ(Hex(digest->lineage_digest.value_or(0)), rows["lineage_digest"].get<std::string>());
  }
  EXPECT_EQ(run.memory().used(), 0) << "everything taken is given back";
}

// Where the expectation has a digest for each file, a wrong one is named.
TEST_P(ReadGoldenTest, FilesHaveTheRecordedDigests) {
  RunContext run;
  IW_ASSERT_OK_AND_ASSIGN(const Loaded table, Load(run, FindFixture(GetParam())));
  if (!table.expected.contains("rows") || !table.expected["rows"].contains("files")) return;
  std::size_t compared = 0;
  for (const FileTask& task : table.tasks) {
    const std::string name =
        task.data_file.file_path.text().substr(table.metadata.location.text().size() + 1);
    SCOPED_TRACE(name);
    const Json& files = table.expected["rows"]["files"];
    ASSERT_TRUE(files.contains(name));
    const auto digest = DigestRows(run, *FixtureIO(), table.metadata, {task});
    ASSERT_THAT(digest, IsOk());
    EXPECT_EQ(digest->rows, files[name]["count"].get<std::int64_t>());
    EXPECT_EQ(Hex(digest->digest), files[name]["digest"].get<std::string>());
    ++compared;
  }
  EXPECT_EQ(compared, table.expected["rows"]["files"].size());
}

std::vector<std::string> FixtureNames() {
  std::vector<std::string> names;
  for (const Fixture& fixture : ListFixtures()) names.push_back(fixture.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Fixtures, ReadGoldenTest, ::testing::ValuesIn(FixtureNames()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace icewright
