#include "maintain/staging_history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "testing/matchers.h"
#include "testing/table_builder.h"

namespace icewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// "4<2*3": snapshot 4 on top of 2 with the marker 3; "4<2*3-": in place, it removes deletes.
/// Sequence numbers are those of the list.
struct History {
  std::vector<std::string> snapshots;
  int main = 0;
  int staging = 0;
  int record = 0;
};

TableMetadata TableOf(const History& history) {
  TableMetadata table = MakeTable(MakeSchema({{1, "id", TypeId::kLong}}), {MakeSpec(0, {})});
  std::int64_t sequence = 0;
  for (const std::string& text : history.snapshots) {
    Snapshot snapshot;
    snapshot.id = SnapshotId(std::stoi(text));
    snapshot.sequence_number = SequenceNumber(++sequence);
    const auto parent = text.find('<');
    const auto marker = text.find('*');
    if (parent != std::string::npos)
      snapshot.parent_id = SnapshotId(std::stoi(text.substr(parent + 1)));
    if (marker != std::string::npos) {
      const bool in_place = text.ends_with('-');
      snapshot.summary = {{std::string(kConvertMarker),
                           text.substr(marker + 1, text.size() - marker - (in_place ? 2 : 1))}};
      if (in_place) snapshot.summary.emplace_back("removed-equality-delete-files", "1");
    }
    table.snapshots.push_back(std::move(snapshot));
  }
  if (history.main != 0) {
    table.refs["main"] = {.snapshot_id = SnapshotId(history.main)};
    table.current_snapshot_id = SnapshotId(history.main);
  }
  table.refs["staging"] = {.snapshot_id = SnapshotId(history.staging)};
  if (history.record != 0) {
    table.properties[ConvertRecordProperty("main")] = std::to_string(history.record);
  }
  return table;
}

Result<std::vector<int>> Waiting(const History& history, std::optional<int> resume_from = {}) {
  const TableMetadata table = TableOf(history);
  std::optional<SnapshotId> from;
  if (resume_from) from = SnapshotId(*resume_from);
  IW_ASSIGN(const auto waiting, FindWaitingSnapshots(table, "staging", "main", from));
  std::vector<int> ids;
  for (const Snapshot* snapshot : waiting.snapshots)
    ids.push_back(static_cast<int>(Raw(snapshot->id)));
  return ids;
}

TEST(StagingHistoryTest, AFirstRunStartsAtTheFork) {
  EXPECT_THAT(Waiting({{"1", "2<1", "3<1", "4<3"}, 2, 4}), IsOkAndHolds(ElementsAre(3, 4)));
  EXPECT_THAT(Waiting({{"1", "2<1"}, 2, 2}), IsOkAndHolds(IsEmpty()));
}

TEST(StagingHistoryTest, AFirstRunWithoutAForkTakesAll) {
  EXPECT_THAT(Waiting({{"1", "2<1"}, 0, 2}), IsOkAndHolds(ElementsAre(1, 2)));
  EXPECT_THAT(Waiting({{"9", "1", "2<1"}, 9, 2}), IsOkAndHolds(ElementsAre(1, 2)));
}

TEST(StagingHistoryTest, TheNewestMarkerDecides) {
  const History history{{"1", "3<1", "4<3", "5<4", "6<1*3", "7<6*4", "8<7"}, 8, 5, 4};
  EXPECT_THAT(Waiting(history), IsOkAndHolds(ElementsAre(5)));
}

TEST(StagingHistoryTest, AMarkerBehindExpiredSnapshotsCounts) {
  // 3, which 6 promoted, has expired; 4 is its child.
  EXPECT_THAT(Waiting({{"1", "4<3", "5<4", "6<1*3"}, 6, 5, 3}), IsOkAndHolds(ElementsAre(4, 5)));
}

TEST(StagingHistoryTest, TheMarkerOfAnInPlaceRunBeforeTheForkDoesNot) {
  // 2 is a conversion of main itself; 3 and 4 are main's own, too.
  EXPECT_THAT(Waiting({{"1", "2<1*1", "3<2", "4<3", "5<4"}, 4, 5}), IsOkAndHolds(ElementsAre(5)));
}

TEST(StagingHistoryTest, NorDoesOneAfterThePromotions) {
  EXPECT_THAT(Waiting({{"1", "3<1", "4<3", "6<1*3", "7<6", "8<7*7"}, 8, 4, 3}),
              IsOkAndHolds(ElementsAre(4)));
}

