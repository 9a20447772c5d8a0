// The first byte chooses a codec, the rest is its data. Decompressed bytes must round-trip.

#include <cstdint>
#include <cstdlib>

#include "codec/compression.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  constexpr std::size_t kLimit = 1 << 18;
  const auto codec = static_cast<icewright::Compression>(data[0] % 6);
  const icewright::ByteView input(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto plain = icewright::Decompress(codec, input, kLimit);
  if (!plain) return 0;
  if (plain->size() > kLimit) std::abort();
  const auto packed = icewright::Compress(codec, *plain);
  if (!packed) std::abort();
  const auto back = icewright::Decompress(codec, *packed, kLimit);
  if (!back || *back != *plain) std::abort();
  return 0;
}
