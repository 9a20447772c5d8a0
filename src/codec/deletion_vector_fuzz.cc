// Any bytes as the vector of a deletion vector: they get the frame (length, magic, CRC) that
// fuzzing would never find. What parses must agree with itself and survive a round trip.

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

#include "codec/compression.h"
#include "codec/position_bitmap.h"
#include "codec/roaring_format.h"

using icewright::Bytes;
using icewright::ByteView;
using icewright::PositionBitmap;

namespace {

Bytes Framed(ByteView vector) {
  Bytes checked("\xD1\xD3\x39\x64");
  checked += vector;
  Bytes out;
  icewright::AppendLittle(out, __builtin_bswap32(static_cast<std::uint32_t>(checked.size())));
  out += checked;
  icewright::AppendLittle(out, __builtin_bswap32(icewright::Crc32(checked)));
  return out;
}

std::optional<std::int64_t> CardinalityOf(ByteView vector) {
  if (vector.size() < 8) return std::nullopt;
  vector.remove_prefix(8);
  std::int64_t total = 0;
  while (vector.size() >= 4) {
    vector.remove_prefix(4);
    const auto extent = icewright::CheckPortableRoaring(vector);
    if (!extent) return std::nullopt;
    total += extent->cardinality;
    vector.remove_prefix(extent->size_bytes);
  }
  return total;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ByteView input(reinterpret_cast<const char*>(data), size);
  if (PositionBitmap::ParseDeletionVector(input, -1)) std::abort();
  const auto cardinality = CardinalityOf(input);
  if (!cardinality) return 0;
  const auto bitmap = PositionBitmap::ParseDeletionVector(Framed(input), *cardinality);
  if (!bitmap) return 0;
  if (bitmap->cardinality() != *cardinality) std::abort();
  std::int64_t last = -1;
  std::int64_t count = 0;
  bitmap->ForEach([&](std::int64_t position) {
    if (position <= last || !bitmap->Contains(position)) std::abort();
    last = position;
    ++count;
  });
  if (count != *cardinality) std::abort();
  const Bytes blob = bitmap->SerializeDeletionVector();
  const auto back = PositionBitmap::ParseDeletionVector(blob, *cardinality);
  if (!back || back->SerializeDeletionVector() != blob) std::abort();
  return 0;
}
