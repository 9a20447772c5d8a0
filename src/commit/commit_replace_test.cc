#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "codec/avro/container.h"
#include "codec/json.h"
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

/// f1 and f2 in one manifest, f3 in another: sequence numbers 1 and 2.
SnapshotId FillWithThree(CommitTestTable& table) {
  table.MustCommit({.added_data_files = {{table.Data("f1")}, {table.Data("f2")}}});
  return table.Append("f3");
}

TEST(CommitReplaceTest, ManifestsThatHoldRemovedFilesAreRewritten) {
  CommitTestTable table;
  const SnapshotId planned = FillWithThree(table);
  table.MustCommit({.operation = "replace",
                    .added_data_files = {{table.Data("g1"), SequenceNumber(2)}},
                    .removed_data_files = {table.Data("f1"), table.Data("f3")},
                    .validate_from = planned,
                    .fail_on_new_deletes = true});
  const Snapshot head = table.Head();
  EXPECT_THAT(table.Picture(head), ElementsAre("+g1", "-f3", "-f1 =f2"));
  EXPECT_THAT(table.Live(), UnorderedElementsAre(Pair("f2", 1), Pair("g1", 2)));
  EXPECT_EQ(table.Key(head, "manifests-created"), "3");
  EXPECT_EQ(table.Key(head, "manifests-kept"), "0");
  EXPECT_EQ(table.Key(head, "manifests-replaced"), "2");
  EXPECT_EQ(table.Key(head, "deleted-data-files"), "2");
  EXPECT_EQ(table.Key(head, "deleted-records"), "20");
  EXPECT_EQ(table.Key(head, "removed-files-size"), "2000");
  EXPECT_EQ(table.Key(head, "total-records"), "20");
  EXPECT_THAT(table.Unsound(), IsEmpty());
}

TEST(CommitReplaceTest, EntriesCarryWhatTheyInherited) {
  CommitTestTable table({.format_version = 3});
  FillWithThree(table);
  const SnapshotId id = table.MustCommit(
      {.operation = "delete", .removed_data_files = {table.Data("f1"), table.Data("f3")}});
  const auto manifests = table.Manifests(table.Head());
  ASSERT_THAT(manifests, SizeIs(2));
  const auto rewritten = table.Entries(manifests[1]);
  ASSERT_THAT(rewritten, SizeIs(2));
  EXPECT_EQ(rewritten[0].status, EntryStatus::kDeleted);
  EXPECT_EQ(rewritten[0].snapshot_id, id);
  EXPECT_EQ(rewritten[0].sequence_number, SequenceNumber(1));
  EXPECT_EQ(rewritten[0].file_sequence_number, SequenceNumber(1));
  EXPECT_EQ(rewritten[1].status, EntryStatus::kExisting);
  EXPECT_NE(rewritten[1].snapshot_id, id) << "the snapshot that added it";
  EXPECT_EQ(rewritten[1].sequence_number, SequenceNumber(1));
  EXPECT_EQ(rewritten[1].file.first_row_id, 10);
  EXPECT_EQ(manifests[1].min_sequence_number, SequenceNumber(1)) << "of the live entry";
  EXPECT_EQ(manifests[0].min_sequence_number, SequenceNumber(3)) << "nothing is live: the commit's";
  // Ids 0 to 29 are taken; the manifest with one live file of ten rows uses up ten more.
  EXPECT_EQ(table.Load().metadata().next_row_id, 40);
}

TEST(CommitReplaceTest, ManifestsWithoutLiveFilesGoWithTheNextCommit) {
  CommitTestTable table;
  FillWithThree(table);
  table.MustCommit({.operation = "delete", .removed_data_files = {table.Data("f3")}});
  EXPECT_THAT(table.Picture(table.Head()), ElementsAre("-f3", "+f1 +f2"));
  table.Append("f4");
  EXPECT_THAT(table.Picture(table.Head()), ElementsAre("+f4", "+f1 +f2"));
  EXPECT_EQ(table.Key(table.Head(), "manifests-replaced"), "0");
}

TEST(CommitReplaceTest, OnlyManifestsOfThePartitionsAreOpened) {
  CommitTestTable table({.partitioned = true});
  table.Append("cat=a/f1");
  table.Append("cat=b/f2");
  const std::string other = table.Manifests(table.Head())[0].manifest_path.text();
  const std::size_t before = table.io().events().size();
  table.MustCommit({.operation = "delete", .removed_data_files = {table.Data("cat=a/f1")}});
  const auto events = table.io().events();
  for (std::size_t i = before; i < events.size(); ++i) {
    EXPECT_NE(events[i].location.text(), other) << Name(events[i].call);
  }
  EXPECT_THAT(table.Live(), UnorderedElementsAre(Pair("cat=b/f2", 2)));
}

