#pragma once

/// \file table/murmur3.h
/// The hash behind the bucket transform.
///
/// Spec: "Appendix B: 32-bit Hash Requirements".

#include <cstdint>

#include "base/bytes.h"

namespace icewright {

/// murmur3_x86_32 with seed 0.
std::int32_t Murmur3(ByteView bytes);

}  // namespace icewright
