#pragma once

/// \file maintain/compute_partition_stats.h
/// Files and rows of each partition, as a partition statistics file of a snapshot.
///
/// Contract: docs/tasks/compute-partition-stats.md.   Java twin: PartitionStatsHandler.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "config/fields.h"
#include "maintain/task.h"

namespace icewright {

/// Every member has a default, so {} is a whole configuration.
struct ComputePartitionStatsOptions {
  /// Unset: the head of `branch`.
  std::optional<std::int64_t> snapshot_id = {};
  /// Unset: main.
  std::optional<std::string> branch = {};
  /// Read every manifest, whatever statistics there are.
  bool full = false;
  /// Report what would be written; write nothing.
  bool dry_run = false;
};

std::span<const OptionField<ComputePartitionStatsOptions>> ComputePartitionStatsFields();

class ComputePartitionStats final : public MaintenanceTask {
 public:
  explicit ComputePartitionStats(ComputePartitionStatsOptions options = {})
      : options_(std::move(options)) {}

  std::string_view name() const override { return "compute-partition-stats"; }

  /// Counts files by partition: from the newest ancestor's statistics and the manifests written
  /// since, or from all manifests. Writes one file, registers it.
  /// Errors: kNotFound (snapshot, branch), kUnsupported, kCorrupt, kExhausted, those of io and of
  /// CommitStatistics.
  /// Cost: reads the manifest list, and the manifests concerned once, without column statistics.
  Status Execute(RunContext& run, Table& table, TaskReport& report) const override;

 private:
  ComputePartitionStatsOptions options_;
};

}  // namespace icewright
