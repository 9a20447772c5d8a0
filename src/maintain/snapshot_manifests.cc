#include "maintain/snapshot_manifests.h"

#include <optional>
#include <utility>

#include "base/executor.h"
#include "maintain/transient_retry.h"

namespace icewright {

Status SnapshotManifests::Read(RunContext& run, const TableMetadata& metadata,
                               std::span<const SnapshotId> snapshots, Missing missing) {
  if (missing == Missing::kIsNoted) missing_.clear();
  const SnapshotIndex index(metadata);
  std::vector<const Snapshot*> unread;
  for (const SnapshotId id : snapshots) {
    const Snapshot* snapshot = index.Find(id);
    if (snapshot != nullptr && !by_snapshot_.contains(Raw(id))) unread.push_back(snapshot);
  }
  using Manifests = std::optional<std::vector<ManifestFile>>;  // unset: the list is missing
  const auto read = [&](std::size_t i) -> Result<Manifests> {
    auto manifests =
        RetryTransient(run, [&] { return ReadManifests(run, io_, metadata, *unread[i]); });
    if (manifests) return Manifests(std::move(*manifests));
    const bool gone = manifests.error().code() == Code::kNotFound;
    if (gone && missing == Missing::kIsNoted) return Manifests();
    return manifests.error();
  };
  const auto add = [&](std::size_t i, Manifests&& manifests) -> Status {
    run.progress().Advance();
    if (manifests) {
      Add(unread[i]->id, std::move(*manifests));
    } else {
      // It stays unread: the caller may need the snapshot when it plans again.
      missing_.push_back(unread[i]->manifest_list);
    }
    return {};
  };
  return OrderedParallel<Manifests>(run, unread.size(), parallelism_, read, add);
}

void SnapshotManifests::Add(SnapshotId snapshot, std::vector<ManifestFile>&& manifests) {
  std::vector<Index>& indices = by_snapshot_[Raw(snapshot)];
  indices.reserve(manifests.size());
  for (ManifestFile& manifest : manifests) {
    const auto [at, is_new] =
        by_path_.try_emplace(manifest.manifest_path, static_cast<Index>(manifests_.size()));
    indices.push_back(at->second);
    if (!is_new) continue;
    manifest.partitions.reset();
    manifests_.push_back(std::move(manifest));
  }
}

std::span<const SnapshotManifests::Index> SnapshotManifests::Of(SnapshotId snapshot) const {
  const auto found = by_snapshot_.find(Raw(snapshot));
  if (found == by_snapshot_.end()) return {};
  return found->second;
}

}  // namespace icewright
