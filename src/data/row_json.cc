#include "data/row_json.h"

#include <arrow/array.h>

#include <utility>

#include "codec/json.h"
#include "data/arrow_values.h"
#include "table/field.h"
#include "table/literal.h"

namespace icewright {
namespace {

Result<Json> StructToJson(const Type& type, const arrow::StructArray& array, std::int64_t row) {
  Json out = Json::object();
  for (std::size_t i = 0; i < type.fields().size(); ++i) {
    const Field& field = type.fields()[i];
    IW_ASSIGN(out[field.name], ValueToJson(field.type, *array.field(static_cast<int>(i)), row));
  }
  return out;
}

Result<Json> ListToJson(const Type& type, const arrow::ListArray& array, std::int64_t row) {
  Json out = Json::array();
  for (std::int64_t i = array.value_offset(row); i < array.value_offset(row + 1); ++i) {
    IW_ASSIGN(Json item, ValueToJson(type.fields()[0].type, *array.values(), i));
    out.push_back(std::move(item));
  }
  return out;
}

Result<Json> MapToJson(const Type& type, const arrow::MapArray& array, std::int64_t row) {
  const Type& key_type = type.fields()[0].type;
  const bool by_name = key_type.id() == TypeId::kString;
  Json out = by_name ? Json::object() : Json::array();
  for (std::int64_t i = array.value_offset(row); i < array.value_offset(row + 1); ++i) {
    IW_ASSIGN(Json key, ValueToJson(key_type, *array.keys(), i));
    IW_ASSIGN(Json value, ValueToJson(type.fields()[1].type, *array.items(), i));
    if (by_name && key.is_string()) {
      out[key.get<std::string>()] = std::move(value);
    } else if (!by_name) {
      out.push_back(Json{{"key", std::move(key)}, {"value", std::move(value)}});
    }
  }
  return out;
}

}  // namespace

Result<Json> ValueToJson(const Type& type, const arrow::Array& array, std::int64_t row) {
  if (type.id() == TypeId::kUnknown || array.IsNull(row)) return Json(nullptr);
  switch (type.id()) {
    case TypeId::kStruct:
      return StructToJson(type, static_cast<const arrow::StructArray&>(array), row);
    case TypeId::kList:
      return ListToJson(type, static_cast<const arrow::ListArray&>(array), row);
    case TypeId::kMap:
      return MapToJson(type, static_cast<const arrow::MapArray&>(array), row);
    default: {
      IW_ASSIGN(const Literal value, LiteralAt(array, row));
      return ToJson(type, value);
    }
  }
}

}  // namespace icewright
