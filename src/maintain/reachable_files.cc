#include "maintain/reachable_files.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/executor.h"
#include "maintain/transient_retry.h"
#include "manifest/manifest_reader.h"

namespace icewright {
namespace {

using Index = SnapshotManifests::Index;

// What a manifest says about one content file.
struct NamedFile {
  PathHash hash;
  FileKind kind = FileKind::kDataFile;
  bool is_live = false;
  std::int64_t size_bytes = 0;
  Location path;
};

FileKind KindOf(FileContent content) {
  switch (content) {
    case FileContent::kPositionDeletes:
      return FileKind::kPositionDeletes;
    case FileContent::kEqualityDeletes:
      return FileKind::kEqualityDeletes;
    case FileContent::kData:
      break;
  }
  return FileKind::kDataFile;
}

template <typename Visit>
Status ForEachEntry(RunContext& run, FileIO& io, const TableMetadata& metadata,
                    const ManifestFile& manifest, bool live_only, const Visit& visit) {
  IW_TRY(run.Check());
  IW_ASSIGN(
      ManifestReader reader,
      ManifestReader::Open(io, metadata, manifest, {.metrics = false, .live_only = live_only}));
  ManifestEntry entry;
  for (;;) {
    IW_ASSIGN(const bool more, reader.Next(entry));
    if (!more) return {};
    visit(entry);
  }
}

}  // namespace

void ForEachMetadataFile(const TableState& state, std::span<const SnapshotId> snapshots,
                         const std::unordered_set<std::int64_t>& without_statistics_of,
                         const std::function<void(const Location&)>& visit) {
  const TableMetadata& metadata = *state.metadata;
  visit(state.metadata_location);
  for (const MetadataLogEntry& entry : metadata.metadata_log) visit(entry.metadata_file);
  const auto visit_statistics = [&](const auto& files) {
    for (const auto& file : files) {
      if (!without_statistics_of.contains(Raw(file.snapshot_id))) visit(file.statistics_path);
    }
  };
  visit_statistics(metadata.statistics);
  visit_statistics(metadata.partition_statistics);
  const SnapshotIndex index(metadata);
  for (const SnapshotId id : snapshots) {
    const Snapshot* snapshot = index.Find(id);
    if (snapshot != nullptr) visit(snapshot->manifest_list);
  }
}

Status ForEachLiveEntry(RunContext& run, FileIO& io, const TableMetadata& metadata,
                        const ManifestFile& manifest,
                        const std::function<void(const ManifestEntry&)>& visit) {
  // Readers skip a manifest whose counts say that nothing lives in it.
  if (!manifest.may_have_live()) return {};
  return ForEachEntry(run, io, metadata, manifest, true, visit);
}

// ---- ReachableFiles

void ReachableFiles::AddMetadata(const TableState& state, std::span<const SnapshotId> snapshots,
                                 const std::unordered_set<std::int64_t>& without_statistics_of) {
  ForEachMetadataFile(state, snapshots, without_statistics_of,
                      [&](const Location& path) { metadata_.Insert(path.text()); });
}

void ReachableFiles::AddManifests(std::span<const SnapshotId> snapshots) {
  for (const SnapshotId id : snapshots) {
    for (const Index manifest : manifests_.Of(id)) {
      if (!covered_.insert(manifest).second) continue;
      metadata_.Insert(manifests_.manifest(manifest).manifest_path.text());
    }
  }
}

Status ReachableFiles::AddContent(RunContext& run, const TableMetadata& metadata) {
  std::vector<Index> unread;
  for (const Index manifest : covered_) {
    if (!content_read_.contains(manifest)) unread.push_back(manifest);
  }
  std::ranges::sort(unread);
  using Hashes = std::vector<PathHash>;
  const auto read = [&](std::size_t i) -> Result<Hashes> {
    const ManifestFile& manifest = manifests_.manifest(unread[i]);
    return RetryTransient(run, [&]() -> Result<Hashes> {
      Hashes hashes;
      IW_TRY(ForEachLiveEntry(run, io_, metadata, manifest, [&](const ManifestEntry& e) {
        hashes.push_back(HashPath(e.file.file_path.text()));
      }));
      return hashes;
    });
  };
  const auto add = [&](std::size_t i, Hashes&& hashes) -> Status {
    IW_TRY(memory_.Resize(content_.BytesWith(hashes.size())));
    for (const PathHash& hash : hashes) content_.Insert(hash);
    content_read_.insert(unread[i]);
    run.progress().Advance();
    return {};
  };
  return OrderedParallel<Hashes>(run, unread.size(), parallelism_, read, add);
}

Status ReachableFiles::Cover(RunContext& run, const TableState& state,
                             std::span<const SnapshotId> kept,
                             const std::unordered_set<std::int64_t>& without_statistics_of,
                             Depth depth) {
  if (memory_.bytes() == 0) {
    IW_ASSIGN(memory_, run.memory().Reserve(1, "paths of live files"));
  }
  IW_TRY(manifests_.Read(run, *state.metadata, kept, SnapshotManifests::Missing::kIsAnError));
  depth_ = depth;
  metadata_ = {};
  covered_.clear();
  AddMetadata(state, kept, without_statistics_of);
  AddManifests(kept);
  const auto is_stale = [&](Index manifest) { return !covered_.contains(manifest); };
  if (std::ranges::any_of(content_read_, is_stale)) {
    content_ = {};
    content_read_.clear();
  }
  return depth == Depth::kContent ? AddContent(run, *state.metadata) : Status();
}

Status ReachableFiles::Extend(RunContext& run, const TableState& state) {
  std::vector<SnapshotId> all;
  for (const Snapshot& snapshot : state.metadata->snapshots) all.push_back(snapshot.id);
  IW_TRY(manifests_.Read(run, *state.metadata, all, SnapshotManifests::Missing::kIsAnError));
  AddMetadata(state, all, {});
  AddManifests(all);
  return depth_ == Depth::kContent ? AddContent(run, *state.metadata) : Status();
}

// ---- Doomed files

std::int64_t DoomedSummary::total() const {
  return std::accumulate(files.begin(), files.end(), std::int64_t{0});
}

namespace {

/// One call of FindDoomedFiles. Single-threaded.
class DoomedFinder {
 public:
  DoomedFinder(RunContext& run, FileIO& io, const DoomedSearch& search,
               SnapshotManifests& manifests, ReachableFiles& reachable,
               const std::function<Status(const DoomedFile&)>& visit, DoomedSummary& summary)
      : run_(run),
        io_(io),
        search_(search),
        metadata_(*search.state.metadata),
        manifests_(manifests),
        reachable_(reachable),
        visit_(visit),
        summary_(summary) {
    for (const SnapshotId id : search.expired) expired_.insert(Raw(id));
  }

