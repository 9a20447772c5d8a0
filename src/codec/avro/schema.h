#pragma once

/// \file codec/avro/schema.h
/// Avro schemas with Iceberg's field-id attributes.
///
/// Spec: Avro 1.11 "Schema Declaration"; Iceberg "Appendix A: Avro".

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "codec/json_fwd.h"

namespace icewright::avro {

enum class Kind : std::uint8_t {
  kNull,
  kBoolean,
  kInt,
  kLong,
  kFloat,
  kDouble,
  kBytes,
  kString,
  kFixed,
  kEnum,
  kRecord,
  kArray,
  kMap,
  kUnion,
};

struct Schema;
using SchemaPtr = std::shared_ptr<const Schema>;

struct RecordField {
  std::string name;
  std::optional<std::int32_t> field_id;  ///< "field-id"
  SchemaPtr schema;
};

/// A parsed schema node. Named types that occur again share their node; a recursive schema is
/// refused. Immutable.
struct Schema {
  Kind kind = Kind::kNull;
  std::string name;                  ///< Full name of record, fixed, enum.
  std::string logical_type;          ///< "date", "decimal", "uuid", "map", ...
  bool adjust_to_utc = false;        ///< "adjust-to-utc" of timestamps.
  int size = 0;                      ///< fixed
  int precision = 0, scale = 0;      ///< decimal
  std::vector<std::string> symbols;  ///< enum
  std::vector<RecordField> fields;   ///< record
  SchemaPtr items;                   ///< array items, map values
  std::vector<SchemaPtr> branches;   ///< union
  std::optional<std::int32_t> element_id, key_id, value_id;  ///< Iceberg's attributes
  std::int64_t min_bytes = 0;  ///< The shortest encoding of a value; 0 only if all take no byte.

  /// For a two-branch union with null: the index of null and the other branch; else unset.
  struct Optional {
    int null_index;
    const Schema* value;
  };
  std::optional<Optional> AsOptional() const;
};

/// A name may be defined more than once (PyIceberg does so with fixed types); a reference means the
/// last definition before it. Logical types whose attributes make no sense are dropped, as the Avro
/// spec says. Errors: kCorrupt, naming what is wrong; kUnsupported for a recursive type and for one
/// that expands to more than a million nodes or 500 levels.
Result<SchemaPtr> ParseSchema(std::string_view json);

}  // namespace icewright::avro
