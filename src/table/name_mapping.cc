#include "table/name_mapping.h"

#include <fmt/format.h>

#include <unordered_set>
#include <utility>

#include "table/json_members.h"

namespace icewright {
namespace {

Result<std::vector<MappedField>> LevelFromJson(const Json& array);

Result<MappedField> FieldFromJson(const Json& json) {
  if (!json.is_object()) {
    return Error(Code::kCorrupt, fmt::format("expected an object, found {}", json.type_name()));
  }
  MappedField field;
  IW_ASSIGN(const auto id, FindInt32(json, "field-id"));
  if (id) field.id = FieldId{*id};
  IW_ASSIGN(const Json* names, GetArray(json, "names"));
  for (const Json& name : *names) {
    if (!name.is_string()) return Error(Code::kCorrupt, "names: an item is no string");
    field.names.push_back(name.get<std::string>());
  }
  IW_ASSIGN(const Json* fields, FindArray(json, "fields"));
  if (fields != nullptr) {
    IW_ASSIGN(field.fields, LevelFromJson(*fields));
  }
  return field;
}

Result<std::vector<MappedField>> LevelFromJson(const Json& array) {
  std::vector<MappedField> level;
  std::unordered_set<std::string> names;
  for (const Json& item : array) {
    IW_ASSIGN(MappedField field,
              FieldFromJson(item).Within(fmt::format("fields[{}]", level.size())));
    for (const std::string& name : field.names) {
      if (!names.insert(name).second) {
        return Error(Code::kCorrupt, fmt::format("name \"{}\" is mapped twice", name));
      }
    }
    level.push_back(std::move(field));
  }
  return level;
}

Result<NameMapping> MappingFromJson(std::string_view text) {
  IW_ASSIGN(const Json json, ParseJson(text));
  if (!json.is_array()) {
    return Error(Code::kCorrupt, fmt::format("expected an array, found {}", json.type_name()));
  }
  NameMapping mapping;
  IW_ASSIGN(mapping.fields, LevelFromJson(json));
  return mapping;
}

}  // namespace

const MappedField* NameMapping::Find(const std::vector<MappedField>& level, std::string_view name) {
  for (const MappedField& field : level) {
    for (const std::string& known : field.names) {
      if (known == name) return &field;
    }
  }
  return nullptr;
}

Result<NameMapping> NameMapping::Parse(std::string_view json) {
  return MappingFromJson(json).Within("name mapping");
}

}  // namespace icewright