TEST(CommitReplaceTest, AFileThatIsNotThereIsAConflictThatNamesIt) {
  CommitTestTable table;
  const SnapshotId planned = FillWithThree(table);
  const auto files = table.AvroFiles();
  EXPECT_THAT(table.Commit({.operation = "replace",
                            .removed_data_files = {table.Data("f1"), table.Data("never")},
                            .validate_from = planned}),
              HasError(Code::kConflict, HasSubstr("never: it is not in the table")));
  ASSERT_THAT(table.report.conflicts, SizeIs(1));
  EXPECT_EQ(table.report.conflicts[0].data_file.text(), "never");
  EXPECT_EQ(table.report.attempts, 1) << "a validation is not repeated";
  EXPECT_EQ(table.AvroFiles(), files);
}

TEST(CommitReplaceTest, RemovingFromAnEmptyTableIsAConflict) {
  CommitTestTable table;
  EXPECT_THAT(table.Commit({.operation = "delete", .removed_data_files = {table.Data("f1")}}),
              HasCode(Code::kConflict));
  EXPECT_THAT(table.AvroFiles(), IsEmpty());
}

TEST(CommitReplaceTest, MoreRowsThanBeforeAreNoReplace) {
  CommitTestTable table;
  FillWithThree(table);
  const auto files = table.AvroFiles();
  EXPECT_THAT(table.Commit({.operation = "replace",
                            .added_data_files = {{table.Data("g1", 11)}},
                            .removed_data_files = {table.Data("f1")}}),
              HasError(Code::kInvalidArgument, HasSubstr("11 added records, 10 replaced")));
  EXPECT_EQ(table.AvroFiles(), files);
}

TEST(CommitReplaceTest, DuplicateEntriesGoAndAreCountedApart) {
  CommitTestTable table({.properties = {{"commit.manifest.min-count-to-merge", "2"}}});
  table.Append("f1");
  table.Append("f1");  // merged: one manifest with two entries
  EXPECT_THAT(table.Picture(table.Head()), ElementsAre("+f1 =f1"));
  table.MustCommit({.operation = "delete", .removed_data_files = {table.Data("f1")}});
  EXPECT_THAT(table.Live(), IsEmpty());
  EXPECT_EQ(table.Key(table.Head(), "deleted-data-files"), "1");
  EXPECT_EQ(table.Key(table.Head(), "deleted-duplicate-files"), "1");
}

TEST(CommitReplaceTest, TheDvOfARemovedFileGoesToo) {
  CommitTestTable table({.format_version = 3});
  FillWithThree(table);
  table.MustCommit({.operation = "delete",
                    .added_delete_files = {{MakeDv("p", table.Data("f1"), 4)},
                                           {MakeDv("p", table.Data("f2"), 44)}}});
  table.MustCommit({.operation = "replace",
                    .added_data_files = {{table.Data("g1", 9), SequenceNumber(2)}},
                    .removed_data_files = {table.Data("f1")}});
  EXPECT_THAT(table.Live(),
              UnorderedElementsAre(Pair("f2", 1), Pair("f3", 2), Pair("g1", 2), Pair("p@44", 3)));
  const Snapshot head = table.Head();
  EXPECT_EQ(table.Key(head, "removed-dvs"), "1");
  EXPECT_EQ(table.Key(head, "removed-delete-files"), "1");
  EXPECT_EQ(table.Key(head, "removed-position-deletes"), "1");
  EXPECT_EQ(table.Key(head, "removed-position-delete-files"), "none");
  EXPECT_EQ(table.Key(head, "removed-files-size"), "1040") << "the file and the blob of its DV";
  EXPECT_EQ(table.Key(head, "total-position-deletes"), "1");
  EXPECT_THAT(table.Picture(head), ElementsAre("+g1", "+f3", "-f1 =f2", "-p =p"));
}

