#include "maintain/rewrite_committer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "maintain/expire_test_table.h"

namespace icewright {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Pair;
using ::testing::SizeIs;

using Names = std::set<std::string>;

/// Groups "a", "b", ... of two files each, whose new files "a-new", "b-new", ... are written.
class Scene {
 public:
  explicit Scene(int groups, HistoryTestOptions options = {}, RewriteDataFilesOptions task = {})
      : table(std::move(options)), task_(std::move(task)) {
    for (int i = 0; i < groups; ++i) {
      const std::string name = NameOf(i);
      table.Append({name + "1", name + "2"});
    }
    Plan(groups);
  }

  /// What was committed so far becomes the plan.
  void Plan(int groups) {
    loaded.emplace(table.Load());
    const Snapshot& head = *loaded->metadata().current_snapshot();
    job = {.metadata = loaded->shared_metadata(),
           .starting_snapshot = head.id,
           .starting_sequence_number = head.sequence_number};
    job.plan.groups.resize(static_cast<std::size_t>(groups));
    snapshots_before = loaded->metadata().snapshots.size();
    report = {};
    committer = std::make_unique<RewriteCommitter>(table.run(), *loaded, task_, job, report);
  }

  FinishedGroup Group(const std::string& name) {
    FinishedGroup group{.name = "group " + name, .inputs = {}, .result = {}};
    for (const char* number : {"1", "2"}) {
      group.inputs.push_back({.data_file = ExpireTestTable::Data(name + number), .deletes = {}});
    }
    table.MakeFile(ExpireTestTable::PathOf(name + "-new"));
    group.result.added = {ExpireTestTable::Data(name + "-new")};
    group.result.rows_read = 2;
    group.result.rows_deleted = 1;
    group.result.rows_written = 1;
    return group;
  }
  Status Add(const std::string& name) { return committer->Add(Group(name)); }
  Status Finish(const Status& rewritten = {}) { return committer->Finish(rewritten); }
  Status RunAll(const std::string& names) {
    for (const char name : names) IW_TRY(Add(std::string(1, name)));
    return Finish();
  }

  Names Live() {
    Names names;
    for (const DataFile& file : table.Live()) {
      if (file.content == FileContent::kData) names.emplace(file.file_path.file_name());
    }
    return names;
  }
  std::size_t Commits() { return table.Load().metadata().snapshots.size() - snapshots_before; }
  std::int64_t Count(const std::string& key) const { return report.counts.at(key); }
  std::vector<std::string> Failures() const {
    std::vector<std::string> messages;
    for (const Error& error : report.failures) messages.push_back(error.message());
    return messages;
  }
  static std::string Path(const std::string& name) { return ExpireTestTable::PathOf(name).text(); }
  static std::string NameOf(int group) { return std::string(1, static_cast<char>('a' + group)); }

  ExpireTestTable table;
  std::optional<Table> loaded;
  RewriteJob job;
  TaskReport report;
  std::unique_ptr<RewriteCommitter> committer;
  std::size_t snapshots_before = 0;

