#pragma once

/// \file maintain/rewrite_manifests.h
/// Many small or unsorted manifests become few, clustered by partition; no data file is touched.
///
/// Contract: docs/tasks/rewrite-manifests.md.   Java twins: BaseRewriteManifests,
/// RewriteManifestsSparkAction.

#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/run_context.h"
#include "catalog/table.h"
#include "maintain/rewrite_manifests_options.h"
#include "maintain/task.h"

namespace icewright {

class RewriteManifests final : public MaintenanceTask {
 public:
  explicit RewriteManifests(RewriteManifestsOptions options = {}) : options_(std::move(options)) {}

  std::string_view name() const override { return "rewrite-manifests"; }

  /// Plans on the branch's head, writes, commits once. If another commit takes away or changes what
  /// was planned, everything is planned again, a few times. A stop or an error before the commit
  /// leaves the table as it was, without the new manifests.
  /// Errors: kInvalidArgument, kNotFound (branch), kUnsupported (encryption, a read-only table),
  /// kConflict, kCommitUnknown (every manifest stays), kCorrupt, kCancelled, kLockLost, kExhausted,
  /// kIo.
  /// Cost: reads the manifest list and each manifest that is rewritten.
  Status Execute(RunContext& run, Table& table, TaskReport& report) const override;

 private:
  RewriteManifestsOptions options_;
};

}  // namespace icewright
