#include "table/table_update.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "codec/json.h"
#include "testing/matchers.h"

namespace icewright {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TableMetadata Base() {
  TableMetadata t;
  t.table_uuid = "9c12D441";
  t.last_column_id = 5;
  t.current_schema_id = SchemaId{2};
  t.last_partition_id = 1003;
  t.default_spec_id = SpecId{1};
  t.default_sort_order_id = SortOrderId{3};
  t.refs.emplace("main", SnapshotRef{.snapshot_id = SnapshotId{11}});
  t.refs.emplace("v1", SnapshotRef{.snapshot_id = SnapshotId{12}, .kind = SnapshotRef::Kind::kTag});
  return t;
}

TEST(RequirementTest, WhatHoldsPasses) {
  const TableMetadata base = Base();
  const std::vector<TableRequirement> holding = {AssertTableUuid{"9C12d441"},
                                                 AssertRefSnapshotId{"main", SnapshotId{11}},
                                                 AssertRefSnapshotId{"v1", SnapshotId{12}},
                                                 AssertRefSnapshotId{"new", {}},
                                                 AssertLastAssignedFieldId{5},
                                                 AssertCurrentSchemaId{SchemaId{2}},
                                                 AssertLastAssignedPartitionId{1003},
                                                 AssertDefaultSpecId{SpecId{1}},
                                                 AssertDefaultSortOrderId{SortOrderId{3}}};
  for (const TableRequirement& requirement : holding) {
    EXPECT_THAT(CheckRequirement(&base, requirement), IsOk()) << requirement.index();
    EXPECT_THAT(CheckRequirement(nullptr, requirement),
                HasError(Code::kConflict, HasSubstr("does not exist")))
        << requirement.index();
  }
  EXPECT_THAT(CheckRequirement(nullptr, AssertCreate{}), IsOk());
}

TEST(RequirementTest, WhatChangedIsAConflictThatNamesBothSides) {
  const TableMetadata base = Base();
  const std::vector<std::tuple<TableRequirement, std::string, std::string>> changed = {
      {AssertCreate{}, "exists", "exists"},
      {AssertTableUuid{"other"}, "other", "9c12D441"},
      {AssertRefSnapshotId{"main", SnapshotId{10}}, "branch main", "expected 10, found 11"},
      {AssertRefSnapshotId{"v1", {}}, "tag v1", "created concurrently"},
      {AssertRefSnapshotId{"gone", SnapshotId{10}}, "gone is missing", "10"},
      {AssertLastAssignedFieldId{4}, "field id", "expected 4, found 5"},
      {AssertCurrentSchemaId{SchemaId{1}}, "schema", "expected 1, found 2"},
      {AssertLastAssignedPartitionId{1002}, "partition id", "expected 1002, found 1003"},
      {AssertDefaultSpecId{SpecId{0}}, "partition spec", "expected 0, found 1"},
      {AssertDefaultSortOrderId{SortOrderId{0}}, "sort order", "expected 0, found 3"}};
  for (const auto& [requirement, a, b] : changed) {
    EXPECT_THAT(CheckRequirement(&base, requirement),
                HasError(Code::kConflict, AllOf(HasSubstr(a), HasSubstr(b))));
  }
}

TEST(MetadataLogTest, GrowsByThePreviousFileAndDropsTheOldest) {
  TableMetadata previous = Base();
  previous.last_updated = FromMillis(300);
  previous.metadata_log = {{FromMillis(100), Location("/m1")}, {FromMillis(200), Location("/m2")}};
  struct Case {
    std::string limit;  // empty: not set
    std::vector<std::string> log;
    std::vector<std::string> dropped;
  };
  const std::vector<Case> cases = {
      {"", {"/m1", "/m2", "/m3"}, {}},    {"3", {"/m1", "/m2", "/m3"}, {}},
      {"2", {"/m2", "/m3"}, {"/m1"}},     {"1", {"/m3"}, {"/m1", "/m2"}},
      {"0", {"/m3"}, {"/m1", "/m2"}},     {"-5", {"/m3"}, {"/m1", "/m2"}},
      {"many", {"/m1", "/m2", "/m3"}, {}}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.limit);
    TableMetadata next = previous;
    if (!c.limit.empty()) next.properties["write.metadata.previous-versions-max"] = c.limit;
    std::vector<Location> dropped;
    next = WithMetadataLog(next, previous, Location("/m3"), &dropped);
    std::vector<std::string> log;
    for (const MetadataLogEntry& entry : next.metadata_log)
      log.push_back(entry.metadata_file.text());
    EXPECT_EQ(log, c.log);
    EXPECT_EQ(next.metadata_log.back().timestamp, FromMillis(300));
    std::vector<std::string> gone;
    for (const Location& location : dropped) gone.push_back(location.text());
    EXPECT_EQ(gone, c.dropped);
  }
}

