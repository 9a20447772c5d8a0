#pragma once

/// \file catalog/filesystem/filesystem_catalog.h
/// Tables as folders below a warehouse folder, namespaces as the folders between.
///
/// For single writers and tests.  Java twin: HadoopCatalog.

#include <memory>
#include <string>

#include "catalog/catalog.h"

namespace icewright {

/// Thread-safe. What it refuses (kUnsupported): namespace properties, renaming, registering,
/// another location than WAREHOUSE/NS/TABLE, and dropping without purge, for the folder is the
/// table; purge removes the folder, unless gc.enabled is false or path properties lead out of it.
/// Errors: kInvalidArgument without a warehouse.
Result<std::shared_ptr<Catalog>> MakeFilesystemCatalog(std::string name, Location warehouse,
                                                       std::shared_ptr<FileIO> io,
                                                       const Properties& properties = {});

}  // namespace icewright
