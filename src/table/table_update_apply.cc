// Applies updates to table metadata. Rules are those of Java's TableMetadata.Builder.

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>

#include "table/structure_check.h"
#include "table/table_update.h"

namespace icewright {
namespace {

constexpr std::int32_t kNoPartitionFieldYet = 999;

template <typename... Args>
Error Bad(fmt::format_string<Args...> format, Args&&... args) {
  return Error(Code::kInvalidArgument, fmt::format(format, std::forward<Args>(args)...));
}

/// One past the highest id, at least `first`.
template <typename Id, typename Items, typename IdOf>
Id NextId(const Items& items, std::int32_t first, const IdOf& id_of) {
  std::int32_t next = first;
  for (const auto& item : items) next = std::max(next, Raw(id_of(item)) + 1);
  return Id{next};
}

/// Same sources, transforms and names; ids do not count.
bool SameSpec(const PartitionSpec& a, const PartitionSpec& b) {
  return std::equal(a.fields.begin(), a.fields.end(), b.fields.begin(), b.fields.end(),
                    [](const PartitionField& x, const PartitionField& y) {
                      return x.source_ids == y.source_ids && x.name == y.name &&
                             x.transform == y.transform;
                    });
}

template <typename File>
void SetBySnapshot(std::vector<File>& files, const File& file) {
  const auto it = std::find_if(files.begin(), files.end(), [&file](const File& other) {
    return other.snapshot_id == file.snapshot_id;
  });
  if (it == files.end()) {
    files.push_back(file);
  } else {
    *it = file;
  }
}

class Applier {
 public:
  Applier(const TableMetadata& base, TimePoint now) : next_(base), now_(now) {}

  Result<TableMetadata> Finish() &&;

  Status operator()(const AssignUuid& update);
  Status operator()(const UpgradeFormatVersion& update);
  Status operator()(const AddSchema& update);
  Status operator()(const SetCurrentSchema& update);
  Status operator()(const AddPartitionSpec& update);
  Status operator()(const SetDefaultSpec& update);
  Status operator()(const AddSortOrder& update);
  Status operator()(const SetDefaultSortOrder& update);
  Status operator()(const AddSnapshot& update);
  Status operator()(const RemoveSnapshots& update);
  Status operator()(const SetSnapshotRef& update);
  Status operator()(const RemoveSnapshotRef& update);
  Status operator()(const SetProperties& update);
  Status operator()(const RemoveProperties& update);
  Status operator()(const SetLocation& update);
  Status operator()(const SetStatistics& update);
  Status operator()(const RemoveStatistics& update);
  Status operator()(const SetPartitionStatistics& update);
  Status operator()(const RemovePartitionStatistics& update);
  Status operator()(const RemovePartitionSpecs& update);
  Status operator()(const RemoveSchemas& update);

 private:
  /// Assigns unless equal; says that something changed.
  template <typename T>
  void Set(T& member, T value) {
    if (member == value) return;
    member = std::move(value);
    changed_ = true;
  }

  void GivePartitionFieldIds(PartitionSpec& spec) const;
  Status CheckRowIds(const Snapshot& snapshot) const;
  void RemoveRef(const std::string& name);
  void TrimSnapshotLog();

