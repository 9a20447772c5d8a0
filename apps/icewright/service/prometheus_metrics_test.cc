#include "icewright/service/prometheus_metrics.h"

#include <gmock/gmock.h>

#include <map>
#include <set>
#include <sstream>
#include <vector>

namespace icewright::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TaskStatus Task(const std::string& kind) {
  TaskStatus task;
  task.id = kind;
  task.kind = kind;
  return task;
}

// Every figure is another one, so that a mix-up shows.
ServiceStatus Example() {
  ServiceStatus status;
  status.started = FromMillis(1'500'000'000'000);
  status.bytes_last_hour = 123;
  status.bytes_per_hour = 1000;
  status.late = Milliseconds(1500);
  TableStatus& table = status.tables.emplace_back();
  table.table = table.key = "prod.db.t\"1";
  table.last_look = FromMillis(1'700'000'000'250);
  table.waits_for = "the lock";
  table.rate_limiter_triggered = 21;
  table.concurrent_run_throttled = 22;
  table.nothing_to_trigger = 23;
  table.facts = TableFacts{.snapshots = 31,
                           .data_files = 32,
                           .delete_files = 33,
                           .equality_deletes = 34,
                           .position_deletes = 35,
                           .records = 36,
                           .data_bytes = 37,
                           .target_file_bytes = 37};
  TaskStatus task = Task("rewrite-data-files");
  task.running = true;
  task.pending = {.data_file_count = 41, .commit_count = 42};
  task.failures = 43;
  task.triggered = 44;
  task.last_run_duration_ms = 45'500;
  task.last_success = FromMillis(1'600'000'000'000);
  task.next_run = FromMillis(1'800'000'000'000);
  task.totals.outcomes = {{"done", 46}, {"failed", 47}};
  task.totals.error_codes = {{"conflict", 48}};
  task.totals.counts = {{"rewritten-bytes", 49}, {"planned-bytes", 50}, {"rewritten-groups", 51}};
  task.totals.durations.Count(500);
  task.totals.durations.Count(20'000);
  table.tasks = {task};
  return status;
}

TEST(MetricsTest, EveryFigureIsThereOnceWithItsLabels) {
  const std::string text = RenderMetrics(Example());
  const std::string table = R"({table="prod.db.t\"1"})";
  const std::string task = R"({table="prod.db.t\"1",task="rewrite-data-files")";
  for (const std::string& line : std::vector<std::string>{
           "process_start_time_seconds 1500000000",
           "icewright_tables 1",
           "icewright_active_runs 0",
           "icewright_late_seconds 1.5",
           "icewright_rewrite_window_bytes 123",
           "icewright_rewrite_window_limit_bytes 1000",
           "icewright_table_up" + table + " 1",
           "icewright_lock_held" + table + " 1",
           "icewright_lock_waiting" + table + " 1",
           "icewright_slot_waiting" + table + " 0",
           "icewright_table_last_look_timestamp_seconds" + table + " 1700000000.25",
           "icewright_rate_limited_events_total" + table + " 21",
           "icewright_throttled_runs_total" + table + " 22",
           "icewright_idle_evaluations_total" + table + " 23",
           "icewright_table_snapshots" + table + " 31",
           "icewright_table_data_files" + table + " 32",
           "icewright_table_delete_files" + table + " 33",
           "icewright_table_equality_deletes" + table + " 34",
           "icewright_table_position_deletes" + table + " 35",
           "icewright_table_records" + table + " 36",
           "icewright_table_data_bytes" + table + " 37",
           "icewright_table_debt_files" + table + " 31",
           "icewright_task_running" + task + "} 1",
           "icewright_task_paused" + task + "} 0",
           "icewright_task_consecutive_failures" + task + "} 43",
           "icewright_task_triggers_total" + task + "} 44",
           "icewright_task_last_run_duration_seconds" + task + "} 45.5",
           "icewright_task_last_success_timestamp_seconds" + task + "} 1600000000",
           "icewright_task_next_run_timestamp_seconds" + task + "} 1800000000",
           "icewright_task_pending_changes" + task + ",change=\"data_files\"} 41",
           "icewright_task_pending_changes" + task + ",change=\"commits\"} 42",
           "icewright_task_runs_total" + task + ",outcome=\"done\"} 46",
           "icewright_task_runs_total" + task + ",outcome=\"failed\"} 47",
           "icewright_task_errors_total" + task + ",code=\"conflict\"} 48",
           "icewright_task_processed_bytes_total" + task + ",kind=\"rewritten\"} 49",
           "icewright_task_run_duration_seconds_count" + task + "} 2",
           "icewright_task_run_duration_seconds_sum" + task + "} 20.5",
           "icewright_task_run_duration_seconds_bucket" + task + ",le=\"1\"} 1",
           "icewright_task_run_duration_seconds_bucket" + task + ",le=\"60\"} 2",
           "icewright_task_run_duration_seconds_bucket" + task + ",le=\"+Inf\"} 2"}) {
    EXPECT_THAT("\n" + text, HasSubstr("\n" + line + "\n"));
  }
  EXPECT_THAT(text, Not(HasSubstr("planned")));
  std::set<std::string> series;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_TRUE(
        series.insert(line.substr(0, line.rfind(' ')) + (line[0] == '#' ? line : "")).second)
        << "twice: " << line;
  }
}

