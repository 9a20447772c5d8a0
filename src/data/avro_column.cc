#include "data/avro_column.h"

#include <arrow/array.h>
#include <arrow/array/builder_binary.h>
#include <arrow/array/builder_decimal.h>
#include <arrow/array/builder_nested.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/builder.h>
#include <arrow/type.h>
#include <arrow/util/decimal.h>

#include "data/arrow_bridge.h"

namespace icewright {
namespace {

using arrow::TimeUnit;
using TypePtr = std::shared_ptr<arrow::DataType>;

/// Items that take no bytes cannot be bounded by the bytes that are left.
constexpr std::int64_t kMaxEmptyItems = 1 << 20;

/// The value's schema: of a union with null the other branch.
const avro::Schema& ValueOf(const avro::Schema& schema) {
  const auto optional = schema.AsOptional();
  return optional ? *optional->value : schema;
}

TypePtr IntType(const std::string& logical) {
  if (logical == "date") return arrow::date32();
  if (logical == "time-millis") return arrow::time32(TimeUnit::MILLI);
  return arrow::int32();
}

TypePtr LongType(const std::string& logical) {
  if (logical == "time-micros") return arrow::time64(TimeUnit::MICRO);
  if (logical == "timestamp-millis" || logical == "local-timestamp-millis") {
    return arrow::timestamp(TimeUnit::MILLI);
  }
  if (logical == "timestamp-micros" || logical == "local-timestamp-micros") {
    return arrow::timestamp(TimeUnit::MICRO);
  }
  if (logical == "timestamp-nanos" || logical == "local-timestamp-nanos") {
    return arrow::timestamp(TimeUnit::NANO);
  }
  return arrow::int64();
}

bool IsDecimal(const avro::Schema& schema) { return schema.logical_type == "decimal"; }

/// An array of (key, value) records, which is how Iceberg stores maps whose keys are no strings.
bool IsRecordMap(const avro::Schema& schema) {
  return schema.kind == avro::Kind::kArray && schema.logical_type == "map" &&
         schema.items->kind == avro::Kind::kRecord && schema.items->fields.size() == 2;
}

Result<TypePtr> LeafType(const avro::Schema& schema) {
  if (IsDecimal(schema) &&
      (schema.kind == avro::Kind::kBytes || schema.kind == avro::Kind::kFixed)) {
    if (schema.precision < 1 || schema.precision > 38) {
      return Error(Code::kUnsupported,
                   "decimals of " + std::to_string(schema.precision) + " digits");
    }
    return arrow::decimal128(schema.precision, schema.scale);
  }
  switch (schema.kind) {
    case avro::Kind::kBoolean:
      return arrow::boolean();
    case avro::Kind::kInt:
      return IntType(schema.logical_type);
    case avro::Kind::kLong:
      return LongType(schema.logical_type);
    case avro::Kind::kFloat:
      return arrow::float32();
    case avro::Kind::kDouble:
      return arrow::float64();
    case avro::Kind::kBytes:
      return arrow::binary();
    case avro::Kind::kString:
    case avro::Kind::kEnum:
      return arrow::utf8();
    case avro::Kind::kFixed:
      return arrow::fixed_size_binary(schema.size);
    default:
      return arrow::null();
  }
}

/// Children by schema: name, id and schema.
struct Part {
  std::string name;
  std::optional<std::int32_t> id;
  const avro::Schema* schema;
};

const avro::Schema& StringSchema() {
  static const avro::Schema schema = [] {
    avro::Schema out;
    out.kind = avro::Kind::kString;
    return out;
  }();
  return schema;
}

std::vector<Part> PartsOf(const avro::Schema& schema) {
  std::vector<Part> parts;
  if (schema.kind == avro::Kind::kMap) {
    parts.push_back({"key", schema.key_id, &StringSchema()});
    parts.push_back({"value", schema.value_id, schema.items.get()});
  } else if (schema.kind == avro::Kind::kArray && !IsRecordMap(schema)) {
    parts.push_back({"element", schema.element_id, schema.items.get()});
  } else {
    const avro::Schema& record = IsRecordMap(schema) ? *schema.items : schema;
    for (const avro::RecordField& field : record.fields) {
      parts.push_back({field.name, field.field_id, field.schema.get()});
    }
  }
  return parts;
}

}  // namespace

Result<SourceField> AvroColumn::Describe(const std::string& name, std::optional<std::int32_t> id,
                                         const avro::Schema& schema) {
  const avro::Schema& value = ValueOf(schema);
  SourceField out{.name = name};
  if (id) out.id = FieldId{*id};
  arrow::FieldVector fields;
  for (const Part& part : PartsOf(value)) {
    IW_ASSIGN(SourceField child, Describe(part.name, part.id, *part.schema));
    fields.push_back(arrow::field(child.name, child.type));
    out.children.push_back(std::move(child));
  }
  if (value.kind == avro::Kind::kRecord) {
    out.type = arrow::struct_(std::move(fields));
  } else if (value.kind == avro::Kind::kMap || IsRecordMap(value)) {
    out.type = std::make_shared<arrow::MapType>(fields[0]->WithNullable(false), fields[1]);
  } else if (value.kind == avro::Kind::kArray) {
    out.type = arrow::list(fields[0]);
  } else {
    IW_ASSIGN(out.type, LeafType(value));
  }
  return out;
}

Result<AvroColumn> AvroColumn::Make(const SourceField& field, const avro::Schema& schema,
                                    arrow::MemoryPool* pool) {
  IW_ASSIGN(AvroColumn out, MakeNode(field, schema));
  IW_ASSIGN(out.builder_, FromArrow(arrow::MakeBuilder(field.type, pool)));
  return out;
}

Result<AvroColumn> AvroColumn::MakeNode(const SourceField& field, const avro::Schema& schema) {
  AvroColumn out;
  if (const auto optional = schema.AsOptional()) out.null_branch_ = optional->null_index;
  const avro::Schema& value = ValueOf(schema);
  out.schema_ = &value;
  out.size_ = value.size;
  IW_ASSIGN(out.kind_, KindOf(field, value));
  const std::vector<Part> parts = PartsOf(value);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    IW_ASSIGN(AvroColumn child, MakeNode(field.children[i], *parts[i].schema));
    out.children_.push_back(std::move(child));
  }
  return out;
}

