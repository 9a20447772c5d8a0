#include "catalog/memory/memory_catalog.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "catalog/metadata_pointer.h"
#include "catalog/purge.h"
#include "catalog/table_name.h"

namespace icewright {
namespace {

Error NoNamespace(const Namespace& ns) {
  return {Code::kNotFound, "there is no namespace " + ToString(ns)};
}

bool IsBelow(const Namespace& ns, const Namespace& parent) {
  return ns.size() > parent.size() && std::equal(parent.begin(), parent.end(), ns.begin());
}

// The names. Shared by the catalog and the tables loaded from it. Thread-safe.
class Names {
 public:
  explicit Names(MemoryCatalogHooks test_hooks) : hooks(std::move(test_hooks)) {}

  std::optional<Location> Find(const TableIdentifier& id) {
    const std::scoped_lock lock(mutex);
    const auto it = tables.find(id);
    return it == tables.end() ? std::nullopt : std::optional(it->second);
  }

  // A namespace exists if it was made, or if one below it or a table in it exists.
  bool HasNamespace(const Namespace& ns) {
    const std::scoped_lock lock(mutex);
    return HasNamespaceLocked(ns);
  }

  bool HasNamespaceLocked(const Namespace& ns) const {
    if (ns.empty() || namespaces.contains(ns)) return true;
    for (const auto& [other, properties] : namespaces) {
      if (IsBelow(other, ns)) return true;
    }
    for (const auto& [id, location] : tables) {
      if (id.ns == ns || IsBelow(id.ns, ns)) return true;
    }
    return false;
  }

  const MemoryCatalogHooks hooks;
  std::mutex mutex;
  std::map<Namespace, Properties> namespaces;  // guarded by mutex
  std::map<TableIdentifier, Location> tables;  // guarded by mutex
};

class MemoryPointer final : public MetadataPointer {
 public:
  MemoryPointer(std::shared_ptr<Names> names, TableIdentifier id)
      : names_(std::move(names)), id_(std::move(id)) {}

  Result<std::optional<Location>> Get(RunContext&) override {
    if (names_->hooks.before_read) IW_TRY(names_->hooks.before_read(id_));
    return names_->Find(id_);
  }

  Result<bool> Swap(RunContext&, const std::optional<Location>& current,
                    const Location& next) override {
    if (names_->hooks.before_swap) IW_TRY(names_->hooks.before_swap(id_));
    {
      const std::scoped_lock lock(names_->mutex);
      const auto it = names_->tables.find(id_);
      if (current.has_value() != (it != names_->tables.end())) return false;
      if (current && it->second != *current) return false;
      names_->tables.insert_or_assign(id_, next);
    }
    if (names_->hooks.after_swap) IW_TRY(names_->hooks.after_swap(id_));
    return true;
  }

 private:
  std::shared_ptr<Names> names_;
  TableIdentifier id_;
};

class MemoryCatalog final : public Catalog {
 public:
  MemoryCatalog(std::string name, Location warehouse, std::shared_ptr<FileIO> io,
                Properties properties, MemoryCatalogHooks hooks)
      : name_(std::move(name)),
        warehouse_(std::move(warehouse)),
        io_(std::move(io)),
        properties_(std::move(properties)),
        names_(std::make_shared<Names>(std::move(hooks))) {}

  const std::string& name() const override { return name_; }

  Result<std::vector<Namespace>> ListNamespaces(RunContext&, const Namespace& parent) override {
    const std::scoped_lock lock(names_->mutex);
    if (!names_->HasNamespaceLocked(parent)) return NoNamespace(parent);
    std::map<Namespace, bool> children;
    const auto add = [&](const Namespace& ns) {
      if (!IsBelow(ns, parent)) return;
      children.emplace(Namespace(ns.begin(), ns.begin() + std::ssize(parent) + 1), true);
    };
    for (const auto& [ns, properties] : names_->namespaces) add(ns);
    for (const auto& [id, location] : names_->tables) add(id.ns);
    std::vector<Namespace> result;
    for (const auto& [ns, unused] : children) result.push_back(ns);
    return result;
  }

  Status CreateNamespace(RunContext&, const Namespace& ns, const Properties& properties) override {
    IW_TRY(CheckName(ns));
    const std::scoped_lock lock(names_->mutex);
    if (names_->HasNamespaceLocked(ns)) {
      return Error(Code::kAlreadyExists, "namespace " + ToString(ns) + " already exists");
    }
    names_->namespaces.emplace(ns, properties);
    return {};
  }

  Status DropNamespace(RunContext&, const Namespace& ns) override {
    const std::scoped_lock lock(names_->mutex);
    if (ns.empty() || !names_->HasNamespaceLocked(ns)) return NoNamespace(ns);
    const auto holder = names_->namespaces.extract(ns);
    if (names_->HasNamespaceLocked(ns)) {
      if (!holder.empty()) names_->namespaces.emplace(ns, holder.mapped());
      return Error(Code::kInvalidArgument, "namespace " + ToString(ns) + " is not empty");
    }
    return {};
  }

