#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "catalog/catalog.h"
#include "codec/json.h"
#include "commit/snapshot_update.h"
#include "manifest/manifest_reader.h"
#include "testing/fixtures.h"
#include "testing/matchers.h"

namespace icewright {
namespace {

using Keys = std::map<std::string, std::string>;
using ::testing::ElementsAreArray;

/// A rewrite that Flink did on a fixture, as recorded. The commit of the same files here must give
/// the same summary, the same manifests and the same live files.
struct Case {
  const char* fixture;
  const char* after;
};

class CommitGoldenTest : public ::testing::TestWithParam<Case> {};

/// The parts of a manifest list entry that do not depend on names and encodings.
struct ManifestShape {
  std::string content;
  std::int64_t spec = 0, seq = 0, min_seq = 0;
  std::int64_t added = 0, existing = 0, deleted = 0;
  std::int64_t added_rows = 0, existing_rows = 0, deleted_rows = 0;
  bool is_new = false;

  friend bool operator==(const ManifestShape&, const ManifestShape&) = default;
  friend void PrintTo(const ManifestShape& s, std::ostream* os) {
    *os << s.content << " spec " << s.spec << " seq " << s.seq << " min " << s.min_seq << " +"
        << s.added << " =" << s.existing << " -" << s.deleted << " rows +" << s.added_rows << " ="
        << s.existing_rows << " -" << s.deleted_rows << (s.is_new ? " new" : " old");
  }
};

ManifestShape ShapeOf(const ManifestFile& m, SnapshotId snapshot) {
  return {.content = m.content == ManifestContent::kData ? "data" : "deletes",
          .spec = Raw(m.partition_spec_id),
          .seq = Raw(m.sequence_number),
          .min_seq = Raw(m.min_sequence_number),
          .added = m.added_files_count.value_or(-1),
          .existing = m.existing_files_count.value_or(-1),
          .deleted = m.deleted_files_count.value_or(-1),
          .added_rows = m.added_rows_count.value_or(-1),
          .existing_rows = m.existing_rows_count.value_or(-1),
          .deleted_rows = m.deleted_rows_count.value_or(-1),
          .is_new = m.added_snapshot_id == snapshot};
}

ManifestShape ShapeOf(const Json& m, std::int64_t snapshot) {
  return {.content = m.at("content"),
          .spec = m.at("spec_id"),
          .seq = m.at("seq"),
          .min_seq = m.at("min_seq"),
          .added = m.at("added"),
          .existing = m.at("existing"),
          .deleted = m.at("deleted"),
          .added_rows = m.at("added_rows"),
          .existing_rows = m.at("existing_rows"),
          .deleted_rows = m.at("deleted_rows"),
          .is_new = m.at("snapshot_id") == snapshot};
}

Keys WithoutEngine(Keys keys) {
  for (const char* key : {"engine-name", "engine-version", "iceberg-version"}) keys.erase(key);
  return keys;
}

/// A copy of the fixture, opened, and what Flink's run left.
class Replay {
 public:
  explicit Replay(const Case& c) : copy_(c.fixture) {
    auto table = OpenTableAt(run_, copy_.location(), copy_.io());
    EXPECT_THAT(table, IsOk());
    table_.emplace(*std::move(table));
    const std::string name = std::string("after-") + c.after;
    after_ = *ParseJson(ReadExpected(copy_.fixture(), name + ".json"));
    const Json result = *ParseJson(ReadExpected(copy_.fixture(), name + ".result.json"));
    EXPECT_EQ(result.at("new_snapshots").size(), 1U);
    recorded_ = result.at("new_snapshots").at(0);
  }

  const Snapshot& Head() const { return *table_->metadata().FindRef(kMainBranch); }

  std::vector<ManifestFile> Manifests() {
    auto manifests = ReadManifests(run_, table_->io(), table_->metadata(), Head());
    EXPECT_THAT(manifests, IsOk());
    return *std::move(manifests);
  }

  /// Live entries by path relative to the table.
  std::multimap<std::string, ManifestEntry> Live(ManifestContent content) {
    std::multimap<std::string, ManifestEntry> live;
    for (const ManifestFile& manifest : Manifests()) {
      if (manifest.content != content) continue;
      auto entries = ReadManifest(run_, table_->io(), table_->metadata(), manifest);
      EXPECT_THAT(entries, IsOk());
      for (ManifestEntry& entry : *entries) {
        live.emplace(entry.file.file_path.text().substr(copy_.location().text().size() + 1), entry);
      }
    }
    return live;
  }

  /// Removes and adds what Flink removed and added.
  SnapshotUpdate RecordedUpdate() {
    const TableMetadata& metadata = table_->metadata();
    SnapshotUpdate update{.operation = "replace",
                          .validate_from = Head().id,
                          .fail_on_new_deletes = true,
                          .ignore_new_equality_deletes = true};
    std::map<std::string, StructValue> partitions;
    std::set<std::string> kept;
    for (const Json& file : after_.at("data_files")) kept.insert(file.at("path"));
    std::set<std::string> before;
    for (const auto& [path, entry] : Live(ManifestContent::kData)) {
      before.insert(path);
      const PartitionSpec* spec = metadata.FindSpec(entry.file.spec_id);
      partitions[spec->PathOf(metadata.schema(), entry.file.partition)] = entry.file.partition;
      if (!kept.contains(path)) update.removed_data_files.push_back(entry.file);
    }
    for (const Json& json : after_.at("data_files")) {
      const std::string path = json.at("path");
      if (before.contains(path)) continue;
      DataFile file;
      file.file_path = copy_.location().Child(path);
      file.file_format = *ParseFileFormat(json.at("format").get<std::string>());
      file.file_size_in_bytes = json.at("size");
      file.record_count = json.at("records");
      file.spec_id = SpecId(json.at("spec_id").get<int>());
      const std::string partition = json.at("partition");
      EXPECT_TRUE(partitions.contains(partition)) << partition;
      file.partition = partitions[partition];
      update.added_data_files.push_back({file, SequenceNumber(json.at("data_seq").get<int>())});
    }
    return update;
  }

