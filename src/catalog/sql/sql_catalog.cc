#include "catalog/sql/sql_catalog.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "catalog/metadata_pointer.h"
#include "catalog/sql/sql_tables.h"
#include "catalog/table_name.h"

namespace icewright {
namespace {

Error NoNamespace(const Namespace& ns) {
  return {Code::kNotFound, "there is no namespace " + ToString(ns)};
}

// Levels are joined by dots in the database, so a dot inside a level would make two of it.
Status CheckNamespace(const Namespace& ns) {
  if (ns.empty()) return Error(Code::kInvalidArgument, "a namespace needs a name");
  for (const std::string& level : ns) {
    if (level.empty() || level.find('.') != std::string::npos ||
        level.find('\0') != std::string::npos) {
      return Error(Code::kInvalidArgument, "'" + level + "' cannot be a level of a namespace");
    }
  }
  return {};
}

Status CheckIdentifier(const TableIdentifier& id) {
  IW_TRY(CheckNamespace(id.ns));
  if (id.name.empty() || id.name.find('\0') != std::string::npos) {
    return Error(Code::kInvalidArgument, "'" + id.name + "' cannot be the name of a table");
  }
  return {};
}

class SqlPointer final : public MetadataPointer {
 public:
  SqlPointer(std::shared_ptr<SqlTables> tables, TableIdentifier id)
      : tables_(std::move(tables)), id_(std::move(id)) {}

  Result<std::optional<Location>> Get(RunContext& run) override {
    IW_TRY(run.Check());
    return tables_->Find(id_);
  }

  Result<bool> Swap(RunContext&, const std::optional<Location>& current,
                    const Location& next) override {
    return current ? tables_->Update(id_, *current, next) : tables_->Insert(id_, next);
  }

 private:
  std::shared_ptr<SqlTables> tables_;
  TableIdentifier id_;
};

class SqlCatalog final : public Catalog {
 public:
  SqlCatalog(std::string name, Properties properties, std::shared_ptr<SqlTables> tables,
             std::shared_ptr<FileIO> io)
      : name_(std::move(name)),
        properties_(std::move(properties)),
        tables_(std::move(tables)),
        io_(std::move(io)) {}

  const std::string& name() const override { return name_; }

  Result<std::vector<Namespace>> ListNamespaces(RunContext& run, const Namespace& parent) override {
    IW_TRY(run.Check());
    IW_ASSIGN(const auto all, tables_->NamespacesFrom(parent));
    if (all.empty() && !parent.empty()) return NoNamespace(parent);
    std::vector<Namespace> children;
    for (const Namespace& ns : all) {
      if (ns.size() <= parent.size()) continue;
      Namespace child(ns.begin(), ns.begin() + std::ssize(parent) + 1);
      if (children.empty() || children.back() != child) children.push_back(std::move(child));
    }
    return children;
  }

  Status CreateNamespace(RunContext& run, const Namespace& ns,
                         const Properties& properties) override {
    IW_TRY(CheckNamespace(ns));
    if (properties.contains("exists")) {
      return Error(Code::kInvalidArgument, "'exists' is a reserved namespace property");
    }
    IW_TRY(run.Check());
    const Error taken(Code::kAlreadyExists, "namespace " + ToString(ns) + " already exists");
    IW_ASSIGN(const bool exists, Exists(ns));
    if (exists) return taken;
    const Status inserted = tables_->InsertNamespace(ns, properties);
    if (!inserted && inserted.error().code() == Code::kAlreadyExists) return taken;
    return inserted;
  }

  Status DropNamespace(RunContext& run, const Namespace& ns) override {
    IW_TRY(run.Check());
    if (ns.empty()) return NoNamespace(ns);
    IW_ASSIGN(const auto all, tables_->NamespacesFrom(ns));
    if (all.empty()) return NoNamespace(ns);
    IW_ASSIGN(const bool has_tables, tables_->HasTablesOrViews(ns));
    if (has_tables || all.size() > 1 || all.front() != ns) {
      return Error(Code::kInvalidArgument, "namespace " + ToString(ns) + " is not empty");
    }
    return tables_->DeleteNamespace(ns);
  }

