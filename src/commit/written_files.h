#pragma once

/// \file commit/written_files.h
/// Names the manifests and lists of one commit and remembers them, so that what the table does not
/// name in the end can be deleted.

#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/ids.h"
#include "base/location.h"
#include "io/file_io.h"

namespace icewright {

/// One per commit operation, shared by all its attempts. Thread-safe.
class WrittenFiles {
 public:
  explicit WrittenFiles(std::string commit_uuid) : commit_uuid_(std::move(commit_uuid)) {}

  /// "<folder>/<uuid>-m<N>.avro"; N is never used twice. The name is remembered at once: a failed
  /// close may leave a file, too.
  Location NextManifest(const Location& folder);

  /// "<folder>/snap-<snapshot>-<attempt>-<uuid>.avro", remembered.
  Location ManifestList(const Location& folder, SnapshotId snapshot, int attempt);

  /// Everything named so far, in order.
  std::vector<Location> all() const;

  /// Deletes what is not in `kept`. Returns what could not be deleted; the rest is forgotten.
  std::vector<Location> DeleteAllBut(FileIO& io, const std::unordered_set<Location>& kept);

 private:
  Location Remember(Location location);

  const std::string commit_uuid_;
  mutable std::mutex mutex_;
  std::vector<Location> files_;  // guarded by mutex_
  int manifests_ = 0;            // guarded by mutex_
};

}  // namespace icewright
