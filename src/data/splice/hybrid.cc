#include "data/splice/hybrid.h"

#include <algorithm>
#include <cstring>

namespace icewright::splice {
namespace {

constexpr std::size_t kMinRun = 8;

std::size_t PutVarint(char* at, std::uint64_t value) {
  std::size_t size = 0;
  for (; value >= 128; value >>= 7) at[size++] = static_cast<char>(value | 128);
  at[size++] = static_cast<char>(value);
  return size;
}

std::size_t PackedBytes(std::uint32_t count, int width) {
  return (std::size_t{count} * static_cast<std::size_t>(width) + 7) / 8;
}

// Appends a bit-packed run. Precondition: count is a multiple of 8.
void AppendPacked(Scratch& out, const std::uint32_t* values, std::size_t count, int width) {
  const std::size_t before = out.size();
  const std::size_t bytes = count / 8 * static_cast<std::size_t>(width);
  char* const start = out.Grow(10 + bytes + 8);
  const std::size_t head = PutVarint(start, (count / 8) << 1 | 1);
  char* at = start + head;
  std::uint64_t bits = 0;
  int used = 0;
  for (std::size_t i = 0; i < count; ++i) {
    bits |= std::uint64_t{values[i]} << used;
    used += width;
    if (used >= 32) {
      std::memcpy(at, &bits, 4);
      at += 4;
      bits >>= 32;
      used -= 32;
    }
  }
  std::memcpy(at, &bits, 8);
  out.Resize(before + head + bytes);
}

template <typename T>
std::size_t RunAt(const T* values, std::size_t at, std::size_t count) {
  std::size_t end = at + 1;
  while (end < count && values[end] == values[at]) ++end;
  return end - at;
}

}  // namespace

bool HybridReader::Next(HybridRun& run) {
  if (bytes_.empty()) return false;
  std::uint64_t head = 0;
  std::size_t at = 0;
  for (int shift = 0;; shift += 7) {
    if (at >= bytes_.size() || shift > 28) return false;
    const auto byte = static_cast<std::uint8_t>(bytes_[at++]);
    head |= std::uint64_t{static_cast<std::uint8_t>(byte & 127)} << shift;
    if (byte < 128) break;
  }
  bytes_.remove_prefix(at);
  run.rle = (head & 1) == 0;
  if (run.rle) {
    const auto size = static_cast<std::size_t>((width_ + 7) / 8);
    if (head >> 33 != 0 || bytes_.size() < size) return false;
    run.count = static_cast<std::uint32_t>(head >> 1);
    run.value = 0;
    std::memcpy(&run.value, bytes_.data(), size);
    bytes_.remove_prefix(size);
    return true;
  }
  const std::uint64_t groups = head >> 1;
  if (groups > (std::uint64_t{1} << 28)) return false;
  run.count = static_cast<std::uint32_t>(groups * 8);
  run.packed = bytes_.substr(0, groups * static_cast<std::uint64_t>(width_));
  bytes_.remove_prefix(run.packed.size());
  return true;
}

void Unpack(const char* packed, int width, std::uint32_t count, std::uint32_t* out) {
  const std::uint64_t mask = (std::uint64_t{1} << width) - 1;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint64_t bit = std::uint64_t{i} * static_cast<unsigned>(width);
    std::uint64_t word = 0;
    std::memcpy(&word, packed + (bit >> 3), 8);
    out[i] = static_cast<std::uint32_t>(word >> (bit & 7) & mask);
  }
}

bool DecodeHybrid(ByteView bytes, int width, std::uint32_t count, std::uint32_t* out) {
  HybridReader reader(bytes, width);
  HybridRun run;
  while (count > 0) {
    if (!reader.Next(run)) return false;
    const std::uint32_t take = std::min(run.count, count);
    if (run.rle) {
      std::fill_n(out, take, run.value);
    } else {
      if (run.packed.size() < PackedBytes(take, width)) return false;
      Unpack(run.packed.data(), width, take, out);
    }
    out += take;
    count -= take;
  }
  return true;
}

