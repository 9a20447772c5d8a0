#include "base/text.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace icewright {
namespace {

std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({substituted, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string ToLower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

std::optional<std::string> NearestName(std::string_view name,
                                       std::span<const std::string_view> candidates) {
  const std::string wanted = ToLower(name);
  std::size_t best = std::max<std::size_t>(2, name.size() / 3) + 1;
  std::optional<std::string> nearest;
  for (const std::string_view candidate : candidates) {
    const std::size_t distance = EditDistance(wanted, ToLower(candidate));
    if (distance < best) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string DidYouMean(std::string_view name, std::span<const std::string_view> candidates) {
  const auto nearest = NearestName(name, candidates);
  return nearest ? "; did you mean '" + *nearest + "'?" : std::string();
}

}  // namespace icewright
