#include "maintain/expire_snapshots_options.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <limits>
#include <string_view>

#include "base/text.h"

namespace icewright {
namespace {

using Options = ExpireSnapshotsOptions;

constexpr std::string_view kMaxSnapshotAge = "history.expire.max-snapshot-age-ms";
constexpr std::string_view kMinSnapshotsToKeep = "history.expire.min-snapshots-to-keep";
constexpr std::string_view kMaxRefAge = "history.expire.max-ref-age-ms";
constexpr std::int64_t kFiveDaysMs = std::int64_t{5} * 24 * 3600 * 1000;

constexpr OptionField<Options> kFields[] = {
    {"max-snapshot-age", &Options::max_snapshot_age,
     "expire what is older; default: the table's history.expire.max-snapshot-age-ms (5d)",
     FieldUnit::kDuration},
    {"retain-last", &Options::retain_last,
     "keep at least this many snapshots of each branch; default: the table's "
     "history.expire.min-snapshots-to-keep (1)"},
    {"snapshot-ids", &Options::snapshot_ids, "expire these, too, whatever their age: 1,2,3"},
    {"clean-expired-metadata", &Options::clean_expired_metadata,
     "drop partition specs and schemas that no kept snapshot uses; default: true"},
    {"clean-up-level", &Options::clean_up_level,
     "files to delete: none, metadata-only or all; default: all"},
    {"delete-batch-size", &Options::delete_batch_size, "files per delete request; default: 1000"},
    {"delete-parallelism", &Options::delete_parallelism,
     "delete requests at the same time; default: --threads"},
    {"planning-parallelism", &Options::planning_parallelism,
     "manifests read at the same time; default: --threads"},
    {"flink-guard-age", &Options::flink_guard_age,
     "keep the newest checkpoint marker of each Flink job while it is younger; default: 7d",
     FieldUnit::kDuration},
    {"no-flink-guard", &Options::no_flink_guard,
     "expire the checkpoint markers of Flink jobs like other snapshots"},
    {"dry-run", &Options::dry_run, "show what would go, change nothing"},
};

template <typename T>
Error OutOfRange(std::string_view option, const T& value, std::string_view bound) {
  return {Code::kInvalidArgument,
          fmt::format("{} is set to {} but must be {}", option, value, bound)};
}

Status CheckPositive(std::string_view option, int value) {
  if (value <= 0) return OutOfRange(option, value, "> 0");
  return {};
}

Status CheckRanges(const Options& options) {
  if (options.max_snapshot_age.value_or(0) < 0) {
    return OutOfRange("max-snapshot-age", *options.max_snapshot_age, ">= 0");
  }
  if (options.retain_last.value_or(1) < 1) {
    return OutOfRange("retain-last", *options.retain_last, ">= 1");
  }
  if (options.flink_guard_age < 0) {
    return OutOfRange("flink-guard-age", options.flink_guard_age, ">= 0");
  }
  IW_TRY(CheckPositive("delete-batch-size", options.delete_batch_size));
  IW_TRY(CheckPositive("delete-parallelism", options.delete_parallelism.value_or(1)));
  return CheckPositive("planning-parallelism", options.planning_parallelism.value_or(1));
}

Result<CleanUpLevel> ParseLevel(std::string_view text) {
  if (text == "none") return CleanUpLevel::kNone;
  if (text == "metadata-only") return CleanUpLevel::kMetadataOnly;
  if (text == "all") return CleanUpLevel::kAll;
  constexpr std::array<std::string_view, 3> kKnown = {"none", "metadata-only", "all"};
  return Error(Code::kInvalidArgument,
               fmt::format("clean-up-level '{}' is none of none, metadata-only and all{}", text,
                           DidYouMean(text, kKnown)));
}

Result<std::set<SnapshotId>> ParseIds(std::string_view text) {
  std::set<SnapshotId> ids;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    std::string_view word = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    while (word.starts_with(' ')) word.remove_prefix(1);
    while (word.ends_with(' ')) word.remove_suffix(1);
    std::int64_t id = 0;
    const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), id);
    if (word.empty() || error != std::errc() || stop != word.data() + word.size()) {
      return Error(Code::kInvalidArgument,
                   fmt::format("snapshot-ids: '{}' is no snapshot id", word));
    }
    ids.insert(SnapshotId{id});
  }
  return ids;
}

}  // namespace

std::span<const OptionField<ExpireSnapshotsOptions>> ExpireSnapshotsFields() { return kFields; }

Result<ExpireSettings> ResolveExpireOptions(const ExpireSnapshotsOptions& options,
                                            const Properties& properties) {
  IW_TRY(CheckRanges(options));
  ExpireSettings settings;
  IW_ASSIGN(settings.level, ParseLevel(options.clean_up_level));
  IW_ASSIGN(settings.explicit_ids, ParseIds(options.snapshot_ids));
  IW_ASSIGN(const std::int64_t table_age, IntProperty(properties, kMaxSnapshotAge, kFiveDaysMs));
  IW_ASSIGN(const std::int64_t table_keep, IntProperty(properties, kMinSnapshotsToKeep, 1));
  IW_ASSIGN(settings.max_ref_age_ms,
            IntProperty(properties, kMaxRefAge, std::numeric_limits<std::int64_t>::max()));
  settings.max_snapshot_age_ms = options.max_snapshot_age.value_or(table_age);
  settings.min_snapshots_to_keep = options.retain_last ? *options.retain_last : table_keep;
  return settings;
}

}  // namespace icewright
