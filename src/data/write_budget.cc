#include "data/write_budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "data/parquet_schema.h"

namespace icewright {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;
constexpr std::int64_t kMinRowGroup = kMiB;
constexpr std::int64_t kMinDictionary = 64 << 10;
constexpr std::int64_t kMaxBatchRows = 64 * 1024;
constexpr std::int64_t kMinBatchRows = 1024;
constexpr int kMaxOpenFiles = 512;

// Decoded rows are larger than encoded ones; several batches are under way at once.
constexpr std::int64_t kDecodedPerEncoded = 4;
constexpr std::int64_t kBatchesUnderWay = 4;

// Columns of a row group grow by doubling, so up to half of what an open writer holds is empty.
constexpr std::int64_t kHeldPerRowGroup = 2;

// Column writers may take this part of what writers have; beyond it there is one at a time.
constexpr std::int64_t kColumnWritersShare = 4;

std::string Size(std::int64_t bytes) {
  if (bytes >= kMiB) return fmt::format("{} MiB", bytes / kMiB);
  return fmt::format("{} KiB", bytes >> 10);
}

std::string Note(std::string_view what, std::int64_t is, std::int64_t asked) {
  return fmt::format("{} of {} instead of {}: memory limit", what, Size(is), Size(asked));
}

std::int64_t ColumnsOf(const WritePlan& plan) {
  const auto leaves = static_cast<std::int64_t>(ParquetLeaves(plan.schema).size());
  return std::max<std::int64_t>(leaves, 1);
}

// One column writer at a time: what an open writer holds is its rows, not encoded yet.
// The source's row group has a half of the limit, rows that wait for the writer a third.
WriteBudget ByColumn(WriteBudget budget, std::int64_t memory_limit) {
  const std::int64_t for_writers = memory_limit / 3;
  budget.by_column_bytes = memory_limit / 2;
  budget.max_open_writers = static_cast<int>(std::clamp<std::int64_t>(
      for_writers / (kHeldPerRowGroup * budget.row_group_bytes), 1, kMaxOpenFiles));
  budget.raw_row_group_bytes = std::max(for_writers / budget.max_open_writers, kMinRowGroup);
  budget.notes.push_back(
      fmt::format("row groups written column by column, each of at most {} of rows before "
                  "encoding: memory limit",
                  Size(*budget.raw_row_group_bytes)));
  return budget;
}

}  // namespace

WriteBudget PlanWriteBudget(std::int64_t memory_limit, int groups, const WritePlan& plan,
                            std::int64_t row_bytes) {
  WriteBudget budget{.max_open_writers = kMaxOpenFiles,
                     .row_group_bytes = plan.row_group_bytes,
                     .dictionary_bytes = plan.dictionary_bytes,
                     .raw_row_group_bytes = {},
                     .by_column_bytes = 0,
                     .batch_rows = kMaxBatchRows,
                     .sort_bytes = 512 * kMiB,
                     .notes = {}};
  if (memory_limit == MemoryBudget::kUnlimited) return budget;
  const std::int64_t share = memory_limit / std::max(groups, 1);
  std::int64_t for_writers = share * 2 / 3;
  const std::int64_t decoded_row = std::max<std::int64_t>(row_bytes, 1) * kDecodedPerEncoded;
  budget.batch_rows =
      std::clamp(share / 4 / kBatchesUnderWay / decoded_row, kMinBatchRows, kMaxBatchRows);
  budget.sort_bytes = std::min(budget.sort_bytes, share / 8);
  const std::int64_t columns = ColumnsOf(plan);
  const std::int64_t column_writers = columns * plan.open_column_bytes;
  if (column_writers > for_writers / kColumnWritersShare) {
    return ByColumn(std::move(budget), memory_limit);
  }
  const std::int64_t per_writer = kHeldPerRowGroup * budget.row_group_bytes + column_writers;
  budget.max_open_writers =
      static_cast<int>(std::clamp<std::int64_t>(for_writers / per_writer, 1, kMaxOpenFiles));
  if (per_writer <= for_writers) return budget;

  // Not even one writer fits.
  for_writers -= column_writers;
  const std::int64_t dictionary =
      std::clamp(for_writers / 4 / columns, kMinDictionary, plan.dictionary_bytes);
  if (plan.format == FileFormat::kParquet && dictionary < plan.dictionary_bytes) {
    budget.dictionary_bytes = dictionary;
    budget.notes.push_back(Note("dictionaries", dictionary, plan.dictionary_bytes));
  }
  const std::int64_t row_group =
      std::clamp(for_writers / kHeldPerRowGroup, std::min(kMinRowGroup, plan.row_group_bytes),
                 plan.row_group_bytes);
  if (row_group < plan.row_group_bytes) {
    budget.row_group_bytes = row_group;
    budget.notes.push_back(Note(plan.format == FileFormat::kOrc ? "stripes" : "row groups",
                                row_group, plan.row_group_bytes));
  }
  return budget;
}

}  // namespace icewright
