#include "catalog/filesystem/filesystem_catalog.h"

#include <filesystem>

#include "catalog/filesystem/filesystem_operations.h"
#include "catalog/filesystem/version_files.h"
#include "io/local_file_io.h"
#include "io/memory_file_io.h"
#include "testing/fault_file_io.h"
#include "testing/matchers.h"
#include "testing/temp_folder.h"

namespace icewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

const TableIdentifier kTable{{"db"}, "t"};

TEST(FileSystemVersionOfTest, KnowsTheNames) {
  struct Case {
    const char* name;
    int version;  // -1: no version
  };
  for (const Case& c :
       {Case{"v1.metadata.json", 1}, Case{"v12.gz.metadata.json", 12},
        Case{"v3.metadata.json.gz", 3}, Case{"v007.metadata.json", 7},
        Case{"00001-7f1b.metadata.json", -1}, Case{"v.metadata.json", -1},
        Case{"v-1.metadata.json", -1}, Case{"v1.metadata.json.tmp", -1},
        Case{"v1x.metadata.json", -1}, Case{"v1.zstd.metadata.json", -1},
        Case{"v99999999999.metadata.json", -1}, Case{"v1", -1}, Case{"V1.metadata.json", -1},
        Case{"", -1}, Case{".v1.metadata.json.crc", -1}}) {
    EXPECT_EQ(FileSystemVersionOf(c.name).value_or(-1), c.version) << c.name;
  }
}

TEST(IsSameFolderTest, ComparesSpellings) {
  struct Case {
    const char* a;
    const char* b;
    bool same;
  };
  for (const Case& c : {Case{"file:/t", "/t/", true}, Case{"file:///t", "file:/t", true},
                        Case{"s3://b/t", "s3a://b/t/", true}, Case{"s3://b/t", "s3://b/u", false},
                        Case{"/t", "/t2", false}, Case{"file:/b/t", "s3://b/t", false}}) {
    EXPECT_EQ(IsSameFolder(Location(c.a), Location(c.b)), c.same) << c.a << " " << c.b;
  }
}

class FindCurrentVersionTest : public ::testing::Test {
 protected:
  void Put(const std::string& name, const std::string& text = "{}") {
    ASSERT_THAT(WriteFile(*io_, folder_.Child(name), text, CreateMode::kAtomicReplace), IsOk());
  }
  std::string Current() {
    const auto found = FindCurrentVersion(*io_, folder_);
    if (!found) return "error";
    return *found ? std::string((*found)->location.file_name()) : "none";
  }
  std::shared_ptr<FileIO> io_ = MakeMemoryFileIO();
  Location folder_{"mem:/t/metadata"};
};

TEST_F(FindCurrentVersionTest, NoneInAnEmptyFolder) {
  EXPECT_EQ(Current(), "none");
  Put("version-hint.text", "3");
  EXPECT_EQ(Current(), "none");
  Put("00003-aa.metadata.json");
  Put("nested/v9.metadata.json");
  EXPECT_EQ(Current(), "none");
}

