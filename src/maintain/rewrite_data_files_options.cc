#include "maintain/rewrite_data_files_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/text.h"
#include "data/rewrite_engine.h"
#include "maintain/rewrite_plan.h"

namespace icewright {
namespace {

using Options = RewriteDataFilesOptions;

constexpr OptionField<Options> kFields[] = {
    {"target-file-size-bytes", &Options::target_file_size_bytes,
     "size of a good file; default: the table's write.target-file-size-bytes (512MiB)",
     FieldUnit::kBytes},
    {"min-file-size-bytes", &Options::min_file_size_bytes,
     "smaller files are rewritten; default: 0.75 x target", FieldUnit::kBytes},
    {"max-file-size-bytes", &Options::max_file_size_bytes,
     "bigger files are rewritten; default: 1.8 x target", FieldUnit::kBytes},
    {"min-input-files", &Options::min_input_files,
     "a group of this many files is rewritten; default: 5"},
    {"rewrite-all", &Options::rewrite_all, "rewrite every file"},
    {"max-file-group-size-bytes", &Options::max_file_group_size_bytes,
     "most bytes of a group; default: 100GiB", FieldUnit::kBytes},
    {"max-file-group-input-files", &Options::max_file_group_input_files,
     "most files of a group; default: no limit"},
    {"delete-file-threshold", &Options::delete_file_threshold,
     "a file with this many deletes attached is rewritten; default: off"},
    {"delete-ratio-threshold", &Options::delete_ratio_threshold,
     "a file that has lost this part of its rows is rewritten; default: 0.3"},
    {"max-files-to-rewrite", &Options::max_files_to_rewrite,
     "most files of a run; default: no limit"},
    {"max-rewrite-bytes", &Options::max_rewrite_bytes,
     "most input bytes of a run; default: no limit", FieldUnit::kBytes},
    {"rewrite-job-order", &Options::rewrite_job_order,
     "none, bytes-asc, bytes-desc, files-asc or files-desc; default: none"},
    {"output-spec-id", &Options::output_spec_id,
     "partition spec of the new files; default: the table's"},
    {"max-concurrent-file-group-rewrites", &Options::max_concurrent_file_group_rewrites,
     "groups rewritten at the same time, within --threads; default: 5"},
    {"partial-progress.enabled", &Options::partial_progress_enabled, "commit in several steps"},
    {"partial-progress.max-commits", &Options::partial_progress_max_commits,
     "most commits of a run; default: 10"},
    {"partial-progress.max-failed-commits", &Options::partial_progress_max_failed_commits,
     "more failed commits fail the run; default: max-commits"},
    {"use-starting-sequence-number", &Options::use_starting_sequence_number,
     "new files keep the sequence number of the snapshot they were read from; default: true"},
    {"all-or-nothing", &Options::all_or_nothing,
     "fail as a whole instead of leaving out groups in conflict"},
    {"filter", &Options::filter, "only files that may hold matching rows"},
    {"case-sensitive", &Options::case_sensitive, "names in the filter; default: false"},
    {"branch", &Options::branch, "branch to compact; default: main"},
    {"strategy", &Options::strategy, "binpack or sort; default: binpack"},
    {"sort-order", &Options::sort_order,
     "sort: 'a asc, b desc nulls last'; default: the table's sort order"},
    {"compression-factor", &Options::compression_factor,
     "sort: expected output size / input size; default: 1.0"},
    {"remove-dangling-deletes", &Options::remove_dangling_deletes,
     "afterwards remove deletes that apply to no data file any more"},
    {"engine", &Options::engine, "auto, splice (move pages) or decode; default: decode"},
    {"verify", &Options::verify, "compare a hash of every value before the commit"},
    {"dry-run", &Options::dry_run, "show the plan, write nothing"},
};

template <typename T>
Error OutOfRange(std::string_view option, const T& value, std::string_view bound) {
  return {Code::kInvalidArgument,
          fmt::format("{} is set to {} but must be {}", option, value, bound)};
}

template <typename T>
Status CheckPositive(std::string_view option, const T& value) {
  if (value <= 0) return OutOfRange(option, value, "> 0");
  return {};
}

Status CheckCounts(const Options& options) {
  IW_TRY(CheckPositive("min-input-files", options.min_input_files));
  IW_TRY(CheckPositive("max-file-group-size-bytes", options.max_file_group_size_bytes));
  IW_TRY(CheckPositive("max-file-group-input-files", options.max_file_group_input_files));
  IW_TRY(CheckPositive("max-rewrite-bytes", options.max_rewrite_bytes));
  IW_TRY(CheckPositive("max-concurrent-file-group-rewrites",
                       options.max_concurrent_file_group_rewrites));
  IW_TRY(CheckPositive("compression-factor", options.compression_factor));
  if (options.max_files_to_rewrite) {
    IW_TRY(CheckPositive("max-files-to-rewrite", *options.max_files_to_rewrite));
  }
  if (options.delete_file_threshold < 0) {
    return OutOfRange("delete-file-threshold", options.delete_file_threshold, ">= 0");
  }
  if (!(options.delete_ratio_threshold > 0 && options.delete_ratio_threshold <= 1)) {
    return OutOfRange("delete-ratio-threshold", options.delete_ratio_threshold, "> 0 and <= 1");
  }
  if (options.partial_progress_enabled) {
    IW_TRY(CheckPositive("partial-progress.max-commits", options.partial_progress_max_commits));
    if (options.partial_progress_max_failed_commits.value_or(0) < 0) {
      return OutOfRange("partial-progress.max-failed-commits",
                        *options.partial_progress_max_failed_commits, ">= 0");
    }
    if (options.all_or_nothing) {
      return Error(Code::kInvalidArgument,
                   "all-or-nothing and partial-progress.enabled exclude each other");
    }
  }
  return {};
}

Status CheckStrategy(const Options& options, const TableMetadata& metadata) {
  if (options.strategy != "binpack" && options.strategy != "sort") {
    constexpr std::array<std::string_view, 2> kKnown = {"binpack", "sort"};
    return Error(Code::kInvalidArgument,
                 fmt::format("strategy '{}' is neither binpack nor sort{}", options.strategy,
                             DidYouMean(options.strategy, kKnown)));
  }
  if (options.strategy == "binpack" && options.sort_order) {
    return Error(Code::kInvalidArgument, "sort-order needs strategy sort");
  }
  if (options.strategy == "sort" && !options.sort_order &&
      metadata.default_sort_order().fields.empty()) {
    return Error(Code::kInvalidArgument,
                 "strategy sort needs sort-order: the table has no sort order of its own");
  }
  IW_TRY(ParseJobOrder(options.rewrite_job_order));
  IW_TRY(ParseEngineChoice(options.engine));
  if (options.output_spec_id && metadata.FindSpec(SpecId{*options.output_spec_id}) == nullptr) {
    return Error(Code::kInvalidArgument,
                 fmt::format("output-spec-id {} is no partition spec of the table",
                             *options.output_spec_id));
  }
  return {};
}

Result<RewriteSizes> SizesOf(const Options& options, const TableMetadata& metadata) {
  RewriteSizes sizes;
  IW_ASSIGN(const std::int64_t table_target,
            IntProperty(metadata.properties, "write.target-file-size-bytes",
                        kDefaultTargetFileSizeBytes));
  sizes.target = options.target_file_size_bytes.value_or(table_target);
  IW_TRY(CheckPositive("target-file-size-bytes", sizes.target));
  const auto target = static_cast<double>(sizes.target);
  sizes.min = options.min_file_size_bytes.value_or(static_cast<std::int64_t>(target * 0.75));
  sizes.max = options.max_file_size_bytes.value_or(static_cast<std::int64_t>(target * 1.80));
  if (sizes.min < 0) return OutOfRange("min-file-size-bytes", sizes.min, ">= 0");
  if (sizes.min >= sizes.target) {
    return Error(Code::kInvalidArgument,
                 fmt::format("target-file-size-bytes ({}) must be > min-file-size-bytes ({}): all "
                             "new files would be smaller than the minimum",
                             sizes.target, sizes.min));
  }
  if (sizes.max <= sizes.target) {
    return Error(Code::kInvalidArgument,
                 fmt::format("target-file-size-bytes ({}) must be < max-file-size-bytes ({}): all "
                             "new files would be bigger than the maximum",
                             sizes.target, sizes.max));
  }
  sizes.write_max =
      static_cast<std::int64_t>(target + 0.5 * static_cast<double>(sizes.max - sizes.target));
  return sizes;
}

}  // namespace

std::span<const OptionField<RewriteDataFilesOptions>> RewriteDataFilesFields() { return kFields; }

Result<RewriteSizes> ValidateRewriteOptions(const RewriteDataFilesOptions& options,
                                            const TableMetadata& metadata) {
  IW_TRY(CheckCounts(options));
  IW_TRY(CheckStrategy(options, metadata));
  return SizesOf(options, metadata);
}

}  // namespace icewright
