#pragma once

/// \file icewright/schema_text.h
/// Schemas and partition specs as people type them on a command line.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "table/partition_spec.h"
#include "table/schema.h"

namespace icewright::cli {

/// "id:long!,price:decimal(9,2),name:string": primitive columns, ids from 1; or a schema's JSON.
/// Errors: kInvalidArgument, naming the column.
Result<Schema> ParseSchemaText(std::string_view text, const std::vector<std::string>& identifier);

/// "bucket(4, id), truncate(2, name), day(ts), cat". Errors: kInvalidArgument.
Result<PartitionSpec> ParsePartitionText(const Schema& schema, std::string_view text);

}  // namespace icewright::cli
