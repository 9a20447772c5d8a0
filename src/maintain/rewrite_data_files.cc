#include "maintain/rewrite_data_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <set>
#include <unordered_map>
#include <utility>

#include "base/executor.h"
#include "data/rewrite_engine.h"
#include "maintain/remove_dangling_deletes.h"
#include "maintain/rewrite_committer.h"
#include "maintain/task_checks.h"
#include "manifest/data_file.h"
#include "scan/plan_files.h"
#include "table/expression.h"
#include "table/snapshot_summary.h"

namespace icewright {
namespace {

// Numbers partitions in first-seen order. Files of another spec than the table's default share the
// tuple of nulls, as in Java.
class PartitionNumbers {
 public:
  explicit PartitionNumbers(const PartitionSpec& default_spec)
      : spec_id_(default_spec.id), nulls_(default_spec.fields.size()) {}

  std::uint32_t NumberOf(const DataFile& file) {
    const StructValue& key = file.spec_id == spec_id_ ? file.partition : nulls_;
    const auto [at, is_new] =
        numbers_.try_emplace(key, static_cast<std::uint32_t>(partitions_.size()));
    if (is_new) partitions_.push_back(key);
    return at->second;
  }

  std::vector<StructValue> Take() && { return std::move(partitions_); }

 private:
  SpecId spec_id_;
  StructValue nulls_;
  std::unordered_map<StructValue, std::uint32_t, StructValueHash, StructValueEqual> numbers_;
  std::vector<StructValue> partitions_;
};

RewriteCandidate FactsOf(const FileTask& task, std::uint32_t partition) {
  RewriteCandidate facts{.size_bytes = task.data_file.file_size_in_bytes,
                         .record_count = task.data_file.record_count,
                         .partition = partition,
                         .delete_files = static_cast<int>(task.deletes.size())};
  for (const auto& deletes : task.deletes) {
    if (deletes->file.content == FileContent::kPositionDeletes &&
        ReferencedDataFile(deletes->file)) {
      facts.file_scoped_deletes += deletes->file.record_count;
    }
  }
  return facts;
}

std::string NameOf(const RewriteJob& job, const RewriteGroup& group) {
  const std::string path =
      job.metadata->default_spec().PathOf(job.metadata->schema(), job.partitions[group.partition]);
  return path.empty() ? fmt::format("group {}", group.global_index)
                      : fmt::format("group {} {}", group.global_index, path);
}

// How many files the plan may see, so that a big vector need not grow by copying. Summaries are
// optional and not to be trusted: the hint is bounded.
std::size_t FilesHint(const Snapshot& snapshot) {
  constexpr std::size_t kMost = std::size_t{1} << 20;
  std::size_t hint = 0;
  if (const std::string* text = FindKey(snapshot.summary, summary::kTotalDataFiles)) {
    std::from_chars(text->data(), text->data() + text->size(), hint);
  }
  return std::min(hint, kMost);
}

void DescribePlan(const RewriteJob& job, TaskReport& report) {
  auto& counts = report.counts;
  counts["planned-groups"] = std::ssize(job.plan.groups);
  counts["planned-data-files-count"] = 0;
  counts["planned-bytes"] = 0;
  counts["expected-output-files"] = 0;
  counts["deletes-to-apply"] = 0;
  for (const RewriteGroup& group : job.plan.groups) {
    counts["planned-data-files-count"] += std::ssize(group.files);
    counts["planned-bytes"] += group.input_bytes;
    counts["expected-output-files"] += group.expected_output_files;
    counts["deletes-to-apply"] += group.delete_files;
    report.items.push_back({NameOf(job, group),
                            {{"data-files", std::ssize(group.files)},
                             {"bytes", group.input_bytes},
                             {"expected-output-files", group.expected_output_files},
                             {"deletes-to-apply", group.delete_files}}});
  }
  if (job.plan.groups_without_gain > 0) {
    report.notes.push_back(
        fmt::format("{} group(s) left alone: a rewrite would lower neither the "
                    "number of files nor the deletes",
                    job.plan.groups_without_gain));
  }
  if (job.plan.groups_over_cap > 0) {
    report.notes.push_back(
        fmt::format("{} group(s) wait for the next run: max-files-to-rewrite or "
                    "max-rewrite-bytes is reached",
                    job.plan.groups_over_cap));
  }
}

// What remove-dangling-deletes does after (or without) a rewrite becomes part of its report.
Status RemoveDangling(RunContext& run, Table& table, const RewriteDataFilesOptions& options,
                      TaskReport& report) {
  TaskReport removal;
  const Status removed =
      RemoveDanglingDeletes({.branch = options.branch, .dry_run = options.dry_run})
          .Execute(run, table, removal);
  std::ranges::move(removal.snapshot_ids, std::back_inserter(report.snapshot_ids));
  std::ranges::move(removal.leftovers, std::back_inserter(report.leftovers));
  std::ranges::move(removal.notes, std::back_inserter(report.notes));
  const bool plans = options.dry_run;
  report.counts[plans ? "planned-dangling-delete-files" : "removed-dangling-delete-files-count"] =
      removal.counts[plans ? "planned-delete-files-count" : "removed-delete-files-count"];
  if (removed) {
    if (report.outcome == TaskOutcome::kNothingToDo &&
        removal.outcome != TaskOutcome::kNothingToDo) {
      report.outcome = removal.outcome;
      report.reason.clear();
    }
    return {};
  }
  // The rewrite has landed; others may win the race for the deletes.
  if (removed.error().code() != Code::kConflict) return removed;
  report.failures.push_back(removed.error().Within("remove dangling deletes"));
  report.outcome = TaskOutcome::kPartial;
  return {};
}

RewriteGroupRequest RequestOf(const RewriteDataFilesOptions& options, const RewriteJob& job,
                              const RewriteGroup& group) {
  RewriteGroupRequest request{.output_spec_id = job.output_spec_id,
                              .roll_at_bytes = group.input_split_size,
                              .expected_output_files = group.expected_output_files,
                              .sort_order = job.sort_order,
                              .verify_values = options.verify};
  request.tasks.reserve(group.files.size());
  for (const std::size_t i : group.files) request.tasks.push_back(job.tasks.Get(i));
  return request;
}

// What the engine would do with each group, for a dry run.
Status DescribeEngine(RunContext& run, const RewriteDataFilesOptions& options,
                      const RewriteJob& job, RewriteEngine& engine, TaskReport& report) {
  run.progress().Enter("estimate", "groups", std::ssize(job.plan.groups));
  std::set<std::string> reasons;
  for (const RewriteGroup& group : job.plan.groups) {
    IW_TRY(run.Check());
    IW_ASSIGN(const RewriteEstimate estimate, engine.Estimate(run, RequestOf(options, job, group)));
    for (const auto& [treatment, bytes] : estimate.bytes_by_treatment) {
      report.counts[treatment + "-bytes"] += bytes;
    }
    reasons.insert(estimate.reasons.begin(), estimate.reasons.end());
    run.progress().Advance();
  }
  report.notes.insert(report.notes.end(), reasons.begin(), reasons.end());
  return {};
}

// Rewrites the groups of a job in parallel and hands each to the committer.
class JobRunner {
 public:
  JobRunner(RunContext& run, const RewriteDataFilesOptions& options, const RewriteJob& job,
            RewriteEngine& engine, RewriteCommitter& committer)
      : run_(run), options_(options), job_(job), engine_(engine), committer_(committer) {}

