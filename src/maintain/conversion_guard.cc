#include "maintain/conversion_guard.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "maintain/flink_guard.h"
#include "maintain/staging_history.h"

namespace icewright {
namespace {

/// Guards one target branch.
class TargetGuard {
 public:
  TargetGuard(const TableMetadata& metadata, const std::string& target)
      : metadata_(metadata), target_(target), history_(HistoryOf(metadata, target)) {}

  /// Was anything ever converted to the branch?
  bool is_target() const {
    return NewestMarker() != history_.end() ||
           metadata_.properties.contains(ConvertRecordProperty(target_));
  }

  /// The marker of the last conversion, of either kind, while it is young.
  void GuardMarker(std::int64_t guard_age_ms, TimePoint now, ConversionGuard& guard) const {
    const auto marker = NewestMarker();
    if (marker == history_.end() || AgeMs((*marker)->timestamp, now) >= guard_age_ms) return;
    for (auto at = history_.begin(); at <= marker; ++at) guard.kept.insert((*at)->id);
  }

  void GuardStaging(const std::string& staging, ConversionGuard& guard) const {
    const auto waiting = FindWaitingSnapshots(metadata_, staging, target_, {});
    if (!waiting) return GuardDoubtful(staging, guard);
    // Not promoted before: no staging branch of this target, as far as the table tells.
    if (waiting->last_promotion == nullptr || waiting->snapshots.empty()) return;
    const Snapshot& oldest = *waiting->snapshots.front();
    for (const Snapshot* s : HistoryOf(metadata_, staging)) {
      guard.kept.insert(s->id);
      if (s == &oldest) break;
    }
    // Where the rows came from that the target got since then decides if a staged delete is meant
    // for them.
    bool is_behind_promotion = false;
    for (const Snapshot* s : history_) {
      if (is_behind_promotion && s->sequence_number <= oldest.sequence_number) break;
      guard.kept.insert(s->id);
      KeepPromoted(*s, guard);
      is_behind_promotion |= s == waiting->last_promotion;
    }
    guard.notes.push_back(fmt::format(
        "{} snapshot(s) of branch {} wait for conversion to {} and stay, with the history since "
        "the last one",
        waiting->snapshots.size(), staging, target_));
  }

 private:
  /// It tells whose rows a commit of the target brought: this staging branch's, or another's.
  void KeepPromoted(const Snapshot& commit, ConversionGuard& guard) const {
    const std::string* marker = FindKey(commit.summary, kConvertMarker);
    if (marker == nullptr) return;
    for (const Snapshot& s : metadata_.snapshots) {
      if (std::to_string(Raw(s.id)) == *marker) guard.kept.insert(s.id);
    }
  }

  /// The target was rolled back, or its marker is lost: a person has to say where to go on.
  void GuardDoubtful(const std::string& staging, ConversionGuard& guard) const {
    const auto doubtful = FindDoubtfulSnapshots(metadata_, staging, target_);
    if (doubtful.empty()) return;
    for (const Snapshot* s : doubtful) guard.kept.insert(s->id);
    guard.notes.push_back(
        fmt::format("{} snapshot(s) of branch {} stay: the table does not tell which of them were "
                    "converted to {}; see convert-equality-deletes --resume-from",
                    doubtful.size(), staging, target_));
  }

  std::vector<const Snapshot*>::const_iterator NewestMarker() const {
    return std::ranges::find_if(
        history_, [](const Snapshot* s) { return FindKey(s->summary, kConvertMarker) != nullptr; });
  }

  const TableMetadata& metadata_;
  const std::string& target_;
  const std::vector<const Snapshot*> history_;
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
  ConversionGuard guard;
  for (const std::string& branch : living) {
    const TargetGuard target(metadata, branch);
    if (!target.is_target()) continue;
    target.GuardMarker(guard_age_ms, now, guard);
    for (const std::string& staging : living) {
      if (staging != branch) target.GuardStaging(staging, guard);
    }
  }
  return guard;
}

}  // namespace icewright
