#include "maintain/staging_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <unordered_set>
#include <utility>

namespace icewright {
namespace {

/// From the head of a branch back through the snapshots that the table still has.
struct Chain {
  std::vector<const Snapshot*> snapshots = {};  // newest first
  bool complete = true;                         // the oldest one has no parent

  /// Unset: the chain is complete. Else the snapshot that is missing behind the oldest one.
  std::optional<SnapshotId> missing() const {
    return complete ? std::nullopt : snapshots.back()->parent_id;
  }
};

Chain ChainOf(const TableMetadata& metadata, std::string_view branch) {
  Chain chain;
  const auto ref = metadata.refs.find(std::string(branch));
  if (ref == metadata.refs.end()) return chain;
  const SnapshotIndex index(metadata);
  std::unordered_set<std::int64_t> seen;
  const Snapshot* snapshot = index.Find(ref->second.snapshot_id);
  while (snapshot != nullptr && seen.insert(Raw(snapshot->id)).second) {
    chain.snapshots.push_back(snapshot);
    snapshot = index.ParentOf(*snapshot);
  }
  chain.complete = chain.snapshots.empty() || !chain.snapshots.back()->parent_id;
  return chain;
}

std::optional<SnapshotId> ParseId(std::string_view text) {
  std::int64_t id = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return SnapshotId(id);
}

bool Meet(const Chain& a, const Chain& b) {
  std::unordered_set<const Snapshot*> in_a(a.snapshots.begin(), a.snapshots.end());
  return std::ranges::any_of(b.snapshots, [&](const Snapshot* s) { return in_a.contains(s); });
}

/// Is the marked snapshot surely not in the history of this branch? `whole`: all that the branch
/// has of its own is known. Else one that expired, or came before what is known, may be its own.
bool IsOfAnother(const TableMetadata& metadata, const Chain& chain, bool whole,
                 std::string_view marker) {
  const auto id = ParseId(marker);
  if (std::ranges::find(chain.snapshots, id, &Snapshot::id) != chain.snapshots.end()) return false;
  if (whole) return true;
  const auto found = std::ranges::find(metadata.snapshots, id, &Snapshot::id);
  return found != metadata.snapshots.end() &&
         found->sequence_number > chain.snapshots.back()->sequence_number;
}

Error Refusal(std::string why) {
  return Error(Code::kConflict,
               fmt::format("{}. Find the last staging snapshot whose rows are on the target, and "
                           "run with --resume-from SNAPSHOT; nothing was promoted",
                           why));
}

class Search {
 public:
  Search(const TableMetadata& metadata, std::string_view staging, std::string_view target)
      : staging_name_(staging),
        target_name_(target),
        staging_(ChainOf(metadata, staging)),
        target_(ChainOf(metadata, target)) {
    for (const Snapshot* snapshot : target_.snapshots) on_target_.insert(Raw(snapshot->id));
    const auto meets = std::ranges::find_if(staging_.snapshots, [&](const Snapshot* snapshot) {
      return on_target_.contains(Raw(snapshot->id));
    });
    fork_ = static_cast<std::size_t>(meets - staging_.snapshots.begin());
    const auto record = metadata.properties.find(ConvertRecordProperty(target));
    if (record != metadata.properties.end()) record_ = ParseId(record->second);
  }

  Result<WaitingSnapshots> Waiting(std::optional<SnapshotId> resume_from) const {
    IW_ASSIGN(const Marker marker, NewestMarker());
    if (resume_from) {
      IW_TRY(CheckResume(*resume_from, marker.id));
      return WaitingSnapshots{.snapshots = After(*resume_from)};
    }
    IW_TRY(CheckRecord(marker.id));
    if (!marker.id) {
      IW_TRY(CheckFork());
      return WaitingSnapshots{.snapshots = Newest(fork_)};
    }
    if (!IsStaged(*marker.id)) {
      return Refusal(
          fmt::format("snapshot {}, which branch '{}' got last, is not in the history "
                      "of branch '{}'",
                      Raw(*marker.id), target_name_, staging_name_));
    }
    return WaitingSnapshots{.snapshots = After(*marker.id), .last_promotion = marker.commit};
  }

  std::vector<const Snapshot*> Doubtful() const {
    if (!record_ || !IsAboveFork(*record_)) return {};
    return {staging_.snapshots.begin(),
            staging_.snapshots.begin() + static_cast<std::ptrdiff_t>(fork_)};
  }

 private:
  struct Marker {
    std::optional<SnapshotId> id = {};
    const Snapshot* commit = nullptr;
  };

  /// Of a promotion from this staging branch, else of any other; unset if there is none. What was
  /// promoted before the staging branch left the target is in both. Conversions in place promoted
  /// nothing.
  Result<Marker> NewestMarker() const {
    Marker unknown;
    for (const Snapshot* snapshot : target_.snapshots) {
      if (HasFork() && snapshot == staging_.snapshots[fork_]) break;
      const std::string* marker = FindKey(snapshot->summary, kConvertMarker);
      if (marker == nullptr) continue;
      const auto id = ParseId(*marker);
      if (!id) {
        return Error(Code::kCorrupt, fmt::format("snapshot {}: '{}' in {} is no snapshot id",
                                                 Raw(snapshot->id), *marker, kConvertMarker));
      }
      if (on_target_.contains(Raw(*id)) || RemovesEqualityDeletes(*snapshot)) continue;
      if (IsStaged(*id)) return Marker{.id = id, .commit = snapshot};
      if (!unknown.id) unknown = {.id = id, .commit = snapshot};
    }
    return unknown;
  }

