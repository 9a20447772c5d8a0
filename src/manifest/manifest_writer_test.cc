// What the writer stores and how it describes it; manifest lists and what they resolve.

#include "manifest/manifest_writer.h"

#include <limits>

#include "codec/json.h"
#include "io/memory_file_io.h"
#include "manifest/avro_file.h"
#include "manifest/manifest_reader.h"
#include "table/literal.h"
#include "testing/matchers.h"
#include "testing/table_builder.h"

namespace icewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

const SnapshotId kCommit{70};

DataFile FullFile(const StructValue& partition) {
  DataFile file = MakeDataFile("memory:/t/data/a.parquet", {.records = 5, .partition = partition});
  file.column_sizes = {{FieldId{1}, 11}, {FieldId{300}, 12}};
  file.value_counts = {{FieldId{1}, 5}, {FieldId{2}, 6}};
  file.null_value_counts = {{FieldId{1}, 0}};
  file.nan_value_counts = {{FieldId{2}, 1}};
  file.lower_bounds = {{FieldId{1}, Bytes(8, '\0')}, {FieldId{2}, ""}};
  file.upper_bounds = {{FieldId{1}, Bytes(8, '\1')}};
  file.key_metadata = Bytes("k\0y", 3);
  file.split_offsets = {4, 100000};
  file.sort_order_id = SortOrderId{1};
  return file;
}

class ManifestWriterTest : public ::testing::TestWithParam<int> {
 protected:
  Result<ManifestWriter> Create(const TableMetadata& table, ManifestWriteOptions options = {}) {
    options.snapshot_id = kCommit;
    return ManifestWriter::Create(run_, *io_, path_, table.schema(), table.default_spec(), options);
  }
  /// As a list of sequence number 8 would have it; in version 1 all numbers are 0.
  Result<std::vector<ManifestEntry>> ReadBack(const TableMetadata& table, ManifestFile manifest) {
    manifest.sequence_number_pending = false;
    manifest.sequence_number = SequenceNumber{table.format_version == 1 ? 0 : 8};
    return ReadManifest(run_, *io_, table, manifest, {.live_only = false});
  }
  /// The partition summary of files with these values of one identity field.
  PartitionFieldSummary Summarize(TypeId type, const std::vector<Literal>& values) {
    const auto table = MakeTable(MakeSchema({{1, "v", type}}), {MakeSpec(0, {{1, "identity"}})});
    path_ = Location("memory:/t/summary.avro");
    EXPECT_THAT(io_->Delete(path_), IsOk());
    auto writer = Create(table);
    for (const Literal& value : values) {
      EXPECT_THAT(writer->AddAdded(MakeDataFile("f", {.partition = {value}})), IsOk());
    }
    auto manifest = writer->Close();
    EXPECT_THAT(manifest, IsOk());
    return manifest->partitions->at(0);
  }

  std::shared_ptr<FileIO> io_ = MakeMemoryFileIO();
  RunContext run_;
  Location path_{"memory:/t/m0.avro"};
};

INSTANTIATE_TEST_SUITE_P(Versions, ManifestWriterTest, ::testing::Values(1, 2, 3));

TEST_P(ManifestWriterTest, AllColumnsSurvive) {
  const int version = GetParam();
  const auto table = MakeTable(MakeSchema({{1, "id", TypeId::kLong}, {2, "x", TypeId::kDouble}}),
                               {MakeSpec(0, {{1, "identity"}})}, version);
  DataFile file = FullFile({std::int64_t{7}});
  file.first_row_id = 99;
  IW_ASSERT_OK_AND_ASSIGN(auto writer, Create(table, {.format_version = version}));
  ASSERT_THAT(writer.AddAdded(file), IsOk());
  ManifestEntry existing{.status = EntryStatus::kAdded,
                         .snapshot_id = SnapshotId{3},
                         .sequence_number = SequenceNumber{4},
                         .file_sequence_number = SequenceNumber{5},
                         .file = file};
  ASSERT_THAT(writer.AddExisting(existing), IsOk());
  ASSERT_THAT(writer.AddDeleted(existing), IsOk());
  EXPECT_EQ(writer.entries(), 3);
  IW_ASSERT_OK_AND_ASSIGN(ManifestFile manifest, writer.Close());
  manifest.first_row_id = 1000;
  IW_ASSERT_OK_AND_ASSIGN(const auto entries, ReadBack(table, manifest));

  DataFile stored = file;
  DataFile added = file;
  added.first_row_id = 1000;
  if (version < 3) stored.first_row_id = 1005;  // not stored: inherits like an added file
  const auto number = [&](std::int64_t n) -> std::optional<SequenceNumber> {
    return SequenceNumber{version == 1 ? 0 : n};
  };
  DataFile deleted = file;
  if (version < 3) deleted.first_row_id.reset();
  EXPECT_THAT(
      entries,
      ElementsAre(
          ManifestEntry{EntryStatus::kAdded, kCommit, number(8), number(8), added},
          ManifestEntry{EntryStatus::kExisting, SnapshotId{3}, number(4), number(5), stored},
          ManifestEntry{EntryStatus::kDeleted, kCommit, number(4), number(5), deleted}));
}

