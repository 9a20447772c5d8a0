#include "commit/manifest_merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "base/executor.h"
#include "manifest/manifest_reader.h"

namespace icewright {
namespace {

constexpr std::string_view kMinCount = "commit.manifest.min-count-to-merge";
constexpr std::string_view kTargetBytes = "commit.manifest.target-size-bytes";

using AddedByPath = std::unordered_map<Location, const AddedManifest*>;

/// Copies a manifest of the table, or one this attempt rewrote, into the merged one.
Status CopyEntries(const CommitScope& scope, ManifestReader& reader, ManifestWriter& writer) {
  ManifestEntry entry;
  for (;;) {
    IW_ASSIGN(const bool more, reader.Next(entry));
    if (!more) return {};
    if (entry.is_live()) {
      IW_TRY(writer.AddExisting(entry));
    } else if (entry.snapshot_id == scope.snapshot_id) {
      IW_TRY(writer.AddDeleted(entry));
    }
  }
}

/// Unset: a member cannot be rewritten without loss. What was begun is then left without a close.
Result<std::optional<ManifestFile>> WriteMerged(const CommitScope& scope,
                                                const std::vector<ManifestFile>& group,
                                                const AddedByPath& added) {
  IW_ASSIGN(ManifestWriter writer,
            scope.NewManifest(group.front().partition_spec_id, group.front().content));
  for (const ManifestFile& manifest : group) {
    IW_TRY(scope.run.Check());
    if (const auto own = added.find(manifest.manifest_path); own != added.end()) {
      for (const AddedFile* file : own->second->files) {
        IW_TRY(writer.AddAdded(file->file, file->sequence_number));
      }
      continue;
    }
    IW_ASSIGN(ManifestReader reader, ManifestReader::Open(scope.io, scope.metadata, manifest,
                                                          {.metrics = true, .live_only = false}));
    if (reader.has_unknown_fields()) return std::optional<ManifestFile>();
    IW_TRY(CopyEntries(scope, reader, writer));
  }
  IW_ASSIGN(ManifestFile merged, writer.Close());
  return std::optional(std::move(merged));
}

Result<std::vector<ManifestFile>> MergeGroup(const CommitScope& scope,
                                             std::vector<ManifestFile> group,
                                             const AddedByPath& added) {
  if (scope.metadata.FindSpec(group.front().partition_spec_id) == nullptr) return group;
  IW_ASSIGN(std::optional<ManifestFile> merged, WriteMerged(scope, group, added));
  if (!merged) return group;
  return std::vector<ManifestFile>{*std::move(merged)};
}

std::vector<Location> PathsOf(const std::vector<ManifestFile>& group) {
  std::vector<Location> paths;
  for (const ManifestFile& manifest : group) paths.push_back(manifest.manifest_path);
  return paths;
}

}  // namespace

Result<MergePolicy> MergePolicy::Of(const Properties& properties) {
  MergePolicy policy;
  policy.enabled = BoolProperty(properties, "commit.manifest-merge.enabled", policy.enabled);
  IW_ASSIGN(policy.min_count, IntProperty(properties, kMinCount, policy.min_count));
  IW_ASSIGN(policy.target_bytes, IntProperty(properties, kTargetBytes, policy.target_bytes));
  if (policy.target_bytes <= 0) {
    return Error(Code::kInvalidArgument,
                 fmt::format("{} must be positive: {}", kTargetBytes, policy.target_bytes));
  }
  return policy;
}

std::vector<std::vector<std::size_t>> PackFromEnd(std::span<const std::int64_t> weights,
                                                  std::int64_t target) {
  std::vector<std::vector<std::size_t>> groups;
  std::int64_t filled = 0;
  for (std::size_t i = weights.size(); i-- > 0;) {
    if (groups.empty() || weights[i] > target - filled) {
      groups.emplace_back();
      filled = 0;
    }
    groups.back().push_back(i);
    filled += weights[i];
  }
  for (auto& group : groups) std::ranges::reverse(group);
  std::ranges::reverse(groups);
  return groups;
}

std::vector<std::vector<std::size_t>> PlanMerge(std::span<const ManifestFile> manifests,
                                                const MergePolicy& policy) {
  std::vector<std::vector<std::size_t>> groups;
  if (!policy.enabled) {
    for (std::size_t i = 0; i < manifests.size(); ++i) groups.push_back({i});
    return groups;
  }
  std::map<SpecId, std::vector<std::size_t>, std::greater<>> by_spec;
  for (std::size_t i = 0; i < manifests.size(); ++i) {
    by_spec[manifests[i].partition_spec_id].push_back(i);
  }
  for (const auto& [spec, members] : by_spec) {
    std::vector<std::int64_t> lengths;
    for (const std::size_t i : members) lengths.push_back(manifests[i].manifest_length);
    for (const auto& packed : PackFromEnd(lengths, policy.target_bytes)) {
      std::vector<std::size_t> group;
      for (const std::size_t i : packed) group.push_back(members[i]);
      if (group.front() == 0 && std::ssize(group) < policy.min_count) {
        for (const std::size_t i : group) groups.push_back({i});
      } else {
        groups.push_back(std::move(group));
      }
    }
  }
  return groups;
}

Result<MergedManifests> ManifestMerger::Merge(const CommitScope& scope, const MergePolicy& policy,
                                              const std::vector<ManifestFile>& manifests,
                                              const std::vector<AddedManifest>& added) {
  AddedByPath added_by_path;
  for (const AddedManifest& own : added) added_by_path[own.manifest.manifest_path] = &own;
  std::vector<std::vector<ManifestFile>> groups;
  for (const auto& positions : PlanMerge(manifests, policy)) {
    std::vector<ManifestFile>& group = groups.emplace_back();
    for (const std::size_t i : positions) group.push_back(manifests[i]);
  }
  std::vector<std::vector<ManifestFile>> results(groups.size());
  IW_TRY(ParallelFor(scope.run, groups.size(), scope.run.threads(), [&](std::size_t i) -> Status {
    if (groups[i].size() == 1) {
      results[i] = groups[i];
    } else if (const auto found = done_.find(PathsOf(groups[i])); found != done_.end()) {
      results[i] = found->second;
    } else {
      IW_ASSIGN(results[i], MergeGroup(scope, groups[i], added_by_path));
    }
    return {};
  }));
  MergedManifests merged;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (groups[i].size() > 1) done_[PathsOf(groups[i])] = results[i];
    if (results[i].size() < groups[i].size()) {
      merged.replaced += std::ranges::count_if(groups[i], [&](const ManifestFile& manifest) {
        return manifest.added_snapshot_id != scope.snapshot_id;
      });
    }
    std::ranges::move(results[i], std::back_inserter(merged.manifests));
  }
  return merged;
}

}  // namespace icewright