TEST(MetricsTest, ATableThatWasNeverSeenHasNoFacts) {
  ServiceStatus status;
  status.tables.emplace_back().key = "a.b.c";
  status.tables[0].last_error = "the catalog is away";
  const std::string text = RenderMetrics(status);
  EXPECT_THAT(text, HasSubstr("icewright_table_up{table=\"a.b.c\"} 0"));
  EXPECT_THAT(text, Not(HasSubstr("icewright_table_data_files")));
  EXPECT_THAT(text, Not(HasSubstr("last_look")));
  EXPECT_THAT(text, Not(HasSubstr("window_limit")));
}

using OperatorMetric = std::pair<std::string, std::string>;

std::string LabelOf(const std::string& line, const std::string& name) {
  const std::size_t start = line.find("," + name + "=\"");
  if (start == std::string::npos) return "";
  const std::size_t value = start + name.size() + 3;
  return line.substr(value, line.find('"', value) - value);
}

// Operator and metric -> value, as "…_triggered{...} 3" says; checks scope and task labels.
std::map<OperatorMetric, std::string> Parse(const std::string& text) {
  std::map<OperatorMetric, std::string> metrics;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("#")) continue;
    const std::string name = line.substr(0, line.find('{'));
    const std::string metric = name.substr(name.rfind('_') + 1);
    const std::string scope = name.substr(0, name.rfind('_'));
    const std::string of = LabelOf(line, "operator_name");
    const std::string index = LabelOf(line, "taskIndex");
    const std::string group = index.empty() ? "_maintenance_tableName"
                              : of.starts_with("EqConvert PKIndex")
                                  ? ""
                                  : "_maintenance_tableName_taskName_taskIndex";
    EXPECT_EQ(scope, "flink_taskmanager_job_task_operator" + group) << line;
    EXPECT_EQ(LabelOf(line, "tableName"), "cat.db.t") << line;
    const bool is_new = metrics
                            .emplace(OperatorMetric(of + (of.ends_with(']') ? "" : index), metric),
                                     line.substr(line.rfind(' ') + 1))
                            .second;
    EXPECT_TRUE(is_new) << "twice: " << line;
  }
  return metrics;
}

// What Flink registers, operator by operator.
const std::map<OperatorMetric, std::string> kExpected = {
    {{"Trigger manager", "rateLimiterTriggered"}, "1"},
    {{"Trigger manager", "concurrentRunThrottled"}, "2"},
    {{"Trigger manager", "nothingToTrigger"}, "3"},
    {{"RDF Planner[0]", "error"}, "5"},
    {{"RDF Planner[0]", "plannedGroups"}, "10"},
    {{"Rewrite[0]", "error"}, "11"},
    {{"Rewrite commit[0]", "error"}, "4"},
    {{"Rewrite commit[0]", "addedDataFileNum"}, "12"},
    {{"Rewrite commit[0]", "addedDataFileSize"}, "13"},
    {{"Rewrite commit[0]", "removedDataFileNum"}, "14"},
    {{"Rewrite commit[0]", "removedDataFileSize"}, "15"},
    {{"Delete file[1]", "deleteSucceeded"}, "50"},
    {{"Delete file[1]", "deleteFailed"}, "22"},
    {{"Table Planner[2]", "error"}, "0"},
    {{"Files Reader[2]", "error"}, "31"},
    {{"List metadata Files[2]", "error"}, "0"},
    {{"Filesystem Files[2]", "error"}, "32"},
    {{"Delete File[2]", "deleteSucceeded"}, "67"},
    {{"Delete File[2]", "deleteFailed"}, "35"},
    {{"EqConvert Planner[3]", "processedEqDeleteFileNum"}, "41"},
    {{"EqConvert Planner[3]", "processedStagingSnapshotNum"}, "42"},
    {{"EqConvert Planner[3]", "skippedNoOpCycles"}, "43"},
    {{"EqConvert Planner[3]", "reindexCount"}, "53"},
    {{"EqConvert Planner[3]", "error"}, "51"},
    {{"EqConvert Commit[3]", "addedDataFileNum"}, "44"},
    {{"EqConvert Commit[3]", "addedDataFileSize"}, "45"},
    {{"EqConvert Commit[3]", "addedDvNum"}, "46"},
    {{"EqConvert Commit[3]", "removedEqDeleteNum"}, "47"},
    {{"EqConvert Commit[3]", "commitDurationMs"}, "48"},
    {{"EqConvert Commit[3]", "error"}, "52"},
    {{"EqConvert PKIndex[3]", "resolvedDeleteNum"}, "49"},
    {{"EqConvert PKIndex[3]", "indexedKeyNum"}, "54"},
    {{"EqConvert PKIndex[3]", "eagerlyEvictedKeyNum"}, "0"},
};

