#include <fmt/format.h>

#include <chrono>

#include "scan/plan_files.h"

namespace icewright {
namespace {

std::string TimeText(TimePoint t) {
  const auto day = std::chrono::floor<std::chrono::days>(t);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(t - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     time.hours().count(), time.minutes().count(), time.seconds().count(),
                     time.subseconds().count());
}

std::string RefNames(const TableMetadata& metadata, SnapshotRef::Kind kind) {
  std::string names;
  for (const auto& [name, ref] : metadata.refs) {
    if (ref.kind == kind) names += (names.empty() ? "" : ", ") + name;
  }
  return names.empty() ? "none" : names;
}

Result<const Snapshot*> ById(const TableMetadata& metadata, SnapshotId id) {
  if (const Snapshot* snapshot = metadata.FindSnapshot(id)) return snapshot;
  if (metadata.snapshots.empty()) {
    return Error(Code::kNotFound, fmt::format("snapshot {}: the table has none", Raw(id)));
  }
  return Error(Code::kNotFound,
               fmt::format("snapshot {}: the table has {} snapshots, {} to {}", Raw(id),
                           metadata.snapshots.size(), Raw(metadata.snapshots.front().id),
                           Raw(metadata.snapshots.back().id)));
}

/// The history of main: the snapshot log, or, where a writer keeps none, the chain of parents.
std::vector<SnapshotLogEntry> HistoryOfMain(const TableMetadata& metadata) {
  if (!metadata.snapshot_log.empty()) return metadata.snapshot_log;
  std::vector<SnapshotLogEntry> history;
  const SnapshotIndex index(metadata);
  const Snapshot* snapshot = metadata.current_snapshot();
  // A chain longer than the list of snapshots would be a forged circle.
  while (snapshot != nullptr && history.size() < metadata.snapshots.size()) {
    history.insert(history.begin(), {snapshot->timestamp, snapshot->id});
    snapshot = index.ParentOf(*snapshot);
  }
  return history;
}

Result<const Snapshot*> AsOf(const TableMetadata& metadata, TimePoint time) {
  const std::vector<SnapshotLogEntry> history = HistoryOfMain(metadata);
  if (history.empty()) {
    return Error(Code::kNotFound,
                 fmt::format("as of {}: the table has no snapshot", TimeText(time)));
  }
  const SnapshotLogEntry* newest = nullptr;
  for (const SnapshotLogEntry& entry : history) {
    if (entry.timestamp <= time) newest = &entry;
  }
  if (newest == nullptr) {
    return Error(Code::kNotFound, fmt::format("as of {}: the oldest snapshot is {} of {}",
                                              TimeText(time), Raw(history.front().snapshot_id),
                                              TimeText(history.front().timestamp)));
  }
  return ById(metadata, newest->snapshot_id);
}

Result<const Snapshot*> ByRef(const TableMetadata& metadata, const std::string& name,
                              SnapshotRef::Kind kind) {
  const bool is_branch = kind == SnapshotRef::Kind::kBranch;
  const auto ref = metadata.refs.find(name);
  if (ref == metadata.refs.end()) {
    if (is_branch && name == kMainBranch) return metadata.current_snapshot();
    return Error(Code::kNotFound,
                 fmt::format("{} '{}': the table has {}", is_branch ? "branch" : "tag", name,
                             RefNames(metadata, kind)));
  }
  if (ref->second.kind != kind) {
    return Error(Code::kInvalidArgument,
                 fmt::format("'{}' is a {}, not a {}", name, is_branch ? "tag" : "branch",
                             is_branch ? "branch" : "tag"));
  }
  return ById(metadata, ref->second.snapshot_id);
}

}  // namespace

Result<const Snapshot*> SelectSnapshot(const TableMetadata& metadata,
                                       const SnapshotSelector& selector) {
  const int given = selector.snapshot_id.has_value() + selector.as_of.has_value() +
                    selector.branch.has_value() + selector.tag.has_value();
  if (given > 1) {
    return Error(Code::kInvalidArgument, "give one of snapshot id, as-of time, branch and tag");
  }
  if (selector.snapshot_id) return ById(metadata, *selector.snapshot_id);
  if (selector.as_of) return AsOf(metadata, *selector.as_of);
  if (selector.branch) return ByRef(metadata, *selector.branch, SnapshotRef::Kind::kBranch);
  if (selector.tag) return ByRef(metadata, *selector.tag, SnapshotRef::Kind::kTag);
  return metadata.current_snapshot();
}

}  // namespace icewright
