#pragma once

/// \file data/splice/hybrid.h
/// The RLE / bit-packed hybrid: levels and dictionary indices, run by run.
///
/// Spec: Encodings.md, "Run Length Encoding / Bit-Packing Hybrid". Input must have kSlack readable
/// bytes behind it. Functions that return false met malformed bytes.

#include <cstdint>
#include <vector>

#include "data/splice/scratch.h"

namespace icewright::splice {

/// Bits that numbers up to `max_value` need.
constexpr int BitsFor(std::uint32_t max_value) {
  return max_value == 0 ? 0 : 32 - __builtin_clz(max_value);
}

struct HybridRun {
  bool rle = false;
  std::uint32_t count = 0;
  std::uint32_t value = 0;  // RLE
  ByteView packed = {};     // bit-packed: may lack the padding of the last group
};

class HybridReader {
 public:
  HybridReader(ByteView bytes, int width) : bytes_(bytes), width_(width) {}

  /// False at the end and for malformed bytes.
  bool Next(HybridRun& run);

 private:
  ByteView bytes_;
  int width_;
};

/// `count` numbers of `width` bits. Precondition: 0 <= width <= 32.
void Unpack(const char* packed, int width, std::uint32_t count, std::uint32_t* out);

/// Exactly `count` numbers.
bool DecodeHybrid(ByteView bytes, int width, std::uint32_t count, std::uint32_t* out);

/// How many of the first `count` numbers equal `value`. `unpacked` is scratch.
bool CountEqual(ByteView bytes, int width, std::uint32_t count, std::uint32_t value,
                std::vector<std::uint32_t>& unpacked, std::uint32_t& equal);

void AppendRun(Scratch& out, std::uint32_t count, std::uint32_t value, int width);

/// Levels: long runs as RLE, the rest bit-packed and padded at the very end only.
void EncodeLevels(const std::uint8_t* levels, std::size_t count, int width, Scratch& out);

/// Indices: the same, without padding, so that more runs can follow.
void EncodeIndices(const std::uint32_t* indices, std::size_t count, int width, Scratch& out);

/// Appends `count` indices after mapping each. Runs stay runs; false for an index without a
/// mapping, too.
bool MapIndices(ByteView bytes, int width, std::uint32_t count,
                const std::vector<std::uint32_t>& map, int out_width,
                std::vector<std::uint32_t>& unpacked, Scratch& out);

}  // namespace icewright::splice
