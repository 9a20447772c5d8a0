#include "table/transform.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <optional>

#include "table/calendar.h"
#include "table/murmur3.h"

namespace icewright {
namespace {

constexpr int kEpochYear = 1970;

/// "BUCKET[016]" -> bucket, 16: Java reads the names in any case, too.
std::optional<int> ParameterOf(std::string_view text, std::string_view name) {
  if (!text.starts_with(name) || !text.ends_with(']')) return std::nullopt;
  text = text.substr(name.size(), text.size() - name.size() - 1);
  if (text.empty() || text.front() != '[') return std::nullopt;
  text.remove_prefix(1);
  int value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || rest != end || error != std::errc() || value <= 0) return std::nullopt;
  return value;
}

bool IsTimestamp(TypeId id) {
  return id == TypeId::kTimestamp || id == TypeId::kTimestampTz || id == TypeId::kTimestampNs ||
         id == TypeId::kTimestampTzNs;
}

bool IsNanos(TypeId id) { return id == TypeId::kTimestampNs || id == TypeId::kTimestampTzNs; }

bool CanBucket(TypeId id) {
  switch (id) {
    case TypeId::kInt:
    case TypeId::kLong:
    case TypeId::kDecimal:
    case TypeId::kDate:
    case TypeId::kTime:
    case TypeId::kString:
    case TypeId::kUuid:
    case TypeId::kFixed:
    case TypeId::kBinary:
      return true;
    default:
      return IsTimestamp(id);
  }
}

bool CanTruncate(TypeId id) {
  return id == TypeId::kInt || id == TypeId::kLong || id == TypeId::kDecimal ||
         id == TypeId::kString || id == TypeId::kBinary;
}

std::int32_t HashLong(std::int64_t value) {
  Bytes bytes;
  AppendLittle(bytes, value);
  return Murmur3(bytes);
}

/// Unset for a value that is not of the type.
std::optional<std::int32_t> BucketHash(const Type& source, const Literal& value) {
  if (const auto* v = std::get_if<std::int32_t>(&value)) return HashLong(*v);
  if (const auto* v = std::get_if<std::int64_t>(&value)) {
    // Nanoseconds hash as microseconds, so that a widened column keeps its buckets.
    return HashLong(IsNanos(source.id()) ? FloorDiv(*v, kNanosPerMicro) : *v);
  }
  if (std::holds_alternative<Int128>(value)) return Murmur3(ToBytes(source, value));
  if (const auto* v = std::get_if<std::string>(&value)) return Murmur3(*v);
  return std::nullopt;
}

template <typename Int>
Int TruncateInteger(Int value, int width) {
  // Below the smallest value this wraps around, as Java does.
  const Int128 rest = static_cast<Int128>(value) % width;
  return static_cast<Int>(static_cast<Int128>(value) - (rest < 0 ? rest + width : rest));
}

std::string TruncateText(const std::string& text, int width) {
  std::size_t end = 0;
  for (int count = 0; end < text.size(); ++end) {
    const bool continues = (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U;
    if (!continues && ++count > width) break;
  }
  return text.substr(0, end);
}

std::optional<Literal> TruncateValue(const Type& source, const Literal& value, int width) {
  if (const auto* v = std::get_if<std::int32_t>(&value)) return TruncateInteger(*v, width);
  if (const auto* v = std::get_if<std::int64_t>(&value)) return TruncateInteger(*v, width);
  if (const auto* v = std::get_if<Int128>(&value)) return TruncateInteger(*v, width);
  if (const auto* v = std::get_if<std::string>(&value)) {
    if (source.id() == TypeId::kString) return TruncateText(*v, width);
    return v->substr(0, static_cast<std::size_t>(width));
  }
  return std::nullopt;
}

std::int32_t PartOfDate(Transform::Kind kind, std::int64_t days) {
  if (kind == Transform::Kind::kDay) return static_cast<std::int32_t>(days);
  const CivilDate date = CivilFromDays(days);
  const std::int64_t years = date.year - kEpochYear;
  return static_cast<std::int32_t>(kind == Transform::Kind::kYear ? years
                                                                  : years * 12 + date.month - 1);
}

std::optional<Literal> TimePart(Transform::Kind kind, const Type& source, const Literal& value) {
  if (const auto* days = std::get_if<std::int32_t>(&value)) return PartOfDate(kind, *days);
  const auto* time = std::get_if<std::int64_t>(&value);
  if (time == nullptr) return std::nullopt;
  const std::int64_t micros = IsNanos(source.id()) ? FloorDiv(*time, kNanosPerMicro) : *time;
  if (kind == Transform::Kind::kHour) {
    return static_cast<std::int32_t>(FloorDiv(micros, kMicrosPerHour));
  }
  return PartOfDate(kind, FloorDiv(micros, kMicrosPerDay));
}

std::string TimePartText(Transform::Kind kind, std::int32_t value) {
  switch (kind) {
    case Transform::Kind::kYear:
      return fmt::format("{:04}", std::int64_t{value} + kEpochYear);
    case Transform::Kind::kMonth:
      return fmt::format("{:04}-{:02}", kEpochYear + FloorDiv(value, 12), 1 + FloorMod(value, 12));
    case Transform::Kind::kDay:
      return PartitionDayText(value);
    default:
      return fmt::format("{}-{:02}", PartitionDayText(FloorDiv(value, 24)), FloorMod(value, 24));
  }
}

bool IsTimePart(Transform::Kind kind) {
  return kind >= Transform::Kind::kYear && kind <= Transform::Kind::kHour;
}

}  // namespace

Transform Transform::Of(Kind kind) {
  static constexpr std::string_view kNames[] = {"identity", "bucket", "truncate", "year",   "month",
                                                "day",      "hour",   "void",     "unknown"};
  Transform transform;
  transform.kind_ = kind;
  transform.text_ = kNames[static_cast<std::size_t>(kind)];
  return transform;
}

Transform Transform::Bucket(int n) {
  Transform transform = Of(Kind::kBucket);
  transform.parameter_ = n;
  transform.text_ = fmt::format("bucket[{}]", n);
  return transform;
}

Transform Transform::Truncate(int width) {
  Transform transform = Of(Kind::kTruncate);
  transform.parameter_ = width;
  transform.text_ = fmt::format("truncate[{}]", width);
  return transform;
}

Transform Transform::Parse(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  if (const auto n = ParameterOf(lower, "bucket")) return Bucket(*n);
  if (const auto width = ParameterOf(lower, "truncate")) return Truncate(*width);
  for (const Kind kind :
       {Kind::kIdentity, Kind::kYear, Kind::kMonth, Kind::kDay, Kind::kHour, Kind::kVoid}) {
    if (Transform transform = Of(kind); transform.text() == lower) return transform;
  }
  Transform transform = Of(Kind::kUnknown);
  transform.text_ = text;
  return transform;
}

bool Transform::preserves_order() const {
  return kind_ == Kind::kIdentity || kind_ == Kind::kTruncate || IsTimePart(kind_);
}

Type Transform::ResultType(const Type& source) const {
  switch (kind_) {
    case Kind::kBucket:
    case Kind::kYear:
    case Kind::kMonth:
    case Kind::kHour:
      return Type::Of(TypeId::kInt);
    case Kind::kDay:
      return Type::Of(TypeId::kDate);
    case Kind::kUnknown:
      return Type::Of(TypeId::kString);
    default:
      return source;
  }
}

bool Transform::CanTransform(const Type& source) const {
  const TypeId id = source.id();
  switch (kind_) {
    case Kind::kIdentity:
      return source.is_primitive() && id != TypeId::kGeometry && id != TypeId::kGeography;
    case Kind::kBucket:
      return CanBucket(id);
    case Kind::kTruncate:
      return CanTruncate(id);
    case Kind::kYear:
    case Kind::kMonth:
    case Kind::kDay:
      return id == TypeId::kDate || IsTimestamp(id);
    case Kind::kHour:
      return IsTimestamp(id);
    case Kind::kVoid:
    case Kind::kUnknown:
      return true;
  }
  return false;
}

Result<Literal> Transform::Apply(const Type& source, const Literal& value) const {
  if (kind_ == Kind::kUnknown) {
    return Error(Code::kUnsupported, fmt::format("unknown transform '{}'", text_));
  }
  if (!CanTransform(source)) {
    return Error(Code::kInvalidArgument,
                 fmt::format("transform {} does not take type {}", text_, source.ToString()));
  }
  if (IsNull(value) || kind_ == Kind::kVoid) return Literal();
  std::optional<Literal> result;
  if (kind_ == Kind::kIdentity) {
    result = value;
  } else if (kind_ == Kind::kTruncate) {
    result = TruncateValue(source, value, parameter_);
  } else if (kind_ == Kind::kBucket) {
    if (const auto hash = BucketHash(source, value)) {
      result = (*hash & std::numeric_limits<std::int32_t>::max()) % parameter_;
    }
  } else {
    result = TimePart(kind_, source, value);
  }
  if (!result) {
    return Error(Code::kInvalidArgument,
                 fmt::format("transform {}: the value is no {}", text_, source.ToString()));
  }
  return *std::move(result);
}

std::string Transform::ToHuman(const Type& source, const Literal& result) const {
  const auto* part = std::get_if<std::int32_t>(&result);
  if (IsTimePart(kind_) && part != nullptr) return TimePartText(kind_, *part);
  return icewright::ToHuman(ResultType(source), result);
}

}  // namespace icewright
