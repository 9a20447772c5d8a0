#pragma once

/// \file base/bin_packing.h
/// Packs weighted items into bins, in order, with a bounded number of open bins.
///
/// Java twin: BinPacking.ListPacker.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace icewright {

struct BinPackingOptions {
  std::int64_t target_weight = 0;
  /// Open bins that an item may still go to; >= 1.
  std::size_t lookback = 1;
  /// Which bin closes when too many are open: the heaviest, or else the oldest.
  bool largest_bin_first = false;
  std::int64_t max_items = INT64_MAX;
};

/// Bins of item indices. An item goes to the first open bin it fits in, else to a new one, which
/// takes it even if it is heavier than the target. Pure.
std::vector<std::vector<std::size_t>> PackBins(std::span<const std::int64_t> weights,
                                               const BinPackingOptions& options);

/// Packs from the end, so that the first bin is the one that may stay small.
std::vector<std::vector<std::size_t>> PackBinsFromEnd(std::span<const std::int64_t> weights,
                                                      const BinPackingOptions& options);

}  // namespace icewright
