// Metadata files that Java, PyIceberg, Go and Rust wrote.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "codec/compression.h"
#include "codec/json.h"
#include "table/metadata.h"
#include "table/snapshot_json.h"
#include "table/table_update.h"
#include "testing/fixtures.h"
#include "testing/matchers.h"

namespace icewright {
namespace {

namespace fs = std::filesystem;

std::string ReadAll(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<fs::path> MetadataFilesOf(const Fixture& fixture) {
  std::vector<fs::path> files;
  const fs::path folder = fs::path(FixtureRoot()) / fixture.ns / fixture.name / "metadata";
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (MetadataVersionOf(entry.path().filename().string())) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string Plain(const std::string& bytes) {
  if (!bytes.starts_with("\x1f\x8b")) return bytes;
  const auto plain = Decompress(Compression::kGzip, bytes, std::size_t{64} << 20);
  EXPECT_THAT(plain, IsOk());
  return plain ? *plain : std::string();
}

/// Members in sorted order at every level: the text is equal iff the values are.
nlohmann::json Sorted(const std::string& text) {
  return nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
}

/// An object with its members in the order of their names; what is inside keeps its order.
Json InKeyOrder(const Json& object) {
  std::map<std::string, Json> members;
  for (const auto& [key, value] : object.items()) members.emplace(key, value);
  Json out = Json::object();
  for (const auto& [key, value] : members) out[key] = value;
  return out;
}

/// Empty if the texts are equal, else both around the first difference.
std::string FirstDifference(const std::string& a, const std::string& b) {
  const auto at = static_cast<std::size_t>(
      std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
  if (at == a.size() && at == b.size()) return "";
  const std::size_t from = at < 40 ? 0 : at - 40;
  return a.substr(from, 100) + " <> " + b.substr(std::min(from, b.size()), 100);
}

/// What other writers put differently and we write as Java does.
nlohmann::json AsJavaWrites(nlohmann::json json) {
  for (auto& schema : json["schemas"]) {
    if (schema.contains("identifier-field-ids") && schema["identifier-field-ids"].empty()) {
      schema.erase("identifier-field-ids");  // PyIceberg, Rust
    }
  }
  if (json.contains("schema") &&
      json["schema"].value("identifier-field-ids", json) == nlohmann::json::array()) {
    json["schema"].erase("identifier-field-ids");  // PyIceberg
  }
  if (json["format-version"] < 3 && !json.contains("current-snapshot-id")) {
    json["current-snapshot-id"] = -1;  // PyIceberg
  }
  if (json["format-version"] == 1) {
    for (const auto& spec : json["partition-specs"]) {
      // PyIceberg leaves the first spec here when the default changes.
      if (spec["spec-id"] == json["default-spec-id"]) json["partition-spec"] = spec["fields"];
    }
  }
  for (const char* list : {"statistics", "partition-statistics"}) {
    if (!json.contains(list)) json[list] = nlohmann::json::array();  // Go
  }
  return json;
}

class MetadataGoldenTest : public ::testing::TestWithParam<std::string> {
 protected:
  const Fixture& fixture() const { return FindFixture(GetParam()); }
};

TEST_P(MetadataGoldenTest, EveryFileIsWrittenBackEqual) {
  const std::vector<fs::path> files = MetadataFilesOf(fixture());
  ASSERT_FALSE(files.empty());
  for (const fs::path& file : files) {
    SCOPED_TRACE(file.string());
    const std::string bytes = ReadAll(file);
    IW_ASSERT_OK_AND_ASSIGN(const TableMetadata metadata,
                            ParseTableMetadata(bytes, file.filename().string()));
    const std::string written = SerializeTableMetadata(metadata);
    EXPECT_EQ(nlohmann::json::diff(AsJavaWrites(Sorted(Plain(bytes))), Sorted(written)),
              nlohmann::json::array());
    IW_ASSERT_OK_AND_ASSIGN(const TableMetadata again, ParseTableMetadata(written, "again"));
    EXPECT_EQ(SerializeTableMetadata(again), written);
    EXPECT_TRUE(metadata.unknown_fields.empty());
  }
}

/// Java's files also keep the order of members, but for properties and refs, which are maps.
TEST_P(MetadataGoldenTest, MembersOfJavasFilesKeepTheirOrder) {
  const std::string& name = GetParam();
  if (fixture().ns == "ot" && !name.starts_with("spark_")) return;  // not Java's
  for (const fs::path& file : MetadataFilesOf(fixture())) {
    SCOPED_TRACE(file.string());
    const std::string bytes = ReadAll(file);
    IW_ASSERT_OK_AND_ASSIGN(const TableMetadata metadata, ParseTableMetadata(bytes, "x"));
    Json original = *ParseJson(Plain(bytes));
    for (const char* map : {"properties", "refs"}) {
      original[map] = InKeyOrder(original[map]);
    }
    EXPECT_EQ(FirstDifference(SerializeTableMetadata(metadata), DumpJson(original)), "");
  }
}

/// The dump names paths relative to the table.
std::string Relative(const TableMetadata& metadata, const Location& location) {
  const std::string prefix = metadata.location.text() + "/";
  EXPECT_TRUE(location.text().starts_with(prefix)) << location.text();
  return location.text().substr(prefix.size());
}

Json SnapshotsOf(const TableMetadata& metadata) {
  Json snapshots = Json::array();
  for (const Snapshot& s : metadata.snapshots) {
    Json json;
    json["id"] = Raw(s.id);
    json["parent"] = s.parent_id ? Json(Raw(*s.parent_id)) : Json(nullptr);
    json["seq"] = Raw(s.sequence_number);
    json["timestamp_ms"] = ToMillis(s.timestamp);
    json["operation"] = s.operation ? Json(*s.operation) : Json(nullptr);
    json["schema_id"] = s.schema_id ? Json(Raw(*s.schema_id)) : Json(nullptr);
    Json summary = Json::object();
    for (const auto& [key, value] : s.summary) summary[key] = value;
    json["summary"] = summary;
    json["manifest_list"] = Relative(metadata, s.manifest_list);
    if (metadata.format_version >= 3) {
      json["first_row_id"] = s.first_row_id ? Json(*s.first_row_id) : Json(nullptr);
      json["added_rows"] = s.added_rows ? Json(*s.added_rows) : Json(nullptr);
    }
    snapshots.push_back(json);
  }
  return snapshots;
}

Json RefsOf(const TableMetadata& metadata) {
  Json refs = Json::array();
  for (const auto& [name, ref] : metadata.refs) {
    Json json;
    json["name"] = name;
    json["type"] = ref.kind == SnapshotRef::Kind::kTag ? "tag" : "branch";
    json["snapshot_id"] = Raw(ref.snapshot_id);
    if (ref.min_snapshots_to_keep) json["min_snapshots_to_keep"] = *ref.min_snapshots_to_keep;
    if (ref.max_snapshot_age_ms) json["max_snapshot_age_ms"] = *ref.max_snapshot_age_ms;
    if (ref.max_ref_age_ms) json["max_ref_age_ms"] = *ref.max_ref_age_ms;
    refs.push_back(json);
  }
  return refs;
}

Json StatisticsOf(const TableMetadata& metadata) {
  Json list = Json::array();
  for (const StatisticsFile& file : metadata.statistics) {
    Json json;
    json["snapshot_id"] = Raw(file.snapshot_id);
    json["path"] = Relative(metadata, file.statistics_path);
    json["size"] = file.file_size_in_bytes;
    json["footer_size"] = file.file_footer_size_in_bytes;
    json["blobs"] = Json::array();
    for (const BlobMetadata& blob : file.blob_metadata) {
      Json one;
      one["type"] = blob.type;
      for (const FieldId id : blob.fields) one["fields"].push_back(Raw(id));
      one["seq"] = Raw(blob.sequence_number);
      one["snapshot_id"] = Raw(blob.snapshot_id);
      one["properties"] = blob.properties;
      json["blobs"].push_back(one);
    }
    list.push_back(json);
  }
  return list;
}

Json PartitionStatisticsOf(const TableMetadata& metadata) {
  Json list = Json::array();
  for (const PartitionStatisticsFile& file : metadata.partition_statistics) {
    Json json;
    json["snapshot_id"] = Raw(file.snapshot_id);
    json["path"] = Relative(metadata, file.statistics_path);
    json["size"] = file.file_size_in_bytes;
    list.push_back(json);
  }
  return list;
}

/// The canonical dump of the reference implementation, as far as it is about metadata.
Json DumpOf(const TableMetadata& t) {
  Json json;
  json["location"] = t.location.text();
  json["format_version"] = t.format_version;
  json["uuid"] = t.table_uuid;
  json["last_sequence_number"] = Raw(t.last_sequence_number);
  json["last_column_id"] = t.last_column_id;
  if (t.next_row_id) json["next_row_id"] = *t.next_row_id;
  json["current_schema_id"] = Raw(t.current_schema_id);
  json["default_spec_id"] = Raw(t.default_spec_id);
  json["default_sort_order_id"] = Raw(t.default_sort_order_id);
  json["schemas"] = Json::array();
  for (const Schema& schema : t.schemas) json["schemas"].push_back(schema.ToJson());
  json["specs"] = Json::array();
  for (const PartitionSpec& spec : t.partition_specs) json["specs"].push_back(spec.ToJson());
  json["sort_orders"] = Json::array();
  for (const SortOrder& order : t.sort_orders) json["sort_orders"].push_back(order.ToJson());
  json["properties"] = t.properties;
  json["current_snapshot_id"] =
      t.current_snapshot_id ? Json(Raw(*t.current_snapshot_id)) : Json(nullptr);
  json["refs"] = RefsOf(t);
  json["snapshots"] = SnapshotsOf(t);
  json["statistics"] = StatisticsOf(t);
  json["partition_statistics"] = PartitionStatisticsOf(t);
  json["metadata_log_entries"] = t.metadata_log.size();
  json["snapshot_log_entries"] = t.snapshot_log.size();
  return json;
}

TEST_P(MetadataGoldenTest, ValuesAreThoseThatJavaSees) {
  const nlohmann::json expected = Sorted(ReadExpected(fixture()));
  const std::string name = expected["metadata_file"];
  const fs::path file = fs::path(FixtureRoot()) / fixture().ns / fixture().name / name;
  IW_ASSERT_OK_AND_ASSIGN(const TableMetadata metadata, ParseTableMetadata(ReadAll(file), name));
  const nlohmann::json found = Sorted(DumpJson(DumpOf(metadata)));
  for (const auto& [key, value] : found.items()) {
    ASSERT_TRUE(expected.contains(key)) << key;
    EXPECT_EQ(nlohmann::json::diff(expected[key], value), nlohmann::json::array()) << key;
  }
  EXPECT_EQ(expected.contains("next_row_id"), found.contains("next_row_id"));
}

/// Java numbers the columns of a new table; numbering its schema again must change nothing.
TEST_P(MetadataGoldenTest, FreshIdsAreThoseOfJava) {
  if (fixture().ns == "ot") return;  // some were made with ids of their own
  IW_ASSERT_OK_AND_ASSIGN(const TableMetadata first,
                          ParseTableMetadata(ReadAll(MetadataFilesOf(fixture()).front()), "first"));
  const auto made = MakeTableMetadata(
      {.location = first.location,
       .schema = first.FindSchema(SchemaId{0}) ? *first.FindSchema(SchemaId{0}) : first.schema(),
       .spec = {},
       .sort_order = {},
       .properties = {{"format-version", "3"}}},
      first.table_uuid, first.last_updated);
  ASSERT_THAT(made, IsOk());
  EXPECT_EQ(DumpJson(made->schema().ToJson()), DumpJson(first.FindSchema(SchemaId{0})->ToJson()));
}

std::vector<std::string> FixtureNames() {
  // Named here, so that listing tests does not unpack archives.
  return {"append_v2",
          "avro_v2",
          "changelog_v2",
          "codecs_v2",
          "crc_v2",
          "empty_v2",
          "events_v2",
          "evolve_v2",
          "evolve_v3",
          "flights",
          "geo_v3",
          "lineage_v3",
          "mixed_v2",
          "orc_v2",
          "orphans_v2",
          "plain_v1",
          "posdel_v2",
          "refs_v2",
          "respec_v2",
          "small_manifests_v2",
          "staged_v3",
          "trimmed_v2",
          "unknown_v3",
          "upgraded_v3",
          "upsert_part_v3",
          "upsert_v2",
          "upsert_v3",
          "variant_v3",
          "jdbc_v2",
          "go_compacted_v2",
          "odd_brotli_v2",
          "odd_parquet_v2",
          "py_append_v2",
          "py_delete_v2",
          "py_schema_evolution_v2",
          "py_v1",
          "rust_compacted_v2",
          "spark_addfiles_v2",
          "spark_bloom_v2",
          "spark_cow_v2",
          "spark_legacylists_v2",
          "spark_mor_v2",
          "spark_mor_v3",
          "spark_paths_v2",
          "spark_rewritten_v3",
          "spark_types_v2",
          "spark_variant_v3"};
}

INSTANTIATE_TEST_SUITE_P(Fixtures, MetadataGoldenTest, ::testing::ValuesIn(FixtureNames()),
                         [](const auto& test) { return test.param; });

TEST(MetadataGoldenListTest, NoFixtureIsForgotten) {
  std::set<std::string> found;
  for (const Fixture& fixture : ListFixtures()) found.insert(fixture.name);
  const std::vector<std::string> names = FixtureNames();
  EXPECT_EQ(found, std::set<std::string>(names.begin(), names.end()));
}

}  // namespace
}  // namespace icewright
