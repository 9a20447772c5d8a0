#include "maintain/conversion_guard.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "maintain/flink_guard.h"
#include "maintain/staging_history.h"

namespace icewright {
namespace {

/// From the head back to the first snapshot that ends the walk, that one included; all if none
/// does.
template <typename IsLast>
std::vector<const Snapshot*> ChainTo(const TableMetadata& metadata, const SnapshotIndex& index,
                                     const std::string& branch, const IsLast& is_last) {
  std::vector<const Snapshot*> chain;
  std::unordered_set<std::int64_t> visited;  // parents of a broken table may form a ring
  for (const Snapshot* s = index.Find(metadata.refs.find(branch)->second.snapshot_id);
       s != nullptr && visited.insert(Raw(s->id)).second; s = index.ParentOf(*s)) {
    chain.push_back(s);
    if (is_last(*s)) break;
  }
  return chain;
}

/// Guards one target branch.
class TargetGuard {
 public:
  TargetGuard(const TableMetadata& metadata, const SnapshotIndex& index, const std::string& target)
      : metadata_(metadata), index_(index), target_(target) {
    const auto is_marker = [](const Snapshot& s) {
      return FindKey(s.summary, kConvertMarker) != nullptr;
    };
    chain_ = ChainTo(metadata, index, target, is_marker);
    if (!chain_.empty() && is_marker(*chain_.back())) {
      marker_ = FindKey(chain_.back()->summary, kConvertMarker);
    }
  }

  bool has_marker() const { return marker_ != nullptr; }

  void Guard(const std::vector<std::string>& branches, std::int64_t guard_age_ms, TimePoint now,
             ConversionGuard& guard) const {
    bool needed = AgeMs(chain_.back()->timestamp, now) < guard_age_ms;
    for (const std::string& staging : branches) {
      if (staging == target_ || IsInPlace()) continue;
      const auto waiting = FindWaitingSnapshots(metadata_, staging, target_, {});
      // An error: it is no staging branch of this target, or is beyond help.
      if (!waiting || waiting->empty()) continue;
      needed = true;
      const SnapshotId oldest = waiting->front()->id;
      const auto is_oldest = [&](const Snapshot& s) { return s.id == oldest; };
      for (const Snapshot* s : ChainTo(metadata_, index_, staging, is_oldest)) {
        guard.kept.insert(s->id);
      }
      guard.notes.push_back(fmt::format(
          "{} snapshot(s) of branch {} wait for conversion to {} and stay, with the history since "
          "the last one",
          waiting->size(), staging, target_));
    }
    if (!needed) return;
    for (const Snapshot* s : chain_) guard.kept.insert(s->id);
  }

 private:
  /// The marker names a snapshot of the target itself: nothing is staged elsewhere, and branches
  /// made from the target since are no staging branches.
  bool IsInPlace() const {
    const auto names = [&](const Snapshot& s) { return std::to_string(Raw(s.id)) == *marker_; };
    return names(*ChainTo(metadata_, index_, target_, names).back());
  }

  const TableMetadata& metadata_;
  const SnapshotIndex& index_;
  const std::string& target_;
  std::vector<const Snapshot*> chain_;  // from the head to the marker
  const std::string* marker_ = nullptr;
};

}  // namespace

ConversionGuard FindConversionGuard(const TableMetadata& metadata,
                                    const std::vector<std::string>& branches,
                                    std::int64_t guard_age_ms, TimePoint now) {
  std::vector<std::string> living;
  for (const std::string& branch : branches) {
    const auto ref = metadata.refs.find(branch);
    if (ref != metadata.refs.end() && ref->second.kind == SnapshotRef::Kind::kBranch) {
      living.push_back(branch);
    }
  }
  const SnapshotIndex index(metadata);
  ConversionGuard guard;
  for (const std::string& branch : living) {
    const TargetGuard target(metadata, index, branch);
    if (target.has_marker()) target.Guard(living, guard_age_ms, now, guard);
  }
  return guard;
}

}  // namespace icewright
