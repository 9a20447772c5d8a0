#include "maintain/expire_snapshots_plan.h"

#include <fmt/format.h>

#include <unordered_set>
#include <utility>

#include "config/units.h"
#include "maintain/conversion_guard.h"
#include "maintain/flink_guard.h"

namespace icewright {
namespace {

using Ids = std::unordered_set<std::int64_t>;

/// The rules of one plan, in their order. Single-threaded.
class Retention {
 public:
  Retention(const TableMetadata& metadata, const ExpireSettings& settings, TimePoint now)
      : metadata_(metadata), settings_(settings), now_(now), index_(metadata) {}

  /// Rule 1 and 2: refs go by their own age only; a kept one keeps what it names.
  void KeepRefs() {
    for (const auto& [name, ref] : metadata_.refs) {
      const Snapshot* snapshot = index_.Find(ref.snapshot_id);
      if (name != kMainBranch &&
          (snapshot == nullptr ||
           AgeOf(*snapshot) > ref.max_ref_age_ms.value_or(settings_.max_ref_age_ms))) {
        expired_refs_.push_back(name);
        continue;
      }
      kept_refs_.push_back(name);
      kept_.insert(Raw(ref.snapshot_id));
      referenced_.insert(Raw(ref.snapshot_id));
    }
  }

  /// Rule 3: from the head of a branch down to the first ancestor that is neither among the newest
  /// nor young. What is older goes, even if its clock says otherwise: a branch has no holes.
  void KeepBranches() {
    for (const std::string& name : kept_refs_) {
      const SnapshotRef& ref = metadata_.refs.find(name)->second;
      if (ref.kind == SnapshotRef::Kind::kBranch) WalkBranch(ref);
    }
  }

  /// Rule 4: what no branch or tag reaches may be a commit in the making; its age decides.
  void KeepUnreferenced() {
    for (const Snapshot& snapshot : metadata_.snapshots) {
      if (!referenced_.contains(Raw(snapshot.id)) &&
          AgeOf(snapshot) <= settings_.max_snapshot_age_ms) {
        kept_.insert(Raw(snapshot.id));
      }
    }
  }

  void Keep(const std::set<SnapshotId>& ids) {
    for (const SnapshotId id : ids) kept_.insert(Raw(id));
  }

  /// Rule 5.
  Status ExpireExplicit(const FlinkGuard& guard, const ConversionGuard& conversions) {
    for (const SnapshotId id : settings_.explicit_ids) {
      if (const std::string names = KeptRefsAt(id); !names.empty()) {
        return Error(
            Code::kInvalidArgument,
            fmt::format("cannot expire snapshot {}: it is still referenced by {}", Raw(id), names));
      }
      if (guard.kept.contains(id)) {
        return Error(Code::kInvalidArgument,
                     fmt::format("cannot expire snapshot {}: a Flink job needs it to find its last "
                                 "checkpoint; no-flink-guard overrides this",
                                 Raw(id)));
      }
      if (conversions.kept.contains(id)) {
        return Error(
            Code::kInvalidArgument,
            fmt::format("cannot expire snapshot {}: a conversion of equality deletes needs "
                        "it, or it waits for one; no-flink-guard overrides this",
                        Raw(id)));
      }
      kept_.erase(Raw(id));
    }
    return {};
  }

  bool IsKept(SnapshotId id) const { return kept_.contains(Raw(id)); }
  const std::vector<std::string>& kept_refs() const { return kept_refs_; }
  const std::vector<std::string>& expired_refs() const { return expired_refs_; }

 private:
  std::int64_t AgeOf(const Snapshot& snapshot) const { return AgeMs(snapshot.timestamp, now_); }

  void WalkBranch(const SnapshotRef& ref) {
    const std::int64_t at_least =
        ref.min_snapshots_to_keep ? *ref.min_snapshots_to_keep : settings_.min_snapshots_to_keep;
    const std::int64_t max_age = ref.max_snapshot_age_ms.value_or(settings_.max_snapshot_age_ms);
    Ids visited;  // parents of a broken table may form a ring
    std::int64_t retained = 0;
    bool keeping = true;
    for (const Snapshot* s = index_.Find(ref.snapshot_id);
         s != nullptr && visited.insert(Raw(s->id)).second; s = index_.ParentOf(*s)) {
      keeping = keeping && (retained < at_least || AgeOf(*s) <= max_age);
      if (keeping) {
        kept_.insert(Raw(s->id));
        ++retained;
      }
      referenced_.insert(Raw(s->id));
    }
  }

  std::string KeptRefsAt(SnapshotId id) const {
    std::string names;
    for (const std::string& name : kept_refs_) {
      const SnapshotRef& ref = metadata_.refs.find(name)->second;
      if (ref.snapshot_id != id) continue;
      const bool is_tag = ref.kind == SnapshotRef::Kind::kTag;
      names += fmt::format("{}{} {}", names.empty() ? "" : ", ", is_tag ? "tag" : "branch", name);
    }
    return names;
  }

