#include "maintain/rewrite_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "testing/matchers.h"

namespace icewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::int64_t kMiB = 1 << 20;
using Options = RewriteDataFilesOptions;

TableMetadata SomeTable() {
  TableMetadata metadata;
  metadata.partition_specs = {PartitionSpec{}, PartitionSpec{.id = SpecId{1}, .fields = {}}};
  metadata.sort_orders = {SortOrder{}};
  return metadata;
}

RewriteSizes Sizes(const Options& options) {
  auto sizes = ValidateRewriteOptions(options, SomeTable());
  EXPECT_THAT(sizes, IsOk());
  return *sizes;
}

std::vector<RewriteCandidate> Files(const std::vector<std::int64_t>& sizes) {
  std::vector<RewriteCandidate> files;
  for (const std::int64_t size : sizes) files.push_back({.size_bytes = size, .record_count = 100});
  return files;
}

RewritePlan Plan(const std::vector<RewriteCandidate>& files, const Options& options) {
  return PlanRewrite(files, options, Sizes(options), false);
}

std::vector<std::vector<std::size_t>> Groups(const RewritePlan& plan) {
  std::vector<std::vector<std::size_t>> out;
  for (const RewriteGroup& group : plan.groups) out.push_back(group.files);
  return out;
}

// --- sizes ---

TEST(RewriteSizesTest, DefaultsComeFromTheTargetAndTheTable) {
  RewriteSizes sizes = Sizes({});
  EXPECT_EQ(sizes.target, 512 * kMiB);
  EXPECT_EQ(sizes.min, 384 * kMiB);
  EXPECT_EQ(sizes.max, static_cast<std::int64_t>(512 * kMiB * 1.8));
  TableMetadata metadata = SomeTable();
  metadata.properties["write.target-file-size-bytes"] = "1000";
  IW_ASSERT_OK_AND_ASSIGN(sizes, ValidateRewriteOptions({}, metadata));
  EXPECT_EQ(sizes.target, 1000);
  EXPECT_EQ(sizes.min, 750);
  EXPECT_EQ(sizes.max, 1800);
  EXPECT_EQ(sizes.write_max, 1400);
}

struct ExpectedCase {
  std::int64_t target, bytes;
  int files;
};

class ExpectedOutputFilesTest : public ::testing::TestWithParam<ExpectedCase> {};

TEST_P(ExpectedOutputFilesTest, Counts) {
  const auto& c = GetParam();
  EXPECT_EQ(ExpectedOutputFiles(c.bytes, Sizes({.target_file_size_bytes = c.target})), c.files);
}

INSTANTIATE_TEST_SUITE_P(Table, ExpectedOutputFilesTest,
                         ::testing::Values(ExpectedCase{21, 20, 1}, ExpectedCase{21, 22, 1},
                                           ExpectedCase{21, 30, 2}, ExpectedCase{21, 50, 3},
                                           ExpectedCase{250, 200, 1}, ExpectedCase{250, 600, 3},
                                           ExpectedCase{250, 750, 3}, ExpectedCase{250, 0, 1}));

TEST(RewriteSizesTest, SplitSizeLiesBetweenTargetAndWriteMax) {
  const Options options{.target_file_size_bytes = 512 * kMiB,
                        .min_file_size_bytes = 256 * kMiB,
                        .max_file_size_bytes = 768 * kMiB};
  const RewriteSizes sizes = Sizes(options);
  const RewritePlan plan = Plan(Files(std::vector<std::int64_t>(5, 116 * kMiB)), options);
  ASSERT_EQ(plan.groups.size(), 1U);
  EXPECT_EQ(plan.groups[0].input_bytes, 580 * kMiB);
  EXPECT_EQ(plan.groups[0].expected_output_files, 2);
  EXPECT_EQ(plan.groups[0].input_split_size, 512 * kMiB);
  EXPECT_EQ(InputSplitSize(600 * kMiB, 1, sizes), 600 * kMiB + 5120);
  EXPECT_EQ(InputSplitSize(900 * kMiB, 1, sizes), sizes.write_max);
}

