#pragma once

/// \file data/valid_runs.h
/// Runs of slots that are not null: loops over values stay loops over plain memory.

#include <arrow/array/array_base.h>
#include <arrow/util/bit_run_reader.h>

#include <cstdint>
#include <utility>

namespace icewright {

/// Calls visit(first, count) for each run of valid slots, in order.
template <typename Visit>
void VisitValidRuns(const arrow::Array& array, Visit&& visit) {
  if (array.null_count() == 0) {
    visit(std::int64_t{0}, array.length());
    return;
  }
  arrow::internal::VisitSetBitRunsVoid(array.null_bitmap_data(), array.offset(), array.length(),
                                       std::forward<Visit>(visit));
}

}  // namespace icewright
