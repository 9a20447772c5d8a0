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
    if (p_ < end_ && static_cast<unsigned char>(*p_) < 0x80) {
      const auto byte = static_cast<unsigned char>(*p_++);
      return static_cast<std::int64_t>(byte >> 1) ^ -static_cast<std::int64_t>(byte & 1);
    }
    return ReadLongSlow();
  }
  std::int32_t ReadInt();
  bool ReadBoolean();
  float ReadFloat();
  double ReadDouble();
  ByteView ReadBytes();           ///< Valid while the block is.
  ByteView ReadFixed(int size);

  /// Start of the next array or map block: item count, 0 at the end. A block's byte size is skipped.
  /// A count that cannot fit in what remains fails, unless items may take no bytes.
  std::int64_t ReadBlockCount();

  /// Passes over one value of this schema.
  void Skip(const Schema& schema);

 private:
  std::int64_t ReadLongSlow();
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
