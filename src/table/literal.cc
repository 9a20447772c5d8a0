#include "table/literal.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "table/calendar.h"

namespace icewright {
namespace {

Error WrongLength(const Type& type, ByteView bytes) {
  return {Code::kCorrupt,
          fmt::format("a value of type {} cannot have {} bytes", type.ToString(), bytes.size())};
}

template <typename T>
std::strong_ordering Order(const T& a, const T& b) {
  return a < b   ? std::strong_ordering::less
         : b < a ? std::strong_ordering::greater
                 : std::strong_ordering::equal;
}

/// Maps a float to an integer of the same order; all NaN of a sign are one.
template <typename Float, typename Int>
Int OrderedBits(Float value) {
  if (std::isnan(value)) {
    return std::signbit(value) ? std::numeric_limits<Int>::min() : std::numeric_limits<Int>::max();
  }
  const Int bits = std::bit_cast<Int>(value);
  return bits >= 0 ? bits : static_cast<Int>(bits ^ std::numeric_limits<Int>::max());
}

/// The bits that SameValue compares: one NaN.
template <typename Float, typename Int>
Int CanonicalBits(Float value) {
  return std::bit_cast<Int>(std::isnan(value) ? std::numeric_limits<Float>::quiet_NaN() : value);
}

std::string DecimalBytes(Int128 value) {
  std::string bytes;
  for (int shift = 120; shift >= 0; shift -= 8) {
    bytes.push_back(static_cast<char>(static_cast<unsigned char>((value >> shift) & 0xff)));
  }
  // Minimal two's complement: leading bytes that only repeat the sign go, one byte stays.
  std::size_t skip = 0;
  while (skip + 1 < bytes.size()) {
    const bool negative = (bytes[skip + 1] & 0x80) != 0;
    if (bytes[skip] != (negative ? '\xff' : '\0')) break;
    ++skip;
  }
  return bytes.substr(skip);
}

Result<Literal> DecimalFromBytes(const Type& type, ByteView bytes) {
  if (bytes.empty()) return WrongLength(type, bytes);
  const bool negative = (bytes.front() & 0x80) != 0;
  while (bytes.size() > sizeof(Int128)) {
    // Longer than minimal is tolerated as long as nothing is lost.
    if (bytes.front() != (negative ? '\xff' : '\0') || ((bytes[1] & 0x80) != 0) != negative) {
      return WrongLength(type, bytes);
    }
    bytes.remove_prefix(1);
  }
  UInt128 value = negative ? ~UInt128{0} : 0;
  for (const char byte : bytes) value = (value << 8) | static_cast<unsigned char>(byte);
  return Literal(static_cast<Int128>(value));
}

/// A date of before the column became a timestamp.
Result<Literal> TimestampFromDays(const Type& type, ByteView bytes, std::int64_t units_per_day) {
  std::int64_t value = 0;
  if (__builtin_mul_overflow(std::int64_t{LoadLittle<std::int32_t>(bytes.data())}, units_per_day,
                             &value)) {
    return Error(Code::kCorrupt, fmt::format("a date is out of the range of {}", type.ToString()));
  }
  return Literal(value);
}

Result<Literal> LongFromBytes(const Type& type, ByteView bytes) {
  if (bytes.size() == sizeof(std::int64_t)) return Literal(LoadLittle<std::int64_t>(bytes.data()));
  if (bytes.size() != sizeof(std::int32_t)) return WrongLength(type, bytes);
  switch (type.id()) {
    case TypeId::kLong:
      return Literal(std::int64_t{LoadLittle<std::int32_t>(bytes.data())});
    case TypeId::kTimestamp:
      return TimestampFromDays(type, bytes, kMicrosPerDay);
    case TypeId::kTimestampNs:
      return TimestampFromDays(type, bytes, kMicrosPerDay * kNanosPerMicro);
    default:  // a date never becomes a time or a timestamp with zone
      return WrongLength(type, bytes);
  }
}

Result<Literal> FloatingFromBytes(const Type& type, ByteView bytes) {
  if (bytes.size() == sizeof(float)) {
    const float value = LoadLittle<float>(bytes.data());
    return type.id() == TypeId::kFloat ? Literal(value) : Literal(double{value});
  }
  if (bytes.size() == sizeof(double) && type.id() == TypeId::kDouble) {
    return Literal(LoadLittle<double>(bytes.data()));
  }
  return WrongLength(type, bytes);
}

}  // namespace

Bytes ToBytes(const Type& /*type*/, const Literal& value) {
  return std::visit(
      [](const auto& held) -> Bytes {
        using T = std::decay_t<decltype(held)>;
        Bytes out;
        if constexpr (std::is_same_v<T, bool>) {
          out.push_back(held ? '\1' : '\0');
        } else if constexpr (std::is_same_v<T, Int128>) {
          out = DecimalBytes(held);
        } else if constexpr (std::is_same_v<T, std::string>) {
          out = held;
        } else if constexpr (std::is_arithmetic_v<T>) {
          AppendLittle(out, held);
        }
        return out;
      },
      value);
}

Result<Literal> FromBytes(const Type& type, ByteView bytes) {
  switch (type.id()) {
    case TypeId::kBoolean:
      if (bytes.size() != 1) return WrongLength(type, bytes);
      return Literal(bytes.front() != '\0');
    case TypeId::kInt:
    case TypeId::kDate:
      if (bytes.size() != sizeof(std::int32_t)) return WrongLength(type, bytes);
      return Literal(LoadLittle<std::int32_t>(bytes.data()));
    case TypeId::kLong:
    case TypeId::kTime:
    case TypeId::kTimestamp:
    case TypeId::kTimestampTz:
    case TypeId::kTimestampNs:
    case TypeId::kTimestampTzNs:
      return LongFromBytes(type, bytes);
    case TypeId::kFloat:
    case TypeId::kDouble:
      return FloatingFromBytes(type, bytes);
    case TypeId::kDecimal:
      return DecimalFromBytes(type, bytes);
    case TypeId::kUuid:
      if (bytes.size() != 16) return WrongLength(type, bytes);
      return Literal(std::string(bytes));
    case TypeId::kFixed:  // bounds may be truncated
      if (bytes.size() > static_cast<std::size_t>(type.length())) return WrongLength(type, bytes);
      return Literal(std::string(bytes));
    case TypeId::kString:
    case TypeId::kBinary:
    case TypeId::kGeometry:
    case TypeId::kGeography:
      return Literal(std::string(bytes));
    default:
      return Error(Code::kCorrupt, fmt::format("type {} has no single values", type.ToString()));
  }
}

std::strong_ordering Compare(const Type& /*type*/, const Literal& a, const Literal& b) {
  if (a.index() != b.index()) return Order(a.index(), b.index());
  return std::visit(
      [&b](const auto& left) -> std::strong_ordering {
        using T = std::decay_t<decltype(left)>;
        const T& right = *std::get_if<T>(&b);
        if constexpr (std::is_same_v<T, std::monostate>) {
          return std::strong_ordering::equal;
        } else if constexpr (std::is_same_v<T, float>) {
          return Order(OrderedBits<float, std::int32_t>(left),
                       OrderedBits<float, std::int32_t>(right));
        } else if constexpr (std::is_same_v<T, double>) {
          return Order(OrderedBits<double, std::int64_t>(left),
                       OrderedBits<double, std::int64_t>(right));
        } else {  // std::string compares as unsigned bytes
          return Order(left, right);
        }
      },
      a);
}

bool SameValue(const Literal& a, const Literal& b) {
  if (a.index() != b.index()) return false;
  if (const auto* left = std::get_if<float>(&a)) {
    return CanonicalBits<float, std::int32_t>(*left) ==
           CanonicalBits<float, std::int32_t>(*std::get_if<float>(&b));
  }
  if (const auto* left = std::get_if<double>(&a)) {
    return CanonicalBits<double, std::int64_t>(*left) ==
           CanonicalBits<double, std::int64_t>(*std::get_if<double>(&b));
  }
  return a == b;
}

std::size_t HashOf(const Literal& value) {
  const std::size_t hash = std::visit(
      [](const auto& held) -> std::size_t {
        using T = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<T, std::monostate>) {
          return 0;
        } else if constexpr (std::is_same_v<T, float>) {
          return std::hash<std::int32_t>()(CanonicalBits<float, std::int32_t>(held));
        } else if constexpr (std::is_same_v<T, double>) {
          return std::hash<std::int64_t>()(CanonicalBits<double, std::int64_t>(held));
        } else if constexpr (std::is_same_v<T, Int128>) {
          return HashCombine(static_cast<std::size_t>(held), static_cast<std::size_t>(held >> 64));
        } else {
          return std::hash<T>()(held);
        }
      },
      value);
  return HashCombine(value.index(), hash);
}

std::size_t StructValueHash::operator()(const StructValue& row) const {
  std::size_t hash = row.size();
  for (const Literal& value : row) hash = HashCombine(hash, HashOf(value));
  return hash;
}

bool StructValueEqual::operator()(const StructValue& a, const StructValue& b) const {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), SameValue);
}

}  // namespace icewright
