#pragma once

/// \file maintain/reachable_files.h
/// What snapshots reach, and what only expired snapshots reach.
///
/// Reachability alone decides what may be deleted: a path that a kept snapshot, branch or tag
/// leads to stays, whatever names it as deleted. A shared Puffin file lives as long as one of its
/// blobs does, for paths are what is compared.
/// Java twin: ReachableFileCleanup.

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/location.h"
#include "base/result.h"
#include "base/run_context.h"
#include "catalog/table.h"
#include "maintain/path_set.h"
#include "maintain/snapshot_manifests.h"
#include "manifest/data_file.h"

namespace icewright {

enum class FileKind : std::uint8_t {
  kDataFile,
  kPositionDeletes,  ///< DVs' Puffin files, too.
  kEqualityDeletes,
  kManifest,
  kManifestList,
  kStatistics,
};
inline constexpr std::array<std::string_view, 6> kFileKindNames = {
    "data-files", "position-delete-files", "equality-delete-files",
    "manifests",  "manifest-lists",        "statistics-files"};
constexpr std::string_view Name(FileKind kind) {
  return kFileKindNames[static_cast<std::size_t>(kind)];
}
constexpr bool IsContent(FileKind kind) { return kind <= FileKind::kEqualityDeletes; }

struct DoomedFile {
  FileKind kind = FileKind::kDataFile;
  Location path;
  std::int64_t size_bytes = 0;  ///< 0 for a manifest list: nothing says its size.
  friend bool operator==(const DoomedFile&, const DoomedFile&) = default;
};

/// Calls `visit` for each file that the metadata itself names: the current metadata file, the
/// metadata log, statistics and partition statistics (but of `without_statistics_of`), manifest
/// lists of `snapshots`. A snapshot without a list (v1) gives an empty location.
void ForEachMetadataFile(const TableState& state, std::span<const SnapshotId> snapshots,
                         const std::unordered_set<std::int64_t>& without_statistics_of,
                         const std::function<void(const Location&)>& visit);

/// Calls `visit` for each live entry of a manifest, without metrics. Cost: reads it, unless its
/// counts say that nothing lives in it. Errors: those of ManifestReader; those of run.Check().
Status ForEachLiveEntry(RunContext& run, FileIO& io, const TableMetadata& metadata,
                        const ManifestFile& manifest,
                        const std::function<void(const ManifestEntry&)>& visit);

/// How far to look: content files are in manifests, which cost a read each.
enum class Depth : std::uint8_t { kMetadata, kContent };

/// The paths that a set of snapshots reaches, with the files of the table's metadata itself.
/// Reading is thread-safe, changing is not.
class ReachableFiles {
 public:
  /// Borrows all.
  ReachableFiles(FileIO& io, SnapshotManifests& manifests, int parallelism)
      : io_(io), manifests_(manifests), parallelism_(parallelism) {}

  /// Makes this what `kept` reaches. `without_statistics_of`: snapshots whose statistics do not
  /// count. What was read before is used again if all of it is still reachable.
  /// Cost: reads lists and manifests not read before. Errors: those of manifests; kExhausted.
  Status Cover(RunContext& run, const TableState& state, std::span<const SnapshotId> kept,
               const std::unordered_set<std::int64_t>& without_statistics_of, Depth depth);

  /// Adds what all snapshots of a newer state reach. Cost: reads what is new.
  Status Extend(RunContext& run, const TableState& state);

  bool Contains(PathHash hash) const { return metadata_.Contains(hash) || content_.Contains(hash); }

  /// Is this manifest one of a covered snapshot?
  bool Covers(SnapshotManifests::Index manifest) const { return covered_.contains(manifest); }

 private:
  void AddMetadata(const TableState& state, std::span<const SnapshotId> snapshots,
                   const std::unordered_set<std::int64_t>& without_statistics_of);
  void AddManifests(std::span<const SnapshotId> snapshots);
  Status AddContent(RunContext& run, const TableMetadata& metadata);

  FileIO& io_;
  SnapshotManifests& manifests_;
  const int parallelism_;
  Depth depth_ = Depth::kMetadata;
  PathSet metadata_;
  PathSet content_;
  std::unordered_set<SnapshotManifests::Index> covered_;
  std::unordered_set<SnapshotManifests::Index> content_read_;
  Reservation memory_;
};

struct DoomedSummary {
  std::array<std::int64_t, kFileKindNames.size()> files = {};
  std::int64_t bytes = 0;
  /// Among them: no snapshot reached these before either; an expired one names them as deleted. An
  /// earlier expiry may have left them, or they are gone already.
  std::int64_t already_unreachable = 0;
  /// Manifests and lists of expired snapshots that are missing: what only they name is not found.
  std::vector<Location> missing = {};

  std::int64_t total() const;
};

/// What is to be found.
struct DoomedSearch {
  const TableState& state;  ///< Before the expiry.
  std::span<const SnapshotId> expired;
  std::span<const SnapshotId> kept;
  Depth depth = Depth::kContent;
  int parallelism = 1;
};

/// Gives `visit` each file that `search.expired` reaches and `search.kept` does not, once: content
/// first, then manifests, lists, statistics. Also files that a manifest of an expired snapshot
/// names as deleted: an earlier expiry by others may have left them. Leaves in `reachable` what
/// `kept` reaches. Cost: reads the lists of all snapshots, and each manifest once, if an expired
/// snapshot has one of its own. Errors: those of manifests of kept snapshots; those of visit.
Status FindDoomedFiles(RunContext& run, FileIO& io, const DoomedSearch& search,
                       SnapshotManifests& manifests, ReachableFiles& reachable,
                       const std::function<Status(const DoomedFile&)>& visit,
                       DoomedSummary& summary);

}  // namespace icewright
