#pragma once

/// \file data/row_json.h
/// Values of Arrow arrays as JSON for people.

#include <arrow/type_fwd.h>

#include <cstdint>

#include "base/result.h"
#include "codec/json_fwd.h"
#include "table/type.h"

namespace icewright {

/// Slot `row` as JSON: null; booleans and numbers as such (NaN and infinities as text); dates,
/// times and timestamps as ISO text; decimals as text with all digits; strings and uuids as text;
/// bytes as hex; structs as objects by field name; lists as arrays; maps with string keys as
/// objects, others as arrays of {"key", "value"}. Errors: kUnsupported.
Result<Json> ValueToJson(const Type& type, const arrow::Array& array, std::int64_t row);

}  // namespace icewright
