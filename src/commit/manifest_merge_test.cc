#include "commit/manifest_merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "testing/matchers.h"

namespace icewright {
namespace {

using Groups = std::vector<std::vector<std::size_t>>;
using ::testing::HasSubstr;

struct PackCase {
  const char* name;
  std::vector<std::int64_t> weights;
  std::int64_t target;
  Groups expected;
};

class PackFromEndTest : public ::testing::TestWithParam<PackCase> {};

TEST_P(PackFromEndTest, Groups) {
  const PackCase& c = GetParam();
  EXPECT_EQ(PackFromEnd(c.weights, c.target), c.expected);
}

INSTANTIATE_TEST_SUITE_P(
    Table, PackFromEndTest,
    ::testing::Values(PackCase{"Nothing", {}, 10, {}}, PackCase{"OneFits", {3}, 10, {{0}}},
                      PackCase{"TheFirstGroupTakesTheRest", {4, 4, 4}, 8, {{0}, {1, 2}}},
                      PackCase{"ExactlyFull", {5, 5, 5, 5}, 10, {{0, 1}, {2, 3}}},
                      PackCase{"TooLargeIsAlone", {1, 99, 1}, 10, {{0}, {1}, {2}}},
                      PackCase{"ANeighbourIsNotSkipped", {1, 9, 2, 1}, 10, {{0, 1}, {2, 3}}},
                      PackCase{"AllInOne", {1, 1, 1}, 10, {{0, 1, 2}}},
                      PackCase{"ZeroWeightsShare", {0, 10, 0}, 10, {{0, 1, 2}}}),
    [](const auto& test) { return test.param.name; });

// Oracle: the groups put together are the input; no group but a single exceeds the target; no group
// could have taken the last of the group before it.
TEST(PackFromEndTest, KeepsItsPromisesOnRandomWeights) {
  std::mt19937 rng(7);
  for (int round = 0; round < 500; ++round) {
    std::vector<std::int64_t> weights(rng() % 20);
    for (auto& weight : weights) weight = static_cast<std::int64_t>(rng() % 12);
    const std::int64_t target = 1 + static_cast<std::int64_t>(rng() % 20);
    SCOPED_TRACE(round);
    std::size_t next = 0;
    for (const auto& group : PackFromEnd(weights, target)) {
      std::int64_t total = 0;
      ASSERT_FALSE(group.empty());
      for (const std::size_t i : group) {
        ASSERT_EQ(i, next++);
        total += weights[i];
      }
      ASSERT_TRUE(group.size() == 1 || total <= target);
      ASSERT_TRUE(group.front() == 0 || total + weights[group.front() - 1] > target);
    }
    ASSERT_EQ(next, weights.size());
  }
}

ManifestFile Manifest(int number, std::int64_t length, int spec = 0) {
  ManifestFile manifest;
  manifest.manifest_path = Location("m" + std::to_string(number));
  manifest.manifest_length = length;
  manifest.partition_spec_id = SpecId(spec);
  return manifest;
}

TEST(PlanMergeTest, FewManifestsWithTheNewestStayApart) {
  const std::vector<ManifestFile> manifests = {Manifest(0, 1), Manifest(1, 1), Manifest(2, 1)};
  EXPECT_EQ(PlanMerge(manifests, {.min_count = 4}), (Groups{{0}, {1}, {2}}));
  EXPECT_EQ(PlanMerge(manifests, {.min_count = 3}), (Groups{{0, 1, 2}}));
}

TEST(PlanMergeTest, FullOlderGroupsMergeWhateverTheCount) {
  const std::vector<ManifestFile> manifests = {Manifest(0, 6), Manifest(1, 6), Manifest(2, 3),
                                               Manifest(3, 3)};
  EXPECT_EQ(PlanMerge(manifests, {.min_count = 100, .target_bytes = 10}),
            (Groups{{0}, {1}, {2, 3}}))
      << "a group of two far below the count, but full: 6 more would not fit";
}

TEST(PlanMergeTest, SpecsAreApartAndDescending) {
  const std::vector<ManifestFile> manifests = {Manifest(0, 1, 1), Manifest(1, 1, 0),
                                               Manifest(2, 1, 1), Manifest(3, 1, 2),
                                               Manifest(4, 1, 0)};
  EXPECT_EQ(PlanMerge(manifests, {.min_count = 2}), (Groups{{3}, {0, 2}, {1, 4}}));
}

TEST(PlanMergeTest, SwitchedOffKeepsTheOrder) {
  const std::vector<ManifestFile> manifests = {Manifest(0, 1, 0), Manifest(1, 1, 1),
                                               Manifest(2, 1, 0)};
  EXPECT_EQ(PlanMerge(manifests, {.enabled = false, .min_count = 1}), (Groups{{0}, {1}, {2}}));
}

TEST(MergePolicyTest, ReadsTheTablesProperties) {
  IW_ASSERT_OK_AND_ASSIGN(const MergePolicy usual, MergePolicy::Of({}));
  EXPECT_TRUE(usual.enabled);
  EXPECT_EQ(usual.min_count, 100);
  EXPECT_EQ(usual.target_bytes, 8 << 20);
  IW_ASSERT_OK_AND_ASSIGN(const MergePolicy set,
                          MergePolicy::Of({{"commit.manifest-merge.enabled", "false"},
                                           {"commit.manifest.min-count-to-merge", "5"},
                                           {"commit.manifest.target-size-bytes", "16384"}}));
  EXPECT_FALSE(set.enabled);
  EXPECT_EQ(set.min_count, 5);
  EXPECT_EQ(set.target_bytes, 16384);
  EXPECT_THAT(MergePolicy::Of({{"commit.manifest.target-size-bytes", "0"}}),
              HasError(Code::kInvalidArgument, HasSubstr("commit.manifest.target-size-bytes")));
}

}  // namespace
}  // namespace icewright
