#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "commit/commit_test_table.h"
#include "commit/snapshot_update.h"

namespace icewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

/// Another writer, with a run of its own, appends `count` times, each time just before the swap.
void LoseRaces(CommitTestTable& table, int count, const std::string& branch = "main") {
  table.before_swap = [&table, count, branch]() -> Status {
    RunContext run({.clock = &table.clock()});
    Table other = table.Load();
    CommitReport report;
    IW_TRY(CommitSnapshot(
        run, other,
        {.branch = branch, .added_data_files = {{table.Data("other" + std::to_string(count))}}},
        report));
    if (count > 1) LoseRaces(table, count - 1, branch);
    return {};
  };
}

std::set<std::string> WrittenSince(CommitTestTable& table, std::size_t before) {
  std::set<std::string> names;
  const auto created = table.io().created();
  for (std::size_t i = before; i < created.size(); ++i) {
    if (created[i].text().ends_with(".avro")) names.insert(std::string(created[i].file_name()));
  }
  return names;
}

TEST(CommitRetryLoopTest, LostRacesAreRepeatedOnTheNewHead) {
  CommitTestTable table({.format_version = 3});
  const SnapshotId planned = table.Append("f1");
  LoseRaces(table, 3);
  const SnapshotId id =
      table.MustCommit({.operation = "replace",
                        .added_data_files = {{table.Data("g1"), SequenceNumber(1)}},
                        .removed_data_files = {table.Data("f1")},
                        .validate_from = planned,
                        .fail_on_new_deletes = true});
  EXPECT_EQ(table.report.attempts, 4);
  const Snapshot head = table.Head();
  EXPECT_EQ(head.id, id);
  EXPECT_EQ(head.sequence_number, SequenceNumber(5)) << "last + 1 at the attempt that won";
  EXPECT_EQ(head.first_row_id, 40) << "next-row-id at the attempt that won";
  EXPECT_THAT(head.manifest_list.text(), HasSubstr("snap-" + std::to_string(Raw(id)) + "-4-"));
  EXPECT_EQ(table.Key(head, "total-data-files"), "4") << "counted on the head that it replaced";
  EXPECT_EQ(table.Key(head, "deleted-data-files"), "1") << "counted once";
  EXPECT_THAT(table.Live(), UnorderedElementsAre(Pair("g1", 1), Pair("other3", 2),
                                                 Pair("other2", 3), Pair("other1", 4)));
  EXPECT_THAT(table.Unsound(), IsEmpty()) << "lists of losing attempts are gone";
  EXPECT_THAT(table.report.leftovers, IsEmpty());
  EXPECT_THAT(table.clock().sleeps(), SizeIs(3));
}

TEST(CommitRetryLoopTest, ManifestsAreWrittenOnceAndUsedAgain) {
  CommitTestTable table;
  table.Append("f1");
  SnapshotUpdate update{.operation = "replace",
                        .added_data_files = {{table.Data("g1"), SequenceNumber(1)}},
                        .removed_data_files = {table.Data("f1")}};
  LoseRaces(table, 2);
  const std::size_t before = table.io().created().size();
  table.MustCommit(update);
  int lists = 0;
  int manifests = 0;
  for (const std::string& name : WrittenSince(table, before)) {
    ++(name.starts_with("snap-") ? lists : manifests);
  }
  EXPECT_EQ(lists, 3 + 2) << "ours, and one each of the two others";
  EXPECT_EQ(manifests, 2 + 2);
}

TEST(CommitRetryLoopTest, AMergeIsDoneAgainOnlyIfItsInputsChanged) {
  CommitTestTable table({.properties = {{"commit.manifest.min-count-to-merge", "2"}}});
  table.Append("f1");
  LoseRaces(table, 2, "audit");  // main does not move, but sequence numbers do
  table.Append("f2");
  EXPECT_EQ(table.report.attempts, 3);
  EXPECT_THAT(table.Picture(table.Head()), ElementsAre("+f2 =f1"));
  EXPECT_THAT(table.Live(), UnorderedElementsAre(Pair("f1", 1), Pair("f2", 4)));
  EXPECT_THAT(table.Unsound(), IsEmpty());
}

