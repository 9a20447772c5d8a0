#include "manifest/value_reader.h"

#include <fmt/format.h>

#include "manifest/record_reader.h"

namespace icewright::manifest_internal {
namespace {

/// The record of a map's array: where key and value are.
struct PairShape {
  enum class Role : char { kKey, kValue, kOther };
  struct Part {
    Role role;
    Nullable nullable;
  };
  std::vector<Part> parts;
  const avro::Schema* value = nullptr;
};

Result<PairShape> PairShapeOf(const avro::Schema& schema, const ReadContext& context) {
  if (schema.kind != avro::Kind::kArray || schema.items->kind != avro::Kind::kRecord) {
    return WrongKind(context, "an array of key-value records");
  }
  PairShape shape;
  bool has_key = false;
  for (const avro::RecordField& field : schema.items->fields) {
    const auto is = [&](int id, std::string_view name) {
      return field.field_id ? *field.field_id == id : field.name == name;
    };
    IW_ASSIGN(auto nullable, Nullable::Of(*field.schema, context.column));
    auto role = PairShape::Role::kOther;
    if (is(context.key_id, "key")) {
      if (has_key || nullable.null_index >= 0 || nullable.value == nullptr ||
          !IsInteger(*nullable.value)) {
        return WrongKind(context, "a map with integer keys");
      }
      role = PairShape::Role::kKey;
      has_key = true;
    } else if (is(context.value_id, "value") && nullable.value != nullptr) {
      role = PairShape::Role::kValue;
      shape.value = nullable.value;
    }
    shape.parts.push_back({role, nullable});
  }
  if (!has_key || shape.value == nullptr) return WrongKind(context, "a map of columns");
  return shape;
}

/// Readers find columns by binary search; Java writes in hash order.
template <typename Columns>
void SortById(Columns& columns) {
  const auto id = [](const auto& column) { return column.first; };
  if (!std::ranges::is_sorted(columns, {}, id)) std::ranges::stable_sort(columns, {}, id);
}

template <typename Columns, typename ReadOne>
void ReadPairs(Input& in, const PairShape& shape, Columns& out, const ReadOne& read_one) {
  out.clear();
  ReadItems(in, [&] {
    auto& pair = out.emplace_back();
    bool present = false;
    for (const PairShape::Part& part : shape.parts) {
      if (part.role == PairShape::Role::kKey) {
        ReadInteger(in, pair.first);
      } else if (!part.nullable.ReadPresence(in)) {
        continue;
      } else if (part.role == PairShape::Role::kValue) {
        read_one(in, *part.nullable.value, pair.second);
        present = true;
      } else {
        in.decoder.Skip(*part.nullable.value);
      }
    }
    if (!present) out.pop_back();
  });
  SortById(out);
}

bool IsPlainPairArray(const avro::Schema& schema) {
  return schema.kind == avro::Kind::kArray && schema.items->kind == avro::Kind::kRecord &&
         schema.items->fields.size() == 2 && IsInteger(*schema.items->fields[0].schema) &&
         (IsInteger(*schema.items->fields[1].schema) ||
          schema.items->fields[1].schema->kind == avro::Kind::kBytes);
}

}  // namespace

Result<Nullable> Nullable::Of(const avro::Schema& schema, std::string_view column) {
  if (schema.kind == avro::Kind::kNull) return Nullable{};
  if (schema.kind != avro::Kind::kUnion) return Nullable{.value = &schema};
  const auto optional = schema.AsOptional();
  if (!optional) {
    return Error(Code::kUnsupported, fmt::format("column {} is a union of several types", column));
  }
  return Nullable{.null_index = optional->null_index, .value = optional->value};
}

Error WrongKind(const ReadContext& context, std::string_view expected) {
  return {Code::kCorrupt, fmt::format("column {} is not {}", context.column, expected)};
}

bool IsInteger(const avro::Schema& schema) {
  return schema.kind == avro::Kind::kInt || schema.kind == avro::Kind::kLong;
}

bool IsText(const avro::Schema& schema) {
  return schema.kind == avro::Kind::kString || schema.kind == avro::Kind::kBytes ||
         schema.kind == avro::Kind::kFixed;
}

ByteView ReadText(Input& in, const avro::Schema& schema) {
  if (schema.kind == avro::Kind::kFixed) return in.decoder.ReadFixed(schema.size);
  return in.decoder.ReadBytes();
}

void ReadFormat(Input& in, const avro::Schema& schema, FileFormat& out) {
  const ByteView name = ReadText(in, schema);
  if (!in.decoder.ok()) return;
  auto format = ParseFileFormat(name);
  if (!format) return in.Reject(format.error());
  out = *format;
}

std::function<void(Input&)> CompileSkip(const avro::Schema& schema) {
  const avro::Schema* s = &schema;
  const auto nullable = Nullable::Of(schema, {});
  if (!nullable || nullable->value == nullptr || !IsPlainPairArray(*nullable->value)) {
    return [s](Input& in) { in.decoder.Skip(*s); };
  }
  const bool is_long = IsInteger(*nullable->value->items->fields[1].schema);
  return [shape = *nullable, is_long](Input& in) {
    if (!shape.ReadPresence(in)) return;
    ReadItems(in, [&] {
      in.decoder.ReadLong();
      if (is_long) {
        in.decoder.ReadLong();
      } else {
        in.decoder.ReadBytes();
      }
    });
  };
}

Result<ValueReader<ColumnCounts>> CompileCounts(const avro::Schema& schema, const ReadContext& c) {
  IW_ASSIGN(auto shape, PairShapeOf(schema, c));
  if (!IsInteger(*shape.value)) return WrongKind(c, "a map of integers");
  return ValueReader<ColumnCounts>([shape](Input& in, ColumnCounts& out) {
    ReadPairs(in, shape, out,
              [](Input& i, const avro::Schema&, std::int64_t& value) { ReadInteger(i, value); });
  });
}

Result<ValueReader<ColumnBounds>> CompileBounds(const avro::Schema& schema, const ReadContext& c) {
  IW_ASSIGN(auto shape, PairShapeOf(schema, c));
  if (!IsText(*shape.value)) return WrongKind(c, "a map of bytes");
  return ValueReader<ColumnBounds>([shape](Input& in, ColumnBounds& out) {
    ReadPairs(in, shape, out,
              [](Input& i, const avro::Schema& s, Bytes& value) { value = ReadText(i, s); });
  });
}

Result<ValueReader<std::vector<PartitionFieldSummary>>> CompileSummaries(const avro::Schema& schema,
                                                                         const ReadContext& c) {
  if (schema.kind != avro::Kind::kArray) return WrongKind(c, "an array of records");
  IW_ASSIGN(auto record, RecordReader<PartitionFieldSummary>::Compile(
                             *schema.items, kSummaryColumns, {.context = c}));
  return ValueReader<std::vector<PartitionFieldSummary>>(
      [record](Input& in, std::vector<PartitionFieldSummary>& out) {
        out.clear();
        ReadItems(in, [&] { record.Read(in, out.emplace_back()); });
      });
}

}  // namespace icewright::manifest_internal
