#pragma once

/// \file maintain/rewrite_position_deletes_options.h
/// Options of position-delete rewriting, and the rows that spell them.
///
/// Java twins: RewritePositionDeleteFiles, SizeBasedFileRewritePlanner.

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "config/fields.h"
#include "table/metadata.h"

namespace icewright {

/// Every member has a default. Sizes are bytes.
struct RewritePositionDeletesOptions {
  /// Size of a good delete file. Range: > 0. Unset: write.delete.target-file-size-bytes (64 MiB).
  std::optional<std::int64_t> target_file_size_bytes = {};
  /// Smaller files are rewritten. Range: >= 0, < target. Unset: 0.75 x target.
  std::optional<std::int64_t> min_file_size_bytes = {};
  /// Bigger files are rewritten. Range: > target. Unset: 1.8 x target.
  std::optional<std::int64_t> max_file_size_bytes = {};
  /// A group of this many files is worth a rewrite. Range: > 0.
  int min_input_files = 5;
  /// Rewrite every position delete file.
  bool rewrite_all = false;
  /// A group holds at most this much; with deletion vectors a partition is one group. Range: > 0.
  std::int64_t max_file_group_size_bytes = std::int64_t{100} << 30;
  /// Groups rewritten at the same time; never more than threads. Range: > 0.
  int max_concurrent_file_group_rewrites = 5;
  /// Only partitions that may hold matching rows; text of ParseExpression.
  std::string filter = {};
  bool case_sensitive = false;
  std::string branch = "main";
  /// Report the plan; write nothing.
  bool dry_run = false;
};

std::span<const OptionField<RewritePositionDeletesOptions>> RewritePositionDeletesFields();

/// What the planner works with.
struct PositionDeleteSettings {
  std::int64_t target = 0;
  std::int64_t min = 0;
  std::int64_t max = 0;
  int min_input_files = 5;
  bool rewrite_all = false;
  std::int64_t max_group_bytes = 0;
  bool file_per_data_file = false;  ///< write.delete.granularity
  bool as_vectors = false;          ///< Format version 3.
};

/// Errors: kInvalidArgument; the message names the option as the user spells it, the value and the
/// bound, or the table property that does not parse.
Result<PositionDeleteSettings> ResolvePositionDeleteOptions(
    const RewritePositionDeletesOptions& options, const TableMetadata& metadata);

}  // namespace icewright
