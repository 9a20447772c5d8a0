#include "codec/position_bitmap.h"

#include <fmt/format.h>
#include <roaring/roaring.h>

#include <algorithm>
#include <array>
#include <map>

#include "codec/compression.h"
#include "codec/roaring_format.h"

namespace icewright {
namespace {

struct RoaringFree {
  void operator()(roaring_bitmap_t* bitmap) const { roaring_bitmap_free(bitmap); }
};
using Roaring = std::unique_ptr<roaring_bitmap_t, RoaringFree>;

constexpr std::string_view kMagic("\xD1\xD3\x39\x64", 4);
constexpr std::uint64_t kSpan = std::uint64_t{1} << 32;  // positions of one 32-bit bitmap
constexpr std::uint32_t kLastKey = 0x7fffffff;           // bit 63 of a position is never set

std::uint32_t KeyOf(std::uint64_t position) { return static_cast<std::uint32_t>(position >> 32); }

void AppendBig32(Bytes& out, std::uint32_t value) { AppendLittle(out, __builtin_bswap32(value)); }

std::uint32_t LoadBig32(const char* p) { return __builtin_bswap32(LoadLittle<std::uint32_t>(p)); }

Error Corrupt(std::string_view what) {
  return Error(Code::kCorrupt, fmt::format("deletion vector: {}", what));
}

/// What is between length and CRC, after both and the magic are checked.
Result<ByteView> VectorOf(ByteView blob) {
  constexpr std::size_t kFrame = 4 + 4 + 8 + 4;  // length, magic, count, CRC
  if (blob.size() < kFrame) return Corrupt(fmt::format("{} bytes are too few", blob.size()));
  const std::uint32_t length = LoadBig32(blob.data());
  if (length != blob.size() - 8) {
    return Corrupt(fmt::format("its length is {}, not {}", length, blob.size() - 8));
  }
  const ByteView checked = blob.substr(4, length);
  if (!checked.starts_with(kMagic)) return Corrupt("the magic is missing");
  if (LoadBig32(blob.data() + 4 + length) != Crc32(checked)) return Corrupt("the CRC is wrong");
  return checked.substr(kMagic.size());
}

}  // namespace

struct PositionBitmap::Rep {
  std::map<std::uint32_t, Roaring> bitmaps;  // by the high 32 bits of positions
  roaring_bitmap_t* last = nullptr;          // where the last position went; its key is last_key
  std::uint32_t last_key = 0;

