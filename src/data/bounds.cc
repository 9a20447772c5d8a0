#include "data/bounds.h"

#include <cstdint>

namespace icewright {
namespace {

constexpr std::uint32_t kMaxCodePoint = 0x10FFFF;

// Bytes of the code point that starts at `text[at]`; 0 if there is no valid one.
std::size_t CodePointSize(ByteView text, std::size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  std::size_t size = 0;
  if (lead < 0x80) {
    return 1;
  } else if (lead >= 0xC2 && lead < 0xE0) {
    size = 2;
  } else if (lead >= 0xE0 && lead < 0xF0) {
    size = 3;
  } else if (lead >= 0xF0 && lead < 0xF5) {
    size = 4;
  }
  if (size == 0 || at + size > text.size()) return 0;
  for (std::size_t i = 1; i < size; ++i) {
    if ((static_cast<unsigned char>(text[at + i]) & 0xC0) != 0x80) return 0;
  }
  return size;
}

// Size of the prefix of `limit` code points, the whole size if there are not more; unset if a byte
// on the way is no UTF-8.
std::optional<std::size_t> PrefixSize(ByteView text, int limit) {
  std::size_t at = 0;
  for (int i = 0; i < limit && at < text.size(); ++i) {
    const std::size_t size = CodePointSize(text, at);
    if (size == 0) return {};
    at += size;
  }
  return at;
}

std::uint32_t Decode(ByteView point) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(point[i]); };
  if (point.size() == 1) return byte(0);
  std::uint32_t value = byte(0) & (0x7FU >> point.size());
  for (std::size_t i = 1; i < point.size(); ++i) value = (value << 6) | (byte(i) & 0x3FU);
  return value;
}

void Encode(std::uint32_t point, Bytes& out) {
  const auto tail = [&](int shift) {
    out += static_cast<char>(0x80U | ((point >> shift) & 0x3FU));
  };
  if (point < 0x80) {
    out += static_cast<char>(point);
  } else if (point < 0x800) {
    out += static_cast<char>(0xC0U | (point >> 6));
    tail(0);
  } else if (point < 0x10000) {
    out += static_cast<char>(0xE0U | (point >> 12));
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xF0U | (point >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

std::optional<Bytes> IncrementedBytes(ByteView prefix) {
  for (std::size_t i = prefix.size(); i-- > 0;) {
    const auto byte = static_cast<unsigned char>(prefix[i]);
    if (byte == 0xFF) continue;
    Bytes out(prefix.substr(0, i));
    out += static_cast<char>(byte + 1);
    return out;
  }
  return {};
}

std::optional<Bytes> IncrementedText(ByteView prefix) {
  std::size_t end = prefix.size();
  while (end > 0) {
    std::size_t start = end - 1;
    while (start > 0 && (static_cast<unsigned char>(prefix[start]) & 0xC0) == 0x80) --start;
    std::uint32_t next = Decode(prefix.substr(start, end - start)) + 1;
    if (next == 0xD800) next = 0xE000;  // surrogates are no characters
    if (next <= kMaxCodePoint) {
      Bytes out(prefix.substr(0, start));
      Encode(next, out);
      return out;
    }
    end = start;
  }
  return {};
}

}  // namespace

Bytes TruncatedLowerBound(const Type& type, ByteView value, int limit) {
  if (type.id() == TypeId::kString) {
    if (const auto size = PrefixSize(value, limit)) return Bytes(value.substr(0, *size));
  }
  return Bytes(value.substr(0, static_cast<std::size_t>(limit)));
}

std::optional<Bytes> TruncatedUpperBound(const Type& type, ByteView value, int limit) {
  if (type.id() == TypeId::kString) {
    const auto size = PrefixSize(value, limit);
    // Bytes that are no text have no bound that a strict reader could decode.
    if (!size) return {};
    if (*size == value.size()) return Bytes(value);
    return IncrementedText(value.substr(0, *size));
  }
  if (value.size() <= static_cast<std::size_t>(limit)) return Bytes(value);
  return IncrementedBytes(value.substr(0, static_cast<std::size_t>(limit)));
}

}  // namespace icewright
