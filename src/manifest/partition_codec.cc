#include "manifest/partition_codec.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "codec/json.h"
#include "table/literal.h"

namespace icewright {

const Schema& PartitionSchemaOf(const TableMetadata& metadata, const PartitionSpec& spec) {
  const auto has_sources = [&](const Schema& schema) {
    return std::ranges::all_of(spec.fields, [&](const PartitionField& field) {
      return std::ranges::all_of(field.source_ids,
                                 [&](FieldId id) { return schema.Find(id) != nullptr; });
    });
  };
  const Schema& current = metadata.schema();
  if (has_sources(current)) return current;
  for (auto it = metadata.schemas.rbegin(); it != metadata.schemas.rend(); ++it) {
    if (has_sources(*it)) return *it;
  }
  return current;
}

namespace manifest_internal {
namespace {

constexpr std::int64_t kMicrosPerDay = 86'400'000'000;

/// Bytes that hold a decimal of this precision, as Java sizes its fixed type.
int DecimalSize(int precision) {
  int bits = 1;  // the sign
  Int128 max = 1;
  for (int i = 0; i < std::min(precision, 38); ++i) max *= 10;
  for (--max; max != 0; max >>= 1) ++bits;
  return (bits + 7) / 8;
}

bool IsInt32(TypeId id) { return id == TypeId::kInt || id == TypeId::kDate; }
bool IsTimestamp(TypeId id) { return id >= TypeId::kTimestamp && id <= TypeId::kTimestampTzNs; }
bool IsInt64(TypeId id) { return id == TypeId::kLong || id == TypeId::kTime || IsTimestamp(id); }

using LiteralReader = ValueReader<Literal>;

/// The widening of date to timestamp that v3 allows.
LiteralReader ReadDateAs(TypeId target) {
  const bool nanos = target == TypeId::kTimestampNs || target == TypeId::kTimestampTzNs;
  const std::int64_t unit = nanos ? kMicrosPerDay * 1000 : kMicrosPerDay;
  return [unit](Input& in, Literal& out) {
    std::int64_t value = 0;
    if (__builtin_mul_overflow(in.decoder.ReadLong(), unit, &value)) return in.decoder.Fail();
    out = value;
  };
}

LiteralReader ReadEncoded(const avro::Schema& schema, const Type& type) {
  return [s = &schema, type](Input& in, Literal& out) {
    const ByteView bytes = ReadText(in, *s);
    if (!in.decoder.ok()) return;
    auto value = FromBytes(type, bytes);
    if (!value) return in.Reject(value.error());
    out = *std::move(value);
  };
}

/// 36 characters, as a few writers store UUIDs.
LiteralReader ReadUuidText() {
  return [](Input& in, Literal& out) {
    std::string digits(in.decoder.ReadBytes());
    std::erase(digits, '-');
    auto bytes = FromHex(digits);
    if (!bytes || bytes->size() != 16) return in.decoder.Fail();
    out = *std::move(bytes);
  };
}

/// The value as stored, for a source column that no schema has any more.
Result<LiteralReader> ReadAsStored(const avro::Schema& schema, std::string_view field) {
  using avro::Kind;
  switch (schema.kind) {
    case Kind::kBoolean:
      return LiteralReader([](Input& in, Literal& out) { out = in.decoder.ReadBoolean(); });
    case Kind::kInt:
      return LiteralReader([](Input& in, Literal& out) { out = in.decoder.ReadInt(); });
    case Kind::kLong:
      return LiteralReader([](Input& in, Literal& out) { out = in.decoder.ReadLong(); });
    case Kind::kFloat:
      return LiteralReader([](Input& in, Literal& out) { out = in.decoder.ReadFloat(); });
    case Kind::kDouble:
      return LiteralReader([](Input& in, Literal& out) { out = in.decoder.ReadDouble(); });
    case Kind::kString:
    case Kind::kBytes:
    case Kind::kFixed:
      if (schema.logical_type == "decimal" && schema.precision > 0) {
        return ReadEncoded(schema, Type::Decimal(schema.precision, schema.scale));
      }
      return LiteralReader(
          [s = &schema](Input& in, Literal& out) { out = std::string(ReadText(in, *s)); });
    default:
      return Error(Code::kCorrupt, fmt::format("partition field {} is not primitive", field));
  }
}

Result<LiteralReader> CompileLiteral(const avro::Schema& schema, const Type& type,
                                     std::string_view field) {
  using avro::Kind;
  const TypeId id = type.id();
  if (id == TypeId::kUnknown) return ReadAsStored(schema, field);
  if (IsInteger(schema) && IsInt32(id)) {
    return LiteralReader([](Input& in, Literal& out) {
      std::int32_t value = 0;
      ReadInteger(in, value);
      out = value;
    });
  }
  if (IsInteger(schema) && IsTimestamp(id) && schema.logical_type == "date") return ReadDateAs(id);
  if (IsInteger(schema) && IsInt64(id)) {
    return LiteralReader([](Input& in, Literal& out) { out = in.decoder.ReadLong(); });
  }
  if (schema.kind == Kind::kBoolean && id == TypeId::kBoolean) return ReadAsStored(schema, field);
  if (schema.kind == Kind::kFloat && id == TypeId::kFloat) return ReadAsStored(schema, field);
  if (schema.kind == Kind::kFloat && id == TypeId::kDouble) {
    return LiteralReader(
        [](Input& in, Literal& out) { out = static_cast<double>(in.decoder.ReadFloat()); });
  }
  if (schema.kind == Kind::kDouble && id == TypeId::kDouble) return ReadAsStored(schema, field);
  if (schema.kind == Kind::kString && id == TypeId::kUuid) return ReadUuidText();
  if (IsText(schema)) {
    const bool same_scale = schema.logical_type != "decimal" || schema.scale == type.scale();
    if (id == TypeId::kDecimal && same_scale) return ReadEncoded(schema, type);
    if (id == TypeId::kString || id == TypeId::kBinary || id == TypeId::kFixed ||
        id == TypeId::kUuid) {
      return ReadEncoded(schema, type);
    }
  }
  return Error(Code::kCorrupt,
               fmt::format("partition field {} cannot be read as {}", field, type.ToString()));
}

struct TupleStep {
  Nullable nullable = {};
  std::size_t slot = 0;
  LiteralReader read = {};  // unset: passed over
  std::function<void(Input&)> skip = {};
};

/// Index of the spec's field that a writer's column holds; unset for one that the spec lacks.
std::optional<std::size_t> SlotOf(const avro::RecordField& field, const PartitionSpec& spec) {
  for (std::size_t i = 0; i < spec.fields.size(); ++i) {
    const PartitionField& candidate = spec.fields[i];
    if (field.field_id ? *field.field_id == Raw(candidate.field_id)
                       : field.name == AvroName(candidate.name)) {
      return i;
    }
  }
  return {};
}

/// The alternative of Literal that values of this type use; unset: none.
std::optional<std::size_t> AlternativeOf(TypeId id) {
  if (id == TypeId::kBoolean) return Literal(true).index();
  if (IsInt32(id)) return Literal(std::int32_t{}).index();
  if (IsInt64(id)) return Literal(std::int64_t{}).index();
  if (id == TypeId::kFloat) return Literal(float{}).index();
  if (id == TypeId::kDouble) return Literal(double{}).index();
  if (id == TypeId::kDecimal) return Literal(Int128{}).index();
  if (id == TypeId::kString || id == TypeId::kUuid || id == TypeId::kFixed ||
      id == TypeId::kBinary) {
    return Literal(std::string()).index();
  }
  return {};
}

bool HasSizeOf(const Type& type, const Literal& value) {
  if (type.id() == TypeId::kFixed || type.id() == TypeId::kUuid) {
    const auto size = static_cast<std::size_t>(type.id() == TypeId::kUuid ? 16 : type.length());
    return std::get<std::string>(value).size() == size;
  }
  if (type.id() != TypeId::kDecimal) return true;
  const int bits = DecimalSize(type.precision()) * 8;
  if (bits >= 128) return true;
  const Int128 high = std::get<Int128>(value) >> (bits - 1);
  return high == 0 || high == -1;
}

/// Types that Avro has as such.
struct PlainType {
  TypeId id;
  const char* base;
  const char* logical = nullptr;
  std::optional<bool> adjust_to_utc = {};
};
constexpr PlainType kPlainTypes[] = {
    {TypeId::kBoolean, "boolean"},
    {TypeId::kInt, "int"},
    {TypeId::kLong, "long"},
    {TypeId::kFloat, "float"},
    {TypeId::kDouble, "double"},
    {TypeId::kString, "string"},
    {TypeId::kBinary, "bytes"},
    {TypeId::kDate, "int", "date"},
    {TypeId::kTime, "long", "time-micros"},
    {TypeId::kTimestamp, "long", "timestamp-micros", false},
    {TypeId::kTimestampTz, "long", "timestamp-micros", true},
    {TypeId::kTimestampNs, "long", "timestamp-nanos", false},
    {TypeId::kTimestampTzNs, "long", "timestamp-nanos", true},
};

/// The Avro type of one field; "null" for a type that only a void transform can have. Named types
/// are defined once; later mentions are the name alone.
Json FieldAvroType(const Type& type, std::set<std::string>& defined) {
  const auto plain = std::ranges::find(kPlainTypes, type.id(), &PlainType::id);
  if (plain != std::end(kPlainTypes)) {
    if (plain->logical == nullptr) return plain->base;
    Json json = {{"type", plain->base}, {"logicalType", plain->logical}};
    if (plain->adjust_to_utc) json["adjust-to-utc"] = *plain->adjust_to_utc;
    return json;
  }
  const auto fixed = [&](std::string name, int size) {
    if (!defined.insert(name).second) return Json(name);
    return Json{{"type", "fixed"}, {"name", name}, {"size", size}};
  };
  if (type.id() == TypeId::kFixed) {
    return fixed(fmt::format("fixed_{}", type.length()), type.length());
  }
  if (type.id() == TypeId::kUuid) {
    Json json = fixed("uuid_fixed", 16);
    if (json.is_object()) json["logicalType"] = "uuid";
    return json;
  }
  if (type.id() == TypeId::kDecimal) {
    Json json = fixed(fmt::format("decimal_{}_{}", type.precision(), type.scale()),
                      DecimalSize(type.precision()));
    if (json.is_object()) {
      json["logicalType"] = "decimal";
      json["precision"] = type.precision();
      json["scale"] = type.scale();
    }
    return json;
  }
  return "null";
}

void WriteLiteral(avro::Encoder& out, const Type& type, const Literal& value) {
  switch (type.id()) {
    case TypeId::kBoolean:
      return out.WriteBoolean(std::get<bool>(value));
    case TypeId::kFloat:
      return out.WriteFloat(std::get<float>(value));
    case TypeId::kDouble:
      return out.WriteDouble(std::get<double>(value));
    case TypeId::kString:
    case TypeId::kBinary:
      return out.WriteBytes(std::get<std::string>(value));
    case TypeId::kUuid:
    case TypeId::kFixed:
      return out.WriteFixed(std::get<std::string>(value));
    case TypeId::kDecimal: {
      Bytes bytes;
      const Int128 unscaled = std::get<Int128>(value);
      for (int i = DecimalSize(type.precision()) - 1; i >= 0; --i) {
        bytes += static_cast<char>(i >= 16 ? unscaled >> 127 : unscaled >> (8 * i));
      }
      return out.WriteFixed(bytes);
    }
    default:
      if (const auto* small = std::get_if<std::int32_t>(&value)) return out.WriteInt(*small);
      return out.WriteLong(std::get<std::int64_t>(value));
  }
}

}  // namespace

std::string AvroName(std::string_view name) {
  const auto is_letter = [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  const auto is_digit = [](unsigned char c) { return c >= '0' && c <= '9'; };
  std::string out;
  for (const char raw : name) {
    const auto c = static_cast<unsigned char>(raw);
    if (is_letter(c) || (is_digit(c) && !out.empty())) {
      out += raw;
    } else if (is_digit(c)) {
      out += '_';
      out += raw;
    } else {
      out += fmt::format("_x{:X}", c);
    }
  }
  return out;
}

Result<ValueReader<StructValue>> CompilePartitionReader(const avro::Schema& writer,
                                                        const PartitionSpec& spec,
                                                        const Type& partition_type) {
  if (writer.kind != avro::Kind::kRecord) {
    return Error(Code::kCorrupt, "column partition is not a record");
  }
  std::vector<TupleStep> steps;
  for (const avro::RecordField& field : writer.fields) {
    TupleStep step{.skip = CompileSkip(*field.schema)};
    if (const auto slot = SlotOf(field, spec)) {
      step.slot = *slot;
      IW_ASSIGN(step.nullable, Nullable::Of(*field.schema, field.name));
      if (step.nullable.value != nullptr) {
        IW_ASSIGN(step.read, CompileLiteral(*step.nullable.value,
                                            partition_type.fields()[*slot].type, field.name));
      }
    }
    steps.push_back(std::move(step));
  }
  return ValueReader<StructValue>(
      [steps = std::move(steps), size = spec.fields.size()](Input& in, StructValue& out) {
        out.assign(size, Literal{});
        for (const TupleStep& step : steps) {
          if (!step.read) {
            step.skip(in);
          } else if (step.nullable.ReadPresence(in)) {
            step.read(in, out[step.slot]);
          }
        }
      });
}

Json PartitionAvroSchema(const Type& partition_type) {
  std::set<std::string> defined;
  Json fields = Json::array();
  for (const Field& field : partition_type.fields()) {
    Json type = FieldAvroType(field.type, defined);
    const bool is_null = type == "null";
    Json column = {{"name", AvroName(field.name)},
                   {"type", is_null ? Json("null") : Json::array({"null", std::move(type)})},
                   {"default", nullptr}};
    if (column["name"] != field.name) column["iceberg-field-name"] = field.name;
    column["field-id"] = Raw(field.id);
    fields.push_back(std::move(column));
  }
  return Json{{"type", "record"}, {"name", "r102"}, {"fields", std::move(fields)}};
}

Status CheckPartition(const Type& partition_type, const StructValue& partition) {
  const std::vector<Field>& fields = partition_type.fields();
  if (partition.size() != fields.size()) {
    return Error(Code::kInvalidArgument, fmt::format("a partition tuple of {} values for {} fields",
                                                     partition.size(), fields.size()));
  }
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (IsNull(partition[i])) continue;
    if (partition[i].index() != AlternativeOf(fields[i].type.id()) ||
        !HasSizeOf(fields[i].type, partition[i])) {
      return Error(Code::kInvalidArgument, fmt::format("partition field {} is not a {}",
                                                       fields[i].name, fields[i].type.ToString()));
    }
  }
  return {};
}

void WritePartition(avro::Encoder& out, const Type& partition_type, const StructValue& partition) {
  const std::vector<Field>& fields = partition_type.fields();
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (!AlternativeOf(fields[i].type.id())) continue;  // Avro's null takes no bytes
    out.WriteLong(IsNull(partition[i]) ? 0 : 1);
    if (!IsNull(partition[i])) WriteLiteral(out, fields[i].type, partition[i]);
  }
}

}  // namespace manifest_internal
}  // namespace icewright
