// Tables of other engines, found by path and through the catalogs that they were written with.

#include <filesystem>

#include "catalog/catalog.h"
#include "codec/json.h"
#include "database/sql_store.h"
#include "io/local_file_io.h"
#include "testing/fixtures.h"
#include "testing/matchers.h"

namespace icewright {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class CatalogGoldenTest : public ::testing::Test {
 protected:
  std::shared_ptr<Catalog> Open(const std::string& name, const Properties& properties,
                                std::shared_ptr<FileIO> io = FixtureIO()) {
    auto catalog = OpenCatalog(run_, name, properties, std::move(io));
    EXPECT_THAT(catalog, IsOk());
    return catalog ? *catalog : nullptr;
  }

  // The dump of the Java referee says what the table is.
  static void ExpectAsDumped(const Table& table, const Fixture& fixture) {
    SCOPED_TRACE(fixture.name);
    const auto json = ParseJson(ReadExpected(fixture));
    ASSERT_THAT(json, IsOk());
    const TableMetadata& metadata = table.metadata();
    EXPECT_EQ(table.metadata_location(),
              fixture.location.Child(json->at("metadata_file").get<std::string>()));
    EXPECT_EQ(metadata.table_uuid, json->at("uuid").get<std::string>());
    EXPECT_EQ(metadata.format_version, json->at("format_version").get<int>());
    EXPECT_EQ(metadata.location, fixture.location);
    EXPECT_EQ(Raw(metadata.last_sequence_number), json->at("last_sequence_number").get<int>());
    EXPECT_EQ(metadata.snapshots.size(), json->at("snapshots").size());
    EXPECT_EQ(metadata.metadata_log.size(), json->at("metadata_log_entries").get<std::size_t>());
    const Json& current = json->at("current_snapshot_id");
    EXPECT_EQ(
        metadata.current_snapshot_id,
        current.is_null() ? std::nullopt : std::optional(SnapshotId{current.get<std::int64_t>()}));
  }

  static Status SetProperty(RunContext& run, Table& table) {
    const std::vector<TableUpdate> updates = {SetProperties{{{"touched", "yes"}}}};
    return table.Commit(run, {}, updates);
  }

