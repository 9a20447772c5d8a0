#pragma once

/// \file maintain/staging_history.h
/// Which snapshots of a staging branch wait for promotion to the target branch. Reads no file.
///
/// Java twin: EqualityConvertPlanner.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "table/metadata.h"

namespace icewright {

/// Summary key of each commit of a conversion: the staging snapshot it converted.
inline constexpr std::string_view kConvertMarker = "equality-convert-staging-snapshot";

/// Table property that says the same when the marked snapshot has expired or was rolled back.
std::string ConvertRecordProperty(std::string_view target);

/// From the head of a branch back through the snapshots that the table still has, newest first.
std::vector<const Snapshot*> HistoryOf(const TableMetadata& metadata, std::string_view branch);

struct WaitingSnapshots {
  std::vector<const Snapshot*> snapshots = {};  ///< Oldest first.
  /// The target's commit after which they come; null: they begin where the branches part, or after
  /// resume_from.
  const Snapshot* last_promotion = nullptr;
};

/// Snapshots of `staging` that came after the last one promoted to `target`, and that are not in
/// the history of `target`. Snapshots that a conversion made itself are left out. A staging branch
/// that was made anew from the target begins there, whatever was promoted before.
/// `resume_from`: take this one as promoted last. Errors: kConflict if the table does not tell
/// which one was: its marker has expired or was rolled back, or histories are cut off; the message
/// says what to do. kInvalidArgument for a resume_from that is not in the history of `staging`.
Result<WaitingSnapshots> FindWaitingSnapshots(const TableMetadata& metadata,
                                              std::string_view staging, std::string_view target,
                                              std::optional<SnapshotId> resume_from);

/// Snapshots of `staging` that are not on `target`, if the table says that one of them was promoted
/// to it: what a person needs to choose a resume_from. Newest first.
std::vector<const Snapshot*> FindDoubtfulSnapshots(const TableMetadata& metadata,
                                                   std::string_view staging,
                                                   std::string_view target);

/// Sequence numbers of the target's commits since `after`, by what made them.
struct CommitsSince {
  /// Those that promoted a snapshot of the staging branch, or one that has expired; those in place,
  /// too, which add no rows. Ascending.
  std::vector<SequenceNumber> conversions = {};
  /// Commits up to here are not in the history any more: who made them is unknown.
  SequenceNumber unknown_up_to{0};
};
CommitsSince FindCommitsSince(const TableMetadata& metadata, std::string_view staging,
                              std::string_view target, SequenceNumber after);

}  // namespace icewright