TEST(CommitRetryLoopTest, DropsOfAnEarlierAttemptAreTakenBackIfOlderDataTurnsUp) {
  CommitTestTable table;
  table.Append("f1");
  table.MustCommit({.operation = "delete", .added_delete_files = {{table.EqualityDeletes("e2")}}});
  table.Append("f3");
  table.before_swap = [&]() -> Status {
    Table other = table.Load();
    CommitReport report;
    return CommitSnapshot(
        table.run(), other,
        {.operation = "overwrite", .added_data_files = {{table.Data("old"), SequenceNumber(1)}}},
        report);
  };
  // At first nothing is older than f3, so e2 could go; then a file of number 1 appears.
  table.MustCommit({.operation = "delete", .removed_data_files = {table.Data("f1")}});
  EXPECT_EQ(table.report.attempts, 2);
  EXPECT_THAT(table.Live(), UnorderedElementsAre(Pair("old", 1), Pair("e2", 2), Pair("f3", 3)));
  EXPECT_THAT(table.Unsound(), IsEmpty());
}

/// First row ids of the live files of a snapshot.
std::map<std::string, std::int64_t> RowIds(CommitTestTable& table, const Snapshot& snapshot) {
  std::map<std::string, std::int64_t> ids;
  for (const ManifestFile& manifest : table.Manifests(snapshot)) {
    for (const ManifestEntry& entry : table.Entries(manifest)) {
      if (entry.is_live()) ids[entry.file.file_path.text()] = entry.file.first_row_id.value_or(-1);
    }
  }
  return ids;
}

TEST(CommitRetryLoopTest, RowIdsThatTheWinnerGaveToAnUpgradedTableAreKept) {
  for (const char* min_count : {"100", "2"}) {  // filtered only, and merged as well
    SCOPED_TRACE(min_count);
    CommitTestTable table({.properties = {{"commit.manifest.min-count-to-merge", min_count}}});
    table.MustCommit({.added_data_files = {{table.Data("f1")}, {table.Data("f2")}}});
    table.Append("f3");
    Table loaded = table.Load();
    ASSERT_THAT(loaded.Commit(table.run(), {}, std::vector<TableUpdate>{UpgradeFormatVersion{3}}),
                IsOk());
    LoseRaces(table, 1);
    table.MustCommit({.operation = "delete", .removed_data_files = {table.Data("f1")}});
    EXPECT_EQ(table.report.attempts, 2);
    const Table after = table.Load();
    const Snapshot head = table.Head();
    auto given = RowIds(table, *after.metadata().FindSnapshot(*head.parent_id));
    EXPECT_EQ(given.size(), 4U);
    given.erase("f1");
    EXPECT_EQ(RowIds(table, head), given);
  }
}

TEST(CommitRetryLoopTest, StorageThatIsAwayForAMomentDoesNotEndIt) {
  CommitTestTable table;
  table.Append("f1");
  int failures = 0;
  table.io().OnCall([&](int, const IoEvent& event) -> Status {
    if (event.call != IoCall::kCreate || event.location.text().find("-m") == std::string::npos)
      return {};
    return ++failures > 2 ? Status() : Status(Error(Code::kUnavailable, "503 slow down"));
  });
  table.Append("f2");
  EXPECT_EQ(table.report.attempts, 3);
  EXPECT_THAT(table.clock().sleeps(), SizeIs(2));
  EXPECT_THAT(table.Live(), UnorderedElementsAre(Pair("f1", 1), Pair("f2", 2)));
  EXPECT_THAT(table.Unsound(), IsEmpty());
}

TEST(CommitRetryLoopTest, AConflictThatAppearsInBetweenEndsIt) {
  CommitTestTable table({.format_version = 3});
  const SnapshotId planned = table.Append("f1");
  table.before_swap = [&]() -> Status {
    Table other = table.Load();
    CommitReport report;
    return CommitSnapshot(
        table.run(), other,
        {.operation = "delete", .added_delete_files = {{MakeDv("p1", table.Data("f1"))}}}, report);
  };
  EXPECT_THAT(table.Commit({.operation = "replace",
                            .added_data_files = {{table.Data("g1"), SequenceNumber(1)}},
                            .removed_data_files = {table.Data("f1")},
                            .validate_from = planned,
                            .fail_on_new_deletes = true}),
              HasError(Code::kConflict, HasSubstr("f1: a deletion vector was added")));
  EXPECT_EQ(table.report.attempts, 2);
  EXPECT_THAT(table.report.conflicts, SizeIs(1));
  EXPECT_THAT(table.Unsound(), IsEmpty());
}