  RunContext run_{RunOptions{}};
};

TEST_F(CatalogGoldenTest, EachOpensByItsPath) {
  for (const Fixture& fixture : ListFixtures()) {
    const auto table = OpenTableAt(run_, fixture.location, FixtureIO());
    ASSERT_THAT(table, IsOk()) << fixture.name;
    ExpectAsDumped(*table, fixture);
    EXPECT_EQ(table->operations().read_only_reason().empty(), fixture.in_file_system_catalog)
        << fixture.name << ": " << table->operations().read_only_reason();
  }
}

TEST_F(CatalogGoldenTest, TheFileSystemCatalogFindsItsTables) {
  const auto catalog =
      Open("oracle", {{"type", "hadoop"}, {"warehouse", std::string(kRecordedFixtureRoot) + "/"}});
  std::vector<TableIdentifier> listed;
  for (const char* ns : {"fx", "ot"}) {
    IW_ASSERT_OK_AND_ASSIGN(const auto tables, catalog->ListTables(run_, {ns}));
    listed.insert(listed.end(), tables.begin(), tables.end());
  }
  EXPECT_THAT(listed, SizeIs(28 + 18));
  for (const TableIdentifier& id : listed) {
    const Fixture& fixture = FindFixture(id.name);
    const auto table = catalog->LoadTable(run_, id);
    if (fixture.in_file_system_catalog) {
      ASSERT_THAT(table, IsOk()) << id.name;
      ExpectAsDumped(*table, fixture);
      EXPECT_EQ(table->name(), "oracle." + id.ns[0] + "." + id.name);
    } else {
      EXPECT_THAT(table, HasError(Code::kNotFound, HasSubstr("vN.metadata.json"))) << id.name;
    }
  }
}

TEST_F(CatalogGoldenTest, TheSqlCatalogsFindTheirTables) {
  const FixtureCopy copy("empty_v2");  // for its copies of the databases
  struct Case {
    const char* catalog;
    const char* database;
    const char* ns;
    std::size_t tables;
    const char* uri;
  };
  for (const Case& c : {Case{"oracle", "catalog.db", "jd", 1, "jdbc:sqlite:file:"},
                        Case{"ot", "ot.db", "ot", 6, "sqlite:///"}}) {
    const auto catalog = Open(c.catalog, {{"type", "sql"},
                                          {"uri", c.uri + copy.root() + "/" + c.database},
                                          {"warehouse", std::string(kRecordedFixtureRoot)}});
    EXPECT_THAT(catalog->ListNamespaces(run_, {}),
                IsOkAndHolds(::testing::ElementsAre(Namespace{c.ns})));
    IW_ASSERT_OK_AND_ASSIGN(const auto tables, catalog->ListTables(run_, {c.ns}));
    EXPECT_THAT(tables, SizeIs(c.tables));
    for (const TableIdentifier& id : tables) {
      const auto table = catalog->LoadTable(run_, id);
      ASSERT_THAT(table, IsOk()) << id.name;
      ExpectAsDumped(*table, FindFixture(id.name));
    }
  }
  // The same rows under another catalog name are nobody's.
  const auto other = Open("other", {{"uri", "jdbc:sqlite:" + copy.root() + "/ot.db"}});
  EXPECT_THAT(other->ListNamespaces(run_, {}), IsOkAndHolds(IsEmpty()));
}

TEST_F(CatalogGoldenTest, ACommitByPathMakesTheNextVersion) {
  struct Case {
    const char* name;
    const char* next;
  };
  for (const Case& c :
       {Case{"append_v2", "v32.metadata.json"}, Case{"codecs_v2", "v15.gz.metadata.json"},
        Case{"trimmed_v2", "v14.metadata.json"}, Case{"plain_v1", "v10.metadata.json"}}) {
    const FixtureCopy copy(c.name);
    IW_ASSERT_OK_AND_ASSIGN(Table table, OpenTableAt(run_, copy.location(), copy.io()));
    const TableMetadata before = table.metadata();
    ASSERT_THAT(SetProperty(run_, table), IsOk()) << c.name;
    EXPECT_EQ(table.metadata_location().file_name(), c.next);
    IW_ASSERT_OK_AND_ASSIGN(const Table again, OpenTableAt(run_, copy.location(), copy.io()));
    EXPECT_EQ(again.metadata_location(), table.metadata_location());
    EXPECT_EQ(again.metadata().properties.at("touched"), "yes");
    EXPECT_EQ(again.metadata().snapshots, before.snapshots);
    const auto number = MetadataVersionOf(table.metadata_location().file_name());
    EXPECT_THAT(ReadFile(*copy.io(), copy.location().Child("metadata/version-hint.text")),
                IsOkAndHolds(std::to_string(*number)));
  }
}

TEST_F(CatalogGoldenTest, DeleteAfterCommitTrimsTheFolder) {
  const FixtureCopy copy("trimmed_v2");
  IW_ASSERT_OK_AND_ASSIGN(Table table, OpenTableAt(run_, copy.location(), copy.io()));
  ASSERT_THAT(table.metadata().metadata_log, SizeIs(5));
  const Location oldest = table.metadata().metadata_log[0].metadata_file;
  const Location second = table.metadata().metadata_log[1].metadata_file;
  ASSERT_THAT(SetProperty(run_, table), IsOk());
  EXPECT_THAT(copy.io()->Exists(oldest), IsOkAndHolds(false));
  EXPECT_THAT(copy.io()->Exists(second), IsOkAndHolds(true));
}

// Java refuses to read a file whose .crc does not match it.
TEST_F(CatalogGoldenTest, ACommitLeavesNoStaleChecksum) {
  const FixtureCopy copy("crc_v2");
  const std::string metadata = copy.table_path() + "/metadata/";
  ASSERT_TRUE(std::filesystem::exists(metadata + ".version-hint.text.crc"));
  // Left by a writer that died between the checksum and its file.
  std::filesystem::copy_file(metadata + ".v5.metadata.json.crc",
                             metadata + ".v6.metadata.json.crc");
  IW_ASSERT_OK_AND_ASSIGN(Table table, OpenTableAt(run_, copy.location(), copy.io()));
  ASSERT_THAT(SetProperty(run_, table), IsOk());
  EXPECT_TRUE(std::filesystem::exists(metadata + "v6.metadata.json"));
  EXPECT_FALSE(std::filesystem::exists(metadata + ".v6.metadata.json.crc"));
  EXPECT_FALSE(std::filesystem::exists(metadata + ".version-hint.text.crc"));
  EXPECT_TRUE(std::filesystem::exists(metadata + ".v5.metadata.json.crc"));
}

TEST_F(CatalogGoldenTest, ACopyElsewhereIsReadOnly) {
  const FixtureCopy copy("append_v2");
  const Location elsewhere(copy.table_path());
  const auto io = MakeLocalFileIO();
  IW_ASSERT_OK_AND_ASSIGN(Table table, OpenTableAt(run_, elsewhere, io));
  EXPECT_THAT(table.operations().read_only_reason(), HasSubstr(copy.location().text()));
  EXPECT_THAT(SetProperty(run_, table), HasError(Code::kUnsupported, HasSubstr("is a copy")));
  const auto catalog = Open("cat", {{"type", "hadoop"}, {"warehouse", copy.root()}}, io);
  EXPECT_THAT(catalog->DropTable(run_, {{"fx"}, "append_v2"}, {.purge = true}),
              HasError(Code::kUnsupported, HasSubstr("copy")));
  EXPECT_THAT(io->Exists(elsewhere.Child("metadata/v31.metadata.json")), IsOkAndHolds(true));
}

TEST_F(CatalogGoldenTest, CatalogTablesAreNotCommittedToByPath) {
  const FixtureCopy copy("jdbc_v2");
  IW_ASSERT_OK_AND_ASSIGN(Table table, OpenTableAt(run_, copy.location(), copy.io()));
  EXPECT_THAT(SetProperty(run_, table), HasError(Code::kUnsupported, HasSubstr("register")));
  IW_ASSERT_OK_AND_ASSIGN(Table version, OpenTableAt(run_, table.metadata_location(), copy.io()));
  EXPECT_EQ(version.metadata().table_uuid, table.metadata().table_uuid);
  EXPECT_THAT(SetProperty(run_, version), HasError(Code::kUnsupported, HasSubstr("read-only")));
}

TEST_F(CatalogGoldenTest, ACommitThroughTheJdbcCatalogMovesTheRow) {
  const FixtureCopy copy("jdbc_v2");
  const Properties properties = {{"uri", "jdbc:sqlite:file:" + copy.root() + "/catalog.db"}};
  const TableIdentifier id{{"jd"}, "jdbc_v2"};
  const auto catalog = Open("oracle", properties, copy.io());
  IW_ASSERT_OK_AND_ASSIGN(Table table, catalog->LoadTable(run_, id));
  const Location before = table.metadata_location();
  ASSERT_THAT(SetProperty(run_, table), IsOk());
  EXPECT_THAT(std::string(table.metadata_location().file_name()), ::testing::StartsWith("00009-"));

  IW_ASSERT_OK_AND_ASSIGN(const auto url, ParseSqlUrl(properties.at("uri"), {}));
  IW_ASSERT_OK_AND_ASSIGN(const auto store, OpenSqlStore(url));
  EXPECT_THAT(store->Query("SELECT metadata_location, previous_metadata_location, iceberg_type "
                           "FROM iceberg_tables",
                           {}),
              IsOkAndHolds(::testing::ElementsAre(
                  SqlRow{table.metadata_location().text(), before.text(), "TABLE"})));
}

}  // namespace
}  // namespace icewright
