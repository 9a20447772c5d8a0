#pragma once

/// \file maintain/rewrite_plan.h
/// Decides which data files are rewritten together. Pure: no file, no clock.
///
/// Java twins: SizeBasedFileRewritePlanner, BinPackRewriteFilePlanner, DataFileRewritePlanner.

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "maintain/rewrite_data_files_options.h"

namespace icewright {

/// What the planner knows of a data file. Files stand in scan order.
struct RewriteCandidate {
  std::int64_t size_bytes = 0;
  std::int64_t record_count = 0;
  /// Number of the file's partition, counted from 0 in first-seen order; files of an older spec all
  /// share one number.
  std::uint32_t partition = 0;
  int delete_files = 0;
  /// Rows deleted by DVs and by position deletes that name this file alone.
  std::int64_t file_scoped_deletes = 0;
};

struct RewriteGroup {
  int global_index = 0;     ///< From 1, in the order the groups run.
  int partition_index = 0;  ///< From 1, within the partition.
  std::uint32_t partition = 0;
  std::vector<std::size_t> files;  ///< Indices of candidates, in scan order.
  std::int64_t input_bytes = 0;
  std::int64_t input_split_size = 0;
  int expected_output_files = 0;
  int delete_files = 0;  ///< Sum over the files; a delete of two files counts twice.
};

struct RewritePlan {
  std::vector<RewriteGroup> groups;
  /// Groups that the planner of Java would rewrite for nothing; left out.
  int groups_without_gain = 0;
  /// Groups that wait for the next run because of max-rewrite-bytes or max-files-to-rewrite.
  int groups_over_cap = 0;
  /// Files that are fine as they are.
  std::int64_t files_skipped = 0;
};

enum class JobOrder : std::uint8_t { kNone, kBytesAsc, kBytesDesc, kFilesAsc, kFilesDesc };

/// "bytes-asc" or "BYTES_ASC". Errors: kInvalidArgument.
Result<JobOrder> ParseJobOrder(std::string_view name);

/// How many files of about the target size `input_bytes` make.
int ExpectedOutputFiles(std::int64_t input_bytes, const RewriteSizes& sizes);

/// How much input goes into one output file.
std::int64_t InputSplitSize(std::int64_t input_bytes, int expected_output_files,
                            const RewriteSizes& sizes);

/// True if the file itself asks for a rewrite: by its size or its deletes.
bool IsRewriteCandidate(const RewriteCandidate& file, const RewriteDataFilesOptions& options,
                        const RewriteSizes& sizes);

/// Precondition: options and sizes passed ValidateRewriteOptions. `respec`: outputs get another
/// partition spec than some inputs have. Cost: linear in the files.
RewritePlan PlanRewrite(const std::vector<RewriteCandidate>& files,
                        const RewriteDataFilesOptions& options, const RewriteSizes& sizes,
                        bool respec);

}  // namespace icewright
