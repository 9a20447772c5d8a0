#include "maintain/delete_orphan_files_options.h"

#include <fmt/format.h>

#include <string_view>

#include "config/units.h"

namespace icewright {
namespace {

using Options = DeleteOrphanFilesOptions;

constexpr std::int64_t kDayMs = std::int64_t{24} * 3600 * 1000;
constexpr std::int64_t kMaxAgeDays = 36500;

constexpr OptionField<Options> kFields[] = {
    {"location", &Options::location, "folder to search; default: the table's location"},
    {"min-age", &Options::min_age, "younger files are left alone, at least 24h; default: 3d",
     FieldUnit::kDuration},
    {"force-min-age", &Options::force_min_age,
     "allow a min-age below 24h: files of a commit that is under way may be deleted"},
    {"use-prefix-listing", &Options::use_prefix_listing,
     "list everything below the location at once, not folder by folder; default: true"},
    {"equal-schemes", &Options::equal_schemes,
     "schemes that count as one, like s3a,s3n=s3; default: s3a and s3n are s3"},
    {"equal-authorities", &Options::equal_authorities,
     "hosts or buckets that count as one, like old-host,alias=host"},
    {"prefix-mismatch-mode", &Options::prefix_mismatch_mode,
     "a file that the table names with another scheme or authority only: ERROR, IGNORE (it stays) "
     "or DELETE; default: ERROR"},
    {"compare-to-file-list", &Options::compare_to_file_list,
     "look at the files in this list (path, time of change) instead of listing the location"},
    {"quarantine", &Options::quarantine,
     "move orphans to this location instead of deleting them; see 'orphans restore'"},
    {"delete-batch-size", &Options::delete_batch_size, "files per delete request; default: 1000"},
    {"delete-parallelism", &Options::delete_parallelism,
     "delete requests at the same time; default: --threads"},
    {"planning-parallelism", &Options::planning_parallelism,
     "manifests read at the same time; default: --threads"},
    {"explain", &Options::explain, "say for each candidate why it is an orphan"},
    {"dry-run", &Options::dry_run, "show what would go, change nothing"},
};

Status CheckPositive(std::string_view option, int value) {
  if (value > 0) return {};
  return Error(Code::kInvalidArgument,
               fmt::format("{} is set to {} but must be > 0", option, value));
}

Status CheckMinAge(const Options& options) {
  if (options.min_age < 0 || options.min_age > kMaxAgeDays * kDayMs) {
    return Error(Code::kInvalidArgument,
                 fmt::format("min-age is set to {} ms but must be from 0 to {}d", options.min_age,
                             kMaxAgeDays));
  }
  if (options.min_age >= kDayMs || options.force_min_age) return {};
  return Error(Code::kInvalidArgument,
               fmt::format("min-age is set to {} but must be at least 24h: files of a commit that "
                           "is under way would be deleted; force-min-age allows it when nobody "
                           "writes to the table",
                           FormatDuration(Milliseconds(options.min_age))));
}

// A location without a trailing slash.
Result<Location> ParseLocation(std::string_view option, const std::string& text) {
  const auto uri = SplitUri(text);
  if (!uri) return uri.error().Within(option);
  if (uri->authority.empty() && uri->path.find_first_not_of('/') == std::string_view::npos) {
    return Error(Code::kInvalidArgument, fmt::format("{} '{}' is the root folder", option, text));
  }
  return WithoutTrailingSlash(Location(text));
}

// What is in quarantine must not look like an orphan to the next run.
Status CheckQuarantine(const Location& quarantine, const Location& searched) {
  const auto normal = [](const Location& location) {
    std::string path;
    if (const auto uri = SplitUri(location.text())) AppendNormalPath(uri->path, path);
    return path;
  };
  const std::string inner = normal(quarantine);
  const std::string outer = normal(searched);
  if (inner != outer && RelativeTo(outer, inner).empty()) return {};
  return Error(Code::kInvalidArgument,
               fmt::format("quarantine '{}' is inside {}, which is searched for orphans; name a "
                           "place outside of it",
                           quarantine.text(), searched.text()));
}

}  // namespace

std::span<const OptionField<DeleteOrphanFilesOptions>> DeleteOrphanFilesFields() { return kFields; }

Result<OrphanSettings> ResolveOrphanOptions(const DeleteOrphanFilesOptions& options,
                                            const TableMetadata& metadata) {
  IW_TRY(CheckMinAge(options));
  IW_TRY(CheckPositive("delete-batch-size", options.delete_batch_size));
  IW_TRY(CheckPositive("delete-parallelism", options.delete_parallelism.value_or(1)));
  IW_TRY(CheckPositive("planning-parallelism", options.planning_parallelism.value_or(1)));
  IW_ASSIGN(const PrefixMismatchMode mode, ParsePrefixMismatchMode(options.prefix_mismatch_mode));
  IW_ASSIGN(Equals schemes, ParseEquals("equal-schemes", options.equal_schemes));
  IW_ASSIGN(Equals authorities, ParseEquals("equal-authorities", options.equal_authorities));
  const bool given = !options.location.empty();
  IW_ASSIGN(Location location,
            ParseLocation("location", given ? options.location : metadata.location.text()));
  OrphanSettings settings{.location = std::move(location),
                          .min_age = Milliseconds(options.min_age),
                          .mode = mode,
                          .rules = PrefixRules(std::move(schemes), std::move(authorities))};
  if (!options.quarantine.empty()) {
    IW_ASSIGN(settings.quarantine, ParseLocation("quarantine", options.quarantine));
    IW_TRY(CheckQuarantine(*settings.quarantine, settings.location));
    IW_TRY(CheckQuarantine(*settings.quarantine, metadata.location));
  }
  return settings;
}

}  // namespace icewright
