#pragma once

/// \file manifest/columns.h
/// Every column of manifests and manifest lists, once. Avro schemas, readers and writers are loops
/// over these rows. To support a new column: add a member, add a row, add a golden file.
///
/// Spec: "Manifests", "Manifest Lists"; format versions 1 to 3.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "manifest/data_file.h"
#include "manifest/manifest_file.h"

namespace icewright::manifest_internal {

/// Whether a format version stores a column.
enum class In : char { kNo, kOptional, kRequired };

/// One column of a record that becomes a Row. `Ts`: the C++ types that columns have.
template <typename Row, typename... Ts>
struct Column {
  int id = 0;
  std::string_view name;
  In v1 = In::kNo, v2 = In::kNo, v3 = In::kNo;
  std::variant<Ts Row::*...> member;
  int key_id = 0;       ///< Maps: id of the key; lists: of the element.
  int value_id = 0;     ///< Maps: id of the value.
  bool metric = false;  ///< Left out when the reader does not ask for metrics.

  constexpr In InVersion(int version) const { return version == 1 ? v1 : version == 2 ? v2 : v3; }
  constexpr bool essential() const {
    return v1 == In::kRequired && v2 == In::kRequired && v3 == In::kRequired;
  }
};

using DataFileColumn =
    Column<DataFile, FileContent, Location, FileFormat, StructValue, std::int64_t, ColumnCounts,
           ColumnBounds, std::optional<Bytes>, std::vector<std::int64_t>, std::vector<FieldId>,
           std::optional<SortOrderId>, std::optional<std::int64_t>, std::optional<Location>>;
using EntryColumn = Column<ManifestEntry, EntryStatus, std::optional<SnapshotId>,
                           std::optional<SequenceNumber>, DataFile>;
using SummaryColumn =
    Column<PartitionFieldSummary, bool, std::optional<bool>, std::optional<Bytes>>;
using ListColumn =
    Column<ManifestFile, Location, std::int64_t, SpecId, ManifestContent, SequenceNumber,
           SnapshotId, std::optional<std::int32_t>, std::optional<std::int64_t>,
           std::optional<std::vector<PartitionFieldSummary>>, std::optional<Bytes>>;

inline constexpr auto kNo = In::kNo;
inline constexpr auto kOptional = In::kOptional;
inline constexpr auto kRequired = In::kRequired;

/// In the order of Java's writers.
inline constexpr DataFileColumn kDataFileColumns[] = {
    {134, "content", kNo, kRequired, kRequired, &DataFile::content},
    {100, "file_path", kRequired, kRequired, kRequired, &DataFile::file_path},
    {101, "file_format", kRequired, kRequired, kRequired, &DataFile::file_format},
    {102, "partition", kRequired, kRequired, kRequired, &DataFile::partition},
    {103, "record_count", kRequired, kRequired, kRequired, &DataFile::record_count},
    {104, "file_size_in_bytes", kRequired, kRequired, kRequired, &DataFile::file_size_in_bytes},
    {108, "column_sizes", kOptional, kOptional, kOptional, &DataFile::column_sizes, 117, 118, true},
    {109, "value_counts", kOptional, kOptional, kOptional, &DataFile::value_counts, 119, 120, true},
    {110, "null_value_counts", kOptional, kOptional, kOptional, &DataFile::null_value_counts, 121,
     122, true},
    {137, "nan_value_counts", kOptional, kOptional, kOptional, &DataFile::nan_value_counts, 138,
     139, true},
    {125, "lower_bounds", kOptional, kOptional, kOptional, &DataFile::lower_bounds, 126, 127, true},
    {128, "upper_bounds", kOptional, kOptional, kOptional, &DataFile::upper_bounds, 129, 130, true},
    {131, "key_metadata", kOptional, kOptional, kOptional, &DataFile::key_metadata},
    {132, "split_offsets", kOptional, kOptional, kOptional, &DataFile::split_offsets, 133, 0, true},
    {135, "equality_ids", kNo, kOptional, kOptional, &DataFile::equality_ids, 136},
    {140, "sort_order_id", kOptional, kOptional, kOptional, &DataFile::sort_order_id},
    {142, "first_row_id", kNo, kNo, kOptional, &DataFile::first_row_id},
    {143, "referenced_data_file", kNo, kOptional, kOptional, &DataFile::referenced_data_file},
    {144, "content_offset", kNo, kNo, kOptional, &DataFile::content_offset},
    {145, "content_size_in_bytes", kNo, kNo, kOptional, &DataFile::content_size_in_bytes},
};

/// Columns that the spec has dropped: reading skips them and rewriting need not keep them. v1 wants
/// the first with a constant, right after file_size_in_bytes.
inline constexpr int kBlockSizeId = 105;
inline constexpr std::int64_t kBlockSize = 64 << 20;
inline constexpr std::array<std::pair<int, std::string_view>, 4> kDroppedDataFileColumns = {{
    {kBlockSizeId, "block_size_in_bytes"},
    {106, "file_ordinal"},
    {107, "sort_columns"},
    {111, "distinct_counts"},
}};

inline constexpr EntryColumn kEntryColumns[] = {
    {0, "status", kRequired, kRequired, kRequired, &ManifestEntry::status},
    {1, "snapshot_id", kRequired, kOptional, kOptional, &ManifestEntry::snapshot_id},
    {3, "sequence_number", kNo, kOptional, kOptional, &ManifestEntry::sequence_number},
    {4, "file_sequence_number", kNo, kOptional, kOptional, &ManifestEntry::file_sequence_number},
    {2, "data_file", kRequired, kRequired, kRequired, &ManifestEntry::file},
};

inline constexpr SummaryColumn kSummaryColumns[] = {
    {509, "contains_null", kRequired, kRequired, kRequired, &PartitionFieldSummary::contains_null},
    {518, "contains_nan", kOptional, kOptional, kOptional, &PartitionFieldSummary::contains_nan},
    {510, "lower_bound", kOptional, kOptional, kOptional, &PartitionFieldSummary::lower_bound},
    {511, "upper_bound", kOptional, kOptional, kOptional, &PartitionFieldSummary::upper_bound},
};

inline constexpr ListColumn kListColumns[] = {
    {500, "manifest_path", kRequired, kRequired, kRequired, &ManifestFile::manifest_path},
    {501, "manifest_length", kRequired, kRequired, kRequired, &ManifestFile::manifest_length},
    {502, "partition_spec_id", kRequired, kRequired, kRequired, &ManifestFile::partition_spec_id},
    {517, "content", kNo, kRequired, kRequired, &ManifestFile::content},
    {515, "sequence_number", kNo, kRequired, kRequired, &ManifestFile::sequence_number},
    {516, "min_sequence_number", kNo, kRequired, kRequired, &ManifestFile::min_sequence_number},
    {503, "added_snapshot_id", kRequired, kRequired, kRequired, &ManifestFile::added_snapshot_id},
    {504, "added_files_count", kOptional, kRequired, kRequired, &ManifestFile::added_files_count},
    {505, "existing_files_count", kOptional, kRequired, kRequired,
     &ManifestFile::existing_files_count},
    {506, "deleted_files_count", kOptional, kRequired, kRequired,
     &ManifestFile::deleted_files_count},
    {512, "added_rows_count", kOptional, kRequired, kRequired, &ManifestFile::added_rows_count},
    {513, "existing_rows_count", kOptional, kRequired, kRequired,
     &ManifestFile::existing_rows_count},
    {514, "deleted_rows_count", kOptional, kRequired, kRequired, &ManifestFile::deleted_rows_count},
    {507, "partitions", kOptional, kOptional, kOptional, &ManifestFile::partitions, 508},
    {519, "key_metadata", kOptional, kOptional, kOptional, &ManifestFile::key_metadata},
    {520, "first_row_id", kNo, kNo, kOptional, &ManifestFile::first_row_id},
};

template <typename Columns>
consteval bool IdsAndNamesAreUnique(const Columns& columns) {
  for (const auto& a : columns) {
    for (const auto& b : columns) {
      if (&a != &b && (a.id == b.id || a.name == b.name)) return false;
    }
  }
  return true;
}
static_assert(IdsAndNamesAreUnique(kDataFileColumns));
static_assert(IdsAndNamesAreUnique(kEntryColumns));
static_assert(IdsAndNamesAreUnique(kSummaryColumns));
static_assert(IdsAndNamesAreUnique(kListColumns));

}  // namespace icewright::manifest_internal
