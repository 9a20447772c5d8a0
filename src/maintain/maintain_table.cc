#include "maintain/maintain_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>

#include "maintain/convert_equality_deletes.h"
#include "maintain/delete_orphan_files.h"
#include "maintain/expire_snapshots.h"
#include "maintain/remove_dangling_deletes.h"
#include "maintain/rewrite_data_files.h"
#include "maintain/rewrite_manifests.h"
#include "maintain/task_checks.h"
#include "maintain/transient_retry.h"
#include "manifest/manifest_reader.h"

namespace icewright {
namespace {

/// In the safe order: rewriting first, since it leaves the old files to expiry; deletes that apply
/// to nothing then go; expiry before orphan clean-up, which would list what is about to go;
/// manifests last, when the fewest are left.
constexpr std::string_view kSteps[] = {"rewrite-data-files",      "convert-equality-deletes",
                                       "remove-dangling-deletes", "expire-snapshots",
                                       "delete-orphan-files",     "rewrite-manifests"};

/// A step made for the table as it is: a task, or the reason why it has nothing to do.
struct Step {
  std::unique_ptr<MaintenanceTask> task = {};
  std::string reason = {};
};

template <typename Task, typename Options>
Step StepOf(Options options) {
  return {.task = std::make_unique<Task>(std::move(options))};
}

bool EndsTheRun(Code code) {
  return code == Code::kCommitUnknown || code == Code::kCancelled || code == Code::kLockLost;
}

/// The columns of equality deletes: unset if there is none.
using EqualityKey = std::optional<std::vector<FieldId>>;

/// Every equality delete of the branch's head has the same columns, or it is an error with the
/// reason (kUnsupported).
Result<EqualityKey> FindEqualityKey(RunContext& run, const Table& table, const Snapshot& head) {
  EqualityKey key;
  IW_ASSIGN(const auto manifests, ReadManifests(run, table.io(), table.metadata(), head));
  for (const ManifestFile& manifest : manifests) {
    if (manifest.content != ManifestContent::kDeletes || !manifest.may_have_live()) continue;
    IW_TRY(run.Check());
    IW_ASSIGN(auto reader, ManifestReader::Open(table.io(), table.metadata(), manifest,
                                                {.metrics = false, .live_only = true}));
    ManifestEntry entry;
    for (;;) {
      IW_ASSIGN(const bool more, reader.Next(entry));
      if (!more) break;
      if (entry.file.content != FileContent::kEqualityDeletes) continue;
      std::vector<FieldId> ids = entry.file.equality_ids;
      std::ranges::sort(ids);
      if (key && *key != ids) {
        return Error(Code::kUnsupported,
                     "equality deletes have different columns; name those of the writer to "
                     "convert-equality-deletes");
      }
      key = std::move(ids);
    }
  }
  return key;
}

/// One call of Execute. Single-threaded.
class Chain {
 public:
  Chain(RunContext& run, Table& table, const MaintainTableOptions& options, TaskReport& report)
      : run_(run), table_(table), options_(options), report_(report) {}

  Status Run() {
    IW_ASSIGN(const auto skipped, SkippedSteps(options_, kSteps));
    IW_ASSIGN(retention_, RetentionOf(options_, table_.metadata().properties));
    report_.notes.push_back(retention_.text);
    if (options_.dry_run) {
      report_.notes.push_back(
          "each step is shown for the table as it is now, not as the steps "
          "before it would leave it");
    }
    for (const std::string_view name : kSteps) {
      TaskReport& step = report_.steps.emplace_back();
      step.name = name;
      step.outcome = TaskOutcome::kNothingToDo;
      if (skipped.contains(std::string(name))) {
        step.reason = "left out";
      } else if (stopped_by_) {
        step.outcome = TaskOutcome::kFailed;
        step.reason = "not run, since " + *stopped_by_ + " failed";
      } else {
        RunStep(name, step);
      }
      Collect(step);
    }
    return Finish();
  }

 private:
  void RunStep(std::string_view name, TaskReport& step) {
    const auto execute = [&]() -> Status {
      IW_TRY(run_.Check());
      IW_TRY(RetryTransient(run_, [&] { return table_.Refresh(run_); }));
      IW_ASSIGN(const Step made, Make(name));
      if (!made.task) {
        step.reason = made.reason;
        return {};
      }
      return made.task->Execute(run_, table_, step);
    };
    if (const Status status = execute(); !status) {
      step.outcome = TaskOutcome::kFailed;
      step.error = status.error();
    }
    step.name = name;
    if (!MayContinue(step)) stopped_by_ = step.name;
  }

  static bool MayContinue(const TaskReport& step) {
    if (step.error && !MayContinueAfter(step.error->code())) return false;
    return std::ranges::all_of(step.failures,
                               [](const Error& error) { return MayContinueAfter(error.code()); });
  }

