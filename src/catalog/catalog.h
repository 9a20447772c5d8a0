#pragma once

/// \file catalog/catalog.h
/// Where tables are found by name, made and dropped.
///
/// Java twins: Catalog, SupportsNamespaces.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/run_context.h"
#include "catalog/table.h"
#include "table/table_update.h"

namespace icewright {

using Namespace = std::vector<std::string>;

/// Levels joined by '.'.
std::string ToString(const Namespace& ns);

struct TableIdentifier {
  Namespace ns;
  std::string name;
  friend bool operator==(const TableIdentifier&, const TableIdentifier&) = default;
  friend auto operator<=>(const TableIdentifier&, const TableIdentifier&) = default;
};
std::string ToString(const TableIdentifier& id);

/// What a table is made from; the catalog fills in what is unset.
struct CreateTableRequest {
  Schema schema;
  PartitionSpec spec = {};
  SortOrder sort_order = {};
  Properties properties = {};
  std::optional<Location> location = {};
};

/// Errors of all calls: kUnavailable and kDenied from the service, and those named. Thread-safe.
class Catalog {
 public:
  virtual ~Catalog() = default;
  virtual const std::string& name() const = 0;

  /// Children of `parent` (top level: empty), sorted. Errors: kNotFound.
  virtual Result<std::vector<Namespace>> ListNamespaces(RunContext& run,
                                                        const Namespace& parent) = 0;
  /// Errors: kAlreadyExists; kUnsupported if the catalog keeps no properties and some are given.
  virtual Status CreateNamespace(RunContext& run, const Namespace& ns,
                                 const Properties& properties) = 0;
  /// Errors: kNotFound, kInvalidArgument if it is not empty.
  virtual Status DropNamespace(RunContext& run, const Namespace& ns) = 0;
  /// Errors: kNotFound.
  virtual Result<Properties> LoadNamespace(RunContext& run, const Namespace& ns) = 0;

  /// Sorted. Errors: kNotFound for a missing namespace.
  virtual Result<std::vector<TableIdentifier>> ListTables(RunContext& run, const Namespace& ns) = 0;
  /// Errors: kNotFound, kCorrupt.
  virtual Result<Table> LoadTable(RunContext& run, const TableIdentifier& id) = 0;
  /// Errors: kAlreadyExists, kInvalidArgument.
  virtual Result<Table> CreateTable(RunContext& run, const TableIdentifier& id,
                                    const CreateTableRequest& request) = 0;
  /// Removes the name; with `purge` the table's folder, too. Errors: kNotFound. kUnsupported: the
  /// catalog cannot tell that all in the folder is this table's (another location than the default,
  /// gc.enabled is false, an SQL catalog), or names cannot go without their folder (file system).
  struct DropOptions {
    bool purge = false;
  };
  virtual Status DropTable(RunContext& run, const TableIdentifier& id, DropOptions options) = 0;
  /// Errors: kNotFound, kAlreadyExists, kUnsupported.
  virtual Status RenameTable(RunContext& run, const TableIdentifier& from,
                             const TableIdentifier& to) = 0;
  /// Gives an existing metadata file a name. Errors: kAlreadyExists, kCorrupt, kUnsupported.
  virtual Result<Table> RegisterTable(RunContext& run, const TableIdentifier& id,
                                      const Location& metadata_location) = 0;
};

/// Catalog properties as users write them: type, uri, warehouse ...
/// Errors: kInvalidArgument, naming the key and the nearest known one.
Result<std::shared_ptr<Catalog>> OpenCatalog(RunContext& run, std::string name,
                                             const Properties& properties,
                                             std::shared_ptr<FileIO> io);

/// Opens what a path or URI names, without a catalog: a folder with vN.metadata.json (read-write,
/// as the file-system catalog does; read-only if the metadata says that the table lives elsewhere),
/// a folder with NNNNN-uuid.metadata.json (the highest N, read-only: `register` is the remedy), or
/// a
/// *.metadata.json file (read-only).
/// Errors: kNotFound, naming what was looked for.
Result<Table> OpenTableAt(RunContext& run, const Location& location, std::shared_ptr<FileIO> io);

}  // namespace icewright
