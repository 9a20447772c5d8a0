#include "base/bytes.h"

#include <algorithm>

namespace icewright {
namespace {

int DigitOf(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

Result<std::size_t> MemorySource::Read(std::span<char> out) {
  const std::size_t n = std::min(out.size(), rest_.size());
  std::copy_n(rest_.data(), n, out.data());
  rest_.remove_prefix(n);
  return n;
}

std::string ToHex(ByteView bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
  return out;
}

Result<Bytes> FromHex(std::string_view text) {
  if (text.size() % 2 != 0) {
    return Error(Code::kInvalidArgument,
                 "hexadecimal text has an odd length: " + std::string(text));
  }
  Bytes out;
  out.reserve(text.size() / 2);
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const int high = DigitOf(text[i]);
    const int low = DigitOf(text[i + 1]);
    if (high < 0 || low < 0) {
      return Error(Code::kInvalidArgument, "not hexadecimal: " + std::string(text));
    }
    out += static_cast<char>(high * 16 + low);
  }
  return out;
}

}  // namespace icewright