  Result<Step> Make(std::string_view name) {
    if (name == "rewrite-data-files") {
      return StepOf<RewriteDataFiles>(
          RewriteDataFilesOptions{.branch = options_.branch, .dry_run = options_.dry_run});
    }
    if (name == "convert-equality-deletes") return MakeConversion();
    if (name == "remove-dangling-deletes") {
      return StepOf<RemoveDanglingDeletes>(
          RemoveDanglingDeletesOptions{.branch = options_.branch, .dry_run = options_.dry_run});
    }
    if (name == "rewrite-manifests") {
      return StepOf<RewriteManifests>(
          RewriteManifestsOptions{.branch = options_.branch, .dry_run = options_.dry_run});
    }
    if (!BoolProperty(table_.metadata().properties, "gc.enabled", true)) {
      return Step{.reason = "gc.enabled is false: files of this table may be used by others"};
    }
    if (name == "delete-orphan-files") {
      return StepOf<DeleteOrphanFiles>(DeleteOrphanFilesOptions{.dry_run = options_.dry_run});
    }
    return StepOf<ExpireSnapshots>(retention_.options);
  }

  Result<Step> MakeConversion() {
    const TableMetadata& metadata = table_.metadata();
    if (metadata.format_version < 3) {
      return Step{.reason = fmt::format("deletion vectors need format version 3, the table has {}",
                                        metadata.format_version)};
    }
    const Snapshot* head = metadata.FindRef(options_.branch);
    if (head == nullptr) return Step{.reason = "there is no snapshot"};
    const auto key = FindEqualityKey(run_, table_, *head);
    if (!key && key.error().code() == Code::kUnsupported) {
      return Step{.reason = key.error().message()};
    }
    IW_TRY(key);
    if (!*key) return Step{.reason = "there is no equality delete"};
    std::string columns;
    for (const FieldId id : **key) {
      const std::string_view name = metadata.schema().NameOf(id);
      if (name.empty()) {
        return Step{.reason = fmt::format("equality deletes have field {}, which was dropped; a "
                                          "compaction with --rewrite-all applies them",
                                          Raw(id))};
      }
      columns += (columns.empty() ? "" : ",") + std::string(name);
    }
    return StepOf<ConvertEqualityDeletes>(
        ConvertEqualityDeletesOptions{.target_branch = options_.branch,
                                      .equality_field_columns = columns,
                                      .dry_run = options_.dry_run});
  }

  /// What the chain's own report says of a step.
  void Collect(const TaskReport& step) {
    const auto add = [](auto& to, const auto& from) {
      to.insert(to.end(), from.begin(), from.end());
    };
    add(report_.snapshot_ids, step.snapshot_ids);
    add(report_.leftovers, step.leftovers);
    for (const Error& error : step.failures) {
      report_.failures.push_back(Error(error).Within(step.name));
    }
    if (step.error) report_.failures.push_back(Error(*step.error).Within(step.name));
    const bool did = step.outcome == TaskOutcome::kDone || step.outcome == TaskOutcome::kPlanned ||
                     step.outcome == TaskOutcome::kPartial;
    const bool failed = step.outcome == TaskOutcome::kFailed;
    ++report_.counts[did      ? "steps-done-count"
                     : failed ? "steps-failed-count"
                              : "steps-skipped-count"];
  }

  Status Finish() {
    const bool did_something = report_.counts["steps-done-count"] > 0;
    for (const TaskReport& step : report_.steps) {
      if (step.error && (EndsTheRun(step.error->code()) || !did_something)) {
        report_.outcome = TaskOutcome::kFailed;
        return Error(*step.error).Within(step.name);
      }
    }
    if (!report_.failures.empty()) {
      report_.outcome = TaskOutcome::kPartial;
    } else if (!did_something) {
      report_.outcome = TaskOutcome::kNothingToDo;
      report_.reason = "no step has anything to gain";
    } else {
      report_.outcome = options_.dry_run ? TaskOutcome::kPlanned : TaskOutcome::kDone;
    }
    return {};
  }

  RunContext& run_;
  Table& table_;
  const MaintainTableOptions& options_;
  TaskReport& report_;
  Retention retention_;
  std::optional<std::string> stopped_by_;
};

}  // namespace

bool MayContinueAfter(Code code) {
  switch (code) {
    case Code::kConflict:
    case Code::kExhausted:
    case Code::kUnsupported:
    case Code::kInvalidArgument:
      return true;
    default:
      return false;
  }
}

Result<std::vector<std::string>> MaintainTable::Announce(const TableMetadata& metadata) const {
  IW_ASSIGN(Retention retention, RetentionOf(options_, metadata.properties));
  return std::vector<std::string>{std::move(retention.text)};
}

Status MaintainTable::Execute(RunContext& run, Table& table, TaskReport& report) const {
  report = {};
  IW_TRY(CheckMayCommit(table, options_.dry_run));
  IW_TRY(RetryTransient(run, [&] { return table.Refresh(run); }));
  if (table.metadata().is_encrypted()) {
    return Error(Code::kUnsupported, "an encrypted table is not maintained");
  }
  return Chain(run, table, options_, report).Run();
}

}  // namespace icewright
