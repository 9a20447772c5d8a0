#pragma once

/// \file table/type.h
/// Iceberg's types, as one value type.
///
/// Spec: "Schemas and Data Types".   Java twins: Type, Types.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"

namespace icewright {

enum class TypeId : std::uint8_t {
  kUnknown,
  kBoolean,
  kInt,
  kLong,
  kFloat,
  kDouble,
  kDecimal,
  kDate,
  kTime,
  kTimestamp,
  kTimestampTz,
  kTimestampNs,
  kTimestampTzNs,
  kString,
  kUuid,
  kFixed,
  kBinary,
  kGeometry,
  kGeography,
  kVariant,
  kStruct,
  kList,
  kMap,
};

struct Field;

/// A type of any kind; cheap to copy. Immutable.
class Type {
 public:
  /// The unknown type.
  Type() = default;

  /// Precondition: `id` needs no parameter (not decimal, fixed, geometry, geography, struct, list,
  /// map).
  static Type Of(TypeId id);
  static Type Decimal(int precision, int scale);
  static Type Fixed(int length);
  /// An empty crs is the default "OGC:CRS84"; an empty algorithm "spherical".
  static Type Geometry(std::string crs = {});
  static Type Geography(std::string crs = {}, std::string algorithm = {});
  static Type Struct(std::vector<Field> fields);
  static Type List(Field element);
  static Type Map(Field key, Field value);

  /// "decimal(9, 2)", "fixed[16]", "timestamptz_ns", "geometry(srid:3857)": what the JSON of a
  /// primitive type holds. Errors: kUnsupported for a type this build does not know.
  static Result<Type> Parse(std::string_view text);

  TypeId id() const { return id_; }
  bool is_nested() const { return id_ >= TypeId::kStruct; }
  bool is_primitive() const { return id_ < TypeId::kVariant; }

  int precision() const { return a_; }  ///< Decimal.
  int scale() const { return b_; }      ///< Decimal.
  int length() const { return a_; }     ///< Fixed.

  /// Struct: its fields; list: the element; map: key, value; else none.
  const std::vector<Field>& fields() const;

  /// Inverse of Parse for primitives and variant; nested types as "struct<1: a: optional int>".
  std::string ToString() const;

  /// Equal structure, ids, names and requiredness; docs and defaults do not count.
  friend bool operator==(const Type& a, const Type& b);

 private:
  TypeId id_ = TypeId::kUnknown;
  std::int32_t a_ = 0;
  std::int32_t b_ = 0;
  std::string text_;  // crs, algorithm: as written between the parentheses
  std::shared_ptr<const std::vector<Field>> fields_;
};

/// True if a column of type `from` may become `to` (v2: int->long, float->double, wider decimal;
/// v3: also date -> timestamp, unknown -> any).
bool IsPromotion(const Type& from, const Type& to);

}  // namespace icewright
