#include "maintain/remove_dangling_deletes.h"

#include <algorithm>
#include <iterator>
#include <unordered_set>

#include "base/executor.h"
#include "commit/snapshot_update.h"
#include "manifest/manifest_file.h"
#include "manifest/manifest_reader.h"
#include "scan/plan_files.h"

namespace icewright {
namespace {

using Options = RemoveDanglingDeletesOptions;
using Keys = std::unordered_set<ContentKey, ContentKeyHash>;

constexpr int kMostPlans = 5;

constexpr OptionField<Options> kFields[] = {
    {"branch", &Options::branch, "branch to work on; default: main"},
    {"dry-run", &Options::dry_run, "show what would go, change nothing"},
};

Result<Keys> AttachedDeletes(RunContext& run, FileIO& io, const TableMetadata& metadata,
                             const Snapshot& snapshot) {
  Keys attached;
  // One object per delete, shared by all its tasks: most look-ups need no path.
  std::unordered_set<const DeleteTask*> seen;
  std::vector<std::shared_ptr<const DeleteTask>> alive;  // so that no address comes twice
  const auto visit = [&](FileTask&& task) -> Status {
    for (const auto& deletes : task.deletes) {
      if (!seen.insert(deletes.get()).second) continue;
      alive.push_back(deletes);
      attached.insert(ContentKey::Of(deletes->file));
    }
    return {};
  };
  IW_TRY(PlanFiles(run, io, metadata, snapshot, {}, visit));
  return attached;
}

void Count(const std::vector<DataFile>& files, std::string_view prefix, TaskReport& report) {
  const auto key = [&](std::string_view rest) { return std::string(prefix) + std::string(rest); };
  auto& counts = report.counts;
  for (const char* rest : {"delete-files-count", "position-delete-files-count",
                           "equality-delete-files-count", "dvs-count", "bytes"}) {
    counts[key(rest)] = 0;
  }
  for (const DataFile& file : files) {
    ++counts[key("delete-files-count")];
    counts[key("bytes")] += file.content_size_in_bytes.value_or(file.file_size_in_bytes);
    ++counts[key(file.is_deletion_vector()                       ? "dvs-count"
                 : file.content == FileContent::kEqualityDeletes ? "equality-delete-files-count"
                                                                 : "position-delete-files-count")];
  }
}

bool HasMoved(const Table& table, const std::string& branch, SnapshotId planned) {
  const Snapshot* head = table.metadata().FindRef(branch);
  return head != nullptr && head->id != planned;
}

}  // namespace

std::span<const OptionField<RemoveDanglingDeletesOptions>> RemoveDanglingDeletesFields() {
  return kFields;
}

Result<std::vector<DataFile>> FindDanglingDeletes(RunContext& run, FileIO& io,
                                                  const TableMetadata& metadata,
                                                  const Snapshot& snapshot) {
  IW_ASSIGN(std::vector<ManifestFile> manifests, ReadManifests(run, io, metadata, snapshot));
  std::erase_if(manifests, [](const ManifestFile& manifest) {
    return manifest.content == ManifestContent::kData || !manifest.may_have_live();
  });
  std::vector<DataFile> dangling;
  if (manifests.empty()) return dangling;
  IW_ASSIGN(const Keys attached, AttachedDeletes(run, io, metadata, snapshot));
  using Batch = std::vector<DataFile>;
  const auto read = [&](std::size_t i) -> Result<Batch> {
    Batch batch;
    IW_ASSIGN(auto reader, ManifestReader::Open(io, metadata, manifests[i], {.metrics = false}));
    ManifestEntry entry;
    for (;;) {
      IW_ASSIGN(const bool more, reader.Next(entry));
      if (!more) return batch;
      if (!attached.contains(ContentKey::Of(entry.file))) batch.push_back(std::move(entry.file));
    }
  };
  IW_TRY(OrderedParallel<Batch>(run, manifests.size(), run.threads(), read,
                                [&](std::size_t, Batch&& batch) -> Status {
                                  std::ranges::move(batch, std::back_inserter(dangling));
                                  return {};
                                }));
  return dangling;
}

Status RemoveDanglingDeletes::Execute(RunContext& run, Table& table, TaskReport& report) const {
  if (const std::string reason = table.operations().read_only_reason();
      !reason.empty() && !options_.dry_run) {
    return Error(Code::kUnsupported, reason);
  }
  for (int plans = 1;; ++plans) {
    IW_TRY(table.Refresh(run));
    const auto metadata = table.shared_metadata();
    IW_ASSIGN(const Snapshot* snapshot, SelectSnapshot(*metadata, {.branch = options_.branch}));
    std::vector<DataFile> dangling;
    run.progress().Enter("plan", "deletes");
    if (snapshot != nullptr) {
      IW_ASSIGN(dangling, FindDanglingDeletes(run, table.io(), *metadata, *snapshot));
    }
    Count(dangling, "planned-", report);
    if (dangling.empty()) {
      report.outcome = TaskOutcome::kNothingToDo;
      report.reason = "every delete applies to a data file";
      return {};
    }
    if (options_.dry_run) {
      for (const DataFile& file : dangling) {
        report.items.push_back({file.file_path.text(), {{"records", file.record_count}}});
      }
      report.outcome = TaskOutcome::kPlanned;
      return {};
    }
    const SnapshotUpdate update{.operation = "replace",
                                .branch = options_.branch,
                                .removed_delete_files = dangling,
                                .validate_from = snapshot->id};
    CommitReport commit;
    const Status committed = CommitSnapshot(run, table, update, commit);
    std::ranges::move(commit.leftovers, std::back_inserter(report.leftovers));
    if (commit.snapshot_id) report.snapshot_ids.push_back(*commit.snapshot_id);
    if (committed) {
      Count(dangling, "removed-", report);
      report.outcome = TaskOutcome::kDone;
      return {};
    }
    const bool again = committed.error().code() == Code::kConflict && plans < kMostPlans &&
                       HasMoved(table, options_.branch, snapshot->id);
    if (!again) return committed;
    report.notes.push_back("planned again: " + committed.error().message());
  }
}

}  // namespace icewright
