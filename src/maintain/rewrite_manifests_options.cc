#include "maintain/rewrite_manifests_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/text.h"
#include "commit/manifest_merge.h"

namespace icewright {
namespace {

using Options = RewriteManifestsOptions;

constexpr OptionField<Options> kFields[] = {
    {"spec-id", &Options::spec_id, "only manifests of this partition spec; default: of every spec"},
    {"sort-by", &Options::sort_by,
     "order entries by these partition fields first: day,bucket; default: as the spec has them"},
    {"target-size-bytes", &Options::target_size_bytes,
     "size of a good manifest; default: the table's commit.manifest.target-size-bytes (8MiB)",
     FieldUnit::kBytes},
    {"rewrite-all", &Options::rewrite_all, "rewrite every manifest, gain or not"},
    {"branch", &Options::branch, "branch to work on; default: main"},
    {"dry-run", &Options::dry_run, "show the plan, write nothing"},
};

Result<std::vector<std::string>> ParseNames(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    std::string_view word = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    while (word.starts_with(' ')) word.remove_prefix(1);
    while (word.ends_with(' ')) word.remove_suffix(1);
    if (word.empty()) return Error(Code::kInvalidArgument, "sort-by: a name is empty");
    if (std::ranges::find(names, word) != names.end()) {
      return Error(Code::kInvalidArgument, fmt::format("sort-by names '{}' twice", word));
    }
    names.emplace_back(word);
  }
  return names;
}

// With one spec each name must be a field of it; else some spec must have it.
Status CheckNames(const ManifestSettings& settings, const TableMetadata& metadata) {
  std::vector<std::string_view> known;
  for (const PartitionSpec& spec : metadata.partition_specs) {
    if (settings.spec_id && spec.id != *settings.spec_id) continue;
    for (const PartitionField& field : spec.fields) known.push_back(field.name);
  }
  for (const std::string& name : settings.sort_by) {
    if (std::ranges::find(known, name) != known.end()) continue;
    return Error(Code::kInvalidArgument,
                 fmt::format("sort-by: '{}' is no partition field of {}{}", name,
                             settings.spec_id ? fmt::format("spec {}", Raw(*settings.spec_id))
                                              : std::string("the table"),
                             DidYouMean(name, known)));
  }
  return {};
}

}  // namespace

std::span<const OptionField<RewriteManifestsOptions>> RewriteManifestsFields() { return kFields; }

Result<ManifestSettings> ResolveRewriteManifestsOptions(const RewriteManifestsOptions& options,
                                                        const TableMetadata& metadata) {
  ManifestSettings settings{.rewrite_all = options.rewrite_all};
  if (options.spec_id) {
    settings.spec_id = SpecId{*options.spec_id};
    if (metadata.FindSpec(*settings.spec_id) == nullptr) {
      return Error(Code::kInvalidArgument,
                   fmt::format("spec-id {} is no partition spec of the table", *options.spec_id));
    }
  }
  IW_ASSIGN(settings.sort_by, ParseNames(options.sort_by));
  IW_TRY(CheckNames(settings, metadata));
  IW_ASSIGN(const MergePolicy policy, MergePolicy::Of(metadata.properties));
  settings.target_bytes = options.target_size_bytes.value_or(policy.target_bytes);
  if (settings.target_bytes <= 0) {
    return Error(
        Code::kInvalidArgument,
        fmt::format("target-size-bytes is set to {} but must be > 0", settings.target_bytes));
  }
  return settings;
}

}  // namespace icewright