// --- validation ---

struct InvalidCase {
  const char* name;
  Options options;
  const char* message;
};

class RewriteValidationTest : public ::testing::TestWithParam<InvalidCase> {};

TEST_P(RewriteValidationTest, NamesOptionValueAndBound) {
  EXPECT_THAT(ValidateRewriteOptions(GetParam().options, SomeTable()),
              HasError(Code::kInvalidArgument, HasSubstr(GetParam().message)));
}

INSTANTIATE_TEST_SUITE_P(
    Table, RewriteValidationTest,
    ::testing::Values(
        InvalidCase{"Target0",
                    {.target_file_size_bytes = 0},
                    "target-file-size-bytes is set to 0 but must be > 0"},
        InvalidCase{"TargetNegative",
                    {.target_file_size_bytes = -5},
                    "target-file-size-bytes is set to -5"},
        InvalidCase{"MinNegative",
                    {.min_file_size_bytes = -1},
                    "min-file-size-bytes is set to -1 but must be >= 0"},
        InvalidCase{
            "TargetBelowMin",
            {.target_file_size_bytes = 3, .min_file_size_bytes = 5, .max_file_size_bytes = 9},
            "all new files would be smaller than the minimum"},
        InvalidCase{"TargetEqualsMin",
                    {.target_file_size_bytes = 3, .min_file_size_bytes = 3},
                    "target-file-size-bytes (3) must be > min-file-size-bytes (3)"},
        InvalidCase{"TargetAboveMax",
                    {.target_file_size_bytes = 9, .max_file_size_bytes = 9},
                    "all new files would be bigger than the maximum"},
        InvalidCase{
            "MinInput0", {.min_input_files = 0}, "min-input-files is set to 0 but must be > 0"},
        InvalidCase{"MinInputNegative", {.min_input_files = -5}, "min-input-files is set to -5"},
        InvalidCase{"GroupSize0",
                    {.max_file_group_size_bytes = 0},
                    "max-file-group-size-bytes is set to 0"},
        InvalidCase{"GroupFiles0",
                    {.max_file_group_input_files = 0},
                    "max-file-group-input-files is set to 0"},
        InvalidCase{"DeletesNegative",
                    {.delete_file_threshold = -1},
                    "delete-file-threshold is set to -1 but must be >= 0"},
        InvalidCase{"Ratio0",
                    {.delete_ratio_threshold = 0},
                    "delete-ratio-threshold is set to 0 but must be > 0 and <= 1"},
        InvalidCase{
            "RatioNegative", {.delete_ratio_threshold = -1}, "delete-ratio-threshold is set to -1"},
        InvalidCase{
            "RatioOver1", {.delete_ratio_threshold = 1.1}, "delete-ratio-threshold is set to 1.1"},
        InvalidCase{
            "JobOrder", {.rewrite_job_order = "foo"}, "Invalid rewrite job order name: foo"},
        InvalidCase{"Spec", {.output_spec_id = 17}, "output-spec-id 17 is no partition spec"},
        InvalidCase{"MaxFiles0",
                    {.max_files_to_rewrite = 0},
                    "max-files-to-rewrite is set to 0 but must be > 0"},
        InvalidCase{
            "MaxFilesNegative", {.max_files_to_rewrite = -1}, "max-files-to-rewrite is set to -1"},
        InvalidCase{"MaxBytes", {.max_rewrite_bytes = 0}, "max-rewrite-bytes is set to 0"},
        InvalidCase{"Concurrency",
                    {.max_concurrent_file_group_rewrites = 0},
                    "max-concurrent-file-group-rewrites is set to 0"},
        InvalidCase{"MaxCommits",
                    {.partial_progress_enabled = true, .partial_progress_max_commits = 0},
                    "partial-progress.max-commits is set to 0 but must be > 0"},
        InvalidCase{"MaxFailed",
                    {.partial_progress_enabled = true, .partial_progress_max_failed_commits = -1},
                    "partial-progress.max-failed-commits is set to -1"},
        InvalidCase{"BothModes",
                    {.partial_progress_enabled = true, .all_or_nothing = true},
                    "exclude each other"},
        InvalidCase{"Strategy",
                    {.strategy = "bin-pack"},
                    "strategy 'bin-pack' is neither binpack nor sort; did you mean 'binpack'?"},
        InvalidCase{
            "SortWithoutOrder", {.strategy = "sort"}, "the table has no sort order of its own"},
        InvalidCase{"OrderWithoutSort", {.sort_order = "a"}, "sort-order needs strategy sort"},
        InvalidCase{
            "Factor", {.compression_factor = 0}, "compression-factor is set to 0 but must be > 0"}),
    [](const auto& test) { return test.param.name; });

