#include "table/snapshot_json.h"

#include <fmt/format.h>

#include <utility>

#include "table/json_members.h"

namespace icewright {
namespace {

Status CheckObject(const Json& json) {
  if (json.is_object()) return {};
  return Error(Code::kCorrupt, fmt::format("expected an object, found {}", json.type_name()));
}

Status ReadSummary(const Json& json, Snapshot& snapshot) {
  IW_ASSIGN(auto entries, FindStrings(json, "summary"));
  for (auto& entry : entries) {
    if (entry.first == "operation") {
      snapshot.operation = std::move(entry.second);
    } else {
      snapshot.summary.push_back(std::move(entry));
    }
  }
  return {};
}

Status ReadManifests(const Json& json, Snapshot& snapshot) {
  IW_ASSIGN(std::optional<std::string> list, FindString(json, "manifest-list"));
  if (list) {
    snapshot.manifest_list = Location(*std::move(list));
    return {};
  }
  IW_ASSIGN(const Json* manifests, FindArray(json, "manifests"));
  if (manifests == nullptr) {
    return Error(Code::kCorrupt, "manifest-list: missing, and there are no manifests either");
  }
  for (const Json& item : *manifests) {
    if (!item.is_string()) return Error(Code::kCorrupt, "manifests: an item is no string");
    snapshot.v1_manifests.emplace_back(item.get<std::string>());
  }
  return {};
}

Result<BlobMetadata> BlobFromJson(const Json& json) {
  IW_TRY(CheckObject(json));
  BlobMetadata blob;
  IW_ASSIGN(blob.type, GetString(json, "type"));
  IW_ASSIGN(const std::int64_t snapshot_id, GetInt(json, "snapshot-id"));
  IW_ASSIGN(const std::int64_t sequence_number, GetInt(json, "sequence-number"));
  blob.snapshot_id = SnapshotId{snapshot_id};
  blob.sequence_number = SequenceNumber{sequence_number};
  IW_ASSIGN(blob.fields, FindIds<FieldId>(json, "fields"));
  IW_ASSIGN(auto properties, FindStrings(json, "properties"));
  blob.properties.insert(properties.begin(), properties.end());
  return blob;
}

Json ToJson(const BlobMetadata& blob) {
  Json json = Json::object();
  AddMember(json, "type", blob.type);
  AddMember(json, "snapshot-id", Raw(blob.snapshot_id));
  AddMember(json, "sequence-number", Raw(blob.sequence_number));
  AddMember(json, "fields", IdsToJson(blob.fields));
  Json properties = Json::object();
  for (const auto& [key, value] : blob.properties) AddMember(properties, key, value);
  AddMember(json, "properties", std::move(properties));
  return json;
}

}  // namespace

Result<Snapshot> SnapshotFromJson(const Json& json) {
  IW_TRY(CheckObject(json));
  Snapshot snapshot;
  IW_ASSIGN(const std::int64_t id, GetInt(json, "snapshot-id"));
  IW_ASSIGN(const std::int64_t timestamp, GetInt(json, "timestamp-ms"));
  IW_ASSIGN(const auto parent, FindInt(json, "parent-snapshot-id"));
  IW_ASSIGN(const auto sequence_number, FindInt(json, "sequence-number"));
  snapshot.id = SnapshotId{id};
  snapshot.timestamp = FromMillis(timestamp);
  if (parent && *parent >= 0) snapshot.parent_id = SnapshotId{*parent};  // some write -1 for none
  snapshot.sequence_number = SequenceNumber{sequence_number.value_or(0)};
  IW_TRY(ReadSummary(json, snapshot));
  IW_TRY(ReadManifests(json, snapshot));
  IW_ASSIGN(const auto schema_id, FindInt32(json, "schema-id"));
  if (schema_id) snapshot.schema_id = SchemaId{*schema_id};
  IW_ASSIGN(snapshot.first_row_id, FindInt(json, "first-row-id"));
  IW_ASSIGN(snapshot.added_rows, FindInt(json, "added-rows"));
  IW_ASSIGN(snapshot.key_id, FindString(json, "key-id"));
  snapshot.unknown_fields = UnknownMembers(
      json, {"snapshot-id", "timestamp-ms", "parent-snapshot-id", "sequence-number", "summary",
             "manifest-list", "manifests", "schema-id", "first-row-id", "added-rows", "key-id"});
  return snapshot;
}

Json ToJson(const Snapshot& snapshot) {
  Json json = Json::object();
  if (snapshot.sequence_number > kInitialSequenceNumber) {
    AddMember(json, "sequence-number", Raw(snapshot.sequence_number));
  }
  AddMember(json, "snapshot-id", Raw(snapshot.id));
  if (snapshot.parent_id) AddMember(json, "parent-snapshot-id", Raw(*snapshot.parent_id));
  AddMember(json, "timestamp-ms", ToMillis(snapshot.timestamp));
  if (snapshot.operation || !snapshot.summary.empty()) {
    Json summary = Json::object();
    AddMember(summary, "operation", snapshot.operation);
    for (const auto& [key, value] : snapshot.summary) AddMember(summary, key, value);
    AddMember(json, "summary", std::move(summary));
  }
  if (!snapshot.manifest_list.empty()) {
    AddMember(json, "manifest-list", snapshot.manifest_list.text());
  } else {
    Json manifests = Json::array();
    for (const Location& manifest : snapshot.v1_manifests) manifests.push_back(manifest.text());
    AddMember(json, "manifests", std::move(manifests));
  }
  if (snapshot.schema_id) AddMember(json, "schema-id", Raw(*snapshot.schema_id));
  AddMember(json, "first-row-id", snapshot.first_row_id);
  AddMember(json, "added-rows", snapshot.added_rows);
  AddMember(json, "key-id", snapshot.key_id);
  AddUnknownMembers(json, snapshot.unknown_fields);
  return json;
}

Result<SnapshotRef> SnapshotRefFromJson(const Json& json) {
  IW_TRY(CheckObject(json));
  SnapshotRef ref;
  IW_ASSIGN(const std::int64_t id, GetInt(json, "snapshot-id"));
  ref.snapshot_id = SnapshotId{id};
  IW_ASSIGN(const std::string kind, GetString(json, "type"));
  if (kind == "tag" || kind == "TAG") {
    ref.kind = SnapshotRef::Kind::kTag;
  } else if (kind != "branch" && kind != "BRANCH") {
    return Error(Code::kCorrupt, fmt::format("type: \"{}\" is neither branch nor tag", kind));
  }
  IW_ASSIGN(ref.min_snapshots_to_keep, FindInt32(json, "min-snapshots-to-keep"));
  IW_ASSIGN(ref.max_snapshot_age_ms, FindInt(json, "max-snapshot-age-ms"));
  IW_ASSIGN(ref.max_ref_age_ms, FindInt(json, "max-ref-age-ms"));
  ref.unknown_fields = UnknownMembers(json, {"snapshot-id", "type", "min-snapshots-to-keep",
                                             "max-snapshot-age-ms", "max-ref-age-ms"});
  return ref;
}

Json ToJson(const SnapshotRef& ref) {
  Json json = Json::object();
  AddMember(json, "snapshot-id", Raw(ref.snapshot_id));
  AddMember(json, "type", ref.kind == SnapshotRef::Kind::kTag ? "tag" : "branch");
  AddMember(json, "min-snapshots-to-keep", ref.min_snapshots_to_keep);
  AddMember(json, "max-snapshot-age-ms", ref.max_snapshot_age_ms);
  AddMember(json, "max-ref-age-ms", ref.max_ref_age_ms);
  AddUnknownMembers(json, ref.unknown_fields);
  return json;
}

Result<StatisticsFile> StatisticsFromJson(const Json& json) {
  IW_TRY(CheckObject(json));
  StatisticsFile file;
  IW_ASSIGN(const std::int64_t id, GetInt(json, "snapshot-id"));
  file.snapshot_id = SnapshotId{id};
  IW_ASSIGN(std::string path, GetString(json, "statistics-path"));
  file.statistics_path = Location(std::move(path));
  IW_ASSIGN(file.file_size_in_bytes, GetInt(json, "file-size-in-bytes"));
  IW_ASSIGN(file.file_footer_size_in_bytes, GetInt(json, "file-footer-size-in-bytes"));
  IW_ASSIGN(const Json* blobs, GetArray(json, "blob-metadata"));
  for (const Json& item : *blobs) {
    IW_ASSIGN(BlobMetadata blob, BlobFromJson(item).Within(
                                     fmt::format("blob-metadata[{}]", file.blob_metadata.size())));
    file.blob_metadata.push_back(std::move(blob));
  }
  file.unknown_fields =
      UnknownMembers(json, {"snapshot-id", "statistics-path", "file-size-in-bytes",
                            "file-footer-size-in-bytes", "blob-metadata"});
  return file;
}

Json ToJson(const StatisticsFile& statistics) {
  Json json = Json::object();
  AddMember(json, "snapshot-id", Raw(statistics.snapshot_id));
  AddMember(json, "statistics-path", statistics.statistics_path.text());
  AddMember(json, "file-size-in-bytes", statistics.file_size_in_bytes);
  AddMember(json, "file-footer-size-in-bytes", statistics.file_footer_size_in_bytes);
  Json blobs = Json::array();
  for (const BlobMetadata& blob : statistics.blob_metadata) blobs.push_back(ToJson(blob));
  AddMember(json, "blob-metadata", std::move(blobs));
  AddUnknownMembers(json, statistics.unknown_fields);
  return json;
}

Result<PartitionStatisticsFile> PartitionStatisticsFromJson(const Json& json) {
  IW_TRY(CheckObject(json));
  PartitionStatisticsFile file;
  IW_ASSIGN(const std::int64_t id, GetInt(json, "snapshot-id"));
  file.snapshot_id = SnapshotId{id};
  IW_ASSIGN(std::string path, GetString(json, "statistics-path"));
  file.statistics_path = Location(std::move(path));
  IW_ASSIGN(file.file_size_in_bytes, GetInt(json, "file-size-in-bytes"));
  file.unknown_fields =
      UnknownMembers(json, {"snapshot-id", "statistics-path", "file-size-in-bytes"});
  return file;
}

Json ToJson(const PartitionStatisticsFile& statistics) {
  Json json = Json::object();
  AddMember(json, "snapshot-id", Raw(statistics.snapshot_id));
  AddMember(json, "statistics-path", statistics.statistics_path.text());
  AddMember(json, "file-size-in-bytes", statistics.file_size_in_bytes);
  AddUnknownMembers(json, statistics.unknown_fields);
  return json;
}

}  // namespace icewright
