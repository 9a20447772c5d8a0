#include "manifest/manifest_statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "manifest/manifest_reader.h"
#include "manifest/partition_codec.h"
#include "table/literal.h"

namespace icewright::manifest_internal {
namespace {

bool IsNan(const Literal& value) {
  if (const auto* single = std::get_if<float>(&value)) return std::isnan(*single);
  if (const auto* wide = std::get_if<double>(&value)) return std::isnan(*wide);
  return false;
}

/// A zero bound covers both zeros: readers that order by IEEE total order would miss the other.
template <typename Number>
Literal WithZeroSign(Number value, bool negative) {
  return value == Number{0} ? std::copysign(Number{0}, negative ? Number{-1} : Number{1}) : value;
}

std::optional<Bytes> BoundOf(const Type& type, const Literal& value, bool is_lower) {
  if (IsNull(value)) return {};
  if (const auto* single = std::get_if<float>(&value)) {
    return ToBytes(type, WithZeroSign(*single, is_lower));
  }
  if (const auto* wide = std::get_if<double>(&value)) {
    return ToBytes(type, WithZeroSign(*wide, is_lower));
  }
  return ToBytes(type, value);
}

}  // namespace

ManifestStatistics::ManifestStatistics(Type partition_type)
    : partition_type_(std::move(partition_type)), ranges_(partition_type_.fields().size()) {}

void ManifestStatistics::AddPartition(const StructValue& partition) {
  for (std::size_t i = 0; i < ranges_.size(); ++i) {
    FieldRange& range = ranges_[i];
    const Literal& value = partition[i];
    const Type& type = partition_type_.fields()[i].type;
    if (IsNull(value)) {
      range.contains_null = true;
    } else if (IsNan(value)) {
      range.contains_nan = true;
    } else if (type.id() != TypeId::kUnknown) {
      if (IsNull(range.lower) || Compare(type, value, range.lower) < 0) range.lower = value;
      if (IsNull(range.upper) || Compare(type, value, range.upper) > 0) range.upper = value;
    }
  }
}

void ManifestStatistics::AddRows(EntryStatus status, std::int64_t rows) {
  std::int64_t& sum = rows_[static_cast<std::size_t>(status)];
  if (__builtin_add_overflow(sum, rows, &sum)) {
    sum = std::numeric_limits<std::int64_t>::max();  // forged counts only
  }
}

void ManifestStatistics::AddSequenceNumber(SequenceNumber number) {
  min_sequence_number_ = std::min(number, min_sequence_number_.value_or(number));
}

void ManifestStatistics::Add(const ManifestEntry& entry) {
  ++files_[static_cast<std::size_t>(entry.status)];
  AddRows(entry.status, entry.file.record_count);
  // Deleted entries count in the summaries, too: readers of deletes prune by them.
  AddPartition(entry.file.partition);
  if (entry.is_live() && entry.sequence_number) AddSequenceNumber(*entry.sequence_number);
}

void ManifestStatistics::AddExisting(const ExistingFiles& files) {
  files_[static_cast<std::size_t>(EntryStatus::kExisting)] += files.files;
  AddRows(EntryStatus::kExisting, files.rows);
  AddPartition(*files.partition);
  AddSequenceNumber(files.min_sequence_number);
}

void ManifestStatistics::Describe(ManifestFile& manifest) const {
  const auto at = [](EntryStatus status) { return static_cast<std::size_t>(status); };
  manifest.added_files_count = files_[at(EntryStatus::kAdded)];
  manifest.existing_files_count = files_[at(EntryStatus::kExisting)];
  manifest.deleted_files_count = files_[at(EntryStatus::kDeleted)];
  manifest.added_rows_count = rows_[at(EntryStatus::kAdded)];
  manifest.existing_rows_count = rows_[at(EntryStatus::kExisting)];
  manifest.deleted_rows_count = rows_[at(EntryStatus::kDeleted)];
  manifest.min_sequence_number = min_sequence_number_.value_or(kInitialSequenceNumber);
  manifest.min_sequence_number_pending = !min_sequence_number_;
  std::vector<PartitionFieldSummary> summaries;
  for (std::size_t i = 0; i < ranges_.size(); ++i) {
    const FieldRange& range = ranges_[i];
    const Type& type = partition_type_.fields()[i].type;
    summaries.push_back({.contains_null = range.contains_null,
                         .contains_nan = range.contains_nan,
                         .lower_bound = BoundOf(type, range.lower, true),
                         .upper_bound = BoundOf(type, range.upper, false)});
  }
  manifest.partitions = std::move(summaries);
}

Result<ManifestFile> DescribeManifest(RunContext& run, FileIO& io, const TableMetadata& metadata,
                                      ManifestFile manifest) {
  IW_TRY(run.Check());
  if (manifest.manifest_length <= 0) {
    IW_ASSIGN(auto file, io.Open(manifest.manifest_path));
    IW_ASSIGN(manifest.manifest_length, file->Size());
  }
  IW_ASSIGN(auto reader,
            ManifestReader::Open(io, metadata, manifest, {.metrics = false, .live_only = false}));
  manifest.partition_spec_id = reader.spec_id();
  manifest.content = reader.content();
  ManifestStatistics statistics(reader.partition_type());
  ManifestEntry entry;
  for (;;) {
    IW_ASSIGN(const bool more, reader.Next(entry));
    if (!more) break;
    statistics.Add(entry);
    // Added and deleted entries name the commit that wrote the manifest.
    if (entry.status != EntryStatus::kExisting) manifest.added_snapshot_id = *entry.snapshot_id;
  }
  const auto pending = manifest.sequence_number_pending;
  statistics.Describe(manifest);
  manifest.min_sequence_number_pending = pending && manifest.min_sequence_number_pending;
  return manifest;
}

}  // namespace icewright::manifest_internal
