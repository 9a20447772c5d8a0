#include "catalog/sql/sql_catalog.h"

#include <algorithm>

#include "catalog/sql/sql_tables.h"
#include "io/local_file_io.h"
#include "io/memory_file_io.h"
#include "testing/matchers.h"
#include "testing/sql_servers.h"
#include "testing/temp_folder.h"

namespace icewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

const TableIdentifier kTable{{"db"}, "t"};

class SqlCatalogTest : public ::testing::Test {
 protected:
  Properties With(Properties more = {}) const {
    more.emplace("uri", "jdbc:sqlite:" + folder_.path() + "/c.db");
    more.emplace("warehouse", "mem:/w");
    return more;
  }
  Result<std::shared_ptr<Catalog>> Open(Properties more = {}) {
    return MakeSqlCatalog("cat", With(std::move(more)), io_);
  }
  Result<Table> Make(Catalog& catalog, const TableIdentifier& id, Properties properties = {}) {
    return catalog.CreateTable(run_, id, {.schema = {}, .properties = std::move(properties)});
  }
  std::shared_ptr<SqlStore> Store() {
    return OpenSqlStore(*ParseSqlUrl(With().at("uri"), {})).value();
  }
  void Do(const std::string& sql) { ASSERT_THAT(Store()->Execute(sql, {}), IsOk()) << sql; }
  std::vector<std::string> Columns() { return Store()->ColumnsOf("iceberg_tables").value(); }

  TempFolder folder_;
  std::shared_ptr<FileIO> io_ = MakeMemoryFileIO();
  RunContext run_{RunOptions{}};
};

TEST_F(SqlCatalogTest, ANewDatabaseGetsTheOldLayoutUnlessAskedOtherwise) {
  ASSERT_THAT(Open(), IsOk());
  EXPECT_THAT(Columns(), ElementsAre("catalog_name", "table_namespace", "table_name",
                                     "metadata_location", "previous_metadata_location"));
  EXPECT_THAT(
      Store()->ColumnsOf("iceberg_namespace_properties"),
      IsOkAndHolds(ElementsAre("catalog_name", "namespace", "property_key", "property_value")));
  ASSERT_THAT(Open({{"jdbc.schema-version", "V1"}}), IsOk());
  EXPECT_THAT(Columns(), SizeIs(6));
  EXPECT_EQ(Columns().back(), "iceberg_type");
  // The database decides from now on.
  IW_ASSERT_OK_AND_ASSIGN(const auto catalog, Open());
  ASSERT_THAT(Make(*catalog, kTable), IsOk());
  EXPECT_THAT(Store()->Query("SELECT iceberg_type FROM iceberg_tables", {}),
              IsOkAndHolds(ElementsAre(SqlRow{"TABLE"})));
}

TEST_F(SqlCatalogTest, RowsOfOldClientsBecomeTablesOfTheNewLayout) {
  IW_ASSERT_OK_AND_ASSIGN(const auto old, Open());
  IW_ASSERT_OK_AND_ASSIGN(Table table, Make(*old, kTable));
  IW_ASSERT_OK_AND_ASSIGN(const auto fresh, Open({{"jdbc.schema-version", "V1"}}));
  EXPECT_THAT(fresh->ListTables(run_, {"db"}), IsOkAndHolds(ElementsAre(kTable)));
  IW_ASSERT_OK_AND_ASSIGN(Table loaded, fresh->LoadTable(run_, kTable));
  const std::vector<TableUpdate> updates = {SetProperties{{{"k", "v"}}}};
  EXPECT_THAT(loaded.Commit(run_, {}, updates), IsOk());
  EXPECT_THAT(fresh->RenameTable(run_, kTable, {{"db"}, "u"}), IsOk());
  EXPECT_THAT(fresh->DropTable(run_, {{"db"}, "u"}, {}), IsOk());
}

TEST_F(SqlCatalogTest, ViewsAreNoTablesButHoldTheirNames) {
  IW_ASSERT_OK_AND_ASSIGN(const auto catalog, Open({{"jdbc.schema-version", "V1"}}));
  Do("INSERT INTO iceberg_tables VALUES ('cat', 'db', 't', 'mem:/v.json', NULL, 'VIEW')");
  EXPECT_THAT(catalog->LoadTable(run_, kTable), HasCode(Code::kNotFound));
  EXPECT_THAT(catalog->ListTables(run_, {"db"}), IsOkAndHolds(IsEmpty()));
  EXPECT_THAT(catalog->DropTable(run_, kTable, {}), HasCode(Code::kNotFound));
  EXPECT_THAT(Make(*catalog, kTable), HasCode(Code::kAlreadyExists));
  ASSERT_THAT(Make(*catalog, {{"db"}, "u"}), IsOk());
  EXPECT_THAT(catalog->RenameTable(run_, {{"db"}, "u"}, kTable), HasCode(Code::kAlreadyExists));
  ASSERT_THAT(catalog->DropTable(run_, {{"db"}, "u"}, {}), IsOk());
  EXPECT_THAT(catalog->DropNamespace(run_, {"db"}), HasCode(Code::kInvalidArgument));
}

