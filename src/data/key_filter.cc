#include "data/key_filter.h"

#include <parquet/bloom_filter.h>
#include <parquet/bloom_filter_reader.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>
#include <parquet/statistics.h>

#include <algorithm>
#include <memory>
#include <span>

namespace icewright {
namespace {

/// Keys within the bounds beyond which a Bloom filter, one in a hundred of whose answers is wrong,
/// excludes hardly a row group.
constexpr std::size_t kMostBloomKeys = 100;

bool IsSignedInteger(const parquet::ColumnDescriptor& column) {
  const auto& type = column.logical_type();
  if (type == nullptr || type->is_none()) return true;
  return type->is_int() && static_cast<const parquet::IntLogicalType&>(*type).is_signed();
}

bool IsText(const parquet::ColumnDescriptor& column) {
  const auto& type = column.logical_type();
  return type == nullptr || type->is_none() || type->is_string();
}

template <typename Keys, typename Bound>
std::span<const typename Keys::value_type> Between(const Keys& keys, const Bound& lower,
                                                   const Bound& upper) {
  const auto first = std::lower_bound(keys.begin(), keys.end(), lower);
  return {first, std::upper_bound(first, keys.end(), upper)};
}

/// The keys within the bounds of the chunk; all if it tells none.
template <typename ParquetType>
std::span<const std::int64_t> Within(const std::vector<std::int64_t>& keys,
                                     const parquet::Statistics* statistics) {
  if (statistics == nullptr || !statistics->HasMinMax()) return keys;
  const auto& bounds = static_cast<const parquet::TypedStatistics<ParquetType>&>(*statistics);
  return Between(keys, std::int64_t{bounds.min()}, std::int64_t{bounds.max()});
}

std::span<const Bytes> Within(const std::vector<Bytes>& keys,
                              const parquet::Statistics* statistics) {
  if (statistics == nullptr || !statistics->HasMinMax()) return keys;
  const auto& bounds = static_cast<const parquet::ByteArrayStatistics&>(*statistics);
  return Between(keys, ByteView(bounds.min()), ByteView(bounds.max()));
}

/// `hash`: of a key by the filter.
template <typename Key, typename Hash>
bool MayHoldAny(std::span<const Key> keys, parquet::ParquetFileReader& file, int row_group,
                int leaf, const Hash& hash) {
  if (keys.empty()) return false;
  if (keys.size() > kMostBloomKeys) return true;
  const auto of_group = file.GetBloomFilterReader().RowGroup(row_group);
  const auto filter = of_group == nullptr ? nullptr : of_group->GetColumnBloomFilter(leaf);
  if (filter == nullptr) return true;
  return std::ranges::any_of(keys,
                             [&](const Key& key) { return filter->FindHash(hash(*filter, key)); });
}

}  // namespace

bool MayHold(const KeyFilter& keys, parquet::ParquetFileReader& file, int row_group, int leaf) {
  const auto group = file.metadata()->RowGroup(row_group);
  const parquet::ColumnDescriptor& column = *group->schema()->Column(leaf);
  const auto statistics = group->ColumnChunk(leaf)->statistics();
  const auto any = [&](auto within, const auto& hash) {
    return MayHoldAny(within, file, row_group, leaf, hash);
  };
  using Filter = parquet::BloomFilter;
  switch (column.physical_type()) {
    case parquet::Type::INT32:
      if (!IsSignedInteger(column) || !keys.texts.empty()) return true;
      return any(Within<parquet::Int32Type>(keys.integers, statistics.get()),
                 [](const Filter& filter, std::int64_t key) {
                   return filter.Hash(static_cast<std::int32_t>(key));
                 });
    case parquet::Type::INT64:
      if (!IsSignedInteger(column) || !keys.texts.empty()) return true;
      return any(Within<parquet::Int64Type>(keys.integers, statistics.get()),
                 [](const Filter& filter, std::int64_t key) { return filter.Hash(key); });
    case parquet::Type::BYTE_ARRAY:
      if (!IsText(column) || !keys.integers.empty()) return true;
      return any(Within(keys.texts, statistics.get()), [](const Filter& filter, const Bytes& key) {
        return filter.Hash(std::string_view(key));
      });
    default:
      return true;
  }
}

}  // namespace icewright
