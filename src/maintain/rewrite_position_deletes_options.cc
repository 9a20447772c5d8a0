#include "maintain/rewrite_position_deletes_options.h"

#include <fmt/format.h>

#include <string_view>

namespace icewright {
namespace {

using Options = RewritePositionDeletesOptions;

constexpr OptionField<Options> kFields[] = {
    {"target-file-size-bytes", &Options::target_file_size_bytes,
     "size of a good delete file; default: the table's write.delete.target-file-size-bytes (64MiB)",
     FieldUnit::kBytes},
    {"min-file-size-bytes", &Options::min_file_size_bytes,
     "smaller files are rewritten; default: 0.75 x target", FieldUnit::kBytes},
    {"max-file-size-bytes", &Options::max_file_size_bytes,
     "bigger files are rewritten; default: 1.8 x target", FieldUnit::kBytes},
    {"min-input-files", &Options::min_input_files,
     "a group of this many files is rewritten; default: 5"},
    {"rewrite-all", &Options::rewrite_all, "rewrite every position delete file"},
    {"max-file-group-size-bytes", &Options::max_file_group_size_bytes,
     "most bytes of a group; default: 100GiB", FieldUnit::kBytes},
    {"max-concurrent-file-group-rewrites", &Options::max_concurrent_file_group_rewrites,
     "groups rewritten at the same time, within --threads; default: 5"},
    {"filter", &Options::filter, "only partitions that may hold matching rows"},
    {"case-sensitive", &Options::case_sensitive, "names in the filter; default: false"},
    {"branch", &Options::branch, "branch to work on; default: main"},
    {"dry-run", &Options::dry_run, "show the plan, write nothing"},
};

template <typename T>
Error OutOfRange(std::string_view option, const T& value, std::string_view bound) {
  return {Code::kInvalidArgument,
          fmt::format("{} is set to {} but must be {}", option, value, bound)};
}

}  // namespace

std::span<const OptionField<RewritePositionDeletesOptions>> RewritePositionDeletesFields() {
  return kFields;
}

Result<PositionDeleteSettings> ResolvePositionDeleteOptions(
    const RewritePositionDeletesOptions& options, const TableMetadata& metadata) {
  PositionDeleteSettings settings{.min_input_files = options.min_input_files,
                                  .rewrite_all = options.rewrite_all,
                                  .max_group_bytes = options.max_file_group_size_bytes,
                                  .as_vectors = metadata.format_version >= 3};
  if (options.min_input_files <= 0) {
    return OutOfRange("min-input-files", options.min_input_files, "> 0");
  }
  if (options.max_file_group_size_bytes <= 0) {
    return OutOfRange("max-file-group-size-bytes", options.max_file_group_size_bytes, "> 0");
  }
  if (options.max_concurrent_file_group_rewrites <= 0) {
    return OutOfRange("max-concurrent-file-group-rewrites",
                      options.max_concurrent_file_group_rewrites, "> 0");
  }
  IW_ASSIGN(const std::int64_t table_target,
            IntProperty(metadata.properties, "write.delete.target-file-size-bytes",
                        std::int64_t{64} << 20));
  settings.target = options.target_file_size_bytes.value_or(table_target);
  if (settings.target <= 0) return OutOfRange("target-file-size-bytes", settings.target, "> 0");
  const auto target = static_cast<double>(settings.target);
  settings.min = options.min_file_size_bytes.value_or(static_cast<std::int64_t>(target * 0.75));
  settings.max = options.max_file_size_bytes.value_or(static_cast<std::int64_t>(target * 1.8));
  if (settings.min < 0 || settings.min >= settings.target) {
    return OutOfRange("min-file-size-bytes", settings.min,
                      fmt::format(">= 0 and < target-file-size-bytes ({})", settings.target));
  }
  if (settings.max <= settings.target) {
    return OutOfRange("max-file-size-bytes", settings.max,
                      fmt::format("> target-file-size-bytes ({})", settings.target));
  }
  const std::string granularity =
      StringProperty(metadata.properties, "write.delete.granularity", "partition");
  if (granularity != "partition" && granularity != "file") {
    return Error(
        Code::kInvalidArgument,
        fmt::format("write.delete.granularity '{}' is neither partition nor file", granularity));
  }
  settings.file_per_data_file = granularity == "file";
  return settings;
}

}  // namespace icewright
