#include "data/dictionary_choice.h"

#include <arrow/array.h>
#include <arrow/type_traits.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string_view>

namespace icewright {
namespace {

constexpr std::int64_t kSample = 20'000;  // rows of a page
constexpr std::int64_t kEnough = 1'000;
constexpr double kNearUnique = 0.9;  // distinct values per value

using Hashes = std::vector<std::size_t>;

std::size_t HashOf(std::string_view bytes) { return std::hash<std::string_view>()(bytes); }

template <typename Get>
Hashes HashAll(const arrow::Array& array, const Get& get) {
  Hashes out;
  out.reserve(static_cast<std::size_t>(array.length()));
  for (std::int64_t i = 0; i < array.length(); ++i) {
    if (array.IsValid(i)) out.push_back(get(i));
  }
  return out;
}

// Unset: of a type whose values have no dictionary, or not as bytes in a row.
std::optional<Hashes> HashesOf(const arrow::Array& array) {
  const arrow::Type::type id = array.type_id();
  if (id == arrow::Type::DICTIONARY) {
    const auto& encoded = static_cast<const arrow::DictionaryArray&>(array);
    return HashAll(
        array, [&](std::int64_t i) { return static_cast<std::size_t>(encoded.GetValueIndex(i)); });
  }
  if (arrow::is_binary_like(id)) {
    const auto& values = static_cast<const arrow::BinaryArray&>(array);
    return HashAll(array, [&](std::int64_t i) { return HashOf(values.GetView(i)); });
  }
  if (!arrow::is_fixed_width(id) || id == arrow::Type::BOOL) return {};
  const auto width = static_cast<std::size_t>(
                         static_cast<const arrow::FixedWidthType&>(*array.type()).bit_width()) /
                     8;
  const auto* values = reinterpret_cast<const char*>(array.data()->GetValues<std::uint8_t>(1, 0));
  return HashAll(array, [&](std::int64_t i) {
    return HashOf({values + static_cast<std::size_t>(array.offset() + i) * width, width});
  });
}

bool IsNearUnique(const arrow::Array& array) {
  auto hashes = HashesOf(array);
  if (!hashes || std::ssize(*hashes) < kEnough) return false;
  std::sort(hashes->begin(), hashes->end());
  const auto distinct = std::unique(hashes->begin(), hashes->end()) - hashes->begin();
  return static_cast<double>(distinct) >= kNearUnique * static_cast<double>(hashes->size());
}

}  // namespace

std::vector<std::string> NearUniqueColumns(const arrow::RecordBatch& batch,
                                           const std::vector<ParquetLeaf>& leaves) {
  std::vector<std::string> out;
  for (const ParquetLeaf& leaf : leaves) {
    if (leaf.nested) continue;
    if (IsNearUnique(*batch.column(leaf.top_level)->Slice(0, kSample))) out.push_back(leaf.path);
  }
  return out;
}

}  // namespace icewright
