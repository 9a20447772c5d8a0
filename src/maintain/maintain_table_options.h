#pragma once

/// \file maintain/maintain_table_options.h
/// Options of the whole chain of maintenance, and the rows that spell them.

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/fields.h"
#include "maintain/expire_snapshots_options.h"
#include "table/metadata.h"

namespace icewright {

/// Every member has a default, so {} is a whole configuration. Times are ms.
struct MaintainTableOptions {
  /// Compacted, converted and tidied. Expiry and orphan clean-up are of the whole table.
  std::string branch = std::string(kMainBranch);
  /// "rewrite-manifests,...": names of steps to leave out.
  std::string skip = {};
  /// Unset: see RetentionOf.
  std::optional<std::int64_t> max_snapshot_age = {};
  std::optional<int> retain_last = {};
  /// Snapshots go by their number alone, however young.
  bool count_only = false;
  /// Do not keep the checkpoint markers of Flink jobs.
  bool no_flink_guard = false;
  /// Report what each step would do; write nothing.
  bool dry_run = false;
};

std::span<const OptionField<MaintainTableOptions>> MaintainTableFields();

/// The names of the steps to leave out. Errors: kInvalidArgument, naming one that is no step.
Result<std::set<std::string>> SkippedSteps(const MaintainTableOptions& options,
                                           std::span<const std::string_view> steps);

/// Retention of the chain: the options; else the table's history.expire.* if it sets one of them;
/// else 100 snapshots of each branch and one day: a snapshot goes only if it is in neither. `text`
/// says it to a person. Errors: kInvalidArgument, naming the option or property.
struct Retention {
  ExpireSnapshotsOptions options;
  std::string text;
};
Result<Retention> RetentionOf(const MaintainTableOptions& options, const Properties& properties);

}  // namespace icewright
