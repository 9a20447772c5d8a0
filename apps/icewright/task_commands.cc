#include <fmt/format.h>

#include <ostream>

#include "codec/json.h"
#include "config/fields.h"
#include "config/units.h"
#include "icewright/command.h"
#include "icewright/progress_line.h"
#include "maintain/compute_partition_stats.h"
#include "maintain/compute_table_stats.h"
#include "maintain/convert_equality_deletes.h"
#include "maintain/expire_snapshots.h"
#include "maintain/maintain_table.h"
#include "maintain/rewrite_data_files.h"

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
  if (report.outcome == TaskOutcome::kPlanned && !report.items.empty()) {
    std::vector<std::string> columns = {"name"};
    for (const auto& [key, value] : report.items.front().counts) columns.push_back(key);
    TextTable text(columns);
    for (const TaskItem& item : report.items) {
      std::vector<std::string> cells = {item.name};
      for (const auto& [key, value] : item.counts) cells.push_back(CountText(key, value));
      text.AddRow(std::move(cells));
    }
    text.Print(out);
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

/// Any task whose options are rows.
template <typename Task, typename Options>
class TaskCommand final : public Command {
 public:
  TaskCommand(std::string help, std::span<const OptionField<Options>> fields)
      : help_(std::move(help)), fields_(fields) {}

  std::string name() const override { return std::string(Task().name()); }
  std::string help() const override { return help_; }

  void Define(CLI::App& app) override {
    app.add_option("table", table_, "catalog.namespace.table, or a path")->required();
    for (const OptionField<Options>& field : fields_) {
      const std::string flag = "--" + std::string(field.key);
      const auto set = [this, &field](const std::string& text) {
        // A bad value is kept for Execute, which reports it like every other error.
        if (Status status = SetField(field, text, options_); !status && !bad_value_) {
          bad_value_ = status.error();
        }
      };
      if (IsFlag(field)) {
        // A switch: alone it means true; --x=false is possible as well.
        app.add_flag_function(
               flag, [this, set](std::int64_t n) { set(n > 0 ? "true" : "false"); },
               std::string(field.help))
            ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
      } else {
        app.add_option_function<std::string>(flag, set, std::string(field.help));
      }
    }
  }

  Result<ExitCode> Execute(Session& session) override {
    if (bad_value_) return *bad_value_;
    TaskReport report;
    Status status;
    {
      IW_ASSIGN(Table table, session.LoadTable(table_));
      const Task task(options_);
      IW_ASSIGN(const auto announcement, task.Announce(table.metadata()));
      for (const std::string& text : announcement) session.env().err << text << '\n';
      const ProgressLine line(session.env().err, session.env().err_is_terminal,
                              session.run().progress());
      status = task.Execute(session.run(), table, report);
    }
    if (session.json()) {
      PrintJson(session.out(), ReportJson(name(), table_, report, status));
      if (!status) return ExitCodeFor(status.error().code());
    } else {
      if (status || !report.snapshot_ids.empty() || !report.leftovers.empty() ||
          !report.steps.empty()) {
        PrintReport(session.out(), name(), table_, report);
      }
      if (!status) return status.error().Within(table_);
    }
    return report.outcome == TaskOutcome::kPartial ? ExitCode::kPartial : ExitCode::kOk;
  }

 private:
  std::string help_;
  std::span<const OptionField<Options>> fields_;
  std::string table_;
  Options options_;
  std::optional<Error> bad_value_;
};

}  // namespace

void AddTaskCommands(Commands& commands) {
  commands.push_back(std::make_unique<TaskCommand<RewriteDataFiles, RewriteDataFilesOptions>>(
      "Compact small data files and apply deletes", RewriteDataFilesFields()));
  commands.push_back(std::make_unique<TaskCommand<ExpireSnapshots, ExpireSnapshotsOptions>>(
      "Expire old snapshots and delete the files that only they need", ExpireSnapshotsFields()));
  commands.push_back(
      std::make_unique<TaskCommand<ConvertEqualityDeletes, ConvertEqualityDeletesOptions>>(
          "Turn equality deletes into deletion vectors", ConvertEqualityDeletesFields()));
  commands.push_back(std::make_unique<TaskCommand<ComputeTableStats, ComputeTableStatsOptions>>(
      "Count distinct values of columns into a statistics file", ComputeTableStatsFields()));
  commands.push_back(
      std::make_unique<TaskCommand<ComputePartitionStats, ComputePartitionStatsOptions>>(
          "Count files and rows of partitions into a statistics file",
          ComputePartitionStatsFields()));
  commands.push_back(std::make_unique<TaskCommand<MaintainTable, MaintainTableOptions>>(
      "The whole chain of maintenance, in the safe order", MaintainTableFields()));
}

}  // namespace icewright::cli
