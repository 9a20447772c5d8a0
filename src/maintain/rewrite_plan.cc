#include "maintain/rewrite_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/bin_packing.h"
#include "base/text.h"

namespace icewright {
namespace {

/// Java adds it so that rounding never makes one split more than expected.
constexpr std::int64_t kSplitOverhead = 5 * 1024;

bool HasTooManyDeletes(const RewriteCandidate& file, const RewriteDataFilesOptions& options) {
  if (file.delete_files >= options.delete_file_threshold) return true;
  if (file.record_count == 0) return false;
  const auto deleted = std::min(file.file_scoped_deletes, file.record_count);
  return static_cast<double>(deleted) / static_cast<double>(file.record_count) >=
         options.delete_ratio_threshold;
}

class Planner {
 public:
  Planner(const std::vector<RewriteCandidate>& files, const RewriteDataFilesOptions& options,
          const RewriteSizes& sizes, bool respec)
      : files_(files), options_(options), sizes_(sizes), respec_(respec) {}

  RewritePlan Make() {
    for (auto& bins : BinsByPartition()) {
      int partition_index = 0;
      for (auto& bin : bins) {
        if (!IsWorthIt(bin)) continue;
        plan_.groups.push_back(MakeGroup(std::move(bin), ++partition_index));
      }
    }
    DropGroupsWithoutGain();  // before the caps, or such groups would use them up in every run
    CapFiles();
    SortGroups();
    CapBytes();
    DropGroupsWithoutGain();  // a truncated group may have lost its gain
    std::int64_t selected = 0;
    for (std::size_t i = 0; i < plan_.groups.size(); ++i) {
      plan_.groups[i].global_index = static_cast<int>(i) + 1;
      selected += std::ssize(plan_.groups[i].files);
    }
    plan_.files_skipped = std::ssize(files_) - selected;
    return std::move(plan_);
  }

 private:
  using Bin = std::vector<std::size_t>;

  // Candidates of each partition in first-seen order, cut into bins.
  std::vector<std::vector<Bin>> BinsByPartition() const {
    std::vector<Bin> partitions;
    for (std::size_t i = 0; i < files_.size(); ++i) {
      if (!options_.rewrite_all && !IsRewriteCandidate(files_[i], options_, sizes_)) continue;
      const std::size_t partition = files_[i].partition;
      if (partition >= partitions.size()) partitions.resize(partition + 1);
      partitions[partition].push_back(i);
    }
    std::vector<std::vector<Bin>> out;
    for (const Bin& members : partitions) {
      std::vector<std::int64_t> weights;
      weights.reserve(members.size());
      for (const std::size_t i : members) weights.push_back(files_[i].size_bytes);
      auto bins = PackBins(weights, {.target_weight = options_.max_file_group_size_bytes,
                                     .max_items = options_.max_file_group_input_files});
      for (Bin& bin : bins) {
        for (std::size_t& item : bin) item = members[item];
      }
      out.push_back(std::move(bins));
    }
    return out;
  }

  bool IsWorthIt(const Bin& bin) const {
    if (options_.rewrite_all) return true;
    std::int64_t total = 0;
    for (const std::size_t i : bin) total += files_[i].size_bytes;
    const bool several = bin.size() > 1;
    return (several && std::ssize(bin) >= options_.min_input_files) ||
           (several && total > sizes_.target) || total > sizes_.max ||
           std::ranges::any_of(
               bin, [&](std::size_t i) { return HasTooManyDeletes(files_[i], options_); });
  }

  RewriteGroup MakeGroup(Bin bin, int partition_index) const {
    RewriteGroup group{.partition_index = partition_index,
                       .partition = files_[bin.front()].partition,
                       .files = std::move(bin)};
    Measure(group);
    return group;
  }

  // Sizes follow from the files; again after the group was truncated.
  void Measure(RewriteGroup& group) const {
    group.input_bytes = 0;
    group.delete_files = 0;
    for (const std::size_t i : group.files) {
      group.input_bytes += files_[i].size_bytes;
      group.delete_files += files_[i].delete_files;
    }
    const bool sorts = options_.strategy == "sort";
    const auto expected_bytes =
        sorts ? static_cast<std::int64_t>(static_cast<double>(group.input_bytes) *
                                          options_.compression_factor)
              : group.input_bytes;
    group.expected_output_files = std::max(1, ExpectedOutputFiles(expected_bytes, sizes_));
    group.input_split_size = InputSplitSize(group.input_bytes, group.expected_output_files, sizes_);
  }

  // max-files-to-rewrite: whole groups while they fit, then a truncated one.
  void CapFiles() {
    if (!options_.max_files_to_rewrite) return;
    std::int64_t left = *options_.max_files_to_rewrite;
    std::vector<RewriteGroup> kept;
    for (RewriteGroup& group : plan_.groups) {
      if (left == 0) {
        ++plan_.groups_over_cap;
        continue;
      }
      if (std::ssize(group.files) > left) {
        group.files.resize(static_cast<std::size_t>(left));
        Measure(group);
      }
      left -= std::ssize(group.files);
      kept.push_back(std::move(group));
    }
    plan_.groups = std::move(kept);
  }

