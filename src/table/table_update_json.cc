// Updates and requirements as a REST catalog takes them.

#include <utility>

#include "table/json_members.h"
#include "table/snapshot_json.h"
#include "table/table_update.h"

namespace icewright {
namespace {

/// In set-current-schema and its like: what this request added last.
constexpr std::int32_t kLastAdded = -1;

Json Action(std::string_view name) {
  Json json = Json::object();
  AddMember(json, "action", name);
  return json;
}

Json Action(std::string_view name, std::string_view key, Json value) {
  Json json = Action(name);
  AddMember(json, key, std::move(value));
  return json;
}

template <typename Id>
Json IdOrLastAdded(const std::optional<Id>& id) {
  return Json(id ? Raw(*id) : kLastAdded);
}

struct UpdateToJson {
  Json operator()(const AssignUuid& u) const { return Action("assign-uuid", "uuid", u.uuid); }
  Json operator()(const UpgradeFormatVersion& u) const {
    return Action("upgrade-format-version", "format-version", u.format_version);
  }
  Json operator()(const AddSchema& u) const {
    return Action("add-schema", "schema", u.schema.ToJson());
  }
  Json operator()(const SetCurrentSchema& u) const {
    return Action("set-current-schema", "schema-id", IdOrLastAdded(u.schema_id));
  }
  Json operator()(const AddPartitionSpec& u) const {
    return Action("add-spec", "spec", u.spec.ToJson());
  }
  Json operator()(const SetDefaultSpec& u) const {
    return Action("set-default-spec", "spec-id", IdOrLastAdded(u.spec_id));
  }
  Json operator()(const AddSortOrder& u) const {
    return Action("add-sort-order", "sort-order", u.order.ToJson());
  }
  Json operator()(const SetDefaultSortOrder& u) const {
    return Action("set-default-sort-order", "sort-order-id", IdOrLastAdded(u.order_id));
  }
  Json operator()(const AddSnapshot& u) const {
    return Action("add-snapshot", "snapshot", ToJson(u.snapshot));
  }
  Json operator()(const RemoveSnapshots& u) const {
    return Action("remove-snapshots", "snapshot-ids", IdsToJson(u.ids));
  }
  Json operator()(const SetSnapshotRef& u) const {
    Json json = Action("set-snapshot-ref", "ref-name", u.name);
    const Json ref = ToJson(u.ref);
    for (const auto& [key, value] : ref.items()) AddMember(json, key, value);
    return json;
  }
  Json operator()(const RemoveSnapshotRef& u) const {
    return Action("remove-snapshot-ref", "ref-name", u.name);
  }
  Json operator()(const SetProperties& u) const {
    Json updates = Json::object();
    for (const auto& [key, value] : u.updates) AddMember(updates, key, value);
    return Action("set-properties", "updates", std::move(updates));
  }
  Json operator()(const RemoveProperties& u) const {
    return Action("remove-properties", "removals", u.removals);
  }
  Json operator()(const SetLocation& u) const {
    return Action("set-location", "location", u.location.text());
  }
  Json operator()(const SetStatistics& u) const {
    // Older servers read the id from the update itself.
    Json json = Action("set-statistics", "snapshot-id", Raw(u.statistics.snapshot_id));
    AddMember(json, "statistics", ToJson(u.statistics));
    return json;
  }
  Json operator()(const RemoveStatistics& u) const {
    return Action("remove-statistics", "snapshot-id", Raw(u.snapshot_id));
  }
  Json operator()(const SetPartitionStatistics& u) const {
    return Action("set-partition-statistics", "partition-statistics", ToJson(u.statistics));
  }
  Json operator()(const RemovePartitionStatistics& u) const {
    return Action("remove-partition-statistics", "snapshot-id", Raw(u.snapshot_id));
  }
  Json operator()(const RemovePartitionSpecs& u) const {
    return Action("remove-partition-specs", "spec-ids", IdsToJson(u.ids));
  }
  Json operator()(const RemoveSchemas& u) const {
    return Action("remove-schemas", "schema-ids", IdsToJson(u.ids));
  }
};

Json Assertion(std::string_view type) {
  Json json = Json::object();
  AddMember(json, "type", type);
  return json;
}

Json Assertion(std::string_view type, std::string_view key, Json value) {
  Json json = Assertion(type);
  AddMember(json, key, std::move(value));
  return json;
}

struct RequirementToJson {
  Json operator()(const AssertCreate&) const { return Assertion("assert-create"); }
  Json operator()(const AssertTableUuid& r) const {
    return Assertion("assert-table-uuid", "uuid", r.uuid);
  }
  Json operator()(const AssertRefSnapshotId& r) const {
    Json json = Assertion("assert-ref-snapshot-id", "ref", r.ref);
    AddMember(json, "snapshot-id", r.snapshot_id ? Json(Raw(*r.snapshot_id)) : Json(nullptr));
    return json;
  }
  Json operator()(const AssertLastAssignedFieldId& r) const {
    return Assertion("assert-last-assigned-field-id", "last-assigned-field-id", r.id);
  }
  Json operator()(const AssertCurrentSchemaId& r) const {
    return Assertion("assert-current-schema-id", "current-schema-id", Raw(r.id));
  }
  Json operator()(const AssertLastAssignedPartitionId& r) const {
    return Assertion("assert-last-assigned-partition-id", "last-assigned-partition-id", r.id);
  }
  Json operator()(const AssertDefaultSpecId& r) const {
    return Assertion("assert-default-spec-id", "default-spec-id", Raw(r.id));
  }
  Json operator()(const AssertDefaultSortOrderId& r) const {
    return Assertion("assert-default-sort-order-id", "default-sort-order-id", Raw(r.id));
  }
};

}  // namespace

Json ToJson(const TableUpdate& update) { return std::visit(UpdateToJson{}, update); }
Json ToJson(const TableRequirement& requirement) {
  return std::visit(RequirementToJson{}, requirement);
}

}  // namespace icewright
