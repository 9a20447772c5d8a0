#include "table/type.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>
#include <utility>

#include "table/field.h"

namespace icewright {
namespace {

constexpr int kMaxDecimalPrecision = 38;
constexpr std::string_view kDefaultCrs = "OGC:CRS84";

struct PlainName {
  TypeId id;
  std::string_view name;
};

/// Types whose whole text is one word.
constexpr std::array kPlainNames = {
    PlainName{TypeId::kUnknown, "unknown"},
    PlainName{TypeId::kBoolean, "boolean"},
    PlainName{TypeId::kInt, "int"},
    PlainName{TypeId::kLong, "long"},
    PlainName{TypeId::kFloat, "float"},
    PlainName{TypeId::kDouble, "double"},
    PlainName{TypeId::kDate, "date"},
    PlainName{TypeId::kTime, "time"},
    PlainName{TypeId::kTimestamp, "timestamp"},
    PlainName{TypeId::kTimestampTz, "timestamptz"},
    PlainName{TypeId::kTimestampNs, "timestamp_ns"},
    PlainName{TypeId::kTimestampTzNs, "timestamptz_ns"},
    PlainName{TypeId::kString, "string"},
    PlainName{TypeId::kUuid, "uuid"},
    PlainName{TypeId::kBinary, "binary"},
    PlainName{TypeId::kVariant, "variant"},
};

std::string_view Trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::string Lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

std::optional<int> ParseNumber(std::string_view text) {
  text = Trim(text);
  int value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

/// "name(inner)" or "name[inner]" -> inner.
std::optional<std::string_view> Inside(std::string_view text, std::string_view name, char open,
                                       char close) {
  if (text.size() < name.size() || Lower(text.substr(0, name.size())) != name) return std::nullopt;
  text = Trim(text.substr(name.size()));
  if (text.size() < 2 || text.front() != open || text.back() != close) return std::nullopt;
  return text.substr(1, text.size() - 2);
}

std::optional<Type> ParseDecimal(std::string_view inner) {
  const std::size_t comma = inner.find(',');
  if (comma == std::string_view::npos) return std::nullopt;
  const auto precision = ParseNumber(inner.substr(0, comma));
  const auto scale = ParseNumber(inner.substr(comma + 1));
  if (!precision || !scale || *precision < 1 || *precision > kMaxDecimalPrecision ||
      *scale > kMaxDecimalPrecision) {
    return std::nullopt;
  }
  return Type::Decimal(*precision, *scale);
}

std::optional<Type> ParseGeography(std::string_view inner) {
  const std::size_t comma = inner.find(',');
  std::string crs(Trim(inner.substr(0, comma)));
  if (comma == std::string_view::npos) return Type::Geography(std::move(crs));
  const std::string_view algorithm = Trim(inner.substr(comma + 1));
  if (algorithm.empty()) return std::nullopt;
  return Type::Geography(std::move(crs), std::string(algorithm));
}

/// What stands between the parentheses of a geometry or geography, without what is the default
/// anyway: "geometry" and "geometry(OGC:CRS84)" are one type, though each is written as it was
/// read.
std::string_view WithoutDefaults(std::string_view text) {
  const std::size_t comma = text.find(',');
  if (comma != std::string_view::npos && Lower(Trim(text.substr(comma + 1))) == "spherical") {
    text = Trim(text.substr(0, comma));
  }
  return Lower(text) == Lower(kDefaultCrs) ? std::string_view() : text;
}

std::string FieldText(const Field& field) {
  return fmt::format("{}: {}: {} {}", Raw(field.id), field.name,
                     field.required ? "required" : "optional", field.type.ToString());
}

bool SameFields(const std::vector<Field>& a, const std::vector<Field>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Field& x, const Field& y) {
    return x.id == y.id && x.required == y.required && x.name == y.name && x.type == y.type;
  });
}

}  // namespace

Type Type::Of(TypeId id) {
  Type type;
  type.id_ = id;
  return type;
}

Type Type::Decimal(int precision, int scale) {
  Type type = Of(TypeId::kDecimal);
  type.a_ = precision;
  type.b_ = scale;
  return type;
}

Type Type::Fixed(int length) {
  Type type = Of(TypeId::kFixed);
  type.a_ = length;
  return type;
}

Type Type::Geometry(std::string crs) {
  Type type = Of(TypeId::kGeometry);
  type.text_ = std::move(crs);
  return type;
}

