#pragma once

/// \file maintain/flink_guard.h
/// Which snapshots a Flink job needs to find out, after a restart, what it has committed.
///
/// A restored sink walks from the head of its branch along parents until it finds a snapshot with
/// its own job id, and commits again every checkpoint above the id that it finds there. If that
/// snapshot, or a parent on the way to it, is gone, rows are committed twice. Pure.
/// Java twin of the reader: SinkUtil.getMaxCommittedCheckpointId.

#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "table/metadata.h"

namespace icewright {

/// How old a timestamp of a table is; one that no clock can have made counts as the oldest or
/// newest.
inline std::int64_t AgeMs(TimePoint timestamp, TimePoint now) {
  std::int64_t age = 0;
  if (!__builtin_sub_overflow(ToMillis(now), ToMillis(timestamp), &age)) return age;
  using Limits = std::numeric_limits<std::int64_t>;
  return ToMillis(timestamp) < 0 ? Limits::max() : Limits::min();
}

inline constexpr std::string_view kFlinkJobId = "flink.job-id";
inline constexpr std::string_view kFlinkOperatorId = "flink.operator-id";
inline constexpr std::string_view kFlinkCheckpointId = "flink.max-committed-checkpoint-id";

/// The newest snapshot of one job on one branch. Two sinks of a job are told apart by operator id.
struct FlinkMarker {
  std::string branch;
  std::string job_id;
  std::string operator_id;    ///< Empty if the snapshot does not say.
  std::string checkpoint_id;  ///< As the snapshot spells it.
  SnapshotId snapshot_id{};
  TimePoint timestamp{};
};

struct FlinkGuard {
  /// Snapshots from the head of a branch down to the oldest marker that is still young.
  std::set<SnapshotId> kept;
  /// Newest markers of jobs, in the order of branches and then from the head down.
  std::vector<FlinkMarker> young;
  std::vector<FlinkMarker> old;
};

/// `branches`: those that stay. A marker is young while it is younger than guard_age_ms; unset:
/// none is. Cost: one walk per branch.
FlinkGuard FindFlinkMarkers(const TableMetadata& metadata, const std::vector<std::string>& branches,
                            std::optional<std::int64_t> guard_age_ms, TimePoint now);

}  // namespace icewright
