#include "catalog/catalog.h"

#include "catalog/filesystem/filesystem_catalog.h"
#include "catalog/memory/memory_catalog.h"
#include "catalog/sql/sql_catalog.h"
#include "io/local_file_io.h"
#include "io/memory_file_io.h"
#include "testing/catalog_suite.h"
#include "testing/sql_servers.h"
#include "testing/temp_folder.h"

namespace icewright {
namespace {

CatalogUnderTest OnMemory() {
  const auto io = MakeMemoryFileIO();
  const Location warehouse("mem:/warehouse");
  const auto catalog = MakeMemoryCatalog("cat", warehouse, io);
  return {catalog, io, warehouse,
          [catalog]() -> Result<std::shared_ptr<Catalog>> { return catalog; }};
}

CatalogUnderTest OnFilesystem() {
  const auto folder = std::make_shared<TempFolder>();
  const auto io = MakeLocalFileIO();
  const Location warehouse = folder->Child("warehouse");
  const auto open = [=] { return MakeFilesystemCatalog("cat", warehouse, io); };
  return {open().value(), io, warehouse, open, folder};
}

CatalogUnderTest OnSqlite(const char* schema_version) {
  const auto folder = std::make_shared<TempFolder>();
  const auto io = MakeLocalFileIO();
  const Location warehouse = folder->Child("warehouse");
  const Properties properties = {{"uri", "jdbc:sqlite:file:" + folder->path() + "/catalog.db"},
                                 {"warehouse", warehouse.text()},
                                 {"jdbc.schema-version", schema_version}};
  const auto open = [=] { return MakeSqlCatalog("cat", properties, io); };
  return {open().value(), io, warehouse, open, folder};
}

CatalogUnderTest OnServer(const std::string& scheme, const SqlServer& server) {
  const auto folder = std::make_shared<TempFolder>();
  const auto io = MakeLocalFileIO();
  const Location warehouse = folder->Child("warehouse");
  const Properties properties = {
      {"uri", scheme + "://" + server.host + ":" + server.port + "/" + server.database},
      {"jdbc.user", server.user},
      {"jdbc.password", server.password},
      {"warehouse", warehouse.text()},
      {"jdbc.schema-version", "V1"}};
  // All tests share one database: the catalog's name keeps them apart, as it keeps users apart.
  const auto open = [=, name = UniqueName("cat")] { return MakeSqlCatalog(name, properties, io); };
  auto catalog = open();
  EXPECT_THAT(catalog, IsOk());
  return {catalog ? *catalog : nullptr, io, warehouse, open, folder};
}

INSTANTIATE_TEST_SUITE_P(
    Service, CatalogSuite,
    ::testing::Values(
        CatalogFactory{.name = "Postgres",
                       .make = [] { return OnServer("jdbc:postgresql", PostgresServer()); },
                       .purges = false},
        CatalogFactory{.name = "MariaDb",
                       .make = [] { return OnServer("jdbc:mariadb", MariaDbServer()); },
                       .purges = false}),
    CatalogFactory::Name);

INSTANTIATE_TEST_SUITE_P(
    All, CatalogSuite,
    ::testing::Values(
        CatalogFactory{.name = "Memory", .make = OnMemory},
        CatalogFactory{.name = "Filesystem",
                       .make = OnFilesystem,
                       .keeps_namespace_properties = false,
                       .renames_and_registers = false,
                       .drops_without_purge = false},
        CatalogFactory{.name = "SqliteV0", .make = [] { return OnSqlite("V0"); }, .purges = false},
        CatalogFactory{.name = "SqliteV1", .make = [] { return OnSqlite("V1"); }, .purges = false}),
    CatalogFactory::Name);

}  // namespace
}  // namespace icewright
