#include "maintain/maintain_table_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/text.h"
#include "config/units.h"

namespace icewright {
namespace {

using Options = MaintainTableOptions;

constexpr int kDefaultRetainLast = 100;
constexpr std::int64_t kDefaultMaxAgeMs = std::int64_t{24} * 3600 * 1000;

constexpr OptionField<Options> kFields[] = {
    {"branch", &Options::branch, "the branch to compact and tidy; default: main"},
    {"skip", &Options::skip, "steps to leave out, by the names of their commands: a,b"},
    {"max-snapshot-age", &Options::max_snapshot_age,
     "expire what is older and not among the last; default: the table's history.expire.*, else 1d",
     FieldUnit::kDuration},
    {"retain-last", &Options::retain_last,
     "keep at least this many snapshots of each branch; default: the table's history.expire.*, "
     "else 100"},
    {"count-only", &Options::count_only, "expire by retain-last alone, whatever the age"},
    {"no-flink-guard", &Options::no_flink_guard,
     "expire the checkpoint markers of Flink jobs like other snapshots"},
    {"dry-run", &Options::dry_run, "show what each step would do, change nothing"},
};

bool SetsRetention(const Properties& properties) {
  return properties.contains("history.expire.max-snapshot-age-ms") ||
         properties.contains("history.expire.min-snapshots-to-keep");
}

std::string Describe(const Options& options, const ExpireSettings& settings) {
  const std::string last =
      fmt::format("the last {} snapshot(s) of each branch", settings.min_snapshots_to_keep);
  if (options.count_only) return fmt::format("retention: {} stay, whatever their age", last);
  return fmt::format("retention: {} stay, and what is younger than {}", last,
                     FormatDuration(Milliseconds(settings.max_snapshot_age_ms)));
}

}  // namespace

std::span<const OptionField<MaintainTableOptions>> MaintainTableFields() { return kFields; }

Result<std::set<std::string>> SkippedSteps(const MaintainTableOptions& options,
                                           std::span<const std::string_view> steps) {
  std::set<std::string> out;
  std::string_view text = options.skip;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    std::string_view name = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    while (name.starts_with(' ')) name.remove_prefix(1);
    while (name.ends_with(' ')) name.remove_suffix(1);
    if (std::ranges::find(steps, name) == steps.end()) {
      return Error(Code::kInvalidArgument,
                   fmt::format("skip: '{}' is no step of the chain{}; the steps are {}", name,
                               DidYouMean(name, steps), fmt::join(steps, ", ")));
    }
    out.emplace(name);
  }
  return out;
}

Result<Retention> RetentionOf(const MaintainTableOptions& options, const Properties& properties) {
  if (options.count_only && options.max_snapshot_age) {
    return Error(Code::kInvalidArgument,
                 "count-only and max-snapshot-age exclude each other: give one of them");
  }
  Retention out{.options = {.max_snapshot_age = options.max_snapshot_age,
                            .retain_last = options.retain_last,
                            .no_flink_guard = options.no_flink_guard,
                            .dry_run = options.dry_run},
                .text = {}};
  ExpireSnapshotsOptions& expire = out.options;
  if (!SetsRetention(properties)) {
    if (!expire.max_snapshot_age) expire.max_snapshot_age = kDefaultMaxAgeMs;
    if (!expire.retain_last) expire.retain_last = kDefaultRetainLast;
  }
  if (options.count_only) {
    expire.max_snapshot_age = 0;
    // Iceberg's default of one is meant to go with five days; alone it would keep next to nothing.
    if (!expire.retain_last && !properties.contains("history.expire.min-snapshots-to-keep")) {
      expire.retain_last = kDefaultRetainLast;
    }
  }
  IW_ASSIGN(const ExpireSettings settings, ResolveExpireOptions(expire, properties));
  out.text = Describe(options, settings);
  return out;
}

}  // namespace icewright
