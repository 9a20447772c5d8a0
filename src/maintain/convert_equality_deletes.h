#pragma once

/// \file maintain/convert_equality_deletes.h
/// Conversion: the equality deletes of upsert writers become deletion vectors.
///
/// Contract: docs/tasks/convert-equality-deletes.md.   Java twin: Flink's ConvertEqualityDeletes.

#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/run_context.h"
#include "catalog/table.h"
#include "maintain/convert_equality_deletes_options.h"
#include "maintain/task.h"

namespace icewright {

class ConvertEqualityDeletes final : public MaintenanceTask {
 public:
  explicit ConvertEqualityDeletes(ConvertEqualityDeletesOptions options = {})
      : options_(std::move(options)) {}

  std::string_view name() const override { return "convert-equality-deletes"; }

  /// In place: one commit that replaces the live equality deletes by deletion vectors. With a
  /// staging branch: one commit for each snapshot that waits there, oldest first, with its data
  /// files and deletion vectors. A commit that others got in the way of is planned anew. A stop
  /// keeps the commits that were made.
  /// Errors: kInvalidArgument, kUnsupported (see ResolveConvertOptions, ReadStagedChanges),
  /// kConflict (the state of the branches forbids promotion; the message says what to do),
  /// kCommitUnknown (nothing is deleted), kCorrupt, kCancelled, kLockLost, kExhausted, kIo.
  /// Cost: reads the delete manifests of the target, and the key columns of the data files that the
  /// equality deletes may reach by partition and bounds.
  Status Execute(RunContext& run, Table& table, TaskReport& report) const override;

 private:
  ConvertEqualityDeletesOptions options_;
};

}  // namespace icewright
