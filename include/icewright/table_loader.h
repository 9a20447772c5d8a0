#pragma once

/// \file icewright/table_loader.h
/// How a program gets at a table: through a catalog, or by the path of a file-system table.
///
/// Java twin: flink/TableLoader.

#include <memory>
#include <string>

#include "base/result.h"
#include "base/run_context.h"
#include "catalog/catalog.h"
#include "catalog/table.h"

namespace icewright {

/// Cheap to copy; loads the newest state each time. Immutable.
class TableLoader {
 public:
  /// `properties`: type, uri, warehouse ... as in icewright.yaml. The catalog is opened by Load.
  static TableLoader FromCatalog(std::string catalog_name, Properties properties,
                                 TableIdentifier id);

  /// `location`: a folder with metadata/vN.metadata.json, or a URI of one.
  static TableLoader FromHadoopTable(std::string location);

  /// Errors: kNotFound, kInvalidArgument (properties), kCorrupt, kUnsupported.
  Result<Table> Load(RunContext& run) const;

 private:
  TableLoader() = default;
  std::string catalog_name_;
  Properties properties_;
  TableIdentifier id_;
  std::string location_;  // set: no catalog
};

}  // namespace icewright
