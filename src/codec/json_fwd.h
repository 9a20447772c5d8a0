#pragma once

/// \file codec/json_fwd.h
/// The JSON value's name, for headers. Sources include codec/json.h.

#include <nlohmann/json_fwd.hpp>

namespace icewright {

/// Objects keep the order of their keys, so that a rewritten file stays comparable.
using Json = nlohmann::ordered_json;

}  // namespace icewright
