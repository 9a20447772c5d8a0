#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "icewright/service/metric_page.h"
#include "icewright/service/prometheus_metrics.h"
#include "schedule/task_types.h"

namespace icewright::cli {
namespace {

using Value = std::int64_t (*)(const TaskStatus& task);

std::int64_t Sum(const TaskStatus& task, std::string_view prefix, std::string_view suffix) {
  std::int64_t sum = 0;
  for (const auto& [key, n] : task.totals.counts) {
    if (key.starts_with(prefix) && key.ends_with(suffix)) sum += n;
  }
  return sum;
}

std::int64_t Count(const TaskStatus& task, const char* key) {
  const auto found = task.totals.counts.find(key);
  return found == task.totals.counts.end() ? 0 : found->second;
}

std::int64_t Outcomes(const TaskStatus& task, const char* outcome) {
  const auto found = task.totals.outcomes.find(outcome);
  return found == task.totals.outcomes.end() ? 0 : found->second;
}

/// Where Flink has an operator that fails, a run of ours has an error code: conflicts and unknown
/// outcomes are those of the commit.
std::int64_t Errors(const TaskStatus& task, bool of_commit) {
  std::int64_t sum = 0;
  for (const auto& [code, n] : task.totals.error_codes) {
    const bool commit = code == Name(Code::kConflict) || code == Name(Code::kCommitUnknown);
    if (commit == of_commit) sum += n;
  }
  return sum;
}

std::int64_t CommitErrors(const TaskStatus& task) { return Errors(task, true); }
std::int64_t OtherErrors(const TaskStatus& task) { return Errors(task, false); }
std::int64_t Never(const TaskStatus&) { return 0; }

std::int64_t PlanErrors(const TaskStatus& task) {
  return std::max<std::int64_t>(0, OtherErrors(task) - task.totals.runs_with_failed_groups);
}

std::int64_t CorruptErrors(const TaskStatus& task) {
  const auto found = task.totals.error_codes.find(std::string(Name(Code::kCorrupt)));
  return found == task.totals.error_codes.end() ? 0 : found->second;
}

struct FlinkMetric {
  std::string_view kind;  ///< Of the task; empty: of all.
  std::string_view operator_name;
  std::string_view name;
  Value value;
  bool indexed = true;         ///< The operator's name ends with the task's number.
  bool in_maintenance = true;  ///< False: registered on the operator itself.
};

constexpr std::string_view kRewrite = "rewrite-data-files";
constexpr std::string_view kExpire = "expire-snapshots";
constexpr std::string_view kOrphans = "delete-orphan-files";
constexpr std::string_view kConvert = "convert-equality-deletes";

constexpr FlinkMetric kTaskMetrics[] = {
    {"", "Trigger manager", "triggered", [](const TaskStatus& t) { return t.triggered; }, false},
    {"", "Lock remover", "succeededTasks", [](const TaskStatus& t) { return t.succeeded; }, false},
    {"", "Lock remover", "failedTasks", [](const TaskStatus& t) { return t.failed; }, false},
    {"", "Lock remover", "lastRunDurationMs",
     [](const TaskStatus& t) { return t.last_run_duration_ms; }, false},

    {kRewrite, "RDF Planner", "error", PlanErrors},
    {kRewrite, "RDF Planner", "plannedGroups",
     [](const TaskStatus& t) { return Count(t, "planned-groups"); }},
    {kRewrite, "Rewrite", "error", [](const TaskStatus& t) { return Count(t, "failed-groups"); }},
    {kRewrite, "Rewrite commit", "error", CommitErrors},
    {kRewrite, "Rewrite commit", "addedDataFileNum",
     [](const TaskStatus& t) { return Count(t, "added-data-files-count"); }},
    {kRewrite, "Rewrite commit", "addedDataFileSize",
     [](const TaskStatus& t) { return Count(t, "added-bytes"); }},
    {kRewrite, "Rewrite commit", "removedDataFileNum",
     [](const TaskStatus& t) { return Count(t, "rewritten-data-files-count"); }},
    {kRewrite, "Rewrite commit", "removedDataFileSize",
     [](const TaskStatus& t) { return Count(t, "rewritten-bytes"); }},

    {kExpire, "Delete file", "deleteSucceeded",
     [](const TaskStatus& t) { return Sum(t, "deleted-", "-count"); }},
    {kExpire, "Delete file", "deleteFailed",
     [](const TaskStatus& t) { return t.totals.leftovers; }},

    {kOrphans, "Table Planner", "error", Never},
    {kOrphans, "Files Reader", "error", CorruptErrors},
    {kOrphans, "List metadata Files", "error", Never},
    {kOrphans, "Filesystem Files", "error",
     [](const TaskStatus& t) { return OtherErrors(t) - CorruptErrors(t); }},
    {kOrphans, "Delete File", "deleteSucceeded",
     [](const TaskStatus& t) {
       return Count(t, "deleted-files-count") + Count(t, "quarantined-files-count");
     }},
    {kOrphans, "Delete File", "deleteFailed",
     [](const TaskStatus& t) { return t.totals.leftovers; }},

    {kConvert, "EqConvert Planner", "processedEqDeleteFileNum",
     [](const TaskStatus& t) { return Count(t, "processed-eq-delete-file-num"); }},
    {kConvert, "EqConvert Planner", "processedStagingSnapshotNum",
     [](const TaskStatus& t) { return Count(t, "processed-staging-snapshot-num"); }},
    {kConvert, "EqConvert Planner", "skippedNoOpCycles",
     [](const TaskStatus& t) { return Outcomes(t, "nothing-to-do"); }},
    {kConvert, "EqConvert Planner", "reindexCount",
     [](const TaskStatus& t) { return Count(t, "reindex-num"); }},
    {kConvert, "EqConvert Planner", "error", OtherErrors},
    {kConvert, "EqConvert Commit", "addedDataFileNum",
     [](const TaskStatus& t) { return Count(t, "added-data-file-num"); }},
    {kConvert, "EqConvert Commit", "addedDataFileSize",
     [](const TaskStatus& t) { return Count(t, "added-data-file-bytes"); }},
    {kConvert, "EqConvert Commit", "addedDvNum",
     [](const TaskStatus& t) { return Count(t, "added-dv-num"); }},
    {kConvert, "EqConvert Commit", "removedEqDeleteNum",
     [](const TaskStatus& t) { return Count(t, "removed-eq-delete-num"); }},
    {kConvert, "EqConvert Commit", "commitDurationMs",
     [](const TaskStatus& t) { return Count(t, "commit-duration-ms"); }},
    {kConvert, "EqConvert Commit", "error", CommitErrors},
    {kConvert, "EqConvert PKIndex", "resolvedDeleteNum",
     [](const TaskStatus& t) { return Count(t, "resolved-delete-num"); }, true, false},
    {kConvert, "EqConvert PKIndex", "indexedKeyNum",
     [](const TaskStatus& t) { return Count(t, "indexed-key-num"); }, true, false},
    {kConvert, "EqConvert PKIndex", "eagerlyEvictedKeyNum", Never, true, false},
};

constexpr std::string_view kScope = "flink_taskmanager_job_task_operator_";

class FlinkPage {
 public:
  explicit FlinkPage(LabelValues values) : values_(values) {}

