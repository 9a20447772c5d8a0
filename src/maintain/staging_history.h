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

/// Oldest first: snapshots of `staging` that came after the last one promoted to `target`, and that
/// are not in the history of `target`. Snapshots that a conversion made itself are left out.
/// `resume_from`: take this one as promoted last. Errors: kConflict if the table does not tell
/// which one was: its marker has expired or was rolled back, or histories are cut off; the message
/// says what to do. kInvalidArgument for a resume_from that is not in the history of `staging`.
Result<std::vector<const Snapshot*>> FindWaitingSnapshots(const TableMetadata& metadata,
                                                          std::string_view staging,
                                                          std::string_view target,
                                                          std::optional<SnapshotId> resume_from);

/// Sequence numbers of the target's commits since `after`, by what made them.
struct CommitsSince {
  std::vector<SequenceNumber> conversions = {};  ///< Ascending.
  /// Commits up to here are not in the history any more: who made them is unknown.
  SequenceNumber unknown_up_to{0};
};
CommitsSince FindCommitsSince(const TableMetadata& metadata, std::string_view target,
                              SequenceNumber after);

}  // namespace icewright
