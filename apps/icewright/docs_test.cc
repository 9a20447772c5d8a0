// The documents' option tables are made from the rows that the command line is made from.

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "maintain/compute_partition_stats.h"
#include "maintain/compute_table_stats.h"
#include "maintain/convert_equality_deletes_options.h"
#include "maintain/delete_orphan_files_options.h"
#include "maintain/expire_snapshots_options.h"
#include "maintain/maintain_table_options.h"
#include "maintain/orphan_quarantine.h"
#include "maintain/remove_dangling_deletes.h"
#include "maintain/rewrite_data_files_options.h"
#include "maintain/rewrite_manifests_options.h"
#include "maintain/rewrite_position_deletes_options.h"
#include "testing/paths.h"

namespace icewright::cli {
namespace {

template <typename Options>
std::string OptionTable(std::span<const OptionField<Options>> fields) {
  std::string table = "| option | |\n|---|---|\n";
  for (const auto& field : fields) {
    table += "| `--" + std::string(field.key) + "` | " + std::string(field.help) + " |\n";
  }
  return table;
}

std::string TableIn(const std::string& page, const std::string& task) {
  std::ifstream in(SourceFolder() + "/docs/tasks/" + page);
  std::ostringstream text;
  text << in.rdbuf();
  const std::string begin = "<!-- options:" + task + " -->\n";
  const std::size_t from = text.str().find(begin);
  if (from == std::string::npos) return "no table of options in " + page;
  const std::size_t first = from + begin.size();
  return text.str().substr(first, text.str().find("<!-- end -->", first) - first);
}

TEST(DocsTest, OptionTablesAreThoseOfTheCommandLine) {
  EXPECT_EQ(TableIn("rewrite-data-files.md", "rewrite-data-files"),
            OptionTable(RewriteDataFilesFields()));
  EXPECT_EQ(TableIn("expire-snapshots.md", "expire-snapshots"),
            OptionTable(ExpireSnapshotsFields()));
  EXPECT_EQ(TableIn("convert-equality-deletes.md", "convert-equality-deletes"),
            OptionTable(ConvertEqualityDeletesFields()));
  const char* const kOrphans = "delete-orphan-files.md";
  EXPECT_EQ(TableIn(kOrphans, "delete-orphan-files"), OptionTable(DeleteOrphanFilesFields()));
  EXPECT_EQ(TableIn(kOrphans, "orphans-restore"), OptionTable(RestoreOrphansFields()));
  EXPECT_EQ(TableIn(kOrphans, "orphans-purge"), OptionTable(PurgeOrphansFields()));
  EXPECT_EQ(TableIn("remove-dangling-deletes.md", "remove-dangling-deletes"),
            OptionTable(RemoveDanglingDeletesFields()));
  EXPECT_EQ(TableIn("rewrite-position-deletes.md", "rewrite-position-deletes"),
            OptionTable(RewritePositionDeletesFields()));
  EXPECT_EQ(TableIn("rewrite-manifests.md", "rewrite-manifests"),
            OptionTable(RewriteManifestsFields()));
  EXPECT_EQ(TableIn("maintain.md", "maintain"), OptionTable(MaintainTableFields()));
  EXPECT_EQ(TableIn("compute-table-stats.md", "compute-table-stats"),
            OptionTable(ComputeTableStatsFields()));
  EXPECT_EQ(TableIn("compute-partition-stats.md", "compute-partition-stats"),
            OptionTable(ComputePartitionStatsFields()));
}

}  // namespace
}  // namespace icewright::cli