Type Type::Geography(std::string crs, std::string algorithm) {
  Type type = Of(TypeId::kGeography);
  type.text_ = std::move(crs);
  if (!algorithm.empty()) {
    type.text_ = fmt::format("{}, {}", type.text_.empty() ? kDefaultCrs : type.text_, algorithm);
  }
  return type;
}

Type Type::Struct(std::vector<Field> fields) {
  Type type = Of(TypeId::kStruct);
  type.fields_ = std::make_shared<const std::vector<Field>>(std::move(fields));
  return type;
}

Type Type::List(Field element) {
  Type type = Of(TypeId::kList);
  type.fields_ = std::make_shared<const std::vector<Field>>(1, std::move(element));
  return type;
}

Type Type::Map(Field key, Field value) {
  Type type = Of(TypeId::kMap);
  std::vector<Field> fields;
  fields.reserve(2);
  fields.push_back(std::move(key));
  fields.push_back(std::move(value));
  type.fields_ = std::make_shared<const std::vector<Field>>(std::move(fields));
  return type;
}

Result<Type> Type::Parse(std::string_view text) {
  const std::string_view trimmed = Trim(text);
  const std::string lower = Lower(trimmed);
  for (const PlainName& plain : kPlainNames) {
    if (plain.name == lower) return Of(plain.id);
  }
  std::optional<Type> type;
  if (lower == "geometry") {
    type = Geometry();
  } else if (lower == "geography") {
    type = Geography();
  } else if (const auto decimal = Inside(trimmed, "decimal", '(', ')')) {
    type = ParseDecimal(*decimal);
  } else if (const auto fixed = Inside(trimmed, "fixed", '[', ']')) {
    if (const auto length = ParseNumber(*fixed)) type = Fixed(*length);
  } else if (const auto crs = Inside(trimmed, "geometry", '(', ')')) {
    type = Geometry(std::string(Trim(*crs)));
  } else if (const auto geography = Inside(trimmed, "geography", '(', ')')) {
    type = ParseGeography(*geography);
  }
  if (type) return *std::move(type);
  return Error(Code::kUnsupported, fmt::format("type \"{}\" is not known", text));
}

const std::vector<Field>& Type::fields() const {
  static const std::vector<Field> none;
  return fields_ == nullptr ? none : *fields_;
}

std::string Type::ToString() const {
  switch (id_) {
    case TypeId::kDecimal:
      return fmt::format("decimal({}, {})", a_, b_);
    case TypeId::kFixed:
      return fmt::format("fixed[{}]", a_);
    case TypeId::kGeometry:
      return text_.empty() ? "geometry" : fmt::format("geometry({})", text_);
    case TypeId::kGeography:
      return text_.empty() ? "geography" : fmt::format("geography({})", text_);
    case TypeId::kStruct: {
      std::string out = "struct<";
      for (const Field& field : fields()) {
        if (out.size() > 7) out += ", ";
        out += FieldText(field);
      }
      return out + ">";
    }
    case TypeId::kList:
      return fmt::format("list<{}>", fields()[0].type.ToString());
    case TypeId::kMap:
      return fmt::format("map<{}, {}>", fields()[0].type.ToString(), fields()[1].type.ToString());
    default:
      break;
  }
  for (const PlainName& plain : kPlainNames) {
    if (plain.id == id_) return std::string(plain.name);
  }
  return "unknown";
}

bool operator==(const Type& a, const Type& b) {
  if (a.id_ != b.id_ || a.a_ != b.a_ || a.b_ != b.b_ ||
      WithoutDefaults(a.text_) != WithoutDefaults(b.text_)) {
    return false;
  }
  return a.fields_ == b.fields_ || SameFields(a.fields(), b.fields());
}

bool IsPromotion(const Type& from, const Type& to) {
  if (from == to) return true;
  switch (from.id()) {
    case TypeId::kUnknown:
      return true;
    case TypeId::kInt:
      return to.id() == TypeId::kLong;
    case TypeId::kFloat:
      return to.id() == TypeId::kDouble;
    case TypeId::kDecimal:
      return to.id() == TypeId::kDecimal && to.scale() == from.scale() &&
             to.precision() >= from.precision();
    case TypeId::kDate:
      return to.id() == TypeId::kTimestamp || to.id() == TypeId::kTimestampNs;
    default:
      return false;
  }
}

}  // namespace icewright
