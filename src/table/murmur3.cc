#include "table/murmur3.h"

#include <bit>

namespace icewright {
namespace {

constexpr std::uint32_t Scramble(std::uint32_t block) {
  return std::rotl(block * 0xcc9e2d51U, 15) * 0x1b873593U;
}

}  // namespace

std::int32_t Murmur3(ByteView bytes) {
  std::uint32_t hash = 0;
  std::size_t offset = 0;
  for (; offset + 4 <= bytes.size(); offset += 4) {
    hash ^= Scramble(LoadLittle<std::uint32_t>(bytes.data() + offset));
    hash = std::rotl(hash, 13) * 5 + 0xe6546b64U;
  }
  std::uint32_t tail = 0;
  for (std::size_t i = bytes.size(); i > offset; --i) {
    tail = (tail << 8) | static_cast<unsigned char>(bytes[i - 1]);
  }
  hash ^= Scramble(tail) ^ static_cast<std::uint32_t>(bytes.size());
  hash = (hash ^ (hash >> 16)) * 0x85ebca6bU;
  hash = (hash ^ (hash >> 13)) * 0xc2b2ae35U;
  return static_cast<std::int32_t>(hash ^ (hash >> 16));
}

}  // namespace icewright
