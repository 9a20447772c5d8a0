#include "maintain/rewrite_manifests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "icewright/actions.h"
#include "maintain/manifest_test_table.h"

namespace icewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const Properties kNoMerge = {{"commit.manifest-merge.enabled", "false"}};

/// One append a line; without merging each is a manifest.
void Fill(ManifestTestTable& table, const std::vector<std::vector<std::string>>& commits,
          const std::string& branch = "main") {
  for (const auto& files : commits) {
    SnapshotUpdate update{.branch = branch};
    for (const std::string& file : files) update.added_data_files.push_back({table.Data(file)});
    table.MustCommit(update);
  }
}

class RewriteManifestsVersionTest : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Versions, RewriteManifestsVersionTest, ::testing::Values(1, 2, 3));

TEST_P(RewriteManifestsVersionTest, ClustersByPartitionAndKeepsEverything) {
  ManifestTestTable table(
      {.format_version = GetParam(), .partitioned = true, .properties = kNoMerge});
  Fill(table, {{"cat=b/1", "cat=a/2"}, {"cat=c/3", "cat=a/4"}, {"cat=b/5"}});
  table.MustCommit({.operation = "delete", .removed_data_files = {table.Data("cat=c/3")}});
  const auto before = table.Naive();
  const Snapshot previous = table.Head();
  ASSERT_THAT(table.Rewrite(), IsOk());
  EXPECT_EQ(table.task.outcome, TaskOutcome::kDone);
  EXPECT_EQ(table.Naive(), before);
  EXPECT_THAT(table.Picture(table.Head()), ElementsAre("=cat=a/4 =cat=a/2 =cat=b/5 =cat=b/1"));
  EXPECT_EQ(table.Count("rewritten-manifests-count"), 3);
  EXPECT_EQ(table.Count("added-manifests-count"), 1);
  EXPECT_EQ(table.Count("kept-manifests-count"), 0);
  EXPECT_EQ(table.Count("entries-processed"), 4);
  EXPECT_THAT(table.task.snapshot_ids, ElementsAre(table.Head().id));
  EXPECT_EQ(table.Head().operation, "replace");
  EXPECT_EQ(table.Key(table.Head(), "entries-processed"), "4");
  EXPECT_EQ(table.Key(table.Head(), "total-records"), table.Key(previous, "total-records"));
  EXPECT_THAT(table.Unsound(), IsEmpty());
}

TEST_P(RewriteManifestsVersionTest, ASecondRunHasNothingToDo) {
  ManifestTestTable table(
      {.format_version = GetParam(), .partitioned = true, .properties = kNoMerge});
  Fill(table, {{"cat=b/1", "cat=a/2"}, {"cat=c/3", "cat=a/4"}, {"cat=b/5"}});
  for (const std::int64_t target : {8 << 20, 3000, 100}) {
    ASSERT_THAT(table.Rewrite({.target_size_bytes = target}), IsOk());
    const SnapshotId head = table.Head().id;
    ASSERT_THAT(table.Rewrite({.target_size_bytes = target}), IsOk());
    EXPECT_EQ(table.task.outcome, TaskOutcome::kNothingToDo) << target;
    EXPECT_EQ(table.task.reason, "nothing would be gained");
    EXPECT_EQ(table.Head().id, head);
    EXPECT_THAT(table.Unsound(), IsEmpty());
  }
}

TEST(RewriteManifestsTest, DeleteManifestsToo) {
  ManifestTestTable table({.format_version = 3, .partitioned = true, .properties = kNoMerge});
  Fill(table, {{"cat=a/1", "cat=b/2"}});
  table.MustCommit(
      {.operation = "delete", .added_delete_files = {{table.EqualityDeletes("cat=b/e")}}});
  table.MustCommit({.operation = "delete",
                    .added_delete_files = {{MakeDv("p", table.Data("cat=b/2"), 4)},
                                           {MakeDv("p", table.Data("cat=a/1"), 44)}}});
  const auto before = table.Naive();
  ASSERT_THAT(table.Rewrite(), IsOk());
  EXPECT_EQ(table.Naive(), before);
  EXPECT_THAT(table.Picture(table.Head()), ElementsAre("+cat=a/1 +cat=b/2", "=p =p =cat=b/e"));
  EXPECT_EQ(table.Key(table.Head(), "manifests-kept"), "1");
  EXPECT_THAT(table.Unsound(), IsEmpty());
}

