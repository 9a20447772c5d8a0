#include "catalog/filesystem/filesystem_catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "catalog/filesystem/filesystem_operations.h"
#include "catalog/filesystem/version_files.h"
#include "catalog/purge.h"
#include "catalog/table_name.h"

namespace icewright {
namespace {

// A name becomes a folder: it must be one path segment, spelled as it is.
Status CheckSegment(std::string_view segment) {
  if (segment.empty() || segment == "." || segment == ".." ||
      segment.find('/') != std::string_view::npos || segment.find('\0') != std::string_view::npos) {
    return Error(Code::kInvalidArgument,
                 fmt::format("'{}' cannot be the name of a folder", segment));
  }
  return {};
}

Status CheckSegments(const Namespace& ns) {
  for (const std::string& level : ns) IW_TRY(CheckSegment(level));
  return {};
}

Error NoNamespace(const Namespace& ns) {
  return {Code::kNotFound, "there is no namespace " + ToString(ns)};
}

class FilesystemCatalog final : public Catalog {
 public:
  FilesystemCatalog(std::string name, Location warehouse, std::shared_ptr<FileIO> io,
                    Properties properties)
      : name_(std::move(name)),
        warehouse_(std::move(warehouse)),
        io_(std::move(io)),
        properties_(std::move(properties)) {}

  const std::string& name() const override { return name_; }

  Result<std::vector<Namespace>> ListNamespaces(RunContext& run, const Namespace& parent) override {
    IW_TRY(CheckExists(parent));
    std::vector<Namespace> found;
    IW_TRY(ForEachFolder(run, parent, [&](const std::string& name, bool is_table) {
      if (is_table) return;
      found.push_back(parent);
      found.back().push_back(name);
    }));
    return found;
  }

  Status CreateNamespace(RunContext& run, const Namespace& ns,
                         const Properties& properties) override {
    if (ns.empty()) return Error(Code::kInvalidArgument, "a namespace needs a name");
    IW_TRY(CheckSegments(ns));
    if (!properties.empty()) {
      return Error(Code::kUnsupported, "the file-system catalog keeps no namespace properties");
    }
    IW_TRY(run.Check());
    IW_ASSIGN(const bool exists, FolderExists(ns));
    if (exists) {
      return Error(Code::kAlreadyExists, FolderOf(ns).text() + " already exists");
    }
    return io_->MakeFolder(FolderOf(ns));
  }

  Status DropNamespace(RunContext& run, const Namespace& ns) override {
    if (ns.empty()) return NoNamespace(ns);
    IW_TRY(CheckExists(ns));
    IW_TRY(run.CheckMayWrite());
    return io_->DeleteEmptyFolder(FolderOf(ns)).Within("namespace " + ToString(ns));
  }

  Result<Properties> LoadNamespace(RunContext&, const Namespace& ns) override {
    if (ns.empty()) return NoNamespace(ns);
    IW_TRY(CheckExists(ns));
    return Properties{{"location", FolderOf(ns).text()}};
  }

  Result<std::vector<TableIdentifier>> ListTables(RunContext& run, const Namespace& ns) override {
    IW_TRY(CheckExists(ns));
    std::vector<TableIdentifier> found;
    IW_TRY(ForEachFolder(run, ns, [&](const std::string& name, bool is_table) {
      if (is_table) found.push_back({ns, name});
    }));
    return found;
  }

  Result<Table> LoadTable(RunContext& run, const TableIdentifier& id) override {
    IW_TRY(CheckIdentifier(id));
    const auto operations = OperationsOf(id);
    IW_ASSIGN(TableState state, operations->Load(run));
    return Table(DisplayName(name_, id), operations, io_, std::move(state));
  }

  Result<Table> CreateTable(RunContext& run, const TableIdentifier& id,
                            const CreateTableRequest& request) override {
    IW_TRY(CheckIdentifier(id));
    const Location location = FolderOf(id);
    if (request.location && !IsSameFolder(*request.location, location)) {
      return Error(Code::kInvalidArgument,
                   fmt::format("{}: a file-system table lives at {}, not at {}",
                               DisplayName(name_, id), location.text(), request.location->text()));
    }
    IW_ASSIGN(TableMetadata metadata, PlanCreate(run, request, location, properties_));
    const auto operations = OperationsOf(id);
    IW_ASSIGN(TableState state, operations->Create(run, std::move(metadata)));
    return Table(DisplayName(name_, id), operations, io_, std::move(state));
  }

