#pragma once

/// \file data/splice/delta.h
/// DELTA_BINARY_PACKED, for numbers that mostly grow by the same step.
///
/// Spec: Encodings.md, "Delta Encoding".

#include <cstdint>
#include <span>

#include "base/bytes.h"

namespace icewright::splice {

void EncodeDelta(std::span<const std::int64_t> values, Bytes& out);

}  // namespace icewright::splice
