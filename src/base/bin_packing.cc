#include "base/bin_packing.h"

#include <algorithm>
#include <deque>
#include <utility>

namespace icewright {
namespace {

struct Bin {
  std::vector<std::size_t> items;
  std::int64_t weight = 0;
};

}  // namespace

std::vector<std::vector<std::size_t>> PackBins(std::span<const std::int64_t> weights,
                                               const BinPackingOptions& options) {
  std::vector<std::vector<std::size_t>> closed;
  std::deque<Bin> open;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const auto fits = [&](const Bin& bin) {
      return weights[i] <= options.target_weight - bin.weight &&
             std::ssize(bin.items) < options.max_items;
    };
    auto bin = std::ranges::find_if(open, fits);
    if (bin == open.end()) {
      open.emplace_back();
      bin = open.end() - 1;
    }
    bin->items.push_back(i);
    bin->weight += weights[i];
    if (open.size() > options.lookback) {
      const auto leaving = options.largest_bin_first
                               ? std::ranges::max_element(open, {}, &Bin::weight)
                               : open.begin();
      closed.push_back(std::move(leaving->items));
      open.erase(leaving);
    }
  }
  for (Bin& bin : open) closed.push_back(std::move(bin.items));
  return closed;
}

std::vector<std::vector<std::size_t>> PackBinsFromEnd(std::span<const std::int64_t> weights,
                                                      const BinPackingOptions& options) {
  const std::vector<std::int64_t> reversed(weights.rbegin(), weights.rend());
  auto bins = PackBins(reversed, options);
  std::ranges::reverse(bins);
  for (auto& bin : bins) {
    std::ranges::reverse(bin);
    for (std::size_t& item : bin) item = weights.size() - 1 - item;
  }
  return bins;
}

}  // namespace icewright
