#pragma once

/// \file data/bounds.h
/// Bounds of strings and binary, cut to a length.
///
/// Spec: "Manifests", lower_bounds and upper_bounds.   Java twins: UnicodeUtil, BinaryUtil.

#include <optional>
#include <string_view>

#include "base/bytes.h"
#include "table/type.h"

namespace icewright {

/// The longest prefix of at most `limit` code points (string) or bytes (binary, fixed) of `value`;
/// a lower bound of it. Text that is no UTF-8 is cut after `limit` bytes.
Bytes TruncatedLowerBound(const Type& type, ByteView value, int limit);

/// `value` itself if it is short enough; else its prefix with the last code point or byte that can
/// grow increased and all after it dropped. Unset if there is no such bound.
std::optional<Bytes> TruncatedUpperBound(const Type& type, ByteView value, int limit);

}  // namespace icewright
