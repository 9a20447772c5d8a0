#include "table/table_update.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace icewright {
namespace {

constexpr std::string_view kPreviousVersionsMax = "write.metadata.previous-versions-max";
constexpr std::int64_t kPreviousVersionsMaxDefault = 100;

bool SameUuid(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return (x | 0x20) == (y | 0x20); });
}

/// Compares one number of the metadata with what the requirement wants.
template <typename T>
Status Require(std::string_view what, T expected, T found) {
  if (expected == found) return {};
  return Error(Code::kConflict,
               fmt::format("{} changed: expected {}, found {}", what,
                           static_cast<std::int64_t>(expected), static_cast<std::int64_t>(found)));
}

struct Checker {
  const TableMetadata& base;

  Status operator()(const AssertCreate&) const {
    return Error(Code::kConflict, "table exists already");
  }
  Status operator()(const AssertTableUuid& wanted) const {
    if (SameUuid(wanted.uuid, base.table_uuid)) return {};
    return Error(Code::kConflict, fmt::format("table uuid changed: expected {}, found {}",
                                              wanted.uuid, base.table_uuid));
  }
  Status operator()(const AssertRefSnapshotId& wanted) const {
    const auto it = base.refs.find(wanted.ref);
    if (it == base.refs.end()) {
      if (!wanted.snapshot_id) return {};
      return Error(Code::kConflict, fmt::format("branch or tag {} is missing: expected snapshot {}",
                                                wanted.ref, Raw(*wanted.snapshot_id)));
    }
    const std::string_view kind = it->second.kind == SnapshotRef::Kind::kTag ? "tag" : "branch";
    if (!wanted.snapshot_id) {
      return Error(Code::kConflict,
                   fmt::format("{} {} was created concurrently", kind, wanted.ref));
    }
    return Require(fmt::format("{} {}", kind, wanted.ref), *wanted.snapshot_id,
                   it->second.snapshot_id);
  }
  Status operator()(const AssertLastAssignedFieldId& wanted) const {
    return Require("last assigned field id", wanted.id, base.last_column_id);
  }
  Status operator()(const AssertCurrentSchemaId& wanted) const {
    return Require("current schema", wanted.id, base.current_schema_id);
  }
  Status operator()(const AssertLastAssignedPartitionId& wanted) const {
    return Require("last assigned partition id", wanted.id, base.last_partition_id);
  }
  Status operator()(const AssertDefaultSpecId& wanted) const {
    return Require("default partition spec", wanted.id, base.default_spec_id);
  }
  Status operator()(const AssertDefaultSortOrderId& wanted) const {
    return Require("default sort order", wanted.id, base.default_sort_order_id);
  }
};

}  // namespace

Status CheckRequirement(const TableMetadata* base, const TableRequirement& requirement) {
  if (base != nullptr) return std::visit(Checker{*base}, requirement);
  if (std::holds_alternative<AssertCreate>(requirement)) return {};
  return Error(Code::kConflict, "table does not exist");
}

TableMetadata WithMetadataLog(TableMetadata next, const TableMetadata& previous,
                              const Location& previous_location, std::vector<Location>* dropped) {
  const auto configured =
      IntProperty(next.properties, kPreviousVersionsMax, kPreviousVersionsMaxDefault);
  // The commit that writes a number nobody can read must not lose the log: the default holds.
  const std::int64_t limit =
      std::max<std::int64_t>(1, configured ? *configured : kPreviousVersionsMaxDefault);

  std::vector<MetadataLogEntry> log = previous.metadata_log;
  log.push_back({previous.last_updated, previous_location});
  const auto size = static_cast<std::int64_t>(log.size());
  if (size > limit) {
    const auto kept = log.begin() + (size - limit);
    if (dropped != nullptr) {
      for (auto it = log.begin(); it != kept; ++it) dropped->push_back(it->metadata_file);
    }
    log.erase(log.begin(), kept);
  }
  next.metadata_log = std::move(log);
  return next;
}

}  // namespace icewright
