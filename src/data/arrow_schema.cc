#include "data/arrow_schema.h"

#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>

#include <string>
#include <vector>

namespace icewright {
namespace {

Result<arrow::FieldVector> ToArrowFields(const std::vector<Field>& fields) {
  arrow::FieldVector out;
  out.reserve(fields.size());
  for (const Field& field : fields) {
    IW_ASSIGN(auto made, ToArrowField(field));
    out.push_back(std::move(made));
  }
  return out;
}

Result<std::shared_ptr<arrow::DataType>> NestedType(const Type& type) {
  IW_ASSIGN(arrow::FieldVector children, ToArrowFields(type.fields()));
  if (type.id() == TypeId::kStruct) return arrow::struct_(std::move(children));
  if (type.id() == TypeId::kList) return arrow::list(std::move(children[0]));
  return std::make_shared<arrow::MapType>(std::move(children[0]), std::move(children[1]));
}

}  // namespace

Result<std::shared_ptr<arrow::DataType>> ToArrowType(const Type& type) {
  switch (type.id()) {
    case TypeId::kUnknown:
      return arrow::null();
    case TypeId::kBoolean:
      return arrow::boolean();
    case TypeId::kInt:
      return arrow::int32();
    case TypeId::kLong:
      return arrow::int64();
    case TypeId::kFloat:
      return arrow::float32();
    case TypeId::kDouble:
      return arrow::float64();
    case TypeId::kDecimal:
      if (type.precision() < 1 || type.precision() > 38) {
        return Error(Code::kUnsupported, "type " + type.ToString());
      }
      return arrow::decimal128(type.precision(), type.scale());
    case TypeId::kDate:
      return arrow::date32();
    case TypeId::kTime:
      return arrow::time64(arrow::TimeUnit::MICRO);
    case TypeId::kTimestamp:
      return arrow::timestamp(arrow::TimeUnit::MICRO);
    case TypeId::kTimestampTz:
      return arrow::timestamp(arrow::TimeUnit::MICRO, "UTC");
    case TypeId::kTimestampNs:
      return arrow::timestamp(arrow::TimeUnit::NANO);
    case TypeId::kTimestampTzNs:
      return arrow::timestamp(arrow::TimeUnit::NANO, "UTC");
    case TypeId::kString:
      return arrow::utf8();
    case TypeId::kUuid:
      return arrow::fixed_size_binary(16);
    case TypeId::kFixed:
      return arrow::fixed_size_binary(type.length());
    case TypeId::kBinary:
    case TypeId::kGeometry:
    case TypeId::kGeography:
      return arrow::binary();
    case TypeId::kStruct:
    case TypeId::kList:
    case TypeId::kMap:
      return NestedType(type);
    case TypeId::kVariant:
      break;
  }
  return Error(Code::kUnsupported, "columns of type " + type.ToString() + " cannot be read yet");
}

Result<std::shared_ptr<arrow::Field>> ToArrowField(const Field& field) {
  auto type = ToArrowType(field.type);
  if (!type) return type.error().Within("column '" + field.name + "'");
  return arrow::field(
      field.name, std::move(*type), !field.required,
      arrow::key_value_metadata({std::string(kArrowFieldIdKey)}, {std::to_string(Raw(field.id))}));
}

Result<std::shared_ptr<arrow::Schema>> ToArrowSchema(const Schema& schema) {
  IW_ASSIGN(arrow::FieldVector fields, ToArrowFields(schema.fields()));
  return arrow::schema(std::move(fields));
}

}  // namespace icewright