TEST(RewriteValidationTest, MaxCommitsMatterOnlyWithPartialProgress) {
  EXPECT_THAT(ValidateRewriteOptions({.partial_progress_max_commits = 0}, SomeTable()), IsOk());
}

TEST(RewriteDataFilesFieldsTest, EveryOptionHasARowOfItsOwn) {
  std::vector<std::string> keys;
  for (const auto& field : RewriteDataFilesFields()) {
    keys.emplace_back(field.key);
    EXPECT_FALSE(field.help.empty()) << field.key;
  }
  EXPECT_EQ(keys.size(), 29U);
  EXPECT_EQ(std::set<std::string>(keys.begin(), keys.end()).size(), keys.size());
  Options options;
  for (const char* order : {"bytes-asc", "BYTES_DESC", "Files-Asc", "files_desc", "none"}) {
    options.rewrite_job_order = order;
    EXPECT_THAT(ValidateRewriteOptions(options, SomeTable()), IsOk()) << order;
  }
}

// --- selection ---

TEST(RewritePlanTest, SelectsOnlyFilesOutsideTheSizeRange) {
  const Options options{.target_file_size_bytes = 500,
                        .min_file_size_bytes = 300,
                        .max_file_size_bytes = 600,
                        .min_input_files = 1};
  const auto plan = Plan(Files({299, 300, 301, 600, 601, 100}), options);
  EXPECT_THAT(Groups(plan), ElementsAre(ElementsAre(0, 4, 5)));
  EXPECT_EQ(plan.files_skipped, 3);
}

TEST(RewritePlanTest, RewriteAllTakesEveryFile) {
  const auto plan = Plan(Files({500, 500}), {.target_file_size_bytes = 500, .rewrite_all = true});
  EXPECT_THAT(Groups(plan), ElementsAre(ElementsAre(0, 1)));
}

TEST(RewritePlanTest, AGroupNeedsFilesOrContentOrAnOversizedFile) {
  EXPECT_THAT(Groups(Plan(Files({100, 100, 100, 100}),
                          {.target_file_size_bytes = 1000, .min_input_files = 3})),
              ElementsAre(ElementsAre(0, 1, 2, 3)));
  EXPECT_THAT(Groups(Plan(Files({100, 100, 100}), {.target_file_size_bytes = 250})),
              ElementsAre(ElementsAre(0, 1, 2)))
      << "enough content for the target";
  EXPECT_THAT(Groups(Plan(Files({100, 100, 100}), {.target_file_size_bytes = 1000})), IsEmpty());
  EXPECT_THAT(
      Groups(Plan(Files({2000}), {.target_file_size_bytes = 400, .max_file_size_bytes = 500})),
      ElementsAre(ElementsAre(0)))
      << "one file, but over the maximum";
  EXPECT_THAT(Groups(Plan(Files({10}), {.target_file_size_bytes = 1000, .min_input_files = 1})),
              IsEmpty());
}

