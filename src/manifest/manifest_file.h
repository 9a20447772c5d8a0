#pragma once

/// \file manifest/manifest_file.h
/// A manifest as the manifest list describes it; reading and writing of manifest lists.
///
/// Spec: "Manifest Lists".   Java twins: ManifestFile, ManifestLists.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/location.h"
#include "base/run_context.h"
#include "io/file_io.h"
#include "table/metadata.h"

namespace icewright {

enum class ManifestContent : std::uint8_t { kData = 0, kDeletes = 1 };

struct PartitionFieldSummary {
  bool contains_null = false;
  std::optional<bool> contains_nan = {};
  std::optional<Bytes> lower_bound = {};
  std::optional<Bytes> upper_bound = {};
  friend bool operator==(const PartitionFieldSummary&, const PartitionFieldSummary&) = default;
};

struct ManifestFile {
  Location manifest_path;                                 ///< 500
  std::int64_t manifest_length = 0;                       ///< 501
  SpecId partition_spec_id{0};                            ///< 502
  ManifestContent content = ManifestContent::kData;       ///< 517
  SequenceNumber sequence_number{0};                      ///< 515
  SequenceNumber min_sequence_number{0};                  ///< 516
  SnapshotId added_snapshot_id{};                         ///< 503
  std::optional<std::int32_t> added_files_count = {};     ///< 504; unset (v1): unknown, assume > 0
  std::optional<std::int32_t> existing_files_count = {};  ///< 505
  std::optional<std::int32_t> deleted_files_count = {};   ///< 506
  std::optional<std::int64_t> added_rows_count = {};      ///< 512
  std::optional<std::int64_t> existing_rows_count = {};   ///< 513
  std::optional<std::int64_t> deleted_rows_count = {};    ///< 514
  std::optional<std::vector<PartitionFieldSummary>> partitions = {};  ///< 507
  std::optional<Bytes> key_metadata = {};                             ///< 519
  std::optional<std::int64_t> first_row_id = {};                      ///< 520, v3

  bool may_have_added() const { return added_files_count.value_or(1) > 0; }
  bool may_have_existing() const { return existing_files_count.value_or(1) > 0; }
  bool may_have_deleted() const { return deleted_files_count.value_or(1) > 0; }
  bool may_have_live() const { return may_have_added() || may_have_existing(); }

  /// Set while a commit is being built: the sequence number is not known yet and is filled in when
  /// the list is written.
  bool sequence_number_pending = false;
  bool min_sequence_number_pending = false;

  friend bool operator==(const ManifestFile&, const ManifestFile&) = default;
};

/// The manifests of a snapshot, in list order. Reads v1 snapshots without a list, too (their
/// manifests are described from their own header). Errors: kCorrupt, kNotFound, those of io.
Result<std::vector<ManifestFile>> ReadManifests(RunContext& run, FileIO& io,
                                                const TableMetadata& metadata,
                                                const Snapshot& snapshot);

/// Facts of the snapshot that a list is written for.
struct ManifestListHeader {
  int format_version = 2;
  SnapshotId snapshot_id{};
  std::optional<SnapshotId> parent_snapshot_id = {};
  SequenceNumber sequence_number{0};
  std::optional<std::int64_t> first_row_id = {};  ///< v3: required
  std::string compression_codec = "gzip";         ///< write.manifest.compression-codec
};

/// Writes the list and resolves what is pending: sequence numbers, and in v3 first row ids by the
/// rule of the spec. Returns the manifests as written and, for v3, the next row id.
struct WrittenManifestList {
  std::vector<ManifestFile> manifests;
  std::optional<std::int64_t> next_row_id = {};
};
Result<WrittenManifestList> WriteManifestList(RunContext& run, FileIO& io, const Location& location,
                                              const ManifestListHeader& header,
                                              std::vector<ManifestFile> manifests);

}  // namespace icewright