  TableMetadata next_;
  TimePoint now_;
  bool changed_ = false;
  bool structure_changed_ = false;
  bool snapshots_removed_ = false;
  std::optional<TimePoint> updated_;  // of the snapshot that was added or made current last
  std::optional<SchemaId> added_schema_;
  std::optional<SpecId> added_spec_;
  std::optional<SortOrderId> added_order_;
  std::unordered_set<std::int64_t> added_snapshots_;
  std::unordered_set<std::int64_t> passed_snapshots_;  // added here, current for a moment
};

Status Applier::operator()(const AssignUuid& update) {
  if (update.uuid.empty()) return Bad("assign-uuid: the uuid is empty");
  if (!next_.table_uuid.empty() && next_.table_uuid != update.uuid) {
    return Bad("assign-uuid: the table has uuid {} already", next_.table_uuid);
  }
  Set(next_.table_uuid, update.uuid);
  return {};
}

Status Applier::operator()(const UpgradeFormatVersion& update) {
  if (update.format_version > kMaxFormatVersion) {
    return Error(Code::kUnsupported, fmt::format("cannot upgrade to format version {}: this build "
                                                 "writes up to {}",
                                                 update.format_version, kMaxFormatVersion));
  }
  if (update.format_version < next_.format_version) {
    return Bad("cannot downgrade a table of format version {} to {}", next_.format_version,
               update.format_version);
  }
  if (update.format_version > 1 && next_.table_uuid.empty()) {
    return Bad("cannot upgrade to format version {}: the table has no uuid, assign one first",
               update.format_version);
  }
  Set(next_.format_version, update.format_version);
  if (next_.format_version >= 3 && !next_.next_row_id) next_.next_row_id = 0;
  return {};
}

Status Applier::operator()(const AddSchema& update) {
  IW_TRY(CheckSchema(update.schema, next_.format_version));
  next_.last_column_id = std::max(next_.last_column_id, update.schema.highest_field_id());
  const auto same = std::find_if(next_.schemas.begin(), next_.schemas.end(),
                                 [&](const Schema& s) { return s.SameAs(update.schema); });
  if (same != next_.schemas.end()) {
    added_schema_ = same->id();
    return {};
  }
  const auto id = NextId<SchemaId>(next_.schemas, 0,
                                   [](const Schema& s) { return s.id().value_or(SchemaId{0}); });
  next_.schemas.emplace_back(update.schema.fields(), id, update.schema.identifier_field_ids(),
                             update.schema.unknown_fields());
  added_schema_ = id;
  changed_ = true;
  return {};
}

Status Applier::operator()(const SetCurrentSchema& update) {
  const std::optional<SchemaId> id = update.schema_id ? update.schema_id : added_schema_;
  if (!id) return Bad("set-current-schema: no schema was added before");
  if (next_.FindSchema(*id) == nullptr) {
    return Bad("set-current-schema: there is no schema {}", Raw(*id));
  }
  structure_changed_ = true;
  Set(next_.current_schema_id, *id);
  return {};
}

void Applier::GivePartitionFieldIds(PartitionSpec& spec) const {
  std::int32_t last = next_.format_version == 1 ? kNoPartitionFieldYet : next_.last_partition_id;
  for (PartitionField& field : spec.fields) {
    if (field.field_id != FieldId{0}) continue;
    // v1 counts positions; later versions give the same field the same id in every spec.
    for (const PartitionSpec& known : next_.partition_specs) {
      for (const PartitionField& other : known.fields) {
        if (next_.format_version > 1 && other.source_ids == field.source_ids &&
            other.transform == field.transform) {
          field.field_id = other.field_id;
        }
      }
    }
    if (field.field_id == FieldId{0}) field.field_id = FieldId{++last};
  }
}

Status Applier::operator()(const AddPartitionSpec& update) {
  const auto same = std::find_if(next_.partition_specs.begin(), next_.partition_specs.end(),
                                 [&](const PartitionSpec& s) { return SameSpec(s, update.spec); });
  if (same != next_.partition_specs.end()) {
    added_spec_ = same->id;
    return {};
  }
  PartitionSpec spec = update.spec;
  GivePartitionFieldIds(spec);
  std::int32_t position = kNoPartitionFieldYet;
  for (const PartitionField& field : spec.fields) {
    if (field.source_ids.empty()) return Bad("partition field {} has no source column", field.name);
    if (next_.format_version == 1 && Raw(field.field_id) != ++position) {
      return Bad("partition field {}: id {} where format version 1 needs {}", field.name,
                 Raw(field.field_id), position);
    }
    next_.last_partition_id = std::max(next_.last_partition_id, Raw(field.field_id));
  }
  spec.id = NextId<SpecId>(next_.partition_specs, 0, [](const PartitionSpec& s) { return s.id; });
  added_spec_ = spec.id;
  next_.partition_specs.push_back(std::move(spec));
  changed_ = true;
  return {};
}

Status Applier::operator()(const SetDefaultSpec& update) {
  const std::optional<SpecId> id = update.spec_id ? update.spec_id : added_spec_;
  if (!id) return Bad("set-default-spec: no partition spec was added before");
  if (next_.FindSpec(*id) == nullptr) {
    return Bad("set-default-spec: there is no partition spec {}", Raw(*id));
  }
  structure_changed_ = true;
  Set(next_.default_spec_id, *id);
  return {};
}

Status Applier::operator()(const AddSortOrder& update) {
  const auto same =
      std::find_if(next_.sort_orders.begin(), next_.sort_orders.end(),
                   [&](const SortOrder& order) { return order.fields == update.order.fields; });
  if (same != next_.sort_orders.end()) {
    added_order_ = same->id;
    return {};
  }
  for (const SortField& field : update.order.fields) {
    if (field.source_ids.empty()) return Bad("a sort field has no source column");
  }
  SortOrder order = update.order;
  order.id = order.fields.empty() ? SortOrderId{0}
                                  : NextId<SortOrderId>(next_.sort_orders, 1,
                                                        [](const SortOrder& o) { return o.id; });
  added_order_ = order.id;
  next_.sort_orders.push_back(std::move(order));
  changed_ = true;
  return {};
}

Status Applier::operator()(const SetDefaultSortOrder& update) {
  const std::optional<SortOrderId> id = update.order_id ? update.order_id : added_order_;
  if (!id) return Bad("set-default-sort-order: no sort order was added before");
  if (next_.FindSortOrder(*id) == nullptr) {
    return Bad("set-default-sort-order: there is no sort order {}", Raw(*id));
  }
  structure_changed_ = true;
  Set(next_.default_sort_order_id, *id);
  return {};
}

Status Applier::CheckRowIds(const Snapshot& snapshot) const {
  const std::int64_t next_row_id = next_.next_row_id.value_or(0);
  if (!snapshot.first_row_id || !snapshot.added_rows) {
    return Bad("snapshot {}: first-row-id or added-rows is missing", Raw(snapshot.id));
  }
  if (*snapshot.first_row_id < next_row_id) {
    return Bad("snapshot {}: first-row-id {} is below the table's next-row-id {}", Raw(snapshot.id),
               *snapshot.first_row_id, next_row_id);
  }
  if (*snapshot.added_rows < 0) {
    return Bad("snapshot {}: added-rows is {}", Raw(snapshot.id), *snapshot.added_rows);
  }
  return {};
}

Status Applier::operator()(const AddSnapshot& update) {
  Snapshot snapshot = update.snapshot;
  if (next_.FindSnapshot(snapshot.id) != nullptr) {
    return Bad("snapshot {} exists already", Raw(snapshot.id));
  }
  if (next_.format_version > 1) {
    if (snapshot.sequence_number <= next_.last_sequence_number) {
      return Bad("snapshot {}: sequence number {} is not above the table's last, {}",
                 Raw(snapshot.id), Raw(snapshot.sequence_number), Raw(next_.last_sequence_number));
    }
    next_.last_sequence_number = snapshot.sequence_number;
  }
  if (next_.format_version >= 3) {
    IW_TRY(CheckRowIds(snapshot));
    next_.next_row_id = *snapshot.first_row_id + *snapshot.added_rows;
  }
  snapshot.timestamp =
      std::max({snapshot.timestamp, next_.last_updated, updated_.value_or(snapshot.timestamp)});
  updated_ = snapshot.timestamp;
  added_snapshots_.insert(Raw(snapshot.id));
  next_.snapshots.push_back(std::move(snapshot));
  changed_ = true;
  return {};
}

Status Applier::operator()(const RemoveSnapshots& update) {
  std::unordered_set<std::int64_t> gone;
  for (const SnapshotId id : update.ids) gone.insert(Raw(id));
  const std::size_t removed =
      std::erase_if(next_.snapshots, [&](const Snapshot& s) { return gone.contains(Raw(s.id)); });
  if (removed == 0) return {};
  changed_ = true;
  snapshots_removed_ = true;
  std::erase_if(next_.statistics,
                [&](const StatisticsFile& file) { return gone.contains(Raw(file.snapshot_id)); });
  std::erase_if(next_.partition_statistics, [&](const PartitionStatisticsFile& file) {
    return gone.contains(Raw(file.snapshot_id));
  });
  std::vector<std::string> dangling;
  for (const auto& [name, ref] : next_.refs) {
    if (gone.contains(Raw(ref.snapshot_id))) dangling.push_back(name);
  }
  for (const std::string& name : dangling) RemoveRef(name);
  return {};
}

Status Applier::operator()(const SetSnapshotRef& update) {
  const SnapshotRef& ref = update.ref;
  const bool is_tag = ref.kind == SnapshotRef::Kind::kTag;
  if (is_tag && (ref.min_snapshots_to_keep || ref.max_snapshot_age_ms)) {
    return Bad("tag {}: tags have no snapshots to keep", update.name);
  }
  if (is_tag && update.name == kMainBranch) return Bad("main cannot be a tag");
  if (ref.min_snapshots_to_keep.value_or(1) < 1 || ref.max_snapshot_age_ms.value_or(1) < 1 ||
      ref.max_ref_age_ms.value_or(1) < 1) {
    return Bad("branch or tag {}: retention must be positive", update.name);
  }
  const Snapshot* snapshot = next_.FindSnapshot(ref.snapshot_id);
  if (snapshot == nullptr) {
    return Bad("cannot set {} to snapshot {}: there is none", update.name, Raw(ref.snapshot_id));
  }
  const auto known = next_.refs.find(update.name);
  if (known != next_.refs.end() && known->second == ref) return {};
  changed_ = true;
  const bool is_new = added_snapshots_.contains(Raw(ref.snapshot_id));
  if (is_new) updated_ = std::max(snapshot->timestamp, updated_.value_or(snapshot->timestamp));
  if (update.name == kMainBranch && next_.current_snapshot_id != ref.snapshot_id) {
    if (next_.current_snapshot_id && added_snapshots_.contains(Raw(*next_.current_snapshot_id))) {
      passed_snapshots_.insert(Raw(*next_.current_snapshot_id));
    }
    passed_snapshots_.erase(Raw(ref.snapshot_id));
    const TimePoint made_current =
        is_new ? snapshot->timestamp : std::max(now_, next_.last_updated);
    updated_ = std::max(made_current, updated_.value_or(made_current));
    next_.snapshot_log.push_back({*updated_, ref.snapshot_id});
    next_.current_snapshot_id = ref.snapshot_id;
  }
  next_.refs.insert_or_assign(update.name, ref);
  return {};
}

void Applier::RemoveRef(const std::string& name) {
  if (next_.refs.erase(name) == 0) return;
  changed_ = true;
  if (name != kMainBranch) return;
  next_.current_snapshot_id.reset();
  next_.snapshot_log.clear();
}

Status Applier::operator()(const RemoveSnapshotRef& update) {
  RemoveRef(update.name);
  return {};
}

Status Applier::operator()(const SetProperties& update) {
  for (const auto& [key, value] : update.updates) {
    const auto [it, fresh] = next_.properties.emplace(key, value);
    if (fresh) changed_ = true;
    Set(it->second, value);
  }
  return {};
}

Status Applier::operator()(const RemoveProperties& update) {
  for (const std::string& key : update.removals) {
    if (next_.properties.erase(key) != 0) changed_ = true;
  }
  return {};
}

Status Applier::operator()(const SetLocation& update) {
  if (update.location.empty()) return Bad("set-location: the location is empty");
  Set(next_.location, WithoutTrailingSlash(update.location));
  return {};
}

Status Applier::operator()(const SetStatistics& update) {
  SetBySnapshot(next_.statistics, update.statistics);
  changed_ = true;
  return {};
}

Status Applier::operator()(const RemoveStatistics& update) {
  const auto removed = std::erase_if(next_.statistics, [&](const StatisticsFile& file) {
    return file.snapshot_id == update.snapshot_id;
  });
  if (removed != 0) changed_ = true;
  return {};
}

Status Applier::operator()(const SetPartitionStatistics& update) {
  SetBySnapshot(next_.partition_statistics, update.statistics);
  changed_ = true;
  return {};
}

Status Applier::operator()(const RemovePartitionStatistics& update) {
  const auto removed = std::erase_if(
      next_.partition_statistics,
      [&](const PartitionStatisticsFile& file) { return file.snapshot_id == update.snapshot_id; });
  if (removed != 0) changed_ = true;
  return {};
}

Status Applier::operator()(const RemovePartitionSpecs& update) {
  for (const SpecId id : update.ids) {
    if (id == next_.default_spec_id)
      return Bad("cannot remove the default partition spec {}", Raw(id));
    if (std::erase_if(next_.partition_specs,
                      [id](const PartitionSpec& spec) { return spec.id == id; }) != 0) {
      changed_ = true;
    }
  }
  return {};
}

Status Applier::operator()(const RemoveSchemas& update) {
  for (const SchemaId id : update.ids) {
    if (id == next_.current_schema_id) return Bad("cannot remove the current schema {}", Raw(id));
    if (std::erase_if(next_.schemas, [id](const Schema& schema) { return schema.id() == id; }) !=
        0) {
      changed_ = true;
    }
  }
  return {};
}

/// Drops snapshots that were current only between two updates of one commit, and with a removed
/// snapshot all history before it: a gap would make its neighbour look current in that time.
void Applier::TrimSnapshotLog() {
  if (!snapshots_removed_ && passed_snapshots_.empty()) return;
  std::unordered_set<std::int64_t> alive;
  for (const Snapshot& snapshot : next_.snapshots) alive.insert(Raw(snapshot.id));
  std::vector<SnapshotLogEntry> log;
  for (const SnapshotLogEntry& entry : next_.snapshot_log) {
    if (passed_snapshots_.contains(Raw(entry.snapshot_id))) continue;
    if (alive.contains(Raw(entry.snapshot_id))) {
      log.push_back(entry);
    } else if (snapshots_removed_) {
      log.clear();
    }
  }
  next_.snapshot_log = std::move(log);
}

Result<TableMetadata> Applier::Finish() && {
  if (structure_changed_) {
    IW_TRY(CheckSpec(next_.default_spec(), next_.schema()));
    IW_TRY(CheckSortOrder(next_.default_sort_order(), next_.schema()));
  }
  TrimSnapshotLog();
  if (changed_) {
    next_.last_updated = std::max({next_.last_updated, now_, updated_.value_or(now_)});
  }
  return std::move(next_);
}

}  // namespace

Result<TableMetadata> Apply(const TableMetadata& base, std::span<const TableUpdate> updates,
                            TimePoint now) {
  if (base.format_version > kMaxFormatVersion) {
    return Error(Code::kUnsupported,
                 fmt::format("format version {} is never written to", base.format_version));
  }
  Applier applier(base, now);
  for (const TableUpdate& update : updates) IW_TRY(std::visit(applier, update));
  return std::move(applier).Finish();
}

}  // namespace icewright