TEST(CommitRetryLoopTest, TheTablesNumberOfRetriesIsObeyed) {
  CommitTestTable table({.properties = {{"commit.retry.num-retries", "2"}}});
  LoseRaces(table, 9);
  EXPECT_THAT(table.Commit({.added_data_files = {{table.Data("f1")}}}),
              HasError(Code::kConflict, HasSubstr("gave up after 3 attempts")));
  EXPECT_EQ(table.report.attempts, 3);
  EXPECT_THAT(table.report.conflicts, IsEmpty());
  table.before_swap = nullptr;
  EXPECT_THAT(table.Unsound(), IsEmpty());
  EXPECT_EQ(table.Live().size(), 3U) << "only the others'";
}

TEST(CommitRetryLoopTest, WithoutANumberItGoesOnUntilTheTimeout) {
  CommitTestTable table({.properties = {{"commit.retry.total-timeout-ms", "3000"},
                                        {"commit.retry.min-wait-ms", "1000"},
                                        {"commit.retry.max-wait-ms", "1000"}}});
  LoseRaces(table, 99);
  EXPECT_THAT(table.Commit({.added_data_files = {{table.Data("f1")}}}), HasCode(Code::kConflict));
  // After the third wait 3.0 to 3.3 s have passed; only a first wait without any extra would let it
  // go on, and the seed does not give that.
  EXPECT_EQ(table.report.attempts, 4);
  table.before_swap = nullptr;
}

TEST(CommitRetryLoopTest, MoreThanFourLostRacesDoNotEndIt) {
  CommitTestTable table;
  LoseRaces(table, 12);
  table.Append("f1");
  EXPECT_EQ(table.report.attempts, 13);
  EXPECT_EQ(table.Live().size(), 13U);
}

/// A catalog whose answers a test decides.
class DoubtfulOperations final : public TableOperations {
 public:
  explicit DoubtfulOperations(TableOperations& real) : real_(real) {}

  std::function<Status()> before_commit = [] { return Status(); };
  std::function<Status()> after_commit = [] { return Status(); };
  std::function<Status()> before_load = [] { return Status(); };

  Result<TableState> Load(RunContext& run) override {
    IW_TRY(before_load());
    return real_.Load(run);
  }
  Result<TableState> Commit(RunContext& run, const TableState& base,
                            std::span<const TableRequirement> requirements,
                            std::span<const TableUpdate> updates) override {
    if (Status before = before_commit(); !before) {
      pending_ = [this, base, requirements = std::vector(requirements.begin(), requirements.end()),
                  updates = std::vector(updates.begin(), updates.end())](RunContext& late) {
        return real_.Commit(late, base, requirements, updates).has_value();
      };
      return before.error();
    }
    auto state = real_.Commit(run, base, requirements, updates);
    IW_TRY(after_commit());
    return state;
  }

  /// Carries out the commit that was not done when it was asked for.
  bool Deliver(RunContext& run) { return pending_(run); }

 private:
  TableOperations& real_;
  std::function<bool(RunContext&)> pending_;
};

struct DoubtfulTable {
  explicit DoubtfulTable(CommitTestTable& table)
      : real(table.Load()),
        operations(std::make_shared<DoubtfulOperations>(real.operations())),
        doubtful(real.name(), operations, real.shared_io(), real.state()) {}

  Table real;
  std::shared_ptr<DoubtfulOperations> operations;
  Table doubtful;
};

