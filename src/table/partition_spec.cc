#include "table/partition_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "table/json_members.h"

namespace icewright {
namespace {

constexpr std::int32_t kFirstPartitionFieldId = 1000;

/// Java's URLEncoder with UTF-8.
void AppendFormEncoded(std::string& out, std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.' || c == '*';
    if (plain) {
      out += c;
    } else if (c == ' ') {
      out += '+';
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += '%';
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
}

/// Result type of a transform whose source column has been dropped from the schema.
Type TypeWithoutSource(const Transform& transform) {
  switch (transform.kind()) {
    case Transform::Kind::kBucket:
    case Transform::Kind::kYear:
    case Transform::Kind::kMonth:
    case Transform::Kind::kHour:
      return Type::Of(TypeId::kInt);
    case Transform::Kind::kDay:
      return Type::Of(TypeId::kDate);
    default:
      return Type();
  }
}

Result<PartitionField> FieldFromJson(const Json& json) {
  if (!json.is_object()) {
    return Error(Code::kCorrupt, fmt::format("expected an object, found {}", json.type_name()));
  }
  PartitionField field;
  IW_ASSIGN(field.source_ids, SourceIdsFromJson(json));
  IW_ASSIGN(field.name, GetString(json, "name"));
  IW_ASSIGN(const std::string transform, GetString(json, "transform"));
  field.transform = Transform::Parse(transform);
  IW_ASSIGN(const std::optional<std::int32_t> id, FindInt32(json, "field-id"));
  field.field_id = FieldId{id.value_or(0)};
  return field;
}

}  // namespace

bool PartitionSpec::is_unpartitioned() const {
  return std::all_of(fields.begin(), fields.end(), [](const PartitionField& field) {
    return field.transform.kind() == Transform::Kind::kVoid;
  });
}

Type PartitionSpec::PartitionType(const Schema& schema) const {
  std::vector<Field> out;
  out.reserve(fields.size());
  for (const PartitionField& field : fields) {
    const Field* source = schema.Find(field.source_id());
    Field column;
    column.id = field.field_id;
    column.name = field.name;
    column.type = source == nullptr ? TypeWithoutSource(field.transform)
                                    : field.transform.ResultType(source->type);
    out.push_back(std::move(column));
  }
  return Type::Struct(std::move(out));
}

std::string PartitionSpec::PathOf(const Schema& schema, const StructValue& partition) const {
  std::string path;
  if (is_unpartitioned()) return path;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const PartitionField& field = fields[i];
    const Field* source = schema.Find(field.source_id());
    const Literal value = i < partition.size() ? partition[i] : Literal();
    if (i > 0) path += '/';
    AppendFormEncoded(path, field.name);
    path += '=';
    AppendFormEncoded(path,
                      field.transform.ToHuman(source == nullptr ? Type() : source->type, value));
  }
  return path;
}

Result<PartitionSpec> PartitionSpec::FromJson(const Json& json) {
  PartitionSpec spec;
  if (!json.is_object()) {
    return Error(Code::kCorrupt,
                 fmt::format("partition spec: expected an object, found {}", json.type_name()));
  }
  IW_ASSIGN(const std::int32_t id, GetInt32(json, "spec-id"));
  spec.id = SpecId{id};
  IW_ASSIGN(const Json* array, GetArray(json, "fields"));
  IW_ASSIGN(spec.fields, FieldsFromJson(*array));
  return spec;
}

Json PartitionSpec::ToJson() const {
  Json json = Json::object();
  AddMember(json, "spec-id", Raw(id));
  AddMember(json, "fields", FieldsToJson());
  return json;
}

Result<std::vector<PartitionField>> PartitionSpec::FieldsFromJson(const Json& json) {
  if (!json.is_array()) {
    return Error(Code::kCorrupt,
                 fmt::format("partition fields: expected an array, found {}", json.type_name()));
  }
  std::vector<PartitionField> fields;
  std::size_t with_id = 0;
  for (const Json& item : json) {
    IW_ASSIGN(PartitionField field,
              FieldFromJson(item).Within(fmt::format("fields[{}]", fields.size())));
    if (field.field_id != FieldId{0}) ++with_id;
    fields.push_back(std::move(field));
  }
  if (with_id == fields.size()) return fields;
  if (with_id != 0) {
    return Error(Code::kCorrupt, "partition fields: some have a field-id and some have none");
  }
  // v1 files may lack the ids; they count from 1000 then.
  for (std::size_t i = 0; i < fields.size(); ++i) {
    fields[i].field_id = FieldId{kFirstPartitionFieldId + static_cast<std::int32_t>(i)};
  }
  return fields;
}

Json PartitionSpec::FieldsToJson() const {
  Json array = Json::array();
  for (const PartitionField& field : fields) {
    Json json = Json::object();
    AddMember(json, "name", field.name);
    AddMember(json, "transform", field.transform.text());
    AddSourceIds(json, field.source_ids);
    AddMember(json, "field-id", Raw(field.field_id));
    array.push_back(std::move(json));
  }
  return array;
}

}  // namespace icewright
