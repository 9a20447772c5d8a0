#include "data/key_columns.h"

#include <arrow/array.h>
#include <arrow/type.h>
#include <arrow/util/bit_util.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace icewright {
namespace {

/// Copies what is needed of `field` to reach `target`; the path to it goes to `path`. False if the
/// target is not inside.
bool Narrow(const Field& field, FieldId target, Field& out, std::vector<int>& path) {
  out = field;
  if (field.id == target) return true;
  if (field.type.id() != TypeId::kStruct) return false;
  for (const Field& child : field.type.fields()) {
    Field narrow;
    path.push_back(0);
    if (Narrow(child, target, narrow, path)) {
      out.type = Type::Struct({std::move(narrow)});
      return true;
    }
    path.pop_back();
  }
  return false;
}

const Schema* SchemaWith(const TableMetadata& metadata, FieldId id) {
  if (metadata.schema().Find(id) != nullptr) return &metadata.schema();
  const Schema* newest = nullptr;
  for (const Schema& schema : metadata.schemas) {
    if (schema.Find(id) == nullptr) continue;
    if (newest == nullptr ||
        Raw(schema.id().value_or(SchemaId{0})) > Raw(newest->id().value_or(SchemaId{0}))) {
      newest = &schema;
    }
  }
  return newest;
}

/// A field in the middle of a value with children cannot be a key.
Error NoKey(const Field& field) {
  return {Code::kUnsupported, "column '" + field.name + "' of type " + field.type.ToString() +
                                  " as the key of an equality delete"};
}

}  // namespace

bool KeyColumns::IsInteger(TypeId id) {
  switch (id) {
    case TypeId::kInt:
    case TypeId::kLong:
    case TypeId::kDate:
    case TypeId::kTime:
    case TypeId::kTimestamp:
    case TypeId::kTimestampTz:
    case TypeId::kTimestampNs:
    case TypeId::kTimestampTzNs:
      return true;
    default:
      return false;
  }
}

Result<KeyColumns> KeyColumns::Make(const TableMetadata& metadata, std::vector<FieldId> ids) {
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  if (ids.empty()) return Error(Code::kCorrupt, "an equality delete without equality_ids");
  KeyColumns out;
  for (const FieldId id : ids) {
    const Schema* schema = SchemaWith(metadata, id);
    if (schema == nullptr) {
      return Error(Code::kCorrupt, "equality_ids has " + ToString(id) + ", which no schema has");
    }
    const Field& field = *schema->Find(id);
    Field narrow;
    Leaf leaf{.id = id, .path = {static_cast<int>(out.fields_.size())}, .type = field.type};
    if (!field.type.is_primitive() || !Narrow(*schema->TopLevelOf(id), id, narrow, leaf.path)) {
      return NoKey(field);
    }
    out.fields_.push_back(std::move(narrow));
    out.leaves_.push_back(std::move(leaf));
  }
  return out;
}

KeyRows::KeyRows(const KeyColumns& keys,
                 const std::vector<std::shared_ptr<arrow::Array>>& columns) {
  for (const KeyColumns::Leaf& leaf : keys.leaves_) {
    views_.push_back(MakeView(leaf, *columns[static_cast<std::size_t>(leaf.path[0])]->data()));
  }
}

KeyRows::View KeyRows::MakeView(const KeyColumns::Leaf& leaf, const arrow::ArrayData& column) {
  View view;
  const arrow::ArrayData* data = &column;
  std::int64_t offset = data->offset;
  const auto note_nulls = [&] {
    if (data->buffers[0] != nullptr && data->GetNullCount() != 0) {
      view.validity.push_back({data->buffers[0]->data(), offset});
    }
  };
  for (std::size_t i = 1; i < leaf.path.size(); ++i) {
    note_nulls();
    data = data->child_data[static_cast<std::size_t>(leaf.path[i])].get();
    offset += data->offset;
  }
  view.offset = offset;
  if (data->type->id() == arrow::Type::NA) {
    view.kind = Kind::kAbsent;
    return view;
  }
  note_nulls();
  const auto& buffer = data->buffers[1];
  view.values = buffer == nullptr ? nullptr : reinterpret_cast<const char*>(buffer->data());
  switch (data->type->id()) {
    case arrow::Type::BOOL:
      view.kind = Kind::kBoolean;
      break;
    case arrow::Type::FLOAT:
      view.kind = Kind::kFloat;
      break;
    case arrow::Type::DOUBLE:
      view.kind = Kind::kDouble;
      break;
    case arrow::Type::STRING:
    case arrow::Type::BINARY:
      view.kind = Kind::kBytes;
      view.offsets = reinterpret_cast<const std::int32_t*>(view.values);
      view.values = data->buffers[2] == nullptr
                        ? nullptr
                        : reinterpret_cast<const char*>(data->buffers[2]->data());
      break;
    default:
      view.width = data->type->bit_width() / 8;
      break;
  }
  return view;
}

bool KeyRows::View::IsNull(std::int64_t row) const {
  if (kind == Kind::kAbsent) return true;
  return std::any_of(validity.begin(), validity.end(), [row](const Validity& v) {
    return !arrow::bit_util::GetBit(v.bits, v.offset + row);
  });
}

void KeyRows::Encode(std::int64_t row, Bytes& out) const {
  for (const View& view : views_) {
    if (view.IsNull(row)) {
      out += '\0';
      continue;
    }
    out += '\1';
    const std::int64_t at = view.offset + row;
    switch (view.kind) {
      case Kind::kFixed:
        out.append(view.values + at * view.width, static_cast<std::size_t>(view.width));
        break;
      case Kind::kBoolean:
        out += arrow::bit_util::GetBit(reinterpret_cast<const std::uint8_t*>(view.values), at)
                   ? 't'
                   : 'f';
        break;
      case Kind::kFloat: {
        const float v = LoadLittle<float>(view.values + at * 4);
        AppendLittle(out, std::isnan(v) ? std::numeric_limits<float>::quiet_NaN() : v);
        break;
      }
      case Kind::kDouble: {
        const double v = LoadLittle<double>(view.values + at * 8);
        AppendLittle(out, std::isnan(v) ? std::numeric_limits<double>::quiet_NaN() : v);
        break;
      }
      case Kind::kBytes: {
        const std::int32_t first = view.offsets[at];
        const std::int32_t size = view.offsets[at + 1] - first;
        AppendLittle(out, size);
        if (size > 0) out.append(view.values + first, static_cast<std::size_t>(size));
        break;
      }
      case Kind::kAbsent:
        break;
    }
  }
}

}  // namespace icewright