  Result<Properties> LoadNamespace(RunContext& run, const Namespace& ns) override {
    IW_TRY(run.Check());
    if (ns.empty()) return NoNamespace(ns);
    IW_ASSIGN(const bool exists, Exists(ns));
    if (!exists) return NoNamespace(ns);
    IW_ASSIGN(Properties properties, tables_->PropertiesOf(ns));
    if (!properties.contains("location")) {
      if (const auto location = LocationByWarehouse(ns)) properties["location"] = location->text();
    }
    return properties;
  }

  Result<std::vector<TableIdentifier>> ListTables(RunContext& run, const Namespace& ns) override {
    IW_TRY(run.Check());
    IW_ASSIGN(const auto names, tables_->NamesIn(ns));
    if (names.empty() && !ns.empty()) {
      IW_ASSIGN(const bool exists, Exists(ns));
      if (!exists) return NoNamespace(ns);
    }
    std::vector<TableIdentifier> found;
    for (const std::string& name : names) found.push_back({ns, name});
    return found;
  }

  Result<Table> LoadTable(RunContext& run, const TableIdentifier& id) override {
    const auto operations = OperationsOf(id);
    IW_ASSIGN(TableState state, operations->Load(run));
    return Table(DisplayName(name_, id), operations, io_, std::move(state));
  }

  Result<Table> CreateTable(RunContext& run, const TableIdentifier& id,
                            const CreateTableRequest& request) override {
    IW_TRY(CheckIdentifier(id));
    IW_TRY(run.Check());
    IW_TRY(CheckFree(id));
    if (BoolProperty(properties_, "jdbc.strict-mode", false)) {
      IW_ASSIGN(const bool exists, Exists(id.ns));
      if (!exists) return NoNamespace(id.ns);
    }
    Location location;
    if (request.location) {
      location = *request.location;
    } else {
      IW_ASSIGN(location, DefaultLocation(run, id));
    }
    IW_ASSIGN(TableMetadata metadata, PlanCreate(run, request, location, properties_));
    SqlPointer pointer(tables_, id);
    IW_ASSIGN(TableState state, CreateThroughPointer(run, pointer, *io_, std::move(metadata),
                                                     DisplayName(name_, id)));
    return Table(DisplayName(name_, id), OperationsOf(id), io_, std::move(state));
  }

  Status DropTable(RunContext& run, const TableIdentifier& id, DropOptions options) override {
    IW_TRY(run.Check());
    const Error missing(Code::kNotFound, "there is no table " + DisplayName(name_, id));
    if (options.purge) {
      IW_ASSIGN(const auto location, tables_->Find(id));
      if (!location) return missing;
      return Error(Code::kUnsupported,
                   "purge refused: a table of an SQL catalog may lie anywhere and share files with "
                   "others, and the catalog does not read manifests; drop it without purge");
    }
    IW_TRY(run.CheckMayWrite());
    IW_ASSIGN(const bool dropped, tables_->Delete(id));
    if (!dropped) return missing;
    return {};
  }

  Status RenameTable(RunContext& run, const TableIdentifier& from,
                     const TableIdentifier& to) override {
    IW_TRY(CheckIdentifier(to));
    IW_TRY(run.Check());
    IW_ASSIGN(const bool exists, Exists(to.ns));
    if (!exists) return NoNamespace(to.ns);
    return tables_->Rename(from, to);
  }

  Result<Table> RegisterTable(RunContext& run, const TableIdentifier& id,
                              const Location& metadata_location) override {
    IW_TRY(CheckIdentifier(id));
    IW_TRY(run.Check());
    IW_TRY(CheckFree(id));
    SqlPointer pointer(tables_, id);
    IW_ASSIGN(TableState state, RegisterThroughPointer(run, pointer, *io_, metadata_location,
                                                       DisplayName(name_, id)));
    return Table(DisplayName(name_, id), OperationsOf(id), io_, std::move(state));
  }