TEST_F(FindCurrentVersionTest, TheHintIsOnlyAStart) {
  for (const char* name : {"v1", "v2", "v3"}) Put(std::string(name) + ".metadata.json");
  for (const char* hint :
       {"1", "2", "3", " 2\n", "7", "0", "x", "", "-1", "99999999999999999999", "1 2"}) {
    Put("version-hint.text", hint);
    EXPECT_EQ(Current(), "v3.metadata.json") << "hint '" << hint << "'";
  }
  Put("version-hint.text", std::string(10'000, '1'));
  EXPECT_EQ(Current(), "v3.metadata.json");
}

TEST_F(FindCurrentVersionTest, EachSpellingCounts) {
  Put("v1.metadata.json");
  Put("v2.gz.metadata.json");
  EXPECT_EQ(Current(), "v2.gz.metadata.json");
  Put("v3.metadata.json.gz");
  Put("version-hint.text", "1");
  EXPECT_EQ(Current(), "v3.metadata.json.gz");
}

// Old versions are deleted after commits: numbers as text would put v9 above v10.
TEST_F(FindCurrentVersionTest, TheHighestNumberWins) {
  for (const char* name : {"v9", "v10", "v11"}) Put(std::string(name) + ".metadata.json");
  EXPECT_EQ(Current(), "v11.metadata.json");
}

class FilesystemCatalogTest : public ::testing::Test {
 protected:
  std::shared_ptr<Catalog> Open(std::shared_ptr<FileIO> io) {
    return MakeFilesystemCatalog("cat", folder_.location(), std::move(io)).value();
  }
  static Status Put(RunContext& run, Table& table, const std::string& key,
                    const std::string& value = "x") {
    const std::vector<TableUpdate> updates = {SetProperties{{{key, value}}}};
    return table.Commit(run, {}, updates);
  }
  Location Metadata(const std::string& name) const {
    return folder_.Child("db/t/metadata/" + name);
  }

  TempFolder folder_;
  std::shared_ptr<FileIO> local_ = MakeLocalFileIO();
  std::shared_ptr<FaultFileIO> io_ = std::make_shared<FaultFileIO>(local_);
  RunContext run_{RunOptions{}};
};

TEST_F(FilesystemCatalogTest, FilesAreLaidOutAsJavaDoes) {
  const auto catalog = Open(io_);
  IW_ASSERT_OK_AND_ASSIGN(Table table, catalog->CreateTable(run_, kTable, {.schema = {}}));
  EXPECT_EQ(table.metadata_location(), Metadata("v1.metadata.json"));
  EXPECT_THAT(ReadFile(*local_, Metadata("version-hint.text")), IsOkAndHolds("1"));
  ASSERT_THAT(Put(run_, table, "k"), IsOk());
  EXPECT_EQ(table.metadata_location(), Metadata("v2.metadata.json"));
  EXPECT_THAT(ReadFile(*local_, Metadata("version-hint.text")), IsOkAndHolds("2"));
}

TEST_F(FilesystemCatalogTest, ALostHintCostsNothing) {
  const auto catalog = Open(io_);
  IW_ASSERT_OK_AND_ASSIGN(Table table, catalog->CreateTable(run_, kTable, {.schema = {}}));
  io_->OnCall([](int, const IoEvent& event) -> Status {
    if (event.call == IoCall::kCreate && event.location.file_name() == "version-hint.text") {
      return Error(Code::kDenied, "no hints");
    }
    return {};
  });
  ASSERT_THAT(Put(run_, table, "a"), IsOk());
  ASSERT_THAT(Put(run_, table, "b"), IsOk());
  EXPECT_THAT(ReadFile(*local_, Metadata("version-hint.text")), IsOkAndHolds("1"));
  IW_ASSERT_OK_AND_ASSIGN(const Table loaded, Open(local_)->LoadTable(run_, kTable));
  EXPECT_EQ(loaded.metadata_location(), Metadata("v3.metadata.json"));
}

TEST_F(FilesystemCatalogTest, AVersionMadeBetweenPlanAndWriteWins) {
  const auto catalog = Open(io_);
  IW_ASSERT_OK_AND_ASSIGN(Table mine, catalog->CreateTable(run_, kTable, {.schema = {}}));
  IW_ASSERT_OK_AND_ASSIGN(Table theirs, Open(local_)->LoadTable(run_, kTable));
  bool done = false;
  io_->OnCall([&](int, const IoEvent& event) -> Status {
    if (event.call != IoCall::kClose || std::exchange(done, true)) return {};
    return Put(run_, theirs, "theirs");
  });
  EXPECT_THAT(Put(run_, mine, "mine"), HasCode(Code::kConflict));
  ASSERT_THAT(mine.Refresh(run_), IsOk());
  EXPECT_TRUE(mine.metadata().properties.contains("theirs"));
  EXPECT_FALSE(mine.metadata().properties.contains("mine"));
}

// v2.metadata.json and v2.gz.metadata.json are different names of one version.
TEST_F(FilesystemCatalogTest, TwoSpellingsOfOneVersionAreAConflict) {
  const auto catalog = Open(io_);
  IW_ASSERT_OK_AND_ASSIGN(Table mine, catalog->CreateTable(run_, kTable, {.schema = {}}));
  IW_ASSERT_OK_AND_ASSIGN(Table theirs, Open(local_)->LoadTable(run_, kTable));
  bool done = false;
  io_->OnCall([&](int, const IoEvent& event) -> Status {
    if (event.call != IoCall::kClose || std::exchange(done, true)) return {};
    return Put(run_, theirs, "write.metadata.compression-codec", "gzip");
  });
  EXPECT_THAT(Put(run_, mine, "mine"), HasCode(Code::kConflict));
  EXPECT_THAT(local_->Exists(Metadata("v2.metadata.json")), IsOkAndHolds(false));
  IW_ASSERT_OK_AND_ASSIGN(const Table loaded, Open(local_)->LoadTable(run_, kTable));
  EXPECT_EQ(loaded.metadata_location(), Metadata("v2.gz.metadata.json"));
}

TEST_F(FilesystemCatalogTest, ALoadSurvivesVersionsThatGo) {
  const auto catalog = Open(io_);
  IW_ASSERT_OK_AND_ASSIGN(
      Table table, catalog->CreateTable(
                       run_, kTable,
                       {.schema = {},
                        .properties = {{"write.metadata.previous-versions-max", "1"},
                                       {"write.metadata.delete-after-commit.enabled", "true"}}}));
  IW_ASSERT_OK_AND_ASSIGN(Table other, Open(local_)->LoadTable(run_, kTable));
  bool done = false;
  io_->OnCall([&](int, const IoEvent& event) -> Status {
    if (event.call != IoCall::kOpen || !event.location.text().ends_with(".json") ||
        std::exchange(done, true)) {
      return {};
    }
    for (int i = 0; i < 3; ++i) IW_TRY(Put(run_, other, "k", std::to_string(i)));
    return {};
  });
  IW_ASSERT_OK_AND_ASSIGN(const Table loaded, catalog->LoadTable(run_, kTable));
  EXPECT_EQ(loaded.metadata_location(), Metadata("v4.metadata.json"));
}

TEST_F(FilesystemCatalogTest, WhatItCannotKeepIsRefused) {
  const auto catalog = Open(io_);
  EXPECT_THAT(
      catalog->CreateTable(run_, kTable, {.schema = {}, .location = Location("file:/elsewhere")}),
      HasError(Code::kInvalidArgument, HasSubstr("file:/elsewhere")));
  EXPECT_THAT(catalog->CreateTable(
                  run_, kTable, {.schema = {}, .properties = {{"write.metadata.path", "file:/m"}}}),
              HasError(Code::kUnsupported, HasSubstr("write.metadata.path")));
  IW_ASSERT_OK_AND_ASSIGN(
      Table table,
      catalog->CreateTable(run_, kTable,
                           {.schema = {}, .location = Location(folder_.path() + "/db/t/")}));
  EXPECT_THAT(Put(run_, table, "write.metadata.path", "file:/m"), HasCode(Code::kUnsupported));
  const std::vector<TableUpdate> updates = {SetLocation{Location("file:/elsewhere")}};
  EXPECT_THAT(table.Commit(run_, {}, updates), HasError(Code::kUnsupported, HasSubstr("location")));
  for (const char* name : {"..", ".", "a/b", ""}) {
    EXPECT_THAT(catalog->LoadTable(run_, {{"db"}, name}), HasCode(Code::kInvalidArgument)) << name;
    EXPECT_THAT(catalog->CreateNamespace(run_, {name}, {}), HasCode(Code::kInvalidArgument))
        << name;
    EXPECT_THAT(catalog->ListTables(run_, {name}), HasCode(Code::kNotFound)) << name;
  }
}

TEST_F(FilesystemCatalogTest, ATableIsNoNamespace) {
  const auto catalog = Open(io_);
  ASSERT_THAT(catalog->CreateTable(run_, kTable, {.schema = {}}), IsOk());
  EXPECT_THAT(catalog->ListNamespaces(run_, {"db"}), IsOkAndHolds(::testing::IsEmpty()));
  EXPECT_THAT(catalog->ListNamespaces(run_, {"db", "t"}), HasCode(Code::kNotFound));
  EXPECT_THAT(catalog->DropNamespace(run_, {"db", "t"}), HasCode(Code::kNotFound));
}

// The spelling of the metadata wins, so that listings and references agree.
TEST_F(FilesystemCatalogTest, LocationsAreSpelledAsTheTableSpellsThem) {
  ASSERT_THAT(Open(io_)->CreateTable(run_, kTable, {.schema = {}}), IsOk());
  for (const std::string& spelling :
       {folder_.path() + "/db/t", "file://" + folder_.path() + "/db/t/"}) {
    IW_ASSERT_OK_AND_ASSIGN(Table table, OpenTableAt(run_, Location(spelling), local_));
    EXPECT_EQ(table.name(), spelling);
    EXPECT_EQ(table.operations().read_only_reason(), "");
    ASSERT_THAT(Put(run_, table, spelling), IsOk());
    EXPECT_THAT(table.metadata_location().text(),
                ::testing::StartsWith(folder_.Child("db/t/metadata/v").text()));
  }
}

class OpenTableAtTest : public FilesystemCatalogTest {};

TEST_F(OpenTableAtTest, MissingTablesSayWhatWasLookedFor) {
  EXPECT_THAT(OpenTableAt(run_, folder_.Child("no"), local_),
              HasError(Code::kNotFound, HasSubstr("vN.metadata.json")));
  EXPECT_THAT(OpenTableAt(run_, folder_.Child("no/v1.metadata.json"), local_),
              HasCode(Code::kNotFound));
  EXPECT_THAT(OpenTableAt(run_, Location("relative/path"), local_),
              HasCode(Code::kInvalidArgument));
}

TEST_F(OpenTableAtTest, AFolderThatMovedIntoACatalogIsReadOnly) {
  IW_ASSERT_OK_AND_ASSIGN(Table table, Open(io_)->CreateTable(run_, kTable, {.schema = {}}));
  ASSERT_THAT(Put(run_, table, "k"), IsOk());
  IW_ASSERT_OK_AND_ASSIGN(const Bytes json, ReadFile(*local_, table.metadata_location()));
  // 10 is above 9, and of two files with one number the younger counts.
  for (const char* name : {"00009-ff", "00010-bb", "00010-aa"}) {
    const Location location = Metadata(std::string(name) + ".metadata.json");
    ASSERT_THAT(WriteFile(*local_, location, json, CreateMode::kNew), IsOk());
    const auto path = *LocalPathOf(location);
    const auto age = std::chrono::hours(std::string(name) == "00010-bb" ? 2 : 1);
    std::filesystem::last_write_time(path, std::filesystem::last_write_time(path) - age);
  }
  IW_ASSERT_OK_AND_ASSIGN(Table opened, OpenTableAt(run_, folder_.Child("db/t"), local_));
  EXPECT_EQ(opened.metadata_location(), Metadata("00010-aa.metadata.json"));
  EXPECT_THAT(opened.operations().read_only_reason(), HasSubstr("register"));
  EXPECT_THAT(Put(run_, opened, "k2"), HasCode(Code::kUnsupported));
  ASSERT_THAT(WriteFile(*local_, Metadata("00011-cc.metadata.json"), json, CreateMode::kNew),
              IsOk());
  ASSERT_THAT(opened.Refresh(run_), IsOk());
  EXPECT_EQ(opened.metadata_location(), Metadata("00011-cc.metadata.json"));
}

}  // namespace
}  // namespace icewright
