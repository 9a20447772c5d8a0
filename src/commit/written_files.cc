#include "commit/written_files.h"

#include <fmt/format.h>

#include <utility>

namespace icewright {

Location WrittenFiles::Remember(Location location) {
  files_.push_back(location);
  return location;
}

Location WrittenFiles::NextManifest(const Location& folder) {
  const std::scoped_lock lock(mutex_);
  return Remember(folder.Child(fmt::format("{}-m{}.avro", commit_uuid_, manifests_++)));
}

Location WrittenFiles::ManifestList(const Location& folder, SnapshotId snapshot, int attempt) {
  const std::scoped_lock lock(mutex_);
  return Remember(
      folder.Child(fmt::format("snap-{}-{}-{}.avro", Raw(snapshot), attempt, commit_uuid_)));
}

std::vector<Location> WrittenFiles::all() const {
  const std::scoped_lock lock(mutex_);
  return files_;
}

std::vector<Location> WrittenFiles::DeleteAllBut(FileIO& io,
                                                 const std::unordered_set<Location>& kept) {
  const std::scoped_lock lock(mutex_);
  std::vector<Location> doomed;
  for (Location& file : files_) {
    if (!kept.contains(file)) doomed.push_back(std::move(file));
  }
  files_.clear();
  if (doomed.empty()) return {};
  std::vector<Location> leftovers;
  for (DeleteFailure& failure : io.DeleteFiles(doomed)) {
    leftovers.push_back(std::move(failure.location));
  }
  return leftovers;
}

}  // namespace icewright
