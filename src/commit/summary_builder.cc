#include "commit/summary_builder.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "table/snapshot_summary.h"

namespace icewright {
namespace {

struct CounterRow {
  std::string_view key;
  std::int64_t FileCounters::*member;
};

constexpr CounterRow kCounters[] = {
    {summary::kAddedDataFiles, &FileCounters::added_files},
    {summary::kDeletedDataFiles, &FileCounters::removed_files},
    {summary::kAddedDeleteFiles, &FileCounters::added_delete_files},
    {summary::kRemovedDeleteFiles, &FileCounters::removed_delete_files},
    {summary::kAddedEqDeleteFiles, &FileCounters::added_eq_delete_files},
    {summary::kRemovedEqDeleteFiles, &FileCounters::removed_eq_delete_files},
    {summary::kAddedPosDeleteFiles, &FileCounters::added_pos_delete_files},
    {summary::kRemovedPosDeleteFiles, &FileCounters::removed_pos_delete_files},
    {summary::kAddedDvs, &FileCounters::added_dvs},
    {summary::kRemovedDvs, &FileCounters::removed_dvs},
    {summary::kAddedRecords, &FileCounters::added_records},
    {summary::kDeletedRecords, &FileCounters::removed_records},
    {summary::kAddedFilesSize, &FileCounters::added_size},
    {summary::kRemovedFilesSize, &FileCounters::removed_size},
    {summary::kAddedPosDeletes, &FileCounters::added_pos_deletes},
    {summary::kRemovedPosDeletes, &FileCounters::removed_pos_deletes},
    {summary::kAddedEqDeletes, &FileCounters::added_eq_deletes},
    {summary::kRemovedEqDeletes, &FileCounters::removed_eq_deletes},
};

struct TotalRow {
  std::string_view key;
  std::int64_t FileCounters::*added;
  std::int64_t FileCounters::*removed;
};

constexpr TotalRow kTotals[] = {
    {summary::kTotalDataFiles, &FileCounters::added_files, &FileCounters::removed_files},
    {summary::kTotalDeleteFiles, &FileCounters::added_delete_files,
     &FileCounters::removed_delete_files},
    {summary::kTotalRecords, &FileCounters::added_records, &FileCounters::removed_records},
    {summary::kTotalFilesSize, &FileCounters::added_size, &FileCounters::removed_size},
    {summary::kTotalPosDeletes, &FileCounters::added_pos_deletes,
     &FileCounters::removed_pos_deletes},
    {summary::kTotalEqDeletes, &FileCounters::added_eq_deletes, &FileCounters::removed_eq_deletes},
};

constexpr std::string_view kPartitionLimit = "write.summary.partition-limit";
constexpr std::string_view kPartitionPrefix = "partitions.";

void Append(Summary& to, std::string_view key, std::string value) {
  to.emplace_back(std::string(key), std::move(value));
}

void AppendCounters(Summary& to, const FileCounters& counters) {
  for (const CounterRow& row : kCounters) {
    if (const std::int64_t value = counters.*row.member; value > 0) {
      Append(to, row.key, std::to_string(value));
    }
  }
}

std::int64_t ContentSize(const DataFile& file) {
  if (!file.is_deletion_vector()) return file.file_size_in_bytes;
  return file.content_size_in_bytes.value_or(file.file_size_in_bytes);
}

/// Java's Long.parseLong; unset for anything else.
std::optional<std::int64_t> ParseTotal(const std::string& text) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

std::optional<std::int64_t> PreviousTotal(const Summary* previous, std::string_view key) {
  if (previous == nullptr) return 0;
  const std::string* text = FindKey(*previous, key);
  return text == nullptr ? std::nullopt : ParseTotal(*text);
}

void AppendTotals(Summary& to, const Summary* previous, const FileCounters& counters) {
  for (const TotalRow& row : kTotals) {
    const auto before = PreviousTotal(previous, row.key);
    if (!before || *before < 0) continue;
    const Int128 total = Int128{*before} + counters.*row.added - counters.*row.removed;
    if (total < 0 || total > std::numeric_limits<std::int64_t>::max()) continue;
    Append(to, row.key, std::to_string(static_cast<std::int64_t>(total)));
  }
}

std::string JoinedCounters(const FileCounters& counters) {
  Summary keys;
  AppendCounters(keys, counters);
  std::string joined;
  for (const auto& [key, value] : keys) {
    joined += fmt::format("{}{}={}", joined.empty() ? "" : ",", key, value);
  }
  return joined;
}

struct Members {
  std::int64_t FileCounters::*size;
  std::int64_t FileCounters::*data_files;
  std::int64_t FileCounters::*records;
  std::int64_t FileCounters::*delete_files;
  std::int64_t FileCounters::*dvs;
  std::int64_t FileCounters::*pos_files;
  std::int64_t FileCounters::*pos_deletes;
  std::int64_t FileCounters::*eq_files;
  std::int64_t FileCounters::*eq_deletes;
};

constexpr Members kAdded{
    &FileCounters::added_size,        &FileCounters::added_files,
    &FileCounters::added_records,     &FileCounters::added_delete_files,
    &FileCounters::added_dvs,         &FileCounters::added_pos_delete_files,
    &FileCounters::added_pos_deletes, &FileCounters::added_eq_delete_files,
    &FileCounters::added_eq_deletes,
};

constexpr Members kRemoved{
    &FileCounters::removed_size,        &FileCounters::removed_files,
    &FileCounters::removed_records,     &FileCounters::removed_delete_files,
    &FileCounters::removed_dvs,         &FileCounters::removed_pos_delete_files,
    &FileCounters::removed_pos_deletes, &FileCounters::removed_eq_delete_files,
    &FileCounters::removed_eq_deletes,
};

void Count(FileCounters& counters, const Members& members, const DataFile& file) {
  counters.*members.size += ContentSize(file);
  switch (file.content) {
    case FileContent::kData:
      ++(counters.*members.data_files);
      counters.*members.records += file.record_count;
      break;
    case FileContent::kPositionDeletes:
      ++(counters.*members.delete_files);
      ++(counters.*(file.is_deletion_vector() ? members.dvs : members.pos_files));
      counters.*members.pos_deletes += file.record_count;
      break;
    case FileContent::kEqualityDeletes:
      ++(counters.*members.delete_files);
      ++(counters.*members.eq_files);
      counters.*members.eq_deletes += file.record_count;
      break;
  }
}

}  // namespace

std::string SummaryBuilder::PartitionPath(const DataFile& file) const {
  const PartitionSpec* spec = metadata_.FindSpec(file.spec_id);
  return spec == nullptr ? std::string() : spec->PathOf(metadata_.schema(), file.partition);
}

void SummaryBuilder::Add(const DataFile& file) {
  Count(counters_, kAdded, file);
  Count(by_partition_[PartitionPath(file)], kAdded, file);
}

void SummaryBuilder::Remove(const DataFile& file) {
  Count(counters_, kRemoved, file);
  Count(by_partition_[PartitionPath(file)], kRemoved, file);
}

Summary SummaryBuilder::Build(const Summary* previous, const Summary& extra) const {
  Summary built;
  AppendCounters(built, counters_);
  if (duplicates_ > 0) {
    Append(built, summary::kDeletedDuplicateFiles, std::to_string(duplicates_));
  }
  Append(built, summary::kManifestsCreated, std::to_string(manifests_.created));
  Append(built, summary::kManifestsKept, std::to_string(manifests_.kept));
  Append(built, summary::kManifestsReplaced, std::to_string(manifests_.replaced));
  Append(built, summary::kChangedPartitionCount, std::to_string(by_partition_.size()));

  const auto limit = IntProperty(metadata_.properties, kPartitionLimit, 0);
  if (limit && !by_partition_.empty() && std::ssize(by_partition_) <= *limit) {
    Append(built, summary::kPartitionSummariesIncluded, "true");
    for (const auto& [path, counters] : by_partition_) {
      Append(built, std::string(kPartitionPrefix) + path, JoinedCounters(counters));
    }
  }
  AppendTotals(built, previous, counters_);
  for (const auto& [key, value] : extra) {
    if (FindKey(built, key) == nullptr) Append(built, key, value);
  }
  if (FindKey(built, "engine-name") == nullptr) {
    Append(built, "engine-name", "icewright");
    Append(built, "engine-version", ICEWRIGHT_VERSION);
  }
  return built;
}

}  // namespace icewright