TEST(StagingHistoryTest, OneWhoseDeletesWereOfASnapshotThatExpiredDoesNot) {
  // 5 names 9, which has expired. 3 left the target at 1, 6 at 5.
  EXPECT_THAT(Waiting({{"1", "3<1", "5<1*9-"}, 5, 3}), IsOkAndHolds(ElementsAre(3)));
  EXPECT_THAT(Waiting({{"4<2", "5<4*9", "6<5"}, 5, 6}), IsOkAndHolds(ElementsAre(6)));
}

TEST(StagingHistoryTest, AStagingBranchMadeAnewBeginsThere) {
  // 3 and 4 were promoted from a branch that is gone; the new one left the target at 7.
  const std::vector<std::string> table = {"1", "3<1", "4<3", "6<1*3", "7<6*4", "8<7", "9<7"};
  EXPECT_THAT(Waiting({table, 8, 9, 4}), IsOkAndHolds(ElementsAre(9)));
  EXPECT_THAT(Waiting({{"7<6*4", "8<7", "9<7"}, 8, 9, 4}), IsOkAndHolds(ElementsAre(9)))
      << "the old branch has expired";
  EXPECT_THAT(Waiting({{"8<7", "9<8"}, 8, 9, 4}), IsOkAndHolds(ElementsAre(9)))
      << "and so have the promotions";
  EXPECT_THAT(Waiting({{"7<6*4", "8<7", "9<7", "5<9", "10<8*9"}, 10, 5, 9}),
              IsOkAndHolds(ElementsAre(5)));
}

TEST(StagingHistoryTest, ConversionsOfTheStagingBranchAreLeftOut) {
  EXPECT_THAT(Waiting({{"1", "2<1", "3<2*2", "4<3"}, 1, 4}), IsOkAndHolds(ElementsAre(2, 4)));
}

TEST(StagingHistoryTest, WhatTheTableDoesNotTellIsRefused) {
  struct Case {
    const char* name;
    History history;
    const char* message;
  };
  const Case cases[] = {
      {"the marked snapshot has expired", {{"1", "3<1", "4<3", "7<6"}, 7, 4, 3}, "3 was promoted"},
      {"rolled back behind all markers", {{"1", "3<1", "6<1*3"}, 1, 3, 3}, "3 was promoted"},
      {"rolled back to an older marker",
       {{"1", "3<1", "4<3", "6<1*3", "7<6*4"}, 6, 4, 4},
       "'main' was rolled back: snapshot 4"},
      {"another staging branch", {{"1", "5<1", "6<1*3"}, 6, 5, 3}, "3, which branch 'main' got"},
      {"the staging branch is cut off", {{"1", "2<1", "4<3"}, 2, 4}, "of branch 'staging' is cut"},
      {"the target is cut off", {{"1", "2<1", "5<9"}, 5, 2}, "of branch 'main' is cut"},
  };
  for (const Case& c : cases) {
    EXPECT_THAT(Waiting(c.history), HasError(Code::kConflict, HasSubstr(c.message))) << c.name;
    EXPECT_THAT(Waiting(c.history), HasError(Code::kConflict, HasSubstr("--resume-from")))
        << c.name;
  }
}

TEST(StagingHistoryTest, WhatAPersonNeedsToResume) {
  const auto doubtful = [](const History& history) {
    const TableMetadata table = TableOf(history);
    std::vector<int> ids;
    for (const Snapshot* s : FindDoubtfulSnapshots(table, "staging", "main")) {
      ids.push_back(static_cast<int>(Raw(s->id)));
    }
    return ids;
  };
  EXPECT_THAT(doubtful({{"1", "3<1", "4<3", "6<1*3"}, 1, 4, 3}), ElementsAre(4, 3));
  EXPECT_THAT(doubtful({{"4<3", "5<4", "7<6"}, 7, 5, 3}), ElementsAre(5, 4));
  EXPECT_THAT(doubtful({{"1", "5<1", "6<1*3"}, 6, 5, 3}), IsEmpty()) << "another branch's";
  EXPECT_THAT(doubtful({{"1", "3<1"}, 1, 3}), IsEmpty()) << "nothing was promoted";
}

