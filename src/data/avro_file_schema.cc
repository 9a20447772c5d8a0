#include "data/avro_file_schema.h"

#include <fmt/format.h>

#include <set>
#include <string>

#include "codec/json.h"
#include "data/parquet_schema.h"
#include "table/field.h"

namespace icewright {
namespace {

// Named types may be defined once; later uses are by name.
class Converter {
 public:
  Result<Json> Record(const std::string& name, const std::vector<Field>& fields) {
    Json out = Json::object();
    out["type"] = "record";
    out["name"] = name;
    out["fields"] = Json::array();
    for (const Field& field : fields) {
      if (field.type.id() == TypeId::kUnknown) continue;
      Json entry = Json::object();
      entry["name"] = FileColumnName(field.name);
      IW_ASSIGN(entry["type"], OptionalOf(field));
      if (!field.required) entry["default"] = nullptr;
      entry["field-id"] = Raw(field.id);
      out["fields"].push_back(std::move(entry));
    }
    return out;
  }

 private:
  Result<Json> OptionalOf(const Field& field) {
    IW_ASSIGN(Json type, Convert(field));
    if (field.required) return type;
    return Json::array({"null", std::move(type)});
  }

  static Json Logical(const char* type, const char* logical) {
    return Json{{"type", type}, {"logicalType", logical}};
  }

  static Json Timestamp(const char* logical, bool utc) {
    Json out = Logical("long", logical);
    out["adjust-to-utc"] = utc;
    return out;
  }

  Json Fixed(const std::string& name, int size, Json extra = Json::object()) {
    if (!defined_.insert(name).second) return name;
    extra["type"] = "fixed";
    extra["name"] = name;
    extra["size"] = size;
    return extra;
  }

  Result<Json> List(const Field& field) {
    const Field& element = field.type.fields()[0];
    Json out{{"type", "array"}};
    IW_ASSIGN(out["items"], OptionalOf(element));
    out["element-id"] = Raw(element.id);
    return out;
  }

  Result<Json> Map(const Field& field) {
    const Field& key = field.type.fields()[0];
    const Field& value = field.type.fields()[1];
    if (key.type.id() == TypeId::kString) {
      Json out{{"type", "map"}};
      IW_ASSIGN(out["values"], OptionalOf(value));
      out["key-id"] = Raw(key.id);
      out["value-id"] = Raw(value.id);
      return out;
    }
    Json out = Logical("array", "map");
    IW_ASSIGN(out["items"],
              Record(fmt::format("k{}_v{}", Raw(key.id), Raw(value.id)), field.type.fields()));
    return out;
  }

  Result<Json> Convert(const Field& field) {
    const Type& type = field.type;
    switch (type.id()) {
      case TypeId::kBoolean:
        return Json("boolean");
      case TypeId::kInt:
        return Json("int");
      case TypeId::kLong:
        return Json("long");
      case TypeId::kFloat:
        return Json("float");
      case TypeId::kDouble:
        return Json("double");
      case TypeId::kString:
        return Json("string");
      case TypeId::kBinary:
      case TypeId::kGeometry:
      case TypeId::kGeography:
        return Json("bytes");
      case TypeId::kDate:
        return Logical("int", "date");
      case TypeId::kTime:
        return Logical("long", "time-micros");
      case TypeId::kTimestamp:
      case TypeId::kTimestampTz:
        return Timestamp("timestamp-micros", type.id() == TypeId::kTimestampTz);
      case TypeId::kTimestampNs:
      case TypeId::kTimestampTzNs:
        return Timestamp("timestamp-nanos", type.id() == TypeId::kTimestampTzNs);
      case TypeId::kUuid:
        return Fixed("uuid_fixed", 16, {{"logicalType", "uuid"}});
      case TypeId::kFixed:
        return Fixed(fmt::format("fixed_{}", type.length()), type.length());
      case TypeId::kDecimal:
        return Fixed(
            fmt::format("decimal_{}_{}", type.precision(), type.scale()),
            FixedDecimalSize(type.precision()),
            {{"logicalType", "decimal"}, {"precision", type.precision()}, {"scale", type.scale()}});
      case TypeId::kStruct:
        return Record(fmt::format("r{}", Raw(field.id)), type.fields());
      case TypeId::kList:
        return List(field);
      case TypeId::kMap:
        return Map(field);
      default:
        return Error(Code::kUnsupported, fmt::format("column {} of type {} cannot be written",
                                                     field.name, type.ToString()));
    }
  }

  std::set<std::string> defined_;
};

}  // namespace

Result<Json> ToAvroSchema(const Schema& schema) {
  return Converter().Record("table", schema.fields());
}

}  // namespace icewright
