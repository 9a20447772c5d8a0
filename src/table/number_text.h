#pragma once

/// \file table/number_text.h
/// Text of decimals, UUIDs and bytes, shared by the text and JSON forms of literals.

#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "table/value.h"

namespace icewright {

/// "14.20", "-3", "1e3" as an unscaled value of that scale; unset if it is no number, a digit would
/// be lost, or 38 digits do not hold it.
std::optional<Int128> ParseDecimal(std::string_view text, int scale);

/// True if the value has at most that many digits. Precondition: precision <= 38.
bool FitsPrecision(Int128 unscaled, int precision);

/// 16 bytes, big-endian, as "f79c3e09-677c-4bbd-a479-3f349cb785e7", and back from any case.
/// Precondition of UuidText: 16 bytes.
std::string UuidText(ByteView bytes);
std::optional<Bytes> ParseUuid(std::string_view text);

/// With padding, alphabet of RFC 4648.
std::string Base64(ByteView bytes);

}  // namespace icewright
