#pragma once

/// \file table/value.h
/// What one primitive value is in memory. Functions on values are in table/literal.h.

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace icewright {

/// __extension__: 128-bit integers are no ISO C++, and -Wpedantic would say so everywhere.
__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 UInt128;

/// A value without its type; every function below also takes the type. What holds what:
/// null: monostate; boolean: bool; int, date: int32; long, time, timestamp*: int64; float; double;
/// decimal: Int128 (unscaled); string (UTF-8), uuid (16 bytes), fixed, binary, geometry, geography:
/// std::string.
using Literal = std::variant<std::monostate, bool, std::int32_t, std::int64_t, float, double,
                             Int128, std::string>;

inline bool IsNull(const Literal& value) { return value.index() == 0; }

/// Partition tuple or any other row of primitives, in field order.
using StructValue = std::vector<Literal>;

}  // namespace icewright