TEST(RewriteManifestsTest, EachSpecByItself) {
  ManifestTestTable table({.partitioned = true, .properties = kNoMerge});
  Fill(table, {{"cat=b/1"}, {"cat=a/2"}});
  ASSERT_THAT(table.Update({AddPartitionSpec{MakeSpec(1, {}, 1)}, SetDefaultSpec{SpecId{1}}}),
              IsOk());
  for (const char* name : {"x", "y"}) {
    table.MustCommit({.added_data_files = {{MakeDataFile(name, {.records = 10, .spec_id = 1})}}});
  }
  const auto before = table.Naive();
  ASSERT_THAT(table.Rewrite({.spec_id = 1}), IsOk());
  EXPECT_THAT(table.Picture(table.Head()), ElementsAre("=y =x", "+cat=a/2", "+cat=b/1"));
  ASSERT_THAT(table.Rewrite(), IsOk());
  EXPECT_THAT(table.Picture(table.Head()), ElementsAre("=cat=a/2 =cat=b/1", "=y =x"));
  EXPECT_EQ(table.Naive(), before);
}

// Rolling looks at real bytes: several manifests, in the order of partitions, none much above.
TEST(RewriteManifestsTest, RollsAtTheTargetSize) {
  ManifestTestTable table({.partitioned = true,
                           .properties = {{"commit.manifest-merge.enabled", "false"},
                                          {"write.manifest.compression-codec", "uncompressed"}}});
  for (int c = 0; c < 10; ++c) {
    SnapshotUpdate update;
    for (int i = 0; i < 20; ++i) {
      update.added_data_files.push_back(
          {table.Data("cat=" + std::string(1, static_cast<char>('a' + (i * 7 + c) % 26)) + "/f" +
                      std::to_string(c * 100 + i))});
    }
    table.MustCommit(update);
  }
  const auto before = table.Naive();
  constexpr std::int64_t kTarget = 12'000;
  ASSERT_THAT(table.Rewrite({.target_size_bytes = kTarget}), IsOk());
  const auto manifests = table.Manifests(table.Head());
  EXPECT_GT(manifests.size(), 1U);
  EXPECT_LT(manifests.size(), 10U);
  Bytes last;
  for (const ManifestFile& manifest : manifests) {
    EXPECT_LT(manifest.manifest_length, kTarget + 2000);
    EXPECT_LE(last, *manifest.partitions->at(0).lower_bound) << "clustered";
    last = *manifest.partitions->at(0).upper_bound;
  }
  EXPECT_EQ(table.Naive(), before);
  EXPECT_EQ(table.Key(table.Head(), "entries-processed"), "200");
  ASSERT_THAT(table.Rewrite({.target_size_bytes = kTarget}), IsOk());
  EXPECT_EQ(table.task.outcome, TaskOutcome::kNothingToDo);
}

TEST(RewriteManifestsTest, AnyBranchAndOnlyThat) {
  ManifestTestTable table({.format_version = 3, .properties = kNoMerge});
  Fill(table, {{"1"}});
  Fill(table, {{"2"}, {"3"}}, "dev");
  const SnapshotId main = table.Head().id;
  const auto before = table.Naive("dev");
  ASSERT_THAT(table.Rewrite({.branch = "dev"}), IsOk());
  EXPECT_EQ(table.Head().id, main);
  EXPECT_EQ(table.Naive("dev"), before);
  EXPECT_THAT(table.Picture(table.Head("dev")), ElementsAre("=3 =2 =1"));
  EXPECT_THAT(table.Rewrite({.branch = "no"}), HasCode(Code::kNotFound));
  EXPECT_THAT(table.Unsound(), IsEmpty());
}

TEST(RewriteManifestsTest, ADryRunWritesNothing) {
  ManifestTestTable table({.properties = kNoMerge});
  ASSERT_THAT(table.Rewrite({.dry_run = true}), IsOk());
  EXPECT_EQ(table.task.reason, "the table has no snapshot");
  Fill(table, {{"1", "2"}, {"3"}});
  const auto files = table.AvroFiles();
  ASSERT_THAT(table.Rewrite({.dry_run = true}), IsOk());
  EXPECT_EQ(table.task.outcome, TaskOutcome::kPlanned);
  EXPECT_EQ(table.Count("planned-manifests-count"), 2);
  EXPECT_EQ(table.Count("planned-entries"), 3);
  EXPECT_EQ(table.Count("expected-manifests-count"), 1);
  ASSERT_THAT(table.task.items, SizeIs(1));
  EXPECT_EQ(table.task.items[0].name, "group 0 spec 0 data");
  EXPECT_EQ(table.AvroFiles(), files);
}

// Java leaves out the key that the spec asks for.
TEST(RewriteManifestsTest, TheHeaderNamesSchemaAndSpec) {
  ManifestTestTable table({.partitioned = true, .properties = kNoMerge});
  Fill(table, {{"cat=a/1"}, {"cat=a/2"}});
  ASSERT_THAT(table.Rewrite(), IsOk());
  const ManifestFile manifest = table.Manifests(table.Head()).at(0);
  auto bytes = ReadFile(table.io(), manifest.manifest_path);
  ASSERT_THAT(bytes, IsOk());
  for (const char* key :
       {"schema-id", "partition-spec-id", "partition-spec", "format-version", "content"}) {
    EXPECT_THAT(*bytes, HasSubstr(key));
  }
}

