#include "maintain/expire_snapshots_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <set>

#include "maintain/flink_guard.h"
#include "testing/matchers.h"
#include "testing/table_builder.h"

namespace icewright {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Ids = std::vector<std::int64_t>;
using Options = ExpireSnapshotsOptions;
constexpr std::int64_t kDay = 24 * 3600 * 1000;

TimePoint Day(int day) { return FromMillis(day * kDay); }

Snapshot Made(int id, int parent, int day) {
  Snapshot snapshot{.id = SnapshotId{id}, .timestamp = Day(day), .schema_id = SchemaId{0}};
  if (parent != 0) snapshot.parent_id = SnapshotId{parent};
  return snapshot;
}

TableMetadata NoSnapshots() {
  return MakeTable(MakeSchema({{1, "id", TypeId::kLong}}), {MakeSpec(0, {})});
}

/// Snapshots 1..n of main, one a day; snapshot i was made on day i.
TableMetadata Chain(int n) {
  TableMetadata metadata = NoSnapshots();
  for (int i = 1; i <= n; ++i) metadata.snapshots.push_back(Made(i, i - 1, i));
  metadata.refs["main"] = {.snapshot_id = SnapshotId{n}};
  metadata.current_snapshot_id = SnapshotId{n};
  return metadata;
}

Result<ExpireSnapshotsPlan> Plan(const TableMetadata& metadata, const Options& options, int day) {
  IW_ASSIGN(const ExpireSettings settings, ResolveExpireOptions(options, metadata.properties));
  return PlanExpireSnapshots(metadata, options, settings, Day(day));
}

Ids Expired(const TableMetadata& metadata, const Options& options, int day) {
  Ids ids;
  auto plan = Plan(metadata, options, day);
  EXPECT_THAT(plan, IsOk());
  if (!plan) return ids;
  for (const SnapshotId id : plan->expired) ids.push_back(Raw(id));
  EXPECT_EQ(plan->expired.size() + plan->kept.size(), metadata.snapshots.size());
  return ids;
}

SnapshotRef BranchAt(int id) { return {.snapshot_id = SnapshotId{id}}; }
SnapshotRef TagAt(int id) {
  return {.snapshot_id = SnapshotId{id}, .kind = SnapshotRef::Kind::kTag};
}

// ---- One branch

struct ChainCase {
  const char* name;
  Options options;
  int now_day;
  Ids expired;  // of Chain(5)
};

class RetentionTest : public ::testing::TestWithParam<ChainCase> {};

TEST_P(RetentionTest, ExpiresExactly) {
  const ChainCase& c = GetParam();
  EXPECT_THAT(Expired(Chain(5), c.options, c.now_day), ElementsAreArray(c.expired));
}

INSTANTIATE_TEST_SUITE_P(
    Table, RetentionTest,
    ::testing::Values(
        ChainCase{"AllYoung", {.max_snapshot_age = 9 * kDay}, 5, {}},
        ChainCase{"AgeLimitIsInclusive", {.max_snapshot_age = 2 * kDay}, 5, {1, 2}},
        ChainCase{"HeadAlwaysStays", {.max_snapshot_age = 0}, 99, {1, 2, 3, 4}},
        ChainCase{"RetainLastBeatsAge", {.max_snapshot_age = 0, .retain_last = 3}, 99, {1, 2}},
        ChainCase{"AgeBeatsRetainLast", {.max_snapshot_age = 3 * kDay, .retain_last = 1}, 5, {1}},
        ChainCase{"RetainMoreThanExist", {.max_snapshot_age = 0, .retain_last = 50}, 99, {}},
        ChainCase{"UnsetMeansFiveDaysAndOne", {}, 7, {1}},
        ChainCase{"ExplicitInSpiteOfAge", {.snapshot_ids = "3,77"}, 5, {3}},
        ChainCase{"ExplicitInSpiteOfCount",
                  {.max_snapshot_age = 0, .retain_last = 4, .snapshot_ids = "3"},
                  99,
                  {1, 3}}),
    [](const auto& test) { return test.param.name; });

TEST(ExpirePlanTest, UnsetOptionsComeFromTheTable) {
  TableMetadata metadata = Chain(5);
  metadata.properties = {{"history.expire.max-snapshot-age-ms", std::to_string(kDay)},
                         {"history.expire.min-snapshots-to-keep", "3"}};
  EXPECT_THAT(Expired(metadata, {}, 99), ElementsAre(1, 2));
  EXPECT_THAT(Expired(metadata, {.retain_last = 1}, 5), ElementsAre(1, 2, 3));
  EXPECT_THAT(Expired(metadata, {.max_snapshot_age = 3 * kDay}, 5), ElementsAre(1));
  metadata.properties["history.expire.min-snapshots-to-keep"] = "0";
  EXPECT_THAT(Expired(metadata, {}, 99), ElementsAre(1, 2, 3, 4)) << "the head stays";
  metadata.properties["history.expire.max-snapshot-age-ms"] = "soon";
  EXPECT_THAT(Plan(metadata, {}, 9),
              HasError(Code::kInvalidArgument, HasSubstr("max-snapshot-age")));
}

TEST(ExpirePlanTest, ClockSkewLeavesNoHoleInABranch) {
  TableMetadata metadata = Chain(3);
  metadata.snapshots[0].timestamp = Day(9);  // the oldest ancestor claims to be the newest
  EXPECT_THAT(Expired(metadata, {.max_snapshot_age = 0}, 3), ElementsAre(1, 2));
}

TEST(ExpirePlanTest, ImpossibleTimesDoNotOverflow) {
  TableMetadata metadata = Chain(3);
  metadata.snapshots[0].timestamp = FromMillis(std::numeric_limits<std::int64_t>::min());
  metadata.snapshots[1].timestamp = FromMillis(std::numeric_limits<std::int64_t>::max());
  const Options options = {.max_snapshot_age = std::numeric_limits<std::int64_t>::max()};
  EXPECT_THAT(Expired(metadata, options, 3), IsEmpty());
  EXPECT_THAT(Expired(metadata, {}, 3), ElementsAre(1));
}

TEST(ExpirePlanTest, ARingOfParentsEnds) {
  TableMetadata metadata = Chain(3);
  metadata.snapshots[0].parent_id = SnapshotId{3};
  EXPECT_THAT(Expired(metadata, {.max_snapshot_age = 0, .retain_last = 2}, 9), ElementsAre(1));
}

TEST(ExpirePlanTest, NoSnapshotsIsNothing) {
  const auto plan = Plan(NoSnapshots(), {}, 9);
  ASSERT_THAT(plan, IsOk());
  EXPECT_TRUE(plan->empty());
}

// ---- Branches and tags

TEST(ExpirePlanTest, RefsAgeOffByTheirOwnLimitOrTheTables) {
  TableMetadata metadata = Chain(5);
  metadata.refs["old-tag"] = TagAt(1);
  metadata.refs["old-tag"].max_ref_age_ms = kDay;
  metadata.refs["kept-tag"] = TagAt(2);
  metadata.refs["at-limit"] = BranchAt(4);
  metadata.refs["at-limit"].max_ref_age_ms = 2 * kDay;
  metadata.refs["main"].max_ref_age_ms = 1;  // main never goes
  auto plan = Plan(metadata, {.max_snapshot_age = 0}, 6);
  ASSERT_THAT(plan, IsOk());
  EXPECT_THAT(plan->expired_refs, ElementsAre("old-tag"));
  EXPECT_THAT(plan->expired, ElementsAre(SnapshotId{1}, SnapshotId{3}));

  metadata.properties["history.expire.max-ref-age-ms"] = std::to_string(kDay);
  plan = Plan(metadata, {.max_snapshot_age = 0}, 6);
  ASSERT_THAT(plan, IsOk());
  EXPECT_THAT(plan->expired_refs, ElementsAre("kept-tag", "old-tag"));
  EXPECT_THAT(plan->expired, ElementsAre(SnapshotId{1}, SnapshotId{2}, SnapshotId{3}));
}

TEST(ExpirePlanTest, ARefToAMissingSnapshotGoes) {
  TableMetadata metadata = Chain(2);
  metadata.refs["lost"] = TagAt(77);
  const auto plan = Plan(metadata, {}, 2);
  ASSERT_THAT(plan, IsOk());
  EXPECT_THAT(plan->expired_refs, ElementsAre("lost"));
}

TEST(ExpirePlanTest, EachBranchHasItsOwnLimits) {
  TableMetadata metadata = Chain(4);  // main: 1 2 3 4
  for (int i = 5; i <= 8; ++i) metadata.snapshots.push_back(Made(i, i == 5 ? 1 : i - 1, i));
  metadata.refs["dev"] = BranchAt(8);  // dev: 1 5 6 7 8
  const Options options = {.max_snapshot_age = 0, .retain_last = 1};
  EXPECT_THAT(Expired(metadata, options, 99), ElementsAre(1, 2, 3, 5, 6, 7));
  metadata.refs["dev"].min_snapshots_to_keep = 3;
  EXPECT_THAT(Expired(metadata, options, 99), ElementsAre(1, 2, 3, 5));
  metadata.refs["main"].max_snapshot_age_ms = 97 * kDay;
  EXPECT_THAT(Expired(metadata, options, 99), ElementsAre(1, 5));
  EXPECT_THAT(Expired(metadata, {.max_snapshot_age = 0, .retain_last = 99}, 110), ElementsAre(5))
      << "retain-last is for main; dev's count is its own";
}

TEST(ExpirePlanTest, TheParentOfATagIsUnreferencedThatOfABranchIsNot) {
  TableMetadata metadata = NoSnapshots();
  metadata.snapshots = {Made(1, 0, 8), Made(2, 1, 8), Made(3, 0, 1)};
  metadata.refs["main"] = BranchAt(3);
  metadata.refs["named"] = TagAt(2);
  // 1 is young and unreferenced: it stays. As a branch's ancestor it goes by the branch's rule.
  EXPECT_THAT(Expired(metadata, {.max_snapshot_age = 3 * kDay}, 9), IsEmpty());
  metadata.refs["named"] = BranchAt(2);
  metadata.refs["named"].max_snapshot_age_ms = 1;
  EXPECT_THAT(Expired(metadata, {.max_snapshot_age = 3 * kDay}, 9), ElementsAre(1));
  metadata.refs["named"] = TagAt(2);
  EXPECT_THAT(Expired(metadata, {.max_snapshot_age = 0}, 9), ElementsAre(1));
}

TEST(ExpirePlanTest, SnapshotsOfARefThatAgesOffCountAsUnreferenced) {
  TableMetadata metadata = Chain(2);
  metadata.snapshots.push_back(Made(3, 1, 8));
  metadata.refs["gone"] = BranchAt(3);
  metadata.refs["gone"].max_ref_age_ms = 1;
  EXPECT_THAT(Expired(metadata, {.max_snapshot_age = 3 * kDay}, 9), ElementsAre(1));
  EXPECT_THAT(Expired(metadata, {.max_snapshot_age = 0}, 9), ElementsAre(1, 3));
}

TEST(ExpirePlanTest, AnExplicitHeadIsRefusedAndItsRefsNamed) {
  TableMetadata metadata = Chain(3);
  metadata.refs["v1"] = TagAt(3);
  metadata.refs["aged"] = TagAt(1);
  metadata.refs["aged"].max_ref_age_ms = 1;
  EXPECT_THAT(Plan(metadata, {.snapshot_ids = "3"}, 3),
              HasError(Code::kInvalidArgument, HasSubstr("branch main, tag v1")));
  EXPECT_THAT(Expired(metadata, {.snapshot_ids = "1"}, 3), ElementsAre(1)) << "its ref goes, too";
}

// ---- The Flink guard

TEST(ExpirePlanTest, TheGuardKeepsTheChainToALivingJobsMarker) {
  TableMetadata metadata = Chain(5);
  metadata.snapshots[1].summary = {{std::string(kFlinkJobId), "j"},
                                   {std::string(kFlinkCheckpointId), "9"}};
  EXPECT_THAT(Expired(metadata, {.max_snapshot_age = 0}, 5), ElementsAre(1));
  EXPECT_THAT(Expired(metadata, {.max_snapshot_age = 0, .no_flink_guard = true}, 5),
              ElementsAre(1, 2, 3, 4));
  const auto plan = Plan(metadata, {.max_snapshot_age = 0}, 9);
  ASSERT_THAT(plan, IsOk());
  EXPECT_THAT(plan->expired, SizeIs(4));
  EXPECT_THAT(plan->notes, ElementsAre(HasSubstr("Flink job j on branch main (checkpoint 9")));
  EXPECT_THAT(Plan(metadata, {.snapshot_ids = "3"}, 5),
              HasError(Code::kInvalidArgument, HasSubstr("no-flink-guard")));
  EXPECT_THAT(Expired(metadata, {.snapshot_ids = "3", .no_flink_guard = true}, 5), ElementsAre(3));
}

// ---- Schemas, specs, the commit

TEST(ExpirePlanTest, SchemasOfKeptSnapshotsAndTheCurrentOneStay) {
  TableMetadata metadata = Chain(3);
  for (int i = 1; i <= 4; ++i) {
    metadata.schemas.push_back(MakeSchema({{1, "id", TypeId::kLong}}, i));
  }
  metadata.current_schema_id = SchemaId{4};
  metadata.snapshots[1].schema_id = SchemaId{1};
  metadata.snapshots[2].schema_id = SchemaId{2};
  const Options options = {.max_snapshot_age = 0, .retain_last = 2};
  auto plan = Plan(metadata, options, 9);
  ASSERT_THAT(plan, IsOk());
  EXPECT_THAT(plan->expired_schemas, ElementsAre(SchemaId{0}, SchemaId{3}));
  metadata.snapshots[2].schema_id.reset();
  plan = Plan(metadata, options, 9);
  ASSERT_THAT(plan, IsOk());
  EXPECT_THAT(plan->expired_schemas, IsEmpty()) << "it may be any";
  plan = Plan(Chain(3), {.clean_expired_metadata = false}, 9);
  EXPECT_THAT(plan->expired_schemas, IsEmpty());
}

TEST(ExpirePlanTest, SpecsThatAreUsedOrTheDefaultStay) {
  TableMetadata metadata = NoSnapshots();
  for (int i = 1; i <= 3; ++i) metadata.partition_specs.push_back(MakeSpec(i, {}));
  metadata.default_spec_id = SpecId{3};
  EXPECT_THAT(PlanExpiredSpecs(metadata, {SpecId{1}, SpecId{9}}),
              ElementsAre(SpecId{0}, SpecId{2}));
}

TEST(ExpirePlanTest, TheCommitAssertsEveryRefItWasDecidedOn) {
  TableMetadata metadata = Chain(3);
  metadata.refs["tag"] = TagAt(2);
  metadata.refs["aged"] = BranchAt(1);
  const ExpireSnapshotsPlan plan = {.expired = {SnapshotId{1}},
                                    .expired_refs = {"aged"},
                                    .expired_schemas = {SchemaId{7}},
                                    .expired_specs = {SpecId{8}}};
  std::map<std::string, std::int64_t> refs;
  int others = 0;
  for (const TableRequirement& requirement : RequirementsOf(metadata, plan)) {
    const auto* ref = std::get_if<AssertRefSnapshotId>(&requirement);
    if (ref == nullptr) ++others;
    if (ref != nullptr) refs[ref->ref] = Raw(ref->snapshot_id.value());
  }
  EXPECT_THAT(refs, ElementsAre(std::pair("aged", 1), std::pair("main", 3), std::pair("tag", 2)));
  EXPECT_EQ(others, 2) << "default spec and current schema";
  EXPECT_THAT(UpdatesOf(plan), SizeIs(4));
  EXPECT_THAT(UpdatesOf({}), IsEmpty());

  const auto without_main = RequirementsOf(NoSnapshots(), {.expired_refs = {"aged"}});
  ASSERT_THAT(without_main, SizeIs(1));
  EXPECT_FALSE(std::get<AssertRefSnapshotId>(without_main[0]).snapshot_id.has_value());
}

// ---- Options

struct BadCase {
  const char* name;
  Options options;
  const char* message;
};

class BadExpireOptionTest : public ::testing::TestWithParam<BadCase> {};

TEST_P(BadExpireOptionTest, IsRefused) {
  EXPECT_THAT(ResolveExpireOptions(GetParam().options, {}),
              HasError(Code::kInvalidArgument, HasSubstr(GetParam().message)));
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadExpireOptionTest,
    ::testing::Values(BadCase{"RetainNone", {.retain_last = 0}, "retain-last is set to 0"},
                      BadCase{"NegativeAge", {.max_snapshot_age = -1}, "max-snapshot-age"},
                      BadCase{"NegativeGuard", {.flink_guard_age = -1}, "flink-guard-age"},
                      BadCase{"Level", {.clean_up_level = "al"}, "did you mean 'all'"},
                      BadCase{"Batch", {.delete_batch_size = 0}, "delete-batch-size"},
                      BadCase{"Deletes", {.delete_parallelism = 0}, "delete-parallelism"},
                      BadCase{"Planning", {.planning_parallelism = -3}, "planning-parallelism"},
                      BadCase{"Ids", {.snapshot_ids = "1,x"}, "'x' is no snapshot id"},
                      BadCase{"EmptyId", {.snapshot_ids = "1,,2"}, "'' is no snapshot id"},
                      BadCase{"HugeId", {.snapshot_ids = "99999999999999999999"}, "snapshot-ids"}),
    [](const auto& test) { return test.param.name; });

TEST(ExpireOptionsTest, EveryMemberHasARow) {
  Options options;
  const auto set = [&](std::string_view key, std::string_view text) {
    EXPECT_THAT(SetField(ExpireSnapshotsFields(), key, text, options), IsOk()) << key;
  };
  set("max-snapshot-age", "2d");
  set("retain-last", "7");
  set("snapshot-ids", "5, 6");
  set("clean-expired-metadata", "false");
  set("clean-up-level", "metadata-only");
  set("delete-batch-size", "10");
  set("delete-parallelism", "3");
  set("planning-parallelism", "4");
  set("flink-guard-age", "1h");
  set("no-flink-guard", "true");
  set("dry-run", "true");
  EXPECT_EQ(ExpireSnapshotsFields().size(), 11U);
  EXPECT_EQ(options.max_snapshot_age, 2 * kDay);
  EXPECT_EQ(options.flink_guard_age, 3'600'000);
  EXPECT_EQ(options.delete_parallelism, 3);
  EXPECT_EQ(options.planning_parallelism, 4);
  EXPECT_TRUE(options.no_flink_guard && options.dry_run && !options.clean_expired_metadata);
  IW_ASSERT_OK_AND_ASSIGN(const ExpireSettings settings, ResolveExpireOptions(options, {}));
  EXPECT_EQ(settings.level, CleanUpLevel::kMetadataOnly);
  EXPECT_EQ(settings.min_snapshots_to_keep, 7);
  EXPECT_THAT(settings.explicit_ids, ElementsAre(SnapshotId{5}, SnapshotId{6}));
  EXPECT_EQ(Options().flink_guard_age, 7 * kDay);
  EXPECT_EQ(Options().delete_batch_size, 1000);
}

// ---- Oracle: the rules as definitions, one snapshot at a time

struct Naive {
  const TableMetadata& metadata;
  std::int64_t max_age;
  std::int64_t keep;
  std::int64_t max_ref_age;
  TimePoint now;

