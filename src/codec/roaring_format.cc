#include "codec/roaring_format.h"

#include <fmt/format.h>

#include <bit>

namespace icewright {
namespace {

constexpr std::uint32_t kCookie = 12347;        // with run containers; holds the container count
constexpr std::uint32_t kCookieNoRuns = 12346;  // the count follows
constexpr std::uint32_t kMaxContainers = 1 << 16;
constexpr std::uint32_t kOffsetsFrom = 4;  // with runs, smaller bitmaps have no offsets
constexpr std::uint32_t kMaxArray = 4096;  // larger containers are bitsets
constexpr std::size_t kBitsetBytes = 8192;

Error Corrupt(std::string_view what) {
  return Error(Code::kCorrupt, fmt::format("roaring bitmap: {}", what));
}

Error CutOff() { return Corrupt("the bytes end inside it"); }

std::uint32_t Load16(ByteView bytes, std::size_t index) {
  return LoadLittle<std::uint16_t>(bytes.data() + 2 * index);
}

/// The bytes not yet looked at.
class Cursor {
 public:
  explicit Cursor(ByteView bytes) : bytes_(bytes) {}

  std::size_t position() const { return position_; }
  bool Take(std::size_t size, ByteView& out) {
    if (size > bytes_.size() - position_) return false;
    out = bytes_.substr(position_, size);
    position_ += size;
    return true;
  }

 private:
  ByteView bytes_;
  std::size_t position_ = 0;
};

Status CheckArray(Cursor& cursor, std::uint32_t cardinality) {
  ByteView values;
  if (!cursor.Take(2 * std::size_t{cardinality}, values)) return CutOff();
  for (std::uint32_t i = 1; i < cardinality; ++i) {
    if (Load16(values, i) <= Load16(values, i - 1)) return Corrupt("an array is out of order");
  }
  return {};
}

Status CheckBitset(Cursor& cursor, std::uint32_t cardinality) {
  ByteView words;
  if (!cursor.Take(kBitsetBytes, words)) return CutOff();
  std::uint32_t members = 0;
  for (std::size_t i = 0; i < kBitsetBytes; i += 8) {
    members +=
        static_cast<std::uint32_t>(std::popcount(LoadLittle<std::uint64_t>(words.data() + i)));
  }
  if (members != cardinality) {
    return Corrupt(fmt::format("a bitset has {} members, not {}", members, cardinality));
  }
  return {};
}

Status CheckRuns(Cursor& cursor, std::uint32_t cardinality) {
  ByteView head;
  if (!cursor.Take(2, head)) return CutOff();
  const std::uint32_t count = Load16(head, 0);
  ByteView runs;
  if (!cursor.Take(4 * std::size_t{count}, runs)) return CutOff();
  std::uint32_t members = 0;
  std::uint32_t next = 0;  // the least start that the next run may have
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t start = Load16(runs, 2 * i);
    const std::uint32_t more = Load16(runs, 2 * i + 1);
    if (start < next) return Corrupt("runs overlap or are out of order");
    if (start + more > 0xffff) return Corrupt("a run leaves its container");
    members += more + 1;
    next = start + more + 1;
  }
  if (members != cardinality) {
    return Corrupt(fmt::format("runs have {} members, not {}", members, cardinality));
  }
  return {};
}

struct Header {
  std::uint32_t containers = 0;
  ByteView run_flags;  // one bit a container; empty: no runs
  ByteView keys;       // key and cardinality - 1, two bytes each
  ByteView offsets;    // may be empty

  bool IsRun(std::uint32_t i) const {
    return !run_flags.empty() && (run_flags[i / 8] >> (i % 8) & 1) != 0;
  }
};

Result<Header> ReadHeader(Cursor& cursor) {
  Header header;
  ByteView word;
  if (!cursor.Take(4, word)) return CutOff();
  const auto cookie = LoadLittle<std::uint32_t>(word.data());
  if ((cookie & 0xffff) == kCookie) {
    header.containers = (cookie >> 16) + 1;
    if (!cursor.Take((header.containers + 7) / 8, header.run_flags)) return CutOff();
  } else if (cookie == kCookieNoRuns) {
    if (!cursor.Take(4, word)) return CutOff();
    header.containers = LoadLittle<std::uint32_t>(word.data());
    if (header.containers > kMaxContainers) return Corrupt("more than 65536 containers");
  } else {
    return Corrupt(fmt::format("the cookie is {}", cookie));
  }
  if (!cursor.Take(4 * std::size_t{header.containers}, header.keys)) return CutOff();
  if (header.run_flags.empty() || header.containers >= kOffsetsFrom) {
    if (!cursor.Take(4 * std::size_t{header.containers}, header.offsets)) return CutOff();
  }
  return header;
}

}  // namespace

Result<RoaringExtent> CheckPortableRoaring(ByteView bytes) {
  Cursor cursor(bytes);
  IW_ASSIGN(const Header header, ReadHeader(cursor));
  RoaringExtent extent;
  for (std::uint32_t i = 0; i < header.containers; ++i) {
    if (i > 0 && Load16(header.keys, 2 * i) <= Load16(header.keys, 2 * (i - 1))) {
      return Corrupt("keys of containers are out of order");
    }
    if (!header.offsets.empty() &&
        LoadLittle<std::uint32_t>(header.offsets.data() + 4 * std::size_t{i}) !=
            cursor.position()) {
      return Corrupt("an offset does not point at its container");
    }
    const std::uint32_t cardinality = Load16(header.keys, 2 * i + 1) + 1;
    if (header.IsRun(i)) {
      IW_TRY(CheckRuns(cursor, cardinality));
    } else if (cardinality <= kMaxArray) {
      IW_TRY(CheckArray(cursor, cardinality));
    } else {
      IW_TRY(CheckBitset(cursor, cardinality));
    }
    extent.cardinality += cardinality;
  }
  extent.size_bytes = cursor.position();
  return extent;
}

}  // namespace icewright
