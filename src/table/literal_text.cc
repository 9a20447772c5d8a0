#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <type_traits>

#include "table/calendar.h"
#include "table/literal.h"
#include "table/number_text.h"

namespace icewright {
namespace {

Error Unreadable(const Type& type, std::string_view text) {
  return {Code::kInvalidArgument, fmt::format("cannot read '{}' as {}", text, type.ToString())};
}

std::string Lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

template <typename Int>
std::optional<Int> IntegerFromText(std::string_view text) {
  const auto number = ParseDecimal(text, 0);
  if (!number || *number < std::numeric_limits<Int>::min() ||
      *number > std::numeric_limits<Int>::max()) {
    return std::nullopt;
  }
  return static_cast<Int>(*number);
}

template <typename Float>
std::optional<Float> FloatFromText(std::string_view text) {
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  Float value{};
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || rest != end || error != std::errc()) return std::nullopt;
  return value;
}

std::optional<bool> BoolFromText(std::string_view text) {
  const std::string lower = Lower(text);
  if (lower == "true") return true;
  if (lower == "false") return false;
  return std::nullopt;
}

std::optional<std::string> BinaryFromText(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
  auto bytes = FromHex(text);
  if (!bytes) return std::nullopt;
  return *std::move(bytes);
}

template <typename T>
Result<Literal> OrUnreadable(std::optional<T> value, const Type& type, std::string_view text) {
  if (!value) return Unreadable(type, text);
  return Literal(*std::move(value));
}

struct Scientific {
  std::string digits;  ///< at least two
  int exponent;        ///< of the first digit
};

/// The fewest digits that are this value alone; where one would do, Java prints the two that come
/// closest (4.9E-324, not 5.0E-324). Precondition: value is finite and above zero.
template <typename Float>
Scientific ShortestDigits(Float value) {
  std::array<char, 64> buffer{};  // more than any double takes: to_chars cannot fail
  char* const end = buffer.data() + buffer.size();
  auto written = std::to_chars(buffer.data(), end, value, std::chars_format::scientific);
  if (buffer[1] == 'e') {
    written = std::to_chars(buffer.data(), end, value, std::chars_format::scientific, 1);
  }
  const char* const e = std::find(buffer.cbegin(), buffer.cend(), 'e');
  Scientific result{std::string(1, buffer[0]), 0};
  result.digits.append(buffer.cbegin() + 2, e);
  std::from_chars(e[1] == '+' ? e + 2 : e + 1, written.ptr, result.exponent);
  return result;
}

/// Java's toString of float and double: at least one digit on both sides of the point, scientific
/// below 10^-3 and from 10^7 on.
template <typename Float>
std::string JavaText(Float value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
  if (value == 0) return std::signbit(value) ? "-0.0" : "0.0";
  auto [digits, exponent] = ShortestDigits(std::fabs(value));
  const std::string sign(value < 0 ? "-" : "");
  if (exponent < -3 || exponent >= 7) {
    return fmt::format("{}{}.{}E{}", sign, digits[0], digits.substr(1), exponent);
  }
  if (exponent < 0) {
    while (digits.size() > 1 && digits.back() == '0') digits.pop_back();
    return sign + "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  }
  const std::size_t whole = static_cast<std::size_t>(exponent) + 1;
  if (digits.size() <= whole) digits.append(whole + 1 - digits.size(), '0');
  return sign + digits.substr(0, whole) + '.' + digits.substr(whole);
}

/// Java's BigDecimal.toString: scientific only for very small values.
std::string JavaDecimalText(Int128 unscaled, int scale) {
  const std::string plain = DecimalText(unscaled, 0);
  const bool negative = unscaled < 0;
  const std::string digits = plain.substr(negative ? 1 : 0);
  const int exponent = static_cast<int>(digits.size()) - 1 - scale;
  if (exponent >= -6) return DecimalText(unscaled, scale);
  const std::string fraction = digits.size() > 1 ? '.' + digits.substr(1) : std::string();
  return fmt::format("{}{}{}E{}", negative ? "-" : "", digits[0], fraction, exponent);
}

/// Java's LocalTime.toString: no seconds if there are none, decimals in groups of three.
std::string JavaTimeText(std::int64_t micros) {
  const std::int64_t seconds = FloorDiv(micros, kMicrosPerSecond);
  const std::int64_t fraction = FloorMod(micros, kMicrosPerSecond);
  std::string text =
      fmt::format("{:02}:{:02}", FloorMod(seconds / 3600, 24), FloorMod(seconds / 60, 60));
  if (seconds % 60 == 0 && fraction == 0) return text;
  text += fmt::format(":{:02}", FloorMod(seconds, 60));
  if (fraction == 0) return text;
  if (fraction % 1000 == 0) return text + fmt::format(".{:03}", fraction / 1000);
  return text + fmt::format(".{:06}", fraction);
}

std::string LongText(const Type& type, std::int64_t value) {
  switch (type.id()) {
    case TypeId::kTime:
      return JavaTimeText(value);
    case TypeId::kTimestamp:
      return TimestampText(value, 6);
    case TypeId::kTimestampTz:
      return TimestampText(value, 6) + "+00:00";
    case TypeId::kTimestampNs:
      return TimestampText(value, 9);
    case TypeId::kTimestampTzNs:
      return TimestampText(value, 9) + "+00:00";
    default:
      return std::to_string(value);
  }
}

std::string BytesText(const Type& type, const std::string& value) {
  if (type.id() == TypeId::kString) return value;
  if (type.id() == TypeId::kUuid && value.size() == 16) return UuidText(value);
  return Base64(value);
}

}  // namespace

Result<Literal> LiteralFromText(const Type& type, std::string_view text) {
  switch (type.id()) {
    case TypeId::kBoolean:
      return OrUnreadable(BoolFromText(text), type, text);
    case TypeId::kInt:
      return OrUnreadable(IntegerFromText<std::int32_t>(text), type, text);
    case TypeId::kLong:
      return OrUnreadable(IntegerFromText<std::int64_t>(text), type, text);
    case TypeId::kFloat:
      return OrUnreadable(FloatFromText<float>(text), type, text);
    case TypeId::kDouble:
      return OrUnreadable(FloatFromText<double>(text), type, text);
    case TypeId::kDecimal: {
      auto value = ParseDecimal(text, type.scale());
      if (value && !FitsPrecision(*value, type.precision())) value.reset();
      return OrUnreadable(value, type, text);
    }
    case TypeId::kDate:
      return OrUnreadable(ParseDate(text), type, text);
    case TypeId::kTime:
      return OrUnreadable(ParseTime(text), type, text);
    case TypeId::kTimestamp:
      return OrUnreadable(ParseTimestamp(text, 6, ZoneText::kNone), type, text);
    case TypeId::kTimestampTz:
      return OrUnreadable(ParseTimestamp(text, 6, ZoneText::kOptional), type, text);
    case TypeId::kTimestampNs:
      return OrUnreadable(ParseTimestamp(text, 9, ZoneText::kNone), type, text);
    case TypeId::kTimestampTzNs:
      return OrUnreadable(ParseTimestamp(text, 9, ZoneText::kOptional), type, text);
    case TypeId::kString:
      return Literal(std::string(text));
    case TypeId::kUuid:
      return OrUnreadable(ParseUuid(text), type, text);
    case TypeId::kBinary:
      return OrUnreadable(BinaryFromText(text), type, text);
    case TypeId::kFixed: {
      auto value = BinaryFromText(text);
      if (value && value->size() != static_cast<std::size_t>(type.length())) value.reset();
      return OrUnreadable(std::move(value), type, text);
    }
    default:
      return Unreadable(type, text);
  }
}

std::string ToHuman(const Type& type, const Literal& value) {
  return std::visit(
      [&type](const auto& held) -> std::string {
        using T = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<T, std::monostate>) {
          return "null";
        } else if constexpr (std::is_same_v<T, bool>) {
          return held ? "true" : "false";
        } else if constexpr (std::is_same_v<T, std::int32_t>) {
          return type.id() == TypeId::kDate ? PartitionDayText(held) : std::to_string(held);
        } else if constexpr (std::is_same_v<T, std::int64_t>) {
          return LongText(type, held);
        } else if constexpr (std::is_same_v<T, Int128>) {
          return JavaDecimalText(held, type.scale());
        } else if constexpr (std::is_same_v<T, std::string>) {
          return BytesText(type, held);
        } else {
          return JavaText(held);
        }
      },
      value);
}

}  // namespace icewright