TEST(MetadataLogTest, KeepsTheNewestHundredByDefault) {
  TableMetadata previous = Base();
  for (int i = 0; i < 100; ++i) {
    previous.metadata_log.push_back({FromMillis(i), Location("/m" + std::to_string(i))});
  }
  const TableMetadata next = WithMetadataLog(previous, previous, Location("/last"), nullptr);
  EXPECT_EQ(next.metadata_log.size(), 100U);
  EXPECT_EQ(next.metadata_log.front().metadata_file, Location("/m1"));
  EXPECT_EQ(next.metadata_log.back().metadata_file, Location("/last"));
}

Snapshot SomeSnapshot() {
  Snapshot snapshot;
  snapshot.id = SnapshotId{5};
  snapshot.sequence_number = SequenceNumber{2};
  snapshot.timestamp = FromMillis(7);
  snapshot.operation = "replace";
  snapshot.summary = {{"k", "v"}};
  snapshot.manifest_list = Location("/l");
  snapshot.schema_id = SchemaId{1};
  return snapshot;
}

TEST(UpdateJsonTest, EveryUpdateHasItsWireForm) {
  const Schema schema({{.id = FieldId{1}, .name = "a", .type = Type::Of(TypeId::kInt)}},
                      SchemaId{3});
  const PartitionSpec spec{.id = SpecId{2},
                           .fields = {{.source_ids = {FieldId{1}},
                                       .field_id = FieldId{1000},
                                       .name = "a",
                                       .transform = Transform()}}};
  const StatisticsFile statistics{.snapshot_id = SnapshotId{5},
                                  .statistics_path = Location("/s"),
                                  .file_size_in_bytes = 9,
                                  .file_footer_size_in_bytes = 4,
                                  .blob_metadata = {}};
  const std::vector<std::pair<TableUpdate, std::string>> cases = {
      {AssignUuid{"u"}, R"({"action":"assign-uuid","uuid":"u"})"},
      {UpgradeFormatVersion{3}, R"({"action":"upgrade-format-version","format-version":3})"},
      {AddSchema{schema},
       R"({"action":"add-schema","schema":{"type":"struct","schema-id":3,"fields":[)"
       R"({"id":1,"name":"a","required":false,"type":"int"}]}})"},
      {SetCurrentSchema{}, R"({"action":"set-current-schema","schema-id":-1})"},
      {SetCurrentSchema{SchemaId{3}}, R"({"action":"set-current-schema","schema-id":3})"},
      {AddPartitionSpec{spec},
       R"({"action":"add-spec","spec":{"spec-id":2,"fields":[)"
       R"({"name":"a","transform":"identity","source-id":1,"field-id":1000}]}})"},
      {SetDefaultSpec{}, R"({"action":"set-default-spec","spec-id":-1})"},
      {AddSortOrder{SortOrder()},
       R"({"action":"add-sort-order","sort-order":{"order-id":0,"fields":[]}})"},
      {SetDefaultSortOrder{SortOrderId{1}},
       R"({"action":"set-default-sort-order","sort-order-id":1})"},
      {AddSnapshot{SomeSnapshot()},
       R"({"action":"add-snapshot","snapshot":{"sequence-number":2,"snapshot-id":5,)"
       R"("timestamp-ms":7,"summary":{"operation":"replace","k":"v"},"manifest-list":"/l",)"
       R"("schema-id":1}})"},
      {RemoveSnapshots{{SnapshotId{5}, SnapshotId{6}}},
       R"({"action":"remove-snapshots","snapshot-ids":[5,6]})"},
      {SetSnapshotRef{"b",
                      {.snapshot_id = SnapshotId{5},
                       .min_snapshots_to_keep = 2,
                       .max_snapshot_age_ms = 3,
                       .max_ref_age_ms = 4}},
       R"({"action":"set-snapshot-ref","ref-name":"b","snapshot-id":5,"type":"branch",)"
       R"("min-snapshots-to-keep":2,"max-snapshot-age-ms":3,"max-ref-age-ms":4})"},
      {SetSnapshotRef{"t", {.snapshot_id = SnapshotId{5}, .kind = SnapshotRef::Kind::kTag}},
       R"({"action":"set-snapshot-ref","ref-name":"t","snapshot-id":5,"type":"tag"})"},
      {RemoveSnapshotRef{"t"}, R"({"action":"remove-snapshot-ref","ref-name":"t"})"},
      {SetProperties{{{"a", "1"}}}, R"({"action":"set-properties","updates":{"a":"1"}})"},
      {RemoveProperties{{"a", "b"}}, R"({"action":"remove-properties","removals":["a","b"]})"},
      {SetLocation{Location("/x")}, R"({"action":"set-location","location":"/x"})"},
      {SetStatistics{statistics},
       R"({"action":"set-statistics","snapshot-id":5,"statistics":{"snapshot-id":5,)"
       R"("statistics-path":"/s","file-size-in-bytes":9,"file-footer-size-in-bytes":4,)"
       R"("blob-metadata":[]}})"},
      {RemoveStatistics{SnapshotId{5}}, R"({"action":"remove-statistics","snapshot-id":5})"},
      {SetPartitionStatistics{{.snapshot_id = SnapshotId{5},
                               .statistics_path = Location("/p"),
                               .file_size_in_bytes = 8}},
       R"({"action":"set-partition-statistics","partition-statistics":{"snapshot-id":5,)"
       R"("statistics-path":"/p","file-size-in-bytes":8}})"},
      {RemovePartitionStatistics{SnapshotId{5}},
       R"({"action":"remove-partition-statistics","snapshot-id":5})"},
      {RemovePartitionSpecs{{SpecId{1}}}, R"({"action":"remove-partition-specs","spec-ids":[1]})"},
      {RemoveSchemas{{SchemaId{1}, SchemaId{2}}},
       R"({"action":"remove-schemas","schema-ids":[1,2]})"},
  };
  std::vector<bool> seen(std::variant_size_v<TableUpdate>, false);
  for (const auto& [update, text] : cases) {
    EXPECT_EQ(DumpJson(ToJson(update)), text);
    seen[update.index()] = true;
  }
  EXPECT_THAT(seen, ::testing::Each(true));
}