TableStatus AllTasks() {
  TableStatus table;
  table.table = table.key = "cat.db.t";
  table.rate_limiter_triggered = 1;
  table.concurrent_run_throttled = 2;
  table.nothing_to_trigger = 3;
  TaskStatus rewrite = Task("rewrite-data-files");
  rewrite.totals.counts = {{"planned-groups", 10},
                           {"failed-groups", 11},
                           {"added-data-files-count", 12},
                           {"added-bytes", 13},
                           {"rewritten-data-files-count", 14},
                           {"rewritten-bytes", 15}};
  rewrite.totals.error_codes = {{"conflict", 3}, {"commit-unknown", 1}, {"io", 7}};
  rewrite.totals.runs_with_failed_groups = 2;
  TaskStatus convert = Task("convert-equality-deletes");
  convert.totals.counts = {{"processed-eq-delete-file-num", 41},
                           {"processed-staging-snapshot-num", 42},
                           {"added-data-file-num", 44},
                           {"added-data-file-bytes", 45},
                           {"added-dv-num", 46},
                           {"removed-eq-delete-num", 47},
                           {"commit-duration-ms", 48},
                           {"resolved-delete-num", 49},
                           {"reindex-num", 53},
                           {"indexed-key-num", 54}};
  convert.totals.outcomes = {{"nothing-to-do", 43}};
  convert.totals.error_codes = {{"io", 51}, {"conflict", 52}};
  TaskStatus expire = Task("expire-snapshots");
  expire.totals.counts = {{"deleted-data-files-count", 20},
                          {"deleted-manifests-count", 30},
                          {"deleted-bytes", 1000},
                          {"planned-data-files-count", 2000}};
  expire.totals.leftovers = 22;
  TaskStatus orphans = Task("delete-orphan-files");
  orphans.totals.counts = {{"deleted-files-count", 33}, {"quarantined-files-count", 34}};
  orphans.totals.error_codes = {{"corrupt", 31}, {"io", 32}};
  orphans.totals.leftovers = 35;
  // In the order in which the service adds them.
  table.tasks = {rewrite, convert, expire, orphans};
  int n = 100;
  for (TaskStatus& task : table.tasks) {
    task.triggered = ++n;
    task.succeeded = ++n;
    task.failed = ++n;
    task.last_run_duration_ms = ++n;
  }
  return table;
}

TEST(FlinkMetricsTest, EveryMetricOfFlinkIsThereUnderItsName) {
  ServiceStatus status;
  status.tables = {AllTasks()};
  auto metrics = Parse(RenderFlinkMetrics(status, LabelValues::kAsTheyAre));
  // What all tasks have: by the number that Flink gives them, not by their place here.
  const std::map<std::string, int> first = {{"0", 101}, {"3", 105}, {"1", 109}, {"2", 113}};
  for (const auto& [index, n] : first) {
    const auto take = [&](const std::string& of, const std::string& metric) {
      const auto node = metrics.extract({of + index, metric});
      return node ? node.mapped() : "missing";
    };
    EXPECT_EQ(take("Trigger manager", "triggered"), std::to_string(n));
    EXPECT_EQ(take("Lock remover", "succeededTasks"), std::to_string(n + 1));
    EXPECT_EQ(take("Lock remover", "failedTasks"), std::to_string(n + 2));
    EXPECT_EQ(take("Lock remover", "lastRunDurationMs"), std::to_string(n + 3));
  }
  EXPECT_EQ(metrics, kExpected);
}

TEST(FlinkMetricsTest, LabelsAreThoseOfFlinkRawOrFiltered) {
  ServiceStatus status;
  status.tables.emplace_back();
  status.tables[0].table = "prod.my-db.t";
  status.tables[0].tasks = {Task("rewrite-manifests"), Task("expire-snapshots")};
  EXPECT_THAT(
      RenderFlinkMetrics(status, LabelValues::kAsTheyAre),
      HasSubstr("_triggered{job_name=\"icewright\",operator_name=\"Trigger manager\","
                "subtask_index=\"0\",tableName=\"prod.my-db.t\",taskName=\"RewriteManifests "
                "[1]\",taskIndex=\"1\"} 0\n"));
  EXPECT_THAT(RenderFlinkMetrics(status, LabelValues::kFiltered),
              HasSubstr("_triggered{job_name=\"icewright\",operator_name=\"Trigger_manager\","
                        "subtask_index=\"0\",tableName=\"prod_my_db_t\",taskName=\"ExpireSnapshots_"
                        "_0_\",taskIndex=\"0\"} 0\n"));
}

}  // namespace
}  // namespace icewright::cli
