#pragma once

/// \file commit/added_manifests.h
/// Writes the files that a commit adds into manifests of their own.
///
/// Java twin: RollingManifestWriter, SnapshotProducer.writeDataManifests.

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "commit/commit_scope.h"
#include "commit/snapshot_update.h"
#include "manifest/manifest_file.h"

namespace icewright {

/// A manifest of ADDED entries, and what is in it: merging writes the files again from here,
/// because a manifest that is not committed yet has no sequence number to inherit.
struct AddedManifest {
  ManifestFile manifest;
  std::vector<const AddedFile*> files;
};

/// One spec per manifest, specs descending (the newest first), files in the order given; a manifest
/// is closed at `target_bytes`, looked at every 250 files. Large sets are written in parallel, at
/// least 10,000 files a manifest. Borrows the files. Errors: those of ManifestWriter.
Result<std::vector<AddedManifest>> WriteAddedManifests(const CommitScope& scope,
                                                       ManifestContent content,
                                                       const std::vector<AddedFile>& files,
                                                       std::int64_t target_bytes);

}  // namespace icewright
