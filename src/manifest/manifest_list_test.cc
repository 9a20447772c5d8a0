// Manifest lists: round trips, what a commit resolves, snapshots without a list.

#include "io/memory_file_io.h"
#include "manifest/avro_file.h"
#include "manifest/manifest_file.h"
#include "manifest/manifest_reader.h"
#include "manifest/manifest_writer.h"
#include "testing/matchers.h"
#include "testing/table_builder.h"

namespace icewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

const Location kList("memory:/t/snap.avro");

ManifestFile Manifest(std::string path, ManifestContent content = ManifestContent::kData) {
  ManifestFile m;
  m.manifest_path = Location(std::move(path));
  m.manifest_length = 1000;
  m.content = content;
  m.added_snapshot_id = SnapshotId{70};
  m.added_files_count = m.existing_files_count = m.deleted_files_count = 0;
  m.added_rows_count = m.existing_rows_count = m.deleted_rows_count = 0;
  return m;
}

class ManifestListTest : public ::testing::Test {
 protected:
  Result<WrittenManifestList> Write(const ManifestListHeader& header,
                                    const std::vector<ManifestFile>& manifests) {
    EXPECT_THAT(io_->Delete(kList), IsOk());
    return WriteManifestList(run_, *io_, kList, header, manifests);
  }
  Result<std::vector<ManifestFile>> Read() {
    Snapshot snapshot;
    snapshot.manifest_list = kList;
    return ReadManifests(run_, *io_, table_, snapshot);
  }

  std::shared_ptr<FileIO> io_ = MakeMemoryFileIO();
  RunContext run_;
  TableMetadata table_ = MakeTable(MakeSchema({{1, "id", TypeId::kLong}}), {MakeSpec(0, {})});
};

TEST_F(ManifestListTest, AllColumnsSurviveInEachVersion) {
  for (const int version : {1, 2, 3}) {
    ManifestFile m = Manifest("m0");
    m.partition_spec_id = SpecId{2};
    m.added_files_count = 1;
    m.existing_files_count = 2;
    m.deleted_files_count = 3;
    m.added_rows_count = 10;
    m.existing_rows_count = 20;
    m.deleted_rows_count = 30;
    m.key_metadata = "key";
    m.partitions = {{.contains_null = true,
                     .contains_nan = false,
                     .lower_bound = "a",
                     .upper_bound = Bytes("\0", 1)},
                    {.contains_null = false}};
    if (version > 1) {
      m.sequence_number = SequenceNumber{9};
      m.min_sequence_number = SequenceNumber{4};
    }
    if (version > 2) m.first_row_id = 77;
    ManifestFile bare = Manifest("m1");
    bare.partitions = std::vector<PartitionFieldSummary>{};
    if (version > 2) bare.first_row_id = 5;
    const ManifestListHeader header{.format_version = version,
                                    .snapshot_id = SnapshotId{70},
                                    .sequence_number = SequenceNumber{11},
                                    .first_row_id = 100};
    IW_ASSERT_OK_AND_ASSIGN(const auto written, Write(header, {m, bare}));
    EXPECT_THAT(written.manifests, ElementsAre(m, bare));
    EXPECT_THAT(Read(), IsOkAndHolds(ElementsAre(m, bare))) << version;
  }
}

TEST_F(ManifestListTest, HeaderSaysWhatTheSpecWants) {
  const auto header_of = [&](const ManifestListHeader& header) {
    EXPECT_THAT(Write(header, {}), IsOk());
    auto file = manifest_internal::OpenAvro(*io_, kList);
    EXPECT_THAT(file, IsOk());
    auto metadata = file->metadata();
    metadata.erase("avro.schema");
    return metadata;
  };
  using Header = std::map<std::string, std::string, std::less<>>;
  EXPECT_EQ(header_of({.format_version = 1, .snapshot_id = SnapshotId{5}}),
            (Header{{"avro.codec", "deflate"},
                    {"format-version", "1"},
                    {"snapshot-id", "5"},
                    {"parent-snapshot-id", "null"}}));
  EXPECT_EQ(header_of({.format_version = 3,
                       .snapshot_id = SnapshotId{5},
                       .parent_snapshot_id = SnapshotId{4},
                       .sequence_number = SequenceNumber{9},
                       .first_row_id = 30,
                       .compression_codec = "zstd"}),
            (Header{{"avro.codec", "zstandard"},
                    {"format-version", "3"},
                    {"snapshot-id", "5"},
                    {"parent-snapshot-id", "4"},
                    {"sequence-number", "9"},
                    {"first-row-id", "30"}}));
  EXPECT_THAT(Write({.format_version = 3}, {}),
              HasError(Code::kInvalidArgument, HasSubstr("first row id")));
  EXPECT_THAT(Write({.format_version = 4, .first_row_id = 0}, {}), HasCode(Code::kUnsupported));
}

