// Manifests and lists of other engines, against what those engines say is in them.

#include <algorithm>
#include <cctype>

#include "codec/json.h"
#include "io/memory_file_io.h"
#include "manifest/avro_file.h"
#include "manifest/manifest_reader.h"
#include "manifest/manifest_writer.h"
#include "manifest/partition_codec.h"
#include "manifest/record_writer.h"
#include "testing/fixtures.h"
#include "testing/matchers.h"

namespace icewright {
namespace {

using ::testing::SizeIs;

std::string FixtureName(const ::testing::TestParamInfo<Fixture>& info) {
  return info.param.ns + "_" + info.param.name;
}

class ManifestGoldenTest : public ::testing::TestWithParam<Fixture> {
 protected:
  void SetUp() override {
    const Fixture& fixture = GetParam();
    auto expected = ParseJson(ReadExpected(fixture));
    ASSERT_THAT(expected, IsOk());
    expected_ = *expected;
    const Location location =
        fixture.location.Child(expected_.at("metadata_file").get<std::string>());
    auto bytes = ReadFile(*io_, location);
    ASSERT_THAT(bytes, IsOk());
    auto metadata = ParseTableMetadata(*bytes, location.text());
    ASSERT_THAT(metadata, IsOk());
    metadata_ = *metadata;
  }

  std::string Relative(const Location& location) const {
    const std::string prefix = GetParam().location.text() + "/";
    const std::string& text = location.text();
    return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
  }

  Json ManifestJson(const ManifestFile& m) const {
    Json json = {{"path", Relative(m.manifest_path)},
                 {"length", m.manifest_length},
                 {"content", m.content == ManifestContent::kData ? "data" : "deletes"},
                 {"spec_id", Raw(m.partition_spec_id)},
                 {"seq", Raw(m.sequence_number)},
                 {"min_seq", Raw(m.min_sequence_number)},
                 {"snapshot_id", Raw(m.added_snapshot_id)},
                 {"added", m.added_files_count.value()},
                 {"existing", m.existing_files_count.value()},
                 {"deleted", m.deleted_files_count.value()},
                 {"added_rows", m.added_rows_count.value()},
                 {"existing_rows", m.existing_rows_count.value()},
                 {"deleted_rows", m.deleted_rows_count.value()}};
    if (m.first_row_id) json["first_row_id"] = *m.first_row_id;
    return json;
  }

  Json FileJson(const ManifestEntry& entry) const {
    const DataFile& file = entry.file;
    std::string format(Name(file.file_format));
    std::ranges::transform(format, format.begin(), [](unsigned char c) { return std::tolower(c); });
    const PartitionSpec& spec = *metadata_.FindSpec(file.spec_id);
    Json json = {{"path", Relative(file.file_path)},
                 {"format", format},
                 {"size", file.file_size_in_bytes},
                 {"records", file.record_count},
                 {"spec_id", Raw(file.spec_id)},
                 {"partition", spec.PathOf(PartitionSchemaOf(metadata_, spec), file.partition)},
                 {"data_seq", Raw(*entry.sequence_number)},
                 {"file_seq", Raw(*entry.file_sequence_number)},
                 {"snapshot_id", Raw(*entry.snapshot_id)}};
    if (file.sort_order_id) json["sort_order_id"] = Raw(*file.sort_order_id);
    if (file.first_row_id) json["first_row_id"] = *file.first_row_id;
    if (file.content == FileContent::kData) return json;
    const bool by_position = file.content == FileContent::kPositionDeletes;
    json["content"] = by_position ? "position_deletes" : "equality_deletes";
    for (const FieldId id : file.equality_ids) json["equality_ids"].push_back(Raw(id));
    if (file.referenced_data_file) {
      json["referenced_data_file"] = Relative(*file.referenced_data_file);
    }
    if (file.content_offset) json["content_offset"] = *file.content_offset;
    if (file.content_size_in_bytes) json["content_size"] = *file.content_size_in_bytes;
    return json;
  }

  /// Order of objects, and of members in them, does not count; null is as good as absent.
  static std::vector<std::string> Lines(const Json& array) {
    std::vector<std::string> lines;
    for (const Json& item : array) {
      nlohmann::json members = nlohmann::json::object();
      for (const auto& [key, value] : item.items()) {
        if (!value.is_null()) members[key] = value;
      }
      lines.push_back(members.dump());
    }
    std::ranges::sort(lines);
    return lines;
  }

