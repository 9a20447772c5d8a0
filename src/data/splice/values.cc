#include "data/splice/values.h"

#include <algorithm>
#include <cmath>

namespace icewright::splice {
namespace {

template <typename T>
int ThreeWay(T a, T b) {
  return a < b ? -1 : (b < a ? 1 : 0);
}

template <typename T>
int CompareAs(ByteView a, ByteView b) {
  return ThreeWay(LoadLittle<T>(a.data()), LoadLittle<T>(b.data()));
}

int CompareSignedBigEndian(ByteView a, ByteView b) {
  const std::size_t size = std::max(a.size(), b.size());
  const auto byte_at = [size](ByteView value, std::size_t i) -> int {
    const std::size_t pad = size - value.size();
    const bool negative = !value.empty() && (value[0] & 0x80) != 0;
    const int byte = i < pad ? (negative ? 0xFF : 0) : static_cast<std::uint8_t>(value[i - pad]);
    return i == 0 ? byte ^ 0x80 : byte;
  };
  for (std::size_t i = 0; i < size; ++i) {
    if (const int order = ThreeWay(byte_at(a, i), byte_at(b, i)); order != 0) return order;
  }
  return 0;
}

// Big-endian, sign-extended.
template <typename T>
void AppendFixed(T value, int width, Scratch& out) {
  char* const at = out.Grow(static_cast<std::size_t>(width));
  auto wide = static_cast<std::int64_t>(value);
  for (int i = width - 1; i >= 0; --i) {
    at[i] = static_cast<char>(wide & 0xFF);
    wide >>= 8;  // arithmetic: the sign fills up
  }
}

template <typename From, typename Append>
bool ForEach(ByteView body, Append append) {
  if (body.size() % sizeof(From) != 0) return false;
  for (std::size_t at = 0; at < body.size(); at += sizeof(From)) {
    append(LoadLittle<From>(body.data() + at));
  }
  return true;
}

template <typename From, typename To>
bool Widen(ByteView body, Scratch& out) {
  return ForEach<From>(body, [&](From value) {
    const To wide = static_cast<To>(value);
    std::memcpy(out.Grow(sizeof(To)), &wide, sizeof(To));
  });
}

bool WidenFixed(int from_width, int to_width, ByteView body, Scratch& out) {
  const auto from = static_cast<std::size_t>(from_width);
  const auto to = static_cast<std::size_t>(to_width);
  if (from == 0 || from > to || body.size() % from != 0) return false;
  for (std::size_t at = 0; at < body.size(); at += from) {
    char* const value = out.Grow(to);
    std::memset(value, (body[at] & 0x80) != 0 ? 0xFF : 0, to - from);
    std::memcpy(value + (to - from), body.data() + at, from);
  }
  return true;
}

template <typename T>
std::int64_t CountNansAs(const char* values, std::size_t count) {
  std::int64_t nans = 0;
  for (std::size_t i = 0; i < count; ++i) {
    nans += std::isnan(LoadLittle<T>(values + i * sizeof(T))) ? 1 : 0;
  }
  return nans;
}

}  // namespace

int CompareValues(Order order, ByteView a, ByteView b) {
  switch (order) {
    case Order::kSigned32:
      return CompareAs<std::int32_t>(a, b);
    case Order::kSigned64:
      return CompareAs<std::int64_t>(a, b);
    case Order::kFloat:
      return CompareAs<float>(a, b);
    case Order::kDouble:
      return CompareAs<double>(a, b);
    case Order::kBoolean:
      return CompareAs<std::uint8_t>(a, b);
    case Order::kSignedBigEndian:
      return CompareSignedBigEndian(a, b);
    case Order::kBytes:
    case Order::kUndefined:
      break;
  }
  return a.compare(b);
}

bool IsNan(Order order, ByteView value) {
  return (order == Order::kFloat && std::isnan(LoadLittle<float>(value.data()))) ||
         (order == Order::kDouble && std::isnan(LoadLittle<double>(value.data())));
}

bool HasWidth(const Leaf& leaf, ByteView value) {
  if (leaf.type == Physical::kBoolean) return value.size() == 1;
  return leaf.width == 0 || value.size() == static_cast<std::size_t>(leaf.width);
}

bool ConvertValues(Conversion conversion, int from_width, int to_width, ByteView body,
                   Scratch& out) {
  switch (conversion) {
    case Conversion::kIntToLong:
      return Widen<std::int32_t, std::int64_t>(body, out);
    case Conversion::kFloatToDouble:
      return Widen<float, double>(body, out);
    case Conversion::kIntToFixed:
      return ForEach<std::int32_t>(body,
                                   [&](std::int32_t value) { AppendFixed(value, to_width, out); });
    case Conversion::kLongToFixed:
      return ForEach<std::int64_t>(body,
                                   [&](std::int64_t value) { AppendFixed(value, to_width, out); });
    case Conversion::kFixedToFixed:
      return WidenFixed(from_width, to_width, body, out);
    case Conversion::kNone:
      break;
  }
  return false;
}

bool PlainOffsets(ByteView body, std::uint32_t count, int width,
                  std::vector<std::uint32_t>& offsets) {
  const auto least = static_cast<std::size_t>(width > 0 ? width : 4);
  if (body.size() / least < count) return false;
  offsets.resize(std::size_t{count} + 1);
  if (width > 0) {
    for (std::uint32_t i = 0; i <= count; ++i) offsets[i] = i * static_cast<std::uint32_t>(width);
    return true;
  }
  std::size_t at = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    offsets[i] = static_cast<std::uint32_t>(at);
    if (body.size() - at < 4) return false;
    const std::size_t size = LoadLittle<std::uint32_t>(body.data() + at);
    at += 4;
    if (body.size() - at < size) return false;
    at += size;
  }
  offsets[count] = static_cast<std::uint32_t>(at);
  return true;
}

std::int64_t CountNans(Physical type, const char* values, std::size_t count) {
  return type == Physical::kFloat ? CountNansAs<float>(values, count)
                                  : CountNansAs<double>(values, count);
}

}  // namespace icewright::splice
