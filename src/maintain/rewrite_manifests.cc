#include "maintain/rewrite_manifests.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <unordered_set>
#include <vector>

#include "commit/snapshot_update.h"
#include "commit/written_files.h"
#include "maintain/manifest_rewriter.h"
#include "maintain/plan_again.h"
#include "maintain/rewrite_manifests_plan.h"
#include "maintain/task_checks.h"
#include "scan/plan_files.h"

namespace icewright {
namespace {

std::string NameOf(const ManifestPlan& plan, const ManifestGroup& group, std::size_t number) {
  return fmt::format("group {} spec {} {}", number, Raw(plan.orders[group.order].spec_id),
                     group.content == ManifestContent::kData ? "data" : "deletes");
}

void DescribePlan(const ManifestPlan& plan, TaskReport& report) {
  auto& counts = report.counts;
  counts.clear();
  report.items.clear();
  for (const ManifestGroup& group : plan.groups) {
    counts["planned-manifests-count"] += std::ssize(group.manifests);
    counts["planned-bytes"] += group.bytes;
    counts["planned-entries"] += group.live_files;
    counts["expected-manifests-count"] += group.expected_manifests;
    report.items.push_back({NameOf(plan, group, report.items.size()),
                            {{"manifests", std::ssize(group.manifests)},
                             {"bytes", group.bytes},
                             {"entries", group.live_files},
                             {"expected-manifests", group.expected_manifests}}});
  }
  counts["kept-manifests-count"] = plan.kept;
}

// One plan and what came of it.
class RewriteRun {
 public:
  RewriteRun(RunContext& run, Table& table, const RewriteManifestsOptions& options,
             TaskReport& report)
      : run_(run),
        table_(table),
        options_(options),
        report_(report),
        metadata_(table.shared_metadata()),
        written_(run.random().NewUuid()) {}

  // Precondition: the table has just been loaded. Errors: kConflict, with is_stale() telling
  // whether it may help.
  Status Execute() {
    IW_ASSIGN(const ManifestSettings settings,
              ResolveRewriteManifestsOptions(options_, *metadata_));
    IW_ASSIGN(const Snapshot* snapshot, SelectSnapshot(*metadata_, {.branch = options_.branch}));
    if (snapshot == nullptr) return NothingToDo("the table has no snapshot");
    run_.progress().Enter("plan", "manifests");
    IW_ASSIGN(manifests_, ReadManifests(run_, table_.io(), *metadata_, *snapshot));
    const ManifestPlan plan = PlanRewriteManifests(manifests_, *metadata_, settings);
    DescribePlan(plan, report_);
    if (plan.unknown_specs > 0) {
      report_.notes.push_back(fmt::format(
          "{} manifest(s) left alone: the table does not know the types of their partition spec "
          "any more",
          plan.unknown_specs));
    }
    if (plan.groups.empty()) return NothingToDo("nothing would be gained");
    if (options_.dry_run) {
      report_.outcome = TaskOutcome::kPlanned;
      return {};
    }
    const Status done = RewriteAndCommit(plan, settings);
    if (done || done.error().code() == Code::kCommitUnknown) return done;
    Discard();
    return done;
  }

  bool is_stale() const { return stale_; }

 private:
  Status NothingToDo(std::string reason) {
    report_.outcome = TaskOutcome::kNothingToDo;
    report_.reason = std::move(reason);
    return {};
  }

  Status RewriteAndCommit(const ManifestPlan& plan, const ManifestSettings& settings) {
    ManifestSwap swap{.format_version = metadata_->format_version};
    IW_TRY(RewriteGroups(plan, settings, swap));
    if (swap.replaced.empty()) {
      Discard();
      return NothingToDo("nothing would be gained");
    }
    SnapshotUpdate update{.operation = "replace", .branch = options_.branch};
    update.manifests = std::move(swap);
    CommitReport commit;
    const Status committed = CommitSnapshot(run_, table_, update, commit);
    std::ranges::move(commit.leftovers, std::back_inserter(report_.leftovers));
    if (committed) return Succeed(*update.manifests, commit);
    if (committed.error().code() == Code::kCommitUnknown) {
      if (commit.snapshot_id) report_.snapshot_ids.push_back(*commit.snapshot_id);
      std::ranges::move(written_.all(), std::back_inserter(report_.leftovers));
    }
    stale_ = committed.error().code() == Code::kConflict && IsOvertaken(*update.manifests);
    return committed;
  }

