#include "schedule/snapshot_monitor.h"

#include <fmt/format.h>

#include <charconv>
#include <unordered_set>

#include "manifest/manifest_reader.h"
#include "table/snapshot_summary.h"

namespace icewright {
namespace {

std::int64_t SummaryNumber(const Snapshot& snapshot, std::string_view key) {
  const std::string* text = FindKey(snapshot.summary, key);
  std::int64_t value = 0;
  if (text == nullptr) return 0;
  std::from_chars(text->data(), text->data() + text->size(), value);
  return std::max<std::int64_t>(value, 0);
}

bool IsReplace(const Snapshot& snapshot) { return snapshot.operation == "replace"; }

// Java's walk, step by step.
Result<BranchChange> LookAsJava(RunContext& run, FileIO& io, const TableMetadata& metadata,
                                const Snapshot& head, const SnapshotIndex& index,
                                const std::optional<MonitorPosition>& position,
                                const MonitorOptions& options) {
  BranchChange result;
  int n = 0;
  const Snapshot* current = &head;
  while (current != nullptr && !(position && current->id == position->last_seen) &&
         ++n <= options.max_read_back) {
    if (!IsReplace(*current)) {
      IW_ASSIGN(const TableChange change, ChangeOf(run, io, metadata, *current));
      result.change += change;
    }
    current = index.ParentOf(*current);
  }
  return result;
}

// Whatever was seen: the snapshots from the last position back to the oldest that is left.
class Seen {
 public:
  Seen(const SnapshotIndex& index, const std::optional<MonitorPosition>& position)
      : position_(position) {
    if (!position) return;
    const Snapshot* snapshot = index.Find(position->last_seen);
    expired_ = snapshot == nullptr;
    for (; snapshot != nullptr && ids_.insert(Raw(snapshot->id)).second;
         snapshot = index.ParentOf(*snapshot)) {
    }
  }

  bool expired() const { return expired_; }

  bool Contains(const Snapshot& snapshot) const {
    if (!position_) return false;
    // Sequence numbers grow from commit to commit; v1 has none.
    if (expired_) {
      return Raw(snapshot.sequence_number) > 0 &&
             snapshot.sequence_number <= position_->sequence_number;
    }
    return ids_.contains(Raw(snapshot.id));
  }

 private:
  const std::optional<MonitorPosition>& position_;
  std::unordered_set<std::int64_t> ids_;
  bool expired_ = false;
};

void Note(std::string& notes, const std::string& note) {
  if (!notes.empty()) notes += "; ";
  notes += note;
}

Result<BranchChange> LookOnce(RunContext& run, FileIO& io, const TableMetadata& metadata,
                              const Snapshot& head, const SnapshotIndex& index,
                              const std::optional<MonitorPosition>& position,
                              const MonitorOptions& options) {
  const Seen seen(index, position);
  BranchChange result;
  int counted = 0;
  int over_budget = 0;
  std::unordered_set<std::int64_t> visited;
  const Snapshot* current = &head;
  for (; current != nullptr && !seen.Contains(*current) && visited.insert(Raw(current->id)).second;
       current = index.ParentOf(*current)) {
    if (IsReplace(*current)) continue;
    if (counted < options.max_read_back) {
      IW_ASSIGN(const TableChange change, ChangeOf(run, io, metadata, *current));
      result.change += change;
      ++counted;
      continue;
    }
    ++over_budget;
    if (position) result.change += SummaryChangeOf(*current);
  }
  if (!position) {
    Note(result.note,
         fmt::format("first look: counted the newest {} snapshots{}", counted,
                     over_budget > 0 ? fmt::format(", left out {}", over_budget) : ""));
  } else if (over_budget > 0) {
    Note(result.note, fmt::format("{} snapshots over max-read-back {} were counted by their "
                                  "summaries",
                                  over_budget, options.max_read_back));
  }
  if (seen.expired()) {
    Note(result.note,
         fmt::format("the snapshot seen last, {}, has been expired", Raw(position->last_seen)));
  } else if (position && (current == nullptr || current->id != position->last_seen)) {
    Note(result.note, fmt::format("{} was rolled back or replaced: snapshot {} is no ancestor of "
                                  "its head",
                                  options.branch, Raw(position->last_seen)));
  }
  return result;
}

}  // namespace

Result<TableChange> ChangeOf(RunContext& run, FileIO& io, const TableMetadata& metadata,
                             const Snapshot& snapshot) {
  TableChange change{.commit_count = 1};
  IW_ASSIGN(const auto manifests, ReadManifests(run, io, metadata, snapshot));
  for (const ManifestFile& manifest : manifests) {
    if (manifest.added_snapshot_id != snapshot.id || !manifest.may_have_added()) continue;
    IW_TRY(run.Check());
    IW_ASSIGN(ManifestReader reader,
              ManifestReader::Open(io, metadata, manifest, {.metrics = false}));
    ManifestEntry entry;
    for (;;) {
      IW_ASSIGN(const bool more, reader.Next(entry));
      if (!more) break;
      if (entry.status == EntryStatus::kAdded) change.AddFile(entry.file);
    }
  }
  return change;
}

TableChange SummaryChangeOf(const Snapshot& snapshot) {
  const auto number = [&](std::string_view key) { return SummaryNumber(snapshot, key); };
  return {
      .data_file_count = number(summary::kAddedDataFiles),
      .data_file_size_in_bytes = number(summary::kAddedFilesSize),
      .pos_delete_file_count = number(summary::kAddedPosDeleteFiles) + number(summary::kAddedDvs),
      .pos_delete_record_count = number(summary::kAddedPosDeletes),
      .eq_delete_file_count = number(summary::kAddedEqDeleteFiles),
      .eq_delete_record_count = number(summary::kAddedEqDeletes),
      .commit_count = 1};
}

Result<BranchChange> LookAtBranch(RunContext& run, FileIO& io, const TableMetadata& metadata,
                                  const std::optional<MonitorPosition>& position,
                                  const MonitorOptions& options) {
  const Snapshot* head = metadata.FindRef(options.branch);
  const bool java = options.policy == TriggerPolicy::kJava;
  // Java forgets its position with the branch; ours waits for the branch to come back.
  if (head == nullptr)
    return BranchChange{.change = {}, .position = java ? std::nullopt : position, .note = {}};
  const MonitorPosition now{head->id, head->sequence_number};
  if (position && position->last_seen == head->id)
    return BranchChange{.change = {}, .position = now, .note = {}};
  const SnapshotIndex index(metadata);
  IW_ASSIGN(BranchChange change,
            java ? LookAsJava(run, io, metadata, *head, index, position, options)
                 : LookOnce(run, io, metadata, *head, index, position, options));
  change.position = now;
  return change;
}

}  // namespace icewright
