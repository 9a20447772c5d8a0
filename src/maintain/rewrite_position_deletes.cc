#include "maintain/rewrite_position_deletes.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <vector>

#include "base/executor.h"
#include "commit/snapshot_update.h"
#include "data/position_delete_rewrite.h"
#include "maintain/live_deletes.h"
#include "maintain/plan_again.h"
#include "maintain/rewrite_position_deletes_plan.h"
#include "maintain/task_checks.h"
#include "manifest/pruning.h"
#include "scan/plan_files.h"
#include "table/expression.h"

namespace icewright {
namespace {

bool IsPositionDeleteFile(const DataFile& file) {
  return file.content == FileContent::kPositionDeletes && !file.is_deletion_vector();
}

struct PartitionKey {
  SpecId spec_id{};
  StructValue tuple;
  bool operator==(const PartitionKey& other) const {
    return spec_id == other.spec_id && StructValueEqual{}(tuple, other.tuple);
  }
};
struct PartitionKeyHash {
  std::size_t operator()(const PartitionKey& key) const {
    return HashCombine(static_cast<std::size_t>(Raw(key.spec_id)), StructValueHash{}(key.tuple));
  }
};

// Position delete files of one partition, and the data files they apply to.
struct Partition {
  std::vector<std::shared_ptr<const DeleteTask>> files;
  std::vector<PositionDeleteFacts> facts;
  std::vector<DeleteTarget> targets;
};

// In first-seen order, so that a plan is the same every time.
class Partitions {
 public:
  Partition& Of(const DataFile& file) {
    const PartitionKey key{file.spec_id, file.partition};
    const auto [at, is_new] = numbers_.try_emplace(key, all_.size());
    if (is_new) all_.push_back({key, {}});
    return all_[at->second].second;
  }
  std::vector<std::pair<PartitionKey, Partition>>& all() { return all_; }

 private:
  std::unordered_map<PartitionKey, std::size_t, PartitionKeyHash> numbers_;
  std::vector<std::pair<PartitionKey, Partition>> all_;
};

Result<Partitions> ReadPartitions(RunContext& run, FileIO& io, const TableMetadata& metadata,
                                  const Snapshot& snapshot) {
  Partitions partitions;
  const auto visit = [&](const FileTask& task) -> Status {
    const bool wanted = std::ranges::any_of(
        task.deletes, [](const auto& deletes) { return IsPositionDeleteFile(deletes->file); });
    if (!wanted) return {};
    partitions.Of(task.data_file)
        .targets.push_back({task.data_file.file_path, task.sequence_number});
    return {};
  };
  IW_ASSIGN(const AttachedDeletes attached,
            FindAttachedDeletes(run, io, metadata, snapshot, visit));
  const auto add = [&](std::shared_ptr<const DeleteTask> deletes, bool is_attached) {
    if (!IsPositionDeleteFile(deletes->file)) return;
    Partition& partition = partitions.Of(deletes->file);
    partition.facts.push_back({.size_bytes = deletes->file.file_size_in_bytes,
                               .references = ReferencedDataFile(deletes->file),
                               .attached = is_attached});
    partition.files.push_back(std::move(deletes));
  };
  std::vector<std::shared_ptr<const DeleteTask>> sorted;
  for (const auto& [key, deletes] : attached) sorted.push_back(deletes);
  std::ranges::sort(sorted, [](const auto& a, const auto& b) {
    return std::pair(a->sequence_number, std::string_view(a->file.file_path.text())) <
           std::pair(b->sequence_number, std::string_view(b->file.file_path.text()));
  });
  for (auto& deletes : sorted) add(std::move(deletes), true);
  IW_ASSIGN(std::vector<DeleteTask> detached,
            FindDetachedDeletes(run, io, metadata, snapshot, attached));
  for (DeleteTask& deletes : detached) {
    add(std::make_shared<const DeleteTask>(std::move(deletes)), false);
  }
  return partitions;
}

// One plan and what came of it.
class DeleteRewrite {
 public:
  DeleteRewrite(RunContext& run, Table& table, const RewritePositionDeletesOptions& options,
                TaskReport& report)
      : run_(run),
        table_(table),
        options_(options),
        report_(report),
        metadata_(table.shared_metadata()) {}