 private:
  RewriteDataFilesOptions task_;
};

TEST(RewriteCommitterTest, CommitsAllGroupsAsOneSnapshot) {
  Scene scene(3);
  ASSERT_THAT(scene.Add("a"), IsOk());
  ASSERT_THAT(scene.Add("b"), IsOk());
  ASSERT_THAT(scene.Add("c"), IsOk());
  EXPECT_EQ(scene.Commits(), 0U);
  ASSERT_THAT(scene.Finish(), IsOk());
  EXPECT_EQ(scene.Commits(), 1U);
  EXPECT_EQ(scene.Live(), (Names{"a-new", "b-new", "c-new"}));
  EXPECT_EQ(scene.report.outcome, TaskOutcome::kDone);
  EXPECT_THAT(scene.report.snapshot_ids,
              ElementsAre(*scene.table.Load().metadata().current_snapshot_id));
  EXPECT_THAT(scene.report.counts,
              ElementsAre(Pair("added-bytes", 300), Pair("added-data-files-count", 3),
                          Pair("failed-data-files-count", 0), Pair("failed-groups", 0),
                          Pair("removed-dvs-count", 0), Pair("rewritten-bytes", 600),
                          Pair("rewritten-data-files-count", 6), Pair("rewritten-groups", 3),
                          Pair("rows-deleted", 3), Pair("rows-read", 6), Pair("rows-written", 3)));
  EXPECT_THAT(scene.table.Unsound(), IsEmpty());
}

TEST(RewriteCommitterTest, DeletionVectorsGoWithTheirFilesAlsoFromASharedPuffin) {
  Scene scene(2, {.format_version = 3});
  const DataFile a1 = ExpireTestTable::Data("a1");
  const DataFile dv_a = ExpireTestTable::Dv("p", a1, 4);
  const DataFile dv_b = ExpireTestTable::Dv("p", ExpireTestTable::Data("b2"), 44);
  scene.table.Commit({.operation = "delete", .added_delete_files = {{dv_a}, {dv_b}}});
  scene.Plan(2);
  FinishedGroup group = scene.Group("a");
  group.inputs[0].deletes.push_back(
      std::make_shared<DeleteTask>(DeleteTask{.file = dv_a, .sequence_number = SequenceNumber(3)}));
  ASSERT_THAT(scene.committer->Add(std::move(group)), IsOk());
  ASSERT_THAT(scene.Finish(), IsOk());
  EXPECT_EQ(scene.Count("removed-dvs-count"), 1);
  std::vector<std::string> left;
  for (const DataFile& file : scene.table.Live()) {
    if (file.content != FileContent::kData) left.push_back(file.referenced_data_file->text());
  }
  EXPECT_THAT(left, ElementsAre(Scene::Path("b2")));
}

struct ConflictCase {
  const char* name;
  int format_version;
  bool use_starting_sequence_number;
  std::function<void(ExpireTestTable&)> rival;
  Names live;
  std::string reason;  ///< Empty: no conflict.
  friend void PrintTo(const ConflictCase& c, std::ostream* os) { *os << c.name; }
};

class RewriteConflictTest : public ::testing::TestWithParam<ConflictCase> {};

void DeletePosition(ExpireTestTable& table) {
  DataFile deletes = ExpireTestTable::PositionDeletes("p");
  deletes.referenced_data_file = ExpireTestTable::PathOf("b2");
  table.Commit({.operation = "delete", .added_delete_files = {{deletes}}});
}
void DeleteWithDv(ExpireTestTable& table) {
  table.Commit({.operation = "delete",
                .added_delete_files = {{ExpireTestTable::Dv("p", ExpireTestTable::Data("b2"))}}});
}
void DeleteByKey(ExpireTestTable& table) {
  table.Commit(
      {.operation = "delete", .added_delete_files = {{ExpireTestTable::EqualityDeletes("e")}}});
}
void RemoveFile(ExpireTestTable& table) { table.Replace({"b2"}, {}); }
void AppendFile(ExpireTestTable& table) { table.Append({"z"}); }

TEST_P(RewriteConflictTest, OnlyGroupsInConflictLeaveTheCommit) {
  const ConflictCase& c = GetParam();
  Scene scene(3, {.format_version = c.format_version},
              {.use_starting_sequence_number = c.use_starting_sequence_number});
  c.rival(scene.table);
  const SnapshotId rival = *scene.table.Load().metadata().current_snapshot_id;
  ASSERT_THAT(scene.RunAll("abc"), IsOk());
  EXPECT_EQ(scene.Live(), c.live);
  EXPECT_EQ(scene.Commits(), 2U) << "the rival's and ours";
  EXPECT_THAT(scene.report.snapshot_ids, SizeIs(1));
  EXPECT_THAT(scene.report.leftovers, IsEmpty());
  EXPECT_THAT(scene.table.Unsound(), IsEmpty()) << "files of the group in conflict are gone";
  if (c.reason.empty()) {
    EXPECT_EQ(scene.report.outcome, TaskOutcome::kDone);
    EXPECT_THAT(scene.Failures(), IsEmpty());
    return;
  }
  EXPECT_EQ(scene.report.outcome, TaskOutcome::kPartial);
  EXPECT_THAT(scene.Failures(), ElementsAre("group b was left out: " + Scene::Path("b2") + ": " +
                                            c.reason + " " + std::to_string(Raw(rival))));
  EXPECT_EQ(scene.report.failures[0].code(), Code::kConflict);
  EXPECT_EQ(scene.Count("failed-groups"), 1);
  EXPECT_EQ(scene.Count("failed-data-files-count"), 2);
  EXPECT_EQ(scene.Count("rewritten-groups"), 2);
  EXPECT_EQ(scene.Count("rewritten-data-files-count"), 4);
  EXPECT_EQ(scene.Count("added-data-files-count"), 2);
}

const Names kAllNew = {"a-new", "b-new", "c-new"};
const Names kWithoutB = {"a-new", "b1", "b2", "c-new"};

INSTANTIATE_TEST_SUITE_P(
    Rival, RewriteConflictTest,
    ::testing::Values(ConflictCase{"PositionDelete", 2, true, DeletePosition, kWithoutB,
                                   "a position delete was added by snapshot"},
                      ConflictCase{"DeletionVector", 3, true, DeleteWithDv, kWithoutB,
                                   "a deletion vector was added by snapshot"},
                      ConflictCase{"RemovedInput",
                                   2,
                                   true,
                                   RemoveFile,
                                   {"a-new", "b1", "c-new"},
                                   "it was removed by snapshot"},
                      ConflictCase{"EqualityDeleteStillApplies", 2, true, DeleteByKey, kAllNew, ""},
                      ConflictCase{
                          "Append", 3, true, AppendFile, {"a-new", "b-new", "c-new", "z"}, ""}),
    [](const auto& test) { return test.param.name; });

TEST(RewriteCommitterTest, AConflictThatALostRaceBringsLeavesOutTheGroupAsWell) {
  Scene scene(3);
  scene.table.before_swap = [&]() -> Status {
    DeletePosition(scene.table);
    return {};
  };
  ASSERT_THAT(scene.RunAll("abc"), IsOk());
  EXPECT_EQ(scene.report.outcome, TaskOutcome::kPartial);
  EXPECT_EQ(scene.Live(), kWithoutB);
  EXPECT_THAT(scene.Failures(), ElementsAre(HasSubstr("group b was left out")));
  EXPECT_THAT(scene.table.Unsound(), IsEmpty());
}

TEST(RewriteCommitterTest, AConflictOfEveryGroupIsAnError) {
  Scene scene(3, {}, {.use_starting_sequence_number = false});
  DeleteByKey(scene.table);  // unpartitioned: it reaches every file
  EXPECT_THAT(scene.RunAll("abc"),
              HasError(Code::kConflict, HasSubstr("group a was left out: " + Scene::Path("a1") +
                                                  ": an equality delete was added by snapshot")));
  EXPECT_THAT(scene.report.failures, SizeIs(3));
  EXPECT_EQ(scene.Live(), (Names{"a1", "a2", "b1", "b2", "c1", "c2"}));
  EXPECT_THAT(scene.report.snapshot_ids, IsEmpty());
  EXPECT_THAT(scene.table.Unsound(), IsEmpty());
}

TEST(RewriteCommitterTest, AllOrNothingFailsAndRemovesItsFiles) {
  Scene scene(3, {}, {.all_or_nothing = true});
  DeletePosition(scene.table);
  EXPECT_THAT(scene.RunAll("abc"),
              HasError(Code::kConflict, HasSubstr(Scene::Path("b2") + ": a position delete")));
  EXPECT_EQ(scene.report.outcome, TaskOutcome::kFailed);
  EXPECT_EQ(scene.Commits(), 1U) << "the rival's";
  EXPECT_EQ(scene.Live(), (Names{"a1", "a2", "b1", "b2", "c1", "c2"}));
  EXPECT_THAT(scene.report.leftovers, IsEmpty());
  EXPECT_THAT(scene.table.Unsound(), IsEmpty());
}

TEST(RewriteCommitterTest, FilesThatCannotBeRemovedAreLeftovers) {
  Scene scene(2, {}, {.all_or_nothing = true});
  RemoveFile(scene.table);
  ASSERT_THAT(scene.Add("a"), IsOk());
  ASSERT_THAT(scene.Add("b"), IsOk());
  scene.table.io().OnCall([](int, const IoEvent& event) -> Status {
    if (event.call != IoCall::kDelete || event.location.file_name() != "b-new") return {};
    return Error(Code::kDenied, "not allowed");
  });
  EXPECT_THAT(scene.Finish(), HasCode(Code::kConflict));
  EXPECT_THAT(scene.report.leftovers, ElementsAre(ExpireTestTable::PathOf("b-new")));
  EXPECT_EQ(scene.table.Unsound(), (Names{"data/b-new"}));
}

TEST(RewriteCommitterTest, AGroupThatFailedMakesTheRunPartial) {
  Scene scene(2);
  ASSERT_THAT(scene.Add("a"), IsOk());
  ASSERT_THAT(scene.committer->AddFailure(Error(Code::kCorrupt, "b1 is torn"), 2), IsOk());
  ASSERT_THAT(scene.Finish(), IsOk());
  EXPECT_EQ(scene.report.outcome, TaskOutcome::kPartial);
  EXPECT_THAT(scene.Failures(), ElementsAre("b1 is torn"));
  EXPECT_EQ(scene.Count("failed-groups"), 1);
  EXPECT_EQ(scene.Count("failed-data-files-count"), 2);
  EXPECT_EQ(scene.Live(), (Names{"a-new", "b1", "b2"}));
}

TEST(RewriteCommitterTest, OnlyFailedGroupsAreAnError) {
  Scene scene(1);
  ASSERT_THAT(scene.committer->AddFailure(Error(Code::kCorrupt, "a1 is torn"), 2), IsOk());
  EXPECT_THAT(scene.Finish(), HasError(Code::kCorrupt, "a1 is torn"));
  EXPECT_EQ(scene.report.outcome, TaskOutcome::kFailed);
}

// ---- Partial progress

RewriteDataFilesOptions Batches(int max_commits, std::optional<int> max_failed = {}) {
  return {.partial_progress_enabled = true,
          .partial_progress_max_commits = max_commits,
          .partial_progress_max_failed_commits = max_failed};
}

/// One lost race is the end of a commit.
const HistoryTestOptions kNoRetry = {.properties = {{"commit.retry.num-retries", "0"}}};

struct BatchCase {
  const char* name;
  int groups;
  int max_commits;
  std::vector<std::size_t> commits_after;  ///< Each Add, and then Finish.
  friend void PrintTo(const BatchCase& c, std::ostream* os) { *os << c.name; }
};

class RewriteBatchTest : public ::testing::TestWithParam<BatchCase> {};

TEST_P(RewriteBatchTest, CommitsWhenABatchIsFull) {
  const BatchCase& c = GetParam();
  Scene scene(c.groups, {}, Batches(c.max_commits));
  std::vector<std::size_t> commits;
  Names live;
  for (int i = 0; i < c.groups; ++i) {
    ASSERT_THAT(scene.Add(Scene::NameOf(i)), IsOk());
    commits.push_back(scene.Commits());
    live.insert(Scene::NameOf(i) + "-new");
  }
  ASSERT_THAT(scene.Finish(), IsOk());
  commits.push_back(scene.Commits());
  EXPECT_EQ(commits, c.commits_after);
  EXPECT_EQ(scene.report.snapshot_ids.size(), c.commits_after.back());
  EXPECT_EQ(scene.report.outcome, TaskOutcome::kDone);
  EXPECT_EQ(scene.Count("rewritten-groups"), c.groups);
  EXPECT_EQ(scene.Live(), live);
}

INSTANTIATE_TEST_SUITE_P(Sizes, RewriteBatchTest,
                         ::testing::Values(BatchCase{"FiveInTwo", 5, 2, {0, 0, 1, 1, 1, 2}},
                                           BatchCase{"FiveInThree", 5, 3, {0, 1, 1, 2, 2, 3}},
                                           BatchCase{"ThreeInTen", 3, 10, {1, 2, 3, 3}},
                                           BatchCase{"ThreeInOne", 3, 1, {0, 0, 1, 1}}),
                         [](const auto& test) { return test.param.name; });

/// Makes the next `times` commits lose to an append.
void LoseRaces(ExpireTestTable& table, int times) {
  if (times == 0) return;
  table.before_swap = [&table, times]() -> Status {
    table.Append({"z" + std::to_string(times)});
    LoseRaces(table, times - 1);
    return {};
  };
}

TEST(RewriteBatchesTest, AFailedBatchIsReportedAndTheNextOneLands) {
  Scene scene(3, kNoRetry, Batches(3));
  LoseRaces(scene.table, 1);
  ASSERT_THAT(scene.RunAll("abc"), IsOk());
  EXPECT_EQ(scene.report.outcome, TaskOutcome::kPartial);
  EXPECT_THAT(scene.Failures(), ElementsAre(HasSubstr("gave up after 1 attempts")));
  EXPECT_THAT(scene.report.snapshot_ids, SizeIs(2));
  EXPECT_EQ(scene.Live(), (Names{"a1", "a2", "b-new", "c-new", "z1"}));
  EXPECT_EQ(scene.Count("failed-groups"), 1);
  EXPECT_EQ(scene.Count("failed-data-files-count"), 2);
  EXPECT_EQ(scene.Count("rewritten-groups"), 2);
  EXPECT_THAT(scene.table.Unsound(), IsEmpty());
}

TEST(RewriteBatchesTest, NoBatchThatLandsIsAnError) {
  Scene scene(2, kNoRetry, Batches(2));
  LoseRaces(scene.table, 2);
  EXPECT_THAT(scene.RunAll("ab"), HasError(Code::kConflict, HasSubstr("gave up after 1 attempts")));
  EXPECT_EQ(scene.report.outcome, TaskOutcome::kFailed);
  EXPECT_THAT(scene.report.failures, SizeIs(2));
  EXPECT_THAT(scene.report.snapshot_ids, IsEmpty());
  EXPECT_THAT(scene.table.Unsound(), IsEmpty());
}

TEST(RewriteBatchesTest, MoreFailedCommitsThanAllowedEndTheRun) {
  Scene scene(4, kNoRetry, Batches(4, 1));
  ASSERT_THAT(scene.Add("a"), IsOk());
  LoseRaces(scene.table, 2);
  ASSERT_THAT(scene.Add("b"), IsOk()) << "one may fail";
  const Status ended = scene.Add("c");
  EXPECT_THAT(ended,
              HasError(Code::kConflict, HasSubstr("2 commits failed, more than "
                                                  "partial-progress.max-failed-commits (1)")));
  // A thread that was still busy meanwhile.
  EXPECT_THAT(scene.Add("d"), HasError(Code::kConflict, HasSubstr("2 commits failed")));
  EXPECT_THAT(scene.Finish(ended), HasCode(Code::kConflict));
  EXPECT_EQ(scene.report.outcome, TaskOutcome::kFailed);
  EXPECT_THAT(scene.report.snapshot_ids, SizeIs(1));
  EXPECT_THAT(scene.report.failures, SizeIs(2));
  EXPECT_EQ(scene.Live(), (Names{"a-new", "b1", "b2", "c1", "c2", "d1", "d2", "z1", "z2"}));
  EXPECT_THAT(scene.table.Unsound(), IsEmpty());
}

class RewriteUnknownTest : public ::testing::TestWithParam<bool> {};  // whether it landed

TEST_P(RewriteUnknownTest, KeepsEveryFileAndCommitsNoMore) {
  const bool landed = GetParam();
  Scene scene(3, {.properties = {{"commit.status-check.num-retries", "0"}}}, Batches(3));
  ASSERT_THAT(scene.Add("a"), IsOk());
  const auto lose_the_answer = [&]() -> Status {
    scene.table.before_read = []() -> Status { return Error(Code::kUnavailable, "away"); };
    return Error(Code::kCommitUnknown, "no answer");
  };
  if (landed) {
    scene.table.after_swap = lose_the_answer;
  } else {
    scene.table.before_swap = lose_the_answer;
  }
  const Status unknown = scene.Add("b");
  ASSERT_THAT(unknown, HasCode(Code::kCommitUnknown));
  scene.table.before_read = {};
  const auto deletes = scene.table.io().deleted().size();

  // A thread that was still busy meanwhile. Its commit would find b's inputs gone, if b landed, and
  // take b's files for those of a group in conflict.
  EXPECT_THAT(scene.Add("c"), HasCode(Code::kCommitUnknown));
  EXPECT_THAT(scene.Finish(Error(Code::kCancelled, "stopped")), HasCode(Code::kCommitUnknown))
      << "worse than what another thread ended with";
  EXPECT_EQ(scene.table.io().deleted().size(), deletes) << "nothing is deleted";
  EXPECT_EQ(scene.report.outcome, TaskOutcome::kFailed);
  EXPECT_THAT(scene.report.snapshot_ids, SizeIs(1)) << "that of a";
  EXPECT_EQ(scene.Live(), landed ? (Names{"a-new", "b-new", "c1", "c2"})
                                 : (Names{"a-new", "b1", "b2", "c1", "c2"}));
  EXPECT_THAT(scene.table.DataFiles(), IsSupersetOf({"a-new", "b-new", "c-new"}));
  EXPECT_THAT(scene.report.leftovers, ::testing::Contains(ExpireTestTable::PathOf("c-new")));
  EXPECT_THAT(scene.report.leftovers,
              ::testing::Not(::testing::Contains(ExpireTestTable::PathOf("b-new"))))
      << "it may be in the table";
}

INSTANTIATE_TEST_SUITE_P(Swap, RewriteUnknownTest, ::testing::Bool(),
                         [](const auto& test) { return test.param ? "Landed" : "Lost"; });

TEST(RewriteCommitterTest, AnUnknownOutcomeOfTheOnlyCommitKeepsEveryFile) {
  Scene scene(2, {.properties = {{"commit.status-check.num-retries", "0"}}});
  scene.table.after_swap = [&]() -> Status {
    scene.table.before_read = []() -> Status { return Error(Code::kUnavailable, "away"); };
    return Error(Code::kCommitUnknown, "no answer");
  };
  EXPECT_THAT(scene.RunAll("ab"), HasCode(Code::kCommitUnknown));
  scene.table.before_read = {};
  EXPECT_EQ(scene.Live(), (Names{"a-new", "b-new"}));
  EXPECT_THAT(scene.table.Unsound(), IsEmpty());
  EXPECT_THAT(scene.table.io().deleted(), IsEmpty());
}

TEST(RewriteBatchesTest, AStopBetweenBatchesKeepsWhatLanded) {
  std::stop_source stop;
  Scene scene(3, {.stop = stop.get_token()}, Batches(3));
  ASSERT_THAT(scene.Add("a"), IsOk());
  FinishedGroup ready = scene.Group("b");
  stop.request_stop();
  const Status stopped = scene.committer->Add(std::move(ready));
  EXPECT_THAT(stopped, HasCode(Code::kCancelled));
  EXPECT_THAT(scene.Finish(stopped), HasCode(Code::kCancelled));
  EXPECT_EQ(scene.report.outcome, TaskOutcome::kFailed);
  EXPECT_THAT(scene.report.snapshot_ids, SizeIs(1));
  EXPECT_EQ(scene.Count("rewritten-groups"), 1);
  const Names files = scene.table.DataFiles();
  EXPECT_TRUE(files.contains("a-new"));
  EXPECT_FALSE(files.contains("b-new")) << "no commit can have named it";
}

TEST(RewriteCommitterTest, AStopBeforeTheCommitLeavesNothing) {
  std::stop_source stop;
  Scene scene(2, {.stop = stop.get_token()});
  ASSERT_THAT(scene.Add("a"), IsOk());
  stop.request_stop();
  EXPECT_THAT(scene.Finish(Error(Code::kCancelled, "stopped")), HasCode(Code::kCancelled));
  EXPECT_FALSE(scene.table.DataFiles().contains("a-new"));
}

TEST(RewriteBatchesTest, OwnershipIsAskedForBeforeEachCommit) {
  int asked = 0;
  bool mine = true;
  Scene scene(3, {.may_write = [&]() -> Status {
                ++asked;
                return mine ? Status() : Status(Error(Code::kLockLost, "another run has the lock"));
              }},
              Batches(3));
  asked = 0;
  ASSERT_THAT(scene.Add("a"), IsOk());
  const int each = asked;
  EXPECT_GE(each, 1);
  mine = false;
  const Status lost = scene.Add("b");
  EXPECT_THAT(lost, HasError(Code::kLockLost, HasSubstr("another run has the lock")));
  EXPECT_EQ(asked, each + 1) << "the first no ends it";
  EXPECT_THAT(scene.Finish(lost), HasCode(Code::kLockLost));
  EXPECT_THAT(scene.report.snapshot_ids, SizeIs(1));
  EXPECT_EQ(scene.Live(), (Names{"a-new", "b1", "b2", "c1", "c2"}));
  EXPECT_THAT(scene.table.Unsound(), IsEmpty());
}

}  // namespace
}  // namespace icewright
