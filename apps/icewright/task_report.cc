#include "icewright/task_report.h"

#include <fmt/format.h>

#include <ostream>

#include "codec/json.h"
#include "config/units.h"
#include "icewright/output.h"
#include "icewright/progress_line.h"

namespace icewright::cli {
namespace {

std::string CountText(std::string_view key, std::int64_t value) {
  return key.ends_with("bytes") ? FormatByteSize(value) : FormatCount(value);
}

Json ReportJson(std::string_view task, const std::string& table, const TaskReport& report,
                const Status& status) {
  Json json = {{"task", task}, {"table", table}, {"outcome", Name(report.outcome)}};
  if (!report.reason.empty()) json["reason"] = report.reason;
  json["snapshot_ids"] = Json::array();
  for (const SnapshotId id : report.snapshot_ids) json["snapshot_ids"].push_back(Raw(id));
  json["counts"] = Json::object();
  for (const auto& [key, value] : report.counts) json["counts"][key] = value;
  json["items"] = Json::array();
  for (const TaskItem& item : report.items) {
    Json line = {{"name", item.name}};
    for (const auto& [key, value] : item.counts) line[key] = value;
    if (!item.reason.empty()) line["reason"] = item.reason;
    json["items"].push_back(std::move(line));
  }
  json["leftovers"] = Json::array();
  for (const Location& location : report.leftovers) json["leftovers"].push_back(location.text());
  json["failures"] = Json::array();
  for (const Error& error : report.failures) json["failures"].push_back(ErrorJson(error));
  json["notes"] = report.notes;
  if (!report.steps.empty()) json["steps"] = Json::array();
  for (const TaskReport& step : report.steps) {
    json["steps"].push_back(
        ReportJson(step.name, table, step, step.error ? Status(*step.error) : Status()));
  }
  json["error"] = status ? Json() : ErrorJson(status.error());
  return json;
}

void PrintItems(std::ostream& out, const std::vector<TaskItem>& items) {
  const bool with_reasons = !items.front().reason.empty();
  std::vector<std::string> columns = {"name"};
  for (const auto& [key, value] : items.front().counts) columns.push_back(key);
  if (with_reasons) columns.emplace_back("reason");
  TextTable text(columns);
  for (const TaskItem& item : items) {
    std::vector<std::string> cells = {item.name};
    for (const auto& [key, value] : item.counts) cells.push_back(CountText(key, value));
    if (with_reasons) cells.push_back(item.reason);
    text.AddRow(std::move(cells));
  }
  text.Print(out);
}

/// A step of a chain: what it did in numbers; its errors are among the chain's.
void PrintStep(std::ostream& out, const TaskReport& step) {
  out << "  " << step.name << ": " << Name(step.outcome);
  if (!step.reason.empty()) out << " (" << step.reason << ')';
  out << '\n';
  for (const auto& [key, value] : step.counts) {
    if (value != 0) out << fmt::format("    {:<32} {}\n", key, CountText(key, value));
  }
  for (const std::string& note : step.notes) out << "    note: " << note << '\n';
}

void PrintReport(std::ostream& out, std::string_view task, const std::string& table,
                 const TaskReport& report) {
  out << task << ' ' << table << ": " << Name(report.outcome);
  if (!report.reason.empty()) out << " (" << report.reason << ')';
  out << '\n';
  if (!report.items.empty() &&
      (report.outcome == TaskOutcome::kPlanned || !report.items.front().reason.empty())) {
    PrintItems(out, report.items);
  }
  for (const TaskReport& step : report.steps) PrintStep(out, step);
  for (const auto& [key, value] : report.counts) {
    if (value != 0) out << fmt::format("  {:<32} {}\n", key, CountText(key, value));
  }
  for (const SnapshotId id : report.snapshot_ids)
    out << fmt::format("  {:<32} {}\n", "snapshot", Raw(id));
  for (const std::string& note : report.notes) out << "  note: " << note << '\n';
  for (const Error& error : report.failures) {
    out << "  failed: " << error.message() << " [" << Name(error.code()) << "]\n";
  }
  for (const Location& location : report.leftovers) {
    out << "  left over (not referenced, could not be deleted): " << location.text() << '\n';
  }
}

}  // namespace

Result<ExitCode> RunTask(Session& session, const MaintenanceTask& task, const std::string& table,
                         const LockFlags* lock) {
  TaskReport report;
  Status status;
  {
    std::unique_ptr<HeldTableLock> held;
    if (lock != nullptr) {
      IW_ASSIGN(held, HeldTableLock::Take(session, *lock, table));
    }
    Result<Table> found = session.LoadTable(table);
    if (!found) {
      IW_TRY(session.run().Check());  // a stop explains it better
      return found.error();
    }
    Table& loaded = *found;
    IW_ASSIGN(const auto announcement, task.Announce(loaded.metadata()));
    for (const std::string& text : announcement) session.env().err << text << '\n';
    const ProgressLine line(session.env().err, session.env().err_is_terminal,
                            session.run().progress());
    status = task.Execute(session.run(), loaded, report);
  }
  if (session.json()) {
    PrintJson(session.out(), ReportJson(task.name(), table, report, status));
    if (!status) return ExitCodeFor(status.error().code());
  } else {
    if (status || !report.snapshot_ids.empty() || !report.leftovers.empty() ||
        !report.steps.empty()) {
      PrintReport(session.out(), task.name(), table, report);
    }
    if (!status) return status.error().Within(table);
  }
  return report.outcome == TaskOutcome::kPartial ? ExitCode::kPartial : ExitCode::kOk;
}

}  // namespace icewright::cli
