#pragma once

/// \file codec/json.h
/// JSON values with typed access that names what is missing. The one home of the JSON library.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "codec/json_fwd.h"

namespace icewright {

/// Errors: kCorrupt with the byte position; nesting is limited to 500 levels.
Result<Json> ParseJson(std::string_view text);

/// Compact UTF-8; bytes that are no UTF-8 are replaced, never thrown about.
std::string DumpJson(const Json& json, int indent = -1);

/// Members of an object by type. Errors: kCorrupt, naming the member and what it holds instead.
/// GetX: the member must be there. FindX: absent or null gives an unset optional.
Result<std::int64_t> GetInt(const Json& object, std::string_view key);
Result<std::string> GetString(const Json& object, std::string_view key);
Result<bool> GetBool(const Json& object, std::string_view key);
Result<const Json*> GetArray(const Json& object, std::string_view key);
Result<const Json*> GetObject(const Json& object, std::string_view key);
Result<std::optional<std::int64_t>> FindInt(const Json& object, std::string_view key);
Result<std::optional<std::string>> FindString(const Json& object, std::string_view key);
Result<const Json*> FindArray(const Json& object, std::string_view key);   ///< null if absent
Result<const Json*> FindObject(const Json& object, std::string_view key);  ///< null if absent

}  // namespace icewright