  roaring_bitmap_t* Bitmap(std::uint32_t key) {
    if (last != nullptr && last_key == key) return last;
    Roaring& slot = bitmaps[key];
    if (slot == nullptr) slot.reset(roaring_bitmap_create());
    last_key = key;
    last = slot.get();
    return last;
  }
};

PositionBitmap::PositionBitmap() : rep_(std::make_unique<Rep>()) {}
PositionBitmap::PositionBitmap(PositionBitmap&&) noexcept = default;
PositionBitmap& PositionBitmap::operator=(PositionBitmap&&) noexcept = default;
PositionBitmap::~PositionBitmap() = default;

PositionBitmap PositionBitmap::Clone() const {
  PositionBitmap copy;
  copy.Merge(*this);
  return copy;
}

void PositionBitmap::Add(std::int64_t position) {
  if (position < 0) return;
  const auto p = static_cast<std::uint64_t>(position);
  roaring_bitmap_add(rep_->Bitmap(KeyOf(p)), static_cast<std::uint32_t>(p));
}

void PositionBitmap::AddRange(std::int64_t first, std::int64_t last) {
  auto at = static_cast<std::uint64_t>(std::max<std::int64_t>(first, 0));
  const auto end = static_cast<std::uint64_t>(std::max<std::int64_t>(last, 0));
  while (at < end) {
    const std::uint64_t stop = std::min(end, (at / kSpan + 1) * kSpan);
    roaring_bitmap_add_range_closed(rep_->Bitmap(KeyOf(at)), static_cast<std::uint32_t>(at),
                                    static_cast<std::uint32_t>(stop - 1));
    at = stop;
  }
}

void PositionBitmap::Merge(const PositionBitmap& other) {
  if (this == &other) return;
  for (const auto& [key, bitmap] : other.rep_->bitmaps) {
    Roaring& slot = rep_->bitmaps[key];
    if (slot == nullptr) {
      slot.reset(roaring_bitmap_copy(bitmap.get()));
    } else {
      roaring_bitmap_or_inplace(slot.get(), bitmap.get());
    }
  }
}

bool PositionBitmap::Contains(std::int64_t position) const {
  if (position < 0) return false;
  const auto p = static_cast<std::uint64_t>(position);
  const auto it = rep_->bitmaps.find(KeyOf(p));
  return it != rep_->bitmaps.end() &&
         roaring_bitmap_contains(it->second.get(), static_cast<std::uint32_t>(p));
}

std::int64_t PositionBitmap::cardinality() const {
  std::uint64_t total = 0;
  for (const auto& [key, bitmap] : rep_->bitmaps) {
    total += roaring_bitmap_get_cardinality(bitmap.get());
  }
  return static_cast<std::int64_t>(total);
}

std::int64_t PositionBitmap::CountRange(std::int64_t first, std::int64_t last) const {
  const auto begin = static_cast<std::uint64_t>(std::max<std::int64_t>(first, 0));
  const auto end = static_cast<std::uint64_t>(std::max<std::int64_t>(last, 0));
  std::uint64_t total = 0;
  for (auto it = rep_->bitmaps.lower_bound(KeyOf(begin)); it != rep_->bitmaps.end(); ++it) {
    const std::uint64_t base = std::uint64_t{it->first} << 32;
    if (base >= end) break;
    const std::uint64_t from = std::max(begin, base) - base;
    const std::uint64_t to = std::min(end - base, kSpan);
    if (from < to) total += roaring_bitmap_range_cardinality(it->second.get(), from, to);
  }
  return static_cast<std::int64_t>(total);
}

void PositionBitmap::ForEach(const std::function<void(std::int64_t)>& fn) const {
  std::array<std::uint32_t, 1024> values;
  for (const auto& [key, bitmap] : rep_->bitmaps) {
    const std::int64_t base = std::int64_t{key} << 32;
    roaring_uint32_iterator_t iterator;
    roaring_init_iterator(bitmap.get(), &iterator);
    for (;;) {
      const std::uint32_t count = roaring_read_uint32_iterator(
          &iterator, values.data(), static_cast<std::uint32_t>(values.size()));
      for (std::uint32_t i = 0; i < count; ++i) fn(base + values[i]);
      if (count < values.size()) break;
    }
  }
}

Bytes PositionBitmap::SerializeDeletionVector() const {
  Bytes out(4, '\0');  // the length comes last
  out += kMagic;
  AppendLittle<std::int64_t>(out, 0);
  std::int64_t count = 0;
  for (const auto& [key, bitmap] : rep_->bitmaps) {
    if (roaring_bitmap_is_empty(bitmap.get())) continue;
    const Roaring optimised(roaring_bitmap_copy(bitmap.get()));
    roaring_bitmap_run_optimize(optimised.get());
    AppendLittle(out, key);
    const std::size_t start = out.size();
    out.resize(start + roaring_bitmap_portable_size_in_bytes(optimised.get()));
    roaring_bitmap_portable_serialize(optimised.get(), out.data() + start);
    ++count;
  }
  std::memcpy(out.data() + 8, &count, sizeof(count));
  const std::uint32_t length = __builtin_bswap32(static_cast<std::uint32_t>(out.size() - 4));
  std::memcpy(out.data(), &length, sizeof(length));
  AppendBig32(out, Crc32(ByteView(out).substr(4)));
  return out;
}

Result<PositionBitmap> PositionBitmap::ParseDeletionVector(ByteView blob,
                                                           std::int64_t expected_cardinality) {
  IW_ASSIGN(ByteView vector, VectorOf(blob));
  const auto count = LoadLittle<std::uint64_t>(vector.data());
  vector.remove_prefix(8);
  if (count > vector.size() / 4) return Corrupt(fmt::format("{} bitmaps do not fit in it", count));
  PositionBitmap result;
  std::int64_t cardinality = 0;
  std::int64_t last_key = -1;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (vector.size() < 4) return Corrupt("the bytes end inside it");
    const auto key = LoadLittle<std::uint32_t>(vector.data());
    if (key > kLastKey) return Corrupt(fmt::format("the key {} is out of range", key));
    if (std::int64_t{key} <= last_key) return Corrupt("keys are out of order");
    last_key = key;
    vector.remove_prefix(4);
    IW_ASSIGN(const RoaringExtent extent,
              CheckPortableRoaring(vector).Within(fmt::format("deletion vector: key {}", key)));
    if (extent.cardinality > 0) {
      Roaring bitmap(roaring_bitmap_portable_deserialize_safe(vector.data(), extent.size_bytes));
      if (bitmap == nullptr) return Corrupt("the bitmap library refuses it");
      result.rep_->bitmaps.emplace_hint(result.rep_->bitmaps.end(), key, std::move(bitmap));
      cardinality += extent.cardinality;
    }
    vector.remove_prefix(extent.size_bytes);
  }
  if (!vector.empty()) return Corrupt(fmt::format("{} bytes follow the bitmaps", vector.size()));
  if (cardinality != expected_cardinality) {
    return Corrupt(fmt::format("it has {} positions, not {}", cardinality, expected_cardinality));
  }
  return result;
}

}  // namespace icewright
