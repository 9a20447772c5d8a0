#pragma once

/// \file catalog/table_name.h
/// Names as people read them.

#include <string>
#include <string_view>

#include "catalog/catalog.h"

namespace icewright {

/// "catalog.ns.table"; after a catalog name with '/' or ':' a slash separates.
std::string DisplayName(std::string_view catalog, const TableIdentifier& id);

}  // namespace icewright
