#include "data/write_budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

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

std::string Size(std::int64_t bytes) {
  if (bytes >= kMiB) return fmt::format("{} MiB", bytes / kMiB);
  return fmt::format("{} KiB", bytes >> 10);
}

std::string Note(std::string_view what, std::int64_t is, std::int64_t asked) {
  return fmt::format("{} of {} instead of {}: memory limit", what, Size(is), Size(asked));
}

}  // namespace

WriteBudget PlanWriteBudget(std::int64_t memory_limit, int groups, const WritePlan& plan,
                            std::int64_t row_bytes) {
  WriteBudget budget{.max_open_writers = kMaxOpenFiles,
                     .row_group_bytes = plan.row_group_bytes,
                     .dictionary_bytes = plan.dictionary_bytes,
                     .batch_rows = kMaxBatchRows,
                     .sort_bytes = 512 * kMiB,
                     .notes = {}};
  if (memory_limit == MemoryBudget::kUnlimited) return budget;
  const std::int64_t share = memory_limit / std::max(groups, 1);
  const std::int64_t for_writers = share * 2 / 3;
  const std::int64_t decoded_row = std::max<std::int64_t>(row_bytes, 1) * kDecodedPerEncoded;
  budget.batch_rows =
      std::clamp(share / 4 / kBatchesUnderWay / decoded_row, kMinBatchRows, kMaxBatchRows);
  budget.sort_bytes = std::min(budget.sort_bytes, share / 8);
  budget.max_open_writers = static_cast<int>(std::clamp<std::int64_t>(
      for_writers / (kHeldPerRowGroup * budget.row_group_bytes), 1, kMaxOpenFiles));
  if (kHeldPerRowGroup * budget.row_group_bytes <= for_writers) return budget;

  // Not even one writer fits.
  const auto columns =
      static_cast<std::int64_t>(std::max<std::size_t>(plan.schema.fields().size(), 1));
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
