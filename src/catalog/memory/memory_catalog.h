#pragma once

/// \file catalog/memory/memory_catalog.h
/// A catalog that lives in this process: for tests, and for trying things out.
///
/// Java twin: InMemoryCatalog.

#include <functional>
#include <memory>
#include <string>

#include "catalog/catalog.h"

namespace icewright {

/// What a test may put into the way of commits. Both are called without a lock held.
struct MemoryCatalogHooks {
  /// Before the pointer is swapped; an error means that nothing was swapped.
  std::function<Status(const TableIdentifier&)> before_swap = {};

  /// After it was swapped; an error is the answer although the swap has happened. kCommitUnknown
  /// makes the catalog look again.
  std::function<Status(const TableIdentifier&)> after_swap = {};

  /// Before the pointer is read.
  std::function<Status(const TableIdentifier&)> before_read = {};
};

/// Names live in memory, metadata files in `io` below `warehouse`. Thread-safe. Purge removes the
/// table's folder if it is the default one; else it is kUnsupported.
std::shared_ptr<Catalog> MakeMemoryCatalog(std::string name, Location warehouse,
                                           std::shared_ptr<FileIO> io,
                                           const Properties& properties = {},
                                           MemoryCatalogHooks hooks = {});

}  // namespace icewright
