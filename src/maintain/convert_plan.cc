#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "config/fields.h"
#include "maintain/convert_cycle.h"
#include "maintain/staged_changes.h"
#include "maintain/staging_history.h"
#include "manifest/manifest_file.h"
#include "manifest/manifest_reader.h"
#include "scan/delete_index.h"
#include "scan/plan_files.h"

namespace icewright {
namespace {

/// Staged deletes reach every row that is on the target before them, whatever its number.
constexpr SequenceNumber kAboveAll{std::numeric_limits<std::int64_t>::max()};

struct LiveEqualityDelete {
  DataFile file;
  SequenceNumber sequence_number{0};
  SnapshotId added_by{};
};

/// By sequence number.
Result<std::vector<LiveEqualityDelete>> FindLiveEqualityDeletes(RunContext& run, FileIO& io,
                                                                const TableMetadata& metadata,
                                                                const Snapshot& head) {
  std::vector<LiveEqualityDelete> out;
  IW_ASSIGN(const auto manifests, ReadManifests(run, io, metadata, head));
  for (const ManifestFile& manifest : manifests) {
    if (manifest.content != ManifestContent::kDeletes || !manifest.may_have_live()) continue;
    IW_TRY(run.Check());
    IW_ASSIGN(ManifestReader reader,
              ManifestReader::Open(io, metadata, manifest, {.metrics = false, .live_only = true}));
    for (;;) {
      ManifestEntry entry;
      IW_ASSIGN(const bool more, reader.Next(entry));
      if (!more) break;
      if (entry.file.content != FileContent::kEqualityDeletes) continue;
      out.push_back({.file = std::move(entry.file),
                     .sequence_number = entry.sequence_number.value_or(manifest.sequence_number),
                     .added_by = entry.snapshot_id.value_or(manifest.added_snapshot_id)});
    }
  }
  std::ranges::stable_sort(out, {}, &LiveEqualityDelete::sequence_number);
  return out;
}

/// How many deletes fit: a plan has each of them beside each data file that it may reach.
std::int64_t MostDeletes(RunContext& run, const Snapshot& head) {
  constexpr std::int64_t kPairBytes = 24;
  constexpr std::int64_t kShare = 8;  // of the memory
  std::int64_t files = 0;
  const std::string* text = FindKey(head.summary, "total-data-files");
  if (text == nullptr || !ParseField(*text, FieldUnit::kNone, files)) files = 1;
  return run.memory().available() / kShare / kPairBytes / std::max<std::int64_t>(files, 1);
}

/// Keeps the deletes of the oldest snapshots, of one at least, and says how many snapshots that are
/// and whether it was for `most_deletes` that others were left out.
void KeepOldest(std::vector<LiveEqualityDelete>& deletes, std::optional<std::int64_t> most,
                std::int64_t most_deletes, ConvertWork& work) {
  work.snapshots = 0;
  for (std::size_t i = 0; i < deletes.size();) {
    std::size_t next = i + 1;
    while (next < deletes.size() && deletes[next].sequence_number == deletes[i].sequence_number) {
      ++next;
    }
    work.is_part = i > 0 && static_cast<std::int64_t>(next) > most_deletes;
    if (work.snapshots == most || work.is_part) {
      deletes.erase(deletes.begin() + static_cast<std::ptrdiff_t>(i), deletes.end());
      return;
    }
    ++work.snapshots;
    i = next;
  }
}

/// Promotion of one staging snapshot onto the target's head.
class Promotion {
 public:
  Promotion(RunContext& run, const Table& table, const ConvertSettings& settings,
            const Snapshot& staged, StagedChanges changes)
      : run_(run), table_(table), settings_(settings), staged_(staged) {
    work_.marker = staged.id;
    work_.data_files = std::move(changes.data_files);
    work_.equality_deletes = std::move(changes.equality_deletes);
    work_.vectors = std::move(changes.vectors);
  }

  Result<ConvertWork> Plan() {
    const TableMetadata& metadata = table_.metadata();
    for (const DataFile& file : work_.data_files) staged_paths_.insert(file.file_path);
    for (const DataFile& vector : work_.vectors) {
      if (const auto path = ReferencedDataFile(vector)) referenced_.insert(*path);
    }
    IW_ASSIGN(const Snapshot* head, SelectSnapshot(metadata, {.branch = settings_.target}));
    if (head != nullptr) {
      work_.base = head->id;
      IW_TRY(VisitTarget(*head));
    }
    IW_TRY(CheckVectors());
    work_.resolve = Rule();
    return std::move(work_);
  }

 private:
  Status VisitTarget(const Snapshot& head) {
    const TableMetadata& metadata = table_.metadata();
    std::vector<DeleteTask> deletes;
    for (const DataFile& file : work_.equality_deletes) {
      deletes.push_back({.file = file, .sequence_number = kAboveAll});
    }
    IW_ASSIGN(const DeleteIndex staged, DeleteIndex::Build(metadata, std::move(deletes)));
    for (DataFile& file : work_.equality_deletes) file.DropMetrics();
    const auto visit = [&](FileTask&& task) { return Visit(std::move(task), staged); };
    IW_TRY(PlanFiles(run_, table_.io(), metadata, head, {.metrics = true}, visit));
    return {};
  }