// The catalog does not answer, nor does it when the table is loaded again; in the end it carries
// the commit out all the same.
TEST(CommitRetryLoopTest, AnUnknownOutcomeKeepsEveryFile) {
  CommitTestTable table;
  table.Append("f1");
  const auto files = table.AvroFiles();
  for (const bool can_look : {true, false}) {
    SCOPED_TRACE(can_look);
    CommitReport report;
    DoubtfulTable with(table);
    with.operations->before_commit = [&]() -> Status {
      with.operations->before_load = [can_look]() -> Status {
        return can_look ? Status() : Status(Error(Code::kUnavailable, "nobody there"));
      };
      return Error(Code::kCommitUnknown, "no answer");
    };
    const std::size_t before = table.AvroFiles().size();
    const std::string path = can_look ? "f2" : "f3";
    EXPECT_THAT(CommitSnapshot(table.run(), with.doubtful,
                               {.added_data_files = {{table.Data(path)}}}, report),
                HasCode(Code::kCommitUnknown));
    EXPECT_EQ(report.attempts, 1);
    ASSERT_TRUE(report.snapshot_id.has_value());
    EXPECT_THAT(report.leftovers, SizeIs(2)) << "manifest and list stay, and are told";
    EXPECT_EQ(table.AvroFiles().size(), before + 2);
    EXPECT_THAT(table.io().deleted(), IsEmpty());

    ASSERT_TRUE(with.operations->Deliver(table.run()));
    EXPECT_EQ(table.Head().id, report.snapshot_id);
    EXPECT_EQ(table.Live().count(path), 1U);
    EXPECT_THAT(table.Unsound(), IsEmpty());
  }
}

TEST(CommitRetryLoopTest, ALostAnswerToACommitThatLandedIsSuccess) {
  CommitTestTable table({.properties = {{"commit.retry.num-retries", "1"}}});
  table.Append("f1");
  for (const Code code : {Code::kCommitUnknown, Code::kUnavailable, Code::kConflict, Code::kIo}) {
    SCOPED_TRACE(Name(code));
    DoubtfulTable with(table);
    with.operations->after_commit = [code]() -> Status {
      return Error(code, "the answer was lost");
    };
    const std::string path = "f-" + std::string(Name(code));
    const std::size_t before = table.Live().size();
    CommitReport report;
    EXPECT_THAT(CommitSnapshot(table.run(), with.doubtful,
                               {.added_data_files = {{table.Data(path)}}}, report),
                IsOk());
    EXPECT_EQ(report.attempts, 1);
    EXPECT_EQ(table.Head().id, report.snapshot_id);
    EXPECT_EQ(table.Live().size(), before + 1) << "once, and only once";
    EXPECT_THAT(table.Unsound(), IsEmpty());
  }
}

// "Conflict", although it landed, and no retry is allowed: the last look finds it.
TEST(CommitRetryLoopTest, NothingIsDeletedBeforeALastLook) {
  CommitTestTable table({.properties = {{"commit.retry.num-retries", "0"}}});
  DoubtfulTable with(table);
  with.operations->after_commit = []() -> Status { return Error(Code::kConflict, "lost"); };
  CommitReport report;
  EXPECT_THAT(CommitSnapshot(table.run(), with.doubtful, {.added_data_files = {{table.Data("f1")}}},
                             report),
              IsOk());
  EXPECT_THAT(table.Unsound(), IsEmpty());
}

// A catalog that applies the updates to what is there now may call our numbers invalid.
TEST(CommitRetryLoopTest, NumbersThatAnotherBranchTookAreALostRace) {
  CommitTestTable table;
  table.Append("f1");
  DoubtfulTable with(table);
  const auto refuse = [] { return Status(Error(Code::kInvalidArgument, "sequence number")); };
  with.operations->before_commit = [&]() -> Status {
    table.Append("b1", "audit");
    with.operations->before_commit = [] { return Status(); };
    return refuse();
  };
  CommitReport report;
  const SnapshotUpdate update{.added_data_files = {{table.Data("f2")}}};
  EXPECT_THAT(CommitSnapshot(table.run(), with.doubtful, update, report), IsOk());
  EXPECT_EQ(report.attempts, 2);
  EXPECT_EQ(table.Head().sequence_number, SequenceNumber(3));

  with.operations->before_commit = refuse;  // and nothing has moved
  EXPECT_THAT(CommitSnapshot(table.run(), with.doubtful, {.added_data_files = {{table.Data("f3")}}},
                             report),
              HasCode(Code::kInvalidArgument));
  EXPECT_EQ(report.attempts, 1);
  EXPECT_THAT(table.Unsound(), IsEmpty());
}

TEST(CommitRetryLoopTest, AFailureThatNobodyCanCheckDeletesNothing) {
  CommitTestTable table;
  DoubtfulTable with(table);
  with.operations->after_commit = [&]() -> Status {
    with.operations->before_load = []() -> Status { return Error(Code::kIo, "gone"); };
    return Error(Code::kIo, "the connection broke");
  };
  CommitReport report;
  EXPECT_THAT(CommitSnapshot(table.run(), with.doubtful, {.added_data_files = {{table.Data("f1")}}},
                             report),
              HasCode(Code::kIo));
  EXPECT_THAT(report.leftovers, SizeIs(2));
  EXPECT_EQ(table.Live().size(), 1U) << "it had landed";
  EXPECT_THAT(table.Unsound(), IsEmpty());
}

