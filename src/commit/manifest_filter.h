#pragma once

/// \file commit/manifest_filter.h
/// Takes files out of a manifest: writes it again with them marked DELETED.
///
/// Java twin: ManifestFilterManager.

#include <cstdint>
#include <functional>
#include <vector>

#include "base/result.h"
#include "commit/commit_scope.h"
#include "manifest/data_file.h"
#include "manifest/manifest_file.h"

namespace icewright {

/// Does this live entry leave the table? May be asked from several threads, and for DVs and
/// position deletes without metrics: ReferencedDataFile is right only for DVs.
using LeavesTable = std::function<bool(const ManifestEntry&)>;

struct FilteredManifest {
  ManifestFile manifest;  ///< As it was, or its successor.
  bool rewritten = false;
  std::vector<DataFile> removed = {};  ///< Without metrics; each file once.
  std::int64_t duplicates = 0;         ///< Further entries of the same files, removed as well.
};

/// The successor holds DELETED entries of this snapshot and EXISTING ones; DELETED entries of older
/// snapshots are dropped. A manifest that loses nothing is not rewritten.
/// Errors: kUnsupported for a manifest with columns that this build would lose; those of reading
/// and writing. Cost: a read without metrics up to the first hit, then a full read and a write.
Result<FilteredManifest> FilterManifest(const CommitScope& scope, const ManifestFile& manifest,
                                        const LeavesTable& leaves);

/// Filters all manifests for which `may_hold` is true, in parallel; the others pass. In the order
/// given. Errors: as FilterManifest; the first stops the rest.
Result<std::vector<FilteredManifest>> FilterManifests(
    const CommitScope& scope, const std::vector<ManifestFile>& manifests,
    const std::function<bool(const ManifestFile&)>& may_hold, const LeavesTable& leaves);

}  // namespace icewright
