#pragma once

/// \file manifest/manifest_statistics.h
/// What a manifest list says of a manifest: counts, lowest sequence number, partition summaries.

#include <vector>

#include "manifest/data_file.h"
#include "manifest/manifest_file.h"
#include "manifest/manifest_writer.h"
#include "table/type.h"

namespace icewright::manifest_internal {

/// Adds up entries of one manifest. Single-threaded.
class ManifestStatistics {
 public:
  explicit ManifestStatistics(Type partition_type);

  /// An unset sequence number stands for the one that the commit will get.
  void Add(const ManifestEntry& entry);
  void AddExisting(const ExistingFiles& files);

  /// Counts, rows, summaries and min_sequence_number; without a live entry that has an explicit
  /// number, min_sequence_number is pending.
  void Describe(ManifestFile& manifest) const;

 private:
  struct FieldRange {
    bool contains_null = false;
    bool contains_nan = false;
    Literal lower = {};
    Literal upper = {};
  };
  void AddPartition(const StructValue& partition);
  void AddRows(EntryStatus status, std::int64_t rows);
  void AddSequenceNumber(SequenceNumber number);

  Type partition_type_;
  std::vector<FieldRange> ranges_;
  std::int32_t files_[3] = {};  // by EntryStatus
  std::int64_t rows_[3] = {};
  std::optional<SequenceNumber> min_sequence_number_;
};

/// Counts and summaries of a manifest that no list describes, by reading it whole. `manifest` holds
/// at least its path, and the snapshot for entries that name none. Errors: those of ManifestReader.
Result<ManifestFile> DescribeManifest(RunContext& run, FileIO& io, const TableMetadata& metadata,
                                      ManifestFile manifest);

}  // namespace icewright::manifest_internal