  Status Visit(FileTask&& task, const DeleteIndex& staged) {
    const Location& path = task.data_file.file_path;
    if (staged_paths_.contains(path)) {
      return Error(Code::kConflict,
                   fmt::format("data file {} of staging snapshot {} is on branch '{}' already: "
                               "the snapshot was promoted before; run with --resume-from {}",
                               path.text(), Raw(staged_.id), settings_.target, Raw(staged_.id)));
    }
    for (const auto& deletes : task.deletes) {
      if (deletes->file.content != FileContent::kEqualityDeletes) continue;
      return Error(Code::kUnsupported,
                   fmt::format("branch '{}' has equality deletes of its own ({}); convert them "
                               "first: convert-equality-deletes without --staging-branch",
                               settings_.target, deletes->file.file_path.text()));
    }
    IW_ASSIGN(auto reaching, staged.Find(task.data_file, task.sequence_number));
    if (reaching.empty() && !referenced_.contains(path)) return {};
    task.data_file.DropMetrics();
    task.deletes.insert(task.deletes.end(), reaching.begin(), reaching.end());
    work_.tasks.push_back(std::move(task));
    return {};
  }

  /// A staged vector must belong to a data file that is there after the commit.
  Status CheckVectors() const {
    std::unordered_set<Location> there = staged_paths_;
    for (const FileTask& task : work_.tasks) there.insert(task.data_file.file_path);
    for (const Location& path : referenced_) {
      if (there.contains(path)) continue;
      return Error(Code::kConflict,
                   fmt::format("staging snapshot {} deletes rows of {}, which is not on branch "
                               "'{}': it was rewritten or removed there; recreate the staging "
                               "branch from '{}'",
                               Raw(staged_.id), path.text(), settings_.target, settings_.target));
    }
    return {};
  }

  /// Rows that others put on the target after the delete was staged stay: the writer of the delete
  /// cannot have meant them. Promoted rows are older in the order of the staging branch, though
  /// their numbers are higher.
  ResolveOptions Rule() const {
    const SequenceNumber staged = staged_.sequence_number;
    const auto commits = std::make_shared<const CommitsSince>(
        FindCommitsSince(table_.metadata(), settings_.staging, settings_.target, staged));
    const auto is_promoted = [commits](SequenceNumber number) {
      return std::ranges::binary_search(commits->conversions, number);
    };
    const auto file = [=](const FileTask& task) -> std::optional<bool> {
      if (task.sequence_number <= staged) return true;
      // Compaction puts rows of any age into a file, and gives it the number of a commit before.
      const bool is_original = task.file_sequence_number == task.sequence_number;
      if (is_original && is_promoted(task.sequence_number)) return true;
      return std::nullopt;
    };
    const auto row = [=, target = settings_.target](SequenceNumber number) -> Result<bool> {
      if (number <= staged || is_promoted(number)) return true;
      if (number > commits->unknown_up_to) return false;
      return Error(Code::kConflict,
                   fmt::format("a staged delete may reach a row that branch '{}' got with sequence "
                               "number {}, and the snapshot that says where the row came from has "
                               "expired; keep the snapshots of the target until the staging branch "
                               "is promoted",
                               target, Raw(number)));
    };
    return {.reaches_file = file, .reaches_row = row};
  }

  RunContext& run_;
  const Table& table_;
  const ConvertSettings& settings_;
  const Snapshot& staged_;
  ConvertWork work_;
  std::unordered_set<Location> staged_paths_;
  std::unordered_set<Location> referenced_;
};

}  // namespace

Result<std::optional<ConvertWork>> PlanInPlace(RunContext& run, const Table& table,
                                               const ConvertSettings& settings) {
  const TableMetadata& metadata = table.metadata();
  IW_ASSIGN(const Snapshot* head, SelectSnapshot(metadata, {.branch = settings.target}));
  if (head == nullptr) return std::optional<ConvertWork>();
  IW_ASSIGN(auto deletes, FindLiveEqualityDeletes(run, table.io(), metadata, *head));
  ConvertWork work{.base = head->id, .removes_equality_deletes = true};
  KeepOldest(deletes, settings.max_snapshots, MostDeletes(run, *head), work);
  if (deletes.empty()) return std::optional<ConvertWork>();
  std::unordered_set<Location> chosen;
  for (LiveEqualityDelete& one : deletes) {
    IW_TRY(CheckEqualityDelete(metadata, one.file, settings.key));
    chosen.insert(one.file.file_path);
    work.equality_deletes.push_back(std::move(one.file));
  }
  work.marker = deletes.back().added_by;
  work.newest_delete = deletes.back().sequence_number;
  const auto visit = [&](FileTask&& task) -> Status {
    std::erase_if(task.deletes, [&](const std::shared_ptr<const DeleteTask>& one) {
      return one->file.content == FileContent::kEqualityDeletes &&
             !chosen.contains(one->file.file_path);
    });
    const bool reached = std::ranges::any_of(task.deletes, [](const auto& one) {
      return one->file.content == FileContent::kEqualityDeletes;
    });
    if (reached) work.tasks.push_back(std::move(task));
    return {};
  };
  IW_TRY(PlanFiles(run, table.io(), metadata, *head, {}, visit));
  return std::optional(std::move(work));
}

Result<std::optional<ConvertWork>> PlanPromotion(RunContext& run, const Table& table,
                                                 const ConvertSettings& settings) {
  const TableMetadata& metadata = table.metadata();
  IW_ASSIGN(const auto waiting, FindWaitingSnapshots(metadata, settings.staging, settings.target,
                                                     settings.resume_from));
  for (const Snapshot* staged : waiting.snapshots) {
    IW_ASSIGN(StagedChanges changes,
              ReadStagedChanges(run, table.io(), metadata, *staged, settings.key));
    if (changes.empty()) continue;
    IW_ASSIGN(ConvertWork work,
              Promotion(run, table, settings, *staged, std::move(changes)).Plan());
    return std::optional(std::move(work));
  }
  return std::optional<ConvertWork>();
}

}  // namespace icewright
