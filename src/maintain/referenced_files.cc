#include "maintain/referenced_files.h"

#include <algorithm>
#include <utility>

#include "base/executor.h"
#include "catalog/metadata_files.h"
#include "maintain/reachable_files.h"
#include "maintain/transient_retry.h"
#include "manifest/manifest_reader.h"

namespace icewright {
namespace {

constexpr std::size_t kPathsPerVisit = 512;
constexpr int kReadAttempts = 5;
constexpr std::string_view kVersionHint = "version-hint.text";
constexpr std::string_view kAvro = ".avro";

}  // namespace

bool MayBeStaged(std::string_view name) {
  if (!name.ends_with(kAvro) || name.starts_with("snap-")) return false;
  name.remove_suffix(kAvro.size());
  const std::size_t mark = name.rfind("-m");
  if (mark == std::string_view::npos || mark + 2 == name.size()) return true;
  return !std::ranges::all_of(name.substr(mark + 2), [](char c) { return c >= '0' && c <= '9'; });
}

std::vector<Location> MetadataFolders(const TableState& state) {
  std::vector<Location> folders = {state.metadata->location.Child("metadata"),
                                   FolderOf(state.metadata_location)};
  if (const auto path = state.metadata->Property("write.metadata.path")) {
    folders.push_back(WithoutTrailingSlash(Location(std::string(*path))));
  }
  for (const MetadataLogEntry& entry : state.metadata->metadata_log) {
    folders.push_back(FolderOf(entry.metadata_file));
  }
  std::ranges::sort(folders);
  folders.erase(std::ranges::unique(folders).begin(), folders.end());
  return folders;
}

Status ReferencedFiles::VisitNew(RunContext& run, const TableState& state, const Visit& visit) {
  const TableMetadata& metadata = *state.metadata;
  std::vector<SnapshotId> all;
  for (const Snapshot& snapshot : metadata.snapshots) all.push_back(snapshot.id);
  std::vector<std::string> paths;
  for (const Location& folder : MetadataFolders(state)) {
    paths.push_back(folder.Child(kVersionHint).text());
  }
  ForEachMetadataFile(state, all, {}, [&](const Location& path) {
    if (!path.empty()) paths.push_back(path.text());  // v1 snapshots may lack a list
  });
  IW_TRY(visit(paths));
  IW_TRY(manifests_.Read(run, metadata, all, SnapshotManifests::Missing::kIsAnError));
  return VisitContent(run, metadata, visit);
}

Status ReferencedFiles::VisitTable(RunContext& run, const Table& table,
                                   const std::function<Status()>& load, const Visit& visit) {
  for (int attempt = 1;; ++attempt) {
    const TableState state = table.state();
    const Status visited = VisitNew(run, state, visit);
    if (visited || visited.error().code() != Code::kNotFound || attempt == kReadAttempts) {
      return visited;
    }
    IW_TRY(load());
    if (table.metadata_location() == state.metadata_location) return visited;
  }
}

// Only of manifests that this state has: one that an earlier state had may be gone by now.
Status ReferencedFiles::VisitContent(RunContext& run, const TableMetadata& metadata,
                                     const Visit& visit) {
  content_visited_.resize(manifests_.size(), 0);
  std::vector<SnapshotManifests::Index> unread;
  std::vector<bool> seen(manifests_.size());
  for (const Snapshot& snapshot : metadata.snapshots) {
    for (const auto manifest : manifests_.Of(snapshot.id)) {
      if (content_visited_[manifest] != 0 || seen[manifest]) continue;
      seen[manifest] = true;
      unread.push_back(manifest);
    }
  }
  std::ranges::sort(unread);
  run.progress().Enter("read manifests", "manifests", std::ssize(unread));
  const auto visit_one = [&](std::size_t i) -> Status {
    const ManifestFile& manifest = manifests_.manifest(unread[i]);
    IW_TRY(RetryTransient(run, [&] { return VisitManifest(run, metadata, manifest, visit); }));
    content_visited_[unread[i]] = 1;
    run.progress().Advance();
    return {};
  };
  return ParallelFor(run, unread.size(), parallelism_, visit_one);
}

Status ReferencedFiles::VisitManifest(RunContext& run, const TableMetadata& metadata,
                                      const ManifestFile& manifest, const Visit& visit) {
  std::vector<std::string> paths = {manifest.manifest_path.text()};
  Status visited;
  const auto flush = [&] {
    const std::scoped_lock lock(mutex_);
    if (visited) visited = visit(paths);
    paths.clear();
  };
  IW_TRY(ForEachLiveEntry(run, io_, metadata, manifest, [&](const ManifestEntry& entry) {
    paths.push_back(entry.file.file_path.text());
    if (paths.size() >= kPathsPerVisit) flush();
  }));
  flush();
  return visited;
}

Status ReferencedFiles::VisitStaged(RunContext& run, const TableState& state, TimePoint since,
                                    const Visit& visit) {
  const TableMetadata& metadata = *state.metadata;
  const auto property = metadata.Property("flink.manifests.location");
  const Location folder = property && !property->empty()
                              ? WithoutTrailingSlash(Location(std::string(*property)))
                              : FolderOf(state.metadata_location);
  std::vector<FileStatus> staged;
  const auto look = [&](const FileStatus& file) -> Status {
    if (file.modified >= since && MayBeStaged(file.location.file_name())) staged.push_back(file);
    return {};
  };
  const auto listed = RetryTransient(run, [&] { return io_.ListDirectly(folder, look); });
  if (!listed) return listed.error().Within("look for what sinks have staged in " + folder.text());
  for (const FileStatus& file : staged) {
    const ManifestFile manifest{.manifest_path = file.location, .manifest_length = file.size};
    const Status visited =
        RetryTransient(run, [&] { return VisitManifest(run, metadata, manifest, visit); });
    if (visited) continue;
    // Committed meanwhile, and then the table names its files; or no manifest at all.
    const Code code = visited.error().code();
    if (code != Code::kNotFound && code != Code::kCorrupt && code != Code::kUnsupported) {
      return visited.error();
    }
  }
  return {};
}

}  // namespace icewright
