#include "commit/snapshot_producer.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "catalog/metadata_files.h"
#include "commit/conflict_check.h"
#include "commit/manifest_swap.h"
#include "commit/summary_builder.h"
#include "commit/update_check.h"
#include "table/snapshot_summary.h"

namespace icewright {
namespace {

std::vector<ManifestFile> OfContent(const std::vector<ManifestFile>& manifests,
                                    ManifestContent content) {
  std::vector<ManifestFile> chosen;
  std::ranges::copy_if(manifests, std::back_inserter(chosen),
                       [&](const ManifestFile& manifest) { return manifest.content == content; });
  return chosen;
}

/// Java tolerates small clock skew; a snapshot older than its table would still confuse time
/// travel.
TimePoint TimestampFor(const RunContext& run, const TableMetadata& metadata,
                       const Snapshot* parent) {
  TimePoint timestamp = std::max(run.Now(), metadata.last_updated);
  return parent == nullptr ? timestamp : std::max(timestamp, parent->timestamp);
}

/// One line per data file: the first reason is enough.
void KeepFirstReasons(std::vector<FileConflict>& conflicts) {
  std::unordered_set<Location> seen;
  std::erase_if(conflicts, [&](const FileConflict& conflict) {
    return !seen.insert(conflict.data_file).second;
  });
}

}  // namespace

SnapshotProducer::SnapshotProducer(const SnapshotUpdate& update, SnapshotId id, FileIO& io,
                                   WrittenFiles& written)
    : update_(update), id_(id), io_(io), written_(written) {
  for (const DataFile& file : update.removed_data_files) {
    removed_data_.insert(file.file_path);
    removed_data_partitions_.Add(file.spec_id, file.partition);
  }
  for (const DataFile& file : update.removed_delete_files) {
    removed_deletes_.insert(ContentKey::Of(file));
    removed_delete_partitions_.Add(file.spec_id, file.partition);
  }
}

void SnapshotProducer::ForgetOtherVersions(int format_version) {
  if (format_version_ == format_version) return;
  format_version_ = format_version;
  filtered_data_.clear();
  filtered_deletes_.clear();
  dropped_below_.reset();
  added_data_.reset();
  added_deletes_.reset();
  data_merger_ = {};
  delete_merger_ = {};
}

// Until the first commit after an upgrade to version 3 manifests have no row ids; who wins that
// race gives them some, and what was made of the manifests before does not know them.
void SnapshotProducer::ForgetWithoutRowIds(const Attempt& attempt) {
  if (lacked_row_ids_) {
    filtered_data_.clear();
    data_merger_ = {};
  }
  lacked_row_ids_ = attempt.scope.metadata.format_version >= 3 &&
                    std::ranges::any_of(attempt.data_manifests, [](const ManifestFile& manifest) {
                      return !manifest.first_row_id;
                    });
}

Result<SnapshotProducer::Attempt> SnapshotProducer::Begin(RunContext& run,
                                                          const TableMetadata& metadata) const {
  Attempt attempt{
      .scope = {
          .run = run, .io = io_, .metadata = metadata, .snapshot_id = id_, .written = written_}};
  attempt.parent = metadata.FindRef(update_.branch);
  if (attempt.parent == nullptr) attempt.parent = metadata.current_snapshot();
  if (update_.validate_from) {
    IW_ASSIGN(attempt.history, HistorySince(metadata, attempt.parent, *update_.validate_from));
  }
  if (attempt.parent == nullptr) return attempt;
  IW_ASSIGN(const auto manifests, ReadManifests(run, io_, metadata, *attempt.parent));
  attempt.data_manifests = OfContent(manifests, ManifestContent::kData);
  attempt.delete_manifests = OfContent(manifests, ManifestContent::kDeletes);
  return attempt;
}

Status SnapshotProducer::Validate(const Attempt& attempt,
                                  std::vector<FileConflict>& conflicts) const {
  IW_TRY(CheckExclusive(attempt.scope.metadata, attempt.parent, update_));
  if (update_.validate_from && update_.fail_on_new_deletes) {
    IW_ASSIGN(conflicts,
              FindNewDeletes(attempt.scope, attempt.history, attempt.delete_manifests, update_));
  }
  IW_ASSIGN(auto removed, FindRemovedReferences(attempt.scope, attempt.history, update_));
  std::ranges::move(removed, std::back_inserter(conflicts));
  IW_ASSIGN(auto older, FindOlderData(attempt.scope, attempt.history, update_));
  std::ranges::move(older, std::back_inserter(conflicts));
  IW_ASSIGN(auto second, FindSecondDvs(attempt.scope, attempt.delete_manifests, update_,
                                       [this](const ManifestEntry& entry) {
                                         return IsRemovedDelete(entry.file);
                                       }));
  std::ranges::move(second, std::back_inserter(conflicts));
  return {};
}

bool SnapshotProducer::IsRemovedDelete(const DataFile& file) const {
  if (removed_deletes_.contains(ContentKey::Of(file))) return true;
  if (!file.is_deletion_vector()) return false;
  const auto referenced = ReferencedDataFile(file);
  return referenced && removed_data_.contains(*referenced);
}

Result<SnapshotProducer::Filtered> SnapshotProducer::FilterCached(
    const CommitScope& scope, const std::vector<ManifestFile>& manifests,
    const std::function<bool(const ManifestFile&)>& may_hold, const LeavesTable& leaves,
    FilterCache& cache) {
  std::vector<ManifestFile> fresh;
  for (const ManifestFile& manifest : manifests) {
    if (!cache.contains(manifest.manifest_path)) fresh.push_back(manifest);
  }
  IW_ASSIGN(Filtered answers, FilterManifests(scope, fresh, may_hold, leaves));
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    cache[fresh[i].manifest_path] = std::move(answers[i]);
  }
  Filtered filtered;
  for (const ManifestFile& manifest : manifests) {
    const FilteredManifest& known = cache.at(manifest.manifest_path);
    filtered.push_back(known.rewritten ? known : FilteredManifest{.manifest = manifest});
  }
  return filtered;
}

