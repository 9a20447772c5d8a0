#pragma once

/// \file table/json_members.h
/// Small steps that all JSON forms of this module share.

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "codec/json.h"

namespace icewright {

/// Appends a member. Precondition: `object` is an object without that key (not searched, so that a
/// map of n entries costs n steps).
void AddMember(Json& object, std::string_view key, Json value);

/// Appends the member if there is a value.
template <typename T>
void AddMember(Json& object, std::string_view key, const std::optional<T>& value) {
  if (value) AddMember(object, key, Json(*value));
}

/// The members of `object` that are not among `known`, as a JSON object; empty if there are none.
std::string UnknownMembers(const Json& object, std::initializer_list<std::string_view> known);

/// Appends the members that UnknownMembers() kept.
void AddUnknownMembers(Json& object, const std::string& unknown);

/// As GetInt and FindInt; kCorrupt outside of 32 bits.
Result<std::int32_t> GetInt32(const Json& object, std::string_view key);
Result<std::optional<std::int32_t>> FindInt32(const Json& object, std::string_view key);

/// Array of ids. Absent: none. Errors: kCorrupt.
template <StrongId T>
Result<std::vector<T>> FindIds(const Json& object, std::string_view key) {
  std::vector<T> ids;
  IW_ASSIGN(const Json* array, FindArray(object, key));
  if (array == nullptr) return ids;
  for (const Json& item : *array) {
    const std::int64_t wide = item.is_number_integer() ? item.get<std::int64_t>() : 0;
    const auto id = static_cast<std::underlying_type_t<T>>(wide);
    if (!item.is_number_integer() || id != wide) {
      return Error(Code::kCorrupt, std::string(key) + ": an item is no integer of this size");
    }
    ids.push_back(T{id});
  }
  return ids;
}

template <StrongId T>
Json IdsToJson(const std::vector<T>& ids) {
  Json array = Json::array();
  for (const T id : ids) array.push_back(Raw(id));
  return array;
}

/// Source columns of a partition or sort field: "source-id", or "source-ids" of transforms with
/// more than one argument. At least one. Errors: kCorrupt.
Result<std::vector<FieldId>> SourceIdsFromJson(const Json& field);
void AddSourceIds(Json& field, const std::vector<FieldId>& source_ids);

/// Object of strings, in file order; numbers and booleans are taken as their text. Absent: none.
Result<std::vector<std::pair<std::string, std::string>>> FindStrings(const Json& object,
                                                                     std::string_view key);

}  // namespace icewright
