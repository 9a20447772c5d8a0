#pragma once

/// \file maintain/compute_table_stats.h
/// Numbers of distinct values of columns, as a statistics file of a snapshot.
///
/// Contract: docs/tasks/compute-table-stats.md.   Java twin: ComputeTableStats (Spark).

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "config/fields.h"
#include "maintain/task.h"

namespace icewright {

/// Every member has a default, so {.columns = "id"} is a whole configuration.
struct ComputeTableStatsOptions {
  /// "a,b.c": full names of primitive columns. Empty: all top-level ones.
  std::string columns = {};
  /// Unset: the head of `branch`.
  std::optional<std::int64_t> snapshot_id = {};
  /// Unset: main.
  std::optional<std::string> branch = {};
  /// Report what would be read; write nothing.
  bool dry_run = false;
};

std::span<const OptionField<ComputeTableStatsOptions>> ComputeTableStatsFields();

class ComputeTableStats final : public MaintenanceTask {
 public:
  explicit ComputeTableStats(ComputeTableStatsOptions options = {})
      : options_(std::move(options)) {}

  std::string_view name() const override { return "compute-table-stats"; }

  /// Reads the columns of every live row, writes one Puffin file, registers it.
  /// Errors: kInvalidArgument (columns), kNotFound (snapshot, branch), kUnsupported, kExhausted,
  /// those of BatchReader and of CommitStatistics.
  Status Execute(RunContext& run, Table& table, TaskReport& report) const override;

 private:
  ComputeTableStatsOptions options_;
};

}  // namespace icewright
