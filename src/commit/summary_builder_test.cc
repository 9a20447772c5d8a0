#include "commit/summary_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "testing/matchers.h"

namespace icewright {
namespace {

using Keys = std::map<std::string, std::string>;
using ::testing::Contains;
using ::testing::Key;
using ::testing::Not;
using ::testing::Pair;

/// An unpartitioned spec 0 and a spec 1 by the identity of column 1.
TableMetadata Metadata() {
  TableMetadata metadata;
  metadata.schemas = {
      Schema({{.id = FieldId(1), .name = "cat", .type = Type::Of(TypeId::kString)}}, SchemaId(0))};
  metadata.partition_specs = {{.id = SpecId(0), .fields = {}},
                              {.id = SpecId(1),
                               .fields = {{.source_ids = {FieldId(1)},
                                           .field_id = FieldId(1000),
                                           .name = "cat",
                                           .transform = Transform()}}}};
  return metadata;
}

DataFile File(FileContent content, std::int64_t records, std::int64_t bytes) {
  DataFile file;
  file.content = content;
  file.record_count = records;
  file.file_size_in_bytes = bytes;
  return file;
}

DataFile Dv(std::int64_t cardinality, std::int64_t blob, std::int64_t puffin) {
  DataFile file = File(FileContent::kPositionDeletes, cardinality, puffin);
  file.file_format = FileFormat::kPuffin;
  file.content_offset = 4;
  file.content_size_in_bytes = blob;
  return file;
}

DataFile InPartition(DataFile file, std::string cat) {
  file.spec_id = SpecId(1);
  file.partition = {Literal(std::move(cat))};
  return file;
}

Keys Built(const SummaryBuilder& summary, const Summary* previous, const Summary& extra = {}) {
  Keys keys;
  for (const auto& [key, value] : summary.Build(previous, extra)) {
    EXPECT_TRUE(keys.emplace(key, value).second) << key << " is there twice";
  }
  EXPECT_EQ(keys["engine-version"], ICEWRIGHT_TEST_VERSION);
  keys.erase("engine-version");
  return keys;
}

TEST(SummaryBuilderTest, ACommitOfNothingHasTotalsAndManifests) {
  const TableMetadata metadata = Metadata();
  const SummaryBuilder summary(metadata);
  EXPECT_EQ(Built(summary, nullptr), (Keys{{"changed-partition-count", "0"},
                                           {"engine-name", "icewright"},
                                           {"manifests-created", "0"},
                                           {"manifests-kept", "0"},
                                           {"manifests-replaced", "0"},
                                           {"total-data-files", "0"},
                                           {"total-delete-files", "0"},
                                           {"total-equality-deletes", "0"},
                                           {"total-files-size", "0"},
                                           {"total-position-deletes", "0"},
                                           {"total-records", "0"}}));
}

TEST(SummaryBuilderTest, CountsEachKindOnItsOwnAndSums) {
  const TableMetadata metadata = Metadata();
  SummaryBuilder summary(metadata);
  summary.Add(File(FileContent::kData, 10, 1000));
  summary.Add(File(FileContent::kEqualityDeletes, 3, 300));
  summary.Add(Dv(5, 50, 5000));
  summary.Remove(File(FileContent::kData, 20, 2000));
  summary.Remove(File(FileContent::kData, 1, 1));
  summary.Remove(File(FileContent::kPositionDeletes, 7, 70));
  summary.Remove(File(FileContent::kEqualityDeletes, 4, 40));
  summary.Remove(Dv(6, 60, 6000));
  summary.AddDuplicates(2);
  summary.set_manifests({.created = 4, .kept = 5, .replaced = 6});
  const Summary previous = {{"total-data-files", "12"},       {"total-delete-files", "8"},
                            {"total-records", "100"},         {"total-files-size", "9000"},
                            {"total-position-deletes", "20"}, {"total-equality-deletes", "9"}};
  EXPECT_EQ(Built(summary, &previous), (Keys{{"added-data-files", "1"},
                                             {"added-delete-files", "2"},
                                             {"added-dvs", "1"},
                                             {"added-equality-delete-files", "1"},
                                             {"added-equality-deletes", "3"},
                                             {"added-files-size", "1350"},
                                             {"added-position-deletes", "5"},
                                             {"added-records", "10"},
                                             {"changed-partition-count", "1"},
                                             {"deleted-data-files", "2"},
                                             {"deleted-duplicate-files", "2"},
                                             {"deleted-records", "21"},
                                             {"engine-name", "icewright"},
                                             {"manifests-created", "4"},
                                             {"manifests-kept", "5"},
                                             {"manifests-replaced", "6"},
                                             {"removed-delete-files", "3"},
                                             {"removed-dvs", "1"},
                                             {"removed-equality-delete-files", "1"},
                                             {"removed-equality-deletes", "4"},
                                             {"removed-files-size", "2171"},
                                             {"removed-position-delete-files", "1"},
                                             {"removed-position-deletes", "13"},
                                             {"total-data-files", "11"},
                                             {"total-delete-files", "7"},
                                             {"total-equality-deletes", "8"},
                                             {"total-files-size", "8179"},
                                             {"total-position-deletes", "12"},
                                             {"total-records", "89"}}));
}

struct TotalCase {
  const char* name;
  Summary previous;
  std::optional<std::string> expected;  ///< of total-records after 10 were added and 30 removed
};

class SummaryTotalTest : public ::testing::TestWithParam<TotalCase> {};

TEST_P(SummaryTotalTest, FollowsThePrevious) {
  const TableMetadata metadata = Metadata();
  SummaryBuilder summary(metadata);
  summary.Add(File(FileContent::kData, 10, 1));
  summary.Remove(File(FileContent::kData, 30, 1));
  const Summary built = summary.Build(&GetParam().previous, {});
  const std::string* total = FindKey(built, "total-records");
  EXPECT_EQ(total == nullptr ? std::nullopt : std::optional(*total), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Table, SummaryTotalTest,
    ::testing::Values(TotalCase{"Known", {{"total-records", "50"}}, "30"},
                      TotalCase{"BecomesZero", {{"total-records", "20"}}, "0"},
                      TotalCase{"WouldBeNegative", {{"total-records", "19"}}, {}},
                      TotalCase{"Absent", {{"total-data-files", "1"}}, {}},
                      TotalCase{"NoNumber", {{"total-records", "many"}}, {}},
                      TotalCase{"WasNegative", {{"total-records", "-1"}}, {}},
                      TotalCase{"TooLarge", {{"total-records", "9223372036854775808"}}, {}}),
    [](const auto& test) { return test.param.name; });

TEST(SummaryBuilderTest, PartitionsAreSummarisedUpToTheLimit) {
  TableMetadata metadata = Metadata();
  metadata.properties["write.summary.partition-limit"] = "2";
  SummaryBuilder summary(metadata);
  summary.Add(InPartition(File(FileContent::kData, 10, 100), "a b"));
  summary.Add(InPartition(File(FileContent::kData, 5, 50), "a b"));
  summary.Remove(InPartition(Dv(2, 20, 2000), "c"));
  Keys keys = Built(summary, nullptr);
  EXPECT_EQ(keys["changed-partition-count"], "2");
  EXPECT_EQ(keys["partition-summaries-included"], "true");
  EXPECT_EQ(keys["partitions.cat=a+b"], "added-data-files=2,added-records=15,added-files-size=150");
  EXPECT_EQ(
      keys["partitions.cat=c"],
      "removed-delete-files=1,removed-dvs=1,removed-files-size=20,removed-position-deletes=2");
  summary.Add(InPartition(File(FileContent::kData, 1, 1), "d"));
  keys = Built(summary, nullptr);
  EXPECT_EQ(keys["changed-partition-count"], "3");
  EXPECT_THAT(keys, Not(Contains(Key("partition-summaries-included"))));
  EXPECT_THAT(keys, Not(Contains(Key("partitions.cat=c"))));
}

TEST(SummaryBuilderTest, ExtraKeysMayNameTheEngineButReplaceNoCounter) {
  const TableMetadata metadata = Metadata();
  SummaryBuilder summary(metadata);
  summary.Add(File(FileContent::kData, 10, 100));
  const Keys keys = [&] {
    Keys found;
    const Summary extra = {{"added-records", "999"}, {"flink.job-id", "j"}, {"engine-name", "x"}};
    for (const auto& [key, value] : summary.Build(nullptr, extra)) found[key] = value;
    return found;
  }();
  EXPECT_THAT(keys, Contains(Pair("added-records", "10")));
  EXPECT_THAT(keys, Contains(Pair("flink.job-id", "j")));
  EXPECT_THAT(keys, Contains(Pair("engine-name", "x")));
  EXPECT_THAT(keys, Not(Contains(Key("engine-version"))));
}

}  // namespace
}  // namespace icewright
