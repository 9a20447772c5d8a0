#pragma once

/// \file table/structure_check.h
/// Whether schema, partition spec and sort order fit together and into a format version.

#include "base/result.h"
#include "table/partition_spec.h"
#include "table/schema.h"
#include "table/sort_order.h"

namespace icewright {

/// Types and defaults that the format version has, identifier fields that can be some. Errors:
/// kInvalidArgument, naming the column.
Status CheckSchema(const Schema& schema, int format_version);

/// Every source column exists and suits its transform; names are unique and do not hide a column.
/// Void and unknown transforms pass. Errors: kInvalidArgument, naming the field.
Status CheckSpec(const PartitionSpec& spec, const Schema& schema);
Status CheckSortOrder(const SortOrder& order, const Schema& schema);

}  // namespace icewright