bool CountEqual(ByteView bytes, int width, std::uint32_t count, std::uint32_t value,
                std::vector<std::uint32_t>& unpacked, std::uint32_t& equal) {
  HybridReader reader(bytes, width);
  HybridRun run;
  equal = 0;
  while (count > 0) {
    if (!reader.Next(run)) return false;
    const std::uint32_t take = std::min(run.count, count);
    count -= take;
    if (run.rle) {
      equal += run.value == value ? take : 0;
      continue;
    }
    if (run.packed.size() < PackedBytes(take, width)) return false;
    if (width == 1) {
      std::uint32_t ones = 0;
      std::uint32_t i = 0;
      for (; i + 64 <= take; i += 64) {
        ones += static_cast<std::uint32_t>(
            __builtin_popcountll(LoadLittle<std::uint64_t>(run.packed.data() + i / 8)));
      }
      for (; i < take; ++i) {
        ones += (static_cast<std::uint8_t>(run.packed[i / 8]) >> (i & 7)) & 1U;
      }
      equal += value != 0 ? ones : take - ones;
      continue;
    }
    unpacked.resize(std::max<std::size_t>(unpacked.size(), take));
    Unpack(run.packed.data(), width, take, unpacked.data());
    equal +=
        static_cast<std::uint32_t>(std::count(unpacked.begin(), unpacked.begin() + take, value));
  }
  return true;
}

void AppendRun(Scratch& out, std::uint32_t count, std::uint32_t value, int width) {
  char run[16];
  const std::size_t head = PutVarint(run, std::uint64_t{count} << 1);
  std::memcpy(run + head, &value, 4);
  out.Append({run, head + static_cast<std::size_t>((width + 7) / 8)});
}

void EncodeLevels(const std::uint8_t* levels, std::size_t count, int width, Scratch& out) {
  constexpr std::size_t kLiterals = 504;  // a run header of one byte
  std::uint32_t literals[kLiterals + 8];
  for (std::size_t i = 0; i < count;) {
    const std::size_t run = RunAt(levels, i, count);
    if (run >= kMinRun || i + run == count) {
      AppendRun(out, static_cast<std::uint32_t>(run), levels[i], width);
      i += run;
      continue;
    }
    std::size_t taken = 0;
    while (i < count && taken < kLiterals) {
      for (int k = 0; k < 8; ++k) literals[taken++] = i < count ? levels[i++] : 0;
      if (i + kMinRun <= count && levels[i] == levels[i + kMinRun - 1] &&
          RunAt(levels, i, count) >= kMinRun) {
        break;
      }
    }
    AppendPacked(out, literals, taken, width);
  }
}

void EncodeIndices(const std::uint32_t* indices, std::size_t count, int width, Scratch& out) {
  for (std::size_t i = 0; i < count;) {
    const std::size_t run = RunAt(indices, i, count);
    if (run >= kMinRun || count - i < 8) {
      AppendRun(out, static_cast<std::uint32_t>(run), indices[i], width);
      i += run;
      continue;
    }
    std::size_t end = i;
    while (end + 8 <= count && RunAt(indices, end, std::min(count, end + kMinRun)) < kMinRun) {
      end += 8;
    }
    AppendPacked(out, indices + i, end - i, width);
    i = end;
  }
}

bool MapIndices(ByteView bytes, int width, std::uint32_t count,
                const std::vector<std::uint32_t>& map, int out_width,
                std::vector<std::uint32_t>& unpacked, Scratch& out) {
  HybridReader reader(bytes, width);
  HybridRun run;
  const auto limit = static_cast<std::uint32_t>(map.size());
  while (count > 0) {
    if (!reader.Next(run)) return false;
    const std::uint32_t take = std::min(run.count, count);
    count -= take;
    if (take == 0) continue;
    if (run.rle) {
      if (run.value >= limit) return false;
      AppendRun(out, take, map[run.value], out_width);
      continue;
    }
    if (run.packed.size() < PackedBytes(take, width)) return false;
    unpacked.resize(std::max<std::size_t>(unpacked.size(), take));
    Unpack(run.packed.data(), width, take, unpacked.data());
    std::uint32_t highest = 0;
    for (std::uint32_t i = 0; i < take; ++i) highest = std::max(highest, unpacked[i]);
    if (highest >= limit) return false;
    for (std::uint32_t i = 0; i < take; ++i) unpacked[i] = map[unpacked[i]];
    const std::uint32_t whole = take / 8 * 8;
    if (whole > 0) AppendPacked(out, unpacked.data(), whole, out_width);
    for (std::uint32_t i = whole; i < take; ++i) AppendRun(out, 1, unpacked[i], out_width);
  }
  return true;
}

}  // namespace icewright::splice
