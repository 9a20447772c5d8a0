// Compacts the table at a path: compact_example LOCATION

#include <iostream>

#include "icewright/actions.h"
#include "icewright/table_loader.h"

using icewright::Actions;
using icewright::Result;
using icewright::RunContext;
using icewright::Table;
using icewright::TableLoader;
using icewright::TaskReport;

// [compact]
Result<TaskReport> Compact(RunContext& run, const std::string& location) {
  IW_ASSIGN(const Table table, TableLoader::FromHadoopTable(location).Load(run));
  return Actions::ForTable(table)
      .RewriteDataFiles()
      .TargetSizeInBytes(256 << 20)
      .Option("min-input-files", "2")
      .Execute(run);
}
// [compact]

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: compact_example LOCATION\n";
    return 2;
  }
  RunContext run;
  const auto report = Compact(run, argv[1]);
  if (!report) {
    std::cerr << report.error().message() << '\n';
    return 1;
  }
  std::cout << Name(report->outcome) << ' ' << report->counts.at("planned-data-files-count")
            << '\n';
  return 0;
}
