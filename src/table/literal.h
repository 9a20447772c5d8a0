#pragma once

/// \file table/literal.h
/// One primitive value, and its four encodings: bytes, JSON, order and text for people.
///
/// Spec: "Appendix D: Single-value serialization".   Java twins: Literals, Conversions.

#include <compare>
#include <string>

#include "base/bytes.h"
#include "base/result.h"
#include "codec/json_fwd.h"
#include "table/type.h"
#include "table/value.h"

namespace icewright {

/// Single-value binary form, as in manifest bounds. Precondition: !IsNull(value).
Bytes ToBytes(const Type& type, const Literal& value);

/// The reverse. Accepts the shorter form of a promoted type (4-byte long, double and timestamp, any
/// decimal length). Errors: kCorrupt for a length that does not fit.
Result<Literal> FromBytes(const Type& type, ByteView bytes);

/// Total order within a type; nulls are equal and come first. Floats: -NaN < -0.0 < +0.0 < NaN, as
/// Java's Double.compare; decimals by value; strings and binary by unsigned bytes.
std::strong_ordering Compare(const Type& type, const Literal& a, const Literal& b);

/// Equality of partition values: floats by bits with one NaN, -0.0 != +0.0.
bool SameValue(const Literal& a, const Literal& b);
std::size_t HashOf(const Literal& value);

/// Partition tuples as map keys: values by SameValue.
struct StructValueHash {
  std::size_t operator()(const StructValue& row) const;
};
struct StructValueEqual {
  bool operator()(const StructValue& a, const StructValue& b) const;
};

/// JSON form of default values and of `inspect` output. Errors: kCorrupt, naming the type.
Result<Literal> LiteralFromJson(const Type& type, const Json& json);
Json ToJson(const Type& type, const Literal& value);

/// Text as people write it in filters: '2024-01-31', '2024-01-31T10:00:00', '1.50', 'abc'; numbers
/// are promoted where no digit is lost. Errors: kInvalidArgument, naming type and text.
Result<Literal> LiteralFromText(const Type& type, std::string_view text);

/// The value as Java's toHumanString of an identity transform prints it; "null" for null.
std::string ToHuman(const Type& type, const Literal& value);

/// Decimal digits of an unscaled value, with the point at `scale`: (12345, 2) -> "123.45".
std::string DecimalText(Int128 unscaled, int scale);

}  // namespace icewright
