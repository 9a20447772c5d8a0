#pragma once

/// \file data/arrow_schema.h
/// Iceberg types as Arrow types, with field ids in the field metadata ("PARQUET:field_id").

#include <arrow/type_fwd.h>

#include <memory>
#include <string_view>

#include "base/result.h"
#include "table/schema.h"

namespace icewright {

/// Key of the field metadata that holds the field id; Parquet's writer stores it in the file.
inline constexpr std::string_view kArrowFieldIdKey = "PARQUET:field_id";

/// int -> int32, long -> int64, date -> date32, time -> time64[us], timestamp -> timestamp[us],
/// timestamptz -> timestamp[us, UTC], *_ns -> [ns], decimal -> decimal128, uuid ->
/// fixed_size_binary(16), fixed -> fixed_size_binary, string -> utf8, binary, geometry, geography
/// -> binary, struct, list, map; unknown -> null. Errors: kUnsupported for variant.
Result<std::shared_ptr<arrow::DataType>> ToArrowType(const Type& type);

/// A field is nullable unless it is required.
Result<std::shared_ptr<arrow::Field>> ToArrowField(const Field& field);
Result<std::shared_ptr<arrow::Schema>> ToArrowSchema(const Schema& schema);

}  // namespace icewright
