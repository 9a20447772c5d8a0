#pragma once

/// \file table/snapshot.h
/// Snapshots, the branches and tags that name them, and statistics attached to them.
///
/// Spec: "Snapshots", "Snapshot References", "Table Statistics".   Java twins: Snapshot,
/// SnapshotRef.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "base/location.h"

namespace icewright {

/// Keys in the order of the file.
using Summary = std::vector<std::pair<std::string, std::string>>;

/// Null if the key is absent.
const std::string* FindKey(const Summary& summary, std::string_view key);

struct Snapshot {
  SnapshotId id{};
  std::optional<SnapshotId> parent_id = {};
  SequenceNumber sequence_number{0};
  TimePoint timestamp{};
  std::optional<std::string> operation = {};  ///< append, replace, overwrite, delete
  Summary summary = {};                       ///< Without `operation`.
  Location manifest_list = {};                ///< Empty only if v1 `manifests` are used.
  std::vector<Location> v1_manifests = {};    ///< v1 without a manifest list.
  std::optional<SchemaId> schema_id = {};
  std::optional<std::int64_t> first_row_id = {};  ///< v3
  std::optional<std::int64_t> added_rows = {};    ///< v3
  std::optional<std::string> key_id = {};         ///< v3, encrypted manifest list
  std::string unknown_fields = {};  ///< JSON object of members this build does not know, or empty.

  friend bool operator==(const Snapshot&, const Snapshot&) = default;
};

struct SnapshotRef {
  enum class Kind : std::uint8_t { kBranch, kTag };

  SnapshotId snapshot_id{};
  Kind kind = Kind::kBranch;
  std::optional<std::int32_t> min_snapshots_to_keep = {};  ///< Branches only.
  std::optional<std::int64_t> max_snapshot_age_ms = {};    ///< Branches only.
  std::optional<std::int64_t> max_ref_age_ms = {};
  std::string unknown_fields = {};

  friend bool operator==(const SnapshotRef&, const SnapshotRef&) = default;
};

inline constexpr std::string_view kMainBranch = "main";

struct BlobMetadata {
  std::string type;
  SnapshotId snapshot_id{};
  SequenceNumber sequence_number{};
  std::vector<FieldId> fields;
  std::map<std::string, std::string> properties;
  friend bool operator==(const BlobMetadata&, const BlobMetadata&) = default;
};

struct StatisticsFile {
  SnapshotId snapshot_id{};
  Location statistics_path;
  std::int64_t file_size_in_bytes = 0;
  std::int64_t file_footer_size_in_bytes = 0;
  std::vector<BlobMetadata> blob_metadata;
  std::string unknown_fields = {};  ///< key-metadata and others
  friend bool operator==(const StatisticsFile&, const StatisticsFile&) = default;
};

struct PartitionStatisticsFile {
  SnapshotId snapshot_id{};
  Location statistics_path;
  std::int64_t file_size_in_bytes = 0;
  std::string unknown_fields = {};
  friend bool operator==(const PartitionStatisticsFile&, const PartitionStatisticsFile&) = default;
};

struct SnapshotLogEntry {
  TimePoint timestamp{};
  SnapshotId snapshot_id{};
  friend bool operator==(const SnapshotLogEntry&, const SnapshotLogEntry&) = default;
};

struct MetadataLogEntry {
  TimePoint timestamp{};
  Location metadata_file;
  friend bool operator==(const MetadataLogEntry&, const MetadataLogEntry&) = default;
};

}  // namespace icewright