Result<AvroColumn::Kind> AvroColumn::KindOf(const SourceField& field, const avro::Schema& value) {
  switch (value.kind) {
    case avro::Kind::kNull:
      return Kind::kNull;
    case avro::Kind::kBoolean:
      return Kind::kBoolean;
    case avro::Kind::kInt:
      if (field.type->id() == arrow::Type::DATE32) return Kind::kDate;
      return field.type->id() == arrow::Type::TIME32 ? Kind::kTimeMillis : Kind::kInt;
    case avro::Kind::kLong:
      if (field.type->id() == arrow::Type::TIME64) return Kind::kTimeMicros;
      return field.type->id() == arrow::Type::TIMESTAMP ? Kind::kTimestamp : Kind::kLong;
    case avro::Kind::kFloat:
      return Kind::kFloat;
    case avro::Kind::kDouble:
      return Kind::kDouble;
    case avro::Kind::kString:
      return Kind::kBytes;
    case avro::Kind::kBytes:
      return IsDecimal(value) ? Kind::kDecimalBytes : Kind::kBytes;
    case avro::Kind::kFixed:
      return IsDecimal(value) ? Kind::kDecimalFixed : Kind::kFixed;
    case avro::Kind::kEnum:
      return Kind::kEnum;
    case avro::Kind::kRecord:
      return Kind::kStruct;
    case avro::Kind::kArray:
      return IsRecordMap(value) ? Kind::kRecordMap : Kind::kList;
    case avro::Kind::kMap:
      return Kind::kMap;
    case avro::Kind::kUnion:
      break;
  }
  return Error(Code::kUnsupported,
               "column '" + field.name + "' is an Avro union of more than a value and null");
}

Status AvroColumn::Read(avro::Decoder& decoder, arrow::ArrayBuilder& builder) const {
  if (null_branch_ >= 0) {
    const std::int64_t branch = decoder.ReadLong();
    if (branch < 0 || branch > 1) decoder.Fail();
    if (branch == null_branch_) return CheckArrow(builder.AppendNull());
  }
  return ReadValue(decoder, builder);
}