TEST_P(ManifestWriterTest, HeaderSaysWhatTheSpecWants) {
  const int version = GetParam();
  const auto table = MakeTable(MakeSchema({{1, "id", TypeId::kLong}}, 6),
                               {MakeSpec(4, {{1, "bucket[8]"}})}, version);
  IW_ASSERT_OK_AND_ASSIGN(auto writer, Create(table, {.format_version = version}));
  IW_ASSERT_OK_AND_ASSIGN(const ManifestFile manifest, writer.Close());
  IW_ASSERT_OK_AND_ASSIGN(const auto file, manifest_internal::OpenAvro(*io_, path_));
  std::map<std::string, std::string, std::less<>> header = file.metadata();
  EXPECT_EQ(header.at("avro.codec"), "deflate");
  header.erase("avro.schema");
  header.erase("avro.codec");
  std::map<std::string, std::string, std::less<>> expected = {
      {"schema", table.schema().ToJson().dump()},
      {"schema-id", "6"},
      {"partition-spec", table.default_spec().FieldsToJson().dump()},
      {"partition-spec-id", "4"},
      {"format-version", std::to_string(version)}};
  if (version > 1) expected["content"] = "data";
  EXPECT_EQ(header, expected);
  EXPECT_EQ(manifest.manifest_length,
            static_cast<std::int64_t>(ReadFile(*io_, path_).value().size()));
}

TEST_F(ManifestWriterTest, DescribesWhatItWrote) {
  const auto table = MakeTable(MakeSchema({{1, "id", TypeId::kLong}}), {MakeSpec(3, {})});
  const auto file = [](std::int64_t records) {
    return MakeDataFile("f", {.records = records, .spec_id = 3});
  };
  IW_ASSERT_OK_AND_ASSIGN(auto writer, Create(table));
  ASSERT_THAT(writer.AddAdded(file(1)), IsOk());
  ASSERT_THAT(writer.AddAdded(file(2), SequenceNumber{6}), IsOk());
  const ManifestEntry old{
      .snapshot_id = SnapshotId{3}, .sequence_number = SequenceNumber{4}, .file = file(10)};
  ASSERT_THAT(writer.AddExisting(old), IsOk());
  ManifestEntry older = old;
  older.sequence_number = SequenceNumber{1};
  older.file = file(100);
  ASSERT_THAT(writer.AddDeleted(older), IsOk());
  IW_ASSERT_OK_AND_ASSIGN(const ManifestFile m, writer.Close());
  EXPECT_EQ(m.manifest_path, path_);
  EXPECT_EQ(m.partition_spec_id, SpecId{3});
  EXPECT_EQ(m.added_snapshot_id, kCommit);
  EXPECT_TRUE(m.sequence_number_pending);
  EXPECT_EQ(m.added_files_count, 2);
  EXPECT_EQ(m.existing_files_count, 1);
  EXPECT_EQ(m.deleted_files_count, 1);
  EXPECT_EQ(m.added_rows_count, 3);
  EXPECT_EQ(m.existing_rows_count, 10);
  EXPECT_EQ(m.deleted_rows_count, 100);
  EXPECT_THAT(m.partitions, ::testing::Optional(SizeIs(0)));
  // Deleted entries do not count for the lowest number of live ones.
  EXPECT_FALSE(m.min_sequence_number_pending);
  EXPECT_EQ(m.min_sequence_number, SequenceNumber{4});
}

TEST_F(ManifestWriterTest, LowestNumberIsPendingWhenNoLiveEntryHasOne) {
  const auto table = MakeTable(MakeSchema({{1, "id", TypeId::kLong}}), {MakeSpec(0, {})});
  IW_ASSERT_OK_AND_ASSIGN(auto writer, Create(table));
  ASSERT_THAT(writer.AddDeleted({.snapshot_id = SnapshotId{3},
                                 .sequence_number = SequenceNumber{4},
                                 .file = MakeDataFile("f")}),
              IsOk());
  IW_ASSERT_OK_AND_ASSIGN(const ManifestFile m, writer.Close());
  EXPECT_TRUE(m.min_sequence_number_pending);
}

TEST_F(ManifestWriterTest, SummariesOfFloatsLeaveOutNanAndCoverBothZeros) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto bytes = [](double v) { return ToBytes(Type::Of(TypeId::kDouble), v); };
  EXPECT_EQ(Summarize(TypeId::kDouble, {1.5, nan, Literal{}, -2.0}),
            (PartitionFieldSummary{true, true, bytes(-2.0), bytes(1.5)}));
  EXPECT_EQ(Summarize(TypeId::kDouble, {0.0}),
            (PartitionFieldSummary{false, false, bytes(-0.0), bytes(0.0)}));
  EXPECT_EQ(Summarize(TypeId::kDouble, {-0.0}),
            (PartitionFieldSummary{false, false, bytes(-0.0), bytes(0.0)}));
  EXPECT_EQ(Summarize(TypeId::kDouble, {nan}),
            (PartitionFieldSummary{false, true, std::nullopt, std::nullopt}));
  EXPECT_EQ(Summarize(TypeId::kFloat, {0.0F}).lower_bound, Bytes("\0\0\0\x80", 4));
}

