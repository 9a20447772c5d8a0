#pragma once

/// \file data/write_budget.h
/// How a rewrite of a group fits into its memory.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/run_context.h"
#include "data/file_writer.h"

namespace icewright {

/// Where the table's sizes do not fit, the budget wins: first fewer open writers, then smaller
/// dictionaries, then smaller row groups. A Parquet table with so many columns that open column
/// writers alone would take most of it is written column by column.
struct WriteBudget {
  int max_open_writers = 0;
  std::int64_t row_group_bytes = 0;
  std::int64_t dictionary_bytes = 0;
  /// As in WritePlan. Set: such groups are rewritten one after the other, and each has the whole
  /// limit.
  std::optional<std::int64_t> raw_row_group_bytes = {};
  std::int64_t by_column_bytes = 0;  ///< as in SourceOptions
  std::int64_t batch_rows = 0;
  std::int64_t sort_bytes = 0;     ///< of rows in memory while sorting
  std::vector<std::string> notes;  ///< for people: what is smaller than the table asks
};

/// `row_bytes`: encoded size of a row, as the input files have it. `groups`: how many share the
/// limit.
WriteBudget PlanWriteBudget(std::int64_t memory_limit, int groups, const WritePlan& plan,
                            std::int64_t row_bytes);

}  // namespace icewright