TEST_F(ManifestListTest, PendingNumbersBecomeThoseOfTheCommit) {
  ManifestFile added = Manifest("new");
  added.sequence_number_pending = added.min_sequence_number_pending = true;
  ManifestFile mixed = Manifest("mixed");
  mixed.sequence_number_pending = true;
  mixed.min_sequence_number = SequenceNumber{3};
  ManifestFile kept = Manifest("kept");
  kept.sequence_number = SequenceNumber{5};
  kept.min_sequence_number = SequenceNumber{2};
  IW_ASSERT_OK_AND_ASSIGN(const auto written,
                          Write({.sequence_number = SequenceNumber{8}}, {added, mixed, kept}));
  EXPECT_EQ(written.next_row_id, std::nullopt);
  IW_ASSERT_OK_AND_ASSIGN(const auto read, Read());
  std::vector<std::pair<std::int64_t, std::int64_t>> numbers;
  for (const ManifestFile& m : read) {
    numbers.emplace_back(Raw(m.sequence_number), Raw(m.min_sequence_number));
  }
  EXPECT_THAT(numbers, ElementsAre(std::pair(8, 8), std::pair(8, 3), std::pair(5, 2)));
  EXPECT_EQ(written.manifests, read);
}

/// The rule of row ids: data manifests without one take the running id, in the order of the list.
TEST_F(ManifestListTest, RowIdsAreGivenInListOrder) {
  ManifestFile appended = Manifest("appended");
  appended.added_rows_count = 100;
  ManifestFile upgraded = Manifest("upgraded");  // rows of before version 3
  upgraded.added_rows_count = 3;
  upgraded.existing_rows_count = 20;
  upgraded.deleted_rows_count = 1000;
  ManifestFile deleted_only = Manifest("deleted only");
  deleted_only.deleted_rows_count = 50;
  ManifestFile kept = Manifest("kept");
  kept.first_row_id = 7;
  kept.added_rows_count = 500;
  ManifestFile deletes = Manifest("deletes", ManifestContent::kDeletes);
  deletes.added_rows_count = 9;
  ManifestFile last = Manifest("last");
  last.added_rows_count = 1;
  IW_ASSERT_OK_AND_ASSIGN(
      const auto written,
      Write({.format_version = 3, .sequence_number = SequenceNumber{8}, .first_row_id = 1000},
            {appended, upgraded, deleted_only, kept, deletes, last}));
  std::vector<std::optional<std::int64_t>> ids;
  for (const ManifestFile& m : written.manifests) ids.push_back(m.first_row_id);
  EXPECT_THAT(ids, ElementsAre(1000, 1100, 1123, 7, std::nullopt, 1123));
  EXPECT_EQ(written.next_row_id, 1124);
  EXPECT_THAT(Read(), IsOkAndHolds(written.manifests));
}

TEST_F(ManifestListTest, ASecondAttemptGivesOtherRowIdsToTheSameManifests) {
  ManifestFile appended = Manifest("appended");
  appended.added_rows_count = 100;
  for (const std::int64_t next : {0, 40}) {
    IW_ASSERT_OK_AND_ASSIGN(
        const auto written,
        Write({.format_version = 3, .sequence_number = SequenceNumber{8}, .first_row_id = next},
              {appended}));
    EXPECT_EQ(written.manifests[0].first_row_id, next);
    EXPECT_EQ(written.next_row_id, next + 100);
  }
}