TEST_F(SqlCatalogTest, ARowWithoutLocationIsCorrupt) {
  IW_ASSERT_OK_AND_ASSIGN(const auto catalog, Open());
  Do("INSERT INTO iceberg_tables VALUES ('cat', 'db', 't', NULL, NULL)");
  EXPECT_THAT(catalog->LoadTable(run_, kTable), HasError(Code::kCorrupt, HasSubstr("db.t")));
}

TEST_F(SqlCatalogTest, TablesAreNotMadeWhereThatIsForbidden) {
  EXPECT_THAT(Open({{"jdbc.init-catalog-tables", "false"}}),
              HasError(Code::kNotFound, HasSubstr("iceberg_tables")));
  ASSERT_THAT(Open(), IsOk());
  EXPECT_THAT(Open({{"jdbc.init-catalog-tables", "false"}}), IsOk());
}

TEST_F(SqlCatalogTest, StrictModeWantsTheNamespaceFirst) {
  IW_ASSERT_OK_AND_ASSIGN(const auto strict, Open({{"jdbc.strict-mode", "true"}}));
  EXPECT_THAT(Make(*strict, kTable), HasError(Code::kNotFound, HasSubstr("db")));
  ASSERT_THAT(strict->CreateNamespace(run_, {"db"}, {}), IsOk());
  EXPECT_THAT(Make(*strict, kTable), IsOk());
  IW_ASSERT_OK_AND_ASSIGN(const auto loose, Open());
  EXPECT_THAT(Make(*loose, {{"other"}, "t"}), IsOk());
  EXPECT_THAT(loose->ListNamespaces(run_, {}),
              IsOkAndHolds(ElementsAre(Namespace{"db"}, Namespace{"other"})));
}

TEST_F(SqlCatalogTest, LocationsComeFromTheNamespaceOrTheWarehouse) {
  IW_ASSERT_OK_AND_ASSIGN(const auto catalog, Open());
  ASSERT_THAT(catalog->CreateNamespace(run_, {"here"}, {{"location", "mem:/elsewhere/"}}), IsOk());
  IW_ASSERT_OK_AND_ASSIGN(const Table by_namespace, Make(*catalog, {{"here"}, "t"}));
  EXPECT_EQ(by_namespace.metadata().location.text(), "mem:/elsewhere/t");
  IW_ASSERT_OK_AND_ASSIGN(const Table by_warehouse, Make(*catalog, {{"a", "b"}, "t"}));
  EXPECT_EQ(by_warehouse.metadata().location.text(), "mem:/w/a/b/t");
  IW_ASSERT_OK_AND_ASSIGN(
      const Table asked,
      catalog->CreateTable(run_, {{"a"}, "x"}, {.schema = {}, .location = Location("mem:/mine/")}));
  EXPECT_EQ(asked.metadata().location.text(), "mem:/mine");
  IW_ASSERT_OK_AND_ASSIGN(const Table split,
                          Make(*catalog, {{"a"}, "y"}, {{"write.metadata.path", "mem:/metas/y/"}}));
  EXPECT_THAT(split.metadata_location().text(), ::testing::StartsWith("mem:/metas/y/00000-"));

  IW_ASSERT_OK_AND_ASSIGN(const auto unique, Open({{"unique-table-location", "true"}}));
  IW_ASSERT_OK_AND_ASSIGN(const Table table, Make(*unique, {{"a"}, "u"}));
  EXPECT_THAT(table.metadata().location.text(), ::testing::MatchesRegex("mem:/w/a/u-[0-9a-f]{32}"));
}

TEST_F(SqlCatalogTest, CatalogPropertiesGoUnderAndOverTheUsers) {
  IW_ASSERT_OK_AND_ASSIGN(const auto catalog, Open({{"table-default.a", "default"},
                                                    {"table-default.b", "default"},
                                                    {"table-override.c", "forced"}}));
  IW_ASSERT_OK_AND_ASSIGN(const Table table,
                          Make(*catalog, kTable, {{"b", "mine"}, {"c", "mine"}}));
  EXPECT_EQ(table.metadata().properties.at("a"), "default");
  EXPECT_EQ(table.metadata().properties.at("b"), "mine");
  EXPECT_EQ(table.metadata().properties.at("c"), "forced");
}

