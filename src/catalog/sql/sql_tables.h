#pragma once

/// \file catalog/sql/sql_tables.h
/// The two tables that JDBC catalogs and PyIceberg share, as statements.
///
/// Java twin: JdbcUtil.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/run_context.h"
#include "catalog/catalog.h"
#include "database/sql_store.h"

namespace icewright {

/// What to do about tables that are missing or of the old layout.
struct SqlLayoutOptions {
  bool create = true;     ///< jdbc.init-catalog-tables
  bool wants_v1 = false;  ///< jdbc.schema-version=V1: add the column iceberg_type
};

/// Rows of one catalog name. Rows whose iceberg_type is NULL (written by V0 clients) are tables,
/// VIEW rows are nobody's business but take their name. Thread-safe.
class SqlTables {
 public:
  /// Errors: kNotFound if the tables are missing and are not to be made.
  static Result<std::shared_ptr<SqlTables>> Open(std::shared_ptr<SqlStore> store,
                                                 std::string catalog_name,
                                                 const SqlLayoutOptions& options);

  /// Unset: no such table. Errors: kCorrupt for a row without a location.
  Result<std::optional<Location>> Find(const TableIdentifier& id);

  /// True if a table or view has the name.
  Result<bool> IsTaken(const TableIdentifier& id);

  /// False: the name is taken.
  Result<bool> Insert(const TableIdentifier& id, const Location& location);

  /// False: the row is gone or has another location.
  Result<bool> Update(const TableIdentifier& id, const Location& from, const Location& to);

  /// Errors: kNotFound, kAlreadyExists.
  Status Rename(const TableIdentifier& from, const TableIdentifier& to);

  /// False: there was no such table.
  Result<bool> Delete(const TableIdentifier& id);

  Result<std::vector<std::string>> NamesIn(const Namespace& ns);

  /// `ns` and all below it that have a row in either table, each once. Empty `ns`: all.
  Result<std::vector<Namespace>> NamespacesFrom(const Namespace& ns);

  /// Any row of a table or view right in `ns`.
  Result<bool> HasTablesOrViews(const Namespace& ns);

  Result<Properties> PropertiesOf(const Namespace& ns);
  Status InsertNamespace(const Namespace& ns, const Properties& properties);
  Status DeleteNamespace(const Namespace& ns);

  bool is_v1() const { return is_v1_; }

 private:
  SqlTables(std::shared_ptr<SqlStore> store, std::string catalog_name)
      : store_(std::move(store)), catalog_name_(std::move(catalog_name)) {}

  Status Prepare(const SqlLayoutOptions& options);
  Status MakeTable(std::string_view name, std::string_view statement,
                   const SqlLayoutOptions& options);
  std::string OnlyTables() const;
  std::vector<SqlValue> Identity(const TableIdentifier& id) const;

  std::shared_ptr<SqlStore> store_;
  std::string catalog_name_;
  bool is_v1_ = false;
};

}  // namespace icewright
