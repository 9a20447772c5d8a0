#include "data/splice/thrift.h"

#include <limits>

namespace icewright::splice {
namespace {

constexpr int kMaxDepth = 48;

bool IsNumber(Wire type) { return type == Wire::kI16 || type == Wire::kI32 || type == Wire::kI64; }

}  // namespace

std::uint8_t ThriftReader::Byte() {
  if (at_ >= bytes_.size()) {
    Fail("ends too early");
    return 0;
  }
  return static_cast<std::uint8_t>(bytes_[at_++]);
}

std::uint64_t ThriftReader::Varint() {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 70; shift += 7) {
    const std::uint8_t byte = Byte();
    value |= static_cast<std::uint64_t>(byte & 127) << shift;
    if (byte < 128) return value;
  }
  Fail("a number is too long");
  return 0;
}

std::int64_t ThriftReader::ZigZag() {
  const std::uint64_t raw = Varint();
  return static_cast<std::int64_t>(raw >> 1) ^ -static_cast<std::int64_t>(raw & 1);
}

bool ThriftReader::Next(Field& field) {
  const std::uint8_t byte = Byte();
  field.type = static_cast<Wire>(byte & 15);
  if (!ok() || field.type == Wire::kStop) return false;
  if (field.type > Wire::kStruct) {
    Fail("a field has an unknown type");
    return false;
  }
  const std::int64_t id = (byte >> 4) != 0 ? field.id + (byte >> 4) : ZigZag();
  if (id < 0 || id > std::numeric_limits<std::int16_t>::max()) Fail("a field id is out of range");
  field.id = static_cast<int>(id);
  return ok();
}

std::int64_t ThriftReader::I64(const Field& field) {
  return Expect(IsNumber(field.type)) ? ZigZag() : 0;
}

std::int32_t ThriftReader::I32(const Field& field) {
  const std::int64_t value = I64(field);
  if (value != static_cast<std::int32_t>(value)) Fail("a number is out of range");
  return ok() ? static_cast<std::int32_t>(value) : 0;
}

bool ThriftReader::Flag(const Field& field) {
  Expect(field.type == Wire::kTrue || field.type == Wire::kFalse);
  return field.type == Wire::kTrue;
}

ByteView ThriftReader::ElementBinary() {
  const std::uint64_t size = Varint();
  if (size > bytes_.size() - at_) {
    Fail("a string is longer than the input");
    return {};
  }
  const ByteView value = bytes_.substr(at_, size);
  at_ += size;
  return value;
}

ByteView ThriftReader::Binary(const Field& field) {
  return Expect(field.type == Wire::kBinary) ? ElementBinary() : ByteView();
}

ThriftReader::List ThriftReader::ElementList() {
  const std::uint8_t byte = Byte();
  const std::uint64_t size = (byte >> 4) == 15 ? Varint() : byte >> 4;
  // Every element takes a byte at least.
  if (size > bytes_.size() - at_) Fail("a list is longer than the input");
  if (!ok()) return {};
  return {static_cast<Wire>(byte & 15), static_cast<std::uint32_t>(size)};
}

ThriftReader::List ThriftReader::ReadList(const Field& field) {
  return Expect(field.type == Wire::kList) ? ElementList() : List();
}

ByteView ThriftReader::Raw(const Field& field) {
  const std::size_t start = at_;
  Skip(field);
  return ok() ? bytes_.substr(start, at_ - start) : ByteView();
}

void ThriftReader::SkipValue(Wire type, int depth) {
  if (depth > kMaxDepth) return Fail("is nested too deeply");
  switch (type) {
    case Wire::kTrue:
    case Wire::kFalse:
      return;
    case Wire::kByte:
      Byte();
      return;
    case Wire::kI16:
    case Wire::kI32:
    case Wire::kI64:
      Varint();
      return;
    case Wire::kDouble:
      if (bytes_.size() - at_ < 8) return Fail("ends too early");
      at_ += 8;
      return;
    case Wire::kBinary:
      ElementBinary();
      return;
    case Wire::kList:
    case Wire::kSet: {
      const List list = ElementList();
      for (std::uint32_t i = 0; i < list.size && ok(); ++i) {
        const bool flag = list.type == Wire::kTrue || list.type == Wire::kFalse;
        SkipValue(flag ? Wire::kByte : list.type, depth + 1);
      }
      return;
    }
    case Wire::kMap: {
      const std::uint64_t size = Varint();
      if (size > bytes_.size() - at_) return Fail("a map is longer than the input");
      const std::uint8_t types = size == 0 ? 0 : Byte();
      for (std::uint64_t i = 0; i < size && ok(); ++i) {
        SkipValue(static_cast<Wire>(types >> 4), depth + 1);
        SkipValue(static_cast<Wire>(types & 15), depth + 1);
      }
      return;
    }
    case Wire::kStruct: {
      Field field;
      while (Next(field)) SkipValue(field.type, depth + 1);
      return;
    }
    case Wire::kStop:
      break;
  }
  Fail("a value has an unknown type");
}

void ThriftWriter::Begin() {
  outer_.push_back(last_);
  last_ = 0;
}

void ThriftWriter::End() {
  out_.push_back(static_cast<char>(Wire::kStop));
  last_ = outer_.back();
  outer_.pop_back();
}

void ThriftWriter::BeginField(int id) {
  Header(id, Wire::kStruct);
  Begin();
}

void ThriftWriter::Header(int id, Wire type) {
  const int delta = id - last_;
  if (delta > 0 && delta < 16) {
    out_.push_back(static_cast<char>(delta << 4 | static_cast<int>(type)));
  } else {
    out_.push_back(static_cast<char>(type));
    ZigZag(id);
  }
  last_ = id;
}

void ThriftWriter::Number(int id, Wire type, std::int64_t value) {
  Header(id, type);
  ZigZag(value);
}

void ThriftWriter::Varint(std::uint64_t value) {
  while (value >= 128) {
    out_.push_back(static_cast<char>(value | 128));
    value >>= 7;
  }
  out_.push_back(static_cast<char>(value));
}

void ThriftWriter::Binary(int id, ByteView value) {
  Header(id, Wire::kBinary);
  Element(value);
}

void ThriftWriter::Raw(int id, Wire type, ByteView value) {
  Header(id, type);
  out_.append(value);
}

void ThriftWriter::List(int id, Wire type, std::size_t size) {
  Header(id, Wire::kList);
  if (size < 15) {
    out_.push_back(static_cast<char>(size << 4 | static_cast<std::size_t>(type)));
  } else {
    out_.push_back(static_cast<char>(0xF0 | static_cast<int>(type)));
    Varint(size);
  }
}

void ThriftWriter::Element(ByteView value) {
  Varint(value.size());
  out_.append(value);
}

void ThriftWriter::ElementFlag(bool value) {
  out_.push_back(static_cast<char>(value ? Wire::kTrue : Wire::kFalse));
}

}  // namespace icewright::splice
