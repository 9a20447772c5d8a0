#include "schedule/service_status.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "config/fields.h"
#include "config/units.h"
#include "maintain/health.h"
#include "table/snapshot_summary.h"

namespace icewright {
namespace {

constexpr std::int64_t kDefaultTargetBytes = std::int64_t{512} << 20;

std::int64_t NumberOr(const std::string* text, std::int64_t otherwise) {
  std::int64_t value = 0;
  if (text == nullptr || !ParseField(*text, FieldUnit::kNone, value) || value < 0) return otherwise;
  return value;
}

int FlinkRank(std::string_view kind) {
  constexpr std::array<std::string_view, 4> kOrder = {
      "rewrite-data-files", "expire-snapshots", "delete-orphan-files", "convert-equality-deletes"};
  return static_cast<int>(std::ranges::find(kOrder, kind) - kOrder.begin());
}

}  // namespace

void RunDurations::Count(std::int64_t ms) {
  total_ms += ms;
  const auto bucket = std::ranges::lower_bound(kUpToMs, ms) - kUpToMs.begin();
  ++runs[static_cast<std::size_t>(bucket)];
}

std::int64_t TableFacts::excess_files() const {
  if (target_file_bytes <= 0) return 0;
  const std::int64_t needed =
      data_bytes / target_file_bytes + (data_bytes % target_file_bytes != 0 ? 1 : 0);
  return std::max<std::int64_t>(0, data_files - needed);
}

TableFacts FactsOf(const TableMetadata& metadata) {
  TableFacts facts{.snapshots = static_cast<std::int64_t>(metadata.snapshots.size()),
                   .target_file_bytes = kDefaultTargetBytes};
  if (const auto target = metadata.Property("write.target-file-size-bytes")) {
    const std::string text(*target);
    facts.target_file_bytes = NumberOr(&text, kDefaultTargetBytes);
  }
  const Snapshot* current = metadata.current_snapshot();
  if (current == nullptr) return facts;
  const auto total = [&](std::string_view key) {
    return NumberOr(FindKey(current->summary, key), 0);
  };
  facts.data_files = total(summary::kTotalDataFiles);
  facts.delete_files = total(summary::kTotalDeleteFiles);
  facts.equality_deletes = total(summary::kTotalEqDeletes);
  facts.position_deletes = total(summary::kTotalPosDeletes);
  facts.records = total(summary::kTotalRecords);
  facts.data_bytes = total(summary::kTotalFilesSize);
  return facts;
}

TableHealth HealthOf(const TableStatus& table) {
  TableHealth health;
  if (!table.last_error.empty()) health.problems.push_back(table.last_error);
  for (const TaskStatus& task : table.tasks) {
    if (task.failures == 0) continue;
    health.problems.push_back(fmt::format("{} failed {} time(s) in a row{}", task.id, task.failures,
                                          task.last_error.empty() ? "" : ": " + task.last_error));
  }
  for (const std::string& warning : table.lock.warnings) {
    health.problems.push_back("lock: " + warning);
  }
  if (!table.facts) return health;
  const TableFacts& facts = *table.facts;
  // As the command `health`, as far as a summary tells; a handful of files is no finding.
  const HealthThresholds thresholds;
  constexpr std::int64_t kHandful = 10;
  constexpr std::int64_t kManySnapshots = 1'000;
  if (facts.excess_files() >= kHandful &&
      facts.data_bytes / facts.data_files < thresholds.average_file_bytes) {
    health.notices.push_back(fmt::format("{} data files of {} on average",
                                         FormatCount(facts.data_files),
                                         FormatByteSize(facts.data_bytes / facts.data_files)));
  }
  if (facts.delete_files > kHandful && facts.delete_files > facts.data_files / 2) {
    health.notices.push_back(fmt::format("{} delete files on {} data files",
                                         FormatCount(facts.delete_files),
                                         FormatCount(facts.data_files)));
  }
  if (facts.snapshots > kManySnapshots) {
    health.notices.push_back(fmt::format("{} snapshots", FormatCount(facts.snapshots)));
  }
  return health;
}

std::vector<int> FlinkTaskIndices(const std::vector<TaskStatus>& tasks) {
  std::vector<std::size_t> order(tasks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return FlinkRank(tasks[i].kind); });
  std::vector<int> indices(tasks.size());
  for (std::size_t n = 0; n < order.size(); ++n) indices[order[n]] = static_cast<int>(n);
  return indices;
}

}  // namespace icewright