  Status RewriteAll() {
    std::int64_t files = 0;
    for (const RewriteGroup& group : job_.plan.groups) files += std::ssize(group.files);
    run_.progress().Enter("rewrite", "files", files);
    const int limit = std::min(options_.max_concurrent_file_group_rewrites, run_.threads());
    const auto at_once = std::clamp<std::int64_t>(std::ssize(job_.plan.groups), 1, limit);
    group_threads_ = static_cast<int>(run_.threads() / at_once);
    return ParallelFor(run_, job_.plan.groups.size(), limit,
                       [&](std::size_t i) { return RewriteOne(job_.plan.groups[i]); });
  }

 private:
  Status RewriteOne(const RewriteGroup& group) {
    RewriteGroupRequest request = RequestOf(options_, job_, group);
    request.threads = group_threads_;
    auto rewritten = engine_.Rewrite(run_, request);
    run_.progress().Advance(std::ssize(group.files));
    if (rewritten) {
      return committer_.Add({.name = NameOf(job_, group),
                             .inputs = std::move(request.tasks),
                             .result = std::move(*rewritten)});
    }
    const Error error = rewritten.error().Within(NameOf(job_, group));
    // A stop ends the run; a group that fails for reasons of its own does not hold up the others.
    const Status still_running = run_.Check();
    if (!still_running || options_.all_or_nothing) return error;
    return committer_.AddFailure(error, std::ssize(request.tasks));
  }

