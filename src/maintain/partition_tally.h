#pragma once

/// \file maintain/partition_tally.h
/// Files and rows by partition, and their form in a partition statistics file. Pure: no file.
///
/// Spec: "Partition Statistics".   Java twins: PartitionStats, Partitioning.partitionType.

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "manifest/data_file.h"
#include "table/literal.h"
#include "table/metadata.h"

namespace icewright {

/// One struct for the partition tuples of all specs of a table: each partition field once, by id.
/// Fields whose source column was dropped are left out. Immutable.
class UnifiedPartition {
 public:
  /// Errors: kUnsupported for an unknown transform.
  static Result<UnifiedPartition> Make(const TableMetadata& metadata);

  const Type& type() const { return type_; }
  bool is_empty() const { return type_.fields().empty(); }

  /// A tuple of a spec as a tuple of type(): fields that the spec lacks are null. Errors: kCorrupt
  /// for an unknown spec or a tuple that is not of the spec.
  Result<StructValue> Unify(SpecId spec, const StructValue& partition) const;

 private:
  Type type_ = Type::Struct({});
  std::map<SpecId, std::vector<std::optional<std::size_t>>> positions_;  // by field of type_
};

/// What a statistics file says of one partition of one spec.
struct PartitionStatistics {
  std::int64_t data_records = 0, data_files = 0, data_bytes = 0;
  std::int64_t position_delete_records = 0, position_delete_files = 0, dvs = 0;
  std::int64_t equality_delete_records = 0, equality_delete_files = 0;
  std::optional<std::int64_t> last_updated_ms = {};
  std::optional<SnapshotId> last_updated_by = {};

  friend bool operator==(const PartitionStatistics&, const PartitionStatistics&) = default;
};

/// Single-threaded.
class PartitionTally {
 public:
  using Rows =
      std::unordered_map<StructValue, PartitionStatistics, StructValueHash, StructValueEqual>;

  /// `snapshot`: that of the entry; null if the table has it no more.
  void AddLive(const DataFile& file, StructValue partition, const Snapshot* snapshot);
  /// An entry that is deleted and was never counted: its partition is known, and changed.
  void AddDeleted(const DataFile& file, StructValue partition, const Snapshot* snapshot);
  /// An entry that is deleted and was counted.
  void Remove(const DataFile& file, StructValue partition, const Snapshot* snapshot);

  /// Adds what another tally counted.
  void Merge(PartitionTally&& other);
  void Merge(SpecId spec, StructValue partition, const PartitionStatistics& statistics);

  const std::map<SpecId, Rows>& by_spec() const { return by_spec_; }
  std::size_t size() const;

  /// Sums over all partitions; unset if some count is below 0.
  struct Totals {
    std::int64_t data_files = 0, data_records = 0, delete_files = 0;
    friend bool operator==(const Totals&, const Totals&) = default;
  };
  std::optional<Totals> Sum() const;

 private:
  PartitionStatistics& At(SpecId spec, StructValue&& partition);
  std::map<SpecId, Rows> by_spec_;
};

/// The columns of a statistics file. Format version 3 has dv_count and requires the counts of
/// deletes.
Schema PartitionStatisticsSchema(const Type& partition_type, int format_version);

/// To read files of any version: everything optional.
Schema LenientPartitionStatisticsSchema(const Type& partition_type);

/// Rows in the order of the leaves of PartitionStatisticsSchema, sorted by partition, nulls first,
/// then by spec.
std::vector<StructValue> RowsOf(const PartitionTally& tally, const Type& partition_type,
                                int format_version);

/// The reverse, from the leaves of the lenient schema. Errors: kCorrupt for a row without what
/// every version requires.
Status AddRow(StructValue row, const Type& partition_type, PartitionTally& tally);

}  // namespace icewright
