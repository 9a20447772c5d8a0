// Inheritance of sequence numbers and row ids, and what a reader refuses.

#include "manifest/manifest_reader.h"

#include "codec/avro/container.h"
#include "io/memory_file_io.h"
#include "manifest/manifest_writer.h"
#include "testing/matchers.h"
#include "testing/table_builder.h"

namespace icewright {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Location kPath("memory:/t/m0.avro");

/// What one entry of a hand-made manifest says. -1: null.
struct Line {
  EntryStatus status = EntryStatus::kAdded;
  std::int64_t snapshot = -1, sequence = -1, file_sequence = -1;
  std::int64_t records = 1;
  std::int64_t first_row_id = -1;
};

void WriteOptional(avro::Encoder& out, std::int64_t value) {
  out.WriteLong(value < 0 ? 0 : 1);
  if (value >= 0) out.WriteLong(value);
}

/// A minimal manifest, as a writer with its own idea of columns might store it: the partition last,
/// no metrics, sometimes without field ids.
struct HandMade {
  bool with_ids = true;
  bool null_last = false;  ///< unions are ["long", "null"]
  std::string extra_column = {};
  std::string header_content = {};  ///< unset: by the entries' content

  std::string Id(int id) const { return with_ids ? ",\"field-id\":" + std::to_string(id) : ""; }
  std::string OptionalLong() const {
    return null_last ? R"(["long","null"])" : R"(["null","long"])";
  }
  std::string Schema() const {
    const std::string optional = OptionalLong();
    return R"({"type":"record","name":"manifest_entry","fields":[)"
           R"({"name":"status","type":"int")" +
           Id(0) + R"(},{"name":"snapshot_id","type":)" + optional + Id(1) +
           R"(},{"name":"sequence_number","type":)" + optional + Id(3) +
           R"(},{"name":"file_sequence_number","type":)" + optional + Id(4) +
           R"(},{"name":"data_file","type":{"type":"record","name":"r2","fields":[)"
           R"({"name":"content","type":"int")" +
           Id(134) + R"(},{"name":"file_path","type":"string")" + Id(100) +
           R"(},{"name":"file_format","type":"string")" + Id(101) +
           R"(},{"name":"record_count","type":"int")" + Id(103) +
           R"(},{"name":"file_size_in_bytes","type":"long")" + Id(104) + "}" + extra_column +
           R"(,{"name":"first_row_id","type":)" + optional + Id(142) +
           R"(},{"name":"partition","type":{"type":"record","name":"r102","fields":[]})" + Id(102) +
           "}]}" + Id(2) + "}]}";
  }
  void Optional(avro::Encoder& out, std::int64_t value) const {
    if (!null_last) return WriteOptional(out, value);
    out.WriteLong(value < 0 ? 1 : 0);
    if (value >= 0) out.WriteLong(value);
  }
  Bytes Make(const std::vector<Line>& lines, int content = 0) const {
    MemorySink sink;
    auto writer = avro::ContainerWriter::Open(sink, Schema(),
                                              {{"format-version", "3"},
                                               {"partition-spec-id", "0"},
                                               {"content", !header_content.empty() ? header_content
                                                           : content == 0          ? "data"
                                                                                   : "deletes"}},
                                              {.sync_marker = std::string(16, 's')});
    EXPECT_THAT(writer, IsOk());
    int n = 0;
    for (const Line& line : lines) {
      auto out = writer->encoder();
      out.WriteInt(static_cast<std::int32_t>(line.status));
      Optional(out, line.snapshot);
      Optional(out, line.sequence);
      Optional(out, line.file_sequence);
      out.WriteInt(content);
      out.WriteBytes("f" + std::to_string(n++));
      out.WriteBytes("parquet");
      out.WriteLong(line.records);
      out.WriteLong(100);
      if (!extra_column.empty()) out.WriteBytes("extra");
      Optional(out, line.first_row_id);
      EXPECT_THAT(writer->EndRecord(), IsOk());
    }
    EXPECT_THAT(writer->Finish(), IsOk());
    return std::move(sink).Take();
  }
};

class ManifestReaderTest : public ::testing::Test {
 protected:
  void Store(const Bytes& bytes) {
    ASSERT_THAT(WriteFile(*io_, kPath, bytes, CreateMode::kAtomicReplace), IsOk());
  }