Result<SnapshotProducer::Filtered> SnapshotProducer::FilterData(const Attempt& attempt) {
  const auto may_hold = [&](const ManifestFile& manifest) {
    return removed_data_partitions_.MayBeIn(attempt.scope.metadata, manifest);
  };
  const auto leaves = [this](const ManifestEntry& entry) {
    return removed_data_.contains(entry.file.file_path);
  };
  return FilterCached(attempt.scope, attempt.data_manifests, may_hold, leaves, filtered_data_);
}

SequenceNumber SnapshotProducer::MinDataSequence(const Attempt& attempt,
                                                 const Filtered& data) const {
  SequenceNumber least = attempt.scope.metadata.last_sequence_number;
  for (const FilteredManifest& one : data) {
    if (!one.manifest.may_have_live() || one.manifest.min_sequence_number_pending) continue;
    least = std::min(least, one.manifest.min_sequence_number);
  }
  // Compaction puts its files back to the number of the planned snapshot: younger deletes still
  // apply to them.
  for (const AddedFile& added : update_.added_data_files) {
    if (added.sequence_number) least = std::min(least, *added.sequence_number);
  }
  return least;
}

Result<SnapshotProducer::Filtered> SnapshotProducer::FilterDeletes(const Attempt& attempt,
                                                                   SequenceNumber min_sequence) {
  if (dropped_below_ && min_sequence < *dropped_below_) {
    filtered_deletes_.clear();
    dropped_below_.reset();
  }
  dropped_below_ = std::max(min_sequence, dropped_below_.value_or(min_sequence));
  const TableMetadata& metadata = attempt.scope.metadata;
  const bool has_dvs = metadata.format_version >= 3;
  const auto may_hold = [&](const ManifestFile& manifest) {
    if (removed_delete_partitions_.MayBeIn(metadata, manifest)) return true;
    if (removed_data_.empty()) return false;
    if (has_dvs && removed_data_partitions_.MayBeIn(metadata, manifest)) return true;
    return removed_deletes_.empty() && manifest.min_sequence_number < min_sequence;
  };
  const auto leaves = [&](const ManifestEntry& entry) {
    const SequenceNumber sequence = entry.sequence_number.value_or(kInitialSequenceNumber);
    return (sequence > kInitialSequenceNumber && sequence < min_sequence) ||
           IsRemovedDelete(entry.file);
  };
  return FilterCached(attempt.scope, attempt.delete_manifests, may_hold, leaves, filtered_deletes_);
}

