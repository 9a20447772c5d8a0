#include "codec/avro/coding.h"

#include <limits>

namespace icewright::avro {
namespace {

/// Nothing real has that many empty values in a row; untrusted counts end here.
constexpr std::int64_t kMaxEmptyItems = std::int64_t{1} << 24;

std::int64_t ItemMinBytes(const Schema& schema) {
  return schema.items->min_bytes + (schema.kind == Kind::kMap ? 1 : 0);
}

}  // namespace

std::int64_t Decoder::ReadLongSlow() {
  const char* p = p_;
  const char* const end = remaining() < 10 ? end_ : p + 10;
  std::uint64_t value = 0;
  for (int shift = 0; p != end; shift += 7) {
    const auto byte = static_cast<unsigned char>(*p++);
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) {
      if (shift == 63 && byte > 1) break;  // more than 64 bits
      p_ = p;
      return ZigZag(value);
    }
  }
  Fail();
  return 0;
}

bool Decoder::Fits(std::int64_t count, std::int64_t min_item_bytes) const {
  if (min_item_bytes == 0) return count <= kMaxEmptyItems;
  std::int64_t bytes = 0;
  return !__builtin_mul_overflow(count, min_item_bytes, &bytes) &&
         bytes <= static_cast<std::int64_t>(remaining());
}

std::int64_t Decoder::ReadBlockCount(std::int64_t min_item_bytes) {
  std::int64_t count = ReadLong();
  if (count < 0) {
    const std::int64_t size = ReadLong();
    if (count == std::numeric_limits<std::int64_t>::min() ||
        static_cast<std::uint64_t>(size) > remaining()) {
      Fail();
      return 0;
    }
    count = -count;
  }
  if (!Fits(count, min_item_bytes)) {
    Fail();
    return 0;
  }
  return count;
}

void Decoder::SkipItems(const Schema& schema) {
  const std::int64_t min_bytes = ItemMinBytes(schema);
  for (;;) {
    std::int64_t count = ReadLong();
    if (count == 0) return;
    if (count < 0) {  // a block that says how long it is
      const std::int64_t size = ReadLong();
      Take(static_cast<std::uint64_t>(size));
      continue;
    }
    if (min_bytes == 0) continue;
    if (!Fits(count, min_bytes)) {
      Fail();
      return;
    }
    for (; count > 0; --count) {
      if (schema.kind == Kind::kMap) ReadBytes();
      Skip(*schema.items);
    }
  }
}

void Decoder::Skip(const Schema& schema) {
  switch (schema.kind) {
    case Kind::kNull:
      return;
    case Kind::kBoolean:
      Take(1);
      return;
    case Kind::kInt:
    case Kind::kLong:
    case Kind::kEnum:
      ReadLong();
      return;
    case Kind::kFloat:
      Take(4);
      return;
    case Kind::kDouble:
      Take(8);
      return;
    case Kind::kBytes:
    case Kind::kString:
      ReadBytes();
      return;
    case Kind::kFixed:
      ReadFixed(schema.size);
      return;
    case Kind::kRecord:
      if (schema.min_bytes == 0) return;
      for (const RecordField& field : schema.fields) Skip(*field.schema);
      return;
    case Kind::kArray:
    case Kind::kMap:
      SkipItems(schema);
      return;
    case Kind::kUnion: {
      const auto branch = static_cast<std::uint64_t>(ReadLong());
      if (!ok_ || branch >= schema.branches.size()) return Fail();
      Skip(*schema.branches[branch]);
      return;
    }
  }
}

void Encoder::WriteLong(std::int64_t value) {
  auto bits = (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
  char buffer[10];
  std::size_t size = 0;
  while (bits >= 0x80) {
    buffer[size++] = static_cast<char>(bits | 0x80);
    bits >>= 7;
  }
  buffer[size++] = static_cast<char>(bits);
  out_.append(buffer, size);
}

}  // namespace icewright::avro
