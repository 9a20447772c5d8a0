#pragma once

/// \file codec/avro/coding.h
/// Avro's binary encoding of single values.
///
/// Spec: Avro 1.11 "Binary encoding".

#include <cstdint>

#include "base/bytes.h"
#include "base/result.h"
#include "codec/avro/schema.h"

namespace icewright::avro {

/// Reads values from a decompressed block. A read past the end or a malformed varint makes ok()
/// false, and every later read returns 0 or empty; check ok() once per record. Borrows the bytes.
class Decoder {
 public:
  explicit Decoder(ByteView bytes) : p_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  bool ok() const { return ok_; }
  bool at_end() const { return p_ == end_; }
  std::size_t remaining() const { return static_cast<std::size_t>(end_ - p_); }
  void Fail() {
    ok_ = false;
    p_ = end_;
  }

  std::int64_t ReadLong() {
    if (p_ != end_ && static_cast<unsigned char>(*p_) < 0x80) {
      return ZigZag(static_cast<unsigned char>(*p_++));
    }
    return ReadLongSlow();
  }
  std::int32_t ReadInt() {
    const std::int64_t value = ReadLong();
    if (value != static_cast<std::int32_t>(value)) Fail();
    return ok_ ? static_cast<std::int32_t>(value) : 0;
  }
  bool ReadBoolean() {
    if (p_ == end_ || static_cast<unsigned char>(*p_) > 1) {
      Fail();
      return false;
    }
    return *p_++ != 0;
  }
  float ReadFloat() { return ReadLittle<float>(); }
  double ReadDouble() { return ReadLittle<double>(); }

  /// Valid while the block is.
  ByteView ReadBytes() {
    const std::int64_t size = ReadLong();
    return Take(static_cast<std::uint64_t>(size));  // a negative size is too large
  }
  ByteView ReadFixed(int size) { return Take(static_cast<std::uint64_t>(size)); }

  /// Start of the next array or map block: item count, 0 at the end. A block's byte size is
  /// skipped. A count of items that cannot fit in what remains fails. `min_item_bytes` is the
  /// `min_bytes` of the items' schema (a map's entry: one more); where it is 0, a count is at most
  /// 2^24.
  std::int64_t ReadBlockCount(std::int64_t min_item_bytes = 1);

  /// Passes over one value of this schema.
  void Skip(const Schema& schema);

 private:
  static std::int64_t ZigZag(std::uint64_t bits) {
    return static_cast<std::int64_t>((bits >> 1) ^ (~(bits & 1) + 1));
  }
  std::int64_t ReadLongSlow();  ///< Two bytes and more, or none.
  bool Fits(std::int64_t count, std::int64_t min_item_bytes) const;
  void SkipItems(const Schema& schema);

  ByteView Take(std::uint64_t size) {
    if (size > remaining()) {
      Fail();
      return {};
    }
    const ByteView bytes(p_, size);
    p_ += size;
    return bytes;
  }

  template <typename T>
  T ReadLittle() {
    const ByteView bytes = Take(sizeof(T));
    return bytes.empty() ? T{} : LoadLittle<T>(bytes.data());
  }

  const char* p_;
  const char* end_;
  bool ok_ = true;
};

/// Appends encoded values to a buffer.
class Encoder {
 public:
  explicit Encoder(Bytes& out) : out_(out) {}

  void WriteLong(std::int64_t value);
  void WriteInt(std::int32_t value) { WriteLong(value); }
  void WriteBoolean(bool value) { out_ += value ? '\1' : '\0'; }
  void WriteFloat(float value) { AppendLittle(out_, value); }
  void WriteDouble(double value) { AppendLittle(out_, value); }
  void WriteBytes(ByteView bytes) {
    WriteLong(static_cast<std::int64_t>(bytes.size()));
    out_.append(bytes);
  }
  void WriteFixed(ByteView bytes) { out_.append(bytes); }

 private:
  Bytes& out_;
};

}  // namespace icewright::avro
