#pragma once

/// \file maintain/expire_snapshots_plan.h
/// Which snapshots, branches, tags, specs and schemas go. Pure: no file, no clock.
///
/// Spec: "Snapshot Retention Policy".   Java twin: RemoveSnapshots.internalApply.

#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "base/result.h"
#include "maintain/expire_snapshots_options.h"
#include "table/metadata.h"
#include "table/table_update.h"

namespace icewright {

struct ExpireSnapshotsPlan {
  std::vector<SnapshotId> expired = {};        ///< In the order of the metadata.
  std::vector<SnapshotId> kept = {};           ///< The others, in the order of the metadata.
  std::vector<std::string> expired_refs = {};  ///< Sorted.
  std::vector<SchemaId> expired_schemas = {};
  std::vector<SpecId> expired_specs = {};  ///< Filled by PlanExpiredSpecs.
  std::vector<std::string> notes = {};     ///< What a person should know about the choice.

  bool empty() const {
    return expired.empty() && expired_refs.empty() && expired_schemas.empty() &&
           expired_specs.empty();
  }
};

/// Applies the retention rules. Schemas are chosen if options.clean_expired_metadata.
/// Errors: kInvalidArgument: an option or property is out of range, or snapshot-ids names the head
/// of a branch, the target of a tag that stays, or a snapshot that the Flink guard protects.
Result<ExpireSnapshotsPlan> PlanExpireSnapshots(const TableMetadata& metadata,
                                                const ExpireSnapshotsOptions& options,
                                                const ExpireSettings& settings, TimePoint now);

/// Specs that are neither the default nor in `used`: the specs of all manifests of kept snapshots.
std::vector<SpecId> PlanExpiredSpecs(const TableMetadata& metadata, const std::set<SpecId>& used);

/// The commit of a plan: what it changes, and everything it was decided on: each branch and tag,
/// main even if there is none, and what must not be the default meanwhile.
std::vector<TableUpdate> UpdatesOf(const ExpireSnapshotsPlan& plan);
std::vector<TableRequirement> RequirementsOf(const TableMetadata& metadata,
                                             const ExpireSnapshotsPlan& plan);

}  // namespace icewright
