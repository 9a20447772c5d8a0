#pragma once

/// \file manifest/pruning.h
/// Can a manifest or a file hold a row that matches? Decided from summaries and metrics.
///
/// Java twins: ManifestEvaluator, InclusiveMetricsEvaluator.

#include "manifest/data_file.h"
#include "manifest/manifest_file.h"
#include "table/expression.h"

namespace icewright {

/// `partition_filter` is an inclusive projection, bound to partition field ids.
bool MayMatch(const Expression& partition_filter, const PartitionSpec& spec,
              const Type& partition_type, const ManifestFile& manifest);

/// By partition tuple.
bool MayMatch(const Expression& partition_filter, const PartitionSpec& spec,
              const StructValue& partition);

/// By column metrics. Missing metrics may match; NaN is outside bounds; string bounds may be
/// truncated.
bool MayMatch(const Expression& filter, const Schema& schema, const DataFile& file);

}  // namespace icewright