Status SnapshotProducer::CheckDataFound(const Attempt& attempt, const Filtered& filtered,
                                        std::vector<FileConflict>& conflicts) const {
  std::unordered_set<Location> found;
  for (const FilteredManifest& one : filtered) {
    for (const DataFile& file : one.removed) found.insert(file.file_path);
  }
  std::vector<Location> missing;
  std::unordered_set<Location> listed;
  for (const DataFile& file : update_.removed_data_files) {
    if (!found.contains(file.file_path) && listed.insert(file.file_path).second) {
      missing.push_back(file.file_path);
    }
  }
  if (missing.empty()) return {};
  IW_ASSIGN(auto explained, ExplainMissing(attempt.scope, attempt.history, missing));
  std::ranges::move(explained, std::back_inserter(conflicts));
  return {};
}

Status SnapshotProducer::CheckDeletesFound(const Filtered& filtered) const {
  std::unordered_set<ContentKey, ContentKeyHash> found;
  for (const FilteredManifest& one : filtered) {
    for (const DataFile& file : one.removed) found.insert(ContentKey::Of(file));
  }
  for (const DataFile& file : update_.removed_delete_files) {
    if (found.contains(ContentKey::Of(file))) continue;
    return Error(Code::kConflict, fmt::format("the delete file {} is no longer in the table",
                                              file.file_path.text()));
  }
  return {};
}

Status SnapshotProducer::WriteAdded(const CommitScope& scope, const MergePolicy& policy) {
  if (!added_data_) {
    IW_ASSIGN(added_data_, WriteAddedManifests(scope, ManifestContent::kData,
                                               update_.added_data_files, policy.target_bytes));
  }
  if (!added_deletes_) {
    IW_ASSIGN(added_deletes_, WriteAddedManifests(scope, ManifestContent::kDeletes,
                                                  update_.added_delete_files, policy.target_bytes));
  }
  return {};
}

Result<MergedManifests> SnapshotProducer::MergeKept(const CommitScope& scope,
                                                    const MergePolicy& policy,
                                                    const std::vector<AddedManifest>& added,
                                                    const Filtered& filtered,
                                                    ManifestMerger& merger) const {
  std::vector<ManifestFile> manifests;
  for (const AddedManifest& own : added) manifests.push_back(own.manifest);
  for (const FilteredManifest& one : filtered) {
    if (one.rewritten || one.manifest.may_have_live()) manifests.push_back(one.manifest);
  }
  return merger.Merge(scope, policy, manifests, added);
}

Result<Summary> SnapshotProducer::Summarise(const Attempt& attempt, const Filtered& data,
                                            const Filtered& deletes,
                                            const std::vector<ManifestFile>& manifests,
                                            std::int64_t merged_away) const {
  SummaryBuilder summary(attempt.scope.metadata);
  for (const AddedFile& added : update_.added_data_files) summary.Add(added.file);
  for (const AddedFile& added : update_.added_delete_files) summary.Add(added.file);
  ManifestCounts counts{.created = 0, .kept = 0, .replaced = merged_away};
  for (const Filtered* filtered : {&data, &deletes}) {
    for (const FilteredManifest& one : *filtered) {
      for (const DataFile& file : one.removed) summary.Remove(file);
      summary.AddDuplicates(one.duplicates);
      counts.replaced += one.rewritten ? 1 : 0;
    }
  }
  for (const ManifestFile& manifest : manifests) {
    ++(manifest.added_snapshot_id == id_ ? counts.created : counts.kept);
  }
  summary.set_manifests(counts);
  const FileCounters& counters = summary.counters();
  if (update_.operation == "replace" && counters.added_records > counters.removed_records) {
    return Error(Code::kInvalidArgument,
                 fmt::format("a replace must not add rows: {} added records, {} replaced records",
                             counters.added_records, counters.removed_records));
  }
  const Summary* previous = attempt.parent == nullptr ? nullptr : &attempt.parent->summary;
  return summary.Build(previous, update_.properties);
}

