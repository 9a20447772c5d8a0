#pragma once

/// \file maintain/expire_snapshots_options.h
/// Options of snapshot expiry, and the rows that spell them for the command line and the docs.
///
/// Java twins: ExpireSnapshots, RemoveSnapshots, Flink's ExpireSnapshots.Builder.

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "base/ids.h"
#include "base/result.h"
#include "config/fields.h"
#include "table/metadata.h"

namespace icewright {

/// Every member has a default, so {.retain_last = 10} is a whole configuration. Times are ms.
struct ExpireSnapshotsOptions {
  /// Snapshots older than this may expire. Range: >= 0. Unset: history.expire.max-snapshot-age-ms
  /// (5 days). Branches with a max-snapshot-age-ms of their own keep it.
  std::optional<std::int64_t> max_snapshot_age = {};
  /// Each branch keeps this many snapshots. Range: >= 1. Unset:
  /// history.expire.min-snapshots-to-keep (1). Branches with a min-snapshots-to-keep of their own
  /// keep it.
  std::optional<int> retain_last = {};
  /// "1,2,3": expire these whatever their age. Ids that the table does not have are ignored.
  std::string snapshot_ids = {};
  /// Drop partition specs and schemas that no kept snapshot uses.
  bool clean_expired_metadata = true;
  /// none: delete no file. metadata-only: manifests, manifest lists and statistics. all: data and
  /// delete files, too.
  std::string clean_up_level = "all";
  /// Files per delete request. Range: > 0.
  int delete_batch_size = 1000;
  /// Delete requests at the same time. Range: > 0. Unset: threads.
  std::optional<int> delete_parallelism = {};
  /// Manifests read at the same time. Range: > 0. Unset: threads.
  std::optional<int> planning_parallelism = {};
  /// The newest checkpoint marker of a Flink job is kept while it is younger. Range: >= 0.
  std::int64_t flink_guard_age = std::int64_t{7} * 24 * 3600 * 1000;
  /// Expire checkpoint markers like other snapshots.
  bool no_flink_guard = false;
  /// Report what would go; write nothing.
  bool dry_run = false;
};

std::span<const OptionField<ExpireSnapshotsOptions>> ExpireSnapshotsFields();

enum class CleanUpLevel : std::uint8_t { kNone, kMetadataOnly, kAll };

/// What the planner works with: options checked, with the table's defaults filled in.
struct ExpireSettings {
  std::int64_t max_snapshot_age_ms = 0;
  std::int64_t min_snapshots_to_keep = 1;
  std::int64_t max_ref_age_ms = 0;
  std::set<SnapshotId> explicit_ids = {};
  CleanUpLevel level = CleanUpLevel::kAll;
};

/// Errors: kInvalidArgument; the message names the option as the user spells it, the value and the
/// bound, or the table property that does not parse.
Result<ExpireSettings> ResolveExpireOptions(const ExpireSnapshotsOptions& options,
                                            const Properties& properties);

}  // namespace icewright
