#include "commit/conflict_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "commit/partition_set.h"
#include "manifest/manifest_reader.h"
#include "scan/delete_index.h"

namespace icewright {
namespace {

Status ForEachEntry(const CommitScope& scope, const ManifestFile& manifest,
                    ManifestReadOptions options,
                    const std::function<Status(const ManifestEntry&)>& visit) {
  IW_ASSIGN(ManifestReader reader,
            ManifestReader::Open(scope.io, scope.metadata, manifest, options));
  ManifestEntry entry;
  for (;;) {
    IW_ASSIGN(const bool more, reader.Next(entry));
    if (!more) return {};
    IW_TRY(visit(entry));
  }
}

/// Deletes that came after the plan, and who added them.
struct NewDeletes {
  std::vector<DeleteTask> tasks;
  std::unordered_map<ContentKey, std::optional<SnapshotId>, ContentKeyHash> added_by;
};

/// Equality deletes of an unpartitioned spec are global; all others stay in their partition.
bool MayConcern(const TableMetadata& metadata, const ManifestFile& manifest,
                const PartitionSet& partitions) {
  const PartitionSpec* spec = metadata.FindSpec(manifest.partition_spec_id);
  return spec == nullptr || spec->is_unpartitioned() || partitions.MayBeIn(metadata, manifest);
}

Result<NewDeletes> ReadNewDeletes(const CommitScope& scope,
                                  const std::vector<ManifestFile>& manifests, SequenceNumber after,
                                  const PartitionSet& partitions) {
  NewDeletes deletes;
  for (const ManifestFile& manifest : manifests) {
    if (manifest.content != ManifestContent::kDeletes || !manifest.may_have_live() ||
        manifest.sequence_number <= after) {
      continue;
    }
    if (!MayConcern(scope.metadata, manifest, partitions)) continue;
    IW_TRY(scope.run.Check());
    IW_TRY(ForEachEntry(
        scope, manifest, {.metrics = true, .live_only = true},
        [&](const ManifestEntry& entry) -> Status {
          const SequenceNumber sequence = entry.sequence_number.value_or(manifest.sequence_number);
          if (sequence <= after) return {};
          deletes.added_by.emplace(ContentKey::Of(entry.file), entry.snapshot_id);
          deletes.tasks.push_back({.file = entry.file, .sequence_number = sequence});
          return {};
        }));
  }
  return deletes;
}

std::string_view KindOf(const DataFile& deletes) {
  if (deletes.is_deletion_vector()) return "a deletion vector";
  return deletes.content == FileContent::kPositionDeletes ? "a position delete"
                                                          : "an equality delete";
}

std::string AddedBy(const NewDeletes& deletes, const DataFile& file) {
  const auto found = deletes.added_by.find(ContentKey::Of(file));
  const std::string kind(KindOf(file));
  if (found == deletes.added_by.end() || !found->second) return kind + " was added meanwhile";
  return fmt::format("{} was added by snapshot {}", kind, Raw(*found->second));
}

/// Sequence number of the planned snapshot, or the closest one below the history if it is gone.
SequenceNumber SequenceBefore(const TableMetadata& metadata,
                              const std::vector<const Snapshot*>& history) {
  const Snapshot& oldest = *history.back();
  if (oldest.parent_id) {
    if (const Snapshot* start = metadata.FindSnapshot(*oldest.parent_id)) {
      return start->sequence_number;
    }
  }
  return SequenceNumber(Raw(oldest.sequence_number) - 1);
}

bool IsEqualityDelete(const DataFile& file) {
  return file.content == FileContent::kEqualityDeletes;
}

bool IsGlobal(const TableMetadata& metadata, const DataFile& deletes) {
  const PartitionSpec* spec = metadata.FindSpec(deletes.spec_id);
  return spec != nullptr && spec->is_unpartitioned();
}

/// True if rows move to another partition spec: equality deletes of one spec do not reach the
/// files of another.
bool ChangesSpec(const SnapshotUpdate& update) {
  std::set<SpecId> specs;
  for (const DataFile& file : update.removed_data_files) specs.insert(file.spec_id);
  for (const AddedFile& added : update.added_data_files) specs.insert(added.file.spec_id);
  return specs.size() > 1;
}

/// An equality delete that reaches an added file, but not the removed files of other specs.
Result<const DataFile*> FindNewlyReaching(const DeleteIndex& index, const SnapshotUpdate& update,
                                          SequenceNumber start) {
  for (const AddedFile& added : update.added_data_files) {
    IW_ASSIGN(const auto hits, index.Find(added.file, start));
    for (const auto& hit : hits) {
      if (IsEqualityDelete(hit->file)) return &hit->file;
    }
  }
  return static_cast<const DataFile*>(nullptr);
}

bool RemovesFiles(const Snapshot& snapshot) { return snapshot.operation != "append"; }

std::string RemovedBy(SnapshotId snapshot) {
  return fmt::format("it was removed by snapshot {}", Raw(snapshot));
}

}  // namespace

Result<std::vector<const Snapshot*>> HistorySince(const TableMetadata& metadata,
                                                  const Snapshot* head, SnapshotId from) {
  const SnapshotIndex index(metadata);
  std::vector<const Snapshot*> history;
  std::unordered_set<std::int64_t> seen;
  const Snapshot* snapshot = head;
  while (snapshot != nullptr && snapshot->id != from && seen.insert(Raw(snapshot->id)).second) {
    history.push_back(snapshot);
    if (snapshot->parent_id == from) return history;
    snapshot = index.ParentOf(*snapshot);
  }
  if (snapshot != nullptr && snapshot->id == from) return history;
  const std::string last =
      history.empty() ? std::string("none") : std::to_string(Raw(history.back()->id));
  return Error(Code::kConflict,
               fmt::format("cannot determine history between starting snapshot {} and the last "
                           "known ancestor {}",
                           Raw(from), last));
}

Result<std::vector<FileConflict>> FindNewDeletes(const CommitScope& scope,
                                                 const std::vector<const Snapshot*>& history,
                                                 const std::vector<ManifestFile>& manifests,
                                                 const SnapshotUpdate& update) {
  std::vector<FileConflict> conflicts;
  if (history.empty() || scope.metadata.format_version < 2) return conflicts;
  const SequenceNumber start = SequenceBefore(scope.metadata, history);
  PartitionSet partitions;
  for (const DataFile& file : update.removed_data_files) {
    partitions.Add(file.spec_id, file.partition);
  }
  for (const AddedFile& added : update.added_data_files) {
    partitions.Add(added.file.spec_id, added.file.partition);
  }
  IW_ASSIGN(NewDeletes deletes, ReadNewDeletes(scope, manifests, start, partitions));
  const bool changes_spec = ChangesSpec(update);
  if (update.ignore_new_equality_deletes) {
    std::erase_if(deletes.tasks, [&](const DeleteTask& task) {
      return IsEqualityDelete(task.file) && (!changes_spec || IsGlobal(scope.metadata, task.file));
    });
  }
  if (deletes.tasks.empty()) return conflicts;
  IW_ASSIGN(const DeleteIndex index,
            DeleteIndex::Build(scope.metadata, std::move(deletes.tasks), start));
  const DataFile* newly = nullptr;
  if (changes_spec && update.ignore_new_equality_deletes) {
    IW_ASSIGN(newly, FindNewlyReaching(index, update, start));
  }
  for (const DataFile& file : update.removed_data_files) {
    IW_ASSIGN(const auto hits, index.Find(file, start));
    const DataFile* reason = hits.empty() ? nullptr : &hits.front()->file;
    if (reason == nullptr && newly != nullptr && newly->spec_id != file.spec_id) reason = newly;
    if (reason == nullptr) continue;
    conflicts.push_back({.data_file = file.file_path, .reason = AddedBy(deletes, *reason)});
  }
  return conflicts;
}

Result<std::unordered_map<Location, SnapshotId>> FindRemovers(
    const CommitScope& scope, const std::vector<const Snapshot*>& history,
    const std::unordered_set<Location>& paths) {
  std::unordered_map<Location, SnapshotId> removers;
  for (const Snapshot* snapshot : history) {
    if (removers.size() == paths.size()) break;
    if (!RemovesFiles(*snapshot)) continue;
    IW_ASSIGN(const auto manifests, ReadManifests(scope.run, scope.io, scope.metadata, *snapshot));
    for (const ManifestFile& manifest : manifests) {
      if (manifest.content != ManifestContent::kData ||
          manifest.added_snapshot_id != snapshot->id || !manifest.may_have_deleted()) {
        continue;
      }
      IW_TRY(scope.run.Check());
      IW_TRY(ForEachEntry(scope, manifest, {.metrics = false, .live_only = false},
                          [&](const ManifestEntry& entry) -> Status {
                            if (!entry.is_live() && paths.contains(entry.file.file_path)) {
                              removers.emplace(entry.file.file_path, snapshot->id);
                            }
                            return {};
                          }));
    }
  }
  return removers;
}

Result<std::vector<FileConflict>> ExplainMissing(const CommitScope& scope,
                                                 const std::vector<const Snapshot*>& history,
                                                 const std::vector<Location>& paths) {
  IW_ASSIGN(const auto removers, FindRemovers(scope, history, {paths.begin(), paths.end()}));
  std::vector<FileConflict> conflicts;
  for (const Location& path : paths) {
    const auto found = removers.find(path);
    conflicts.push_back({.data_file = path,
                         .reason = found == removers.end() ? std::string("it is not in the table")
                                                           : RemovedBy(found->second)});
  }
  return conflicts;
}

Result<std::vector<FileConflict>> FindRemovedReferences(const CommitScope& scope,
                                                        const std::vector<const Snapshot*>& history,
                                                        const SnapshotUpdate& update) {
  std::unordered_set<Location> referenced;
  for (const AddedFile& deletes : update.added_delete_files) {
    if (auto path = ReferencedDataFile(deletes.file)) referenced.insert(*std::move(path));
  }
  std::vector<FileConflict> conflicts;
  if (referenced.empty() || history.empty()) return conflicts;
  IW_ASSIGN(const auto removers, FindRemovers(scope, history, referenced));
  for (const auto& [path, snapshot] : removers) {
    conflicts.push_back({.data_file = path, .reason = RemovedBy(snapshot)});
  }
  std::ranges::sort(conflicts, {}, &FileConflict::data_file);
  return conflicts;
}

Result<std::vector<FileConflict>> FindOlderData(const CommitScope& scope,
                                                const std::vector<const Snapshot*>& history,
                                                const SnapshotUpdate& update) {
  std::vector<FileConflict> conflicts;
  if (!update.fail_on_data_below) return conflicts;
  const SequenceNumber bound = *update.fail_on_data_below;
  for (const Snapshot* snapshot : history) {
    IW_ASSIGN(const auto manifests, ReadManifests(scope.run, scope.io, scope.metadata, *snapshot));
    for (const ManifestFile& manifest : manifests) {
      if (manifest.content != ManifestContent::kData ||
          manifest.added_snapshot_id != snapshot->id || manifest.min_sequence_number >= bound) {
        continue;
      }
      IW_TRY(scope.run.Check());
      IW_TRY(ForEachEntry(
          scope, manifest, {.metrics = false, .live_only = true},
          [&](const ManifestEntry& entry) -> Status {
            const SequenceNumber sequence = entry.sequence_number.value_or(bound);
            if (entry.status != EntryStatus::kAdded || sequence >= bound) return {};
            conflicts.push_back(
                {.data_file = entry.file.file_path,
                 .reason = fmt::format("it was added by snapshot {} with the sequence number {}",
                                       Raw(snapshot->id), Raw(sequence))});
            return {};
          }));
    }
  }
  return conflicts;
}

Status CheckExclusive(const TableMetadata& metadata, const Snapshot* head,
                      const SnapshotUpdate& update) {
  if (update.exclusive_property.empty()) return {};
  const SnapshotIndex index(metadata);
  std::unordered_set<std::int64_t> seen;
  for (const Snapshot* snapshot = head;
       snapshot != nullptr && snapshot->id != update.validate_from &&
       seen.insert(Raw(snapshot->id)).second;
       snapshot = index.ParentOf(*snapshot)) {
    if (FindKey(snapshot->summary, update.exclusive_property) == nullptr) continue;
    return Error(Code::kConflict, fmt::format("snapshot {} came in between and has {}, too",
                                              Raw(snapshot->id), update.exclusive_property));
  }
  return {};
}

Result<std::vector<FileConflict>> FindSecondDvs(const CommitScope& scope,
                                                const std::vector<ManifestFile>& manifests,
                                                const SnapshotUpdate& update,
                                                const LeavesTable& leaves) {
  PartitionSet partitions;
  std::unordered_set<Location> referenced;
  for (const AddedFile& deletes : update.added_delete_files) {
    if (!deletes.file.is_deletion_vector()) continue;
    partitions.Add(deletes.file.spec_id, deletes.file.partition);
    if (auto path = ReferencedDataFile(deletes.file)) referenced.insert(*std::move(path));
  }
  std::vector<FileConflict> conflicts;
  if (referenced.empty()) return conflicts;
  for (const ManifestFile& manifest : manifests) {
    if (manifest.content != ManifestContent::kDeletes || !manifest.may_have_live() ||
        !partitions.MayBeIn(scope.metadata, manifest)) {
      continue;
    }
    IW_TRY(scope.run.Check());
    IW_TRY(ForEachEntry(scope, manifest, {.metrics = false, .live_only = true},
                        [&](const ManifestEntry& entry) -> Status {
                          if (!entry.file.is_deletion_vector() || leaves(entry)) return {};
                          const auto path = ReferencedDataFile(entry.file);
                          if (!path || !referenced.contains(*path)) return {};
                          std::string reason("it has another deletion vector");
                          if (entry.snapshot_id)
                            reason += fmt::format(" of snapshot {}", Raw(*entry.snapshot_id));
                          conflicts.push_back({.data_file = *path, .reason = std::move(reason)});
                          return {};
                        }));
  }
  return conflicts;
}

Error ConflictOf(const std::vector<FileConflict>& conflicts) {
  const FileConflict& first = conflicts.front();
  std::string message = fmt::format("{}: {}", first.data_file.text(), first.reason);
  if (conflicts.size() > 1) message += fmt::format(" (and {} more files)", conflicts.size() - 1);
  return Error(Code::kConflict, std::move(message));
}

}  // namespace icewright