  std::shared_ptr<FileIO> io_ = FixtureIO();
  RunContext run_;
  Json expected_;
  TableMetadata metadata_;
};

TEST_P(ManifestGoldenTest, HeadOfMainHoldsWhatItsWriterSays) {
  const Snapshot* head = metadata_.current_snapshot();
  if (head == nullptr) {
    EXPECT_FALSE(expected_.contains("manifests"));
    return;
  }
  IW_ASSERT_OK_AND_ASSIGN(const auto manifests, ReadManifests(run_, *io_, metadata_, *head));
  Json listed = Json::array(), data_files = Json::array(), delete_files = Json::array();
  for (const ManifestFile& manifest : manifests) {
    listed.push_back(ManifestJson(manifest));
    IW_ASSERT_OK_AND_ASSIGN(const auto entries, ReadManifest(run_, *io_, metadata_, manifest));
    for (const ManifestEntry& entry : entries) {
      const bool is_data = entry.file.content == FileContent::kData;
      (is_data ? data_files : delete_files).push_back(FileJson(entry));
    }
  }
  EXPECT_EQ(Lines(listed), Lines(expected_.at("manifests")));
  EXPECT_EQ(Lines(data_files), Lines(expected_.at("data_files")));
  EXPECT_EQ(Lines(delete_files), Lines(expected_.at("delete_files")));
}

TEST_P(ManifestGoldenTest, EveryRefAndEveryEntryIsReadable) {
  for (const auto& [name, ref] : metadata_.refs) {
    const Snapshot* snapshot = metadata_.FindSnapshot(ref.snapshot_id);
    ASSERT_NE(snapshot, nullptr) << name;
    IW_ASSERT_OK_AND_ASSIGN(const auto manifests, ReadManifests(run_, *io_, metadata_, *snapshot));
    for (const ManifestFile& manifest : manifests) {
      IW_ASSERT_OK_AND_ASSIGN(
          auto reader, ManifestReader::Open(*io_, metadata_, manifest, {.live_only = false}));
      EXPECT_FALSE(reader.has_unknown_fields());
      EXPECT_EQ(reader.spec_id(), manifest.partition_spec_id);
      EXPECT_EQ(reader.content(), manifest.content);
      std::int32_t files[3] = {};
      ManifestEntry entry;
      for (;;) {
        IW_ASSERT_OK_AND_ASSIGN(const bool more, reader.Next(entry));
        if (!more) break;
        ++files[static_cast<std::size_t>(entry.status)];
      }
      EXPECT_EQ(files[0], manifest.existing_files_count);
      EXPECT_EQ(files[1], manifest.added_files_count);
      EXPECT_EQ(files[2], manifest.deleted_files_count);
    }
  }
}

TEST_P(ManifestGoldenTest, WhatIsReadWithoutMetricsDiffersInMetricsOnly) {
  const Snapshot* head = metadata_.current_snapshot();
  if (head == nullptr) return;
  IW_ASSERT_OK_AND_ASSIGN(const auto manifests, ReadManifests(run_, *io_, metadata_, *head));
  for (const ManifestFile& manifest : manifests) {
    IW_ASSERT_OK_AND_ASSIGN(auto full, ReadManifest(run_, *io_, metadata_, manifest));
    IW_ASSERT_OK_AND_ASSIGN(auto lean,
                            ReadManifest(run_, *io_, metadata_, manifest, {.metrics = false}));
    for (ManifestEntry& entry : full) {
      entry.file.DropMetrics();
      entry.file.split_offsets.clear();
    }
    EXPECT_EQ(full, lean);
  }
}

TEST_P(ManifestGoldenTest, ReadWriteReadChangesNothing) {
  const Snapshot* head = metadata_.current_snapshot();
  if (head == nullptr) return;
  const auto memory = MakeMemoryFileIO();
  IW_ASSERT_OK_AND_ASSIGN(const auto manifests, ReadManifests(run_, *io_, metadata_, *head));
  for (const ManifestFile& manifest : manifests) {
    IW_ASSERT_OK_AND_ASSIGN(const auto entries,
                            ReadManifest(run_, *io_, metadata_, manifest, {.live_only = false}));
    const PartitionSpec& spec = *metadata_.FindSpec(manifest.partition_spec_id);
    const Location copy_location("memory:/" + std::string(manifest.manifest_path.file_name()));
    IW_ASSERT_OK_AND_ASSIGN(auto writer,
                            ManifestWriter::Create(run_, *memory, copy_location,
                                                   PartitionSchemaOf(metadata_, spec), spec,
                                                   {.format_version = metadata_.format_version,
                                                    .content = manifest.content,
                                                    .snapshot_id = manifest.added_snapshot_id}));
    for (const ManifestEntry& entry : entries) {
      ASSERT_THAT(entry.is_live() ? writer.AddExisting(entry) : writer.AddDeleted(entry), IsOk());
    }
    IW_ASSERT_OK_AND_ASSIGN(ManifestFile copy, writer.Close());
    copy.sequence_number_pending = false;
    copy.sequence_number = manifest.sequence_number;
    copy.first_row_id = manifest.first_row_id;
    IW_ASSERT_OK_AND_ASSIGN(auto again,
                            ReadManifest(run_, *memory, metadata_, copy, {.live_only = false}));
    ASSERT_THAT(again, SizeIs(entries.size()));
    for (std::size_t i = 0; i < entries.size(); ++i) {
      ManifestEntry expected = entries[i];
      if (expected.is_live()) expected.status = EntryStatus::kExisting;
      if (!expected.is_live()) expected.snapshot_id = manifest.added_snapshot_id;
      EXPECT_EQ(again[i], expected) << expected.file.file_path.text();
    }
    EXPECT_EQ(copy.partitions->size(), manifest.partitions->size());
    EXPECT_EQ(copy.deleted_rows_count, manifest.deleted_rows_count);
    if (!copy.min_sequence_number_pending) {
      EXPECT_EQ(copy.min_sequence_number, manifest.min_sequence_number);
    }
  }
}

/// Our summaries are those of Java: same bounds, same flags.
TEST_P(ManifestGoldenTest, PartitionSummariesEqualTheWriters) {
  const Snapshot* head = metadata_.current_snapshot();
  if (head == nullptr) return;
  const auto memory = MakeMemoryFileIO();
  IW_ASSERT_OK_AND_ASSIGN(const auto manifests, ReadManifests(run_, *io_, metadata_, *head));
  for (const ManifestFile& manifest : manifests) {
    IW_ASSERT_OK_AND_ASSIGN(const auto entries,
                            ReadManifest(run_, *io_, metadata_, manifest, {.live_only = false}));
    const PartitionSpec& spec = *metadata_.FindSpec(manifest.partition_spec_id);
    IW_ASSERT_OK_AND_ASSIGN(
        auto writer,
        ManifestWriter::Create(
            run_, *memory, Location("memory:/" + std::string(manifest.manifest_path.file_name())),
            PartitionSchemaOf(metadata_, spec), spec,
            {.format_version = metadata_.format_version, .content = manifest.content}));
    for (const ManifestEntry& entry : entries) ASSERT_THAT(writer.AddExisting(entry), IsOk());
    IW_ASSERT_OK_AND_ASSIGN(const ManifestFile copy, writer.Close());
    ASSERT_EQ(copy.partitions->size(), manifest.partitions->size());
    for (std::size_t i = 0; i < copy.partitions->size(); ++i) {
      PartitionFieldSummary theirs = manifest.partitions->at(i);
      if (!theirs.contains_nan) theirs.contains_nan = false;  // some writers leave it out
      EXPECT_EQ(copy.partitions->at(i), theirs) << manifest.manifest_path.text() << " field " << i;
    }
  }
}

Json WithoutDocs(const Json& json) {
  Json out = json;
  if (out.is_object()) out.erase("doc");
  if (out.is_structured()) {
    for (Json& member : out) member = WithoutDocs(member);
  }
  return out;
}

/// Java's manifests carry the key iceberg.schema; ours have the same Avro schema, docs apart.
TEST_P(ManifestGoldenTest, AvroSchemasAreThoseOfJava) {
  using manifest_internal::OpenAvro;
  const Snapshot* head = metadata_.current_snapshot();
  if (head == nullptr || metadata_.format_version == 1) return;
  const auto written_version = [](const avro::ContainerReader& file) {
    return std::stoi(file.metadata().at("format-version"));
  };
  IW_ASSERT_OK_AND_ASSIGN(const auto list, OpenAvro(*io_, head->manifest_list));
  if (list.metadata().contains("iceberg.schema") && written_version(list) > 1) {
    EXPECT_EQ(manifest_internal::ManifestListAvroSchema(written_version(list)).dump(),
              WithoutDocs(*ParseJson(list.schema_json())).dump());
  }
  IW_ASSERT_OK_AND_ASSIGN(const auto manifests, ReadManifests(run_, *io_, metadata_, *head));
  for (const ManifestFile& manifest : manifests) {
    IW_ASSERT_OK_AND_ASSIGN(const auto file, OpenAvro(*io_, manifest.manifest_path));
    if (!file.metadata().contains("iceberg.schema") || written_version(file) == 1) continue;
    const PartitionSpec& spec = *metadata_.FindSpec(manifest.partition_spec_id);
    EXPECT_EQ(manifest_internal::ManifestAvroSchema(
                  written_version(file), spec.PartitionType(PartitionSchemaOf(metadata_, spec)))
                  .dump(),
              WithoutDocs(*ParseJson(file.schema_json())).dump());
  }
}

INSTANTIATE_TEST_SUITE_P(Fixtures, ManifestGoldenTest, ::testing::ValuesIn(ListFixtures()),
                         FixtureName);

}  // namespace
}  // namespace icewright
