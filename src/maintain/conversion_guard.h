#pragma once

/// \file maintain/conversion_guard.h
/// Which snapshots a conversion of equality deletes needs to go on where it stopped.
///
/// A conversion finds its place by the newest marker in the target's history, and promotes every
/// snapshot of the staging branch since the one that the marker names. If one of them expires, rows
/// are never promoted; if the marker does, nobody knows what was. Pure.

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "table/metadata.h"

namespace icewright {

struct ConversionGuard {
  /// The target's history down to its marker, and what waits on staging branches.
  std::set<SnapshotId> kept;
  std::vector<std::string> notes;  ///< One for each staging branch that waits.
};

/// `branches`: those that stay. While a staging branch waits its snapshots are kept, however old,
/// with the target's history down to its promotion and to the time of the oldest one; also where
/// the table does not tell what was promoted. A marker that nothing waits for is kept while it is
/// younger than guard_age_ms. Cost: some walks for each pair of a staging and a target branch.
ConversionGuard FindConversionGuard(const TableMetadata& metadata,
                                    const std::vector<std::string>& branches,
                                    std::int64_t guard_age_ms, TimePoint now);

}  // namespace icewright
