#pragma once

/// \file data/splice/values.h
/// PLAIN values as bytes: order, promotion, and where each begins.

#include <cstdint>
#include <vector>

#include "data/splice/format.h"
#include "data/splice/scratch.h"

namespace icewright::splice {

/// Order of two values of statistics: negative, zero or positive. Precondition: fixed-width values
/// have their width (HasWidth).
int CompareValues(Order order, ByteView a, ByteView b);
bool IsNan(Order order, ByteView value);

/// Is this a value of statistics of the leaf, by its length?
bool HasWidth(const Leaf& leaf, ByteView value);

/// How the values of a file become those of the table.
enum class Conversion : std::uint8_t {
  kNone,
  kIntToLong,  // also decimals
  kFloatToDouble,
  kIntToFixed,  // decimals
  kLongToFixed,
  kFixedToFixed
};

/// Appends the values of a PLAIN body (or one value of statistics) in their new form. Precondition:
/// not kNone. False if the body is no whole number of values.
bool ConvertValues(Conversion conversion, int from_width, int to_width, ByteView body,
                   Scratch& out);

/// Offsets of `count` values in a PLAIN body; value i is [offset[i], offset[i + 1]), byte arrays
/// with their length. `width` 0: byte arrays. False if the body is too short.
bool PlainOffsets(ByteView body, std::uint32_t count, int width,
                  std::vector<std::uint32_t>& offsets);

/// How many of `count` floats or doubles are NaN.
std::int64_t CountNans(Physical type, const char* values, std::size_t count);

}  // namespace icewright::splice
