#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "commit/commit_test_table.h"
#include "commit/snapshot_producer.h"
#include "commit/snapshot_update.h"

namespace icewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

TEST(CommitAppendTest, TheFirstSnapshotOfATable) {
  CommitTestTable table;
  const SnapshotId id =
      table.MustCommit({.added_data_files = {{table.Data("f1", 10)}, {table.Data("f2", 5)}},
                        .properties = {{"flink.job-id", "j"}}});
  const Snapshot head = table.Head();
  EXPECT_EQ(head.id, id);
  EXPECT_GT(Raw(id), 0);
  EXPECT_EQ(head.parent_id, std::nullopt);
  EXPECT_EQ(head.sequence_number, SequenceNumber(1));
  EXPECT_EQ(head.operation, "append");
  EXPECT_EQ(head.schema_id, SchemaId(0));
  EXPECT_EQ(head.timestamp, table.clock().Now());
  EXPECT_EQ(head.first_row_id, std::nullopt);
  EXPECT_EQ(table.Key(head, "flink.job-id"), "j");
  EXPECT_EQ(table.Key(head, "total-records"), "15");
  EXPECT_EQ(table.Key(head, "manifests-created"), "1");
  EXPECT_EQ(table.report.attempts, 1);
  EXPECT_THAT(table.Picture(head), ElementsAre("+f1 +f2"));
  EXPECT_THAT(table.Live(), UnorderedElementsAre(Pair("f1", 1), Pair("f2", 1)));
  EXPECT_THAT(table.Unsound(), IsEmpty());
}

TEST(CommitAppendTest, FilesAreNamedAsJavaNamesThem) {
  CommitTestTable table;
  const SnapshotId id = table.Append("f1");
  const std::string uuid = "[0-9a-f]{8}-[0-9a-f-]{27}";
  EXPECT_THAT(table.AvroFiles(),
              ElementsAre(MatchesRegex("memory:/w/.*/metadata/" + uuid + "-m0[.]avro"),
                          MatchesRegex("memory:/w/.*/metadata/snap-" + std::to_string(Raw(id)) +
                                       "-1-" + uuid + "[.]avro")));
}

TEST(CommitAppendTest, MetadataPathIsHonoured) {
  CommitTestTable table({.properties = {{"write.metadata.path", "memory:/w/elsewhere"}}});
  table.Append("f1");
  for (const std::string& file : table.AvroFiles()) {
    EXPECT_THAT(file, ::testing::StartsWith("memory:/w/elsewhere/"));
  }
  EXPECT_EQ(table.AvroFiles().size(), 2U);
}

TEST(CommitAppendTest, LaterSnapshotsFollow) {
  CommitTestTable table;
  const SnapshotId first = table.Append("f1");
  table.clock().Advance(Milliseconds(5));
  table.Append("f2");
  const Snapshot head = table.Head();
  EXPECT_EQ(head.parent_id, first);
  EXPECT_EQ(head.sequence_number, SequenceNumber(2));
  EXPECT_EQ(table.Key(head, "total-data-files"), "2");
  EXPECT_EQ(table.Key(head, "total-records"), "20");
  EXPECT_EQ(table.Key(head, "manifests-created"), "1");
  EXPECT_EQ(table.Key(head, "manifests-kept"), "1");
  EXPECT_THAT(table.Picture(head), ElementsAre("+f2", "+f1"));
  EXPECT_THAT(table.Live(), UnorderedElementsAre(Pair("f1", 1), Pair("f2", 2)));
}