  const TableMetadata& metadata_;
  const ExpireSettings& settings_;
  const TimePoint now_;
  const SnapshotIndex index_;
  std::vector<std::string> kept_refs_;
  std::vector<std::string> expired_refs_;
  Ids kept_;
  Ids referenced_;  // by a branch or tag that stays; ancestors of branches included
};

void NoteMarkers(const FlinkGuard& guard, const ExpireSnapshotsPlan& plan, TimePoint now,
                 std::vector<std::string>& notes) {
  const std::set<SnapshotId> expired(plan.expired.begin(), plan.expired.end());
  for (const FlinkMarker& marker : guard.old) {
    if (!expired.contains(marker.snapshot_id)) continue;
    notes.push_back(fmt::format(
        "snapshot {} expires although it is the newest of Flink job {} on branch {} (checkpoint "
        "{}, {} old): a restart of that job from this state would commit again what it committed",
        Raw(marker.snapshot_id), marker.job_id, marker.branch, marker.checkpoint_id,
        FormatDuration(Milliseconds(AgeMs(marker.timestamp, now)))));
  }
}

// A snapshot that does not say its schema may have any: then every schema stays.
std::vector<SchemaId> UnusedSchemas(const TableMetadata& metadata, const Retention& retention) {
  std::set<SchemaId> used = {metadata.current_schema_id};
  for (const Snapshot& snapshot : metadata.snapshots) {
    if (!retention.IsKept(snapshot.id)) continue;
    if (!snapshot.schema_id) return {};
    used.insert(*snapshot.schema_id);
  }
  std::vector<SchemaId> unused;
  for (const Schema& schema : metadata.schemas) {
    if (schema.id() && !used.contains(*schema.id())) unused.push_back(*schema.id());
  }
  return unused;
}

}  // namespace

Result<ExpireSnapshotsPlan> PlanExpireSnapshots(const TableMetadata& metadata,
                                                const ExpireSnapshotsOptions& options,
                                                const ExpireSettings& settings, TimePoint now) {
  Retention retention(metadata, settings, now);
  retention.KeepRefs();
  retention.KeepBranches();
  retention.KeepUnreferenced();
  std::optional<std::int64_t> guard_age;
  if (!options.no_flink_guard) guard_age = options.flink_guard_age;
  const FlinkGuard guard = FindFlinkMarkers(metadata, retention.kept_refs(), guard_age, now);
  retention.Keep(guard.kept);
  ConversionGuard conversions;
  if (guard_age) {
    conversions = FindConversionGuard(metadata, retention.kept_refs(), *guard_age, now);
    retention.Keep(conversions.kept);
  }
  IW_TRY(retention.ExpireExplicit(guard, conversions));

  ExpireSnapshotsPlan plan{.expired_refs = retention.expired_refs()};
  for (const Snapshot& snapshot : metadata.snapshots) {
    (retention.IsKept(snapshot.id) ? plan.kept : plan.expired).push_back(snapshot.id);
  }
  if (options.clean_expired_metadata) plan.expired_schemas = UnusedSchemas(metadata, retention);
  NoteMarkers(guard, plan, now, plan.notes);
  plan.notes.insert(plan.notes.end(), conversions.notes.begin(), conversions.notes.end());
  return plan;
}

std::vector<SpecId> PlanExpiredSpecs(const TableMetadata& metadata, const std::set<SpecId>& used) {
  std::vector<SpecId> unused;
  for (const PartitionSpec& spec : metadata.partition_specs) {
    if (spec.id != metadata.default_spec_id && !used.contains(spec.id)) unused.push_back(spec.id);
  }
  return unused;
}

std::vector<TableUpdate> UpdatesOf(const ExpireSnapshotsPlan& plan) {
  std::vector<TableUpdate> updates;
  for (const std::string& name : plan.expired_refs) updates.push_back(RemoveSnapshotRef{name});
  if (!plan.expired.empty()) updates.push_back(RemoveSnapshots{plan.expired});
  if (!plan.expired_specs.empty()) updates.push_back(RemovePartitionSpecs{plan.expired_specs});
  if (!plan.expired_schemas.empty()) updates.push_back(RemoveSchemas{plan.expired_schemas});
  return updates;
}

std::vector<TableRequirement> RequirementsOf(const TableMetadata& metadata,
                                             const ExpireSnapshotsPlan& plan) {
  std::vector<TableRequirement> requirements;
  for (const auto& [name, ref] : metadata.refs) {
    requirements.push_back(AssertRefSnapshotId{.ref = name, .snapshot_id = ref.snapshot_id});
  }
  if (!metadata.refs.contains(kMainBranch)) {
    requirements.push_back(
        AssertRefSnapshotId{.ref = std::string(kMainBranch), .snapshot_id = std::nullopt});
  }
  if (!plan.expired_specs.empty()) {
    requirements.push_back(AssertDefaultSpecId{metadata.default_spec_id});
  }
  if (!plan.expired_schemas.empty()) {
    requirements.push_back(AssertCurrentSchemaId{metadata.current_schema_id});
  }
  return requirements;
}

}  // namespace icewright