  Status DropTable(RunContext& run, const TableIdentifier& id, DropOptions options) override {
    IW_ASSIGN(const Table table, LoadTable(run, id));
    if (!options.purge) {
      return Error(Code::kUnsupported,
                   fmt::format("{}: the folder of a file-system table is the table; drop it with "
                               "purge",
                               table.name()));
    }
    if (!IsSameFolder(table.metadata().location, FolderOf(id))) {
      return Error(Code::kUnsupported,
                   fmt::format("{} is a copy of the table at {}; remove its folder by hand",
                               table.name(), table.metadata().location.text()));
    }
    IW_TRY(CheckMayPurgeFolder(table.metadata(), table.metadata().location));
    IW_TRY(run.CheckMayWrite());
    return io_->DeleteFolder(FolderOf(id)).Within("drop " + table.name());
  }

  Status RenameTable(RunContext&, const TableIdentifier&, const TableIdentifier&) override {
    return Error(Code::kUnsupported,
                 "a file-system table cannot be renamed: its location is its name");
  }

  Result<Table> RegisterTable(RunContext&, const TableIdentifier& id, const Location&) override {
    return Error(Code::kUnsupported,
                 fmt::format("a file-system catalog finds tables where they are: {} must lie at {}",
                             ToString(id), FolderOf(id).text()));
  }

 private:
  static Status CheckIdentifier(const TableIdentifier& id) {
    IW_TRY(CheckSegments(id.ns));
    return CheckSegment(id.name);
  }

  Location FolderOf(const Namespace& ns) const {
    Location folder = warehouse_;
    for (const std::string& level : ns) folder = folder.Child(level);
    return folder;
  }
  Location FolderOf(const TableIdentifier& id) const { return FolderOf(id.ns).Child(id.name); }

  std::shared_ptr<FilesystemOperations> OperationsOf(const TableIdentifier& id) const {
    return std::make_shared<FilesystemOperations>(DisplayName(name_, id), FolderOf(id), io_);
  }

  // A folder is a table if its metadata folder has a metadata file.
  Result<bool> IsTable(const Location& folder) const {
    bool found = false;
    IW_TRY(ForEachMetadataFile(*io_, folder.Child("metadata"), [&](const FileStatus&) {
      found = true;
      return false;
    }));
    return found;
  }

  Result<bool> FolderExists(const Namespace& ns) const {
    if (ns.empty()) return true;
    IW_ASSIGN(const auto siblings, io_->ListFolders(FolderOf(Namespace(ns.begin(), ns.end() - 1))));
    return std::find(siblings.begin(), siblings.end(), ns.back()) != siblings.end();
  }

  Status CheckExists(const Namespace& ns) const {
    if (ns.empty()) return {};
    if (!CheckSegments(ns)) return NoNamespace(ns);
    IW_ASSIGN(const bool exists, FolderExists(ns));
    if (!exists) return NoNamespace(ns);
    IW_ASSIGN(const bool is_table, IsTable(FolderOf(ns)));
    if (is_table) return NoNamespace(ns);
    return {};
  }

  Status ForEachFolder(RunContext& run, const Namespace& ns,
                       const std::function<void(const std::string&, bool is_table)>& fn) const {
    IW_ASSIGN(const auto names, io_->ListFolders(FolderOf(ns)));
    for (const std::string& name : names) {
      IW_TRY(run.Check());
      IW_ASSIGN(const bool is_table, IsTable(FolderOf(ns).Child(name)));
      fn(name, is_table);
    }
    return {};
  }

  const std::string name_;
  const Location warehouse_;
  const std::shared_ptr<FileIO> io_;
  const Properties properties_;
};

}  // namespace

Result<std::shared_ptr<Catalog>> MakeFilesystemCatalog(std::string name, Location warehouse,
                                                       std::shared_ptr<FileIO> io,
                                                       const Properties& properties) {
  if (warehouse.empty()) {
    return Error(
        Code::kInvalidArgument,
        fmt::format("catalog {}: warehouse is missing: a file-system catalog needs it", name));
  }
  return std::make_shared<FilesystemCatalog>(
      std::move(name), Location(WithoutTrailingSlash(warehouse.text())), std::move(io), properties);
}

}  // namespace icewright
