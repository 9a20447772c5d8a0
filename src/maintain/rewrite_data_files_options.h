#pragma once

/// \file maintain/rewrite_data_files_options.h
/// Options of compaction, and the rows that spell them for the command line and the docs.
///
/// Java twins: RewriteDataFiles, SizeBasedFileRewritePlanner, BinPackRewriteFilePlanner.

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "config/fields.h"
#include "table/metadata.h"

namespace icewright {

/// Of a table without write.target-file-size-bytes.
inline constexpr std::int64_t kDefaultTargetFileSizeBytes = std::int64_t{512} << 20;

/// Every member has a default, so {.min_input_files = 2} is a whole configuration. Sizes are bytes.
struct RewriteDataFilesOptions {
  /// Size of a good file. Range: > 0. Unset: write.target-file-size-bytes (512 MiB).
  std::optional<std::int64_t> target_file_size_bytes = {};
  /// Smaller files are rewritten. Range: >= 0, < target. Unset: 0.75 x target.
  std::optional<std::int64_t> min_file_size_bytes = {};
  /// Bigger files are rewritten. Range: > target. Unset: 1.8 x target.
  std::optional<std::int64_t> max_file_size_bytes = {};
  /// A group of this many files is worth a rewrite. Range: > 0.
  int min_input_files = 5;
  /// Rewrite every file, whatever its size and deletes.
  bool rewrite_all = false;
  /// A group holds at most this much. Range: > 0.
  std::int64_t max_file_group_size_bytes = std::int64_t{100} << 30;
  /// A group holds at most this many files. Range: > 0.
  std::int64_t max_file_group_input_files = std::numeric_limits<std::int64_t>::max();
  /// A file with this many deletes attached is rewritten. Range: >= 0. Default: off.
  int delete_file_threshold = std::numeric_limits<int>::max();
  /// A file that has lost this part of its rows is rewritten. Range: (0, 1].
  double delete_ratio_threshold = 0.3;
  /// At most this many files per run. Range: > 0. Unset: no limit.
  std::optional<int> max_files_to_rewrite = {};
  /// Groups that would take the run over this many input bytes wait for the next run. Range: > 0.
  std::int64_t max_rewrite_bytes = std::numeric_limits<std::int64_t>::max();
  /// none, bytes-asc, bytes-desc, files-asc, files-desc.
  std::string rewrite_job_order = "none";
  /// Partition spec of the new files. Unset: the table's default.
  std::optional<int> output_spec_id = {};
  /// Groups rewritten at the same time; never more than threads. Range: > 0.
  int max_concurrent_file_group_rewrites = 5;
  /// Commit in several steps, so that a conflict or a kill loses only a part.
  bool partial_progress_enabled = false;
  /// Range: > 0.
  int partial_progress_max_commits = 10;
  /// More failed commits than this fail the run. Range: >= 0. Unset: partial_progress_max_commits.
  std::optional<int> partial_progress_max_failed_commits = {};
  /// New files keep the sequence number of the snapshot they were read from, so that equality
  /// deletes committed meanwhile still apply to them.
  bool use_starting_sequence_number = true;
  /// One conflict or failure anywhere fails the run and removes all its files.
  bool all_or_nothing = false;
  /// Only files that may hold matching rows; text of ParseExpression.
  std::string filter = {};
  bool case_sensitive = false;
  std::string branch = "main";

  /// binpack or sort.
  std::string strategy = "binpack";
  /// Sort: text of SortOrder::Parse. Unset: the table's own sort order.
  std::optional<std::string> sort_order = {};
  /// Sort: expected output size / input size. Range: > 0.
  double compression_factor = 1.0;

  /// After the commit remove the deletes that apply to no data file of the branch any more.
  bool remove_dangling_deletes = false;

  /// splice: move pages and decode only what cannot be moved; decode: decode everything; auto: by
  /// estimated cost.
  std::string engine = "decode";
  /// Compare a hash of every value read with one of every value written.
  bool verify = false;
  /// Report the plan; write nothing.
  bool dry_run = false;
};

std::span<const OptionField<RewriteDataFilesOptions>> RewriteDataFilesFields();

/// What the planner works with: options checked against each other and the table.
struct RewriteSizes {
  std::int64_t target = 0;
  std::int64_t min = 0;
  std::int64_t max = 0;
  /// Files are never planned bigger: half-way between target and max.
  std::int64_t write_max = 0;
};

/// Errors: kInvalidArgument; the message names the option as the user spells it, the value and the
/// bound.
Result<RewriteSizes> ValidateRewriteOptions(const RewriteDataFilesOptions& options,
                                            const TableMetadata& metadata);

}  // namespace icewright