TEST_F(SqlCatalogTest, CaseAndWildcardsKeepNamespacesApart) {
  IW_ASSERT_OK_AND_ASSIGN(const auto catalog, Open());
  for (const Namespace& ns :
       {Namespace{"a_b", "x"}, Namespace{"aXb", "y"}, Namespace{"A_B", "z"}}) {
    ASSERT_THAT(catalog->CreateNamespace(run_, ns, {}), IsOk());
  }
  EXPECT_THAT(catalog->ListNamespaces(run_, {"a_b"}),
              IsOkAndHolds(ElementsAre(Namespace{"a_b", "x"})));
  EXPECT_THAT(catalog->DropNamespace(run_, {"a_b"}), HasCode(Code::kInvalidArgument));
  EXPECT_THAT(catalog->DropNamespace(run_, {"a_b", "x"}), IsOk());
  EXPECT_THAT(catalog->ListNamespaces(run_, {"a_b"}), HasCode(Code::kNotFound));
  EXPECT_THAT(catalog->ListNamespaces(run_, {"aXb"}),
              IsOkAndHolds(ElementsAre(Namespace{"aXb", "y"})));
}

TEST_F(SqlCatalogTest, NamesThatTheLayoutCannotHoldAreRefused) {
  IW_ASSERT_OK_AND_ASSIGN(const auto catalog, Open());
  for (const Namespace& ns : {Namespace{}, Namespace{"a.b"}, Namespace{""}}) {
    EXPECT_THAT(catalog->CreateNamespace(run_, ns, {}), HasCode(Code::kInvalidArgument));
  }
  EXPECT_THAT(catalog->CreateNamespace(run_, {"a"}, {{"exists", "no"}}),
              HasError(Code::kInvalidArgument, HasSubstr("reserved")));
}

TEST_F(SqlCatalogTest, ErrorsNameTheCauseAndNoSecret) {
  EXPECT_THAT(MakeSqlCatalog("cat", {{"warehouse", "w"}}, io_),
              HasError(Code::kInvalidArgument, HasSubstr("uri")));
  EXPECT_THAT(Open({{"jdbc.schema-version", "V7"}}),
              HasError(Code::kInvalidArgument, HasSubstr("V0 and V1")));
  const auto missing =
      MakeSqlCatalog("cat", {{"uri", "jdbc:sqlite:" + folder_.path() + "/no/such/c.db"}}, io_);
  EXPECT_THAT(missing, HasError(Code::kNotFound, HasSubstr("no/such/c.db")));
  ASSERT_THAT(WriteFile(*MakeLocalFileIO(), folder_.Child("text.db"), std::string(4096, 'x'),
                        CreateMode::kNew),
              IsOk());
  EXPECT_THAT(MakeSqlCatalog("cat", {{"uri", "jdbc:sqlite:" + folder_.path() + "/text.db"}}, io_),
              HasError(Code::kCorrupt, HasSubstr("text.db")));
  for (const char* scheme : {"jdbc:postgresql", "jdbc:mariadb"}) {
    const auto away = MakeSqlCatalog(
        "cat", {{"uri", std::string(scheme) + "://127.0.0.1:1/db?user=u&password=hunter2"}}, io_);
    ASSERT_THAT(away, HasError(Code::kUnavailable, HasSubstr("127.0.0.1:1/db")));
    EXPECT_THAT(away.error().message(), Not(HasSubstr("hunter2")));
  }
}

struct ServerCase {
  const char* scheme;
  const SqlServer& (*server)();
  const char* connections;  // statements or calls that end the connections to a database
};

class SqlServiceTest : public ::testing::TestWithParam<ServerCase> {
 protected:
  Properties PropertiesFor(const std::string& database) const {
    const SqlServer& server = GetParam().server();
    return {{"uri", std::string(GetParam().scheme) + "://" + server.host + ":" + server.port + "/" +
                        database},
            {"jdbc.user", server.user},
            {"jdbc.password", server.password},
            {"warehouse", "mem:/w"}};
  }
  void Execute(const std::string& sql) { ASSERT_THAT(admin_->Execute(sql, {}), IsOk()) << sql; }

  void EndConnections() {
    const std::vector<SqlValue> values = {database_};
    const auto found = admin_->Query(GetParam().connections, values);
    ASSERT_THAT(found, IsOk());
    ASSERT_THAT(*found, SizeIs(1)) << "the catalog has one connection";
    const std::string text = found->front()[0].value_or("");
    if (!text.starts_with("KILL")) return;  // the call has ended it, and waited
    Execute(text);
    // MariaDB answers before the connection is gone.
    for (int i = 0; i < 1000; ++i) {
      const auto left = admin_->Query(GetParam().connections, values);
      ASSERT_THAT(left, IsOk());
      if (left->empty()) return;
      Clock::System().SleepFor(Milliseconds(10), {});
    }
    FAIL() << "the connection did not end";
  }