TEST(CommitRetryLoopTest, ADefiniteFailureIsNotRepeatedAndLeavesNothing) {
  for (const Code code : {Code::kDenied, Code::kIo, Code::kUnavailable, Code::kCancelled}) {
    SCOPED_TRACE(Name(code));
    CommitTestTable table;
    table.Append("f1");
    table.before_swap = [code]() -> Status { return Error(code, "no"); };
    EXPECT_THAT(table.Commit({.added_data_files = {{table.Data("f2")}}}), HasCode(code));
    EXPECT_EQ(table.report.attempts, 1);
    EXPECT_THAT(table.report.leftovers, IsEmpty());
    EXPECT_THAT(table.Unsound(), IsEmpty());
  }
}

TEST(CommitRetryLoopTest, ALostLockStopsBeforeTheSwap) {
  int asked = 0;
  CommitTestTable table({.run = {.may_write = [&asked]() -> Status {
                           if (++asked < 3) return {};
                           return Error(Code::kLockLost, "the lease ended");
                         }}});
  const auto files = table.AvroFiles();
  EXPECT_THAT(table.Commit({.added_data_files = {{table.Data("f1")}}}), HasCode(Code::kLockLost));
  EXPECT_EQ(table.AvroFiles(), files);
  EXPECT_EQ(table.Load().metadata().snapshots.size(), 0U);
}

TEST(CommitRetryLoopTest, AStoppedRunCleansUpAfterItself) {
  std::stop_source stop;
  CommitTestTable table({.run = {.stop = stop.get_token()}});
  table.Append("f1");
  const auto files = table.AvroFiles();
  table.before_swap = [&]() -> Status {
    stop.request_stop();
    return Error(Code::kConflict, "somebody else won");
  };
  EXPECT_THAT(table.Commit({.added_data_files = {{table.Data("f2")}}}), HasCode(Code::kCancelled));
  EXPECT_EQ(table.AvroFiles(), files);
}

TEST(CommitRetryLoopTest, ManifestsThatExpireUnderItMeanABetterBase) {
  CommitTestTable table;
  table.Append("f1");
  Table loaded = table.Load();
  const Snapshot old = *loaded.metadata().current_snapshot();
  // When the commit opens the list of the head it loaded, the table has moved on and the list is
  // gone.
  bool done = false;
  table.io().OnCall([&](int, const IoEvent& event) -> Status {
    if (done || event.call != IoCall::kOpen || event.location != old.manifest_list) return {};
    done = true;
    Table other = table.Load();
    CommitReport report;
    IW_TRY(CommitSnapshot(table.run(), other, {.added_data_files = {{table.Data("f2")}}}, report));
    IW_TRY(other.Commit(table.run(), {}, std::vector<TableUpdate>{RemoveSnapshots{{old.id}}}));
    return table.io().Delete(old.manifest_list);
  });
  CommitReport report;
  EXPECT_THAT(
      CommitSnapshot(table.run(), loaded, {.added_data_files = {{table.Data("f3")}}}, report),
      IsOk());
  EXPECT_EQ(report.attempts, 2);
  EXPECT_THAT(table.Live(), UnorderedElementsAre(Pair("f1", 1), Pair("f2", 2), Pair("f3", 3)));
}

TEST(CommitRetryLoopTest, WhatCannotBeDeletedIsReported) {
  CommitTestTable table;
  table.Append("f1");
  LoseRaces(table, 1);
  table.io().OnCall([](int, const IoEvent& event) -> Status {
    const bool ours = event.call == IoCall::kDelete && event.location.text().ends_with(".avro");
    return ours ? Status(Error(Code::kDenied, "no")) : Status();
  });
  table.Append("f2");
  table.io().OnCall(nullptr);
  ASSERT_THAT(table.report.leftovers, SizeIs(1)) << "the list of the attempt that lost";
  EXPECT_THAT(table.Unsound(), ElementsAre(table.report.leftovers[0].text()));
}

}  // namespace
}  // namespace icewright
