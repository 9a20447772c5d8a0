#include "table/sort_order.h"

#include <fmt/format.h>

#include <utility>

#include "table/json_members.h"

namespace icewright {
namespace {

Result<SortField> FieldFromJson(const Json& json) {
  if (!json.is_object()) {
    return Error(Code::kCorrupt, fmt::format("expected an object, found {}", json.type_name()));
  }
  SortField field;
  IW_ASSIGN(field.source_ids, SourceIdsFromJson(json));
  IW_ASSIGN(const std::string transform, GetString(json, "transform"));
  field.transform = Transform::Parse(transform);
  IW_ASSIGN(const std::string direction, GetString(json, "direction"));
  if (direction == "desc" || direction == "DESC") {
    field.direction = SortField::Direction::kDesc;
  } else if (direction != "asc" && direction != "ASC") {
    return Error(Code::kCorrupt,
                 fmt::format("direction: \"{}\" is neither asc nor desc", direction));
  }
  IW_ASSIGN(const std::string nulls, GetString(json, "null-order"));
  if (nulls == "nulls-last") {
    field.nulls = SortField::Nulls::kLast;
  } else if (nulls != "nulls-first") {
    return Error(Code::kCorrupt,
                 fmt::format("null-order: \"{}\" is neither nulls-first nor nulls-last", nulls));
  }
  return field;
}

}  // namespace

Result<SortOrder> SortOrder::FromJson(const Json& json) {
  if (!json.is_object()) {
    return Error(Code::kCorrupt,
                 fmt::format("sort order: expected an object, found {}", json.type_name()));
  }
  SortOrder order;
  IW_ASSIGN(const std::int32_t id, GetInt32(json, "order-id"));
  order.id = SortOrderId{id};
  IW_ASSIGN(const Json* array, GetArray(json, "fields"));
  for (const Json& item : *array) {
    IW_ASSIGN(SortField field,
              FieldFromJson(item).Within(fmt::format("fields[{}]", order.fields.size())));
    order.fields.push_back(std::move(field));
  }
  return order;
}

Json SortOrder::ToJson() const {
  Json array = Json::array();
  for (const SortField& field : fields) {
    Json json = Json::object();
    AddMember(json, "transform", field.transform.text());
    AddSourceIds(json, field.source_ids);
    AddMember(json, "direction", field.direction == SortField::Direction::kAsc ? "asc" : "desc");
    AddMember(json, "null-order",
              field.nulls == SortField::Nulls::kFirst ? "nulls-first" : "nulls-last");
    array.push_back(std::move(json));
  }
  Json json = Json::object();
  AddMember(json, "order-id", Raw(id));
  AddMember(json, "fields", std::move(array));
  return json;
}

}  // namespace icewright