  RunContext run_;
  FixtureCopy copy_;
  std::optional<Table> table_;
  Json after_;
  Json recorded_;
};

/// "path", data and file sequence number.
using LiveRow = std::tuple<std::string, std::int64_t, std::int64_t>;

std::multiset<LiveRow> RowsOf(const std::multimap<std::string, ManifestEntry>& live) {
  std::multiset<LiveRow> rows;
  for (const auto& [path, entry] : live) {
    rows.emplace(path, Raw(entry.sequence_number.value()), Raw(entry.file_sequence_number.value()));
  }
  return rows;
}

std::multiset<LiveRow> RowsOf(const Json& files) {
  std::multiset<LiveRow> rows;
  for (const Json& file : files)
    rows.emplace(file.at("path"), file.at("data_seq"), file.at("file_seq"));
  return rows;
}

TEST_P(CommitGoldenTest, GivesWhatJavaGave) {
  Replay replay(GetParam());
  ASSERT_FALSE(HasFailure());
  CommitReport report;
  const SnapshotUpdate update = replay.RecordedUpdate();
  ASSERT_THAT(CommitSnapshot(replay.run_, *replay.table_, update, report), IsOk());

  const Snapshot& head = replay.Head();
  Keys ours;
  for (const auto& [key, value] : head.summary) ours[key] = value;
  EXPECT_EQ(WithoutEngine(ours), WithoutEngine(replay.recorded_.at("summary").get<Keys>()));
  EXPECT_EQ(Raw(head.sequence_number), replay.after_.at("last_sequence_number"));

  std::vector<ManifestShape> shapes;
  for (const ManifestFile& manifest : replay.Manifests()) {
    shapes.push_back(ShapeOf(manifest, head.id));
  }
  std::vector<ManifestShape> expected;
  for (const Json& manifest : replay.after_.at("manifests")) {
    expected.push_back(ShapeOf(manifest, replay.recorded_.at("snapshot_id")));
  }
  EXPECT_THAT(shapes, ElementsAreArray(expected));

  EXPECT_EQ(RowsOf(replay.Live(ManifestContent::kData)), RowsOf(replay.after_.at("data_files")));
  EXPECT_EQ(RowsOf(replay.Live(ManifestContent::kDeletes)),
            RowsOf(replay.after_.at("delete_files")));
}

// Java opens only the delete manifests that hold the named DVs; here all are looked at, and the two
// delete files that are older than the rewritten file go with them.
TEST(CommitGoldenOldDeletesTest, OfAnUpgradedTableGo) {
  Replay replay({"upgraded_v3", "rewrite-data-files"});
  CommitReport report;
  const SnapshotUpdate update = replay.RecordedUpdate();
  ASSERT_THAT(CommitSnapshot(replay.run_, *replay.table_, update, report), IsOk());
  EXPECT_EQ(RowsOf(replay.Live(ManifestContent::kData)), RowsOf(replay.after_.at("data_files")));
  EXPECT_EQ(
      RowsOf(replay.after_.at("delete_files")),
      (std::multiset<LiveRow>{{"data/00000-5-v2-eq-00001-eq.parquet", 2, 2},
                              {"data/00000-6-v2-partition-scoped-00001-deletes.parquet", 3, 3}}));
  EXPECT_TRUE(replay.Live(ManifestContent::kDeletes).empty());
  EXPECT_EQ(replay.Live(ManifestContent::kData).begin()->second.sequence_number, SequenceNumber(5));
  EXPECT_EQ(*FindKey(replay.Head().summary, "total-delete-files"), "0");
}

INSTANTIATE_TEST_SUITE_P(
    Fixtures, CommitGoldenTest,
    ::testing::Values(
        Case{"append_v2", "rewrite-data-files"}, Case{"avro_v2", "rewrite-data-files"},
        Case{"codecs_v2", "rewrite-data-files"}, Case{"events_v2", "rewrite-data-files"},
        Case{"evolve_v3", "rewrite-data-files"}, Case{"flights", "rewrite-data-files"},
        Case{"flights", "rewrite-data-files-60k"}, Case{"lineage_v3", "rewrite-data-files"},
        Case{"orc_v2", "rewrite-data-files"}, Case{"plain_v1", "rewrite-data-files"},
        Case{"posdel_v2", "rewrite-data-files"}, Case{"posdel_v2", "rewrite-data-files-all"},
        Case{"respec_v2", "rewrite-data-files"}, Case{"upsert_v2", "rewrite-data-files"},
        Case{"upsert_v2", "rewrite-data-files-all"}, Case{"upsert_v3", "rewrite-data-files"},
        Case{"upsert_v3", "rewrite-data-files-all"}),
    [](const auto& test) {
      std::string name = std::string(test.param.fixture) + "_" + test.param.after;
      for (char& c : name) {
        if (c == '-') c = '_';
      }
      return name;
    });

}  // namespace
}  // namespace icewright
