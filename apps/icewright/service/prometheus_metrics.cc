#include "icewright/service/prometheus_metrics.h"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "icewright/service/counted_changes.h"
#include "icewright/service/metric_page.h"

namespace icewright::cli {
namespace {

constexpr double kMsPerSecond = 1000.0;
constexpr auto kGauge = prometheus::MetricType::Gauge;
constexpr auto kCounter = prometheus::MetricType::Counter;

double Seconds(TimePoint t) { return static_cast<double>(ToMillis(t)) / kMsPerSecond; }

void AddService(MetricPage& page, const ServiceStatus& status) {
  const auto gauge = [&](const char* name, const char* help, double value) {
    page.Add(name, help, kGauge, {}, value);
  };
  page.Add("icewright_build_info", "The running version.", kGauge, {{"version", ICEWRIGHT_VERSION}},
           1);
  gauge("process_start_time_seconds", "When the service was started.", Seconds(status.started));
  gauge("icewright_tables", "Tables that are maintained.",
        static_cast<double>(status.tables.size()));
  gauge("icewright_active_runs", "Runs that are under way.",
        static_cast<double>(status.running.size()));
  gauge("icewright_stopping", "1 while the service stops.", status.stopping ? 1 : 0);
  gauge("icewright_late_seconds", "How long the most overdue table has waited to be looked at.",
        static_cast<double>(status.late.count()) / kMsPerSecond);
  gauge("icewright_rewrite_window_bytes", "Input of rewrites that ended within the last hour.",
        static_cast<double>(status.bytes_last_hour));
  if (status.bytes_per_hour) {
    gauge("icewright_rewrite_window_limit_bytes", "The budget bytes-per-hour.",
          static_cast<double>(*status.bytes_per_hour));
  }
}

void AddFacts(MetricPage& page, const LabelList& table, const TableFacts& facts) {
  const auto gauge = [&](const char* name, const char* help, std::int64_t value) {
    page.Add(name, help, kGauge, table, static_cast<double>(value));
  };
  gauge("icewright_table_snapshots", "Snapshots in the table's metadata.", facts.snapshots);
  gauge("icewright_table_data_files", "Data files of the current snapshot.", facts.data_files);
  gauge("icewright_table_delete_files", "Delete files of the current snapshot.",
        facts.delete_files);
  gauge("icewright_table_position_deletes", "Position deletes of the current snapshot.",
        facts.position_deletes);
  gauge("icewright_table_equality_deletes", "Equality deletes of the current snapshot.",
        facts.equality_deletes);
  gauge("icewright_table_records", "Records of the current snapshot's data files.", facts.records);
  gauge("icewright_table_data_bytes", "Size of the current snapshot's files.", facts.data_bytes);
  gauge("icewright_table_debt_files",
        "Data files beyond what the table's bytes would fill at the target size.",
        facts.excess_files());
}

void AddTable(MetricPage& page, const TableStatus& table) {
  const LabelList labels = {{"table", table.key}};
  bool runs = false;
  for (const TaskStatus& task : table.tasks) runs |= task.running;
  page.Add("icewright_table_up", "1 if the last look at the table went well.", kGauge, labels,
           table.last_error.empty() && table.last_look ? 1 : 0);
  page.Add("icewright_lock_held", "1 while a run of this service holds the table's lock.", kGauge,
           labels, runs ? 1 : 0);
  page.Add("icewright_lock_waiting", "1 while a task is due and another holds the lock.", kGauge,
           labels, table.waits_for == "the lock" ? 1 : 0);
  page.Add("icewright_slot_waiting", "1 while a task is due and a budget keeps it back.", kGauge,
           labels, table.waits_for.empty() || table.waits_for == "the lock" ? 0 : 1);
  if (table.last_look) {
    page.Add("icewright_table_last_look_timestamp_seconds", "When the table was last looked at.",
             kGauge, labels, Seconds(*table.last_look));
  }
  page.Add("icewright_rate_limited_events_total", "Changes that came while a timer was pending.",
           kCounter, labels, static_cast<double>(table.rate_limiter_triggered));
  page.Add("icewright_throttled_runs_total", "Attempts of a due task that did not get to run.",
           kCounter, labels, static_cast<double>(table.concurrent_run_throttled));
  page.Add("icewright_idle_evaluations_total", "Evaluations that found nothing due.", kCounter,
           labels, static_cast<double>(table.nothing_to_trigger));
  if (table.facts) AddFacts(page, labels, *table.facts);
}

void AddTotals(MetricPage& page, const LabelList& labels, const TaskTotals& totals) {
  for (const auto& [outcome, n] : totals.outcomes) {
    page.Add("icewright_task_runs_total", "Runs that ended, by outcome.", kCounter,
             With(labels, "outcome", outcome), static_cast<double>(n));
  }
  for (const auto& [code, n] : totals.error_codes) {
    page.Add("icewright_task_errors_total", "Runs that ended with an error, by its code.", kCounter,
             With(labels, "code", code), static_cast<double>(n));
  }
  for (const auto& [key, n] : totals.counts) {
    constexpr std::string_view kBytes = "-bytes";
    if (!key.ends_with(kBytes) || key.starts_with("planned")) continue;
    page.Add("icewright_task_processed_bytes_total", "Bytes that runs worked on, by kind.",
             kCounter, With(labels, "kind", key.substr(0, key.size() - kBytes.size())),
             static_cast<double>(n));
  }
  prometheus::ClientMetric::Histogram histogram;
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < totals.durations.runs.size(); ++i) {
    below += static_cast<std::uint64_t>(totals.durations.runs[i]);
    if (i == RunDurations::kUpToMs.size()) break;
    histogram.bucket.push_back(
        {below, static_cast<double>(RunDurations::kUpToMs[i]) / kMsPerSecond});
  }
  histogram.sample_count = below;
  histogram.sample_sum = static_cast<double>(totals.durations.total_ms) / kMsPerSecond;
  if (below > 0) {
    page.AddHistogram("icewright_task_run_duration_seconds",
                      "How long runs took, from their trigger to their end.", labels,
                      std::move(histogram));
  }
}

void AddTask(MetricPage& page, const std::string& table, const TaskStatus& task) {
  const LabelList labels = {{"table", table}, {"task", task.id}};
  const auto gauge = [&](const char* name, const char* help, double value) {
    page.Add(name, help, kGauge, labels, value);
  };
  gauge("icewright_task_running", "1 while the task runs.", task.running ? 1 : 0);
  gauge("icewright_task_paused", "1 while the task is paused.", task.paused ? 1 : 0);
  gauge("icewright_task_consecutive_failures", "Failed runs since the last good one.",
        task.failures);
  gauge("icewright_task_last_run_duration_seconds", "How long the last run took; 0: none yet.",
        static_cast<double>(task.last_run_duration_ms) / kMsPerSecond);
  if (task.last_success) {
    gauge("icewright_task_last_success_timestamp_seconds", "When a run last succeeded.",
          Seconds(*task.last_success));
  }
  if (task.next_run) {
    gauge("icewright_task_next_run_timestamp_seconds",
          "When the task is due at the latest; absent while it waits for commits only.",
          Seconds(*task.next_run));
  }
  page.Add("icewright_task_triggers_total", "Runs that were started.", kCounter, labels,
           static_cast<double>(task.triggered));
  for (const CountedChange& change : kCountedChanges) {
    page.Add("icewright_task_pending_changes", "What was added since the task's last trigger.",
             kGauge, With(labels, "change", change.name),
             static_cast<double>(task.pending.*change.member));
  }
  AddTotals(page, labels, task.totals);
}

}  // namespace

std::string RenderMetrics(const ServiceStatus& status) {
  MetricPage page;
  AddService(page, status);
  for (const TableStatus& table : status.tables) {
    AddTable(page, table);
    for (const TaskStatus& task : table.tasks) AddTask(page, table.key, task);
  }
  return page.Text();
}

}  // namespace icewright::cli
