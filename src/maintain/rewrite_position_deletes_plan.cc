#include "maintain/rewrite_position_deletes_plan.h"

#include <algorithm>
#include <numeric>
#include <unordered_set>

namespace icewright {
namespace {

class GroupJudge {
 public:
  GroupJudge(const std::vector<PositionDeleteFacts>& files, const PositionDeleteSettings& settings)
      : files_(files), settings_(settings) {}

  bool IsWorthIt(const PositionDeleteGroup& group) const {
    if (settings_.rewrite_all) return true;
    std::int64_t bytes = 0;
    bool too_big = false;
    for (const std::size_t i : group) {
      if (!files_[i].attached) return true;
      bytes += files_[i].size_bytes;
      too_big = too_big || files_[i].size_bytes > settings_.max;
    }
    const auto count = std::ssize(group);
    const bool enough =
        count >= settings_.min_input_files || (count > 1 && bytes >= settings_.target) || too_big;
    return enough && (too_big || Gains(group, bytes));
  }

 private:
  bool Gains(const PositionDeleteGroup& group, std::int64_t bytes) const {
    const auto expected = bytes / settings_.target + (bytes % settings_.target == 0 ? 0 : 1);
    if (!settings_.file_per_data_file) return std::ssize(group) > expected;
    std::unordered_set<Location> referenced;
    for (const std::size_t i : group) {
      if (!files_[i].references) return true;  // it becomes files of one data file each
      referenced.insert(*files_[i].references);
    }
    return referenced.size() < group.size();
  }

  const std::vector<PositionDeleteFacts>& files_;
  const PositionDeleteSettings& settings_;
};

}  // namespace

std::vector<PositionDeleteGroup> PlanPositionDeletes(const std::vector<PositionDeleteFacts>& files,
                                                     const PositionDeleteSettings& settings) {
  std::vector<PositionDeleteGroup> groups;
  if (files.empty()) return groups;
  if (settings.as_vectors) {
    groups.emplace_back(files.size());
    std::iota(groups[0].begin(), groups[0].end(), std::size_t{0});
    return groups;
  }
  std::int64_t filled = 0;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::int64_t size = files[i].size_bytes;
    const bool good = size >= settings.min && size <= settings.max && files[i].attached;
    if (good && !settings.rewrite_all) continue;
    if (groups.empty() || size > settings.max_group_bytes - filled) {
      groups.emplace_back();
      filled = 0;
    }
    groups.back().push_back(i);
    filled += size;
  }
  const GroupJudge judge(files, settings);
  std::erase_if(groups, [&](const PositionDeleteGroup& group) { return !judge.IsWorthIt(group); });
  return groups;
}

}  // namespace icewright
