#include "table/json_members.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace icewright {
namespace {

Result<std::int32_t> Narrow(std::int64_t value, std::string_view key) {
  if (value < std::numeric_limits<std::int32_t>::min() ||
      value > std::numeric_limits<std::int32_t>::max()) {
    return Error(Code::kCorrupt, fmt::format("{}: {} does not fit into 32 bits", key, value));
  }
  return static_cast<std::int32_t>(value);
}

}  // namespace

void AddMember(Json& object, std::string_view key, Json value) {
  object.get_ref<Json::object_t&>().emplace_back(std::string(key), std::move(value));
}

std::string UnknownMembers(const Json& object, std::initializer_list<std::string_view> known) {
  Json rest = Json::object();
  for (const auto& [key, value] : object.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) AddMember(rest, key, value);
  }
  return rest.empty() ? std::string() : DumpJson(rest);
}

void AddUnknownMembers(Json& object, const std::string& unknown) {
  if (unknown.empty()) return;
  const auto members = ParseJson(unknown);
  if (!members || !members->is_object()) return;
  for (const auto& [key, value] : members->items()) AddMember(object, key, value);
}

Result<std::int32_t> GetInt32(const Json& object, std::string_view key) {
  IW_ASSIGN(const std::int64_t value, GetInt(object, key));
  return Narrow(value, key);
}

Result<std::optional<std::int32_t>> FindInt32(const Json& object, std::string_view key) {
  IW_ASSIGN(const auto value, FindInt(object, key));
  if (!value) return std::optional<std::int32_t>();
  IW_ASSIGN(const std::int32_t narrow, Narrow(*value, key));
  return std::optional<std::int32_t>(narrow);
}

Result<std::vector<FieldId>> SourceIdsFromJson(const Json& field) {
  if (field.contains("source-ids")) {
    IW_ASSIGN(std::vector<FieldId> ids, FindIds<FieldId>(field, "source-ids"));
    if (!ids.empty()) return ids;
  }
  IW_ASSIGN(const std::int32_t id, GetInt32(field, "source-id"));
  return std::vector<FieldId>{FieldId{id}};
}

void AddSourceIds(Json& field, const std::vector<FieldId>& source_ids) {
  if (source_ids.size() == 1) {
    AddMember(field, "source-id", Raw(source_ids.front()));
  } else {
    AddMember(field, "source-ids", IdsToJson(source_ids));
  }
}

Result<std::vector<std::pair<std::string, std::string>>> FindStrings(const Json& object,
                                                                     std::string_view key) {
  std::vector<std::pair<std::string, std::string>> out;
  IW_ASSIGN(const Json* members, FindObject(object, key));
  if (members == nullptr) return out;
  for (const auto& [name, value] : members->items()) {
    if (value.is_string()) {
      out.emplace_back(name, value.get_ref<const std::string&>());
    } else if (value.is_number() || value.is_boolean()) {
      out.emplace_back(name, DumpJson(value));
    } else {
      return Error(Code::kCorrupt,
                   fmt::format("{}.{}: expected a string, found {}", key, name, value.type_name()));
    }
  }
  return out;
}

}  // namespace icewright
