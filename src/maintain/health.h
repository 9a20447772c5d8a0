#pragma once

/// \file maintain/health.h
/// What is wrong with a table, how much, and the command that repairs it. Reads only.

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/run_context.h"
#include "catalog/table.h"

namespace icewright {

/// Defaults are those of the AWS guide for streaming tables where it names one.
struct HealthThresholds {
  std::int64_t average_file_bytes = std::int64_t{32} << 20;  ///< Fewer is a finding.
  std::int64_t files_per_partition = 100;                    ///< More is a finding.
  std::int64_t equality_delete_files_per_partition = 10;     ///< More is a finding.
  double snapshots_per_hour = 60;                            ///< More is a finding: one a minute.
  double active_storage_ratio = 0.85;                        ///< Less is a finding.
  std::int64_t manifests = 100;                              ///< More is a finding.
  std::int64_t metadata_bytes = std::int64_t{8} << 20;       ///< More is a finding.
};

struct HealthFinding {
  std::string check;     ///< "average-file-size-bytes"
  double value = 0;      ///< What the table has.
  double threshold = 0;  ///< Where a finding starts.
  bool is_finding = false;
  std::string detail;  ///< The partition concerned, or what was counted.
  std::string repair;  ///< The command; empty if nothing is wrong.
};

/// One entry per check, findings or not, in a fixed order: so that a report says what was looked
/// at. Cost: reads every manifest that any snapshot reaches, once. Errors: kCorrupt, those of io.
Result<std::vector<HealthFinding>> CheckHealth(RunContext& run, const Table& table,
                                               const HealthThresholds& thresholds = {});

}  // namespace icewright
