#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ostream>

#include "codec/json.h"
#include "icewright/command.h"
#include "icewright/snapshot_options.h"
#include "scan/metadata_tables.h"

namespace icewright::cli {
namespace {

class InspectCommand final : public Command {
 public:
  std::string name() const override { return "inspect"; }
  std::string help() const override { return "Print one of a table's metadata tables"; }

  void Define(CLI::App& app) override {
    app.add_option("table", table_, "catalog.namespace.table, or a path")->required();
    app.add_option("what", what_, fmt::format("{}", fmt::join(MetadataTableNames(), ", ")))
        ->required();
    snapshot_.Define(app);
  }

  // As JSON one array of objects, streamed: a table of a million entries is not held in memory. As
  // text the rows are collected, since the widths of columns depend on all of them.
  Result<ExitCode> Execute(Session& session) override {
    IW_ASSIGN(const Table table, session.LoadTable(table_));
    IW_ASSIGN(const SnapshotSelector selector, snapshot_.Selector());
    std::ostream& out = session.out();
    std::vector<std::string> columns;
    std::optional<TextTable> text;
    std::int64_t rows = 0;
    const auto on_columns = [&](const std::vector<std::string>& names) -> Status {
      columns = names;
      if (session.json()) {
        out << '[';
      } else {
        text.emplace(names);
      }
      return {};
    };
    const auto on_row = [&](Json&& row) -> Status {
      if (!session.json()) {
        std::vector<std::string> cells;
        for (const Json& value : row) cells.push_back(CellText(value));
        text->AddRow(std::move(cells));
        return {};
      }
      Json object = Json::object();
      for (std::size_t i = 0; i < columns.size(); ++i) object[columns[i]] = std::move(row[i]);
      out << (rows++ == 0 ? "\n" : ",\n") << DumpJson(object);
      return out.good() ? Status() : Status(Error(Code::kIo, "the output was closed"));
    };
    IW_TRY(ScanMetadataTable(session.run(), table.io(), table.metadata(), table.metadata_location(),
                             {.what = what_, .snapshot = selector}, on_columns, on_row));
    if (session.json()) {
      out << (rows == 0 ? "]\n" : "\n]\n");
    } else {
      text->Print(out);
    }
    return ExitCode::kOk;
  }

 private:
  std::string table_;
  std::string what_;
  SnapshotOptions snapshot_;
};

}  // namespace

void AddInspectCommand(Commands& commands) {
  commands.push_back(std::make_unique<InspectCommand>());
}

}  // namespace icewright::cli