  std::shared_ptr<SqlStore> Store(const std::string& database) const {
    const Properties properties = PropertiesFor(database);
    return OpenSqlStore(*ParseSqlUrl(properties.at("uri"), properties)).value();
  }

  // A database of its own: other tests use the server meanwhile.
  std::string database_ = [] {
    std::string name = UniqueName("broken");
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
  }();
  std::shared_ptr<SqlStore> admin_ = Store(GetParam().server().database);
};

// A proxy or an administrator ends idle connections: the next call makes a new one.
TEST_P(SqlServiceTest, ABrokenConnectionIsMadeAgain) {
  RunContext run{RunOptions{}};
  Execute("CREATE DATABASE " + database_);
  IW_ASSERT_OK_AND_ASSIGN(auto catalog,
                          MakeSqlCatalog("cat", PropertiesFor(database_), MakeMemoryFileIO()));
  ASSERT_THAT(catalog->CreateNamespace(run, {"db"}, {}), IsOk());
  IW_ASSERT_OK_AND_ASSIGN(Table table, catalog->CreateTable(run, kTable, {.schema = {}}));
  EndConnections();
  EXPECT_THAT(catalog->LoadTable(run, kTable), IsOk());
  EndConnections();
  const std::vector<TableUpdate> updates = {SetProperties{{{"k", "v"}}}};
  EXPECT_THAT(table.Commit(run, {}, updates), IsOk());
}

// The statement may have been on its way when the connection broke: nobody can know.
TEST_P(SqlServiceTest, AStatementOnABrokenConnectionIsUnknown) {
  Execute("CREATE DATABASE " + database_);
  const auto store = Store(database_);
  ASSERT_THAT(store->Execute("CREATE TABLE t(a VARCHAR(10))", {}), IsOk());
  EndConnections();
  const auto inserted = store->Execute("INSERT INTO t(a) VALUES ('x')", {});
  // MariaDB's client notices while it prepares the statement, before it sends it, and starts anew.
  if (inserted) {
    EXPECT_EQ(*inserted, 1);
  } else {
    EXPECT_THAT(inserted, HasCode(Code::kCommitUnknown));
  }
  EXPECT_THAT(store->Query("SELECT count(*) FROM t", {}),
              IsOkAndHolds(ElementsAre(SqlRow{inserted ? "1" : "0"})));
}

TEST_P(SqlServiceTest, ErrorsSayWhatToDo) {
  const SqlServer& server = GetParam().server();
  const auto missing = MakeSqlCatalog("cat", PropertiesFor("no_such_db"), MakeMemoryFileIO());
  EXPECT_THAT(missing, HasError(Code::kNotFound, HasSubstr("no_such_db")));
  ASSERT_THAT(admin_->ColumnsOf("no_such_table"), IsOkAndHolds(IsEmpty()));
  EXPECT_THAT(admin_->Query("SELECT nonsense FROM nowhere", {}), HasCode(Code::kIo));
  if (server.password.empty()) return;
  Properties wrong = PropertiesFor(server.database);
  wrong["jdbc.password"] = "hunter2";
  const auto denied = MakeSqlCatalog("cat", wrong, MakeMemoryFileIO());
  ASSERT_THAT(denied, HasCode(Code::kDenied));
  EXPECT_THAT(denied.error().message(), Not(HasSubstr("hunter2")));
}

TEST_P(SqlServiceTest, TooLongAValueIsTheCallersFault) {
  IW_ASSERT_OK_AND_ASSIGN(
      const auto catalog,
      MakeSqlCatalog(UniqueName("cat"), PropertiesFor(GetParam().server().database),
                     MakeMemoryFileIO()));
  RunContext run{RunOptions{}};
  EXPECT_THAT(catalog->CreateNamespace(run, {"db"}, {{"k", std::string(1001, 'x')}}),
              HasCode(Code::kInvalidArgument));
}

INSTANTIATE_TEST_SUITE_P(
    All, SqlServiceTest,
    ::testing::Values(
        ServerCase{
            "jdbc:postgresql", &PostgresServer,
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = ?"},
        ServerCase{"jdbc:mariadb", &MariaDbServer,
                   "SELECT concat('KILL CONNECTION ', id) FROM information_schema.processlist "
                   "WHERE db = ?"}),
    [](const auto& param_info) {
      return std::string(param_info.param.scheme).substr(std::string_view("jdbc:").size());
    });

}  // namespace
}  // namespace icewright
