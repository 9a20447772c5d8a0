#pragma once

/// \file commit/manifest_merge.h
/// Keeps the number of manifests low: small neighbours become one.
///
/// Java twin: ManifestMergeManager.

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "commit/added_manifests.h"
#include "commit/commit_scope.h"
#include "manifest/manifest_file.h"

namespace icewright {

/// The commit.manifest.* and commit.manifest-merge.* properties of a table.
struct MergePolicy {
  bool enabled = true;
  std::int64_t min_count = 100;
  std::int64_t target_bytes = 8LL << 20;

  /// Errors: kInvalidArgument, naming the property.
  static Result<MergePolicy> Of(const Properties& properties);
};

/// Groups weights, in order, from the end: a group is closed before it would exceed `target`; a
/// weight above the target is a group of its own.
std::vector<std::vector<std::size_t>> PackFromEnd(std::span<const std::int64_t> weights,
                                                  std::int64_t target);

/// Which manifests become one: groups of positions, in output order. Specs descending, order kept
/// within a spec; the group with the first manifest (the newest) is merged only if it has at least
/// min_count members. Pure.
std::vector<std::vector<std::size_t>> PlanMerge(std::span<const ManifestFile> manifests,
                                                const MergePolicy& policy);

struct MergedManifests {
  std::vector<ManifestFile> manifests;
  std::int64_t replaced = 0;  ///< Manifests of earlier snapshots that are no longer named.
};

/// Merges the manifests of one content type; remembers what it wrote for the next attempt.
/// Single-threaded.
class ManifestMerger {
 public:
  /// `added` names the manifests of this commit's own files; they must outlive the merger. Added
  /// files of older snapshots become EXISTING; DELETED entries of older snapshots are dropped. A
  /// group with a manifest whose columns or spec this build does not know stays as it is.
  Result<MergedManifests> Merge(const CommitScope& scope, const MergePolicy& policy,
                                const std::vector<ManifestFile>& manifests,
                                const std::vector<AddedManifest>& added);

 private:
  /// What became of a group, by the paths of its members.
  std::map<std::vector<Location>, std::vector<ManifestFile>> done_;
};

}  // namespace icewright