Result<ProducedSnapshot> SnapshotProducer::WriteList(const Attempt& attempt, int number,
                                                     std::vector<ManifestFile> manifests,
                                                     Summary summary) const {
  const CommitScope& scope = attempt.scope;
  const TableMetadata& metadata = scope.metadata;
  Snapshot snapshot{.id = id_,
                    .timestamp = TimestampFor(scope.run, metadata, attempt.parent),
                    .operation = update_.operation,
                    .summary = std::move(summary),
                    .schema_id = metadata.current_schema_id};
  if (attempt.parent != nullptr) snapshot.parent_id = attempt.parent->id;
  if (metadata.format_version >= 2) {
    snapshot.sequence_number = SequenceNumber(Raw(metadata.last_sequence_number) + 1);
  }
  if (metadata.format_version >= 3) snapshot.first_row_id = metadata.next_row_id.value_or(0);
  snapshot.manifest_list = written_.ManifestList(MetadataFolderOf(metadata), id_, number);
  const ManifestListHeader header{
      .format_version = metadata.format_version,
      .snapshot_id = id_,
      .parent_snapshot_id = snapshot.parent_id,
      .sequence_number = snapshot.sequence_number,
      .first_row_id = snapshot.first_row_id,
      .compression_codec =
          StringProperty(metadata.properties, "write.manifest.compression-codec", "gzip")};
  IW_ASSIGN(
      const WrittenManifestList list,
      WriteManifestList(scope.run, io_, snapshot.manifest_list, header, std::move(manifests)));
  if (snapshot.first_row_id && list.next_row_id) {
    snapshot.added_rows = *list.next_row_id - *snapshot.first_row_id;
  }
  ProducedSnapshot produced{.snapshot = std::move(snapshot), .manifests = {}};
  for (const ManifestFile& manifest : list.manifests) {
    produced.manifests.push_back(manifest.manifest_path);
  }
  return produced;
}

Result<ProducedSnapshot> SnapshotProducer::ProduceSwap(RunContext& run,
                                                       const TableMetadata& metadata,
                                                       int attempt_number) const {
  IW_ASSIGN(const Attempt attempt, Begin(run, metadata));
  if (metadata.FindRef(update_.branch) == nullptr) {
    return Error(Code::kConflict, fmt::format("the branch '{}' is gone", update_.branch));
  }
  std::vector<ManifestFile> current = attempt.data_manifests;
  std::ranges::copy(attempt.delete_manifests, std::back_inserter(current));
  IW_ASSIGN(std::vector<ManifestFile> manifests,
            SwapManifests(*update_.manifests, id_, metadata.format_version, current));
  const std::int64_t created = std::ssize(update_.manifests->added);
  SummaryBuilder builder(metadata);
  builder.set_manifests({.created = created,
                         .kept = std::ssize(manifests) - created,
                         .replaced = std::ssize(update_.manifests->replaced)});
  Summary extra = update_.properties;
  extra.emplace_back(summary::kEntriesProcessed,
                     std::to_string(update_.manifests->entries_processed));
  return WriteList(attempt, attempt_number, std::move(manifests),
                   builder.Build(&attempt.parent->summary, extra));
}

Result<ProducedSnapshot> SnapshotProducer::Produce(RunContext& run, const TableMetadata& metadata,
                                                   int attempt_number,
                                                   std::vector<FileConflict>& conflicts) {
  conflicts.clear();
  IW_TRY(CheckUpdateFits(update_, metadata));
  if (update_.manifests) return ProduceSwap(run, metadata, attempt_number);
  ForgetOtherVersions(metadata.format_version);
  IW_ASSIGN(const MergePolicy policy, MergePolicy::Of(metadata.properties));
  IW_ASSIGN(const Attempt attempt, Begin(run, metadata));
  ForgetWithoutRowIds(attempt);
  IW_TRY(Validate(attempt, conflicts));
  IW_ASSIGN(const Filtered data, FilterData(attempt));
  IW_TRY(CheckDataFound(attempt, data, conflicts));
  KeepFirstReasons(conflicts);
  if (!conflicts.empty()) return ConflictOf(conflicts);
  IW_ASSIGN(const Filtered deletes, FilterDeletes(attempt, MinDataSequence(attempt, data)));
  IW_TRY(CheckDeletesFound(deletes));

  IW_TRY(WriteAdded(attempt.scope, policy));
  IW_ASSIGN(MergedManifests merged,
            MergeKept(attempt.scope, policy, *added_data_, data, data_merger_));
  IW_ASSIGN(MergedManifests merged_deletes,
            MergeKept(attempt.scope, policy, *added_deletes_, deletes, delete_merger_));
  std::ranges::move(merged_deletes.manifests, std::back_inserter(merged.manifests));
  IW_ASSIGN(Summary summary, Summarise(attempt, data, deletes, merged.manifests,
                                       merged.replaced + merged_deletes.replaced));
  return WriteList(attempt, attempt_number, std::move(merged.manifests), std::move(summary));
}

}  // namespace icewright
