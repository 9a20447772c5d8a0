#include "commit/manifest_swap.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <unordered_map>

#include "base/location.h"

namespace icewright {
namespace {

Error Invalid(std::string message) { return Error(Code::kInvalidArgument, std::move(message)); }

/// Unset: one of the manifests does not tell.
struct Live {
  std::optional<std::int64_t> files = 0;
  std::optional<std::int64_t> rows = 0;
};

template <typename T>
void AddTo(std::optional<std::int64_t>& sum, const std::optional<T>& a, const std::optional<T>& b) {
  if (!a || !b) sum.reset();
  if (sum) *sum += *a + *b;
}

Live LiveOf(const std::vector<ManifestFile>& manifests, ManifestContent content) {
  Live live;
  for (const ManifestFile& manifest : manifests) {
    if (manifest.content != content) continue;
    AddTo(live.files, manifest.added_files_count, manifest.existing_files_count);
    AddTo(live.rows, manifest.added_rows_count, manifest.existing_rows_count);
  }
  return live;
}

Status CheckSame(const std::optional<std::int64_t>& before,
                 const std::optional<std::int64_t>& after, const char* what) {
  if (!before || !after || *before == *after) return {};
  return Invalid(fmt::format("the replaced manifests have {} live {}, the new ones {}", *before,
                             what, *after));
}

}  // namespace

Status CheckSwap(const ManifestSwap& swap) {
  if (swap.replaced.empty()) return Invalid("a swap of manifests must replace some");
  for (const ManifestFile& manifest : swap.added) {
    if (manifest.may_have_added() || manifest.may_have_deleted()) {
      return Invalid("only existing files may be in a manifest that replaces others: " +
                     manifest.manifest_path.text());
    }
    if (manifest.first_row_id) {
      return Invalid("a new manifest has a first row id: " + manifest.manifest_path.text());
    }
  }
  for (const ManifestContent content : {ManifestContent::kData, ManifestContent::kDeletes}) {
    const Live before = LiveOf(swap.replaced, content);
    const Live after = LiveOf(swap.added, content);
    IW_TRY(CheckSame(before.files, after.files, "files"));
    IW_TRY(CheckSame(before.rows, after.rows, "rows"));
  }
  return {};
}

Result<std::vector<ManifestFile>> SwapManifests(const ManifestSwap& swap, SnapshotId snapshot_id,
                                                int format_version,
                                                const std::vector<ManifestFile>& current) {
  if (format_version != swap.format_version) {
    return Error(Code::kConflict,
                 fmt::format("the table has format version {} by now; the new manifests have {}",
                             format_version, swap.format_version));
  }
  std::unordered_map<Location, const ManifestFile*> leaving;
  for (const ManifestFile& manifest : swap.replaced) leaving[manifest.manifest_path] = &manifest;
  std::vector<ManifestFile> kept;
  for (const ManifestFile& manifest : current) {
    const auto found = leaving.find(manifest.manifest_path);
    // A list that has given the manifest row ids meanwhile gives them to its entries, too.
    if (found == leaving.end() || found->second->first_row_id != manifest.first_row_id) {
      kept.push_back(manifest);
      continue;
    }
    leaving.erase(found);
  }
  if (!leaving.empty()) {
    return Error(Code::kConflict,
                 fmt::format("{} of {} manifests to replace changed or are no "
                             "longer in the table, {} among them",
                             leaving.size(), swap.replaced.size(), leaving.begin()->first.text()));
  }
  std::vector<ManifestFile> manifests;
  for (const ManifestContent content : {ManifestContent::kData, ManifestContent::kDeletes}) {
    for (const ManifestFile& added : swap.added) {
      if (added.content != content) continue;
      ManifestFile& manifest = manifests.emplace_back(added);
      manifest.added_snapshot_id = snapshot_id;
      manifest.sequence_number_pending = true;
    }
    std::ranges::copy_if(kept, std::back_inserter(manifests),
                         [&](const ManifestFile& manifest) { return manifest.content == content; });
  }
  return manifests;
}

}  // namespace icewright
