#pragma once

/// \file commit/snapshot_update.h
/// Commits a new snapshot: builds manifests, validates against what others did, swaps, retries.
///
/// Java twins: MergingSnapshotProducer, BaseRewriteFiles, BaseRowDelta, MergeAppend,
/// BaseRewriteManifests.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/run_context.h"
#include "catalog/table.h"
#include "commit/manifest_swap.h"
#include "manifest/data_file.h"
#include "manifest/manifest_file.h"
#include "table/snapshot.h"

namespace icewright {

struct AddedFile {
  DataFile file;
  /// Explicit data sequence number (compaction); unset: the commit's own.
  std::optional<SequenceNumber> sequence_number = {};
};

/// What the new snapshot does. A plain value; committing it more than once is safe.
struct SnapshotUpdate {
  std::string operation = "append";  ///< append, replace, overwrite, delete
  std::string branch = std::string(kMainBranch);

  std::vector<AddedFile> added_data_files = {};
  std::vector<AddedFile> added_delete_files = {};

  /// Must be live in the head, or the commit fails with kConflict. DVs of removed data files go
  /// too.
  std::vector<DataFile> removed_data_files = {};
  std::vector<DataFile> removed_delete_files = {};

  /// Operation replace, alone: other manifests for the same live files. Nothing is merged then.
  std::optional<ManifestSwap> manifests = {};

  /// The snapshot this update was planned on; what came after it is validated: conflict if the
  /// chain to it is broken, or if a data file that the added deletes name was removed. Unset: no
  /// validation of history.
  std::optional<SnapshotId> validate_from = {};

  /// With validate_from: conflict if a snapshot in between added deletes for a removed data file.
  bool fail_on_new_deletes = false;
  /// Equality deletes do not count, since the added files keep the old sequence number; unless rows
  /// move to another partition spec, which those of one spec do not follow.
  bool ignore_new_equality_deletes = false;
  /// With validate_from: conflict if a snapshot in between added a data file with a smaller data
  /// sequence number, as compaction does: equality deletes below it would have to reach that file.
  std::optional<SequenceNumber> fail_on_data_below = {};
  /// Conflict if a snapshot since validate_from (unset: any of the branch) has this key in its
  /// summary. Two runs that both set it exclude each other. Empty: none.
  std::string exclusive_property = {};

  /// Extra keys of the snapshot summary.
  Summary properties = {};
  /// Table properties that change in the same step.
  Properties table_properties = {};
};

/// A data file of the update that a concurrent commit touched.
struct FileConflict {
  Location data_file;
  std::string reason;  ///< "a deletion vector was added by snapshot 7"
};

struct CommitReport {
  /// Set on success, and on kCommitUnknown: the snapshot to look for.
  std::optional<SnapshotId> snapshot_id = {};
  int attempts = 0;
  /// Filled on kConflict by what others did to files; empty for other conflicts.
  std::vector<FileConflict> conflicts = {};
  /// Files of losing attempts that could not be deleted; on kCommitUnknown everything written.
  std::vector<Location> leftovers = {};
};

/// Commits, retrying lost races as the table's commit.retry.* properties say (until
/// commit.retry.total-timeout-ms unless the table sets commit.retry.num-retries itself).
/// `report` is filled in either case.
/// Errors: kConflict: validation failed or retries ran out; every manifest written is deleted
/// again. kCommitUnknown: nothing is deleted. kInvalidArgument: the update contradicts itself.
/// Cost: reads the manifests that hold removed files, those added since validate_from, and with
/// added DVs the delete manifests of their partitions (a data file must not get a second one).
Status CommitSnapshot(RunContext& run, Table& table, const SnapshotUpdate& update,
                      CommitReport& report);

}  // namespace icewright
