// What we do otherwise than Java when it comes to which staging snapshots wait: both answers.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "maintain/java_planner_model.h"
#include "maintain/staging_history.h"
#include "testing/matchers.h"
#include "testing/table_builder.h"

namespace icewright {
namespace {

using ::testing::HasSubstr;

/// Snapshots with files; quiet ones do not count them.
struct Made {
  int id;
  int parent = 0;
  int marker = 0;
  enum class Kind : std::uint8_t { kCounted, kQuiet, kInPlace } kind = Kind::kCounted;
};

struct Difference {
  const char* name;
  std::vector<Made> snapshots;
  int main;
  int staging;
  int record;
  std::vector<int> java;
  std::vector<int> ours;
  const char* refusal = nullptr;
  friend void PrintTo(const Difference& d, std::ostream* os) { *os << d.name; }
};

TableMetadata TableOf(const Difference& difference) {
  TableMetadata table = MakeTable(MakeSchema({{1, "id", TypeId::kLong}}), {MakeSpec(0, {})});
  for (const Made& made : difference.snapshots) {
    Snapshot snapshot;
    snapshot.id = SnapshotId(made.id);
    snapshot.sequence_number = SequenceNumber(std::ssize(table.snapshots) + 1);
    if (made.parent != 0) snapshot.parent_id = SnapshotId(made.parent);
    if (made.marker != 0) {
      snapshot.summary.emplace_back(kJavaMarker, std::to_string(made.marker));
    }
    if (made.kind != Made::Kind::kQuiet) snapshot.summary.emplace_back("added-data-files", "1");
    if (made.kind == Made::Kind::kInPlace) {
      snapshot.summary.emplace_back("removed-equality-delete-files", "1");
    }
    table.snapshots.push_back(std::move(snapshot));
  }
  table.refs["main"] = {.snapshot_id = SnapshotId(difference.main)};
  table.current_snapshot_id = SnapshotId(difference.main);
  table.refs["staging"] = {.snapshot_id = SnapshotId(difference.staging)};
  if (difference.record != 0) {
    table.properties[ConvertRecordProperty("main")] = std::to_string(difference.record);
  }
  return table;
}

class ConvertJavaDifferenceTest : public ::testing::TestWithParam<Difference> {};

TEST_P(ConvertJavaDifferenceTest, BothAnswers) {
  const Difference& difference = GetParam();
  const TableMetadata table = TableOf(difference);
  std::vector<int> java;
  for (const SnapshotId id : JavaPlanner(table, "staging", "main").Waiting()) {
    java.push_back(static_cast<int>(Raw(id)));
  }
  EXPECT_EQ(java, difference.java);
  const auto waiting = FindWaitingSnapshots(table, "staging", "main", {});
  if (difference.refusal != nullptr) {
    EXPECT_THAT(waiting, HasError(Code::kConflict, HasSubstr(difference.refusal)));
    return;
  }
  ASSERT_THAT(waiting, IsOk());
  std::vector<int> ours;
  for (const Snapshot* s : waiting->snapshots) ours.push_back(static_cast<int>(Raw(s->id)));
  EXPECT_EQ(ours, difference.ours);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, ConvertJavaDifferenceTest,
    ::testing::Values(
        Difference{"AWriterThatCountsNothing",
                   {{1}, {.id = 2, .parent = 1, .kind = Made::Kind::kQuiet}, {3, 2}},
                   1,
                   3,
                   0,
                   {3},
                   {2, 3}},
        Difference{"TheMarkerHasExpired",
                   {{1}, {3, 1}, {4, 3}, {7, 6}},
                   7,
                   4,
                   3,
                   {1, 3, 4},
                   {},
                   "3 was promoted"},
        Difference{"RolledBackBehindAllPromotions",
                   {{1}, {3, 1}, {6, 1, 3}},
                   1,
                   3,
                   3,
                   {3},
                   {},
                   "3 was promoted"},
        Difference{"RolledBackToAnEarlierPromotion",
                   {{1}, {3, 1}, {4, 3}, {6, 1, 3}, {7, 6, 4}},
                   6,
                   4,
                   4,
                   {4},
                   {},
                   "'main' was rolled back"},
        Difference{"TheStagingBranchIsCutOff",
                   {{1}, {2, 1}, {4, 3}},
                   2,
                   4,
                   0,
                   {4},
                   {},
                   "of branch 'staging' is cut off"},
        Difference{
            "TheStagingBranchWasMadeAnew", {{1}, {3, 1}, {6, 1, 3}, {9, 6}}, 6, 9, 3, {1, 9}, {9}},
        Difference{"TheTargetWasConvertedInPlaceSince",
                   {{1}, {3, 1}, {4, 3}, {6, 1, 3}, {7, 6}, {8, 7, 7, Made::Kind::kInPlace}},
                   8,
                   4,
                   3,
                   {1, 3, 4},
                   {4}},
        Difference{"TheTargetWasConvertedInPlaceBefore",
                   {{1}, {3, 1}, {7, 1}, {8, 7, 7, Made::Kind::kInPlace}},
                   8,
                   3,
                   0,
                   {1, 3},
                   {3}},
        Difference{"AndThatSnapshotHasExpired",
                   {{1}, {3, 1}, {8, 1, 7, Made::Kind::kInPlace}},
                   8,
                   3,
                   0,
                   {1, 3},
                   {3}},
        Difference{"AnotherStagingBranchWasPromotedSince",
                   {{1}, {3, 1}, {4, 3}, {5, 1}, {6, 1, 3}, {7, 6, 5}},
                   7,
                   4,
                   5,
                   {1, 3, 4},
                   {4}}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace icewright
