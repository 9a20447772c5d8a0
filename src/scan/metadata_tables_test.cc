// The metadata tables: columns, rows of a small table, and counts on tables of other engines.

#include "scan/metadata_tables.h"

#include <map>

#include "codec/json.h"
#include "io/memory_file_io.h"
#include "manifest/manifest_file.h"
#include "manifest/manifest_writer.h"
#include "table/literal.h"
#include "testing/fixtures.h"
#include "testing/matchers.h"
#include "testing/table_builder.h"

namespace icewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Rows {
  std::vector<std::string> columns;
  std::vector<Json> rows;

  const Json& At(std::size_t row, std::string_view column) const {
    const auto it = std::ranges::find(columns, column);
    EXPECT_NE(it, columns.end()) << column;
    return rows.at(row).at(static_cast<std::size_t>(it - columns.begin()));
  }
};

Result<Rows> Scan(FileIO& io, const TableMetadata& metadata, const MetadataTableRequest& request) {
  RunContext run(RunOptions{.threads = 2});
  Rows out;
  IW_TRY(ScanMetadataTable(
      run, io, metadata, Location("memory:/t/v3.metadata.json"), request,
      [&](const std::vector<std::string>& columns) {
        EXPECT_TRUE(out.columns.empty());
        out.columns = columns;
        return Status();
      },
      [&](Json&& row) {
        EXPECT_EQ(row.size(), out.columns.size());
        out.rows.push_back(std::move(row));
        return Status();
      }));
  return out;
}

/// Two snapshots: the first adds "a" in day 2024-01-31 and "n" in the null partition, the second
/// deletes "n", and adds position deletes for "a".
class MetadataTablesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const TestFile day{.records = 10, .partition = {std::int32_t{19753}, std::string("x")}};
    DataFile a = MakeDataFile("a", day);
    const Type long_type = Type::Of(TypeId::kLong);
    a.value_counts = {{FieldId{1}, 10}};
    a.lower_bounds = {{FieldId{1}, ToBytes(long_type, std::int64_t{3})}};
    a.split_offsets = {4};
    const DataFile n = MakeDataFile("n", {.records = 5, .partition = {Literal{}, Literal{}}});
    auto data1 = Writer(ManifestContent::kData, 1);
    ASSERT_THAT(data1.AddAdded(a), IsOk());
    ASSERT_THAT(data1.AddAdded(n), IsOk());
    const ManifestFile first = Commit(1, std::nullopt, {*data1.Close()})[0];
    auto data2 = Writer(ManifestContent::kData, 2);
    const auto entry = [&](const DataFile& file) {
      return ManifestEntry{.snapshot_id = SnapshotId{1},
                           .sequence_number = SequenceNumber{1},
                           .file_sequence_number = SequenceNumber{1},
                           .file = file};
    };
    ASSERT_THAT(data2.AddExisting(entry(a)), IsOk());
    ASSERT_THAT(data2.AddDeleted(entry(n)), IsOk());
    auto deletes = Writer(ManifestContent::kDeletes, 2);
    TestFile two = day;
    two.records = 2;
    ASSERT_THAT(deletes.AddAdded(MakePositionDeletes("p", two)), IsOk());
    Commit(2, 1, {*data2.Close(), *deletes.Close()});
  }

  ManifestWriter Writer(ManifestContent content, std::int64_t snapshot) {
    auto writer = ManifestWriter::Create(
        run_, *io_, Location("memory:/t/m" + std::to_string(files_++)), table_.schema(),
        table_.default_spec(), {.content = content, .snapshot_id = SnapshotId{snapshot}});
    EXPECT_THAT(writer, IsOk());
    return *std::move(writer);
  }

  std::vector<ManifestFile> Commit(std::int64_t id, std::optional<std::int64_t> parent,
                                   const std::vector<ManifestFile>& manifests) {
    Snapshot snapshot;
    snapshot.id = SnapshotId{id};
    if (parent) snapshot.parent_id = SnapshotId{*parent};
    snapshot.sequence_number = SequenceNumber{id};
    snapshot.timestamp = FromMillis(1706700000123 + id * 60000);
    snapshot.operation = "append";
    snapshot.summary = {{"added-data-files", "2"}};
    snapshot.manifest_list = Location("memory:/t/snap" + std::to_string(id));
    snapshot.schema_id = SchemaId{0};
    auto written = WriteManifestList(
        run_, *io_, snapshot.manifest_list,
        {.snapshot_id = snapshot.id, .sequence_number = snapshot.sequence_number}, manifests);
    EXPECT_THAT(written, IsOk());
    table_.snapshots.push_back(snapshot);
    table_.current_snapshot_id = snapshot.id;
    table_.refs["main"] = {.snapshot_id = snapshot.id, .min_snapshots_to_keep = 3};
    table_.snapshot_log.push_back({snapshot.timestamp, snapshot.id});
    return written->manifests;
  }

  Rows Table(std::string what, SnapshotSelector snapshot = {}) {
    auto rows = Scan(*io_, table_, {.what = std::move(what), .snapshot = std::move(snapshot)});
    EXPECT_THAT(rows, IsOk());
    return *rows;
  }

  std::shared_ptr<FileIO> io_ = MakeMemoryFileIO();
  RunContext run_;
  TableMetadata table_ = MakeTable(
      MakeSchema(
          {{1, "id", TypeId::kLong}, {2, "ts", TypeId::kTimestamp}, {3, "cat", TypeId::kString}}),
      {MakeSpec(0, {{2, "day"}, {3, "identity"}})});
  int files_ = 0;
};

