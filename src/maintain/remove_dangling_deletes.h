#pragma once

/// \file maintain/remove_dangling_deletes.h
/// Delete files and deletion vectors that apply to no data file any more leave the table.
///
/// Contract: docs/tasks/remove-dangling-deletes.md.   Java twin: RemoveDanglingDeletesSparkAction.

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/run_context.h"
#include "catalog/table.h"
#include "config/fields.h"
#include "maintain/task.h"
#include "manifest/data_file.h"
#include "table/metadata.h"

namespace icewright {

struct RemoveDanglingDeletesOptions {
  std::string branch = "main";
  /// Report what would go; write nothing.
  bool dry_run = false;
};

std::span<const OptionField<RemoveDanglingDeletesOptions>> RemoveDanglingDeletesFields();

/// Live deletes of a snapshot that scan planning attaches to none of its data files. Errors: those
/// of PlanFiles. Cost: a scan plan, and the delete manifests once more.
Result<std::vector<DataFile>> FindDanglingDeletes(RunContext& run, FileIO& io,
                                                  const TableMetadata& metadata,
                                                  const Snapshot& snapshot);

class RemoveDanglingDeletes final : public MaintenanceTask {
 public:
  explicit RemoveDanglingDeletes(RemoveDanglingDeletesOptions options = {})
      : options_(std::move(options)) {}

  std::string_view name() const override { return "remove-dangling-deletes"; }

  /// One commit, planned again a few times if others changed the same deletes.
  /// Errors: kInvalidArgument, kNotFound (branch), kUnsupported, kConflict, kCommitUnknown,
  /// kCorrupt, kCancelled, kLockLost, kIo.
  Status Execute(RunContext& run, Table& table, TaskReport& report) const override;

 private:
  Status ExecuteOnce(RunContext& run, Table& table, TaskReport& report, bool& stale) const;

  RemoveDanglingDeletesOptions options_;
};

}  // namespace icewright
