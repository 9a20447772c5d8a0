#pragma once

/// \file table/table_update.h
/// Changes of table metadata and what they require, as plain values; applying them is a pure
/// function.
///
/// Spec: REST catalog "CommitTableRequest".   Java twins: MetadataUpdate, UpdateRequirement.

#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "codec/json_fwd.h"
#include "table/metadata.h"

namespace icewright {

struct AssignUuid {
  std::string uuid;
};
struct UpgradeFormatVersion {
  int format_version;
};
/// Apply gives the schema the next free id, or finds an equal one; {SchemaId -1} below means it.
struct AddSchema {
  Schema schema;
};
struct SetCurrentSchema {
  std::optional<SchemaId> schema_id; /* unset: the one last added */
};
struct AddPartitionSpec {
  PartitionSpec spec;
};
struct SetDefaultSpec {
  std::optional<SpecId> spec_id; /* unset: the one last added */
};
struct AddSortOrder {
  SortOrder order;
};
struct SetDefaultSortOrder {
  std::optional<SortOrderId> order_id; /* unset: the one last added */
};
struct AddSnapshot {
  Snapshot snapshot;
};
struct RemoveSnapshots {
  std::vector<SnapshotId> ids;
};
struct SetSnapshotRef {
  std::string name;
  SnapshotRef ref;
};
struct RemoveSnapshotRef {
  std::string name;
};
struct SetProperties {
  Properties updates;
};
struct RemoveProperties {
  std::vector<std::string> removals;
};
struct SetLocation {
  Location location;
};
struct SetStatistics {
  StatisticsFile statistics;
};
struct RemoveStatistics {
  SnapshotId snapshot_id;
};
struct SetPartitionStatistics {
  PartitionStatisticsFile statistics;
};
struct RemovePartitionStatistics {
  SnapshotId snapshot_id;
};
struct RemovePartitionSpecs {
  std::vector<SpecId> ids;
};
struct RemoveSchemas {
  std::vector<SchemaId> ids;
};

using TableUpdate =
    std::variant<AssignUuid, UpgradeFormatVersion, AddSchema, SetCurrentSchema, AddPartitionSpec,
                 SetDefaultSpec, AddSortOrder, SetDefaultSortOrder, AddSnapshot, RemoveSnapshots,
                 SetSnapshotRef, RemoveSnapshotRef, SetProperties, RemoveProperties, SetLocation,
                 SetStatistics, RemoveStatistics, SetPartitionStatistics, RemovePartitionStatistics,
                 RemovePartitionSpecs, RemoveSchemas>;

struct AssertCreate {};
struct AssertTableUuid {
  std::string uuid;
};
/// Unset id: the ref must not exist.
struct AssertRefSnapshotId {
  std::string ref;
  std::optional<SnapshotId> snapshot_id;
};
struct AssertLastAssignedFieldId {
  std::int32_t id;
};
struct AssertCurrentSchemaId {
  SchemaId id;
};
struct AssertLastAssignedPartitionId {
  std::int32_t id;
};
struct AssertDefaultSpecId {
  SpecId id;
};
struct AssertDefaultSortOrderId {
  SortOrderId id;
};

using TableRequirement =
    std::variant<AssertCreate, AssertTableUuid, AssertRefSnapshotId, AssertLastAssignedFieldId,
                 AssertCurrentSchemaId, AssertLastAssignedPartitionId, AssertDefaultSpecId,
                 AssertDefaultSortOrderId>;

/// Null `base`: the table does not exist. Errors: kConflict, naming what was expected and found.
Status CheckRequirement(const TableMetadata* base, const TableRequirement& requirement);

/// Applies updates in order: sequence numbers, next-row-id, snapshot log (trimmed when a snapshot
/// is removed or history is cut), last-updated-ms (never backwards) follow. A snapshot that claims
/// to be older than the table's last update (clock skew) gets the time of that update. Without a
/// change the result equals `base`. Does not touch the metadata log. Pure. Errors: kInvalidArgument
/// for an update that does not fit; kUnsupported to write a newer format.
Result<TableMetadata> Apply(const TableMetadata& base, std::span<const TableUpdate> updates,
                            TimePoint now);

/// First metadata of a new table: fresh field ids from 1, spec and order ids re-bound to them.
/// Properties: `format-version` is taken out and obeyed (default 2), other reserved ones are
/// dropped; `write.parquet.compression-codec` is zstd unless said otherwise, as Java stores it.
/// Errors: kInvalidArgument; kUnsupported for a newer format.
struct NewTable {
  Location location;
  Schema schema;
  PartitionSpec spec;
  SortOrder sort_order;
  Properties properties;
};
Result<TableMetadata> MakeTableMetadata(const NewTable& table, std::string uuid, TimePoint now);

/// The metadata that goes to disk next: `next` plus `previous` in the metadata log, which is cut to
/// write.metadata.previous-versions-max. `dropped` gets the files that fell out of the log.
TableMetadata WithMetadataLog(TableMetadata next, const TableMetadata& previous,
                              const Location& previous_location, std::vector<Location>* dropped);

/// REST wire form.
Json ToJson(const TableUpdate& update);
Json ToJson(const TableRequirement& requirement);

}  // namespace icewright