TEST_F(MetadataTablesTest, SnapshotsHistoryAndRefsComeFromTheMetadata) {
  const Rows snapshots = Table("snapshots");
  EXPECT_THAT(snapshots.columns, ElementsAre("committed_at", "snapshot_id", "parent_id",
                                             "operation", "manifest_list", "summary"));
  ASSERT_EQ(snapshots.rows.size(), 2U);
  EXPECT_EQ(snapshots.rows[0].dump(),
            R"(["2024-01-31T11:21:00.123+00:00",1,null,"append","memory:/t/snap1",)"
            R"({"added-data-files":"2"}])");
  EXPECT_EQ(snapshots.At(1, "parent_id"), 1);

  table_.snapshot_log.insert(table_.snapshot_log.begin(), {FromMillis(0), SnapshotId{77}});
  const Rows history = Table("history");
  EXPECT_THAT(history.columns,
              ElementsAre("made_current_at", "snapshot_id", "parent_id", "is_current_ancestor"));
  EXPECT_EQ(history.rows[0].dump(), R"(["1970-01-01T00:00:00+00:00",77,null,false])");
  EXPECT_EQ(history.rows[2].dump(), R"(["2024-01-31T11:22:00.123+00:00",2,1,true])");

  table_.refs["t"] = {
      .snapshot_id = SnapshotId{1}, .kind = SnapshotRef::Kind::kTag, .max_ref_age_ms = 5};
  const Rows refs = Table("refs");
  EXPECT_EQ(refs.rows[0].dump(), R"(["main","BRANCH",2,null,3,null])");
  EXPECT_EQ(refs.rows[1].dump(), R"(["t","TAG",1,5,null,null])");
}

TEST_F(MetadataTablesTest, MetadataLogEndsWithTheCurrentFile) {
  table_.metadata_log = {{FromMillis(5), Location("v1")},
                         {table_.snapshots[0].timestamp, Location("v2")}};
  table_.last_updated = table_.snapshots[1].timestamp;
  const Rows log = Table("metadata-log");
  ASSERT_EQ(log.rows.size(), 3U);
  EXPECT_EQ(log.rows[0].dump(), R"(["1970-01-01T00:00:00.005+00:00","v1",null,null,null])");
  EXPECT_EQ(log.rows[1].dump(), R"(["2024-01-31T11:21:00.123+00:00","v2",1,0,1])");
  EXPECT_EQ(log.rows[2].dump(),
            R"(["2024-01-31T11:22:00.123+00:00","memory:/t/v3.metadata.json",2,0,2])");
  EXPECT_EQ(Table("metadata_log_entries").rows, log.rows);
}

TEST_F(MetadataTablesTest, FilesAreReadable) {
  const Rows files = Table("files");
  ASSERT_EQ(files.rows.size(), 2U);
  EXPECT_EQ(files.rows[0].dump(),
            R"([0,"a","PARQUET",0,{"p0":"2024-01-31","p1":"x"},10,1000,null,{"1":10},null,null,)"
            R"({"1":3},null,null,[4],null,null,null,null,null,null])");
  EXPECT_EQ(files.At(1, "content"), 1);
  EXPECT_EQ(files.At(1, "file_path"), "p");
  EXPECT_EQ(Table("data-files").rows, (std::vector<Json>{files.rows[0]}));
  EXPECT_EQ(Table("delete_files").rows, (std::vector<Json>{files.rows[1]}));
  const Rows before = Table("files", {.snapshot_id = SnapshotId{1}});
  ASSERT_EQ(before.rows.size(), 2U);
  EXPECT_EQ(before.At(1, "file_path"), "n");
  EXPECT_EQ(before.At(1, "partition").dump(), R"({"p0":null,"p1":null})");
}

