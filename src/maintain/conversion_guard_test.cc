#include "maintain/conversion_guard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "maintain/expire_snapshots_plan.h"
#include "maintain/staging_history.h"
#include "testing/matchers.h"
#include "testing/table_builder.h"

namespace icewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::int64_t kDay = std::int64_t{24} * 3600 * 1000;
constexpr std::int64_t kWeek = 7 * kDay;

TimePoint Day(std::int64_t n) { return TimePoint(Milliseconds(n * kDay)); }

/// Snapshots are made by number; the time of snapshot n is day n.
class ConversionGuardTest : public ::testing::Test {
 protected:
  ConversionGuardTest()
      : metadata_(MakeTable(MakeSchema({{1, "id", TypeId::kLong}}), {MakeSpec(0, {})})) {}

  /// A snapshot on top of a branch, which is made from main if it is new; `marks`: the staging
  /// snapshot that this commit promoted.
  void Add(int id, const std::string& branch, int marks = 0) {
    Snapshot snapshot{.id = SnapshotId{id},
                      .sequence_number = SequenceNumber{id},
                      .timestamp = Day(id),
                      .schema_id = SchemaId{0}};
    auto ref = metadata_.refs.find(branch);
    if (ref == metadata_.refs.end()) ref = metadata_.refs.find("main");
    if (ref != metadata_.refs.end()) snapshot.parent_id = ref->second.snapshot_id;
    if (marks != 0) snapshot.summary = {{std::string(kConvertMarker), std::to_string(marks)}};
    metadata_.snapshots.push_back(std::move(snapshot));
    metadata_.refs[branch] = {.snapshot_id = SnapshotId{id}};
    if (branch == "main") metadata_.current_snapshot_id = SnapshotId{id};
  }
  ConversionGuard Guard(int now_day, std::int64_t age = kWeek) {
    std::vector<std::string> branches;
    for (const auto& [name, ref] : metadata_.refs) branches.push_back(name);
    return FindConversionGuard(metadata_, branches, age, Day(now_day));
  }
  std::vector<int> Kept(int now_day, std::int64_t age = kWeek) {
    std::vector<int> ids;
    for (const SnapshotId id : Guard(now_day, age).kept) ids.push_back(static_cast<int>(Raw(id)));
    return ids;
  }
  std::vector<int> Expired(int now_day, ExpireSnapshotsOptions options) {
    auto settings = ResolveExpireOptions(options, metadata_.properties);
    EXPECT_THAT(settings, IsOk());
    auto plan = PlanExpireSnapshots(metadata_, options, *settings, Day(now_day));
    EXPECT_THAT(plan, IsOk());
    std::vector<int> ids;
    for (const SnapshotId id : plan->expired) ids.push_back(static_cast<int>(Raw(id)));
    return ids;
  }

  TableMetadata metadata_;
};

TEST_F(ConversionGuardTest, WhatWaitsStaysWithTheWayToTheMarker) {
  Add(1, "main");
  Add(2, "staging");
  Add(3, "staging");
  Add(4, "main", 2);  // 2 is promoted
  Add(5, "staging");
  Add(6, "main");  // by another writer
  EXPECT_THAT(Kept(1000), ElementsAre(2, 3, 4, 5, 6))
      << "however old; 2 tells whose rows 4 brought";
  EXPECT_THAT(
      Guard(1000).notes,
      ElementsAre(HasSubstr("2 snapshot(s) of branch staging wait for conversion to main")));
  Add(7, "main", 3);
  EXPECT_THAT(Kept(1000), ElementsAre(3, 5, 6, 7)) << "6 came after 5 was staged";
}

/// A row that came after a delete was staged stays; for that its commit must be known.
TEST_F(ConversionGuardTest, SoDoesWhatTheTargetGotSinceTheOldestOne) {
  Add(1, "main");
  Add(2, "staging");
  Add(3, "staging");
  Add(4, "main");  // by another writer
  Add(5, "main", 2);
  Add(6, "main");
  EXPECT_THAT(Kept(1000), ElementsAre(2, 3, 4, 5, 6));
}

