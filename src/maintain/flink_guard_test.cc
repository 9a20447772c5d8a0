#include "maintain/flink_guard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace icewright {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::int64_t kDay = 24 * 3600 * 1000;
const TimePoint kNow = FromMillis(100 * kDay);

struct Made {
  int id;
  int parent;  // 0: none
  int day;
  const char* job = nullptr;
  const char* op = nullptr;
};

TableMetadata History(const std::vector<Made>& snapshots, int head) {
  TableMetadata metadata;
  for (const Made& made : snapshots) {
    Snapshot snapshot{.id = SnapshotId{made.id}, .timestamp = FromMillis(made.day * kDay)};
    if (made.parent != 0) snapshot.parent_id = SnapshotId{made.parent};
    if (made.job != nullptr) {
      snapshot.summary = {{std::string(kFlinkJobId), made.job},
                          {std::string(kFlinkCheckpointId), std::to_string(made.id * 10)}};
    }
    if (made.op != nullptr) snapshot.summary.emplace_back(kFlinkOperatorId, made.op);
    metadata.snapshots.push_back(std::move(snapshot));
  }
  metadata.refs["main"] = {.snapshot_id = SnapshotId{head}};
  return metadata;
}

std::vector<std::int64_t> Kept(const FlinkGuard& guard) {
  std::vector<std::int64_t> ids;
  for (const SnapshotId id : guard.kept) ids.push_back(Raw(id));
  return ids;
}

FlinkGuard Guard(const TableMetadata& metadata, std::int64_t days = 7) {
  return FindFlinkMarkers(metadata, {"main"}, days * kDay, kNow);
}

TEST(FlinkGuardTest, TheChainDownToTheNewestMarkerIsKept) {
  const auto metadata = History({{1, 0, 97, "job"}, {2, 1, 98, "job"}, {3, 2, 99}, {4, 3, 99}}, 4);
  const FlinkGuard guard = Guard(metadata);
  EXPECT_THAT(Kept(guard), ElementsAre(2, 3, 4));
  ASSERT_EQ(guard.young.size(), 1U);
  EXPECT_EQ(guard.young[0].snapshot_id, SnapshotId{2});
  EXPECT_EQ(guard.young[0].checkpoint_id, "20");
  EXPECT_THAT(guard.old, IsEmpty());
}

TEST(FlinkGuardTest, TheAgeLimitIsExclusive) {
  const auto at_limit = History({{1, 0, 93, "job"}, {2, 1, 99}}, 2);
  EXPECT_THAT(Kept(Guard(at_limit)), IsEmpty());
  EXPECT_EQ(Guard(at_limit).old.size(), 1U);
  const auto below = History({{1, 0, 94, "job"}, {2, 1, 99}}, 2);
  EXPECT_THAT(Kept(Guard(below)), ElementsAre(1, 2));
}

TEST(FlinkGuardTest, FiftyDeadJobsKeepNothing) {
  std::vector<Made> snapshots;
  std::vector<std::string> names;
  for (int i = 1; i <= 50; ++i) names.push_back("job" + std::to_string(i));
  for (int i = 1; i <= 50; ++i) snapshots.push_back({i, i - 1, i, names[i - 1].c_str()});
  snapshots.push_back({51, 50, 99});
  const FlinkGuard guard = Guard(History(snapshots, 51));
  EXPECT_THAT(Kept(guard), IsEmpty());
  EXPECT_EQ(guard.old.size(), 50U);
}

TEST(FlinkGuardTest, ALivingJobAmongDeadOnesKeepsItsOwnChainOnly) {
  const auto metadata = History(
      {{1, 0, 10, "dead1"}, {2, 1, 20, "dead2"}, {3, 2, 98, "alive"}, {4, 3, 99, "dead3"}}, 4);
  EXPECT_THAT(Kept(Guard(metadata, 2)), ElementsAre(4)) << "dead3 is young enough, alive is not";
  EXPECT_THAT(Kept(Guard(metadata, 3)), ElementsAre(3, 4));
}

TEST(FlinkGuardTest, EachSinkOfAJobHasItsOwnMarker) {
  const auto metadata =
      History({{1, 0, 98, "job", "a"}, {2, 1, 98, "job", "b"}, {3, 2, 99, "job", "b"}}, 3);
  EXPECT_THAT(Kept(Guard(metadata)), ElementsAre(1, 2, 3));
}

TEST(FlinkGuardTest, EachBranchIsWalkedAndTagsAreNot) {
  auto metadata = History({{1, 0, 98, "job"}, {2, 1, 99}, {3, 1, 99}, {4, 3, 99}}, 2);
  metadata.refs["dev"] = {.snapshot_id = SnapshotId{4}};
  metadata.refs["tag"] = {.snapshot_id = SnapshotId{3}, .kind = SnapshotRef::Kind::kTag};
  EXPECT_THAT(Kept(FindFlinkMarkers(metadata, {"dev", "main", "tag"}, 7 * kDay, kNow)),
              ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(Kept(FindFlinkMarkers(metadata, {"main"}, 7 * kDay, kNow)), ElementsAre(1, 2));
  EXPECT_THAT(Kept(FindFlinkMarkers(metadata, {"tag", "gone"}, 7 * kDay, kNow)), IsEmpty());
}

TEST(FlinkGuardTest, WithoutAnAgeNoMarkerIsYoung) {
  const auto metadata = History({{1, 0, 200, "job"}}, 1);  // its clock is ahead
  EXPECT_THAT(Kept(Guard(metadata, 0)), ElementsAre(1));
  const FlinkGuard guard = FindFlinkMarkers(metadata, {"main"}, std::nullopt, kNow);
  EXPECT_THAT(Kept(guard), IsEmpty());
  EXPECT_EQ(guard.old.size(), 1U);
}

TEST(FlinkGuardTest, BrokenHistoriesEndTheWalk) {
  const auto ring = History({{1, 2, 98, "job"}, {2, 1, 99}}, 2);
  EXPECT_THAT(Kept(Guard(ring)), ElementsAre(1, 2));
  const auto gap = History({{1, 0, 98, "job"}, {3, 2, 99}}, 3);
  EXPECT_THAT(Kept(Guard(gap)), IsEmpty());
}

TEST(FlinkGuardTest, AgesOfImpossibleTimesDoNotOverflow) {
  using Limits = std::numeric_limits<std::int64_t>;
  EXPECT_EQ(AgeMs(FromMillis(Limits::min()), kNow), Limits::max());
  EXPECT_EQ(AgeMs(FromMillis(Limits::max()), FromMillis(-2)), Limits::min());
  EXPECT_EQ(AgeMs(FromMillis(5), FromMillis(7)), 2);
}

}  // namespace
}  // namespace icewright
