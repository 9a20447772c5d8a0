#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <type_traits>

#include "codec/json.h"
#include "table/calendar.h"
#include "table/literal.h"
#include "table/number_text.h"

namespace icewright {
namespace {

Error Unreadable(const Type& type, const Json& json) {
  std::string text = DumpJson(json);
  if (text.size() > 100) text = text.substr(0, 100) + "...";
  return {Code::kCorrupt, fmt::format("cannot read {} as {}", text, type.ToString())};
}

template <typename Int>
std::optional<Int> IntegerOf(const Json& json) {
  if (json.is_number_unsigned() &&
      json.get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<Int>::max())) {
    return std::nullopt;
  }
  if (!json.is_number_integer()) return std::nullopt;
  const auto value = json.get<std::int64_t>();
  if (value < std::numeric_limits<Int>::min() || value > std::numeric_limits<Int>::max()) {
    return std::nullopt;
  }
  return static_cast<Int>(value);
}

/// JSON has no words for NaN and the infinities: Java writes them as strings.
template <typename Float>
std::optional<Float> FloatOf(const Json& json) {
  if (json.is_number()) {
    const auto value = static_cast<Float>(json.get<double>());
    if (std::isinf(value)) return std::nullopt;
    return value;
  }
  if (!json.is_string()) return std::nullopt;
  const std::string& text = json.get_ref<const std::string&>();
  if (text == "NaN") return std::numeric_limits<Float>::quiet_NaN();
  if (text == "Infinity") return std::numeric_limits<Float>::infinity();
  if (text == "-Infinity") return -std::numeric_limits<Float>::infinity();
  return std::nullopt;
}

std::optional<Int128> DecimalOf(const Type& type, const Json& json) {
  std::optional<Int128> value;
  if (json.is_string()) {
    value = ParseDecimal(json.get_ref<const std::string&>(), type.scale());
  } else if (json.is_number()) {
    value = ParseDecimal(DumpJson(json), type.scale());
  }
  if (value && !FitsPrecision(*value, type.precision())) value.reset();
  return value;
}

/// Text of a date, time or timestamp, else the number that some engines write.
std::optional<std::int64_t> TemporalOf(const Type& type, const Json& json) {
  if (!json.is_string()) return IntegerOf<std::int64_t>(json);
  const std::string& text = json.get_ref<const std::string&>();
  switch (type.id()) {
    case TypeId::kTime:
      return ParseTime(text);
    case TypeId::kTimestamp:
      return ParseTimestamp(text, 6, ZoneText::kNone);
    case TypeId::kTimestampTz:
      return ParseTimestamp(text, 6, ZoneText::kOptional);
    case TypeId::kTimestampNs:
      return ParseTimestamp(text, 9, ZoneText::kNone);
    default:
      return ParseTimestamp(text, 9, ZoneText::kOptional);
  }
}

std::optional<std::int32_t> DateOf(const Json& json) {
  if (!json.is_string()) return IntegerOf<std::int32_t>(json);
  return ParseDate(json.get_ref<const std::string&>());
}

std::optional<Bytes> HexOf(const Type& type, const Json& json) {
  if (!json.is_string()) return std::nullopt;
  auto bytes = FromHex(json.get_ref<const std::string&>());
  if (!bytes) return std::nullopt;
  if (type.id() == TypeId::kFixed && bytes->size() != static_cast<std::size_t>(type.length())) {
    return std::nullopt;
  }
  return *std::move(bytes);
}

template <typename T>
Result<Literal> OrUnreadable(std::optional<T> value, const Type& type, const Json& json) {
  if (!value) return Unreadable(type, json);
  return Literal(*std::move(value));
}

/// As Java writes it: hexadecimal in capitals.
std::string CapitalHex(ByteView bytes) {
  std::string text = ToHex(bytes);
  for (char& c : text) {
    if (c >= 'a' && c <= 'f') c = static_cast<char>(c - 'a' + 'A');
  }
  return text;
}

std::string StringOf(const Type& type, const std::string& value) {
  if (type.id() == TypeId::kString) return value;
  if (type.id() == TypeId::kUuid && value.size() == 16) return UuidText(value);
  return CapitalHex(value);
}

Json LongToJson(const Type& type, std::int64_t value) {
  switch (type.id()) {
    case TypeId::kTime:
      return TimeText(FloorDiv(value, kMicrosPerSecond), FloorMod(value, kMicrosPerSecond), 6);
    case TypeId::kTimestamp:
      return TimestampText(value, 6);
    case TypeId::kTimestampTz:
      return TimestampText(value, 6) + "+00:00";
    case TypeId::kTimestampNs:
      return TimestampText(value, 9);
    case TypeId::kTimestampTzNs:
      return TimestampText(value, 9) + "+00:00";
    default:
      return value;
  }
}

/// The double of the same shortest decimal text: 1.1f is 1.1 in JSON, not 1.10000002384185791.
Json FloatToJson(const Type& type, float value) {
  if (!std::isfinite(value)) return ToHuman(type, value);
  const std::string text = fmt::format("{}", value);
  double widened = value;
  std::from_chars(text.data(), text.data() + text.size(), widened);
  return widened;
}

}  // namespace

