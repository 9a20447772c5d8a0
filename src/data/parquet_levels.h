#pragma once

/// \file data/parquet_levels.h
/// Nested Arrow columns as Parquet sees them: leaf values with definition and repetition levels.
///
/// Spec: Parquet "Nested Encoding" (Dremel).

#include <arrow/type_fwd.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/result.h"
#include "table/field.h"

namespace icewright {

/// One leaf column of a batch.
struct LeafLevels {
  std::vector<std::int16_t> definition;
  std::vector<std::int16_t> repetition;  ///< empty if nothing repeats above the leaf
  std::shared_ptr<arrow::Array> values;  ///< one slot per level that reaches the innermost list
  bool nullable = false;                 ///< of the leaf itself
};

/// Calls `visit` for each leaf below `field`, in the order of the file's columns; leaves of unknown
/// type are left out. What a null list or map hides is not among the values. Cost: linear in the
/// levels.
Status VisitLeaves(const Field& field, const std::shared_ptr<arrow::Array>& array,
                   arrow::MemoryPool* pool, const std::function<Status(const LeafLevels&)>& visit);

/// The same for one leaf, the `leaf`th from 0 below `field`. Cost: linear in the levels on the way
/// to it. Precondition: there is such a leaf.
Status VisitLeaf(const Field& field, std::size_t leaf, const std::shared_ptr<arrow::Array>& array,
                 arrow::MemoryPool* pool, const std::function<Status(const LeafLevels&)>& visit);

}  // namespace icewright
