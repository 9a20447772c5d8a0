#include "codec/json.h"

#include <fmt/format.h>

#include <limits>

namespace icewright {
namespace {

constexpr int kMaxDepth = 500;

/// The byte at which nesting exceeds the limit. The library's own recursion (dumping, comparing)
/// and ours over values are bounded by this.
std::optional<std::size_t> TooDeepAt(std::string_view text) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    switch (text[i]) {
      case '"':
        for (++i; i < text.size() && text[i] != '"'; ++i) {
          if (text[i] == '\\') ++i;
        }
        break;
      case '[':
      case '{':
        if (++depth > kMaxDepth) return i;
        break;
      case ']':
      case '}':
        --depth;
        break;
      default:
        break;
    }
  }
  return std::nullopt;
}

/// What a value is, for messages: `number 1.5`, `an array`.
std::string Describe(const Json& value) {
  if (value.is_array()) return "an array";
  if (value.is_object()) return "an object";
  std::string text = DumpJson(value);
  constexpr std::size_t kShown = 60;
  if (text.size() > kShown) text = text.substr(0, kShown) + "...";
  return value.is_null() ? text : fmt::format("{} {}", value.type_name(), text);
}

Error WrongType(std::string_view key, std::string_view wanted, const Json& value) {
  return Error(Code::kCorrupt,
               fmt::format("'{}' must be {} but is {}", key, wanted, Describe(value)));
}

/// The member, or null if it is absent or a JSON null.
Result<const Json*> Member(const Json& object, std::string_view key) {
  if (!object.is_object()) {
    return Error(Code::kCorrupt, fmt::format("an object with '{}' was expected instead of {}", key,
                                             Describe(object)));
  }
  const auto it = object.find(key);
  if (it == object.end() || it->is_null()) return static_cast<const Json*>(nullptr);
  return &*it;
}

template <typename T>
Result<T> Required(Result<std::optional<T>> found, std::string_view key) {
  IW_ASSIGN(std::optional<T> value, std::move(found));
  if (!value) return Error(Code::kCorrupt, fmt::format("'{}' is missing", key));
  return *std::move(value);
}

Result<const Json*> Required(Result<const Json*> found, std::string_view key) {
  IW_ASSIGN(const Json* value, std::move(found));
  if (value == nullptr) return Error(Code::kCorrupt, fmt::format("'{}' is missing", key));
  return value;
}

}  // namespace

Result<Json> ParseJson(std::string_view text) {
  if (const auto at = TooDeepAt(text)) {
    return Error(Code::kCorrupt,
                 fmt::format("JSON is nested deeper than {} levels at byte {}", kMaxDepth, *at));
  }
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& e) {
    std::string_view what = e.what();  // "[json.exception...] parse error at ...: reason"
    if (const auto at = what.find(": "); at != std::string_view::npos) what.remove_prefix(at + 2);
    return Error(Code::kCorrupt, fmt::format("JSON is malformed at byte {}: {}", e.byte, what));
  } catch (const Json::exception& e) {
    return Error(Code::kCorrupt, fmt::format("JSON cannot be read: {}", e.what()));
  }
}

std::string DumpJson(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

Result<std::optional<std::int64_t>> FindInt(const Json& object, std::string_view key) {
  IW_ASSIGN(const Json* value, Member(object, key));
  if (value == nullptr) return std::optional<std::int64_t>();
  if (!value->is_number_integer()) return WrongType(key, "an integer", *value);
  if (value->is_number_unsigned() &&
      value->get<std::uint64_t>() >
          static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    return WrongType(key, "an integer of 64 bits", *value);
  }
  return std::optional(value->get<std::int64_t>());
}

Result<std::optional<std::string>> FindString(const Json& object, std::string_view key) {
  IW_ASSIGN(const Json* value, Member(object, key));
  if (value == nullptr) return std::optional<std::string>();
  if (!value->is_string()) return WrongType(key, "a string", *value);
  return std::optional(value->get<std::string>());
}

Result<const Json*> FindArray(const Json& object, std::string_view key) {
  IW_ASSIGN(const Json* value, Member(object, key));
  if (value != nullptr && !value->is_array()) return WrongType(key, "an array", *value);
  return value;
}

Result<const Json*> FindObject(const Json& object, std::string_view key) {
  IW_ASSIGN(const Json* value, Member(object, key));
  if (value != nullptr && !value->is_object()) return WrongType(key, "an object", *value);
  return value;
}

Result<std::int64_t> GetInt(const Json& object, std::string_view key) {
  return Required(FindInt(object, key), key);
}

Result<std::string> GetString(const Json& object, std::string_view key) {
  return Required(FindString(object, key), key);
}

Result<bool> GetBool(const Json& object, std::string_view key) {
  IW_ASSIGN(const Json* value, Required(Member(object, key), key));
  if (!value->is_boolean()) return WrongType(key, "true or false", *value);
  return value->get<bool>();
}

Result<const Json*> GetArray(const Json& object, std::string_view key) {
  return Required(FindArray(object, key), key);
}

Result<const Json*> GetObject(const Json& object, std::string_view key) {
  return Required(FindObject(object, key), key);
}

}  // namespace icewright