  /// Only a conversion in place does; the snapshot that its marker names may have expired.
  static bool RemovesEqualityDeletes(const Snapshot& snapshot) {
    const std::string* count = FindKey(snapshot.summary, "removed-equality-delete-files");
    return count != nullptr && *count != "0";
  }

  bool IsStaged(SnapshotId id) const {
    return PlaceOf(id) < staging_.snapshots.size() || staging_.missing() == id;
  }

  /// 0 is the head; the number of snapshots if it is not there.
  std::size_t PlaceOf(SnapshotId id) const {
    const auto at = std::ranges::find(staging_.snapshots, id, &Snapshot::id);
    return static_cast<std::size_t>(at - staging_.snapshots.begin());
  }

  Status CheckResume(SnapshotId from, std::optional<SnapshotId> marker) const {
    if (!IsStaged(from)) {
      return Error(Code::kInvalidArgument,
                   fmt::format("resume-from: snapshot {} is not in the history of branch '{}'",
                               Raw(from), staging_name_));
    }
    if (marker && IsStaged(*marker) && PlaceOf(from) > PlaceOf(*marker)) {
      return Error(Code::kInvalidArgument,
                   fmt::format("resume-from: branch '{}' shows that the later snapshot {} was "
                               "promoted; run without --resume-from",
                               target_name_, Raw(*marker)));
    }
    return {};
  }

  bool HasFork() const { return fork_ < staging_.snapshots.size(); }
  bool IsAboveFork(SnapshotId id) const {
    return PlaceOf(id) < fork_ || (!HasFork() && staging_.missing() == id);
  }

  /// The property must not know more than the history does: then the history lost something.
  Status CheckRecord(std::optional<SnapshotId> marker) const {
    if (!record_ || record_ == marker) return {};
    const bool made_anew = HasFork() && !IsAboveFork(*record_);
    if (!marker && !made_anew) {
      return Refusal(
          fmt::format("snapshot {} was promoted to branch '{}', whose history does not "
                      "show it any more: it has expired or was rolled back",
                      Raw(*record_), target_name_));
    }
    if (marker && PlaceOf(*record_) < PlaceOf(*marker)) {
      return Refusal(
          fmt::format("branch '{}' was rolled back: snapshot {} had been promoted, its "
                      "history ends with {}",
                      target_name_, Raw(*record_), Raw(*marker)));
    }
    return {};
  }

  std::vector<const Snapshot*> After(SnapshotId last) const { return Newest(PlaceOf(last)); }

  /// A first run takes everything since the staging branch left the target.
  Status CheckFork() const {
    if (HasFork() || (staging_.complete && target_.complete)) return {};
    return Refusal(
        fmt::format("the history of branch '{}' is cut off by expiry before it meets "
                    "that of branch '{}'",
                    staging_.complete ? target_name_ : staging_name_,
                    staging_.complete ? staging_name_ : target_name_));
  }

  /// The first `count` of the chain, at most up to the fork, turned round.
  std::vector<const Snapshot*> Newest(std::size_t count) const {
    std::vector<const Snapshot*> waiting;
    for (std::size_t i = 0; i < count && i < fork_; ++i) {
      const Snapshot* snapshot = staging_.snapshots[i];
      if (FindKey(snapshot->summary, kConvertMarker) == nullptr) waiting.push_back(snapshot);
    }
    std::ranges::reverse(waiting);
    return waiting;
  }

  std::string_view staging_name_;
  std::string_view target_name_;
  Chain staging_;
  Chain target_;
  std::unordered_set<std::int64_t> on_target_;
  std::size_t fork_ = 0;  // place of the first that is on the target; their number if none is
  std::optional<SnapshotId> record_;
};

}  // namespace

std::string ConvertRecordProperty(std::string_view target) {
  return fmt::format("icewright.equality-convert.{}.last-staging-snapshot", target);
}

std::vector<const Snapshot*> HistoryOf(const TableMetadata& metadata, std::string_view branch) {
  return ChainOf(metadata, branch).snapshots;
}

Result<WaitingSnapshots> FindWaitingSnapshots(const TableMetadata& metadata,
                                              std::string_view staging, std::string_view target,
                                              std::optional<SnapshotId> resume_from) {
  return Search(metadata, staging, target).Waiting(resume_from);
}

std::vector<const Snapshot*> FindDoubtfulSnapshots(const TableMetadata& metadata,
                                                   std::string_view staging,
                                                   std::string_view target) {
  return Search(metadata, staging, target).Doubtful();
}

CommitsSince FindCommitsSince(const TableMetadata& metadata, std::string_view staging,
                              std::string_view target, SequenceNumber after) {
  CommitsSince out;
  const Chain chain = ChainOf(metadata, target);
  const Chain staged = ChainOf(metadata, staging);
  const bool whole = staged.complete || Meet(chain, staged);
  for (const Snapshot* snapshot : chain.snapshots) {
    if (snapshot->sequence_number <= after) return out;
    const std::string* marker = FindKey(snapshot->summary, kConvertMarker);
    if (marker != nullptr && !IsOfAnother(metadata, staged, whole, *marker)) {
      out.conversions.insert(out.conversions.begin(), snapshot->sequence_number);
    }
  }
  if (!chain.complete) {
    out.unknown_up_to = SequenceNumber(Raw(chain.snapshots.back()->sequence_number) - 1);
  }
  return out;
}

}  // namespace icewright
