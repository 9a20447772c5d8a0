// Schema and Type to and from JSON.

#include <fmt/format.h>

#include <unordered_set>
#include <utility>

#include "table/json_members.h"
#include "table/literal.h"
#include "table/schema.h"

namespace icewright {
namespace {

Result<std::vector<Field>> FieldsFromJson(const Json& object);

Error NoObject(std::string_view what, const Json& json) {
  return Error(Code::kCorrupt,
               fmt::format("{}: expected an object, found {}", what, json.type_name()));
}

/// A default of a primitive column; those of nested types stay among the unknown members.
Result<std::optional<Literal>> DefaultFromJson(const Type& type, const Json& json,
                                               std::string_view key) {
  const auto it = json.find(key);
  if (it == json.end() || it->is_null() || !type.is_primitive()) return std::optional<Literal>();
  IW_ASSIGN(Literal value, LiteralFromJson(type, *it).Within(key));
  return std::optional<Literal>(std::move(value));
}

Result<Field> FieldFromJson(const Json& json) {
  if (!json.is_object()) return NoObject("field", json);
  Field field;
  IW_ASSIGN(const std::int32_t id, GetInt32(json, "id"));
  field.id = FieldId{id};
  IW_ASSIGN(field.name, GetString(json, "name"));
  IW_ASSIGN(field.required, GetBool(json, "required"));
  const auto type = json.find("type");
  if (type == json.end()) return Error(Code::kCorrupt, "type: missing");
  IW_ASSIGN(field.type, TypeFromJson(*type));
  IW_ASSIGN(field.doc, FindString(json, "doc"));
  IW_ASSIGN(field.initial_default, DefaultFromJson(field.type, json, "initial-default"));
  IW_ASSIGN(field.write_default, DefaultFromJson(field.type, json, "write-default"));
  if (field.type.is_primitive()) {
    field.unknown_fields = UnknownMembers(
        json, {"id", "name", "required", "type", "doc", "initial-default", "write-default"});
  } else {
    field.unknown_fields = UnknownMembers(json, {"id", "name", "required", "type", "doc"});
  }
  return field;
}

std::string Step(const Json& field, std::size_t position) {
  const auto name = field.is_object() ? field.find("name") : field.end();
  if (field.is_object() && name != field.end() && name->is_string()) {
    return fmt::format("field \"{}\"", name->get_ref<const std::string&>());
  }
  return fmt::format("fields[{}]", position);
}

Result<std::vector<Field>> FieldsFromJson(const Json& object) {
  IW_ASSIGN(const Json* array, GetArray(object, "fields"));
  std::vector<Field> fields;
  fields.reserve(array->size());
  for (const Json& item : *array) {
    auto field = FieldFromJson(item);
    if (!field) return field.error().Within(Step(item, fields.size()));
    fields.push_back(std::move(*field));
  }
  return fields;
}

/// Element, key or value: its id, type and requiredness are members of the list or map.
Result<Field> ChildFromJson(const Json& object, const std::string& name) {
  Field field;
  IW_ASSIGN(const std::int32_t id, GetInt32(object, name + "-id"));
  field.id = FieldId{id};
  field.name = name;
  field.required = true;
  if (name != "key") {
    IW_ASSIGN(field.required, GetBool(object, name + "-required"));
  }
  const auto type = object.find(name);
  if (type == object.end()) return Error(Code::kCorrupt, name + ": missing");
  IW_ASSIGN(field.type, TypeFromJson(*type).Within(name));
  return field;
}

Status CheckUniqueIds(const std::vector<Field>& fields, std::unordered_set<std::int32_t>& seen) {
  for (const Field& field : fields) {
    if (!seen.insert(Raw(field.id)).second) {
      return Error(Code::kCorrupt,
                   fmt::format("field id {} occurs twice, the second time for \"{}\"",
                               Raw(field.id), field.name));
    }
    IW_TRY(CheckUniqueIds(field.type.fields(), seen));
  }
  return {};
}

Json FieldToJson(const Field& field) {
  Json json = Json::object();
  AddMember(json, "id", Raw(field.id));
  AddMember(json, "name", field.name);
  AddMember(json, "required", field.required);
  AddMember(json, "type", ToJson(field.type));
  AddMember(json, "doc", field.doc);
  if (field.initial_default) {
    AddMember(json, "initial-default", ToJson(field.type, *field.initial_default));
  }
  if (field.write_default) {
    AddMember(json, "write-default", ToJson(field.type, *field.write_default));
  }
  AddUnknownMembers(json, field.unknown_fields);
  return json;
}

Json FieldsToJson(const std::vector<Field>& fields) {
  Json array = Json::array();
  for (const Field& field : fields) array.push_back(FieldToJson(field));
  return array;
}

}  // namespace

Result<Type> TypeFromJson(const Json& json) {
  if (json.is_string()) return Type::Parse(json.get_ref<const std::string&>());
  if (!json.is_object()) {
    return Error(Code::kCorrupt,
                 fmt::format("type: expected a string or an object, found {}", json.type_name()));
  }
  IW_ASSIGN(const std::string kind, GetString(json, "type"));
  if (kind == "struct") {
    IW_ASSIGN(std::vector<Field> fields, FieldsFromJson(json));
    return Type::Struct(std::move(fields));
  }
  if (kind == "list") {
    IW_ASSIGN(Field element, ChildFromJson(json, "element"));
    return Type::List(std::move(element));
  }
  if (kind == "map") {
    IW_ASSIGN(Field key, ChildFromJson(json, "key"));
    IW_ASSIGN(Field value, ChildFromJson(json, "value"));
    return Type::Map(std::move(key), std::move(value));
  }
  return Error(Code::kUnsupported, fmt::format("type \"{}\" is not known", kind));
}

Json ToJson(const Type& type) {
  Json json = Json::object();
  switch (type.id()) {
    case TypeId::kStruct:
      AddMember(json, "type", "struct");
      AddMember(json, "fields", FieldsToJson(type.fields()));
      return json;
    case TypeId::kList: {
      const Field& element = type.fields()[0];
      AddMember(json, "type", "list");
      AddMember(json, "element-id", Raw(element.id));
      AddMember(json, "element", ToJson(element.type));
      AddMember(json, "element-required", element.required);
      return json;
    }
    case TypeId::kMap: {
      const Field& key = type.fields()[0];
      const Field& value = type.fields()[1];
      AddMember(json, "type", "map");
      AddMember(json, "key-id", Raw(key.id));
      AddMember(json, "key", ToJson(key.type));
      AddMember(json, "value-id", Raw(value.id));
      AddMember(json, "value", ToJson(value.type));
      AddMember(json, "value-required", value.required);
      return json;
    }
    default:
      return Json(type.ToString());
  }
}

Result<Schema> Schema::FromJson(const Json& json) {
  if (!json.is_object()) return NoObject("schema", json);
  IW_ASSIGN(std::vector<Field> fields, FieldsFromJson(json));
  std::unordered_set<std::int32_t> seen;
  IW_TRY(CheckUniqueIds(fields, seen));
  IW_ASSIGN(const std::optional<std::int32_t> id, FindInt32(json, "schema-id"));
  IW_ASSIGN(std::vector<FieldId> identifiers, FindIds<FieldId>(json, "identifier-field-ids"));
  return Schema(std::move(fields), id ? std::optional(SchemaId{*id}) : std::nullopt,
                std::move(identifiers),
                UnknownMembers(json, {"type", "schema-id", "identifier-field-ids", "fields"}));
}

Json Schema::ToJson() const {
  Json json = Json::object();
  AddMember(json, "type", "struct");
  if (id()) AddMember(json, "schema-id", Raw(*id()));
  if (!identifier_field_ids().empty()) {
    AddMember(json, "identifier-field-ids", IdsToJson(identifier_field_ids()));
  }
  AddMember(json, "fields", FieldsToJson(fields()));
  AddUnknownMembers(json, unknown_fields());
  return json;
}

}  // namespace icewright
