#include "icewright/service/service_json.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "codec/json.h"
#include "icewright/service/counted_changes.h"
#include "icewright/table_lock.h"

namespace icewright::cli {
namespace {

Json TimeJson(const std::optional<TimePoint>& time) {
  return time ? Json(ToMillis(*time)) : Json();
}

Json TextOrNull(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json ChangeJson(const TableChange& change) {
  Json json = Json::object();
  for (const CountedChange& counted : kCountedChanges) json[counted.name] = change.*counted.member;
  return json;
}

Json TaskJson(const TaskStatus& task) {
  return {{"id", task.id},
          {"kind", task.kind},
          {"state", task.state},
          {"running", task.running},
          {"paused", task.paused},
          {"pending", ChangeJson(task.pending)},
          {"failures", task.failures},
          {"triggered", task.triggered},
          {"succeeded", task.succeeded},
          {"failed", task.failed},
          {"last_run_duration_ms", task.last_run_duration_ms},
          {"last_success", TimeJson(task.last_success)},
          {"next_run", TimeJson(task.next_run)},
          {"last_error", TextOrNull(task.last_error)}};
}

Json FactsJson(const std::optional<TableFacts>& facts) {
  if (!facts) return {};
  return {{"snapshots", facts->snapshots},
          {"data_files", facts->data_files},
          {"delete_files", facts->delete_files},
          {"position_deletes", facts->position_deletes},
          {"equality_deletes", facts->equality_deletes},
          {"records", facts->records},
          {"data_bytes", facts->data_bytes},
          {"debt_files", facts->excess_files()}};
}

bool Runs(const TableStatus& table) {
  return std::ranges::any_of(table.tasks, &TaskStatus::running);
}

// "bad": a problem; "debt": its files need work; "ok"; "new": not looked at yet.
std::string_view HealthWord(const TableStatus& table, const TableHealth& health) {
  if (!health.problems.empty()) return "bad";
  if (!table.last_look) return "new";
  return health.notices.empty() ? "ok" : "debt";
}

Json TableJson(const TableStatus& table) {
  const TableHealth health = HealthOf(table);
  Json tasks = Json::array();
  for (const TaskStatus& task : table.tasks) tasks.push_back(TaskJson(task));
  return {{"table", table.key},
          {"health", HealthWord(table, health)},
          {"problems", health.problems},
          {"notices", health.notices},
          {"running", Runs(table)},
          {"waits_for", TextOrNull(table.waits_for)},
          {"last_look", TimeJson(table.last_look)},
          {"note", TextOrNull(table.note)},
          {"facts", FactsJson(table.facts)},
          {"lock", LockJson(table)},
          {"tasks", std::move(tasks)}};
}

struct Ranked {
  int rank = 0;
  const TableStatus* table = nullptr;
};

// What a person looks for comes first.
std::vector<const TableStatus*> Matching(const ServiceStatus& status, const TableQuery& query) {
  const std::string search = ToLower(query.search);
  std::vector<Ranked> found;
  for (const TableStatus& table : status.tables) {
    if (!search.empty() && ToLower(table.key).find(search) == std::string::npos) continue;
    const int rank = !HealthOf(table).problems.empty()         ? 0
                     : Runs(table) || !table.waits_for.empty() ? 1
                                                               : 2;
    found.push_back({rank, &table});
  }
  std::ranges::sort(found, [](const Ranked& a, const Ranked& b) {
    return std::tie(a.rank, a.table->key) < std::tie(b.rank, b.table->key);
  });
  std::vector<const TableStatus*> tables;
  for (const Ranked& ranked : found) tables.push_back(ranked.table);
  return tables;
}

// A page of the matching tables; `row` is called for each.
template <typename Row>
Json PageOf(const ServiceStatus& status, const TableQuery& query, const char* name, Row row) {
  const auto tables = Matching(status, query);
  Json rows = Json::array();
  for (std::size_t i = query.offset; i < tables.size() && i - query.offset < query.limit; ++i) {
    row(*tables[i], rows);
  }
  return {{"tables_found", tables.size()}, {"offset", query.offset}, {name, std::move(rows)}};
}

Json StateJson(const LockState& state) {
  Json json = {{"held", state.held},
               {"ours", state.ours},
               {"owner", TextOrNull(state.owner)},
               {"since", TimeJson(state.since)},
               {"lease", nullptr}};
  if (state.lease_until) {
    json["lease"] = {{"until", TimeJson(state.lease_until)}, {"over", state.lease_over}};
  }
  return json;
}

}  // namespace

Json StatusJson(const ServiceStatus& status, TimePoint now) {
  Json running = Json::array();
  for (const ActiveRunStatus& run : status.running) {
    Json json = {{"run_id", run.run_id},
                 {"table", run.table},
                 {"task", run.task},
                 {"started", ToMillis(run.started)},
                 {"progress", nullptr}};
    if (run.progress) {
      json["progress"] = {{"phase", run.progress->phase},
                          {"unit", run.progress->unit},
                          {"done", run.progress->done},
                          {"total", run.progress->total ? Json(*run.progress->total) : Json()}};
    }
    running.push_back(std::move(json));
  }
  std::size_t bad = 0;
  std::size_t debt = 0;
  for (const TableStatus& table : status.tables) {
    const TableHealth health = HealthOf(table);
    bad += health.problems.empty() ? 0U : 1U;
    debt += health.problems.empty() && !health.notices.empty() ? 1U : 0U;
  }
  return {{"version", ICEWRIGHT_VERSION},
          {"now", ToMillis(now)},
          {"started", ToMillis(status.started)},
          {"stopping", status.stopping},
          {"late_ms", status.late.count()},
          {"tables", status.tables.size()},
          {"tables_with_problems", bad},
          {"tables_with_debt", debt},
          {"rewritten_bytes_last_hour", status.bytes_last_hour},
          {"bytes_per_hour", status.bytes_per_hour ? Json(*status.bytes_per_hour) : Json()},
          {"running", std::move(running)}};
}

Json TablesJson(const ServiceStatus& status, const TableQuery& query) {
  return PageOf(status, query, "tables",
                [](const TableStatus& table, Json& rows) { rows.push_back(TableJson(table)); });
}

Json TasksJson(const ServiceStatus& status, const TableQuery& query) {
  return PageOf(status, query, "tasks", [](const TableStatus& table, Json& rows) {
    for (const TaskStatus& task : table.tasks) {
      Json json = TaskJson(task);
      json["table"] = table.key;
      rows.push_back(std::move(json));
    }
  });
}

Json RunsJson(const std::vector<RunRecord>& records) {
  Json rows = Json::array();
  for (const RunRecord& record : records) {
    Json json = {{"run_id", record.run_id},
                 {"table", record.table},
                 {"task", record.task},
                 {"reason", record.reason},
                 {"started", ToMillis(record.started)},
                 {"ended", TimeJson(record.ended)},
                 {"outcome", record.outcome},
                 {"snapshot_ids", Json::array()},
                 {"counts", Json::object()},
                 {"error", nullptr},
                 {"failures", record.failures},
                 {"notes", record.notes},
                 {"leftovers", record.leftovers}};
    // As text: a JavaScript number does not hold 64 bits.
    for (const SnapshotId id : record.snapshot_ids) {
      json["snapshot_ids"].push_back(std::to_string(Raw(id)));
    }
    for (const auto& [key, value] : record.counts) json["counts"][key] = value;
    if (!record.error.empty() || !record.error_code.empty()) {
      json["error"] = {{"code", record.error_code}, {"message", record.error}};
    }
    rows.push_back(std::move(json));
  }
  return {{"runs", std::move(rows)}};
}

Json LockJson(const TableStatus& table) {
  return {{"table", table.key},
          {"type", table.lock.type.empty() ? "process" : table.lock.type},
          {"lock_id", TextOrNull(table.lock.lock_id)},
          {"held_by_this_service", Runs(table)},
          {"waited_for", table.waits_for == "the lock"},
          {"warnings", table.lock.warnings}};
}

Json LockJson(const TableStatus& table, const LockState& state, const LockState& recovery) {
  Json json = LockJson(table);
  json.update(StateJson(state));
  json["recovery"] = StateJson(recovery);
  json["diagnosis"] = HolderText(table.lock.lock_id, state);
  return json;
}

}  // namespace icewright::cli