TEST_F(ManifestWriterTest, SummariesOrderStringsByUnsignedBytesAndCutNothing) {
  const std::string longest(100, 'z');
  EXPECT_EQ(Summarize(TypeId::kString, {std::string("b"), std::string("\xc3\xbc"), longest}),
            (PartitionFieldSummary{false, false, "b", "\xc3\xbc"}));
  EXPECT_EQ(Summarize(TypeId::kString, {longest}).upper_bound, longest);
  EXPECT_EQ(Summarize(TypeId::kString, {Literal{}, Literal{}}),
            (PartitionFieldSummary{true, false, std::nullopt, std::nullopt}));
}

TEST_F(ManifestWriterTest, RefusesWhatDoesNotBelong) {
  const auto table =
      MakeTable(MakeSchema({{1, "id", TypeId::kLong}}), {MakeSpec(0, {{1, "identity"}})});
  IW_ASSERT_OK_AND_ASSIGN(auto writer, Create(table));
  const TestFile fits{.partition = {std::int64_t{1}}};
  EXPECT_THAT(writer.AddAdded(MakePositionDeletes("d", fits)),
              HasError(Code::kInvalidArgument, HasSubstr("do not share a manifest")));
  EXPECT_THAT(writer.AddAdded(MakeDataFile("f", {.spec_id = 1, .partition = {std::int64_t{1}}})),
              HasError(Code::kInvalidArgument, HasSubstr("spec 1, not 0")));
  EXPECT_THAT(writer.AddAdded(MakeDataFile("f")),
              HasError(Code::kInvalidArgument, HasSubstr("0 values for 1 field")));
  EXPECT_THAT(writer.AddAdded(MakeDataFile("f", {.partition = {std::int32_t{1}}})),
              HasError(Code::kInvalidArgument, HasSubstr("p0 is not a long")));
  EXPECT_THAT(writer.AddExisting({.snapshot_id = SnapshotId{1}, .file = MakeDataFile("f", fits)}),
              HasError(Code::kInvalidArgument, HasSubstr("sequence number")));
  EXPECT_EQ(writer.entries(), 0);
  EXPECT_THAT(Create(table, {.format_version = 1, .content = ManifestContent::kDeletes}),
              HasCode(Code::kUnsupported));
  EXPECT_THAT(Create(table, {.format_version = 4}), HasCode(Code::kUnsupported));
  EXPECT_THAT(Create(table, {.compression_codec = "lzma"}), HasCode(Code::kUnsupported));
}

TEST_F(ManifestWriterTest, DvsNeedVersion3) {
  for (const int version : {2, 3}) {
    path_ = Location("memory:/t/dv" + std::to_string(version));
    const auto table =
        MakeTable(MakeSchema({{1, "id", TypeId::kLong}}), {MakeSpec(0, {})}, version);
    IW_ASSERT_OK_AND_ASSIGN(auto writer, Create(table, {.format_version = version,
                                                        .content = ManifestContent::kDeletes}));
    const DataFile dv = MakeDv("p.puffin", MakeDataFile("a"));
    if (version == 2) {
      EXPECT_THAT(writer.AddAdded(dv), HasCode(Code::kUnsupported));
    } else {
      ASSERT_THAT(writer.AddAdded(dv), IsOk());
      IW_ASSERT_OK_AND_ASSIGN(const auto manifest, writer.Close());
      IW_ASSERT_OK_AND_ASSIGN(const auto entries, ReadBack(table, manifest));
      EXPECT_EQ(entries[0].file, dv);
    }
  }
}

TEST_F(ManifestWriterTest, AllCodecsReadBack) {
  const auto table = MakeTable(MakeSchema({{1, "id", TypeId::kLong}}), {MakeSpec(0, {})});
  for (const char* codec : {"gzip", "uncompressed", "zstd", "snappy"}) {
    path_ = Location(std::string("memory:/t/") + codec);
    IW_ASSERT_OK_AND_ASSIGN(auto writer, Create(table, {.compression_codec = codec}));
    for (int i = 0; i < 1000; ++i) ASSERT_THAT(writer.AddAdded(FullFile({})), IsOk());
    IW_ASSERT_OK_AND_ASSIGN(const auto manifest, writer.Close());
    EXPECT_THAT(ReadBack(table, manifest), IsOkAndHolds(SizeIs(1000))) << codec;
  }
}

}  // namespace
}  // namespace icewright
