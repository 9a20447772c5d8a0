#pragma once

/// \file data/splice/thrift.h
/// Thrift's compact protocol, as far as Parquet's metadata needs it.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace icewright::splice {

/// Types on the wire. A boolean field has its value in its type.
enum class Wire : std::uint8_t {
  kStop = 0,
  kTrue = 1,
  kFalse = 2,
  kByte = 3,
  kI16 = 4,
  kI32 = 5,
  kI64 = 6,
  kDouble = 7,
  kBinary = 8,
  kList = 9,
  kSet = 10,
  kMap = 11,
  kStruct = 12,
};

/// Reads untrusted bytes. The first thing that is wrong ends all reading: from then on every read
/// gives 0, nothing or false, and ok() is false. Binary values are views of the input.
class ThriftReader {
 public:
  struct Field {
    int id = 0;
    Wire type = Wire::kStop;
  };
  struct List {
    Wire type = Wire::kStop;
    std::uint32_t size = 0;
  };

  explicit ThriftReader(ByteView bytes) : bytes_(bytes) {}

  bool ok() const { return error_.empty(); }
  std::string_view error() const { return error_; }
  std::size_t position() const { return at_; }

  /// The next field header of a struct; `field` carries the previous id in. False at the end.
  bool Next(Field& field);

  std::int64_t I64(const Field& field);
  std::int32_t I32(const Field& field);
  bool Flag(const Field& field);
  ByteView Binary(const Field& field);
  List ReadList(const Field& field);

  /// Elements of a list.
  std::int64_t ElementI64() { return ZigZag(); }
  bool ElementFlag() { return Byte() == static_cast<std::uint8_t>(Wire::kTrue); }
  ByteView ElementBinary();
  List ElementList();

  /// Calls on_field(Field) for each field of a struct; it must read or Skip the value.
  template <typename F>
  void Struct(F&& on_field) {
    Field field;
    while (Next(field)) on_field(field);
  }
  template <typename F>
  void Struct(const Field& field, F&& on_field) {
    if (Expect(field.type == Wire::kStruct)) Struct(on_field);
  }

  void Skip(const Field& field) { SkipValue(field.type, 0); }

  /// The encoded value: ids count inside their own struct only, so it can be written elsewhere.
  ByteView Raw(const Field& field);

  void Fail(std::string_view what) {
    if (error_.empty()) error_ = what;
    at_ = bytes_.size();
  }

 private:
  bool Expect(bool condition) {
    if (!condition) Fail("a field has another type");
    return condition;
  }
  std::uint8_t Byte();
  std::uint64_t Varint();
  std::int64_t ZigZag();
  void SkipValue(Wire type, int depth);

  ByteView bytes_;
  std::size_t at_ = 0;
  std::string_view error_;
};

class ThriftWriter {
 public:
  explicit ThriftWriter(Bytes& out) : out_(out) {}

  /// A struct that is not a field: the message, or an element of a list.
  void Begin();
  void End();
  void BeginField(int id);

  void I16(int id, std::int64_t value) { Number(id, Wire::kI16, value); }
  void I32(int id, std::int64_t value) { Number(id, Wire::kI32, value); }
  void I64(int id, std::int64_t value) { Number(id, Wire::kI64, value); }
  void Flag(int id, bool value) { Header(id, value ? Wire::kTrue : Wire::kFalse); }
  void Binary(int id, ByteView value);
  /// A value that Raw gave.
  void Raw(int id, Wire type, ByteView value);
  void List(int id, Wire type, std::size_t size);

  void Element(std::int64_t value) { ZigZag(value); }
  void Element(ByteView value);
  void ElementFlag(bool value);

 private:
  void Header(int id, Wire type);
  void Number(int id, Wire type, std::int64_t value);
  void Varint(std::uint64_t value);
  void ZigZag(std::int64_t value) {
    Varint((static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63));
  }

  Bytes& out_;
  std::vector<int> outer_;
  int last_ = 0;
};

}  // namespace icewright::splice
