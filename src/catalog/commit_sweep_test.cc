// Fail the storage at call 0, 1, 2, ... of a commit, before and after the call takes effect:
// whatever fails, the table loads, and the answer is true.

#include <algorithm>

#include "catalog/catalog.h"
#include "catalog/filesystem/filesystem_catalog.h"
#include "catalog/memory/memory_catalog.h"
#include "catalog/sql/sql_catalog.h"
#include "io/local_file_io.h"
#include "io/memory_file_io.h"
#include "testing/fake_clock.h"
#include "testing/fault_file_io.h"
#include "testing/matchers.h"
#include "testing/temp_folder.h"

namespace icewright {
namespace {

const TableIdentifier kTable{{"db"}, "t"};

struct SweepCase {
  const char* name;
  // A catalog on the FileIO; the folder is fresh.
  std::function<Result<std::shared_ptr<Catalog>>(const TempFolder&, std::shared_ptr<FileIO>)> open;
  FaultFileIO::When when;
  Code code;
};

class CommitSweepTest : public ::testing::TestWithParam<SweepCase> {
 protected:
  static std::vector<std::string> JsonFiles(FileIO& io, const TempFolder& folder) {
    std::vector<std::string> names;
    EXPECT_THAT(io.List(folder.Child("w/db/t"),
                        [&](const FileStatus& file) -> Status {
                          names.push_back(file.location.text());
                          return {};
                        }),
                IsOk());
    std::erase_if(names, [](const std::string& name) { return !name.ends_with(".json"); });
    std::sort(names.begin(), names.end());
    return names;
  }

  // Everything that the metadata names must be there.
  static void ExpectWhole(FileIO& io, const Table& table) {
    for (const MetadataLogEntry& entry : table.metadata().metadata_log) {
      EXPECT_THAT(io.Exists(entry.metadata_file), IsOkAndHolds(true)) << entry.metadata_file.text();
    }
  }

  FakeClock clock_;
  RunContext run_{RunOptions{.clock = &clock_}};
};

TEST_P(CommitSweepTest, TheAnswerIsTrueWhicheverCallFails) {
  int outcomes[3] = {0, 0, 0};  // committed, failed, unknown
  for (int step = 0;; ++step) {
    SCOPED_TRACE("call " + std::to_string(step));
    const TempFolder folder;
    const auto plain = MakeLocalFileIO();
    const auto faulty = std::make_shared<FaultFileIO>(plain);
    IW_ASSERT_OK_AND_ASSIGN(const auto catalog, GetParam().open(folder, faulty));
    IW_ASSERT_OK_AND_ASSIGN(
        Table table, catalog->CreateTable(
                         run_, kTable,
                         {.schema = {},
                          .properties = {{"write.metadata.previous-versions-max", "1"},
                                         {"write.metadata.delete-after-commit.enabled", "true"}}}));
    std::vector<TableUpdate> updates = {SetProperties{{{"first", "x"}}}};
    ASSERT_THAT(table.Commit(run_, {}, updates), IsOk());
    const auto before = JsonFiles(*plain, folder);
    ASSERT_EQ(before.size(), 2u);

    const int base = faulty->calls();
    faulty->FailAt(base + step, Error(GetParam().code, "injected"), GetParam().when);
    updates = {SetProperties{{{"second", "x"}}}};
    const Status status = table.Commit(run_, {}, updates);
    const int calls = faulty->calls() - base;
    faulty->FailAt(-1);

    IW_ASSERT_OK_AND_ASSIGN(const Table after, catalog->LoadTable(run_, kTable));
    ExpectWhole(*plain, after);
    const bool landed = after.metadata().properties.contains("second");
    if (status) {
      ++outcomes[0];
      EXPECT_TRUE(landed);
      EXPECT_EQ(table.metadata_location(), after.metadata_location());
    } else if (status.error().code() == Code::kCommitUnknown) {
      ++outcomes[2];
    } else {
      ++outcomes[1];
      EXPECT_FALSE(landed) << status.error().message();
      EXPECT_EQ(JsonFiles(*plain, folder), before) << status.error().message();
    }
    if (calls <= step) {
      EXPECT_THAT(status, IsOk());
      break;
    }
  }
  EXPECT_GE(outcomes[0], 2) << "best-effort work must not fail a commit";
  EXPECT_GE(outcomes[1], 2);
}

Result<std::shared_ptr<Catalog>> OnFilesystem(const TempFolder& folder,
                                              std::shared_ptr<FileIO> io) {
  return MakeFilesystemCatalog("cat", folder.Child("w"), std::move(io));
}
Result<std::shared_ptr<Catalog>> OnSqlite(const TempFolder& folder, std::shared_ptr<FileIO> io) {
  return MakeSqlCatalog(
      "cat",
      {{"uri", "jdbc:sqlite:" + folder.path() + "/c.db"}, {"warehouse", folder.Child("w").text()}},
      std::move(io));
}

INSTANTIATE_TEST_SUITE_P(
    All, CommitSweepTest,
    ::testing::Values(
        SweepCase{"FilesystemRefused", OnFilesystem, FaultFileIO::When::kBefore, Code::kIo},
        SweepCase{"FilesystemAway", OnFilesystem, FaultFileIO::When::kBefore, Code::kUnavailable},
        SweepCase{"FilesystemLostAnswer", OnFilesystem, FaultFileIO::When::kAfter, Code::kIo},
        SweepCase{"FilesystemTimedOut", OnFilesystem, FaultFileIO::When::kAfter,
                  Code::kUnavailable},
        // A kernel or store that repeats the create whose answer it lost.
        SweepCase{"FilesystemRepeated", OnFilesystem, FaultFileIO::When::kAfter,
                  Code::kAlreadyExists},
        SweepCase{"SqlRefused", OnSqlite, FaultFileIO::When::kBefore, Code::kIo},
        SweepCase{"SqlLostAnswer", OnSqlite, FaultFileIO::When::kAfter, Code::kUnavailable}),
    [](const auto& param_info) { return std::string(param_info.param.name); });

}  // namespace
}  // namespace icewright