  Status Find() {
    const auto total = static_cast<std::int64_t>(metadata_.snapshots.size());
    run_.progress().Enter("read manifest lists", "lists", total);
    IW_ASSIGN(memory_, run_.memory().Reserve(1, "paths of files to delete"));
    IW_TRY(manifests_.Read(run_, metadata_, search_.kept, SnapshotManifests::Missing::kIsAnError));
    IW_TRY(manifests_.Read(run_, metadata_, search_.expired, SnapshotManifests::Missing::kIsNoted));
    summary_.missing = manifests_.missing();
    IW_TRY(Cover(Depth::kMetadata));
    CollectManifests();
    if (search_.depth == Depth::kContent && !(own_.empty() && named_.empty())) {
      run_.progress().Enter("find files", "manifests");
      IW_TRY(Cover(Depth::kContent));
      IW_TRY(FindContent());
    }
    IW_TRY(FindManifests());
    IW_TRY(FindLists());
    return FindStatistics();
  }

 private:
  Status Cover(Depth depth) {
    return reachable_.Cover(run_, search_.state, search_.kept, expired_, depth);
  }

  // Manifests that only expired snapshots have, and kept ones in which a snapshot that expires now
  // noted what it deleted.
  void CollectManifests() {
    std::unordered_set<Index> seen;
    for (const SnapshotId id : search_.expired) {
      for (const Index manifest : manifests_.Of(id)) {
        if (!reachable_.Covers(manifest) && seen.insert(manifest).second) own_.push_back(manifest);
      }
    }
    for (const SnapshotId id : search_.kept) {
      for (const Index index : manifests_.Of(id)) {
        const ManifestFile& manifest = manifests_.manifest(index);
        if (!expired_.contains(Raw(manifest.added_snapshot_id))) continue;
        if (manifest.may_have_deleted() && seen.insert(index).second) named_.push_back(index);
      }
    }
  }