TEST_F(ManifestListTest, NeverOverwritesAList) {
  ASSERT_THAT(Write({}, {}), IsOk());
  EXPECT_THAT(WriteManifestList(run_, *io_, kList, {}, {}), HasCode(Code::kAlreadyExists));
}

TEST_F(ManifestListTest, RefusesImpossibleEntries) {
  ManifestFile m = Manifest("m0");
  m.added_rows_count = -1;
  ASSERT_THAT(Write({}, {m}), IsOk());
  EXPECT_THAT(Read(), HasError(Code::kCorrupt, HasSubstr("snap.avro")));
  ASSERT_THAT(WriteFile(*io_, kList, "Obj\1", CreateMode::kAtomicReplace), IsOk());
  EXPECT_THAT(Read(), HasError(Code::kCorrupt, HasSubstr("snap.avro")));
  ASSERT_THAT(io_->Delete(kList), IsOk());
  EXPECT_THAT(Read(), HasError(Code::kNotFound, HasSubstr("snap.avro")));
}

/// A v1 manifest on disk, with two added files of 10 and 20 rows and one deleted of 5.
class Version1Test : public ManifestListTest {
 protected:
  void SetUp() override {
    table_ = MakeTable(MakeSchema({{1, "id", TypeId::kLong}}), {MakeSpec(0, {{1, "identity"}})}, 1);
    auto writer = ManifestWriter::Create(run_, *io_, path_, table_.schema(), table_.default_spec(),
                                         {.format_version = 1, .snapshot_id = SnapshotId{60}});
    ASSERT_THAT(writer, IsOk());
    ASSERT_THAT(
        writer->AddAdded(MakeDataFile("a", {.records = 10, .partition = {std::int64_t{4}}})),
        IsOk());
    ASSERT_THAT(
        writer->AddAdded(MakeDataFile("b", {.records = 20, .partition = {std::int64_t{2}}})),
        IsOk());
    const DataFile gone = MakeDataFile("c", {.records = 5, .partition = {std::int64_t{3}}});
    ASSERT_THAT(writer->AddDeleted({.sequence_number = SequenceNumber{0}, .file = gone}), IsOk());
    auto described = writer->Close();
    ASSERT_THAT(described, IsOk());
    described_ = *described;
    described_.sequence_number_pending = described_.min_sequence_number_pending = false;
  }

  Location path_{"memory:/t/m0.avro"};
  ManifestFile described_;
};

TEST_F(Version1Test, SnapshotsWithoutAListAreDescribedByTheirManifests) {
  Snapshot snapshot;
  snapshot.id = SnapshotId{61};
  snapshot.v1_manifests = {path_, path_};
  EXPECT_THAT(ReadManifests(run_, *io_, table_, snapshot),
              IsOkAndHolds(ElementsAre(described_, described_)));
}

TEST_F(Version1Test, CountsThatALaterVersionRequiresAreFilledIn) {
  ManifestFile bare;
  bare.manifest_path = path_;
  bare.manifest_length = described_.manifest_length;
  bare.added_snapshot_id = SnapshotId{60};
  ASSERT_THAT(Write({.format_version = 1}, {bare}), IsOk());
  IW_ASSERT_OK_AND_ASSIGN(const auto v1, Read());
  EXPECT_THAT(v1, ElementsAre(bare));
  EXPECT_TRUE(v1[0].may_have_deleted());
  IW_ASSERT_OK_AND_ASSIGN(
      const auto v3,
      Write({.format_version = 3, .sequence_number = SequenceNumber{1}, .first_row_id = 0}, v1));
  ManifestFile expected = described_;
  expected.first_row_id = 0;
  EXPECT_THAT(v3.manifests, ElementsAre(expected));
  EXPECT_EQ(v3.next_row_id, 30);
}

TEST_F(Version1Test, ASpecThatTheTableLacksIsTakenFromTheHeader) {
  TableMetadata other = table_;
  other.partition_specs = {MakeSpec(9, {})};
  IW_ASSERT_OK_AND_ASSIGN(const auto entries, ReadManifest(run_, *io_, other, described_));
  ASSERT_THAT(entries, SizeIs(2));
  EXPECT_THAT(entries[0].file.partition, ElementsAre(Literal(std::int64_t{4})));
}

}  // namespace
}  // namespace icewright