 private:
  std::shared_ptr<PointerOperations> OperationsOf(const TableIdentifier& id) const {
    return std::make_shared<PointerOperations>(DisplayName(name_, id),
                                               std::make_shared<SqlPointer>(tables_, id), io_);
  }

  Status CheckFree(const TableIdentifier& id) const {
    IW_ASSIGN(const bool taken, tables_->IsTaken(id));
    if (taken) return Error(Code::kAlreadyExists, DisplayName(name_, id) + " already exists");
    return {};
  }

  Result<bool> Exists(const Namespace& ns) const {
    if (ns.empty()) return true;
    IW_ASSIGN(const auto found, tables_->NamespacesFrom(ns));
    return !found.empty();
  }

  std::optional<Location> LocationByWarehouse(const Namespace& ns) const {
    const auto warehouse = properties_.find("warehouse");
    if (warehouse == properties_.end() || warehouse->second.empty()) return std::nullopt;
    Location location(WithoutTrailingSlash(warehouse->second));
    for (const std::string& level : ns) location = location.Child(level);
    return location;
  }

  Result<Location> DefaultLocation(RunContext& run, const TableIdentifier& id) const {
    IW_ASSIGN(const Properties of_namespace, tables_->PropertiesOf(id.ns));
    std::optional<Location> folder = LocationByWarehouse(id.ns);
    if (const auto it = of_namespace.find("location"); it != of_namespace.end()) {
      folder = Location(WithoutTrailingSlash(it->second));
    }
    if (!folder) {
      return Error(Code::kInvalidArgument,
                   "catalog " + name_ + ": warehouse is missing, so a table needs a location");
    }
    std::string name = id.name;
    if (BoolProperty(properties_, "unique-table-location", false)) {
      std::string uuid = run.random().NewUuid();
      std::erase(uuid, '-');
      name += "-" + uuid;
    }
    return folder->Child(name);
  }

  const std::string name_;
  const Properties properties_;
  const std::shared_ptr<SqlTables> tables_;
  const std::shared_ptr<FileIO> io_;
};

}  // namespace

Result<std::shared_ptr<Catalog>> MakeSqlCatalog(std::string name, const Properties& properties,
                                                std::shared_ptr<SqlStore> store,
                                                std::shared_ptr<FileIO> io) {
  const std::string version = ToLower(StringProperty(properties, "jdbc.schema-version", "V0"));
  if (version != "v0" && version != "v1") {
    return Error(Code::kInvalidArgument, "jdbc.schema-version is '" +
                                             properties.at("jdbc.schema-version") +
                                             "'; known are V0 and V1");
  }
  const SqlLayoutOptions layout{
      .create = BoolProperty(properties, "jdbc.init-catalog-tables", true),
      .wants_v1 = version == "v1"};
  IW_ASSIGN(auto tables, SqlTables::Open(std::move(store), name, layout));
  return std::make_shared<SqlCatalog>(std::move(name), properties, std::move(tables),
                                      std::move(io));
}

Result<std::shared_ptr<Catalog>> MakeSqlCatalog(std::string name, const Properties& properties,
                                                std::shared_ptr<FileIO> io) {
  const auto uri = properties.find("uri");
  if (uri == properties.end()) {
    return Error(Code::kInvalidArgument,
                 "catalog " + name + ": uri is missing: an SQL catalog needs it");
  }
  auto url = ParseSqlUrl(uri->second, properties);
  if (!url) return url.error().Within("catalog " + name);
  IW_ASSIGN(auto store, OpenSqlStore(*url).Within("catalog " + name));
  return MakeSqlCatalog(std::move(name), properties, std::move(store), std::move(io));
}

}  // namespace icewright