TEST(CommitReplaceTest, OfAPuffinOnlyTheNamedBlobGoes) {
  CommitTestTable table({.format_version = 3});
  FillWithThree(table);
  const DataFile first = MakeDv("p", table.Data("f1"), 4);
  table.MustCommit({.operation = "delete",
                    .added_delete_files = {{first}, {MakeDv("p", table.Data("f2"), 44)}}});
  table.MustCommit({.operation = "delete",
                    .added_delete_files = {{MakeDv("q", table.Data("f1"), 4)}},
                    .removed_delete_files = {first}});
  EXPECT_THAT(table.Live(), UnorderedElementsAre(Pair("f1", 1), Pair("f2", 1), Pair("f3", 2),
                                                 Pair("p@44", 3), Pair("q@4", 4)));
}

TEST(CommitReplaceTest, ADeleteFileThatIsNotThereIsAConflict) {
  CommitTestTable table;
  FillWithThree(table);
  EXPECT_THAT(
      table.Commit({.operation = "delete", .removed_delete_files = {table.EqualityDeletes("e9")}}),
      HasError(Code::kConflict, HasSubstr("e9")));
  EXPECT_THAT(table.report.conflicts, IsEmpty()) << "no data file is at fault";
}

TEST(CommitReplaceTest, DeletesOlderThanAllDataGoOnTheWay) {
  CommitTestTable table;
  table.Append("f1");  // 1
  table.MustCommit({.operation = "delete",
                    .added_delete_files = {{table.EqualityDeletes("e2", 7)},
                                           {table.PositionDeletes("p2", 5)}}});  // 2
  const SnapshotId planned = table.Append("f3");                                 // 3
  table.MustCommit({.operation = "replace",
                    .added_data_files = {{table.Data("g1"), SequenceNumber(3)}},
                    .removed_data_files = {table.Data("f1"), table.Data("f3")},
                    .validate_from = planned});
  EXPECT_THAT(table.Live(), UnorderedElementsAre(Pair("g1", 3)));
  const Snapshot head = table.Head();
  EXPECT_EQ(table.Key(head, "removed-equality-delete-files"), "1");
  EXPECT_EQ(table.Key(head, "removed-equality-deletes"), "7");
  EXPECT_EQ(table.Key(head, "removed-position-delete-files"), "1");
  EXPECT_EQ(table.Key(head, "removed-position-deletes"), "5");
  EXPECT_EQ(table.Key(head, "total-delete-files"), "0");
}

TEST(CommitReplaceTest, DeletesThatCanStillApplyStay) {
  CommitTestTable table;
  table.Append("f1");
  table.MustCommit({.operation = "delete", .added_delete_files = {{table.EqualityDeletes("e2")}}});
  table.Append("f3");
  table.MustCommit({.operation = "delete", .removed_data_files = {table.Data("f3")}});
  EXPECT_THAT(table.Live(), UnorderedElementsAre(Pair("f1", 1), Pair("e2", 2)));
}

// append, plan, equality delete, append, commit of the plan: the added file is put back to the
// planned number, so the delete must stay although all other data is younger than it.
TEST(CommitReplaceTest, ADeleteThatCameAfterThePlanStaysForTheBackdatedFile) {
  CommitTestTable table;
  const SnapshotId planned = table.Append("f1");  // 1
  table.MustCommit(
      {.operation = "delete", .added_delete_files = {{table.EqualityDeletes("e2")}}});  // 2
  table.Append("f3");                                                                   // 3
  table.MustCommit({.operation = "replace",
                    .added_data_files = {{table.Data("g1"), SequenceNumber(1)}},
                    .removed_data_files = {table.Data("f1")},
                    .validate_from = planned,
                    .fail_on_new_deletes = true,
                    .ignore_new_equality_deletes = true});
  EXPECT_THAT(table.Live(), UnorderedElementsAre(Pair("g1", 1), Pair("e2", 2), Pair("f3", 3)));
}

TEST(CommitReplaceTest, AppendsOpenNoDeleteManifests) {
  CommitTestTable table;
  table.Append("f1");
  table.MustCommit({.operation = "delete", .added_delete_files = {{table.EqualityDeletes("e2")}}});
  const std::string deletes = table.Manifests(table.Head())[1].manifest_path.text();
  const std::size_t before = table.io().events().size();
  table.Append("f3");
  const auto events = table.io().events();
  for (std::size_t i = before; i < events.size(); ++i) {
    EXPECT_NE(events[i].location.text(), deletes) << Name(events[i].call);
  }
}

