#pragma once

/// \file data/key_share.h
/// A part of all keys, chosen by their hash: what does not fit into memory is done part by part.

#include <cstdint>

namespace icewright {

/// Part `index` of `count`.
struct KeyShare {
  std::uint32_t index = 0;
  std::uint32_t count = 1;  ///< >= 1

  /// The top bits decide: the low ones place a key in its table.
  bool Holds(std::uint64_t hash) const { return ((hash >> 32) * count) >> 32 == index; }
};

}  // namespace icewright
