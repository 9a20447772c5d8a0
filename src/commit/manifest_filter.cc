#include "commit/manifest_filter.h"

#include <fmt/format.h>

#include <unordered_set>
#include <utility>

#include "base/executor.h"
#include "manifest/manifest_reader.h"

namespace icewright {
namespace {

Result<bool> HoldsLeaving(const CommitScope& scope, const ManifestFile& manifest,
                          const LeavesTable& leaves) {
  IW_ASSIGN(ManifestReader reader, ManifestReader::Open(scope.io, scope.metadata, manifest,
                                                        {.metrics = false, .live_only = true}));
  ManifestEntry entry;
  for (;;) {
    IW_ASSIGN(const bool more, reader.Next(entry));
    if (!more) return false;
    if (leaves(entry)) return true;
  }
}

Result<FilteredManifest> Rewrite(const CommitScope& scope, const ManifestFile& manifest,
                                 const LeavesTable& leaves) {
  IW_ASSIGN(ManifestReader reader, ManifestReader::Open(scope.io, scope.metadata, manifest,
                                                        {.metrics = true, .live_only = true}));
  if (reader.has_unknown_fields()) {
    return Error(Code::kUnsupported,
                 fmt::format("manifest {} has columns of a newer writer that a rewrite would lose",
                             manifest.manifest_path.text()));
  }
  IW_ASSIGN(ManifestWriter writer, scope.NewManifest(manifest.partition_spec_id, manifest.content));
  FilteredManifest filtered{.manifest = {}, .rewritten = true, .removed = {}, .duplicates = 0};
  std::unordered_set<ContentKey, ContentKeyHash> seen;
  ManifestEntry entry;
  for (;;) {
    IW_ASSIGN(const bool more, reader.Next(entry));
    if (!more) break;
    if (!leaves(entry)) {
      IW_TRY(writer.AddExisting(entry));
      continue;
    }
    IW_TRY(writer.AddDeleted(entry));
    if (!seen.insert(ContentKey::Of(entry.file)).second) {
      ++filtered.duplicates;
      continue;
    }
    DataFile removed = entry.file;
    removed.DropMetrics();
    removed.spec_id = manifest.partition_spec_id;
    filtered.removed.push_back(std::move(removed));
  }
  IW_ASSIGN(filtered.manifest, writer.Close());
  return filtered;
}

}  // namespace

Result<FilteredManifest> FilterManifest(const CommitScope& scope, const ManifestFile& manifest,
                                        const LeavesTable& leaves) {
  IW_ASSIGN(const bool holds, HoldsLeaving(scope, manifest, leaves));
  if (holds) return Rewrite(scope, manifest, leaves);
  return FilteredManifest{.manifest = manifest};
}

Result<std::vector<FilteredManifest>> FilterManifests(
    const CommitScope& scope, const std::vector<ManifestFile>& manifests,
    const std::function<bool(const ManifestFile&)>& may_hold, const LeavesTable& leaves) {
  std::vector<FilteredManifest> filtered(manifests.size());
  const auto filter_one = [&](std::size_t i) -> Status {
    const ManifestFile& manifest = manifests[i];
    if (!manifest.may_have_live() || !may_hold(manifest)) {
      filtered[i].manifest = manifest;
      return {};
    }
    IW_ASSIGN(filtered[i], FilterManifest(scope, manifest, leaves));
    return {};
  };
  IW_TRY(ParallelFor(scope.run, manifests.size(), scope.run.threads(), filter_one));
  return filtered;
}

}  // namespace icewright