Result<Literal> LiteralFromJson(const Type& type, const Json& json) {
  if (json.is_null()) return Literal();
  switch (type.id()) {
    case TypeId::kBoolean:
      return json.is_boolean() ? Result<Literal>(json.get<bool>()) : Unreadable(type, json);
    case TypeId::kInt:
      return OrUnreadable(IntegerOf<std::int32_t>(json), type, json);
    case TypeId::kLong:
      return OrUnreadable(IntegerOf<std::int64_t>(json), type, json);
    case TypeId::kFloat:
      return OrUnreadable(FloatOf<float>(json), type, json);
    case TypeId::kDouble:
      return OrUnreadable(FloatOf<double>(json), type, json);
    case TypeId::kDecimal:
      return OrUnreadable(DecimalOf(type, json), type, json);
    case TypeId::kDate:
      return OrUnreadable(DateOf(json), type, json);
    case TypeId::kTime:
    case TypeId::kTimestamp:
    case TypeId::kTimestampTz:
    case TypeId::kTimestampNs:
    case TypeId::kTimestampTzNs:
      return OrUnreadable(TemporalOf(type, json), type, json);
    case TypeId::kString:
      if (!json.is_string()) return Unreadable(type, json);
      return Literal(json.get<std::string>());
    case TypeId::kUuid:
      if (!json.is_string()) return Unreadable(type, json);
      return OrUnreadable(ParseUuid(json.get_ref<const std::string&>()), type, json);
    case TypeId::kFixed:
    case TypeId::kBinary:
    case TypeId::kGeometry:
    case TypeId::kGeography:
      return OrUnreadable(HexOf(type, json), type, json);
    default:
      return Unreadable(type, json);
  }
}

Json ToJson(const Type& type, const Literal& value) {
  return std::visit(
      [&type](const auto& held) -> Json {
        using T = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<T, std::monostate>) {
          return nullptr;
        } else if constexpr (std::is_same_v<T, std::int32_t>) {
          if (type.id() == TypeId::kDate) return DateText(held);
          return held;
        } else if constexpr (std::is_same_v<T, std::int64_t>) {
          return LongToJson(type, held);
        } else if constexpr (std::is_same_v<T, Int128>) {
          return DecimalText(held, type.scale());
        } else if constexpr (std::is_same_v<T, std::string>) {
          return StringOf(type, held);
        } else if constexpr (std::is_same_v<T, float>) {
          return FloatToJson(type, held);
        } else if constexpr (std::is_same_v<T, double>) {
          if (!std::isfinite(held)) return ToHuman(type, held);
          return held;
        } else {
          return held;
        }
      },
      value);
}

}  // namespace icewright
