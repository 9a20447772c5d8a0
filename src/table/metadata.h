#pragma once

/// \file table/metadata.h
/// Everything a table's metadata JSON says, as one plain value.
///
/// Spec: "Table Metadata".   Java twin: TableMetadata.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/location.h"
#include "base/result.h"
#include "table/partition_spec.h"
#include "table/schema.h"
#include "table/snapshot.h"
#include "table/sort_order.h"

namespace icewright {

using Properties = std::map<std::string, std::string>;

/// The newest format version this build writes.
inline constexpr int kMaxFormatVersion = 3;

/// A copyable value; a loaded table shares it as shared_ptr<const TableMetadata>.
struct TableMetadata {
  int format_version = 2;
  std::string table_uuid;  ///< v1 may lack one: empty.
  Location location;       ///< Without a trailing slash.
  SequenceNumber last_sequence_number{0};
  TimePoint last_updated{};
  std::int32_t last_column_id = 0;
  std::vector<Schema> schemas;
  SchemaId current_schema_id{0};
  std::vector<PartitionSpec> partition_specs;
  SpecId default_spec_id{0};
  std::int32_t last_partition_id = 999;
  std::vector<SortOrder> sort_orders;
  SortOrderId default_sort_order_id{0};
  Properties properties;
  std::optional<SnapshotId> current_snapshot_id = {};
  std::vector<Snapshot> snapshots;
  std::map<std::string, SnapshotRef, std::less<>> refs;
  std::vector<SnapshotLogEntry> snapshot_log;
  std::vector<MetadataLogEntry> metadata_log;
  std::vector<StatisticsFile> statistics;
  std::vector<PartitionStatisticsFile> partition_statistics;
  std::optional<std::int64_t> next_row_id = {};  ///< v3
  std::string encryption_keys = {};              ///< v3: the JSON array as it was; empty: none
  std::string unknown_fields = {};  ///< JSON object of top-level members this build does not know.

  /// Precondition: the metadata came from ParseTableMetadata or Apply, which check the ids.
  const Schema& schema() const;
  const PartitionSpec& default_spec() const;
  const SortOrder& default_sort_order() const;

  const Schema* FindSchema(SchemaId id) const;
  const PartitionSpec* FindSpec(SpecId id) const;
  const SortOrder* FindSortOrder(SortOrderId id) const;

  /// Linear in the number of snapshots; walk chains with SnapshotIndex.
  const Snapshot* FindSnapshot(SnapshotId id) const;
  const Snapshot* current_snapshot() const;

  /// Head of a branch or target of a tag; null if there is no such ref.
  const Snapshot* FindRef(std::string_view name) const;

  /// The schema a snapshot was written with; the current one if it does not say.
  const Schema& SchemaOf(const Snapshot& snapshot) const;

  std::optional<std::string_view> Property(std::string_view key) const;

  /// True if table properties ask for encryption or keys are listed.
  bool is_encrypted() const;
};

/// Snapshots by id in O(1), for walks along parents. Borrows the metadata.
class SnapshotIndex {
 public:
  explicit SnapshotIndex(const TableMetadata& metadata);
  const Snapshot* Find(SnapshotId id) const;
  const Snapshot* ParentOf(const Snapshot& snapshot) const;

 private:
  std::unordered_map<std::int64_t, const Snapshot*> by_id_;
};

/// Reads metadata JSON (plain or gzip). `name` is for messages. Errors: kCorrupt, naming file and
/// member; kUnsupported for a format version above kMaxFormatVersion.
Result<TableMetadata> ParseTableMetadata(ByteView json_or_gzip, std::string_view name);

/// The JSON as Java would write it. Unknown members are written back.
std::string SerializeTableMetadata(const TableMetadata& metadata);

/// "00003-uuid.metadata.json" -> 3, "v12.gz.metadata.json" -> 12; unset for other names.
std::optional<int> MetadataVersionOf(std::string_view file_name);

/// As table locations are kept: "s3://b/t/" -> "s3://b/t"; "s3://" and "/" stay.
Location WithoutTrailingSlash(const Location& location);

/// Number property, or the default. Errors: kInvalidArgument, naming key and value.
Result<std::int64_t> IntProperty(const Properties& properties, std::string_view key,
                                 std::int64_t default_value);
Result<double> DoubleProperty(const Properties& properties, std::string_view key,
                              double default_value);
/// "true" in any case is true, anything else false, as Java.
bool BoolProperty(const Properties& properties, std::string_view key, bool default_value);
std::string StringProperty(const Properties& properties, std::string_view key,
                           std::string_view default_value);

}  // namespace icewright
