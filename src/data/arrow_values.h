#pragma once

/// \file data/arrow_values.h
/// Single values of Arrow arrays as literals, and columns by their path.

#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "table/schema.h"
#include "table/value.h"

namespace icewright {

/// Child indexes from the row down to a field that is not inside a list or map; unset for others.
std::optional<std::vector<int>> PathOfField(const Schema& schema, FieldId id);

/// The column at a path; a null struct makes its fields null.
Result<std::shared_ptr<arrow::Array>> ColumnAt(const arrow::RecordBatch& batch,
                                               const std::vector<int>& path);

/// Slot `row` of a primitive array (or dictionary of strings); null for null. Errors: kUnsupported.
Result<Literal> LiteralAt(const arrow::Array& array, std::int64_t row);

}  // namespace icewright