  Ids ChainOf(SnapshotId head) const {
    Ids chain;
    for (const Snapshot* s = metadata.FindSnapshot(head); s != nullptr;
         s = s->parent_id ? metadata.FindSnapshot(*s->parent_id) : nullptr) {
      chain.push_back(Raw(s->id));
    }
    return chain;
  }
  bool RefStays(const std::string& name, const SnapshotRef& ref) const {
    const Snapshot* s = metadata.FindSnapshot(ref.snapshot_id);
    return name == "main" ||
           (now - s->timestamp).count() <= ref.max_ref_age_ms.value_or(max_ref_age);
  }
  bool Stays(const Snapshot& snapshot) const {
    bool referenced = false;
    for (const auto& [name, ref] : metadata.refs) {
      if (!RefStays(name, ref)) continue;
      if (ref.snapshot_id == snapshot.id) return true;
      if (ref.kind == SnapshotRef::Kind::kTag) continue;
      const Ids chain = ChainOf(ref.snapshot_id);
      const auto at = std::ranges::find(chain, Raw(snapshot.id));
      if (at == chain.end()) continue;
      referenced = true;
      bool all_pass = true;
      for (auto it = chain.begin(); it <= at; ++it) {
        const TimePoint made = metadata.FindSnapshot(SnapshotId{*it})->timestamp;
        const bool among_newest = it - chain.begin() < ref.min_snapshots_to_keep.value_or(
                                                           static_cast<std::int32_t>(keep));
        const bool young = made >= now - Milliseconds(ref.max_snapshot_age_ms.value_or(max_age));
        all_pass = all_pass && (among_newest || young);
      }
      if (all_pass) return true;
    }
    return !referenced && snapshot.timestamp >= now - Milliseconds(max_age);
  }
};

TEST(ExpirePlanTest, AgreesWithTheRulesAsDefinitions) {
  std::mt19937 rng(20240601);
  const auto upto = [&](int n) { return static_cast<int>(rng() % static_cast<unsigned>(n)); };
  for (int round = 0; round < 3000; ++round) {
    TableMetadata metadata = NoSnapshots();
    const int n = 1 + upto(12);
    for (int i = 1; i <= n; ++i) metadata.snapshots.push_back(Made(i, upto(i), 1 + upto(20)));
    metadata.refs["main"] = BranchAt(1 + upto(n));
    for (const char* name : {"a", "b", "c"}) {
      SnapshotRef ref = upto(2) == 0 ? TagAt(1 + upto(n)) : BranchAt(1 + upto(n));
      const bool is_branch = ref.kind == SnapshotRef::Kind::kBranch;
      if (is_branch && upto(2) == 0) ref.min_snapshots_to_keep = 1 + upto(5);
      if (is_branch && upto(2) == 0) ref.max_snapshot_age_ms = upto(20) * kDay;
      if (upto(2) == 0) ref.max_ref_age_ms = upto(20) * kDay;
      if (upto(3) != 0) metadata.refs[name] = ref;
    }
    const Naive naive{metadata, upto(20) * kDay, 1 + upto(5), upto(30) * kDay, Day(1 + upto(25))};
    metadata.properties["history.expire.max-ref-age-ms"] = std::to_string(naive.max_ref_age);
    Ids expected;
    for (const Snapshot& snapshot : metadata.snapshots) {
      if (!naive.Stays(snapshot)) expected.push_back(Raw(snapshot.id));
    }
    const Options options = {.max_snapshot_age = naive.max_age,
                             .retain_last = static_cast<int>(naive.keep)};
    ASSERT_THAT(Expired(metadata, options, static_cast<int>(ToMillis(naive.now) / kDay)),
                ElementsAreArray(expected))
        << "round " << round;
  }
}

}  // namespace
}  // namespace icewright
