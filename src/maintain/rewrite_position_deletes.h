#pragma once

/// \file maintain/rewrite_position_deletes.h
/// Many position delete files become few, or deletion vectors once the table is of format version
/// 3.
///
/// Contract: docs/tasks/rewrite-position-deletes.md.   Java twin: RewritePositionDeleteFiles.

#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/run_context.h"
#include "catalog/table.h"
#include "maintain/rewrite_position_deletes_options.h"
#include "maintain/task.h"

namespace icewright {

class RewritePositionDeletes final : public MaintenanceTask {
 public:
  explicit RewritePositionDeletes(RewritePositionDeletesOptions options = {})
      : options_(std::move(options)) {}

  std::string_view name() const override { return "rewrite-position-deletes"; }

  /// One commit for all groups; planned again a few times if others changed the same deletes or
  /// removed data files that they name. A stop or an error before the commit leaves the table as it
  /// was, without the new files.
  /// Errors: kInvalidArgument, kNotFound (branch), kUnsupported, kConflict, kCommitUnknown (every
  /// file stays), kCorrupt, kCancelled, kLockLost, kExhausted, kIo.
  /// Cost: a scan plan, the delete manifests once more, the delete files that are rewritten.
  Status Execute(RunContext& run, Table& table, TaskReport& report) const override;

 private:
  RewritePositionDeletesOptions options_;
};

}  // namespace icewright