  Result<Properties> LoadNamespace(RunContext&, const Namespace& ns) override {
    const std::scoped_lock lock(names_->mutex);
    if (ns.empty() || !names_->HasNamespaceLocked(ns)) return NoNamespace(ns);
    Properties properties;
    if (const auto it = names_->namespaces.find(ns); it != names_->namespaces.end()) {
      properties = it->second;
    }
    properties.emplace("location", FolderOf(ns).text());
    return properties;
  }

  Result<std::vector<TableIdentifier>> ListTables(RunContext&, const Namespace& ns) override {
    const std::scoped_lock lock(names_->mutex);
    if (!names_->HasNamespaceLocked(ns)) return NoNamespace(ns);
    std::vector<TableIdentifier> found;
    for (const auto& [id, location] : names_->tables) {
      if (id.ns == ns) found.push_back(id);
    }
    return found;
  }

  Result<Table> LoadTable(RunContext& run, const TableIdentifier& id) override {
    const auto operations = OperationsOf(id);
    IW_ASSIGN(TableState state, operations->Load(run));
    return Table(DisplayName(name_, id), operations, io_, std::move(state));
  }

  Result<Table> CreateTable(RunContext& run, const TableIdentifier& id,
                            const CreateTableRequest& request) override {
    IW_TRY(CheckName(id.ns));
    IW_TRY(CheckName({id.name}));
    if (names_->Find(id)) return Taken(id);
    const Location location = request.location.value_or(DefaultLocation(id));
    IW_ASSIGN(TableMetadata metadata, PlanCreate(run, request, location, properties_));
    MemoryPointer pointer(names_, id);
    IW_ASSIGN(TableState state, CreateThroughPointer(run, pointer, *io_, std::move(metadata),
                                                     DisplayName(name_, id)));
    return Table(DisplayName(name_, id), OperationsOf(id), io_, std::move(state));
  }

  Status DropTable(RunContext& run, const TableIdentifier& id, DropOptions options) override {
    if (options.purge) {
      IW_ASSIGN(const Table table, LoadTable(run, id));
      IW_TRY(CheckMayPurgeFolder(table.metadata(), DefaultLocation(id)));
    }
    {
      const std::scoped_lock lock(names_->mutex);
      if (names_->tables.erase(id) == 0) return NoTable(id);
    }
    return options.purge ? io_->DeleteFolder(DefaultLocation(id)) : Status{};
  }

  Status RenameTable(RunContext&, const TableIdentifier& from, const TableIdentifier& to) override {
    IW_TRY(CheckName({to.name}));
    const std::scoped_lock lock(names_->mutex);
    const auto it = names_->tables.find(from);
    if (it == names_->tables.end()) return NoTable(from);
    if (!names_->HasNamespaceLocked(to.ns)) return NoNamespace(to.ns);
    if (names_->tables.contains(to)) return Taken(to);
    const Location location = it->second;
    names_->tables.erase(it);
    names_->tables.emplace(to, location);
    return {};
  }

  Result<Table> RegisterTable(RunContext& run, const TableIdentifier& id,
                              const Location& metadata_location) override {
    IW_TRY(CheckName(id.ns));
    IW_TRY(CheckName({id.name}));
    MemoryPointer pointer(names_, id);
    IW_ASSIGN(TableState state, RegisterThroughPointer(run, pointer, *io_, metadata_location,
                                                       DisplayName(name_, id)));
    return Table(DisplayName(name_, id), OperationsOf(id), io_, std::move(state));
  }

 private:
  static Status CheckName(const Namespace& levels) {
    for (const std::string& level : levels) {
      if (level.empty()) return Error(Code::kInvalidArgument, "a name is empty");
    }
    return {};
  }
  Error NoTable(const TableIdentifier& id) const {
    return {Code::kNotFound, "there is no table " + DisplayName(name_, id)};
  }
  Error Taken(const TableIdentifier& id) const {
    return {Code::kAlreadyExists, DisplayName(name_, id) + " already exists"};
  }
  std::shared_ptr<PointerOperations> OperationsOf(const TableIdentifier& id) const {
    return std::make_shared<PointerOperations>(DisplayName(name_, id),
                                               std::make_shared<MemoryPointer>(names_, id), io_);
  }
  Location FolderOf(const Namespace& ns) const {
    Location folder = warehouse_;
    for (const std::string& level : ns) folder = folder.Child(level);
    return folder;
  }
  Location DefaultLocation(const TableIdentifier& id) const {
    return FolderOf(id.ns).Child(id.name);
  }

  const std::string name_;
  const Location warehouse_;
  const std::shared_ptr<FileIO> io_;
  const Properties properties_;
  const std::shared_ptr<Names> names_;
};

}  // namespace

std::shared_ptr<Catalog> MakeMemoryCatalog(std::string name, Location warehouse,
                                           std::shared_ptr<FileIO> io, const Properties& properties,
                                           MemoryCatalogHooks hooks) {
  return std::make_shared<MemoryCatalog>(std::move(name),
                                         Location(WithoutTrailingSlash(warehouse.text())),
                                         std::move(io), properties, std::move(hooks));
}

}  // namespace icewright