  void SortGroups() {
    const auto order = ParseJobOrder(options_.rewrite_job_order);
    const auto bytes = [](const RewriteGroup& group) { return group.input_bytes; };
    const auto count = [](const RewriteGroup& group) { return group.files.size(); };
    switch (order ? *order : JobOrder::kNone) {
      case JobOrder::kNone:
        break;
      case JobOrder::kBytesAsc:
        std::ranges::stable_sort(plan_.groups, std::less<>(), bytes);
        break;
      case JobOrder::kBytesDesc:
        std::ranges::stable_sort(plan_.groups, std::greater<>(), bytes);
        break;
      case JobOrder::kFilesAsc:
        std::ranges::stable_sort(plan_.groups, std::less<>(), count);
        break;
      case JobOrder::kFilesDesc:
        std::ranges::stable_sort(plan_.groups, std::greater<>(), count);
        break;
    }
  }

  // max-rewrite-bytes: a group that no longer fits is passed over, later ones may still fit.
  void CapBytes() {
    std::int64_t running = 0;
    plan_.groups_over_cap += static_cast<int>(std::erase_if(plan_.groups, [&](const auto& group) {
      if (group.input_bytes > options_.max_rewrite_bytes - running) return true;
      running += group.input_bytes;
      return false;
    }));
  }

  // Java rewrites such groups again in every run: files between min and target that cannot be
  // merged. One rewrite lowers neither the number of files nor the deletes readers apply. Splitting
  // a file over max-file-size-bytes is a gain of its own kind.
  void DropGroupsWithoutGain() {
    if (options_.rewrite_all || options_.strategy == "sort" || respec_) return;
    plan_.groups_without_gain +=
        static_cast<int>(std::erase_if(plan_.groups, [&](const RewriteGroup& group) {
          const bool has_oversized = std::ranges::any_of(
              group.files, [&](std::size_t i) { return files_[i].size_bytes > sizes_.max; });
          return group.delete_files == 0 && !has_oversized &&
                 group.expected_output_files >= std::ssize(group.files);
        }));
  }

  const std::vector<RewriteCandidate>& files_;
  const RewriteDataFilesOptions& options_;
  const RewriteSizes& sizes_;
  const bool respec_;
  RewritePlan plan_;
};

}  // namespace

Result<JobOrder> ParseJobOrder(std::string_view name) {
  std::string word = ToLower(name);
  std::ranges::replace(word, '_', '-');
  constexpr std::pair<std::string_view, JobOrder> kOrders[] = {
      {"none", JobOrder::kNone},
      {"bytes-asc", JobOrder::kBytesAsc},
      {"bytes-desc", JobOrder::kBytesDesc},
      {"files-asc", JobOrder::kFilesAsc},
      {"files-desc", JobOrder::kFilesDesc},
  };
  for (const auto& [known, order] : kOrders) {
    if (word == known) return order;
  }
  return Error(Code::kInvalidArgument,
               fmt::format("Invalid rewrite job order name: {}; known are none, bytes-asc, "
                           "bytes-desc, files-asc and files-desc",
                           name));
}

int ExpectedOutputFiles(std::int64_t input_bytes, const RewriteSizes& sizes) {
  if (input_bytes < sizes.target) return 1;
  const std::int64_t floor = input_bytes / sizes.target;
  const std::int64_t rest = input_bytes % sizes.target;
  const std::int64_t ceil = floor + (rest > 0 ? 1 : 0);
  if (rest > sizes.min) return static_cast<int>(ceil);
  const auto average = static_cast<double>(input_bytes / floor);
  const double limit =
      std::min(1.1 * static_cast<double>(sizes.target), static_cast<double>(sizes.write_max));
  return static_cast<int>(average < limit ? floor : ceil);
}

std::int64_t InputSplitSize(std::int64_t input_bytes, int expected_output_files,
                            const RewriteSizes& sizes) {
  const std::int64_t even = input_bytes / expected_output_files + kSplitOverhead;
  return even < sizes.target ? sizes.target : std::min(even, sizes.write_max);
}

bool IsRewriteCandidate(const RewriteCandidate& file, const RewriteDataFilesOptions& options,
                        const RewriteSizes& sizes) {
  return file.size_bytes < sizes.min || file.size_bytes > sizes.max ||
         HasTooManyDeletes(file, options);
}

RewritePlan PlanRewrite(const std::vector<RewriteCandidate>& files,
                        const RewriteDataFilesOptions& options, const RewriteSizes& sizes,
                        bool respec) {
  return Planner(files, options, sizes, respec).Make();
}

}  // namespace icewright