  RunContext& run_;
  const RewriteDataFilesOptions& options_;
  const RewriteJob& job_;
  RewriteEngine& engine_;
  RewriteCommitter& committer_;
  int group_threads_ = 1;
};

}  // namespace

Result<RewriteJob> RewriteDataFiles::Plan(RunContext& run, const Table& table) const {
  RewriteJob job{.metadata = table.shared_metadata()};
  const TableMetadata& metadata = *job.metadata;
  IW_ASSIGN(const RewriteSizes sizes, ValidateRewriteOptions(options_, metadata));
  job.output_spec_id =
      options_.output_spec_id ? SpecId{*options_.output_spec_id} : metadata.default_spec_id;
  if (options_.strategy == "sort") {
    job.sort_order = metadata.default_sort_order();
    if (options_.sort_order) {
      IW_ASSIGN(job.sort_order, SortOrder::Parse(metadata.schema(), *options_.sort_order));
    }
  }
  PlanOptions plan_options;
  if (!options_.filter.empty()) {
    IW_ASSIGN(plan_options.filter,
              ParseExpression(metadata.schema(), options_.filter, options_.case_sensitive));
  }
  IW_ASSIGN(const Snapshot* snapshot, SelectSnapshot(metadata, {.branch = options_.branch}));
  if (snapshot == nullptr) return job;
  job.starting_snapshot = snapshot->id;
  job.starting_sequence_number = snapshot->sequence_number;

  run.progress().Enter("plan", "data files");
  PartitionNumbers numbers(metadata.default_spec());
  std::vector<RewriteCandidate> candidates;
  candidates.reserve(FilesHint(*snapshot));
  std::int64_t skipped = 0;
  bool respec = false;
  const auto visit = [&](FileTask&& task) -> Status {
    run.progress().Advance();
    const RewriteCandidate facts = FactsOf(task, numbers.NumberOf(task.data_file));
    if (!options_.rewrite_all && !IsRewriteCandidate(facts, options_, sizes)) {
      ++skipped;
      return {};
    }
    respec = respec || task.data_file.spec_id != job.output_spec_id;
    candidates.push_back(facts);
    job.tasks.Add(task);
    return {};
  };
  IW_TRY(PlanFiles(run, table.io(), metadata, *snapshot, plan_options, visit));
  job.partitions = std::move(numbers).Take();
  job.plan = PlanRewrite(candidates, options_, sizes, respec);
  job.plan.files_skipped += skipped;
  return job;
}

Status RewriteDataFiles::Execute(RunContext& run, Table& table, TaskReport& report) const {
  IW_TRY(CheckMayCommit(table, options_.dry_run));
  IW_TRY(table.Refresh(run));
  IW_TRY(RewriteGroups(run, table, report));
  return options_.remove_dangling_deletes ? RemoveDangling(run, table, options_, report) : Status();
}

Status RewriteDataFiles::RewriteGroups(RunContext& run, Table& table, TaskReport& report) const {
  IW_ASSIGN(const RewriteJob job, Plan(run, table));
  DescribePlan(job, report);
  report.counts["skipped-data-files-count"] = job.plan.files_skipped;
  if (job.plan.groups.empty()) {
    report.outcome = TaskOutcome::kNothingToDo;
    report.reason =
        job.partitions.empty() ? "no data file matches" : "no group of files is worth a rewrite";
    return {};
  }
  IW_ASSIGN(const EngineChoice choice, ParseEngineChoice(options_.engine));
  IW_ASSIGN(const auto engine,
            MakeEngine(choice, job.metadata, table.shared_io(), run.random().NewUuid()));
  if (options_.dry_run) {
    report.outcome = TaskOutcome::kPlanned;
    if (choice == EngineChoice::kDecode) return {};
    return DescribeEngine(run, options_, job, *engine, report);
  }
  RewriteCommitter committer(run, table, options_, job, report);
  const Status rewritten = JobRunner(run, options_, job, *engine, committer).RewriteAll();
  return committer.Finish(rewritten);
}

}  // namespace icewright
