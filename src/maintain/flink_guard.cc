#include "maintain/flink_guard.h"

#include <unordered_set>
#include <utility>

namespace icewright {
namespace {

void WalkBranch(const SnapshotIndex& index, const std::string& branch, SnapshotId head,
                std::optional<std::int64_t> guard_age_ms, TimePoint now, FlinkGuard& guard) {
  std::set<std::pair<std::string, std::string>> seen;  // job, operator
  std::unordered_set<std::int64_t> visited;            // parents of a broken table may form a ring
  std::vector<SnapshotId> chain;
  std::size_t guarded = 0;
  for (const Snapshot* s = index.Find(head); s != nullptr; s = index.ParentOf(*s)) {
    if (!visited.insert(Raw(s->id)).second) break;
    chain.push_back(s->id);
    const std::string* job = FindKey(s->summary, kFlinkJobId);
    const std::string* checkpoint = FindKey(s->summary, kFlinkCheckpointId);
    if (job == nullptr || checkpoint == nullptr) continue;
    const std::string* op = FindKey(s->summary, kFlinkOperatorId);
    FlinkMarker marker{.branch = branch,
                       .job_id = *job,
                       .operator_id = op == nullptr ? std::string() : *op,
                       .checkpoint_id = *checkpoint,
                       .snapshot_id = s->id,
                       .timestamp = s->timestamp};
    if (!seen.emplace(marker.job_id, marker.operator_id).second) continue;
    if (guard_age_ms && AgeMs(s->timestamp, now) < *guard_age_ms) {
      guarded = chain.size();
      guard.young.push_back(std::move(marker));
    } else {
      guard.old.push_back(std::move(marker));
    }
  }
  guard.kept.insert(chain.begin(), chain.begin() + static_cast<std::ptrdiff_t>(guarded));
}

}  // namespace

FlinkGuard FindFlinkMarkers(const TableMetadata& metadata, const std::vector<std::string>& branches,
                            std::optional<std::int64_t> guard_age_ms, TimePoint now) {
  const SnapshotIndex index(metadata);
  FlinkGuard guard;
  for (const std::string& branch : branches) {
    const auto ref = metadata.refs.find(branch);
    if (ref == metadata.refs.end() || ref->second.kind != SnapshotRef::Kind::kBranch) continue;
    WalkBranch(index, branch, ref->second.snapshot_id, guard_age_ms, now, guard);
  }
  return guard;
}

}  // namespace icewright
