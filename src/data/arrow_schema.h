#pragma once

/// \file data/arrow_schema.h
/// Iceberg types as Arrow types, with field ids in the field metadata ("PARQUET:field_id").

#include <arrow/type_fwd.h>

#include <memory>

#include "base/result.h"
#include "table/schema.h"

namespace icewright {

/// int -> int32, long -> int64, date -> date32, time -> time64[us], timestamp -> timestamp[us],
/// timestamptz -> timestamp[us, UTC], *_ns -> [ns], decimal -> decimal128, uuid ->
/// fixed_size_binary(16), fixed -> fixed_size_binary, string -> utf8, binary, geometry, geography ->
/// binary, struct, list, map; unknown -> null. Errors: kUnsupported for variant.
Result<std::shared_ptr<arrow::DataType>> ToArrowType(const Type& type);
Result<std::shared_ptr<arrow::Schema>> ToArrowSchema(const Schema& schema);

}  // namespace icewright
