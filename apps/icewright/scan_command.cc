#include <fmt/format.h>

#include <ostream>

#include "base/text.h"
#include "codec/json.h"
#include "config/units.h"
#include "data/row_scan.h"
#include "icewright/command.h"
#include "icewright/snapshot_options.h"
#include "scan/plan_files.h"
#include "table/expression.h"
#include "table/metadata.h"

namespace icewright::cli {
namespace {

class ScanCommand final : public Command {
 public:
  std::string name() const override { return "scan"; }
  std::string help() const override { return "Print rows of a table, or their digest"; }

  void Define(CLI::App& app) override {
    app.add_option("table", table_, "catalog.namespace.table, or a path")->required();
    app.add_option("--filter", filter_, "rows, like \"month = 3 and carrier in ('UA','AA')\"");
    app.add_option("--columns", columns_, "columns, separated by commas")->delimiter(',');
    app.add_option("--limit", limit_, "most rows")->check(CLI::NonNegativeNumber);
    app.add_option("--format", format_, "text, csv or json (one object a line)")
        ->check(CLI::IsMember({"text", "csv", "json"}));
    app.add_flag("--plan", plan_, "what a scan would read, instead of the rows");
    app.add_flag("--digest", digest_, "row count and an order-independent digest of all rows");
    snapshot_.Define(app);
  }

  Result<ExitCode> Execute(Session& session) override {
    RunContext& run = session.run();
    IW_ASSIGN(const Table table, session.LoadTable(table_));
    const TableMetadata& metadata = table.metadata();
    IW_ASSIGN(const SnapshotSelector selector, snapshot_.Selector());
    IW_ASSIGN(const Snapshot* snapshot, SelectSnapshot(metadata, selector));
    // Time travel by id, time or tag shows the columns of that time; a branch, and the digest, the
    // table's current ones.
    const bool past = !digest_ && (selector.snapshot_id || selector.as_of || selector.tag);
    const Schema& schema =
        past && snapshot != nullptr ? metadata.SchemaOf(*snapshot) : metadata.schema();
    PlanOptions plan{.schema = &schema};
    if (!filter_.empty()) {
      if (digest_) return Error(Code::kInvalidArgument, "--digest takes no --filter");
      IW_ASSIGN(plan.filter, ParseExpression(schema, filter_, false));
    }
    std::vector<FileTask> tasks;
    PlanSummary summary;
    if (snapshot != nullptr) {
      IW_ASSIGN(summary, PlanFiles(run, table.io(), metadata, *snapshot, plan,
                                   [&](FileTask&& task) -> Status {
                                     tasks.push_back(std::move(task));
                                     return {};
                                   }));
    }
    if (plan_) return PrintPlan(session, summary, tasks);
    if (digest_) return PrintDigest(session, table, tasks);
    return PrintRows(session, table, schema, plan.filter, tasks);
  }

 private:
  static Result<ExitCode> PrintPlan(Session& session, const PlanSummary& summary,
                                    const std::vector<FileTask>& tasks) {
    std::int64_t bytes = 0;
    std::int64_t deletes = 0;
    for (const FileTask& task : tasks) {
      bytes += task.data_file.file_size_in_bytes;
      deletes += std::ssize(task.deletes);
    }
    const Json json = {{"data_files", tasks.size()},
                       {"bytes", bytes},
                       {"deletes_to_apply", deletes},
                       {"data_files_skipped", summary.data_files_skipped},
                       {"data_manifests", summary.data_manifests},
                       {"data_manifests_skipped", summary.data_manifests_skipped},
                       {"delete_manifests", summary.delete_manifests},
                       {"delete_manifests_skipped", summary.delete_manifests_skipped}};
    if (session.json()) {
      session.out() << DumpJson(json) << '\n';
      return ExitCode::kOk;
    }
    for (const auto& [key, value] : json.items()) {
      const auto figure = value.get<std::int64_t>();
      session.out() << fmt::format("{:<26} {}\n", key,
                                   key == "bytes" ? FormatByteSize(figure) : FormatCount(figure));
    }
    return ExitCode::kOk;
  }

  Result<ExitCode> PrintDigest(Session& session, const Table& table,
                               const std::vector<FileTask>& tasks) {
    IW_ASSIGN(const RowDigest digest,
              DigestRows(session.run(), table.io(), table.metadata(), tasks));
    Json json = {{"rows", digest.rows}, {"digest", fmt::format("{:016x}", digest.digest)}};
    if (digest.lineage_digest)
      json["lineage_digest"] = fmt::format("{:016x}", *digest.lineage_digest);
    if (session.json()) {
      session.out() << DumpJson(json) << '\n';
      return ExitCode::kOk;
    }
    for (const auto& [key, value] : json.items())
      session.out() << key << ": " << CellText(value) << '\n';
    return ExitCode::kOk;
  }

  Result<ExitCode> PrintRows(Session& session, const Table& table, const Schema& schema,
                             const Expression& filter, const std::vector<FileTask>& tasks) {
    RowScanOptions options{.filter = filter, .columns = columns_, .limit = limit_};
    std::vector<std::string> columns = columns_;
    if (columns.empty()) {
      for (const Field& field : schema.fields()) columns.push_back(field.name);
    }
    const std::string format = session.json() ? "json" : format_;
    std::ostream& out = session.out();
    TextTable text(columns);
    if (format == "csv") out << CsvLine(columns) << '\n';
    const auto visit = [&](const Json& row) -> Status {
      if (format == "json") {
        Json object = Json::object();
        for (std::size_t i = 0; i < columns.size(); ++i) object[columns[i]] = row[i];
        out << DumpJson(object) << '\n';
        return {};
      }
      std::vector<std::string> cells;
      for (const Json& value : row) {
        cells.push_back(format == "csv" && value.is_null() ? std::string() : CellText(value));
      }
      if (format == "csv") {
        out << CsvLine(cells) << '\n';
      } else {
        text.AddRow(std::move(cells));
      }
      return out.good() ? Status() : Status(Error(Code::kIo, "the output was closed"));
    };
    // Aligned text needs all rows at once; a table is for eyes, so a limit is set unless one is
    // given.
    if (format == "text" && !options.limit) options.limit = kTextRows + 1;
    std::int64_t rows = 0;
    const auto counted = [&](const Json& row) -> Status {
      if (format == "text" && !limit_ && ++rows > kTextRows) return {};
      return visit(row);
    };
    IW_TRY(ScanRows(session.run(), table.io(), table.metadata(), schema, tasks, options, counted));
    if (format == "text") {
      text.Print(out);
      if (rows > kTextRows) {
        session.env().err << "only the first " << kTextRows
                          << " rows; --limit or --format csv gives more\n";
      }
    }
    return ExitCode::kOk;
  }

  static constexpr std::int64_t kTextRows = 100;

  std::string table_;
  std::string filter_;
  std::vector<std::string> columns_;
  std::optional<std::int64_t> limit_;
  std::string format_ = "text";
  bool digest_ = false;
  bool plan_ = false;
  SnapshotOptions snapshot_;
};

}  // namespace

void AddScanCommand(Commands& commands) { commands.push_back(std::make_unique<ScanCommand>()); }

}  // namespace icewright::cli