TEST_F(MetadataTablesTest, EntriesKeepDeletedFiles) {
  const Rows entries = Table("entries");
  ASSERT_EQ(entries.rows.size(), 3U);
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < 3; ++i) {
    lines.push_back(entries.At(i, "data_file").at("file_path").get<std::string>() + " " +
                    entries.At(i, "status").dump() + " " + entries.At(i, "snapshot_id").dump() +
                    " " + entries.At(i, "sequence_number").dump() + " " +
                    entries.At(i, "file_sequence_number").dump());
  }
  EXPECT_THAT(lines, ElementsAre("a 0 1 1 1", "n 2 2 1 1", "p 1 2 2 2"));
}

TEST_F(MetadataTablesTest, ManifestsCountDataAndDeletesApart) {
  const Rows manifests = Table("manifests");
  ASSERT_EQ(manifests.rows.size(), 2U);
  const auto counts = [&](std::size_t row) {
    std::string out;
    for (const char* kind : {"data", "delete"}) {
      for (const char* status : {"added_", "existing_", "deleted_"}) {
        out += manifests.At(row, std::string(status) + kind + "_files_count").dump();
      }
    }
    return out;
  };
  EXPECT_EQ(counts(0), "011000");
  EXPECT_EQ(counts(1), "000100");
  EXPECT_EQ(manifests.At(0, "partition_summaries").dump(),
            R"([{"contains_null":true,"contains_nan":false,"lower_bound":"2024-01-31",)"
            R"("upper_bound":"2024-01-31"},{"contains_null":true,"contains_nan":false,)"
            R"("lower_bound":"x","upper_bound":"x"}])");
  const Rows all = Table("all-manifests");
  ASSERT_EQ(all.rows.size(), 3U);
  EXPECT_EQ(all.At(0, "reference_snapshot_id"), 1);
  EXPECT_EQ(all.At(2, "reference_snapshot_id"), 2);
}

TEST_F(MetadataTablesTest, PartitionsAddUpLiveFiles) {
  const Rows partitions = Table("partitions");
  ASSERT_EQ(partitions.rows.size(), 1U);
  EXPECT_EQ(partitions.rows[0].dump(), R"([{"p0":"2024-01-31","p1":"x"},0,10,1,1000,2,1,0,0,)"
                                       R"("2024-01-31T11:22:00.123+00:00",2])");
  EXPECT_EQ(Table("partitions", {.snapshot_id = SnapshotId{1}}).rows.size(), 2U);
}

TEST_F(MetadataTablesTest, AllTablesVisitEachManifestOnce) {
  EXPECT_EQ(Table("all-files").rows.size(), 4U);  // a and n, a again as existing, p
  EXPECT_EQ(Table("all-data-files").rows.size(), 3U);
  EXPECT_EQ(Table("all-delete-files").rows.size(), 1U);
  EXPECT_EQ(Table("all-entries").rows.size(), 5U);
  Snapshot copy = table_.snapshots[1];
  copy.id = SnapshotId{3};
  table_.snapshots.push_back(copy);
  EXPECT_EQ(Table("all-entries").rows.size(), 5U);
  EXPECT_EQ(Table("all-manifests").rows.size(), 5U);
}

TEST_F(MetadataTablesTest, UnknownTablesAndSnapshotsAreNamed) {
  EXPECT_THAT(Scan(*io_, table_, {.what = "fils"}),
              HasError(Code::kNotFound, HasSubstr("snapshots, history, refs")));
  EXPECT_THAT(Scan(*io_, table_, {.what = "position_deletes"}), HasCode(Code::kUnsupported));
  EXPECT_THAT(Scan(*io_, table_, {.what = "files", .snapshot = {.snapshot_id = SnapshotId{9}}}),
              HasCode(Code::kNotFound));
}

TEST_F(MetadataTablesTest, ATableWithoutSnapshotsHasColumnsAndNoRows) {
  const TableMetadata empty = MakeTable(table_.schema(), {table_.default_spec()});
  for (const std::string& name : MetadataTableNames()) {
    IW_ASSERT_OK_AND_ASSIGN(const Rows rows, Scan(*io_, empty, {.what = name}));
    EXPECT_FALSE(rows.columns.empty()) << name;
    EXPECT_EQ(rows.rows.size(), name == "metadata-log" ? 1U : 0U) << name;
  }
}

}  // namespace
}  // namespace icewright
