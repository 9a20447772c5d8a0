#include "config/fields.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>

#include "base/text.h"
#include "config/units.h"

namespace icewright {
namespace {

template <typename T>
Status ParseNumber(std::string_view text, T& out) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || text.empty()) {
    return Error(Code::kInvalidArgument, fmt::format("'{}' is no number that fits", text));
  }
  out = value;
  return {};
}

}  // namespace

Status ParseField(std::string_view text, FieldUnit, bool& out) {
  const std::string word = ToLower(text);
  if (word == "true" || word == "false") {
    out = word == "true";
    return {};
  }
  return Error(Code::kInvalidArgument, fmt::format("'{}' is neither true nor false", text));
}

Status ParseField(std::string_view text, FieldUnit, int& out) { return ParseNumber(text, out); }

Status ParseField(std::string_view text, FieldUnit unit, std::int64_t& out) {
  switch (unit) {
    case FieldUnit::kBytes: {
      // A negative size is a number out of range, which the task reports with its bound.
      if (text.starts_with('-')) return ParseNumber(text, out);
      IW_ASSIGN(out, ParseByteSize(text));
      return {};
    }
    case FieldUnit::kDuration: {
      IW_ASSIGN(const Milliseconds duration, ParseDuration(text));
      out = duration.count();
      return {};
    }
    case FieldUnit::kNone:
      break;
  }
  return ParseNumber(text, out);
}

Status ParseField(std::string_view text, FieldUnit, double& out) { return ParseNumber(text, out); }

Status ParseField(std::string_view text, FieldUnit, std::string& out) {
  out = text;
  return {};
}

Error UnknownKey(std::string_view key, std::span<const std::string_view> known) {
  return {Code::kInvalidArgument,
          fmt::format("no option named '{}'{}", key, DidYouMean(key, known))};
}

}  // namespace icewright
