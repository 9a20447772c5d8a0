#pragma once

/// \file codec/roaring_format.h
/// A structural check of untrusted roaring bitmaps, before the library sees them.
///
/// Spec: RoaringFormatSpec, "portable format" of 32-bit bitmaps.

#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "base/result.h"

namespace icewright {

struct RoaringExtent {
  std::size_t size_bytes = 0;    ///< How many of the bytes the bitmap takes.
  std::int64_t cardinality = 0;  ///< Members, counted, not believed.
};

/// Checks the bitmap at the start of `bytes`: cookie, ascending keys, offsets, and of each
/// container order, overlap and cardinality. Errors: kCorrupt.
Result<RoaringExtent> CheckPortableRoaring(ByteView bytes);

}  // namespace icewright