  /// A manifest of snapshot 77 with sequence number 9.
  static ManifestFile Listed() {
    ManifestFile manifest;
    manifest.manifest_path = kPath;
    manifest.added_snapshot_id = SnapshotId{77};
    manifest.sequence_number = SequenceNumber{9};
    return manifest;
  }

  Result<std::vector<ManifestEntry>> Read(const ManifestFile& manifest, bool live_only = false) {
    return ReadManifest(run_, *io_, table_, manifest, {.live_only = live_only});
  }

  std::shared_ptr<FileIO> io_ = MakeMemoryFileIO();
  RunContext run_;
  TableMetadata table_ = MakeTable(MakeSchema({{1, "id", TypeId::kLong}}), {MakeSpec(0, {})}, 3);
};

struct Numbers {
  std::int64_t snapshot, sequence, file_sequence;
  friend bool operator==(const Numbers&, const Numbers&) = default;
};
void PrintTo(const Numbers& n, std::ostream* os) {
  *os << n.snapshot << '/' << n.sequence << '/' << n.file_sequence;
}
Numbers NumbersOf(const ManifestEntry& entry) {
  return {Raw(entry.snapshot_id.value_or(SnapshotId{-1})),
          Raw(entry.sequence_number.value_or(SequenceNumber{-1})),
          Raw(entry.file_sequence_number.value_or(SequenceNumber{-1}))};
}
std::vector<Numbers> NumbersOf(const std::vector<ManifestEntry>& entries) {
  std::vector<Numbers> out;
  for (const ManifestEntry& entry : entries) out.push_back(NumbersOf(entry));
  return out;
}

TEST_F(ManifestReaderTest, AddedEntriesInheritAndOthersDoNot) {
  Store(HandMade{}.Make(
      {{.status = EntryStatus::kAdded},
       {.status = EntryStatus::kAdded, .sequence = 4},
       {.status = EntryStatus::kAdded, .snapshot = 5},
       {.status = EntryStatus::kExisting, .snapshot = 5, .sequence = 2, .file_sequence = 3},
       {.status = EntryStatus::kExisting, .sequence = 2},
       {.status = EntryStatus::kDeleted, .sequence = 2, .file_sequence = 2}}));
  IW_ASSERT_OK_AND_ASSIGN(const auto entries, Read(Listed()));
  EXPECT_THAT(NumbersOf(entries),
              ElementsAre(Numbers{77, 9, 9}, Numbers{77, 4, 9}, Numbers{5, 9, 9}, Numbers{5, 2, 3},
                          Numbers{77, 2, -1}, Numbers{77, 2, 2}));
}

TEST_F(ManifestReaderTest, InVersion1EveryNumberIsZero) {
  Store(HandMade{}.Make({{.status = EntryStatus::kExisting, .snapshot = 5},
                         {.status = EntryStatus::kDeleted},
                         {.status = EntryStatus::kAdded}}));
  ManifestFile manifest = Listed();
  manifest.sequence_number = SequenceNumber{0};
  IW_ASSERT_OK_AND_ASSIGN(const auto entries, Read(manifest));
  EXPECT_THAT(NumbersOf(entries),
              ElementsAre(Numbers{5, 0, 0}, Numbers{77, 0, 0}, Numbers{77, 0, 0}));
}

TEST_F(ManifestReaderTest, BeforeTheCommitAddedEntriesHaveNoNumber) {
  Store(HandMade{}.Make(
      {{.status = EntryStatus::kAdded},
       {.status = EntryStatus::kExisting, .sequence = 2, .file_sequence = 2, .first_row_id = 30}}));
  ManifestFile manifest = Listed();
  manifest.sequence_number = SequenceNumber{0};
  manifest.sequence_number_pending = true;
  IW_ASSERT_OK_AND_ASSIGN(const auto entries, Read(manifest));
  EXPECT_THAT(NumbersOf(entries), ElementsAre(Numbers{77, -1, -1}, Numbers{77, 2, 2}));
  EXPECT_EQ(entries[0].file.first_row_id, std::nullopt);
  EXPECT_EQ(entries[1].file.first_row_id, 30);
}

TEST_F(ManifestReaderTest, RefusesAnExistingFileWithoutNumber) {
  Store(HandMade{}.Make({{.status = EntryStatus::kExisting, .snapshot = 5}}));
  EXPECT_THAT(Read(Listed()),
              HasError(Code::kCorrupt, AllOf(HasSubstr("m0.avro"), HasSubstr("existing file f0"))));
}

std::vector<std::int64_t> RowIds(const std::vector<ManifestEntry>& entries) {
  std::vector<std::int64_t> ids;
  for (const ManifestEntry& entry : entries) ids.push_back(entry.file.first_row_id.value_or(-1));
  return ids;
}

TEST_F(ManifestReaderTest, RowIdsRunOverLiveEntriesWithoutOne) {
  const Line deleted{.status = EntryStatus::kDeleted, .sequence = 1, .records = 1000};
  const Line existing{
      .status = EntryStatus::kExisting, .sequence = 1, .records = 100, .first_row_id = 7};
  Store(HandMade{}.Make({{.records = 10}, deleted, existing, {.records = 20}, {.records = 30}}));
  ManifestFile manifest = Listed();
  manifest.first_row_id = 500;
  IW_ASSERT_OK_AND_ASSIGN(const auto entries, Read(manifest));
  EXPECT_THAT(RowIds(entries), ElementsAre(500, -1, 7, 510, 530));
  // The ids do not depend on what the caller asks for.
  IW_ASSERT_OK_AND_ASSIGN(const auto live, Read(manifest, true));
  EXPECT_THAT(RowIds(live), ElementsAre(500, 7, 510, 530));
}

TEST_F(ManifestReaderTest, WithoutAnIdInTheListNoFileHasOne) {
  Store(HandMade{}.Make({{.records = 10}, {.records = 10, .first_row_id = 7}}));
  IW_ASSERT_OK_AND_ASSIGN(const auto entries, Read(Listed()));
  EXPECT_THAT(RowIds(entries), ElementsAre(-1, -1));
}

TEST_F(ManifestReaderTest, RowIdsThatOverflowAreCorrupt) {
  Store(HandMade{}.Make({{.records = 10}, {.records = 10}}));
  ManifestFile manifest = Listed();
  manifest.first_row_id = std::numeric_limits<std::int64_t>::max() - 5;
  EXPECT_THAT(Read(manifest), HasError(Code::kCorrupt, HasSubstr("row ids overflow")));
}

TEST_F(ManifestReaderTest, ReadsUnionsInEitherOrderAndColumnsByNameWithoutIds) {
  const std::vector<Line> lines = {{.records = 10},
                                   {.status = EntryStatus::kExisting,
                                    .snapshot = 5,
                                    .sequence = 2,
                                    .file_sequence = 3,
                                    .records = 20}};
  Store(HandMade{}.Make(lines));
  IW_ASSERT_OK_AND_ASSIGN(const auto expected, Read(Listed()));
  EXPECT_EQ(expected[1].file.record_count, 20);
  for (const HandMade& writer : {HandMade{.null_last = true}, HandMade{.with_ids = false},
                                 HandMade{.with_ids = false, .null_last = true}}) {
    Store(writer.Make(lines));
    EXPECT_THAT(Read(Listed()), IsOkAndHolds(expected));
  }
}

TEST_F(ManifestReaderTest, TellsOfUnknownColumnsButNotOfDroppedOnes) {
  struct Case {
    const char* column;
    bool unknown;
  };
  for (const Case& c : {Case{R"(,{"name":"content_stats","type":"bytes","field-id":146})", true},
                        Case{R"(,{"name":"file_ordinal","type":"bytes","field-id":106})", false},
                        Case{R"(,{"name":"distinct_counts","type":"bytes"})", false},
                        Case{R"(,{"name":"anything","type":"bytes"})", true}}) {
    Store(HandMade{.extra_column = c.column}.Make({{.records = 10}}));
    IW_ASSERT_OK_AND_ASSIGN(auto reader, ManifestReader::Open(*io_, table_, Listed()));
    EXPECT_EQ(reader.has_unknown_fields(), c.unknown) << c.column;
    ManifestEntry entry;
    EXPECT_THAT(reader.Next(entry), IsOkAndHolds(true));
    EXPECT_EQ(entry.file.record_count, 10);
  }
}

TEST_F(ManifestReaderTest, TheHeaderSaysWhatTheManifestHolds) {
  Store(HandMade{}.Make({{.records = 1}}, 1));
  IW_ASSERT_OK_AND_ASSIGN(const auto entries, Read(Listed()));
  EXPECT_EQ(entries[0].file.content, FileContent::kPositionDeletes);
  Store(HandMade{.header_content = "deletes"}.Make({{.records = 1}}, 0));
  EXPECT_THAT(Read(Listed()), HasError(Code::kCorrupt, HasSubstr("a data file among deletes")));
  Store(HandMade{.header_content = "data"}.Make({{.records = 1}}, 2));
  EXPECT_THAT(Read(Listed()), HasError(Code::kCorrupt, HasSubstr("a delete file among data")));
  Store(HandMade{.header_content = "other"}.Make({{.records = 1}}));
  EXPECT_THAT(Read(Listed()), HasError(Code::kCorrupt, HasSubstr("content 'other'")));
}

TEST_F(ManifestReaderTest, RefusesNumbersThatCannotBe) {
  Store(HandMade{}.Make({{.records = -1}}));
  EXPECT_THAT(Read(Listed()), HasError(Code::kCorrupt, HasSubstr("negative count")));
  Store(HandMade{}.Make({{.status = static_cast<EntryStatus>(3)}}));
  EXPECT_THAT(Read(Listed()), HasCode(Code::kCorrupt));
  Store(HandMade{}.Make({{.records = 1}}, 3));
  EXPECT_THAT(Read(Listed()), HasCode(Code::kCorrupt));
}

TEST_F(ManifestReaderTest, RefusesEncryptedManifestsAndForeignFiles) {
  ManifestFile manifest = Listed();
  manifest.key_metadata = "key";
  EXPECT_THAT(Read(manifest), HasError(Code::kUnsupported, HasSubstr("encrypted")));
  EXPECT_THAT(Read(Listed()), HasError(Code::kNotFound, HasSubstr("m0.avro")));
  Store("PAR1");
  EXPECT_THAT(Read(Listed()), HasError(Code::kCorrupt, HasSubstr("m0.avro")));
}

TEST_F(ManifestReaderTest, EveryCutOfAFileIsCorruptOrShorter) {
  const Bytes whole = HandMade{}.Make({{.records = 10}, {.records = 20}});
  for (std::size_t size = 0; size < whole.size(); ++size) {
    Store(whole.substr(0, size));
    const auto entries = Read(Listed());
    if (entries) {
      EXPECT_THAT(*entries, IsEmpty()) << size;  // cut between header and block
    } else {
      EXPECT_EQ(entries.error().code(), Code::kCorrupt) << size;
    }
  }
}

TEST_F(ManifestReaderTest, NextReusesAnEntryWithoutLeavingOldValues) {
  Store(HandMade{}.Make({{.records = 10}}));
  ManifestEntry entry;
  entry.sequence_number = SequenceNumber{3};
  entry.file = MakeEqualityDeletes("old", {1}, {.records = 5, .partition = {std::int64_t{1}}});
  entry.file.value_counts = {{FieldId{1}, 5}};
  entry.file.key_metadata = "old";
  entry.file.sort_order_id = SortOrderId{4};
  IW_ASSERT_OK_AND_ASSIGN(auto reader, ManifestReader::Open(*io_, table_, Listed()));
  ASSERT_THAT(reader.Next(entry), IsOkAndHolds(true));
  IW_ASSERT_OK_AND_ASSIGN(const auto fresh, Read(Listed()));
  EXPECT_EQ(entry, fresh[0]);
  EXPECT_THAT(reader.Next(entry), IsOkAndHolds(false));
}

}  // namespace
}  // namespace icewright