Status AvroColumn::ReadValue(avro::Decoder& decoder, arrow::ArrayBuilder& builder) const {
  switch (kind_) {
    case Kind::kNull:
      return CheckArrow(builder.AppendNull());
    case Kind::kBoolean:
      return CheckArrow(static_cast<arrow::BooleanBuilder&>(builder).Append(decoder.ReadBoolean()));
    case Kind::kInt:
      return CheckArrow(static_cast<arrow::Int32Builder&>(builder).Append(decoder.ReadInt()));
    case Kind::kDate:
      return CheckArrow(static_cast<arrow::Date32Builder&>(builder).Append(decoder.ReadInt()));
    case Kind::kTimeMillis:
      return CheckArrow(static_cast<arrow::Time32Builder&>(builder).Append(decoder.ReadInt()));
    case Kind::kLong:
      return CheckArrow(static_cast<arrow::Int64Builder&>(builder).Append(decoder.ReadLong()));
    case Kind::kTimeMicros:
      return CheckArrow(static_cast<arrow::Time64Builder&>(builder).Append(decoder.ReadLong()));
    case Kind::kTimestamp:
      return CheckArrow(static_cast<arrow::TimestampBuilder&>(builder).Append(decoder.ReadLong()));
    case Kind::kFloat:
      return CheckArrow(static_cast<arrow::FloatBuilder&>(builder).Append(decoder.ReadFloat()));
    case Kind::kDouble:
      return CheckArrow(static_cast<arrow::DoubleBuilder&>(builder).Append(decoder.ReadDouble()));
    case Kind::kBytes:
      return CheckArrow(static_cast<arrow::BinaryBuilder&>(builder).Append(decoder.ReadBytes()));
    case Kind::kFixed:
    case Kind::kEnum:
    case Kind::kDecimalBytes:
    case Kind::kDecimalFixed:
      return ReadChecked(decoder, builder);
    case Kind::kStruct: {
      auto& out = static_cast<arrow::StructBuilder&>(builder);
      IW_TRY(CheckArrow(out.Append()));
      for (std::size_t i = 0; i < children_.size(); ++i) {
        IW_TRY(children_[i].Read(decoder, *out.field_builder(static_cast<int>(i))));
      }
      return {};
    }
    case Kind::kList:
      return ReadList(decoder, builder);
    case Kind::kRecordMap:
    case Kind::kMap:
      return ReadMap(decoder, builder);
  }
  return {};
}

/// Values whose bytes must be looked at before a builder may have them.
Status AvroColumn::ReadChecked(avro::Decoder& decoder, arrow::ArrayBuilder& builder) const {
  if (kind_ == Kind::kEnum) {
    const std::int64_t index = decoder.ReadLong();
    if (index < 0 || index >= static_cast<std::int64_t>(schema_->symbols.size())) {
      decoder.Fail();
      return {};
    }
    return CheckArrow(static_cast<arrow::StringBuilder&>(builder).Append(
        schema_->symbols[static_cast<std::size_t>(index)]));
  }
  const ByteView bytes =
      kind_ == Kind::kDecimalBytes ? decoder.ReadBytes() : decoder.ReadFixed(size_);
  if (!decoder.ok()) return {};
  if (kind_ == Kind::kFixed) {
    return CheckArrow(static_cast<arrow::FixedSizeBinaryBuilder&>(builder).Append(bytes.data()));
  }
  IW_ASSIGN(const arrow::Decimal128 value, FromArrow(arrow::Decimal128::FromBigEndian(
                                               reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                               static_cast<std::int32_t>(bytes.size()))));
  return CheckArrow(static_cast<arrow::Decimal128Builder&>(builder).Append(value));
}

Status AvroColumn::ReadList(avro::Decoder& decoder, arrow::ArrayBuilder& builder) const {
  auto& out = static_cast<arrow::ListBuilder&>(builder);
  IW_TRY(CheckArrow(out.Append()));
  for (;;) {
    const std::int64_t items = decoder.ReadBlockCount();
    if (items == 0) return {};
    if (items > static_cast<std::int64_t>(decoder.remaining()) && items > kMaxEmptyItems) {
      decoder.Fail();
    }
    for (std::int64_t i = 0; i < items && decoder.ok(); ++i) {
      IW_TRY(children_[0].Read(decoder, *out.value_builder()));
    }
    if (!decoder.ok()) return {};
  }
}

Status AvroColumn::ReadMap(avro::Decoder& decoder, arrow::ArrayBuilder& builder) const {
  auto& out = static_cast<arrow::MapBuilder&>(builder);
  IW_TRY(CheckArrow(out.Append()));
  for (;;) {
    const std::int64_t items = decoder.ReadBlockCount();
    if (items == 0) return {};
    if (items > static_cast<std::int64_t>(decoder.remaining()) && items > kMaxEmptyItems) {
      decoder.Fail();
    }
    for (std::int64_t i = 0; i < items && decoder.ok(); ++i) {
      IW_TRY(children_[0].Read(decoder, *out.key_builder()));
      IW_TRY(children_[1].Read(decoder, *out.item_builder()));
    }
    if (!decoder.ok()) return {};
  }
}

Result<std::shared_ptr<arrow::Array>> AvroColumn::Finish() { return FromArrow(builder_->Finish()); }

}  // namespace icewright
