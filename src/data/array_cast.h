#pragma once

/// \file data/array_cast.h
/// Physical types of files into the types of the schema: promotion, and what other engines store.

#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <span>

#include "base/result.h"
#include "table/type.h"
#include "table/value.h"

namespace icewright {

/// Gives the array the new type; length, offset and nulls stay. Errors: kCorrupt for a value that
/// has no place in the new type; kExhausted.
using CastFunction = Result<std::shared_ptr<arrow::ArrayData>> (*)(
    const arrow::ArrayData& in, const std::shared_ptr<arrow::DataType>& to,
    arrow::MemoryPool* pool);

struct ArrayCast {
  CastFunction apply = nullptr;
};

/// How to read a leaf that a file stores as `from` as a column of type `to`: same values, wider
/// numbers, other units of time (to a coarser unit: rounded down), date to timestamp; bytes as
/// string and the reverse. Errors: kUnsupported, naming both types.
Result<ArrayCast> CastFor(const arrow::DataType& from, const Type& to);

/// An array of one value, or of nulls. `value` may be narrower than the type (int for long, float
/// for double).
Result<std::shared_ptr<arrow::ArrayData>> ConstantArray(const Type& type,
                                                        const std::shared_ptr<arrow::DataType>& to,
                                                        const Literal& value, std::int64_t length,
                                                        arrow::MemoryPool* pool);

/// An array of these values. Precondition: each is null or holds what the type asks for.
Result<std::shared_ptr<arrow::Array>> ArrayOf(const Type& type,
                                              const std::shared_ptr<arrow::DataType>& to,
                                              std::span<const Literal> values,
                                              arrow::MemoryPool* pool);

}  // namespace icewright