TEST(CommitAppendTest, TimeDoesNotRunBackwards) {
  CommitTestTable table;
  table.Append("f1");
  table.clock().Advance(Milliseconds(5'000));
  ASSERT_THAT(table.Set({{"key", "value"}}), IsOk());  // the table is younger than its head
  const TableMetadata metadata = table.Load().metadata();
  table.clock().Set(metadata.last_updated - Milliseconds(10'000));
  const SnapshotUpdate update{.added_data_files = {{table.Data("f2")}}};
  WrittenFiles written("uuid");
  SnapshotProducer producer(update, SnapshotId(42), table.io(), written);
  std::vector<FileConflict> conflicts;
  IW_ASSERT_OK_AND_ASSIGN(const ProducedSnapshot produced,
                          producer.Produce(table.run(), metadata, 1, conflicts));
  EXPECT_EQ(produced.snapshot.timestamp, metadata.last_updated);
}

TEST(CommitAppendTest, Version1HasNoSequenceNumbers) {
  CommitTestTable table({.format_version = 1});
  table.Append("f1");
  table.Append("f2");
  EXPECT_EQ(table.Head().sequence_number, SequenceNumber(0));
  EXPECT_EQ(table.Load().metadata().last_sequence_number, SequenceNumber(0));
  EXPECT_THAT(table.Live(), UnorderedElementsAre(Pair("f1", 0), Pair("f2", 0)));
}

TEST(CommitAppendTest, ReplaceWorksInVersion1) {
  CommitTestTable table({.format_version = 1});
  const SnapshotId planned = table.Append("f1");
  table.MustCommit({.operation = "replace",
                    .added_data_files = {{table.Data("g1"), SequenceNumber(0)}},
                    .removed_data_files = {table.Data("f1")},
                    .validate_from = planned,
                    .fail_on_new_deletes = true});
  EXPECT_THAT(table.Live(), UnorderedElementsAre(Pair("g1", 0)));
}

TEST(CommitAppendTest, RowIdsAreGivenOutInVersion3) {
  CommitTestTable table({.format_version = 3});
  DataFile with_id = table.Data("f1", 10);
  with_id.first_row_id = 4711;  // of another branch, say: does not count
  table.MustCommit({.added_data_files = {{with_id}, {table.Data("f2", 5)}}});
  EXPECT_EQ(table.Head().first_row_id, 0);
  EXPECT_EQ(table.Head().added_rows, 15);
  EXPECT_EQ(table.Load().metadata().next_row_id, 15);
  table.Append("f3");
  const Snapshot head = table.Head();
  EXPECT_EQ(head.first_row_id, 15);
  EXPECT_EQ(head.added_rows, 10);
  std::map<std::string, std::int64_t> ids;
  for (const ManifestFile& manifest : table.Manifests(head)) {
    for (const ManifestEntry& entry : table.Entries(manifest)) {
      ids[entry.file.file_path.text()] = entry.file.first_row_id.value_or(-1);
    }
  }
  EXPECT_THAT(ids, ElementsAre(Pair("f1", 0), Pair("f2", 10), Pair("f3", 15)));
}

TEST(CommitAppendTest, BranchesTakeDisjointRowIds) {
  CommitTestTable table({.format_version = 3});
  table.Append("f1");
  table.Append("b1", "audit");
  table.Append("f2");
  EXPECT_EQ(table.Head("audit").first_row_id, 10);
  EXPECT_EQ(table.Head("main").first_row_id, 20);
  EXPECT_EQ(table.Load().metadata().next_row_id, 30);
}

TEST(CommitAppendTest, AnUpgradedTableGetsRowIdsWithItsFirstCommit) {
  CommitTestTable table;
  table.Append("f1");
  Table loaded = table.Load();
  ASSERT_THAT(loaded.Commit(table.run(), {}, std::vector<TableUpdate>{UpgradeFormatVersion{3}}),
              IsOk());
  table.MustCommit({});  // nothing is added
  const Snapshot head = table.Head();
  EXPECT_EQ(head.first_row_id, 0);
  EXPECT_EQ(head.added_rows, 10);
  EXPECT_THAT(table.Picture(head), ElementsAre("+f1")) << "the manifest is not rewritten";
  EXPECT_EQ(table.Entries(table.Manifests(head)[0])[0].file.first_row_id, 0);
}

TEST(CommitAppendTest, AMissingBranchStartsAtMain) {
  CommitTestTable table;
  const SnapshotId main_head = table.Append("f1");
  table.Append("b1", "audit");
  EXPECT_EQ(table.Head("main").id, main_head);
  const Snapshot audit = table.Head("audit");
  EXPECT_EQ(audit.parent_id, main_head);
  EXPECT_THAT(table.Live("audit"), UnorderedElementsAre(Pair("f1", 1), Pair("b1", 2)));
  EXPECT_EQ(table.Key(audit, "total-data-files"), "2") << "totals say what the snapshot holds";
  EXPECT_EQ(table.Key(audit, "total-records"), "20");
  EXPECT_EQ(table.Key(audit, "added-data-files"), "1");
  table.Append("b2", "audit");
  EXPECT_EQ(table.Key(table.Head("audit"), "total-data-files"), "3") << "of this branch's head";
}

TEST(CommitAppendTest, ATagIsNoBranch) {
  CommitTestTable table;
  const SnapshotId id = table.Append("f1");
  Table loaded = table.Load();
  const SetSnapshotRef tag{.name = "v1",
                           .ref = {.snapshot_id = id, .kind = SnapshotRef::Kind::kTag}};
  ASSERT_THAT(loaded.Commit(table.run(), {}, std::vector<TableUpdate>{tag}), IsOk());
  EXPECT_THAT(table.Commit({.branch = "v1", .added_data_files = {{table.Data("f2")}}}),
              HasError(Code::kInvalidArgument, HasSubstr("tag")));
  EXPECT_THAT(table.Unsound(), IsEmpty());
}

TEST(CommitAppendTest, ABranchKeepsItsRetention) {
  CommitTestTable table;
  SnapshotRef kept{.snapshot_id = table.Append("f1"),
                   .min_snapshots_to_keep = 7,
                   .max_snapshot_age_ms = 1000,
                   .max_ref_age_ms = 2000};
  Table loaded = table.Load();
  ASSERT_THAT(loaded.Commit(table.run(), {},
                            std::vector<TableUpdate>{SetSnapshotRef{.name = "audit", .ref = kept}}),
              IsOk());
  kept.snapshot_id = table.Append("b1", "audit");
  EXPECT_EQ(table.Load().metadata().refs.at("audit"), kept);
}

TEST(CommitAppendTest, NewManifestsAreRolledAtTheTargetSize) {
  CommitTestTable table({.properties = {{"commit.manifest.target-size-bytes", "1"},
                                        {"write.manifest.compression-codec", "none"}}});
  SnapshotUpdate update;
  for (int i = 0; i < 600; ++i) {
    update.added_data_files.push_back({table.Data("f" + std::to_string(i))});
  }
  table.MustCommit(update);
  std::vector<int> counts;
  for (const ManifestFile& manifest : table.Manifests(table.Head())) {
    counts.push_back(manifest.added_files_count.value_or(-1));
  }
  EXPECT_THAT(counts, ElementsAre(250, 250, 100));
  EXPECT_EQ(table.Live().size(), 600U);
}

TEST(CommitAppendTest, LargeSetsAreWrittenInParallel) {
  CommitTestTable table({.run = {.threads = 3}});
  SnapshotUpdate update;
  for (int i = 0; i < 20'001; ++i) {
    update.added_data_files.push_back({table.Data("f" + std::to_string(i))});
  }
  table.MustCommit(update);
  std::vector<int> counts;
  for (const ManifestFile& manifest : table.Manifests(table.Head())) {
    counts.push_back(manifest.added_files_count.value_or(-1));
  }
  EXPECT_THAT(counts, ElementsAre(10'001, 10'000)) << "at least 10,000 files a manifest";
  EXPECT_EQ(table.Live().size(), 20'001U);
}

TEST(CommitAppendTest, EachSpecHasManifestsOfItsOwn) {
  CommitTestTable table;
  Table loaded = table.Load();
  ASSERT_THAT(
      loaded.Commit(table.run(), {},
                    std::vector<TableUpdate>{AddPartitionSpec{MakeSpec(1, {{2, "identity"}})}}),
      IsOk());
  DataFile in_spec_1 = table.Data("cat=a/f2");
  in_spec_1.spec_id = SpecId(1);
  table.MustCommit({.added_data_files = {{table.Data("f1")}, {in_spec_1}, {table.Data("f3")}}});
  EXPECT_THAT(table.Picture(table.Head()), ElementsAre("+cat=a/f2", "+f1 +f3"));
  EXPECT_EQ(table.Key(table.Head(), "changed-partition-count"), "2");
}

TEST(CommitMergeTest, ManifestsBecomeOneAtTheCount) {
  CommitTestTable table({.properties = {{"commit.manifest.min-count-to-merge", "3"}}});
  table.Append("f1");
  table.Append("f2");
  EXPECT_THAT(table.Picture(table.Head()), ElementsAre("+f2", "+f1"));
  table.Append("f3");
  const Snapshot head = table.Head();
  EXPECT_THAT(table.Picture(head), ElementsAre("+f3 =f2 =f1"));
  EXPECT_EQ(table.Key(head, "manifests-created"), "1");
  EXPECT_EQ(table.Key(head, "manifests-kept"), "0");
  EXPECT_EQ(table.Key(head, "manifests-replaced"), "2");
  EXPECT_THAT(table.Live(), UnorderedElementsAre(Pair("f1", 1), Pair("f2", 2), Pair("f3", 3)));
  EXPECT_THAT(table.Unsound(), IsEmpty()) << "the manifest of f3 alone is gone";
}

TEST(CommitMergeTest, SwitchedOffManifestsStay) {
  CommitTestTable table({.properties = {{"commit.manifest-merge.enabled", "false"},
                                        {"commit.manifest.min-count-to-merge", "2"}}});
  for (const char* path : {"f1", "f2", "f3"}) table.Append(path);
  EXPECT_THAT(table.Picture(table.Head()), ElementsAre("+f3", "+f2", "+f1"));
}

TEST(CommitMergeTest, KeepsRowIdsAndExplicitSequenceNumbers) {
  CommitTestTable table(
      {.format_version = 3, .properties = {{"commit.manifest.min-count-to-merge", "2"}}});
  table.Append("f1");
  table.MustCommit(
      {.operation = "overwrite", .added_data_files = {{table.Data("f2"), SequenceNumber(1)}}});
  table.Append("f3");
  EXPECT_THAT(table.Live(), UnorderedElementsAre(Pair("f1", 1), Pair("f2", 1), Pair("f3", 3)));
  std::map<std::string, std::int64_t> ids;
  for (const ManifestFile& manifest : table.Manifests(table.Head())) {
    for (const ManifestEntry& entry : table.Entries(manifest)) {
      ids[entry.file.file_path.text()] = entry.file.first_row_id.value_or(-1);
      EXPECT_EQ(entry.file_sequence_number,
                SequenceNumber(entry.file.file_path.text().back() - '0'));
    }
  }
  // A merged manifest takes the next free id, for its nulls, and uses up as many as it has rows.
  EXPECT_THAT(ids, ElementsAre(Pair("f1", 0), Pair("f2", 10), Pair("f3", 30)));
  EXPECT_EQ(table.Load().metadata().next_row_id, 60);
}

TEST(CommitMergeTest, OwnDeletedEntriesStayAndOlderOnesGo) {
  CommitTestTable table({.properties = {{"commit.manifest-merge.enabled", "false"},
                                        {"commit.manifest.min-count-to-merge", "2"}}});
  table.MustCommit({.added_data_files = {{table.Data("f1")}, {table.Data("f2")}}});
  table.MustCommit({.added_data_files = {{table.Data("f3")}, {table.Data("f4")}}});
  table.MustCommit({.operation = "delete", .removed_data_files = {table.Data("f1")}});
  EXPECT_THAT(table.Picture(table.Head()), ElementsAre("+f3 +f4", "-f1 =f2"));
  ASSERT_THAT(table.Set({{"commit.manifest-merge.enabled", "true"}}), IsOk());
  table.MustCommit({.operation = "delete", .removed_data_files = {table.Data("f3")}});
  EXPECT_THAT(table.Picture(table.Head()), ElementsAre("-f3 =f4 =f2"));
  EXPECT_THAT(table.Unsound(), IsEmpty());
}

TEST(CommitMergeTest, DeletesMergeAmongThemselves) {
  CommitTestTable table({.properties = {{"commit.manifest.min-count-to-merge", "2"}}});
  for (const char* number : {"1", "2"}) {
    table.MustCommit({.operation = "overwrite",
                      .added_data_files = {{table.Data(std::string("f") + number)}},
                      .added_delete_files = {{table.EqualityDeletes(std::string("e") + number)}}});
  }
  EXPECT_THAT(table.Picture(table.Head()), ElementsAre("+f2 =f1", "+e2 =e1"));
  EXPECT_EQ(table.Key(table.Head(), "manifests-replaced"), "2");
  EXPECT_EQ(table.Key(table.Head(), "total-delete-files"), "2");
}

}  // namespace
}  // namespace icewright