TEST(CommitReplaceTest, EqualityDeletesMayBecomePositionDeletes) {
  CommitTestTable table;
  table.Append("f1");
  table.MustCommit({.operation = "delete", .added_delete_files = {{table.EqualityDeletes("e2")}}});
  table.MustCommit({.operation = "replace",
                    .added_delete_files = {{table.PositionDeletes("p1"), SequenceNumber(2)}},
                    .removed_delete_files = {table.EqualityDeletes("e2")}});
  EXPECT_THAT(table.Live(), UnorderedElementsAre(Pair("f1", 1), Pair("p1", 2)));
  EXPECT_EQ(table.Key(table.Head(), "total-delete-files"), "1");
}

/// Writes the manifest again with a column more in data_file. Precondition: one entry.
void AddUnknownColumn(CommitTestTable& table, const Location& location) {
  IW_ASSERT_OK_AND_ASSIGN(const Bytes bytes, ReadFile(table.io(), location));
  IW_ASSERT_OK_AND_ASSIGN(auto reader,
                          avro::ContainerReader::Open(std::make_unique<MemorySource>(bytes), "m"));
  std::string schema = reader.schema_json();
  const std::string end = R"(]},"field-id":2}]})";  // of data_file's fields, and of the entry's
  ASSERT_TRUE(schema.ends_with(end)) << schema;
  schema.insert(schema.size() - end.size(),
                R"(,{"name":"later","type":["null","long"],"default":null,"field-id":999})");
  std::map<std::string, std::string> metadata;
  for (const auto& [key, value] : reader.metadata()) {
    if (!key.starts_with("avro.")) metadata[key] = value;
  }
  MemorySink sink;
  IW_ASSERT_OK_AND_ASSIGN(
      auto writer,
      avro::ContainerWriter::Open(sink, schema, metadata, {.sync_marker = std::string(16, 's')}));
  avro::ContainerReader::Block block;
  ASSERT_THAT(reader.Next(block), IsOkAndHolds(true));
  ASSERT_EQ(block.count, 1);
  const Bytes record = Bytes(block.data) + '\0';  // null
  avro::Encoder out = writer.encoder();
  for (const char c : record) out.WriteFixed(ByteView(&c, 1));
  ASSERT_THAT(writer.EndRecord(), IsOk());
  ASSERT_THAT(writer.Finish(), IsOk());
  ASSERT_THAT(WriteFile(table.io(), location, sink.bytes(), CreateMode::kAtomicReplace), IsOk());
}

TEST(CommitReplaceTest, AManifestWithUnknownColumnsIsNeverRewritten) {
  CommitTestTable table({.properties = {{"commit.manifest.min-count-to-merge", "2"}}});
  table.Append("f1");
  const auto files = table.AvroFiles();
  AddUnknownColumn(table, table.Manifests(table.Head())[0].manifest_path);
  EXPECT_THAT(table.Live(), UnorderedElementsAre(Pair("f1", 1)));
  EXPECT_THAT(table.Commit({.operation = "delete", .removed_data_files = {table.Data("f1")}}),
              HasError(Code::kUnsupported, HasSubstr("-m0.avro")));
  EXPECT_EQ(table.AvroFiles(), files);
  table.Append("f2");
  EXPECT_THAT(table.Picture(table.Head()), ElementsAre("+f2", "+f1")) << "nor merged";
  EXPECT_THAT(table.Unsound(), IsEmpty());
}

TEST(CommitReplaceTest, EncryptedTablesAreRefused) {
  CommitTestTable table;
  table.Append("f1");
  ASSERT_THAT(table.Set({{"encryption.key-id", "k"}}), IsOk());
  EXPECT_THAT(table.Commit({.added_data_files = {{table.Data("f2")}}}),
              HasCode(Code::kUnsupported));
}

TEST(CommitReplaceTest, ParallelWorkGivesTheSameResult) {
  CommitTestTable table({.run = {.threads = 4}});
  SnapshotUpdate update{.operation = "delete"};
  for (int i = 0; i < 20; ++i) {
    table.Append("f" + std::to_string(i));
    if (i % 2 == 0) update.removed_data_files.push_back(table.Data("f" + std::to_string(i)));
  }
  table.MustCommit(update);
  const auto picture = table.Picture(table.Head());
  ASSERT_THAT(picture, SizeIs(20));
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(picture[static_cast<std::size_t>(19 - i)],
              (i % 2 == 0 ? "-f" : "+f") + std::to_string(i));
  }
  EXPECT_THAT(table.Unsound(), IsEmpty());
}

}  // namespace
}  // namespace icewright