  Status Execute() {
    IW_ASSIGN(const PositionDeleteSettings settings,
              ResolvePositionDeleteOptions(options_, *metadata_));
    IW_ASSIGN(const Snapshot* snapshot, SelectSnapshot(*metadata_, {.branch = options_.branch}));
    if (snapshot == nullptr) return NothingToDo("the table has no snapshot");
    snapshot_id_ = snapshot->id;
    IW_TRY(Plan(*snapshot, settings));
    Describe();
    if (requests_.empty()) return NothingToDo("no position delete file is worth a rewrite");
    if (options_.dry_run) {
      report_.outcome = TaskOutcome::kPlanned;
      return {};
    }
    const Status done = RewriteAndCommit();
    if (!done && done.error().code() != Code::kCommitUnknown) Discard();
    return done;
  }

  SnapshotId planned_on() const { return snapshot_id_; }

 private:
  Status NothingToDo(std::string reason) {
    report_.outcome = TaskOutcome::kNothingToDo;
    report_.reason = std::move(reason);
    return {};
  }

  Status Plan(const Snapshot& snapshot, const PositionDeleteSettings& settings) {
    run_.progress().Enter("plan", "delete files");
    Expression filter;
    if (!options_.filter.empty()) {
      IW_ASSIGN(filter,
                ParseExpression(metadata_->schema(), options_.filter, options_.case_sensitive));
    }
    IW_ASSIGN(Partitions partitions, ReadPartitions(run_, table_.io(), *metadata_, snapshot));
    for (auto& [key, partition] : partitions.all()) {
      const PartitionSpec* spec = metadata_->FindSpec(key.spec_id);
      if (spec == nullptr) continue;  // nothing can be written for it
      if (!filter.is_true() &&
          !MayMatch(ProjectInclusive(filter, metadata_->schema(), *spec), *spec, key.tuple)) {
        continue;
      }
      for (const PositionDeleteGroup& group : PlanPositionDeletes(partition.facts, settings)) {
        PositionDeletesRequest& request = requests_.emplace_back();
        request.spec_id = key.spec_id;
        request.partition = key.tuple;
        request.as_vectors = settings.as_vectors;
        request.file_per_data_file = settings.file_per_data_file;
        request.roll_at_bytes = settings.target;
        for (const std::size_t i : group) request.inputs.push_back(partition.files[i]);
        request.targets = partition.targets;
      }
    }
    return {};
  }

  std::string NameOf(const PositionDeletesRequest& request) const {
    const PartitionSpec* spec = metadata_->FindSpec(request.spec_id);
    const std::string path = spec->PathOf(metadata_->schema(), request.partition);
    return path.empty() ? "the table" : "partition " + path;
  }

  void Describe() {
    auto& counts = report_.counts;
    counts.clear();
    report_.items.clear();
    counts["planned-groups"] = std::ssize(requests_);
    for (const PositionDeletesRequest& request : requests_) {
      std::int64_t bytes = 0;
      std::int64_t rows = 0;
      for (const auto& input : request.inputs) {
        bytes += input->file.file_size_in_bytes;
        rows += input->file.record_count;
      }
      counts["planned-delete-files-count"] += std::ssize(request.inputs);
      counts["planned-bytes"] += bytes;
      report_.items.push_back({NameOf(request),
                               {{"delete-files", std::ssize(request.inputs)},
                                {"bytes", bytes},
                                {"positions", rows},
                                {"data-files", std::ssize(request.targets)}}});
    }
  }

  Status RewriteAndCommit() {
    run_.progress().Enter("rewrite", "groups", std::ssize(requests_));
    results_.resize(requests_.size());
    const int limit = std::min(options_.max_concurrent_file_group_rewrites, run_.threads());
    const std::string operation = run_.random().NewUuid();
    IW_TRY(ParallelFor(run_, requests_.size(), limit, [&](std::size_t i) -> Status {
      auto done = RewritePositionDeleteFiles(run_, table_.shared_io(), metadata_, requests_[i],
                                             fmt::format("{}-{}", operation, i));
      if (!done) return done.error().Within(NameOf(requests_[i]));
      results_[i] = *std::move(done);
      run_.progress().Advance();
      return {};
    }));
    DropIdleGroups();
    if (requests_.empty()) return NothingToDo("no position delete file is worth a rewrite");
    CommitReport commit;
    const Status committed = CommitSnapshot(run_, table_, Update(), commit);
    std::ranges::move(commit.leftovers, std::back_inserter(report_.leftovers));
    if (commit.snapshot_id) report_.snapshot_ids.push_back(*commit.snapshot_id);
    if (committed) {
      Count();
      report_.outcome = TaskOutcome::kDone;
    } else if (committed.error().code() == Code::kCommitUnknown) {
      std::ranges::move(Written(), std::back_inserter(report_.leftovers));
    }
    return committed;
  }

