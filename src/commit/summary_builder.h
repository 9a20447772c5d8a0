#pragma once

/// \file commit/summary_builder.h
/// The summary of a snapshot: counts of what it adds and removes, and the totals after it.
///
/// Java twin: SnapshotSummary.Builder, SnapshotProducer.summary.

#include <cstdint>
#include <map>
#include <string>

#include "manifest/data_file.h"
#include "table/metadata.h"
#include "table/snapshot.h"

namespace icewright {

/// What a set of files adds and removes. A DV counts with its blob, not with its Puffin file.
struct FileCounters {
  std::int64_t added_size = 0, removed_size = 0;
  std::int64_t added_files = 0, removed_files = 0;
  std::int64_t added_delete_files = 0, removed_delete_files = 0;
  std::int64_t added_eq_delete_files = 0, removed_eq_delete_files = 0;
  std::int64_t added_pos_delete_files = 0, removed_pos_delete_files = 0;
  std::int64_t added_dvs = 0, removed_dvs = 0;
  std::int64_t added_records = 0, removed_records = 0;
  std::int64_t added_pos_deletes = 0, removed_pos_deletes = 0;
  std::int64_t added_eq_deletes = 0, removed_eq_deletes = 0;
};

struct ManifestCounts {
  std::int64_t created = 0;
  std::int64_t kept = 0;
  std::int64_t replaced = 0;
};

/// Collects, then builds. Borrows the metadata. Single-threaded.
class SummaryBuilder {
 public:
  explicit SummaryBuilder(const TableMetadata& metadata) : metadata_(metadata) {}

  void Add(const DataFile& file);
  void Remove(const DataFile& file);
  void AddDuplicates(std::int64_t count) { duplicates_ += count; }
  void set_manifests(ManifestCounts counts) { manifests_ = counts; }

  const FileCounters& counters() const { return counters_; }

  /// Counters that are 0 are left out. `previous`: the parent snapshot's summary; null if there is
  /// no parent: totals start at 0. A total that the previous summary lacks, or that would become
  /// negative, is left out. `extra` may not replace a counter or total, but the engine's
  /// name.
  Summary Build(const Summary* previous, const Summary& extra) const;

 private:
  std::string PartitionPath(const DataFile& file) const;

  const TableMetadata& metadata_;
  FileCounters counters_;
  std::map<std::string, FileCounters> by_partition_;  // by path
  std::int64_t duplicates_ = 0;
  ManifestCounts manifests_;
};

}  // namespace icewright
