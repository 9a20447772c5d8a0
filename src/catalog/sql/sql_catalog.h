#pragma once

/// \file catalog/sql/sql_catalog.h
/// The catalog in a database, in the layout of Java's JdbcCatalog and of PyIceberg's SqlCatalog.
///
/// Java twin: JdbcCatalog.

#include <memory>
#include <string>

#include "catalog/catalog.h"
#include "database/sql_store.h"

namespace icewright {

/// Properties: uri (see sql_url.h), warehouse, jdbc.user, jdbc.password, jdbc.init-catalog-tables,
/// jdbc.schema-version (V0 or V1), jdbc.strict-mode, unique-table-location, table-default.*,
/// table-override.*. `name` is the catalog_name of the rows. Purge is kUnsupported: which files
/// only this table has, manifests tell, and a catalog reads none. Thread-safe. Errors:
/// kInvalidArgument, those of OpenSqlStore.
Result<std::shared_ptr<Catalog>> MakeSqlCatalog(std::string name, const Properties& properties,
                                                std::shared_ptr<FileIO> io);

/// The same on a store that is open.
Result<std::shared_ptr<Catalog>> MakeSqlCatalog(std::string name, const Properties& properties,
                                                std::shared_ptr<SqlStore> store,
                                                std::shared_ptr<FileIO> io);

}  // namespace icewright
