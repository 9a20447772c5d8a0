#pragma once

/// \file maintain/java_planner_model.h
/// Java's choice of the staging snapshots to convert, written from its description and not from our
/// code. For tests only.
///
/// Java twin: EqualityConvertPlanner.

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "table/metadata.h"

namespace icewright {

inline constexpr std::string_view kJavaMarker = "equality-convert-staging-snapshot";
using SnapshotIds = std::vector<SnapshotId>;

/// What Java's planner does after a restart: it looks for the newest marker of the target, walks
/// the staging branch from its head back to the snapshot that the marker names, or without one to
/// the newest ancestor of both branches, and leaves out what the summary excuses.
class JavaPlanner {
 public:
  JavaPlanner(const TableMetadata& metadata, std::string_view staging, std::string_view target)
      : metadata_(metadata), in_place_(staging == target) {
    staging_ = metadata.FindRef(staging);
    target_ = metadata.FindRef(target);
  }

  /// Oldest first; the first one is what the next trigger takes.
  SnapshotIds Waiting() const {
    std::optional<SnapshotId> stop = LastStaging();
    if (!stop && !in_place_) stop = CommonAncestor();
    SnapshotIds waiting;
    for (const Snapshot* s = staging_; s != nullptr && s->id != stop; s = ParentOf(*s)) {
      if (!IsSkipped(*s)) waiting.insert(waiting.begin(), s->id);
    }
    return waiting;
  }

 private:
  const Snapshot* ParentOf(const Snapshot& snapshot) const {
    for (const Snapshot& other : metadata_.snapshots) {
      if (other.id == snapshot.parent_id) return &other;
    }
    return nullptr;
  }
  std::optional<SnapshotId> LastStaging() const {
    for (const Snapshot* s = target_; s != nullptr; s = ParentOf(*s)) {
      const std::string* marker = FindKey(s->summary, kJavaMarker);
      if (marker != nullptr) return SnapshotId(std::stoll(*marker));
    }
    return {};
  }
  /// Both branches are walked in turn until one comes where the other was.
  std::optional<SnapshotId> CommonAncestor() const {
    std::set<SnapshotId> seen[2];
    const Snapshot* at[2] = {staging_, target_};
    while (at[0] != nullptr || at[1] != nullptr) {
      for (int i = 0; i < 2; ++i) {
        if (at[i] == nullptr) continue;
        if (seen[1 - i].contains(at[i]->id)) return at[i]->id;
        seen[i].insert(at[i]->id);
        at[i] = ParentOf(*at[i]);
      }
    }
    return {};
  }
  bool IsSkipped(const Snapshot& snapshot) const {
    const auto none = [&](const char* key) {
      const std::string* count = FindKey(snapshot.summary, key);
      return count == nullptr || *count == "0";
    };
    if (FindKey(snapshot.summary, kJavaMarker) != nullptr) return true;
    if (none("added-data-files") && none("added-delete-files")) return true;
    return in_place_ && none("added-equality-delete-files");
  }

  const TableMetadata& metadata_;
  bool in_place_;
  const Snapshot* staging_ = nullptr;
  const Snapshot* target_ = nullptr;
};

}  // namespace icewright
