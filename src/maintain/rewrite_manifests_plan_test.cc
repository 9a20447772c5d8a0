#include "maintain/rewrite_manifests_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "table/literal.h"
#include "testing/matchers.h"
#include "testing/table_builder.h"

namespace icewright {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::int64_t kTarget = 1000;

/// Spec 0: a; spec 1: a, b; spec 2: unpartitioned. All long.
TableMetadata ThreeSpecs() {
  return MakeTable(MakeSchema({{1, "a", TypeId::kLong}, {2, "b", TypeId::kLong}}),
                   {MakeSpec(0, {{1, "identity"}}),
                    MakeSpec(1, {{1, "identity"}, {2, "identity"}}, 1), MakeSpec(2, {})});
}

struct Bounds {
  std::int64_t lower;
  std::int64_t upper;
  bool null = false;
};

struct TestManifest {
  std::int64_t length = 100;
  std::vector<Bounds> bounds = {};
  int spec = 0;
  int live = 2;
  ManifestContent content = ManifestContent::kData;
};

ManifestFile Make(const TestManifest& m, std::size_t number) {
  ManifestFile manifest;
  manifest.manifest_path = Location("m" + std::to_string(number));
  manifest.manifest_length = m.length;
  manifest.partition_spec_id = SpecId{m.spec};
  manifest.content = m.content;
  manifest.added_files_count = m.live;
  manifest.existing_files_count = 0;
  manifest.deleted_files_count = 1;
  if (!m.bounds.empty()) {
    manifest.partitions.emplace();
    for (const Bounds& b : m.bounds) {
      const Type type = Type::Of(TypeId::kLong);
      manifest.partitions->push_back({.contains_null = b.null,
                                      .lower_bound = ToBytes(type, Literal(b.lower)),
                                      .upper_bound = ToBytes(type, Literal(b.upper))});
    }
  }
  return manifest;
}

struct Case {
  const char* name;
  std::vector<TestManifest> manifests;
  std::string groups;  // "0,1*;3,4": positions; * reorders, / splits
  ManifestSettings settings = {};
};

class RewriteManifestsPlanTest : public ::testing::TestWithParam<Case> {};

std::string Picture(const ManifestPlan& plan) {
  std::string text;
  for (const ManifestGroup& group : plan.groups) {
    if (!text.empty()) text += ';';
    for (std::size_t i = 0; i < group.manifests.size(); ++i) {
      text += (i == 0 ? "" : ",") + std::to_string(group.manifests[i]);
    }
    if (group.reorders) text += '*';
    if (group.splits) text += '/';
  }
  return text;
}

TEST_P(RewriteManifestsPlanTest, ReplacesExactly) {
  const Case& c = GetParam();
  std::vector<ManifestFile> manifests;
  for (const TestManifest& m : c.manifests) manifests.push_back(Make(m, manifests.size()));
  ManifestSettings settings = c.settings;
  settings.target_bytes = kTarget;
  const ManifestPlan plan = PlanRewriteManifests(manifests, ThreeSpecs(), settings);
  EXPECT_EQ(Picture(plan), c.groups);
  std::int64_t planned = 0;
  for (const ManifestGroup& group : plan.groups) planned += std::ssize(group.manifests);
  EXPECT_EQ(plan.kept + planned, std::ssize(manifests)) << "each is in one place";
}

const auto kDeletes = ManifestContent::kDeletes;

INSTANTIATE_TEST_SUITE_P(
    Plans, RewriteManifestsPlanTest,
    ::testing::Values(
        Case{"None", {}, ""}, Case{"OneSmallStays", {{100, {{1, 9}}}}, ""},
        Case{"TwoSmallBecomeOne", {{100, {{1, 2}}}, {100, {{3, 4}}}}, "0,1"},
        Case{"TwoNearlySmallStayTwo", {{700, {{1, 2}}}, {700, {{3, 4}}}}, ""},
        Case{"FullOnesStay", {{1000, {{1, 2}}}, {750, {{3, 4}}}}, ""},
        Case{"TouchingIsNoOverlap", {{1000, {{1, 2}}}, {1000, {{2, 4}}}}, ""},
        Case{"OverlapIsReordered", {{1000, {{1, 3}}}, {1000, {{2, 4}}}}, "0,1*"},
        Case{"SameRangeOverlaps", {{1000, {{1, 3}}}, {1000, {{1, 3}}}}, "0,1*"},
        Case{"OnePartitionFillsManyManifests",
             {{1000, {{5, 5}}}, {1000, {{5, 5}}}, {1000, {{5, 5}}}},
             ""},
        Case{"InsideARange", {{1000, {{1, 9}}}, {1000, {{5, 5}}}}, "0,1*"},
        Case{"ALongReachCoversAll",
             {{1000, {{1, 9}}}, {1000, {{2, 3}}}, {1000, {{4, 5}}}, {1000, {{10, 11}}}},
             "0,1,2*"},
        Case{"SmallNeighboursOnly",  // 0 and 2 are not neighbours of each other
             {{100, {{1, 1}}}, {1000, {{2, 2}}}, {100, {{3, 3}}}},
             ""},
        Case{"SmallOnesOfAPartitionAreNeighbours",
             {{100, {{5, 5}}}, {1000, {{5, 5}}}, {100, {{5, 5}}}},
             "0,2"},
        Case{"TheOrderOfTheListDoesNotMatter",
             {{100, {{7, 8}}}, {1000, {{3, 4}}}, {100, {{9, 9}}}},
             "0,2"},
        Case{"DeadOnesGo", {{100, {{1, 1}}, 0, 0}, {1000, {{2, 2}}}}, "0"},
        Case{"TooBigIsSplit", {{2000, {{1, 9}}}}, "0/"},
        Case{"BigWithOneFileCannotBeSplit", {{2000, {{1, 1}}, 0, 1}}, ""},
        Case{"NoSummariesOverlapEverything", {{1000, {}}, {1000, {{2, 2}}}}, "0,1*"},
        Case{"NullsComeFirst", {{1000, {{5, 9, true}}}, {1000, {{1, 2}}}}, "0,1*"},
        Case{"SecondFieldWhereTheFirstIsOneValue",
             {{1000, {{1, 1}, {1, 5}}, 1}, {1000, {{1, 1}, {3, 9}}, 1}},
             "0,1*"},
        Case{"SecondFieldDoesNotMatterElsewhere",
             {{1000, {{1, 2}, {1, 5}}, 1}, {1000, {{3, 4}, {3, 9}}, 1}},
             ""},
        Case{"SortByAnotherField",
             {{1000, {{1, 2}, {1, 5}}, 1}, {1000, {{3, 4}, {3, 9}}, 1}},
             "0,1*",
             {.sort_by = {"p2"}}},
        Case{"SpecsDoNotMix", {{100, {{1, 1}}, 0}, {100, {{1, 1}, {1, 1}}, 1}}, ""},
        Case{"ContentsDoNotMix", {{100, {{1, 1}}}, {100, {{1, 1}}, 0, 2, kDeletes}}, ""},
        Case{"Deletes", {{100, {{1, 1}}, 0, 2, kDeletes}, {100, {{1, 1}}, 0, 2, kDeletes}}, "0,1"},
        Case{"Unpartitioned", {{100, {}, 2}, {1000, {}, 2}, {100, {}, 2}, {2000, {}, 2}}, "0,2,3/"},
        Case{"OneSpecOnly",
             {{100, {{1, 1}}}, {100, {{1, 1}}}, {100, {}, 2}, {100, {}, 2}},
             "2,3",
             {.spec_id = SpecId{2}}},
        Case{"SpecsEachOnItsOwn",
             {{100, {}, 2}, {100, {{1, 1}}}, {100, {{1, 1}}}, {100, {}, 2}},
             "1,2;0,3"},
        Case{"AllOnDemand", {{1000, {{1, 2}}}, {1000, {{3, 4}}}}, "0,1*", {.rewrite_all = true}},
        Case{"AnUnknownSpecStays", {{100, {}, 7}, {100, {}, 7}}, ""}),
    [](const auto& test) { return test.param.name; });

TEST(RewriteManifestsPlanCountsTest, GroupsAndNotes) {
  const std::vector<ManifestFile> manifests = {Make({600, {}, 2, 5}, 0), Make({700, {}, 2, 4}, 1),
                                               Make({600, {}, 2, 3}, 2), Make({100, {}, 7}, 3)};
  const ManifestPlan plan =
      PlanRewriteManifests(manifests, ThreeSpecs(), {.target_bytes = kTarget});
  ASSERT_EQ(plan.groups.size(), 1U);
  EXPECT_EQ(plan.groups[0].bytes, 1900);
  EXPECT_EQ(plan.groups[0].live_files, 12);
  EXPECT_EQ(plan.groups[0].expected_manifests, 2);
  EXPECT_EQ(plan.kept, 1);
  EXPECT_EQ(plan.unknown_specs, 1);
}

TEST(RewriteManifestsPlanCountsTest, ASpecWhoseColumnsNobodyKnowsStays) {
  TableMetadata table = MakeTable(MakeSchema({{1, "a", TypeId::kLong}}),
                                  {MakeSpec(0, {{9, "identity"}}), MakeSpec(1, {}, 1)});
  const std::vector<ManifestFile> manifests = {Make({100, {{1, 1}}}, 0), Make({100, {{1, 1}}}, 1)};
  const ManifestPlan plan = PlanRewriteManifests(manifests, table, {.target_bytes = kTarget});
  EXPECT_THAT(plan.groups, IsEmpty());
  EXPECT_EQ(plan.unknown_specs, 2);
}

struct OptionCase {
  const char* name;
  RewriteManifestsOptions options;
  const char* message;
};

class RewriteManifestsOptionsTest : public ::testing::TestWithParam<OptionCase> {};

TEST_P(RewriteManifestsOptionsTest, NamesWhatIsWrong) {
  const auto settings = ResolveRewriteManifestsOptions(GetParam().options, ThreeSpecs());
  ASSERT_THAT(settings, HasCode(Code::kInvalidArgument));
  EXPECT_EQ(settings.error().message(), GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Options, RewriteManifestsOptionsTest,
    ::testing::Values(
        OptionCase{"Spec", {.spec_id = 9}, "spec-id 9 is no partition spec of the table"},
        OptionCase{
            "Target", {.target_size_bytes = 0}, "target-size-bytes is set to 0 but must be > 0"},
        OptionCase{"Empty", {.sort_by = "p1,,p2"}, "sort-by: a name is empty"},
        OptionCase{"Twice", {.sort_by = "p1, p1"}, "sort-by names 'p1' twice"},
        OptionCase{
            "Unknown", {.sort_by = "day"}, "sort-by: 'day' is no partition field of the table"},
        OptionCase{"OfAnotherSpec",
                   {.spec_id = 0, .sort_by = "p2"},
                   "sort-by: 'p2' is no partition field of spec 0; did you mean 'p0'?"}),
    [](const auto& test) { return test.param.name; });

TEST(RewriteManifestsSettingsTest, TheTableAndTheOptionSetTheTarget) {
  TableMetadata table = ThreeSpecs();
  EXPECT_EQ(ResolveRewriteManifestsOptions({}, table)->target_bytes, 8 << 20);
  table.properties = {{"commit.manifest.target-size-bytes", "1234"}};
  EXPECT_EQ(ResolveRewriteManifestsOptions({}, table)->target_bytes, 1234);
  const auto settings = ResolveRewriteManifestsOptions(
      {.spec_id = 1, .sort_by = " p2 , p1", .target_size_bytes = 99}, table);
  EXPECT_EQ(settings->target_bytes, 99);
  EXPECT_THAT(settings->sort_by, ElementsAre("p2", "p1"));
}

}  // namespace
}  // namespace icewright
