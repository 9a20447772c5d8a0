#pragma once

/// \file maintain/path_json.h
/// Paths at the end of JSON arrays: as a string, or as null and hex where they are no UTF-8, which
/// JSON has no room for.

#include <optional>

#include "base/location.h"
#include "codec/json.h"

namespace icewright {

void AppendPath(const Location& path, Json& array);

/// What AppendPath left from `position` to the end. Unset if there is something else.
std::optional<Location> PathFromJson(const Json& array, std::size_t position);

}  // namespace icewright