TEST_F(ConversionGuardTest, AConversionInPlaceOfTheTargetChangesNothing) {
  Add(1, "main");
  Add(2, "staging");
  Add(3, "staging");
  Add(4, "main", 2);
  Add(5, "main");
  Add(6, "main", 5);
  Add(7, "main");
  EXPECT_THAT(Kept(1000), ElementsAre(2, 3, 4, 5, 6, 7));
}

TEST_F(ConversionGuardTest, AfterARollbackThePersonsChoiceStays) {
  Add(1, "main");
  Add(2, "staging");
  Add(3, "staging");
  metadata_.properties[ConvertRecordProperty("main")] = "2";
  EXPECT_THAT(Kept(1000), ElementsAre(2, 3));
  EXPECT_THAT(Guard(1000).notes, ElementsAre(HasSubstr("--resume-from")));
}

TEST_F(ConversionGuardTest, AMarkerThatNothingWaitsForStaysWhileItIsYoung) {
  Add(1, "main");
  Add(2, "staging");
  Add(3, "main", 2);
  Add(4, "main");
  EXPECT_THAT(Kept(9), ElementsAre(3, 4));
  EXPECT_THAT(Kept(10), IsEmpty()) << "seven days old";
  EXPECT_THAT(Guard(9).notes, IsEmpty());
}

TEST_F(ConversionGuardTest, WithoutAMarkerNoBranchIsAStagingBranch) {
  Add(1, "main");
  Add(2, "feature");
  Add(3, "feature");
  EXPECT_THAT(Kept(3), IsEmpty());
}

TEST_F(ConversionGuardTest, BranchesOfATargetConvertedInPlaceDoNotWait) {
  Add(1, "main");
  Add(2, "main", 1);  // in place: 1 is on main itself
  Add(3, "feature");
  Add(4, "main");
  EXPECT_THAT(Kept(1000), IsEmpty());
  EXPECT_THAT(Kept(5), ElementsAre(2, 3, 4)) << "the marker is young, on both branches";
}

TEST_F(ConversionGuardTest, ABranchThatIsNotTheMarkersDoesNotWait) {
  Add(1, "main");
  Add(2, "staging");
  Add(3, "feature");
  Add(4, "main", 2);
  Add(5, "feature");
  EXPECT_THAT(Kept(1000), IsEmpty());
}

TEST_F(ConversionGuardTest, RingsAndUnreadableMarkersEnd) {
  Add(1, "main");
  Add(2, "main");
  metadata_.snapshots[0].parent_id = SnapshotId{2};
  EXPECT_THAT(Kept(2), IsEmpty());
  metadata_.snapshots[0].summary = {{std::string(kConvertMarker), "not a number"}};
  EXPECT_THAT(Kept(2), ElementsAre(1, 2));
}

TEST_F(ConversionGuardTest, ExpiryObeysItUnlessToldNotTo) {
  for (const int id : {1, 2, 3}) Add(id, "main");
  for (const int id : {4, 5, 6}) Add(id, "staging");
  Add(7, "main", 4);
  Add(8, "main");
  Add(9, "staging");
  ExpireSnapshotsOptions options{.max_snapshot_age = 0, .retain_last = 1};
  EXPECT_THAT(Expired(100, options), ElementsAre(1, 2, 3));
  options.snapshot_ids = "5";
  auto settings = ResolveExpireOptions(options, {});
  ASSERT_THAT(settings, IsOk());
  EXPECT_THAT(PlanExpireSnapshots(metadata_, options, *settings, Day(100)),
              HasError(Code::kInvalidArgument, HasSubstr("waits for")));
  options.snapshot_ids = "";
  options.no_flink_guard = true;
  EXPECT_THAT(Expired(100, options), ElementsAre(1, 2, 3, 4, 5, 6, 7));
}

}  // namespace
}  // namespace icewright
