#pragma once

/// \file manifest/data_file.h
/// A data or delete file as manifests describe it.
///
/// Spec: "Manifests", data_file, format versions 1 to 3.   Java twins: ContentFile, DataFile,
/// DeleteFile.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/location.h"
#include "base/result.h"
#include "table/value.h"

namespace icewright {

enum class FileContent : std::uint8_t { kData = 0, kPositionDeletes = 1, kEqualityDeletes = 2 };
enum class FileFormat : std::uint8_t { kAvro, kParquet, kOrc, kPuffin };

/// "PARQUET", as manifests spell it.
std::string_view Name(FileFormat format);
/// Any case. Errors: kUnsupported.
Result<FileFormat> ParseFileFormat(std::string_view name);

/// Per-column numbers and bounds, sorted by field id.
using ColumnCounts = std::vector<std::pair<FieldId, std::int64_t>>;
using ColumnBounds = std::vector<std::pair<FieldId, Bytes>>;

/// Null if the column is not listed.
const std::int64_t* FindColumn(const ColumnCounts& counts, FieldId field);
const Bytes* FindColumn(const ColumnBounds& bounds, FieldId field);

/// Numbers in comments are the spec's field ids.
struct DataFile {
  FileContent content = FileContent::kData;           ///< 134
  Location file_path;                                 ///< 100
  FileFormat file_format = FileFormat::kParquet;      ///< 101
  StructValue partition;                              ///< 102, in the order of the spec's fields
  std::int64_t record_count = 0;                      ///< 103
  std::int64_t file_size_in_bytes = 0;                ///< 104
  ColumnCounts column_sizes;                          ///< 108
  ColumnCounts value_counts;                          ///< 109
  ColumnCounts null_value_counts;                     ///< 110
  ColumnCounts nan_value_counts;                      ///< 137
  ColumnBounds lower_bounds;                          ///< 125
  ColumnBounds upper_bounds;                          ///< 128
  std::optional<Bytes> key_metadata = {};             ///< 131
  std::vector<std::int64_t> split_offsets = {};       ///< 132; empty: none
  std::vector<FieldId> equality_ids = {};             ///< 135
  std::optional<SortOrderId> sort_order_id = {};      ///< 140
  std::optional<std::int64_t> first_row_id = {};      ///< 142, v3
  std::optional<Location> referenced_data_file = {};  ///< 143
  std::optional<std::int64_t> content_offset = {};    ///< 144, v3
  std::optional<std::int64_t> content_size_in_bytes = {};  ///< 145, v3

  /// The spec that `partition` belongs to: known from the manifest, not stored per file.
  SpecId spec_id{0};

  bool is_deletion_vector() const {
    return content == FileContent::kPositionDeletes && file_format == FileFormat::kPuffin;
  }

  /// Drops counts and bounds of columns: what is left fits a plan of a million files.
  void DropMetrics();

  friend bool operator==(const DataFile&, const DataFile&) = default;
};

/// What identifies a file or a blob in one: DVs share Puffin files, so a path alone does not.
struct ContentKey {
  Location path;
  std::int64_t offset = -1;  ///< -1: not a DV
  std::int64_t size = -1;

  static ContentKey Of(const DataFile& file);
  friend bool operator==(const ContentKey&, const ContentKey&) = default;
};

struct ContentKeyHash {
  std::size_t operator()(const ContentKey& key) const;
};

/// The one data file that a position delete applies to: a DV or a file with referenced_data_file,
/// or equal lower and upper bounds of file_path; unset for a delete of many files.
std::optional<Location> ReferencedDataFile(const DataFile& delete_file);

enum class EntryStatus : std::uint8_t { kExisting = 0, kAdded = 1, kDeleted = 2 };

/// One line of a manifest, after inheritance.
struct ManifestEntry {
  EntryStatus status = EntryStatus::kExisting;
  std::optional<SnapshotId> snapshot_id = {};
  std::optional<SequenceNumber> sequence_number = {};  ///< data sequence number
  std::optional<SequenceNumber> file_sequence_number = {};
  DataFile file;

  bool is_live() const { return status != EntryStatus::kDeleted; }
  friend bool operator==(const ManifestEntry&, const ManifestEntry&) = default;
};

}  // namespace icewright
