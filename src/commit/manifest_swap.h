#pragma once

/// \file commit/manifest_swap.h
/// Manifests of a snapshot leave and others with the same live entries take their place.
///
/// Java twin: BaseRewriteManifests (direct mode).

#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "manifest/manifest_file.h"

namespace icewright {

/// Written and owned by the caller: whatever becomes of the commit, it never deletes `added`.
struct ManifestSwap {
  std::vector<ManifestFile> replaced = {};  ///< As the list of the planned snapshot describes them.
  std::vector<ManifestFile> added = {};     ///< EXISTING entries only, everything in them explicit.
  int format_version = 2;                   ///< Of the table when `added` was written.
  std::int64_t entries_processed = 0;       ///< Live entries of `replaced`.
};

/// Is the swap sound in itself? Errors: kInvalidArgument: nothing replaced, an entry that is not
/// EXISTING, other numbers of live files and rows than before.
Status CheckSwap(const ManifestSwap& swap);

/// The manifests of the new snapshot: per content the added ones, then what is kept in its order,
/// data before deletes. What a concurrent commit brought stays.
/// Errors: kConflict for a replaced manifest that is no longer there as it was planned with, and
/// for a table of another format version.
Result<std::vector<ManifestFile>> SwapManifests(const ManifestSwap& swap, SnapshotId snapshot_id,
                                                int format_version,
                                                const std::vector<ManifestFile>& current);

}  // namespace icewright