TEST(UpdateJsonTest, EveryRequirementHasItsWireForm) {
  const std::vector<std::pair<TableRequirement, std::string>> cases = {
      {AssertCreate{}, R"({"type":"assert-create"})"},
      {AssertTableUuid{"u"}, R"({"type":"assert-table-uuid","uuid":"u"})"},
      {AssertRefSnapshotId{"main", SnapshotId{5}},
       R"({"type":"assert-ref-snapshot-id","ref":"main","snapshot-id":5})"},
      {AssertRefSnapshotId{"b", {}},
       R"({"type":"assert-ref-snapshot-id","ref":"b","snapshot-id":null})"},
      {AssertLastAssignedFieldId{4},
       R"({"type":"assert-last-assigned-field-id","last-assigned-field-id":4})"},
      {AssertCurrentSchemaId{SchemaId{1}},
       R"({"type":"assert-current-schema-id","current-schema-id":1})"},
      {AssertLastAssignedPartitionId{1000},
       R"({"type":"assert-last-assigned-partition-id","last-assigned-partition-id":1000})"},
      {AssertDefaultSpecId{SpecId{1}}, R"({"type":"assert-default-spec-id","default-spec-id":1})"},
      {AssertDefaultSortOrderId{SortOrderId{2}},
       R"({"type":"assert-default-sort-order-id","default-sort-order-id":2})"}};
  for (const auto& [requirement, text] : cases) EXPECT_EQ(DumpJson(ToJson(requirement)), text);
}

}  // namespace
}  // namespace icewright
