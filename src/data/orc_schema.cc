#include "data/orc_schema.h"

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>
#include <fmt/format.h>

#include <string>

#include "data/arrow_bridge.h"
#include "data/arrow_schema.h"
#include "table/field.h"

namespace icewright {
namespace {

using KeyValues = arrow::KeyValueMetadata;

std::shared_ptr<KeyValues> Attributes(const Field& field) {
  auto out = std::make_shared<KeyValues>();
  out->Append("iceberg.id", ToString(field.id));
  out->Append("iceberg.required", field.required ? "true" : "false");
  switch (field.type.id()) {
    case TypeId::kLong:
      out->Append("iceberg.long-type", "LONG");
      break;
    case TypeId::kTime:
      out->Append("iceberg.long-type", "TIME");
      break;
    case TypeId::kTimestamp:
    case TypeId::kTimestampTz:
      out->Append("iceberg.timestamp-unit", "MICROS");
      break;
    case TypeId::kTimestampNs:
    case TypeId::kTimestampTzNs:
      out->Append("iceberg.timestamp-unit", "NANOS");
      break;
    case TypeId::kUuid:
      out->Append("iceberg.binary-type", "UUID");
      break;
    case TypeId::kFixed:
      out->Append("iceberg.binary-type", "FIXED");
      out->Append("iceberg.length", std::to_string(field.type.length()));
      break;
    case TypeId::kBinary:
      out->Append("iceberg.binary-type", "BINARY");
      break;
    default:
      break;
  }
  return out;
}

Result<std::shared_ptr<arrow::Field>> ToOrcField(const Field& field, const std::string& name);

Result<std::shared_ptr<arrow::DataType>> ToOrcType(const Field& field) {
  const std::vector<Field>& children = field.type.fields();
  switch (field.type.id()) {
    case TypeId::kTime:
      return arrow::int64();
    case TypeId::kUuid:
    case TypeId::kFixed:
      return arrow::binary();
    case TypeId::kStruct: {
      arrow::FieldVector fields;
      for (const Field& child : children) {
        if (child.type.id() == TypeId::kUnknown) continue;
        IW_ASSIGN(auto made, ToOrcField(child, child.name));
        fields.push_back(std::move(made));
      }
      return arrow::struct_(std::move(fields));
    }
    case TypeId::kList: {
      IW_ASSIGN(auto element, ToOrcField(children[0], "element"));
      return arrow::list(std::move(element));
    }
    case TypeId::kMap: {
      IW_ASSIGN(auto key, ToOrcField(children[0], "key"));
      IW_ASSIGN(auto value, ToOrcField(children[1], "value"));
      return std::make_shared<arrow::MapType>(std::move(key), std::move(value));
    }
    case TypeId::kUnknown:
      return Error(Code::kUnsupported, "elements of unknown type in ORC");
    default:
      return ToArrowType(field.type);
  }
}

Result<std::shared_ptr<arrow::Field>> ToOrcField(const Field& field, const std::string& name) {
  IW_ASSIGN(auto type, ToOrcType(field));
  return arrow::field(name, std::move(type), !field.required, Attributes(field));
}

using ArrayDataPtr = std::shared_ptr<arrow::ArrayData>;

// Fixed-size values as binary: the same bytes, with offsets.
Result<ArrayDataPtr> FixedToBinary(const arrow::ArrayData& data, std::int64_t width,
                                   arrow::MemoryPool* pool) {
  const std::int64_t slots = data.offset + data.length;
  IW_ASSIGN(auto offsets,
            FromArrow(arrow::AllocateBuffer((slots + 1) * 4, pool), "convert to ORC"));
  auto* out = reinterpret_cast<std::int32_t*>(offsets->mutable_data());
  for (std::int64_t i = 0; i <= slots; ++i) out[i] = static_cast<std::int32_t>(i * width);
  return arrow::ArrayData::Make(arrow::binary(), data.length,
                                {data.buffers[0], std::move(offsets), data.buffers[1]},
                                data.GetNullCount(), data.offset);
}

Result<ArrayDataPtr> Convert(const Field& field, const std::shared_ptr<arrow::DataType>& type,
                             const ArrayDataPtr& data, arrow::MemoryPool* pool);

// Children of a struct, or of a map's entries; those of unknown type are dropped.
Status ConvertChildren(const std::vector<Field>& fields, const arrow::DataType& type,
                       arrow::ArrayData& out, arrow::MemoryPool* pool) {
  std::vector<ArrayDataPtr> children;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].type.id() == TypeId::kUnknown) continue;
    const auto& child_type = type.field(static_cast<int>(children.size()))->type();
    IW_ASSIGN(auto child, Convert(fields[i], child_type, out.child_data[i], pool));
    children.push_back(std::move(child));
  }
  out.child_data = std::move(children);
  return {};
}

Result<ArrayDataPtr> Convert(const Field& field, const std::shared_ptr<arrow::DataType>& type,
                             const ArrayDataPtr& data, arrow::MemoryPool* pool) {
  const std::vector<Field>& children = field.type.fields();
  switch (field.type.id()) {
    case TypeId::kUuid:
      return FixedToBinary(*data, 16, pool);
    case TypeId::kFixed:
      return FixedToBinary(*data, field.type.length(), pool);
    case TypeId::kStruct:
    case TypeId::kList:
    case TypeId::kMap:
      break;
    default: {
      ArrayDataPtr same = data->Copy();
      same->type = type;
      return same;
    }
  }
  ArrayDataPtr out = data->Copy();
  out->type = type;
  if (field.type.id() == TypeId::kStruct) {
    IW_TRY(ConvertChildren(children, *type, *out, pool));
  } else if (field.type.id() == TypeId::kList) {
    IW_ASSIGN(out->child_data[0],
              Convert(children[0], type->field(0)->type(), data->child_data[0], pool));
  } else {
    ArrayDataPtr entries = data->child_data[0]->Copy();
    entries->type = type->field(0)->type();
    IW_TRY(ConvertChildren(children, *entries->type, *entries, pool));
    out->child_data[0] = std::move(entries);
  }
  return out;
}

}  // namespace

Result<std::shared_ptr<arrow::Schema>> ToOrcSchema(const Schema& schema) {
  arrow::FieldVector fields;
  for (const Field& field : schema.fields()) {
    if (field.type.id() == TypeId::kUnknown) continue;
    IW_ASSIGN(auto made, ToOrcField(field, field.name));
    fields.push_back(std::move(made));
  }
  return arrow::schema(std::move(fields));
}

Result<std::shared_ptr<arrow::RecordBatch>> ToOrcBatch(const Schema& schema,
                                                       const std::shared_ptr<arrow::Schema>& orc,
                                                       const arrow::RecordBatch& batch,
                                                       arrow::MemoryPool* pool) {
  arrow::ArrayVector columns;
  for (std::size_t i = 0; i < schema.fields().size(); ++i) {
    const Field& field = schema.fields()[i];
    if (field.type.id() == TypeId::kUnknown) continue;
    const auto& type = orc->field(static_cast<int>(columns.size()))->type();
    IW_ASSIGN(auto data, Convert(field, type, batch.column_data(static_cast<int>(i)), pool));
    columns.push_back(arrow::MakeArray(data));
  }
  return arrow::RecordBatch::Make(orc, batch.num_rows(), std::move(columns));
}

}  // namespace icewright
