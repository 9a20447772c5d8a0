#pragma once

/// \file maintain/maintain_table.h
/// The whole chain of maintenance on one table, in the safe order.
///
/// Contract: docs/tasks/maintain.md.

#include <string_view>
#include <utility>
#include <vector>

#include "maintain/maintain_table_options.h"
#include "maintain/task.h"

namespace icewright {

class MaintainTable final : public MaintenanceTask {
 public:
  explicit MaintainTable(MaintainTableOptions options = {}) : options_(std::move(options)) {}

  std::string_view name() const override { return "maintain"; }

  /// The retention that the run will use.
  Result<std::vector<std::string>> Announce(const TableMetadata& metadata) const override;

  /// Runs the steps one after the other; report.steps tells of each. A step that fails ends the
  /// chain, unless its failure says nothing about table and storage (see MayContinueAfter).
  /// Errors: those of options; kUnsupported for a read-only or encrypted table; kCommitUnknown,
  /// kCancelled and kLockLost of a step; the first error of a step if no step did anything. Else a
  /// failed step makes the outcome kPartial.
  Status Execute(RunContext& run, Table& table, TaskReport& report) const override;

 private:
  MaintainTableOptions options_;
};

/// True if later steps may run after a step failed with this code: it was in the way of others,
/// over its budget, or does not apply. False if the table may be damaged, the storage fails, the
/// run is to end, or it is not known what the table is: then nothing more is deleted.
bool MayContinueAfter(Code code);

}  // namespace icewright
