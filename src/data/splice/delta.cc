#include "data/splice/delta.h"

#include <algorithm>
#include <bit>

namespace icewright::splice {
namespace {

constexpr std::size_t kBlock = 128;
constexpr std::size_t kMiniBlocks = 4;
constexpr std::size_t kMini = kBlock / kMiniBlocks;

void PutVarint(Bytes& out, std::uint64_t value) {
  for (; value >= 128; value >>= 7) out.push_back(static_cast<char>(value | 128));
  out.push_back(static_cast<char>(value));
}

void PutZigZag(Bytes& out, std::uint64_t value) {
  const auto sign = static_cast<std::uint64_t>(static_cast<std::int64_t>(value) >> 63);
  PutVarint(out, (value << 1) ^ sign);
}

// kMini numbers of `width` bits each; missing ones are 0.
void PutMiniBlock(Bytes& out, std::span<const std::uint64_t> values, int width) {
  const std::size_t start = out.size();
  out.resize(start + kMini * static_cast<std::size_t>(width) / 8, '\0');
  std::size_t bit = 0;
  for (const std::uint64_t value : values) {
    for (int i = 0; i < width; ++i, ++bit) {
      const auto set = static_cast<unsigned>((value >> i) & 1U) << (bit & 7);
      char& byte = out[start + bit / 8];
      byte = static_cast<char>(static_cast<unsigned>(static_cast<unsigned char>(byte)) | set);
    }
  }
}

}  // namespace

void EncodeDelta(std::span<const std::int64_t> values, Bytes& out) {
  PutVarint(out, kBlock);
  PutVarint(out, kMiniBlocks);
  PutVarint(out, values.size());
  PutZigZag(out, values.empty() ? 0 : static_cast<std::uint64_t>(values[0]));
  std::uint64_t deltas[kBlock];
  for (std::size_t at = 1; at < values.size(); at += kBlock) {
    const std::size_t count = std::min(kBlock, values.size() - at);
    auto least = static_cast<std::int64_t>(static_cast<std::uint64_t>(values[at]) -
                                           static_cast<std::uint64_t>(values[at - 1]));
    for (std::size_t i = 0; i < count; ++i) {
      // Differences wrap around, as the format wants.
      deltas[i] = static_cast<std::uint64_t>(values[at + i]) -
                  static_cast<std::uint64_t>(values[at + i - 1]);
      least = std::min(least, static_cast<std::int64_t>(deltas[i]));
    }
    PutZigZag(out, static_cast<std::uint64_t>(least));
    int widths[kMiniBlocks] = {};
    for (std::size_t i = 0; i < count; ++i) {
      deltas[i] -= static_cast<std::uint64_t>(least);
      widths[i / kMini] = std::max(widths[i / kMini], static_cast<int>(std::bit_width(deltas[i])));
    }
    for (const int width : widths) out.push_back(static_cast<char>(width));
    for (std::size_t m = 0; m < kMiniBlocks && m * kMini < count; ++m) {
      PutMiniBlock(out, std::span(deltas).subspan(m * kMini, std::min(kMini, count - m * kMini)),
                   widths[m]);
    }
  }
}

}  // namespace icewright::splice
