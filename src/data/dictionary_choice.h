#pragma once

/// \file data/dictionary_choice.h
/// Which columns of a Parquet file are better off without a dictionary.
///
/// Java twin: parquet-java's FallbackValuesWriter, which looks at the first page of each chunk.

#include <arrow/record_batch.h>

#include <string>
#include <vector>

#include "data/parquet_schema.h"

namespace icewright {

/// Paths of flat columns of which nearly every value in the first rows of `batch` is another one: a
/// dictionary would hold the column once more, and pages of it cannot be copied later on. None if
/// there are too few rows to tell.
std::vector<std::string> NearUniqueColumns(const arrow::RecordBatch& batch,
                                           const std::vector<ParquetLeaf>& leaves);

}  // namespace icewright
