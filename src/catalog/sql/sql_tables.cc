#include "catalog/sql/sql_tables.h"

#include <algorithm>
#include <set>
#include <utility>

namespace icewright {
namespace {

constexpr std::string_view kTables = "iceberg_tables";
constexpr std::string_view kProperties = "iceberg_namespace_properties";

constexpr std::string_view kCreateTables =
    "CREATE TABLE iceberg_tables(catalog_name VARCHAR(255) NOT NULL, "
    "table_namespace VARCHAR(255) NOT NULL, table_name VARCHAR(255) NOT NULL, "
    "metadata_location VARCHAR(1000), previous_metadata_location VARCHAR(1000), "
    "PRIMARY KEY (catalog_name, table_namespace, table_name))";
constexpr std::string_view kCreateProperties =
    "CREATE TABLE iceberg_namespace_properties(catalog_name VARCHAR(255) NOT NULL, "
    "namespace VARCHAR(255) NOT NULL, property_key VARCHAR(255), property_value VARCHAR(1000), "
    "PRIMARY KEY (catalog_name, namespace, property_key))";
constexpr std::string_view kAddType =
    "ALTER TABLE iceberg_tables ADD COLUMN iceberg_type VARCHAR(5)";

// The row that makes a namespace exist without properties.
constexpr const char* kExists = "exists";

constexpr std::string_view kIsId =
    " WHERE catalog_name = ? AND table_namespace = ? AND table_name = ?";

// What starts with `text`, for LIKE ... ESCAPE '!'.
std::string LikeBelow(const std::string& text) {
  std::string pattern;
  for (const char c : text) {
    if (c == '!' || c == '_' || c == '%') pattern += '!';
    pattern += c;
  }
  return pattern + ".%";
}

Namespace Split(const std::string& text) {
  Namespace levels;
  std::size_t from = 0;
  for (;;) {
    const auto dot = text.find('.', from);
    levels.push_back(text.substr(from, dot == std::string::npos ? dot : dot - from));
    if (dot == std::string::npos) return levels;
    from = dot + 1;
  }
}

bool HasColumn(const std::vector<std::string>& columns, std::string_view name) {
  return std::find(columns.begin(), columns.end(), name) != columns.end();
}

}  // namespace

Result<std::shared_ptr<SqlTables>> SqlTables::Open(std::shared_ptr<SqlStore> store,
                                                   std::string catalog_name,
                                                   const SqlLayoutOptions& options) {
  std::shared_ptr<SqlTables> tables(new SqlTables(std::move(store), std::move(catalog_name)));
  IW_TRY(tables->Prepare(options));
  return tables;
}

Status SqlTables::Prepare(const SqlLayoutOptions& options) {
  IW_TRY(MakeTable(kTables, kCreateTables, options));
  IW_TRY(MakeTable(kProperties, kCreateProperties, options));
  IW_ASSIGN(auto columns, store_->ColumnsOf(kTables));
  if (!HasColumn(columns, "iceberg_type") && options.wants_v1) {
    const auto added = store_->Execute(kAddType, {});
    // Another client may have been faster.
    IW_ASSIGN(columns, store_->ColumnsOf(kTables));
    if (!added && !HasColumn(columns, "iceberg_type")) {
      return added.error().Within("add column iceberg_type");
    }
  }
  is_v1_ = HasColumn(columns, "iceberg_type");
  return {};
}

Status SqlTables::MakeTable(std::string_view name, std::string_view statement,
                            const SqlLayoutOptions& options) {
  IW_ASSIGN(const auto columns, store_->ColumnsOf(name));
  if (!columns.empty()) return {};
  if (!options.create) {
    return Error(Code::kNotFound, "the database has no table " + std::string(name) +
                                      ", and jdbc.init-catalog-tables is false");
  }
  const auto made = store_->Execute(statement, {});
  if (made) return {};
  IW_ASSIGN(const auto now, store_->ColumnsOf(name));
  if (!now.empty()) return {};  // another client was faster
  return made.error().Within("create table " + std::string(name));
}

std::string SqlTables::OnlyTables() const {
  return is_v1_ ? " AND (iceberg_type = 'TABLE' OR iceberg_type IS NULL)" : "";
}

std::vector<SqlValue> SqlTables::Identity(const TableIdentifier& id) const {
  return {catalog_name_, ToString(id.ns), id.name};
}

Result<std::optional<Location>> SqlTables::Find(const TableIdentifier& id) {
  const std::string sql =
      "SELECT metadata_location FROM iceberg_tables" + std::string(kIsId) + OnlyTables();
  IW_ASSIGN(const auto rows, store_->Query(sql, Identity(id)));
  if (rows.empty()) return std::optional<Location>();
  if (!rows[0][0]) {
    return Error(Code::kCorrupt, "iceberg_tables: " + ToString(id) + " has no metadata_location");
  }
  return std::optional(Location(*rows[0][0]));
}

Result<bool> SqlTables::IsTaken(const TableIdentifier& id) {
  IW_ASSIGN(
      const auto rows,
      store_->Query("SELECT table_name FROM iceberg_tables" + std::string(kIsId), Identity(id)));
  return !rows.empty();
}

Result<bool> SqlTables::Insert(const TableIdentifier& id, const Location& location) {
  std::vector<SqlValue> values = Identity(id);
  values.push_back(location.text());
  values.push_back(std::nullopt);
  if (is_v1_) values.push_back("TABLE");
  const std::string sql =
      "INSERT INTO iceberg_tables (catalog_name, table_namespace, table_name, metadata_location, "
      "previous_metadata_location" +
      std::string(is_v1_ ? ", iceberg_type) VALUES (?, ?, ?, ?, ?, ?)"
                         : ") VALUES (?, ?, ?, ?, ?)");
  const auto inserted = store_->Execute(sql, values);
  if (inserted) return true;
  if (inserted.error().code() == Code::kAlreadyExists) return false;
  return inserted.error();
}

Result<bool> SqlTables::Update(const TableIdentifier& id, const Location& from,
                               const Location& to) {
  std::vector<SqlValue> values = {to.text(), from.text()};
  for (SqlValue& value : Identity(id)) values.push_back(std::move(value));
  values.push_back(from.text());
  const std::string sql =
      "UPDATE iceberg_tables SET metadata_location = ?, previous_metadata_location = ?" +
      std::string(kIsId) + " AND metadata_location = ?" + OnlyTables();
  IW_ASSIGN(const std::int64_t rows, store_->Execute(sql, values));
  return rows == 1;
}

Status SqlTables::Rename(const TableIdentifier& from, const TableIdentifier& to) {
  const Error taken(Code::kAlreadyExists, ToString(to) + " already exists");
  IW_ASSIGN(const auto source, Find(from));
  if (!source) return Error(Code::kNotFound, "there is no table " + ToString(from));
  IW_ASSIGN(const bool is_taken, IsTaken(to));
  if (is_taken) return taken;
  std::vector<SqlValue> values = {ToString(to.ns), to.name};
  for (SqlValue& value : Identity(from)) values.push_back(std::move(value));
  const auto rows =
      store_->Execute("UPDATE iceberg_tables SET table_namespace = ?, table_name = ?" +
                          std::string(kIsId) + OnlyTables(),
                      values);
  if (!rows) return rows.error().code() == Code::kAlreadyExists ? taken : rows.error();
  if (*rows == 0) return Error(Code::kNotFound, "there is no table " + ToString(from));
  return {};
}

Result<bool> SqlTables::Delete(const TableIdentifier& id) {
  IW_ASSIGN(const std::int64_t rows,
            store_->Execute("DELETE FROM iceberg_tables" + std::string(kIsId) + OnlyTables(),
                            Identity(id)));
  return rows > 0;
}

Result<std::vector<std::string>> SqlTables::NamesIn(const Namespace& ns) {
  const std::vector<SqlValue> values = {catalog_name_, ToString(ns)};
  IW_ASSIGN(const auto rows,
            store_->Query("SELECT table_name FROM iceberg_tables WHERE catalog_name = ? AND "
                          "table_namespace = ?" +
                              OnlyTables(),
                          values));
  std::vector<std::string> names;
  for (const SqlRow& row : rows) names.push_back(row[0].value_or(""));
  std::sort(names.begin(), names.end());
  return names;
}

Result<std::vector<Namespace>> SqlTables::NamespacesFrom(const Namespace& ns) {
  const std::string text = ToString(ns);
  std::set<Namespace> found;
  for (const auto& [column, table] :
       {std::pair("table_namespace", kTables), std::pair("namespace", kProperties)}) {
    std::string sql = "SELECT DISTINCT " + std::string(column) + " FROM " + std::string(table) +
                      " WHERE catalog_name = ?";
    std::vector<SqlValue> values = {catalog_name_};
    if (!ns.empty()) {
      sql +=
          " AND (" + std::string(column) + " = ? OR " + std::string(column) + " LIKE ? ESCAPE '!')";
      values.emplace_back(text);
      values.emplace_back(LikeBelow(text));
    }
    IW_ASSIGN(const auto rows, store_->Query(sql, values));
    for (const SqlRow& row : rows) {
      const std::string name = row[0].value_or("");
      // LIKE ignores case in some databases.
      if (!ns.empty() && name != text && !name.starts_with(text + ".")) continue;
      if (!name.empty()) found.insert(Split(name));
    }
  }
  return std::vector<Namespace>(found.begin(), found.end());
}

Result<bool> SqlTables::HasTablesOrViews(const Namespace& ns) {
  const std::vector<SqlValue> values = {catalog_name_, ToString(ns)};
  IW_ASSIGN(const auto rows, store_->Query("SELECT table_name FROM iceberg_tables WHERE "
                                           "catalog_name = ? AND table_namespace = ?",
                                           values));
  return !rows.empty();
}

Result<Properties> SqlTables::PropertiesOf(const Namespace& ns) {
  const std::vector<SqlValue> values = {catalog_name_, ToString(ns)};
  IW_ASSIGN(const auto rows,
            store_->Query("SELECT property_key, property_value FROM iceberg_namespace_properties "
                          "WHERE catalog_name = ? AND namespace = ?",
                          values));
  Properties properties;
  for (const SqlRow& row : rows) {
    if (row[0] && *row[0] != kExists) properties[*row[0]] = row[1].value_or("");
  }
  return properties;
}

Status SqlTables::InsertNamespace(const Namespace& ns, const Properties& properties) {
  Properties rows = properties;
  rows[kExists] = "true";
  std::string sql =
      "INSERT INTO iceberg_namespace_properties (catalog_name, namespace, property_key, "
      "property_value) VALUES ";
  std::vector<SqlValue> values;
  for (const auto& [key, value] : rows) {
    sql += values.empty() ? "(?, ?, ?, ?)" : ", (?, ?, ?, ?)";
    for (const std::string& text : {catalog_name_, ToString(ns), key, value}) {
      values.emplace_back(text);
    }
  }
  IW_TRY(store_->Execute(sql, values));
  return {};
}

Status SqlTables::DeleteNamespace(const Namespace& ns) {
  const std::vector<SqlValue> values = {catalog_name_, ToString(ns)};
  IW_TRY(store_->Execute(
      "DELETE FROM iceberg_namespace_properties WHERE catalog_name = ? AND namespace = ?", values));
  return {};
}

}  // namespace icewright