TEST(RewriteManifestsTest, ManifestsWithoutLiveFilesGo) {
  ManifestTestTable table({.properties = kNoMerge});
  Fill(table, {{"1"}, {"2"}});
  table.MustCommit({.operation = "delete", .removed_data_files = {table.Data("1")}});
  EXPECT_THAT(table.Picture(table.Head()), ElementsAre("+2", "-1"));
  ASSERT_THAT(table.Rewrite(), IsOk());
  EXPECT_THAT(table.Picture(table.Head()), ElementsAre("=2"));
}

TEST(RewriteManifestsTest, AListThatCountsOtherFilesIsCorrupt) {
  ManifestTestTable table({.properties = kNoMerge});
  Fill(table, {{"1"}, {"2"}});
  auto manifests = table.Manifests(table.Head());
  manifests[1].added_files_count = 5;
  const Snapshot head = table.Head();
  ASSERT_THAT(table.io().Delete(head.manifest_list), IsOk());
  ASSERT_THAT(WriteManifestList(table.run(), table.io(), head.manifest_list,
                                {.snapshot_id = head.id, .sequence_number = head.sequence_number},
                                manifests),
              IsOk());
  const Status status = table.Rewrite();
  EXPECT_THAT(status, HasCode(Code::kCorrupt));
  EXPECT_THAT(status.error().message(), HasSubstr("has 1 live files, its list says 5"));
  EXPECT_THAT(table.Unsound(), IsEmpty());
}