TEST(StagingHistoryTest, ResumeFromSaysItInstead) {
  const History lost{{"1", "3<1", "4<3", "5<4", "7<6"}, 7, 5, 3};
  EXPECT_THAT(Waiting(lost, 3), IsOkAndHolds(ElementsAre(4, 5)));
  EXPECT_THAT(Waiting(lost, 5), IsOkAndHolds(IsEmpty()));
  EXPECT_THAT(Waiting({{"4<3", "5<4"}, 0, 5}, 3), IsOkAndHolds(ElementsAre(4, 5)))
      << "the parent of what is left";
  EXPECT_THAT(Waiting(lost, 2), HasError(Code::kInvalidArgument, HasSubstr("snapshot 2 is not")));
  const History known{{"1", "3<1", "4<3", "5<4", "6<1*4"}, 6, 5, 4};
  EXPECT_THAT(Waiting(known, 3), HasError(Code::kInvalidArgument, HasSubstr("later snapshot 4")));
}

TEST(StagingHistoryTest, ABrokenMarkerIsNamed) {
  TableMetadata table = TableOf({{"1", "2<1", "3<1"}, 2, 3});
  table.snapshots[1].summary = {{std::string(kConvertMarker), "12x"}};
  EXPECT_THAT(FindWaitingSnapshots(table, "staging", "main", {}),
              HasError(Code::kCorrupt, HasSubstr("'12x'")));
}

TEST(StagingHistoryTest, CommitsSinceTellConversionsFromOthers) {
  const TableMetadata table = TableOf({{"1", "9<1", "2<1", "3<2*9", "4<3", "5<4*9"}, 5, 9});
  const CommitsSince since = FindCommitsSince(table, "staging", "main", SequenceNumber(2));
  EXPECT_THAT(since.conversions, ElementsAre(SequenceNumber(4), SequenceNumber(6)));
  EXPECT_EQ(Raw(since.unknown_up_to), 0);
  EXPECT_THAT(FindCommitsSince(table, "staging", "main", SequenceNumber(4)).conversions,
              ElementsAre(SequenceNumber(6)));
}

TEST(StagingHistoryTest, AnExpiredPromotionIsNotOfABranchThatIsKnownBackToItsFork) {
  // 8, of another branch, has expired; of the staging branch all is there since 2.
  const TableMetadata known = TableOf({{"2<1", "9<2", "3<2*8"}, 3, 9});
  EXPECT_THAT(FindCommitsSince(known, "staging", "main", SequenceNumber(1)).conversions, IsEmpty());
  // Here 8 may have been its own.
  const TableMetadata cut = TableOf({{"2<1", "9<7", "3<2*8"}, 3, 9});
  EXPECT_THAT(FindCommitsSince(cut, "staging", "main", SequenceNumber(1)).conversions,
              ElementsAre(SequenceNumber(3)));
}

TEST(StagingHistoryTest, PromotionsOfAnotherBranchAreCommitsOfOthers) {
  // 8 and 9 are of other branches, and 5, which has expired; 2 is the staging branch's.
  const std::vector<std::string> snapshots = {"1",       "2<1",     "8<1", "10<1*2",
                                              "11<10*8", "12<11*5", "9<1", "13<12*9"};
  const auto conversions = [](const TableMetadata& table) {
    return FindCommitsSince(table, "staging", "main", SequenceNumber(1)).conversions;
  };
  EXPECT_THAT(conversions(TableOf({snapshots, 13, 2})), ElementsAre(SequenceNumber(4)));
  // What a branch that is cut off had before nobody knows: 8 is older than 7, 9 is not.
  std::vector<std::string> cut = snapshots;
  cut.insert(cut.begin() + 3, "7<6");
  EXPECT_THAT(conversions(TableOf({cut, 13, 7})),
              ElementsAre(SequenceNumber(5), SequenceNumber(6), SequenceNumber(7)));
}

TEST(StagingHistoryTest, ExpiredCommitsAreUnknown) {
  const TableMetadata table = TableOf({{"1", "9", "4<3", "5<4"}, 5, 1});
  EXPECT_EQ(Raw(FindCommitsSince(table, "staging", "main", SequenceNumber(1)).unknown_up_to), 2);
  EXPECT_EQ(Raw(FindCommitsSince(table, "staging", "main", SequenceNumber(3)).unknown_up_to), 0)
      << "the numbers asked for are all there";
}

}  // namespace
}  // namespace icewright