  // As many files as before with all their rows, for the same data files: the next run would do the
  // same again.
  void DropIdleGroups() {
    std::vector<PositionDeletesRequest> requests;
    std::vector<RewrittenPositionDeletes> results;
    std::vector<RewrittenPositionDeletes> idle;
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      const bool gains = options_.rewrite_all || requests_[i].as_vectors ||
                         results_[i].rows_dropped > 0 || NarrowsScope(requests_[i]) ||
                         results_[i].added.size() != requests_[i].inputs.size();
      if (gains) requests.push_back(std::move(requests_[i]));
      (gains ? results : idle).push_back(std::move(results_[i]));
    }
    results_ = std::move(idle);
    Discard();
    requests_ = std::move(requests);
    results_ = std::move(results);
  }

  // Granularity file: deletes of many data files become deletes of one each.
  static bool NarrowsScope(const PositionDeletesRequest& request) {
    return request.file_per_data_file && std::ranges::any_of(request.inputs, [](const auto& input) {
             return !ReferencedDataFile(input->file).has_value();
           });
  }

  SnapshotUpdate Update() const {
    SnapshotUpdate update{
        .operation = "replace", .branch = options_.branch, .validate_from = snapshot_id_};
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      for (const auto& input : requests_[i].inputs) {
        update.removed_delete_files.push_back(input->file);
      }
      for (const NewDeletes& added : results_[i].added) {
        update.added_delete_files.push_back({added.file, added.sequence_number});
      }
    }
    return update;
  }

  void Count() {
    auto& counts = report_.counts;
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      const RewrittenPositionDeletes& result = results_[i];
      counts["rewritten-delete-files-count"] += std::ssize(requests_[i].inputs);
      counts["added-delete-files-count"] += std::ssize(result.added);
      counts["positions-read"] += result.rows_read;
      counts["positions-written"] += result.rows_written;
      counts["positions-dropped"] += result.rows_dropped;
      for (const auto& input : requests_[i].inputs) {
        counts["rewritten-bytes"] += input->file.file_size_in_bytes;
      }
      for (const NewDeletes& added : result.added) {
        counts["added-bytes"] +=
            added.file.content_size_in_bytes.value_or(added.file.file_size_in_bytes);
      }
    }
  }

  // A Puffin file once, however many vectors are in it.
  std::vector<Location> Written() const {
    std::vector<Location> files;
    for (const RewrittenPositionDeletes& result : results_) {
      for (const NewDeletes& added : result.added) {
        if (files.empty() || files.back() != added.file.file_path) {
          files.push_back(added.file.file_path);
        }
      }
    }
    return files;
  }

  void Discard() {
    for (const DeleteFailure& failure : table_.io().DeleteFiles(Written())) {
      report_.leftovers.push_back(failure.location);
    }
  }

  RunContext& run_;
  Table& table_;
  const RewritePositionDeletesOptions& options_;
  TaskReport& report_;
  const std::shared_ptr<const TableMetadata> metadata_;
  SnapshotId snapshot_id_{};
  std::vector<PositionDeletesRequest> requests_;
  std::vector<RewrittenPositionDeletes> results_;
};

}  // namespace

Status RewritePositionDeletes::Execute(RunContext& run, Table& table, TaskReport& report) const {
  IW_TRY(CheckMayCommit(table, options_.dry_run));
  return PlanUntilCommitted(run, table, report, [&](bool& stale) {
    DeleteRewrite attempt(run, table, options_, report);
    const Status done = attempt.Execute();
    stale = HasMoved(table, options_.branch, attempt.planned_on());
    return done;
  });
}

}  // namespace icewright