TEST(RewriteManifestsTest, SortsWithinItsMemory) {
  ManifestTestTable table(
      {.partitioned = true, .properties = kNoMerge, .run = {.memory_limit_bytes = 300'000}});
  for (int i = 0; i < 12; ++i) {
    const std::string n = std::to_string(i);
    Fill(table, {{"cat=c/x" + n, "cat=a/y" + n, "cat=b/z" + n}});
  }
  const auto before = table.Naive();
  ASSERT_THAT(table.Rewrite(), IsOk());
  EXPECT_EQ(table.Naive(), before);
  const auto entries = table.Entries(table.Manifests(table.Head()).at(0));
  ASSERT_THAT(entries, SizeIs(36));
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const char cat = i < 12 ? 'a' : i < 24 ? 'b' : 'c';
    EXPECT_EQ(entries[i].file.file_path.text()[4], cat) << i;
  }
  EXPECT_LE(table.run().memory().peak(), 6000);
}

// The spec's source column is gone from the current schema; its tuples must keep type and value.
TEST(RewriteManifestsTest, AfterThePartitionColumnWasDropped) {
  ManifestTestTable table({.partitioned = true, .properties = kNoMerge});
  Fill(table, {{"cat=b/1", "cat=a/2"}, {"cat=a/3"}});
  ASSERT_THAT(
      table.Update({AddPartitionSpec{MakeSpec(1, {})}, SetDefaultSpec{SpecId{1}},
                    AddSchema{MakeSchema({{1, "id", TypeId::kLong}}, 1)}, SetCurrentSchema{}}),
      IsOk());
  const auto before = table.Naive();
  ASSERT_THAT(table.Rewrite(), IsOk());
  EXPECT_EQ(table.task.outcome, TaskOutcome::kDone);
  EXPECT_EQ(table.Naive(), before);
  EXPECT_THAT(table.Picture(table.Head()), ElementsAre("=cat=a/3 =cat=a/2 =cat=b/1"));
}

TEST(RewriteManifestsTest, AsAnAction) {
  ManifestTestTable table({.properties = kNoMerge});
  Fill(table, {{"1"}, {"2"}});
  const Actions actions = Actions::ForTable(table.Load());
  EXPECT_THAT(actions.RewriteManifests().Option("no", "1").Execute(table.run()),
              HasCode(Code::kInvalidArgument));
  auto report = actions.RewriteManifests().Option("target-size-bytes", "1MiB").Execute(table.run());
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->counts.at("added-manifests-count"), 1);
  EXPECT_EQ(actions.RewritePositionDeletes().Execute(table.run())->outcome,
            TaskOutcome::kNothingToDo);
  EXPECT_EQ(actions.RemoveDanglingDeletes().Execute(table.run())->outcome,
            TaskOutcome::kNothingToDo);
}

// ---- Others commit meanwhile

Status CommitOther(ManifestTestTable& table, const SnapshotUpdate& update) {
  CommitReport report;
  Table other = table.Load();
  return CommitSnapshot(table.run(), other, update, report);
}

TEST(RewriteManifestsRaceTest, AnAppendIsKeptWithoutNewWork) {
  ManifestTestTable table({.format_version = 3, .properties = kNoMerge});
  Fill(table, {{"1"}, {"2"}});
  table.before_swap = [&]() -> Status {
    return CommitOther(table, {.added_data_files = {{table.Data("3")}}});
  };
  ASSERT_THAT(table.Rewrite(), IsOk());
  EXPECT_THAT(table.task.notes, IsEmpty());
  EXPECT_THAT(table.Picture(table.Head()), ElementsAre("=2 =1", "+3"));
  EXPECT_EQ(table.Naive().size(), 3U);
  EXPECT_THAT(table.Unsound(), IsEmpty());
}

TEST(RewriteManifestsRaceTest, ADeleteMakesItPlanAgain) {
  ManifestTestTable table({.format_version = 3, .properties = kNoMerge});
  Fill(table, {{"1"}, {"2"}, {"3", "4"}});
  table.before_swap = [&]() -> Status {
    return CommitOther(table, {.operation = "delete", .removed_data_files = {table.Data("3")}});
  };
  ASSERT_THAT(table.Rewrite(), IsOk());
  ASSERT_THAT(table.task.notes, SizeIs(1));
  EXPECT_THAT(table.task.notes[0], HasSubstr("planned again"));
  EXPECT_THAT(table.Picture(table.Head()), ElementsAre("=4 =2 =1"));
  EXPECT_THAT(table.Unsound(), IsEmpty());
}

// The first commit after an upgrade gives row ids to manifests that others have already copied.
TEST(RewriteManifestsRaceTest, RowIdsGivenMeanwhileAreNotGivenTwice) {
  ManifestTestTable table({.properties = kNoMerge});
  Fill(table, {{"1"}, {"2"}});
  ASSERT_THAT(table.Update({UpgradeFormatVersion{3}}), IsOk());
  std::map<std::string, ManifestEntry> after_append;
  table.before_swap = [&]() -> Status {
    IW_TRY(CommitOther(table, {.added_data_files = {{table.Data("3")}}}));
    after_append = table.Naive();
    return {};
  };
  ASSERT_THAT(table.Rewrite(), IsOk());
  EXPECT_EQ(table.Naive(), after_append);
  EXPECT_TRUE(after_append.at("1@-1").file.first_row_id.has_value());
}

TEST(RewriteManifestsRaceTest, AnUpgradeMeanwhileMakesItPlanAgain) {
  for (const int version : {1, 2}) {
    ManifestTestTable table({.format_version = version, .properties = kNoMerge});
    Fill(table, {{"1"}, {"2"}});
    const auto before = table.Live();
    table.before_swap = [&]() -> Status {
      IW_TRY(table.Update({UpgradeFormatVersion{version + 1}}));
      return CommitOther(table, {.added_data_files = {{table.Data("3")}}});
    };
    ASSERT_THAT(table.Rewrite(), IsOk());
    auto after = table.Live();
    EXPECT_EQ(after.erase("3"), 1U);
    EXPECT_EQ(after, before) << "sequence numbers stay 0 where there were none";
    EXPECT_THAT(table.Unsound(), IsEmpty());
  }
}

TEST(RewriteManifestsRaceTest, ItGivesUpAfterAFewPlans) {
  ManifestTestTable table({.properties = kNoMerge});
  Fill(table, {{"1"}, {"2"}});
  int n = 0;
  std::function<Status()> rival = [&]() -> Status {
    const std::string mine = "r" + std::to_string(++n);
    IW_TRY(CommitOther(table, {.added_data_files = {{table.Data(mine)}}}));
    const Status status = CommitOther(
        table, {.operation = "delete",
                .removed_data_files = {table.Data(n == 1 ? "1" : "r" + std::to_string(n - 1))}});
    table.before_swap = rival;
    return status;
  };
  table.before_swap = rival;
  const Status status = table.Rewrite();
  table.before_swap = {};
  EXPECT_THAT(status, HasCode(Code::kConflict));
  EXPECT_THAT(table.task.notes, SizeIs(4));
  EXPECT_THAT(table.Unsound(), IsEmpty());
}

TEST(RewriteManifestsRaceTest, AfterAnUnknownOutcomeEveryFileStays) {
  ManifestTestTable table({.properties = kNoMerge});
  Fill(table, {{"1"}, {"2"}});
  const auto files = table.AvroFiles();
  Table silent = table.LoadSilent();
  EXPECT_THAT(table.RewriteLoaded(silent), HasCode(Code::kCommitUnknown));
  EXPECT_EQ(table.AvroFiles().size(), files.size() + 2) << "a manifest and a list";
  EXPECT_THAT(table.task.leftovers, SizeIs(2));
  EXPECT_THAT(table.task.snapshot_ids, SizeIs(1)) << "what to look for";
  EXPECT_THAT(table.io().deleted(), IsEmpty());
}

}  // namespace
}  // namespace icewright
