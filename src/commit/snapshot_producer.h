#pragma once

/// \file commit/snapshot_producer.h
/// Builds the snapshot of an update on one state of the table, again for each attempt.
///
/// Java twins: SnapshotProducer.apply, MergingSnapshotProducer.apply.

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "commit/added_manifests.h"
#include "commit/commit_scope.h"
#include "commit/manifest_filter.h"
#include "commit/manifest_merge.h"
#include "commit/partition_set.h"
#include "commit/snapshot_update.h"
#include "commit/written_files.h"

namespace icewright {

struct ProducedSnapshot {
  Snapshot snapshot;
  std::vector<Location> manifests;  ///< What its list names.
};

/// One per commit; keeps what earlier attempts wrote, and uses it again where its inputs are
/// unchanged. Borrows update and files. Single-threaded.
class SnapshotProducer {
 public:
  SnapshotProducer(const SnapshotUpdate& update, SnapshotId id, FileIO& io, WrittenFiles& written);

  /// Validates the update against `metadata`, writes manifests and a list, describes the snapshot.
  /// `conflicts` is replaced. Errors: kConflict, kInvalidArgument, kUnsupported, kCorrupt, those of
  /// io.
  Result<ProducedSnapshot> Produce(RunContext& run, const TableMetadata& metadata, int attempt,
                                   std::vector<FileConflict>& conflicts);

 private:
  /// The state one attempt works on. Borrows the metadata.
  struct Attempt {
    CommitScope scope;
    /// Whose files the new snapshot starts from: main's head for a branch that does not exist yet.
    const Snapshot* parent = nullptr;
    std::vector<const Snapshot*> history = {};
    std::vector<ManifestFile> data_manifests = {};
    std::vector<ManifestFile> delete_manifests = {};
  };
  using Filtered = std::vector<FilteredManifest>;
  using FilterCache = std::unordered_map<Location, FilteredManifest>;  // by path of the original

  static Result<Filtered> FilterCached(const CommitScope& scope,
                                       const std::vector<ManifestFile>& manifests,
                                       const std::function<bool(const ManifestFile&)>& may_hold,
                                       const LeavesTable& leaves, FilterCache& cache);

  void ForgetOtherVersions(int format_version);
  void ForgetWithoutRowIds(const Attempt& attempt);
  Result<Attempt> Begin(RunContext& run, const TableMetadata& metadata) const;
  Status Validate(const Attempt& attempt, std::vector<FileConflict>& conflicts) const;

  Result<Filtered> FilterData(const Attempt& attempt);
  Result<Filtered> FilterDeletes(const Attempt& attempt, SequenceNumber min_data_sequence);
  Status CheckDataFound(const Attempt& attempt, const Filtered& filtered,
                        std::vector<FileConflict>& conflicts) const;
  Status CheckDeletesFound(const Filtered& filtered) const;
  bool IsRemovedDelete(const DataFile& file) const;
  SequenceNumber MinDataSequence(const Attempt& attempt, const Filtered& data) const;

  Status WriteAdded(const CommitScope& scope, const MergePolicy& policy);
  Result<MergedManifests> MergeKept(const CommitScope& scope, const MergePolicy& policy,
                                    const std::vector<AddedManifest>& added,
                                    const Filtered& filtered, ManifestMerger& merger) const;
  Result<Summary> Summarise(const Attempt& attempt, const Filtered& data, const Filtered& deletes,
                            const std::vector<ManifestFile>& manifests,
                            std::int64_t merged_away) const;
  Result<ProducedSnapshot> ProduceSwap(RunContext& run, const TableMetadata& metadata,
                                       int attempt_number) const;
  Result<ProducedSnapshot> WriteList(const Attempt& attempt, int number,
                                     std::vector<ManifestFile> manifests, Summary summary) const;

  const SnapshotUpdate& update_;
  const SnapshotId id_;
  FileIO& io_;
  WrittenFiles& written_;

  std::unordered_set<Location> removed_data_;
  PartitionSet removed_data_partitions_;
  std::unordered_set<ContentKey, ContentKeyHash> removed_deletes_;
  PartitionSet removed_delete_partitions_;

  // From earlier attempts; valid for one format version.
  std::optional<int> format_version_;
  bool lacked_row_ids_ = false;  ///< Manifests of the last attempt did: of an upgraded table.
  FilterCache filtered_data_;
  FilterCache filtered_deletes_;
  std::optional<SequenceNumber> dropped_below_;  ///< Older deletes went in `filtered_deletes_`.
  std::optional<std::vector<AddedManifest>> added_data_;
  std::optional<std::vector<AddedManifest>> added_deletes_;
  ManifestMerger data_merger_;
  ManifestMerger delete_merger_;
};

}  // namespace icewright
