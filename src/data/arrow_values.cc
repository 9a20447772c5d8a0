#include "data/arrow_values.h"

#include <arrow/array.h>
#include <arrow/record_batch.h>

#include <cstring>

#include "data/arrow_bridge.h"
#include "table/field.h"

namespace icewright {
namespace {

bool FindPath(const std::vector<Field>& fields, FieldId id, std::vector<int>& path) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    path.push_back(static_cast<int>(i));
    if (fields[i].id == id) return true;
    if (fields[i].type.id() == TypeId::kStruct && FindPath(fields[i].type.fields(), id, path)) {
      return true;
    }
    path.pop_back();
  }
  return false;
}

}  // namespace

std::optional<std::vector<int>> PathOfField(const Schema& schema, FieldId id) {
  std::vector<int> path;
  if (!FindPath(schema.fields(), id, path)) return {};
  return path;
}

Result<std::shared_ptr<arrow::Array>> ColumnAt(const arrow::RecordBatch& batch,
                                               const std::vector<int>& path) {
  std::shared_ptr<arrow::Array> array = batch.column(path[0]);
  for (std::size_t i = 1; i < path.size(); ++i) {
    IW_ASSIGN(array,
              FromArrow(static_cast<const arrow::StructArray&>(*array).GetFlattenedField(path[i]),
                        "flatten struct"));
  }
  return array;
}

Result<Literal> LiteralAt(const arrow::Array& array, std::int64_t row) {
  if (array.IsNull(row)) return Literal{};
  switch (array.type_id()) {
    case arrow::Type::BOOL:
      return Literal{static_cast<const arrow::BooleanArray&>(array).Value(row)};
    case arrow::Type::INT32:
    case arrow::Type::DATE32:
      return Literal{array.data()->GetValues<std::int32_t>(1)[row]};
    case arrow::Type::INT64:
    case arrow::Type::TIME64:
    case arrow::Type::TIMESTAMP:
      return Literal{array.data()->GetValues<std::int64_t>(1)[row]};
    case arrow::Type::FLOAT:
      return Literal{array.data()->GetValues<float>(1)[row]};
    case arrow::Type::DOUBLE:
      return Literal{array.data()->GetValues<double>(1)[row]};
    case arrow::Type::DECIMAL128: {
      Int128 value = 0;
      std::memcpy(&value, static_cast<const arrow::FixedSizeBinaryArray&>(array).GetValue(row),
                  sizeof(value));
      return Literal{value};
    }
    case arrow::Type::STRING:
    case arrow::Type::BINARY:
      return Literal{std::string(static_cast<const arrow::BinaryArray&>(array).GetView(row))};
    case arrow::Type::FIXED_SIZE_BINARY:
      return Literal{
          std::string(static_cast<const arrow::FixedSizeBinaryArray&>(array).GetView(row))};
    case arrow::Type::DICTIONARY: {
      const auto& dictionary = static_cast<const arrow::DictionaryArray&>(array);
      return LiteralAt(*dictionary.dictionary(), dictionary.GetValueIndex(row));
    }
    default:
      return Error(Code::kUnsupported, "values of Arrow type " + array.type()->ToString());
  }
}

}  // namespace icewright
