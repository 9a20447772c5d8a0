#pragma once

/// \file base/bytes.h
/// Raw bytes, and the two streams they travel in.
///
/// Bytes are std::string because bounds and keys are short and fit its inline buffer.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/result.h"

namespace icewright {

using Bytes = std::string;
using ByteView = std::string_view;

/// Sequential input. Single-threaded.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  /// Reads up to out.size() bytes; 0 only at the end. Errors: kIo, kNotFound.
  virtual Result<std::size_t> Read(std::span<char> out) = 0;
};

/// Sequential output. Single-threaded.
class ByteSink {
 public:
  virtual ~ByteSink() = default;

  /// Errors: kIo. After an error the sink is unusable.
  virtual Status Append(ByteView bytes) = 0;
};

/// A ByteSource over bytes in memory, which must outlive it.
class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(ByteView bytes) : rest_(bytes) {}
  Result<std::size_t> Read(std::span<char> out) override;

 private:
  ByteView rest_;
};

/// A ByteSink that collects into a string.
class MemorySink final : public ByteSink {
 public:
  Status Append(ByteView bytes) override {
    bytes_.append(bytes);
    return {};
  }
  const Bytes& bytes() const { return bytes_; }
  Bytes Take() && { return std::move(bytes_); }

 private:
  Bytes bytes_;
};

/// Little-endian load of a number. Precondition: p has sizeof(T) bytes.
template <typename T>
requires std::is_arithmetic_v<T> T LoadLittle(const char* p) {
  T value;
  std::memcpy(&value, p, sizeof(T));  // all supported targets are little-endian
  return value;
}

template <typename T>
requires std::is_arithmetic_v<T>
void AppendLittle(Bytes& out, T value) {
  char raw[sizeof(T)];
  std::memcpy(raw, &value, sizeof(T));
  out.append(raw, sizeof(T));
}

/// Lower-case hexadecimal, two digits a byte.
std::string ToHex(ByteView bytes);

/// Errors: kInvalidArgument for an odd length or another character.
Result<Bytes> FromHex(std::string_view text);

/// Mixes a hash into a seed; the one such function of the code base.
constexpr std::size_t HashCombine(std::size_t seed, std::size_t hash) {
  seed ^= hash + 0x9e3779b97f4a7c15ULL + (seed << 12) + (seed >> 4);
  return seed * 0xff51afd7ed558ccdULL;
}

}  // namespace icewright
