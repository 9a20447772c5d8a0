#pragma once

/// \file maintain/snapshot_manifests.h
/// The manifests of many snapshots: each manifest list is read once, each manifest is kept once.

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/run_context.h"
#include "io/file_io.h"
#include "manifest/manifest_file.h"
#include "table/metadata.h"

namespace icewright {

/// Snapshots never change, so what was read stays true when the table moves on. Single-threaded.
class SnapshotManifests {
 public:
  /// Position of a manifest; dense, in the order of reading.
  using Index = std::uint32_t;

  enum class Missing : std::uint8_t {
    kIsAnError,
    kIsNoted,  ///< The snapshot counts as not read; see missing().
  };

  SnapshotManifests(FileIO& io, int parallelism) : io_(io), parallelism_(parallelism) {}

  /// Reads the lists that were not read before, those that were missing among them. Ids that the
  /// metadata does not have are skipped.
  /// Errors: those of ReadManifests.
  Status Read(RunContext& run, const TableMetadata& metadata, std::span<const SnapshotId> snapshots,
              Missing missing);

  /// In list order. Empty for a snapshot that was not read.
  std::span<const Index> Of(SnapshotId snapshot) const;

  /// Without partition summaries.
  const ManifestFile& manifest(Index index) const { return manifests_[index]; }
  std::size_t size() const { return manifests_.size(); }

  /// Lists that were not there when missing ones were last noted.
  const std::vector<Location>& missing() const { return missing_; }

 private:
  void Add(SnapshotId snapshot, std::vector<ManifestFile>&& manifests);

  FileIO& io_;
  const int parallelism_;
  std::vector<ManifestFile> manifests_;
  std::unordered_map<Location, Index> by_path_;
  std::unordered_map<std::int64_t, std::vector<Index>> by_snapshot_;
  std::vector<Location> missing_;
};

}  // namespace icewright
