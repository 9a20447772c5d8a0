#pragma once

/// \file catalog/purge.h
/// May a table's folder be removed with its name?

#include "base/location.h"
#include "base/result.h"
#include "table/metadata.h"

namespace icewright {

/// A purge removes a whole folder, so it must belong to this table alone: the default location, and
/// no path property that leads elsewhere. Errors: kUnsupported, naming why.
Status CheckMayPurgeFolder(const TableMetadata& metadata, const Location& default_location);

}  // namespace icewright