  void AddTable(const TableStatus& table) {
    const LabelList labels = {{"job_name", "icewright"},
                              {"operator_name", Label("Trigger manager")},
                              {"subtask_index", "0"},
                              {"tableName", Label(table.table)}};
    const std::string scope = std::string(kScope) + "maintenance_tableName_";
    Add(scope + "rateLimiterTriggered", labels, table.rate_limiter_triggered);
    Add(scope + "concurrentRunThrottled", labels, table.concurrent_run_throttled);
    Add(scope + "nothingToTrigger", labels, table.nothing_to_trigger);
    const std::vector<int> indices = FlinkTaskIndices(table.tasks);
    for (std::size_t i = 0; i < table.tasks.size(); ++i) {
      AddTask(table.table, table.tasks[i], std::to_string(indices[i]));
    }
  }

  std::string Text() { return page_.Text(); }

 private:
  void AddTask(const std::string& table, const TaskStatus& task, const std::string& index) {
    const TaskType* type = FindTaskType(task.kind);
    const std::string name =
        (type != nullptr ? std::string(type->java_name) : task.kind) + " [" + index + "]";
    for (const FlinkMetric& metric : kTaskMetrics) {
      if (!metric.kind.empty() && metric.kind != task.kind) continue;
      std::string of(metric.operator_name);
      if (metric.indexed) of += "[" + index + "]";
      const LabelList labels = {{"job_name", "icewright"}, {"operator_name", Label(of)},
                                {"subtask_index", "0"},    {"tableName", Label(table)},
                                {"taskName", Label(name)}, {"taskIndex", index}};
      std::string scope(kScope);
      if (metric.in_maintenance) scope += "maintenance_tableName_taskName_taskIndex_";
      Add(scope + std::string(metric.name), labels, metric.value(task));
    }
  }

  // Flink's reporter calls counters gauges, too.
  void Add(const std::string& name, const LabelList& labels, std::int64_t value) {
    page_.Add(name, name, prometheus::MetricType::Gauge, labels, static_cast<double>(value));
  }

  std::string Label(std::string text) const {
    if (values_ == LabelValues::kAsTheyAre) return text;
    for (char& c : text) {
      const bool kept = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                        (c >= '0' && c <= '9') || c == ':' || c == '_';
      if (!kept) c = '_';
    }
    return text;
  }

  const LabelValues values_;
  MetricPage page_;
};

}  // namespace

std::string RenderFlinkMetrics(const ServiceStatus& status, LabelValues values) {
  FlinkPage page(values);
  for (const TableStatus& table : status.tables) page.AddTable(table);
  return page.Text();
}

}  // namespace icewright::cli