  // A group that turns out to gain nothing is not swapped.
  Status RewriteGroups(const ManifestPlan& plan, const ManifestSettings& settings,
                       ManifestSwap& swap) {
    run_.progress().Enter("rewrite", "manifests", report_.counts["planned-manifests-count"]);
    ManifestRewriter rewriter(run_, table_.io(), *metadata_, settings.target_bytes, written_);
    std::int64_t left_alone = 0;
    for (std::size_t i = 0; i < plan.groups.size(); ++i) {
      const ManifestGroup& group = plan.groups[i];
      auto done = rewriter.Rewrite(plan, group, manifests_);
      if (!done) return done.error().Within(NameOf(plan, group, i));
      left_alone += done->left_alone;
      const bool fewer = done->added.size() < done->replaced.size();
      const bool split = group.splits && done->added.size() > done->replaced.size();
      if (!fewer && !split && !(group.reorders && !done->replaced.empty())) continue;
      swap.entries_processed += done->entries;
      std::ranges::move(done->replaced, std::back_inserter(swap.replaced));
      std::ranges::move(done->added, std::back_inserter(swap.added));
    }
    if (left_alone > 0) {
      report_.notes.push_back(fmt::format(
          "{} manifest(s) left alone: they have columns of a newer writer", left_alone));
    }
    return {};
  }

  Status Succeed(const ManifestSwap& swap, const CommitReport& commit) {
    report_.snapshot_ids.push_back(*commit.snapshot_id);
    auto& counts = report_.counts;
    counts["rewritten-manifests-count"] = std::ssize(swap.replaced);
    counts["added-manifests-count"] = std::ssize(swap.added);
    counts["kept-manifests-count"] = std::ssize(manifests_) - std::ssize(swap.replaced);
    counts["entries-processed"] = swap.entries_processed;
    for (const ManifestFile& manifest : swap.replaced) {
      counts["rewritten-bytes"] += manifest.manifest_length;
    }
    std::unordered_set<Location> named;
    for (const ManifestFile& manifest : swap.added) {
      counts["added-bytes"] += manifest.manifest_length;
      named.insert(manifest.manifest_path);
    }
    // Of groups without a gain.
    std::ranges::move(written_.DeleteAllBut(table_.io(), named),
                      std::back_inserter(report_.leftovers));
    report_.outcome = TaskOutcome::kDone;
    return {};
  }

  // True if what was planned on is not what the branch has now.
  bool IsOvertaken(const ManifestSwap& swap) {
    const TableMetadata& now = table_.metadata();
    const Snapshot* head = now.FindRef(options_.branch);
    if (head == nullptr) return false;
    const auto current = ReadManifests(run_, table_.io(), now, *head);
    return current && !SwapManifests(swap, SnapshotId(), now.format_version, *current);
  }

  void Discard() {
    std::ranges::move(written_.DeleteAllBut(table_.io(), {}),
                      std::back_inserter(report_.leftovers));
  }

  RunContext& run_;
  Table& table_;
  const RewriteManifestsOptions& options_;
  TaskReport& report_;
  std::shared_ptr<const TableMetadata> metadata_;
  WrittenFiles written_;
  std::vector<ManifestFile> manifests_;
  bool stale_ = false;
};

}  // namespace

Status RewriteManifests::Execute(RunContext& run, Table& table, TaskReport& report) const {
  IW_TRY(CheckMayCommit(table, options_.dry_run));
  return PlanUntilCommitted(run, table, report, [&](bool& stale) {
    RewriteRun attempt(run, table, options_, report);
    const Status done = attempt.Execute();
    stale = attempt.is_stale();
    return done;
  });
}

}  // namespace icewright