TEST(RewritePlanTest, DeletesMakeAFileACandidate) {
  std::vector<RewriteCandidate> files = Files({500});
  files[0].delete_files = 3;
  EXPECT_THAT(Groups(Plan(files, {.target_file_size_bytes = 500, .delete_file_threshold = 2})),
              ElementsAre(ElementsAre(0)));
  EXPECT_THAT(Groups(Plan(files, {.target_file_size_bytes = 500, .delete_file_threshold = 4})),
              IsEmpty());
  EXPECT_THAT(Groups(Plan(files, {.target_file_size_bytes = 500, .delete_file_threshold = 3})),
              ElementsAre(ElementsAre(0)));
  const Options ratio{.target_file_size_bytes = 500, .delete_ratio_threshold = 0.2};
  files[0].file_scoped_deletes = 20;
  EXPECT_THAT(Groups(Plan(files, ratio)), ElementsAre(ElementsAre(0)));
  files[0].file_scoped_deletes = 19;
  EXPECT_THAT(Groups(Plan(files, ratio)), IsEmpty());
  files[0].file_scoped_deletes = 500;  // overlapping deletes count once
  EXPECT_THAT(Groups(Plan(files, {.target_file_size_bytes = 500, .delete_ratio_threshold = 1})),
              ElementsAre(ElementsAre(0)));
  files[0].record_count = 0;
  EXPECT_THAT(Groups(Plan(files, ratio)), IsEmpty()) << "no rows, no ratio";
}

// --- grouping ---

TEST(RewritePlanTest, PartitionsStaySeparateInFirstSeenOrder) {
  std::vector<RewriteCandidate> files = Files({10, 20, 30, 40, 50});
  files[1].partition = files[3].partition = 1;
  files[4].partition = 2;
  const auto plan = Plan(files, {.target_file_size_bytes = 100, .min_input_files = 2});
  EXPECT_THAT(Groups(plan), ElementsAre(ElementsAre(0, 2), ElementsAre(1, 3)));
  EXPECT_EQ(plan.groups[1].partition, 1U);
  EXPECT_EQ(plan.groups[1].global_index, 2);
  EXPECT_EQ(plan.groups[1].partition_index, 1);
}

TEST(RewritePlanTest, GroupSizeAndGroupFilesCutAPartition) {
  const std::vector<RewriteCandidate> files = Files({10, 10, 10, 10, 10, 10});
  EXPECT_THAT(Groups(Plan(files, {.target_file_size_bytes = 100,
                                  .min_input_files = 2,
                                  .max_file_group_size_bytes = 30})),
              ElementsAre(ElementsAre(0, 1, 2), ElementsAre(3, 4, 5)));
  const auto plan =
      Plan(files,
           {.target_file_size_bytes = 100, .min_input_files = 2, .max_file_group_input_files = 2});
  EXPECT_THAT(Groups(plan), ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3), ElementsAre(4, 5)));
  EXPECT_EQ(plan.groups[2].partition_index, 3);
}

std::vector<RewriteCandidate> FourPartitions() {
  // bytes: 20, 60, 40, 90; files: 2, 3, 4, 3
  std::vector<RewriteCandidate> files;
  const std::vector<std::vector<std::int64_t>> sizes = {
      {10, 10}, {20, 20, 20}, {10, 10, 10, 10}, {30, 30, 30}};
  for (std::uint32_t p = 0; p < sizes.size(); ++p) {
    for (const std::int64_t size : sizes[p]) {
      files.push_back({.size_bytes = size, .record_count = 1, .partition = p});
    }
  }
  return files;
}

struct OrderCase {
  const char* order;
  std::vector<std::uint32_t> partitions;
};

class JobOrderTest : public ::testing::TestWithParam<OrderCase> {};

TEST_P(JobOrderTest, SortsGroupsStably) {
  const auto plan = Plan(FourPartitions(), {.target_file_size_bytes = 1000,
                                            .min_input_files = 2,
                                            .rewrite_job_order = GetParam().order});
  std::vector<std::uint32_t> partitions;
  for (const auto& group : plan.groups) partitions.push_back(group.partition);
  EXPECT_EQ(partitions, GetParam().partitions);
}

INSTANTIATE_TEST_SUITE_P(Table, JobOrderTest,
                         ::testing::Values(OrderCase{"none", {0, 1, 2, 3}},
                                           OrderCase{"bytes-asc", {0, 2, 1, 3}},
                                           OrderCase{"bytes-desc", {3, 1, 2, 0}},
                                           OrderCase{"files-asc", {0, 1, 3, 2}},
                                           OrderCase{"files-desc", {2, 1, 3, 0}}));

