#pragma once

/// \file commit/conflict_check.h
/// What others committed since an update was planned, and whether it stands in the way.
///
/// Spec: "Optimistic Concurrency".   Java twin: the validations of MergingSnapshotProducer.

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "commit/commit_scope.h"
#include "commit/manifest_filter.h"
#include "commit/snapshot_update.h"
#include "manifest/manifest_file.h"
#include "table/metadata.h"

namespace icewright {

/// The snapshots after `from` up to `head`, newest first; empty if they are the same. Null head:
/// the branch has no snapshot. Errors: kConflict if the chain does not lead to `from`.
Result<std::vector<const Snapshot*>> HistorySince(const TableMetadata& metadata,
                                                  const Snapshot* head, SnapshotId from);

/// Deletes live in `manifests` (the head's) that are newer than the start of `history` and apply to
/// a data file that the update removes, or to one that it adds while those that it removes have
/// another partition spec. One conflict per data file. Only what is live counts: a DV
/// that was added and replaced meanwhile is no second DV. Errors: kCorrupt, those of reading. Cost:
/// reads the delete manifests added since that may concern these partitions, once.
Result<std::vector<FileConflict>> FindNewDeletes(const CommitScope& scope,
                                                 const std::vector<const Snapshot*>& history,
                                                 const std::vector<ManifestFile>& manifests,
                                                 const SnapshotUpdate& update);

/// Which snapshot of `history` removed which of these data files. Cost: reads the manifests with
/// DELETED entries that `history` added, newest first, until all files are found.
Result<std::unordered_map<Location, SnapshotId>> FindRemovers(
    const CommitScope& scope, const std::vector<const Snapshot*>& history,
    const std::unordered_set<Location>& paths);

/// A conflict for each data file that the update removes and the table does not have. Cost: as
/// FindRemovers.
Result<std::vector<FileConflict>> ExplainMissing(const CommitScope& scope,
                                                 const std::vector<const Snapshot*>& history,
                                                 const std::vector<Location>& paths);

/// Data files that a snapshot of `history` removed although the update adds deletes that name them.
/// Cost: as FindRemovers; nothing if the update adds no such deletes.
Result<std::vector<FileConflict>> FindRemovedReferences(const CommitScope& scope,
                                                        const std::vector<const Snapshot*>& history,
                                                        const SnapshotUpdate& update);

/// Data files that a snapshot of `history` added with a data sequence number below
/// update.fail_on_data_below; nothing if that is unset. Cost: reads the data manifests that
/// `history` added and that may hold such files.
Result<std::vector<FileConflict>> FindOlderData(const CommitScope& scope,
                                                const std::vector<const Snapshot*>& history,
                                                const SnapshotUpdate& update);

/// Errors: kConflict if a snapshot from `head` back to update.validate_from carries
/// update.exclusive_property; back to the first one if the update was planned on no snapshot.
Status CheckExclusive(const TableMetadata& metadata, const Snapshot* head,
                      const SnapshotUpdate& update);

/// Data files for which the update adds a DV while another one stays live: `leaves` says which
/// deletes go. Cost: reads the delete manifests of these partitions; nothing without DVs.
Result<std::vector<FileConflict>> FindSecondDvs(const CommitScope& scope,
                                                const std::vector<ManifestFile>& manifests,
                                                const SnapshotUpdate& update,
                                                const LeavesTable& leaves);

/// kConflict, naming the first file and how many more there are. Precondition: not empty.
Error ConflictOf(const std::vector<FileConflict>& conflicts);

}  // namespace icewright