  Status FindContent() {
    const std::size_t count = own_.size() + named_.size();
    using Files = std::optional<std::vector<NamedFile>>;  // unset: the manifest is missing
    const auto manifest_at = [&](std::size_t i) -> const ManifestFile& {
      return manifests_.manifest(i < own_.size() ? own_[i] : named_[i - own_.size()]);
    };
    const auto read = [&](std::size_t i) -> Result<Files> {
      auto files =
          RetryTransient(run_, [&] { return UnreachableIn(manifest_at(i), i >= own_.size()); });
      if (files) return Files(std::move(*files));
      if (files.error().code() == Code::kNotFound) return Files();
      return files.error();
    };
    const auto add = [&](std::size_t i, Files&& files) -> Status {
      run_.progress().Advance();
      if (!files) summary_.missing.push_back(manifest_at(i).manifest_path);
      if (!files) return {};
      IW_TRY(memory_.Resize(live_.BytesWith(files->size()) + dead_.BytesWith(files->size())));
      for (NamedFile& file : *files) IW_TRY(AddContent(std::move(file)));
      return {};
    };
    return OrderedParallel<Files>(run_, count, search_.parallelism, read, add);
  }

  Result<std::vector<NamedFile>> UnreachableIn(const ManifestFile& manifest, bool deleted_only) {
    std::vector<NamedFile> files;
    const auto visit = [&](const ManifestEntry& entry) {
      if (deleted_only &&
          (entry.is_live() || !entry.snapshot_id || !expired_.contains(Raw(*entry.snapshot_id)))) {
        return;
      }
      const PathHash hash = HashPath(entry.file.file_path.text());
      if (reachable_.Contains(hash)) return;
      files.push_back({.hash = hash,
                       .kind = KindOf(entry.file.content),
                       .is_live = entry.is_live(),
                       .size_bytes = entry.file.file_size_in_bytes,
                       .path = entry.file.file_path});
    };
    IW_TRY(ForEachEntry(run_, io_, metadata_, manifest, false, visit));
    return files;
  }

  Status AddContent(NamedFile&& file) {
    if (file.is_live) {
      if (!live_.Insert(file.hash)) return {};
      if (dead_.Contains(file.hash)) {
        --summary_.already_unreachable;
        return {};
      }
    } else {
      if (live_.Contains(file.hash) || !dead_.Insert(file.hash)) return {};
      ++summary_.already_unreachable;
    }
    return Emit({file.kind, std::move(file.path), file.size_bytes});
  }

  Status FindManifests() {
    for (const Index index : own_) {
      const ManifestFile& manifest = manifests_.manifest(index);
      IW_TRY(EmitMetadata({FileKind::kManifest, manifest.manifest_path, manifest.manifest_length}));
    }
    return {};
  }

  Status FindLists() {
    const SnapshotIndex index(metadata_);
    for (const SnapshotId id : search_.expired) {
      const Snapshot* snapshot = index.Find(id);
      if (snapshot == nullptr || snapshot->manifest_list.empty()) continue;
      IW_TRY(EmitMetadata({FileKind::kManifestList, snapshot->manifest_list, 0}));
    }
    return {};
  }

  Status FindStatistics() {
    IW_TRY(EmitStatistics(metadata_.statistics));
    return EmitStatistics(metadata_.partition_statistics);
  }

  template <typename Files>
  Status EmitStatistics(const Files& files) {
    for (const auto& file : files) {
      if (!expired_.contains(Raw(file.snapshot_id))) continue;
      IW_TRY(EmitMetadata({FileKind::kStatistics, file.statistics_path, file.file_size_in_bytes}));
    }
    return {};
  }

  // Two snapshots may share a list or a statistics file.
  Status EmitMetadata(DoomedFile file) {
    const PathHash hash = HashPath(file.path.text());
    if (reachable_.Contains(hash) || !emitted_.Insert(hash)) return {};
    return Emit(std::move(file));
  }

  Status Emit(const DoomedFile& file) {
    ++summary_.files[static_cast<std::size_t>(file.kind)];
    summary_.bytes += file.size_bytes;
    return visit_(file);
  }

  RunContext& run_;
  FileIO& io_;
  const DoomedSearch& search_;
  const TableMetadata& metadata_;
  SnapshotManifests& manifests_;
  ReachableFiles& reachable_;
  const std::function<Status(const DoomedFile&)>& visit_;
  DoomedSummary& summary_;
  std::unordered_set<std::int64_t> expired_;
  std::vector<Index> own_;
  std::vector<Index> named_;
  PathSet live_;     // content found that lived in an expired snapshot
  PathSet dead_;     // content found that was named as deleted
  PathSet emitted_;  // other files found
  Reservation memory_;
};

}  // namespace

Status FindDoomedFiles(RunContext& run, FileIO& io, const DoomedSearch& search,
                       SnapshotManifests& manifests, ReachableFiles& reachable,
                       const std::function<Status(const DoomedFile&)>& visit,
                       DoomedSummary& summary) {
  return DoomedFinder(run, io, search, manifests, reachable, visit, summary).Find();
}

}  // namespace icewright