TEST(RewritePlanTest, MaxFilesTruncatesTheLastGroupBeforeSorting) {
  auto plan = Plan(FourPartitions(), {.target_file_size_bytes = 1000,
                                      .min_input_files = 2,
                                      .max_files_to_rewrite = 4,
                                      .rewrite_job_order = "bytes-desc"});
  EXPECT_THAT(Groups(plan), ElementsAre(ElementsAre(2, 3), ElementsAre(0, 1)));
  EXPECT_EQ(plan.groups[0].input_bytes, 40);
  EXPECT_EQ(plan.groups_over_cap, 2);
  plan = Plan(FourPartitions(),
              {.target_file_size_bytes = 1000, .min_input_files = 2, .max_files_to_rewrite = 99});
  EXPECT_EQ(plan.groups.size(), 4U);
}

TEST(RewritePlanTest, ATruncatedGroupIsMeasuredAgain) {
  const auto plan =
      Plan(Files({200, 200, 200}),
           {.target_file_size_bytes = 250, .rewrite_all = true, .max_files_to_rewrite = 1});
  ASSERT_EQ(plan.groups.size(), 1U);
  EXPECT_EQ(plan.groups[0].input_bytes, 200);
  EXPECT_EQ(plan.groups[0].expected_output_files, 1);
}

TEST(RewritePlanTest, MaxRewriteBytesPassesOverWhatDoesNotFit) {
  const auto plan =
      Plan(FourPartitions(),
           {.target_file_size_bytes = 1000, .min_input_files = 2, .max_rewrite_bytes = 70});
  EXPECT_THAT(Groups(plan), ElementsAre(ElementsAre(0, 1), ElementsAre(5, 6, 7, 8)));
  EXPECT_EQ(plan.groups_over_cap, 2);
}

// --- groups without gain ---

TEST(RewriteGainTest, FilesThatCannotBeMergedAreLeftAlone) {
  // 0.6 MiB each: too small for the minimum, too big to pair up.
  const std::vector<RewriteCandidate> files = Files(std::vector<std::int64_t>(5, 629'146));
  const Options options{.target_file_size_bytes = kMiB, .min_file_size_bytes = 786'432};
  EXPECT_EQ(ExpectedOutputFiles(5 * 629'146, Sizes(options)), 3) << "Java expects a gain here";
  std::vector<RewriteCandidate> big = Files({990'000, 990'000, 990'000});
  const Options near{.target_file_size_bytes = kMiB, .min_file_size_bytes = kMiB - 1};
  const auto plan = Plan(big, near);
  EXPECT_THAT(Groups(plan), IsEmpty());
  EXPECT_EQ(plan.groups_without_gain, 1);
}

TEST(RewriteGainTest, DeletesAnOversizedFileOrRewriteAllAreAGain) {
  const Options near{.target_file_size_bytes = kMiB, .min_file_size_bytes = kMiB - 1};
  std::vector<RewriteCandidate> files = Files({990'000, 990'000, 990'000});
  files[1].delete_files = 1;
  EXPECT_EQ(Plan(files, near).groups.size(), 1U);
  files[1].delete_files = 0;
  Options all = near;
  all.rewrite_all = true;
  EXPECT_EQ(Plan(files, all).groups.size(), 1U);
  EXPECT_EQ(PlanRewrite(files, near, Sizes(near), true).groups.size(), 1U) << "new partition spec";
}

TEST(RewriteGainTest, AGroupTruncatedToOneFileIsNotRewrittenForNothing) {
  const auto plan = Plan(Files({10, 10, 10, 10, 10}),
                         {.target_file_size_bytes = 1000, .max_files_to_rewrite = 1});
  EXPECT_THAT(Groups(plan), IsEmpty());
  EXPECT_EQ(plan.groups_without_gain, 1);
}

}  // namespace
}  // namespace icewright
