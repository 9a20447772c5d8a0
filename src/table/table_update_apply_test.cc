#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "codec/json.h"
#include "table/table_update.h"
#include "testing/matchers.h"

namespace icewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::Pair;

const TimePoint kCreated = FromMillis(1000);

Field LongColumn(int id, std::string name, bool required = false) {
  return {.id = FieldId{id},
          .name = std::move(name),
          .required = required,
          .type = Type::Of(TypeId::kLong)};
}

PartitionField Identity(int source, int id, std::string name) {
  return {.source_ids = {FieldId{source}},
          .field_id = FieldId{id},
          .name = std::move(name),
          .transform = Transform()};
}

TableMetadata NewMetadata(int version = 2) {
  const NewTable table{.location = Location("/t"),
                       .schema = Schema({LongColumn(1, "id", true), LongColumn(2, "v")}),
                       .spec = {},
                       .sort_order = {},
                       .properties = {{"format-version", std::to_string(version)}}};
  auto made = MakeTableMetadata(table, "uuid-1", kCreated);
  EXPECT_THAT(made, IsOk());
  return made ? *made : TableMetadata();
}

/// `parent` 0: none.
Snapshot MakeSnapshot(std::int64_t id, std::int64_t sequence_number, std::int64_t timestamp,
                      std::int64_t parent = 0) {
  Snapshot snapshot;
  snapshot.id = SnapshotId{id};
  if (parent != 0) snapshot.parent_id = SnapshotId{parent};
  snapshot.sequence_number = SequenceNumber{sequence_number};
  snapshot.timestamp = FromMillis(timestamp);
  snapshot.operation = "append";
  snapshot.manifest_list = Location("/t/snap-" + std::to_string(id) + ".avro");
  return snapshot;
}

SetSnapshotRef SetMain(std::int64_t id) {
  return {std::string(kMainBranch), SnapshotRef{.snapshot_id = SnapshotId{id}}};
}

Result<TableMetadata> TryApply(const TableMetadata& base, std::vector<TableUpdate> updates,
                               std::int64_t now = 5000) {
  return Apply(base, updates, FromMillis(now));
}

TableMetadata Applied(const TableMetadata& base, std::vector<TableUpdate> updates,
                      std::int64_t now = 5000) {
  auto next = TryApply(base, std::move(updates), now);
  EXPECT_THAT(next, IsOk());
  return next ? *next : base;
}

/// Snapshots 1, 2, 3 on main at 2000, 3000, 4000.
TableMetadata ThreeSnapshots() {
  TableMetadata t = NewMetadata();
  for (std::int64_t id = 1; id <= 3; ++id) {
    const std::int64_t now = 1000 + 1000 * id;
    t = Applied(t, {AddSnapshot{MakeSnapshot(id, id, now, id - 1)}, SetMain(id)}, now);
  }
  return t;
}

std::vector<std::pair<std::int64_t, std::int64_t>> Log(const TableMetadata& t) {
  std::vector<std::pair<std::int64_t, std::int64_t>> log;
  for (const SnapshotLogEntry& entry : t.snapshot_log) {
    log.emplace_back(ToMillis(entry.timestamp), Raw(entry.snapshot_id));
  }
  return log;
}

std::vector<std::int64_t> Ids(const TableMetadata& t) {
  std::vector<std::int64_t> ids;
  for (const Snapshot& snapshot : t.snapshots) ids.push_back(Raw(snapshot.id));
  return ids;
}

TEST(ApplyTest, WithoutAChangeNothingMoves) {
  const TableMetadata base = ThreeSnapshots();
  const std::vector<std::vector<TableUpdate>> nothing = {
      {},
      {AssignUuid{"uuid-1"}},
      {UpgradeFormatVersion{2}},
      {AddSchema{base.schema()}, SetCurrentSchema{}},
      {AddPartitionSpec{PartitionSpec()}, SetDefaultSpec{}},
      {AddSortOrder{SortOrder()}, SetDefaultSortOrder{}},
      {SetMain(3)},
      {RemoveSnapshots{{SnapshotId{77}}}},
      {RemoveSnapshotRef{"no-such"}},
      {SetProperties{{{"write.parquet.compression-codec", "zstd"}}}},
      {RemoveProperties{{"no-such"}}},
      {SetLocation{Location("/t/")}},
      {RemoveStatistics{SnapshotId{1}}},
      {RemovePartitionStatistics{SnapshotId{1}}},
      {RemovePartitionSpecs{{SpecId{9}}}},
      {RemoveSchemas{{SchemaId{9}}}},
  };
  for (const auto& updates : nothing) {
    EXPECT_EQ(SerializeTableMetadata(Applied(base, updates)), SerializeTableMetadata(base));
  }
}

TEST(ApplyTest, LastUpdatedIsNowAndNeverGoesBackNorBehindASnapshot) {
  const TableMetadata base = NewMetadata();
  EXPECT_EQ(Applied(base, {SetProperties{{{"a", "b"}}}}, 5000).last_updated, FromMillis(5000));
  EXPECT_EQ(Applied(base, {SetProperties{{{"a", "b"}}}}, 10).last_updated, kCreated);
  EXPECT_EQ(Applied(base, {AddSnapshot{MakeSnapshot(1, 1, 3000)}}, 5000).last_updated,
            FromMillis(5000));
  EXPECT_EQ(Applied(base, {AddSnapshot{MakeSnapshot(1, 1, 3000)}}, 2000).last_updated,
            FromMillis(3000));
}

TEST(ApplyTest, SnapshotOfALateClockGetsTheTableTime) {
  const TableMetadata t =
      Applied(ThreeSnapshots(), {AddSnapshot{MakeSnapshot(4, 4, 3500, 3)}, SetMain(4)}, 3500);
  EXPECT_EQ(t.snapshots.back().timestamp, FromMillis(4000));
  EXPECT_EQ(Log(t).back(), (std::pair<std::int64_t, std::int64_t>{4000, 4}));
  EXPECT_EQ(t.last_updated, FromMillis(4000));
}

TEST(ApplyTest, CommitOfASnapshotMovesEverythingThatFollows) {
  const TableMetadata t = ThreeSnapshots();
  EXPECT_EQ(t.current_snapshot_id, SnapshotId{3});
  EXPECT_EQ(t.refs.at("main"), SnapshotRef{.snapshot_id = SnapshotId{3}});
  EXPECT_EQ(t.last_sequence_number, SequenceNumber{3});
  EXPECT_THAT(Log(t), ElementsAre(Pair(2000, 1), Pair(3000, 2), Pair(4000, 3)));
  EXPECT_EQ(t.last_updated, FromMillis(4000));
  EXPECT_EQ(t.next_row_id, std::nullopt);
}

TEST(ApplyTest, BranchCommitLeavesMainAndLogAlone) {
  const TableMetadata t =
      Applied(ThreeSnapshots(), {AddSnapshot{MakeSnapshot(4, 4, 4500, 3)},
                                 SetSnapshotRef{"b", {.snapshot_id = SnapshotId{4}}}});
  EXPECT_EQ(t.current_snapshot_id, SnapshotId{3});
  EXPECT_EQ(Log(t).size(), 3U);
  EXPECT_EQ(t.FindRef("b")->id, SnapshotId{4});
  EXPECT_EQ(t.last_updated, FromMillis(5000));
}

TEST(ApplyTest, SnapshotsThatWereCurrentOnlyWithinACommitAreNotLogged) {
  const TableMetadata t =
      Applied(NewMetadata(), {AddSnapshot{MakeSnapshot(1, 1, 2000)}, SetMain(1),
                              AddSnapshot{MakeSnapshot(2, 2, 2500, 1)}, SetMain(2)});
  EXPECT_THAT(Log(t), ElementsAre(Pair(2500, 2)));
  EXPECT_THAT(Ids(t), ElementsAre(1, 2));
}

TEST(ApplyTest, SnapshotThatIsMadeCurrentAgainWithinACommitIsLogged) {
  const TableMetadata t = Applied(
      NewMetadata(), {AddSnapshot{MakeSnapshot(1, 1, 2000)}, AddSnapshot{MakeSnapshot(2, 2, 2500)},
                      SetMain(1), SetMain(2), SetMain(1)});
  EXPECT_THAT(Log(t), ElementsAre(Pair(2500, 1), Pair(2500, 1)));
}

TEST(ApplyTest, RollbackIsLoggedWithTheTimeOfTheCommit) {
  const TableMetadata t = Applied(ThreeSnapshots(), {SetMain(1)}, 9000);
  EXPECT_EQ(t.current_snapshot_id, SnapshotId{1});
  EXPECT_THAT(Log(t), ElementsAre(Pair(2000, 1), Pair(3000, 2), Pair(4000, 3), Pair(9000, 1)));
  EXPECT_EQ(t.last_updated, FromMillis(9000));
  EXPECT_EQ(Log(Applied(ThreeSnapshots(), {SetMain(1)}, 10)).back().first, 4000);
}

TEST(ApplyTest, SequenceNumbersMustGrowFromVersion2On) {
  const TableMetadata base = ThreeSnapshots();
  for (const std::int64_t number : {0, 2, 3}) {
    EXPECT_THAT(
        TryApply(base, {AddSnapshot{MakeSnapshot(4, number, 5000, 3)}}),
        HasError(Code::kInvalidArgument, HasSubstr("sequence number " + std::to_string(number))));
  }
  EXPECT_EQ(Applied(base, {AddSnapshot{MakeSnapshot(4, 9, 5000, 3)}}).last_sequence_number,
            SequenceNumber{9});
  const TableMetadata v1 = Applied(NewMetadata(1), {AddSnapshot{MakeSnapshot(1, 0, 2000)},
                                                    AddSnapshot{MakeSnapshot(2, 0, 3000)}});
  EXPECT_EQ(v1.last_sequence_number, SequenceNumber{0});
  EXPECT_THAT(TryApply(base, {AddSnapshot{MakeSnapshot(3, 9, 5000)}}),
              HasError(Code::kInvalidArgument, HasSubstr("snapshot 3 exists already")));
}

TEST(ApplyTest, RowIdsAreHandedOutOnce) {
  TableMetadata t = NewMetadata(3);
  EXPECT_EQ(t.next_row_id, 0);
  Snapshot snapshot = MakeSnapshot(1, 1, 2000);
  EXPECT_THAT(TryApply(t, {AddSnapshot{snapshot}}),
              HasError(Code::kInvalidArgument, HasSubstr("first-row-id or added-rows is missing")));
  snapshot.first_row_id = 0;
  EXPECT_THAT(TryApply(t, {AddSnapshot{snapshot}}), HasCode(Code::kInvalidArgument));
  snapshot.added_rows = -1;
  EXPECT_THAT(TryApply(t, {AddSnapshot{snapshot}}), HasCode(Code::kInvalidArgument));
  snapshot.added_rows = 10;
  t = Applied(t, {AddSnapshot{snapshot}});
  EXPECT_EQ(t.next_row_id, 10);
  snapshot = MakeSnapshot(2, 2, 3000);
  snapshot.added_rows = 5;
  snapshot.first_row_id = 9;
  EXPECT_THAT(TryApply(t, {AddSnapshot{snapshot}}),
              HasError(Code::kInvalidArgument, HasSubstr("first-row-id 9 is below")));
  snapshot.first_row_id = 20;
  EXPECT_EQ(Applied(t, {AddSnapshot{snapshot}}).next_row_id, 25);
}

struct TrimCase {
  std::vector<std::int64_t> removed;
  std::vector<std::int64_t> log;
};

TEST(ApplyTest, RemovingASnapshotCutsTheHistoryBeforeIt) {
  // History: 1 2 3 2 3 (two rollbacks), main at 3, a branch keeps 2 alive or not.
  TableMetadata base = ThreeSnapshots();
  base = Applied(base, {SetMain(2)}, 5000);
  base = Applied(base, {SetMain(3)}, 6000);
  const std::vector<TrimCase> cases = {{{}, {1, 2, 3, 2, 3}}, {{1}, {2, 3, 2, 3}}, {{2}, {3}},
                                       {{1, 2}, {3}},         {{3}, {}},           {{1, 2, 3}, {}}};
  for (const TrimCase& c : cases) {
    RemoveSnapshots remove;
    for (const std::int64_t id : c.removed) remove.ids.push_back(SnapshotId{id});
    const TableMetadata t = Applied(base, {remove});
    std::vector<std::int64_t> log;
    for (const auto& [time, id] : Log(t)) log.push_back(id);
    EXPECT_EQ(log, c.log) << c.removed.size();
  }
}

TEST(ApplyTest, RemovingASnapshotTakesItsRefsAndStatistics) {
  TableMetadata base = Applied(
      ThreeSnapshots(),
      {SetSnapshotRef{"tag", {.snapshot_id = SnapshotId{1}, .kind = SnapshotRef::Kind::kTag}},
       SetSnapshotRef{"b", {.snapshot_id = SnapshotId{2}}},
       SetStatistics{
           {.snapshot_id = SnapshotId{1}, .statistics_path = Location("/s1"), .blob_metadata = {}}},
       SetStatistics{
           {.snapshot_id = SnapshotId{3}, .statistics_path = Location("/s3"), .blob_metadata = {}}},
       SetPartitionStatistics{{.snapshot_id = SnapshotId{1}, .statistics_path = Location("/p1")}}});
  const TableMetadata t = Applied(base, {RemoveSnapshots{{SnapshotId{1}}}});
  EXPECT_THAT(Ids(t), ElementsAre(2, 3));
  EXPECT_THAT(t.refs, ElementsAre(Key("b"), Key("main")));
  ASSERT_EQ(t.statistics.size(), 1U);
  EXPECT_EQ(t.statistics[0].snapshot_id, SnapshotId{3});
  EXPECT_THAT(t.partition_statistics, IsEmpty());
  EXPECT_EQ(t.snapshots[0].parent_id, SnapshotId{1});  // dangling on purpose, as in Java
  EXPECT_EQ(t.last_updated, FromMillis(5000));

  const TableMetadata headless = Applied(base, {RemoveSnapshots{{SnapshotId{3}}}});
  EXPECT_EQ(headless.current_snapshot_id, std::nullopt);
  EXPECT_THAT(headless.refs, ElementsAre(Key("b"), Key("tag")));
}

TEST(ApplyTest, WithoutMainThereIsNoCurrentSnapshotAndNoHistory) {
  const TableMetadata t = Applied(ThreeSnapshots(), {RemoveSnapshotRef{"main"}});
  EXPECT_EQ(t.current_snapshot_id, std::nullopt);
  EXPECT_THAT(t.refs, IsEmpty());
  EXPECT_THAT(t.snapshot_log, IsEmpty());
  EXPECT_EQ(t.snapshots.size(), 3U);
}

TEST(ApplyTest, RefsAreChecked) {
  const TableMetadata base = ThreeSnapshots();
  const SnapshotId three{3};
  const auto tag = SnapshotRef::Kind::kTag;
  const std::vector<std::pair<SetSnapshotRef, std::string>> cases = {
      {SetMain(9), "snapshot 9"},
      {{"main", {.snapshot_id = three, .kind = tag}}, "main cannot be a tag"},
      {{"t", {.snapshot_id = three, .kind = tag, .min_snapshots_to_keep = 1}}, "tag t"},
      {{"t", {.snapshot_id = three, .kind = tag, .max_snapshot_age_ms = 1}}, "tag t"},
      {{"b", {.snapshot_id = three, .min_snapshots_to_keep = 0}}, "positive"},
      {{"b", {.snapshot_id = three, .max_snapshot_age_ms = 0}}, "positive"},
      {{"b", {.snapshot_id = three, .max_ref_age_ms = -1}}, "positive"}};
  for (const auto& [update, says] : cases) {
    EXPECT_THAT(TryApply(base, {update}), HasError(Code::kInvalidArgument, HasSubstr(says)));
  }
  const TableMetadata t =
      Applied(base, {SetSnapshotRef{"main", {.snapshot_id = three, .min_snapshots_to_keep = 5}}});
  EXPECT_EQ(t.refs.at("main").min_snapshots_to_keep, 5);
  EXPECT_EQ(Log(t).size(), 3U);  // same snapshot: no history
}

TEST(ApplyTest, UpgradesGoUpOnly) {
  TableMetadata v1 = NewMetadata(1);
  const TableMetadata v2 = Applied(v1, {UpgradeFormatVersion{2}});
  EXPECT_EQ(v2.format_version, 2);
  EXPECT_EQ(v2.next_row_id, std::nullopt);
  const TableMetadata v3 = Applied(v2, {UpgradeFormatVersion{3}});
  EXPECT_EQ(v3.format_version, 3);
  EXPECT_EQ(v3.next_row_id, 0);
  EXPECT_EQ(Applied(v1, {UpgradeFormatVersion{3}}).next_row_id, 0);
  EXPECT_THAT(TryApply(v3, {UpgradeFormatVersion{2}}), HasCode(Code::kInvalidArgument));
  EXPECT_THAT(TryApply(v3, {UpgradeFormatVersion{4}}), HasCode(Code::kUnsupported));
  v1.table_uuid.clear();
  EXPECT_THAT(TryApply(v1, {UpgradeFormatVersion{2}}),
              HasError(Code::kInvalidArgument, HasSubstr("uuid")));
  EXPECT_EQ(Applied(v1, {AssignUuid{"new"}, UpgradeFormatVersion{2}}).table_uuid, "new");
  EXPECT_THAT(TryApply(v2, {AssignUuid{"other"}}), HasCode(Code::kInvalidArgument));
  EXPECT_THAT(TryApply(v2, {AssignUuid{""}}), HasCode(Code::kInvalidArgument));
}

TEST(ApplyTest, SchemasGetTheNextIdOrAreFoundAgain) {
  const TableMetadata base = NewMetadata();
  const Schema wider({LongColumn(1, "id", true), LongColumn(2, "v"), LongColumn(3, "w")});
  TableMetadata t = Applied(base, {AddSchema{wider}, SetCurrentSchema{}});
  EXPECT_EQ(t.current_schema_id, SchemaId{1});
  EXPECT_EQ(t.last_column_id, 3);
  EXPECT_TRUE(t.schema().SameAs(wider));
  t = Applied(t, {AddSchema{base.schema()}, SetCurrentSchema{}});
  EXPECT_EQ(t.current_schema_id, SchemaId{0});
  EXPECT_EQ(t.schemas.size(), 2U);
  EXPECT_EQ(t.last_column_id, 3);
  t = Applied(t, {RemoveSchemas{{SchemaId{1}}}});
  EXPECT_EQ(t.schemas.size(), 1U);
  EXPECT_THAT(TryApply(t, {RemoveSchemas{{SchemaId{0}}}}),
              HasError(Code::kInvalidArgument, HasSubstr("current schema")));
  EXPECT_THAT(TryApply(t, {SetCurrentSchema{SchemaId{7}}}), HasCode(Code::kInvalidArgument));
  EXPECT_THAT(TryApply(t, {SetCurrentSchema{}}), HasCode(Code::kInvalidArgument));
}

TEST(ApplyTest, SchemasMustFitTheFormatVersion) {
  const TableMetadata v2 = NewMetadata();
  Field with_default = LongColumn(1, "d");
  with_default.initial_default = Literal(std::int64_t{1});
  Field nested = LongColumn(1, "s");
  nested.type = Type::Struct({{.id = FieldId{2}, .name = "n", .type = Type::Of(TypeId::kVariant)}});
  for (const Schema& schema : {Schema({with_default}), Schema({nested})}) {
    EXPECT_THAT(TryApply(v2, {AddSchema{schema}}),
                HasError(Code::kInvalidArgument, HasSubstr("needs format version 3")));
    EXPECT_THAT(TryApply(NewMetadata(3), {AddSchema{schema}}), IsOk());
  }
  Field number = LongColumn(1, "f", true);
  number.type = Type::Of(TypeId::kDouble);
  for (const auto& [schema, says] : std::vector<std::pair<Schema, std::string>>{
           {Schema({LongColumn(1, "a", true)}, {}, {FieldId{2}}), "no such column"},
           {Schema({LongColumn(1, "a")}, {}, {FieldId{1}}), "optional"},
           {Schema({number}, {}, {FieldId{1}}), "floating-point"}}) {
    EXPECT_THAT(TryApply(v2, {AddSchema{schema}}),
                HasError(Code::kInvalidArgument, HasSubstr(says)));
  }
}

TEST(ApplyTest, SpecsGetIdsAndFieldIdsOrAreFoundAgain) {
  const TableMetadata base = NewMetadata();
  const PartitionSpec by_id{.id = SpecId{0}, .fields = {Identity(1, 0, "id")}};
  TableMetadata t = Applied(base, {AddPartitionSpec{by_id}, SetDefaultSpec{}});
  EXPECT_EQ(t.default_spec_id, SpecId{1});
  EXPECT_EQ(t.default_spec().fields[0].field_id, FieldId{1000});
  EXPECT_EQ(t.last_partition_id, 1000);
  // The same field has the same id in a spec that adds another one.
  const PartitionSpec by_both{.id = SpecId{0},
                              .fields = {Identity(2, 0, "v"), Identity(1, 0, "id_again")}};
  t = Applied(t, {AddPartitionSpec{by_both}, SetDefaultSpec{}});
  EXPECT_EQ(t.default_spec().fields[0].field_id, FieldId{1001});
  EXPECT_EQ(t.default_spec().fields[1].field_id, FieldId{1000});
  t = Applied(t, {AddPartitionSpec{by_id}, SetDefaultSpec{}});
  EXPECT_EQ(t.default_spec_id, SpecId{1});
  EXPECT_EQ(t.partition_specs.size(), 3U);
  t = Applied(t, {RemovePartitionSpecs{{SpecId{0}, SpecId{2}}}});
  EXPECT_EQ(t.partition_specs.size(), 1U);
  EXPECT_THAT(TryApply(t, {RemovePartitionSpecs{{SpecId{1}}}}),
              HasError(Code::kInvalidArgument, HasSubstr("default partition spec")));
  EXPECT_THAT(TryApply(t, {SetDefaultSpec{}}), HasCode(Code::kInvalidArgument));
  EXPECT_THAT(TryApply(t, {SetDefaultSpec{SpecId{5}}}), HasCode(Code::kInvalidArgument));
}

TEST(ApplyTest, DefaultSpecMustFitTheSchema) {
  const TableMetadata base = NewMetadata();
  PartitionField day = Identity(1, 0, "id_day");
  day.transform = Transform::Parse("day");
  PartitionField unknown = Identity(9, 0, "x");
  unknown.transform = Transform::Parse("zorder");
  const std::vector<std::pair<PartitionField, std::string>> cases = {
      {Identity(9, 0, "x"), "no source column 9"},
      {day, "day cannot take column id of type long"},
      {Identity(1, 0, "v"), "a column has this name"},
      {Identity(1, 0, ""), "no name"}};
  for (const auto& [field, says] : cases) {
    const PartitionSpec spec{.id = SpecId{0}, .fields = {field}};
    EXPECT_THAT(TryApply(base, {AddPartitionSpec{spec}, SetDefaultSpec{}}),
                HasError(Code::kInvalidArgument, HasSubstr(says)));
  }
  const PartitionSpec kept{.id = SpecId{0}, .fields = {unknown}};
  EXPECT_THAT(TryApply(base, {AddPartitionSpec{kept}, SetDefaultSpec{}}), IsOk());
}

TEST(ApplyTest, ColumnsThatSpecOrOrderNeedCannotBeDropped) {
  const PartitionSpec by_v{.id = SpecId{0}, .fields = {Identity(2, 0, "v")}};
  const SortOrder order{.id = SortOrderId{0},
                        .fields = {{.source_ids = {FieldId{2}}, .transform = Transform()}}};
  const Schema without_v({LongColumn(1, "id", true)});
  const TableMetadata partitioned =
      Applied(NewMetadata(), {AddPartitionSpec{by_v}, SetDefaultSpec{}});
  const TableMetadata sorted = Applied(NewMetadata(), {AddSortOrder{order}, SetDefaultSortOrder{}});
  for (const TableMetadata& base : {partitioned, sorted}) {
    EXPECT_THAT(TryApply(base, {AddSchema{without_v}, SetCurrentSchema{}}),
                HasError(Code::kInvalidArgument, HasSubstr("no source column 2")));
  }
  EXPECT_THAT(TryApply(Applied(NewMetadata(), {AddSchema{without_v}, SetCurrentSchema{}}),
                       {AddSortOrder{order}, SetDefaultSortOrder{}}),
              HasError(Code::kInvalidArgument, HasSubstr("no source column 2")));
}

TEST(ApplyTest, LastPartitionIdNeverShrinks) {
  const PartitionSpec far{.id = SpecId{0}, .fields = {Identity(1, 1007, "id")}};
  const PartitionSpec near{.id = SpecId{0}, .fields = {Identity(2, 1003, "v")}};
  EXPECT_EQ(
      Applied(NewMetadata(), {AddPartitionSpec{far}, AddPartitionSpec{near}}).last_partition_id,
      1007);
}

TEST(ApplyTest, Version1CountsPartitionFields) {
  const PartitionSpec gap{.id = SpecId{0}, .fields = {Identity(1, 1001, "id")}};
  EXPECT_THAT(TryApply(NewMetadata(1), {AddPartitionSpec{gap}}),
              HasError(Code::kInvalidArgument, HasSubstr("needs 1000")));
  EXPECT_THAT(TryApply(NewMetadata(2), {AddPartitionSpec{gap}}), IsOk());
}

TEST(ApplyTest, SortOrdersGetIdsFrom1OrAreFoundAgain) {
  const TableMetadata base = NewMetadata();
  const SortOrder order{.id = SortOrderId{0},
                        .fields = {{.source_ids = {FieldId{1}}, .transform = Transform()}}};
  TableMetadata t = Applied(base, {AddSortOrder{order}, SetDefaultSortOrder{}});
  EXPECT_EQ(t.default_sort_order_id, SortOrderId{1});
  t = Applied(t, {AddSortOrder{SortOrder()}, SetDefaultSortOrder{}});
  EXPECT_EQ(t.default_sort_order_id, SortOrderId{0});
  t = Applied(t, {AddSortOrder{order}, SetDefaultSortOrder{}});
  EXPECT_EQ(t.default_sort_order_id, SortOrderId{1});
  EXPECT_EQ(t.sort_orders.size(), 2U);
  EXPECT_THAT(TryApply(t, {SetDefaultSortOrder{}}), HasCode(Code::kInvalidArgument));
  EXPECT_THAT(TryApply(t, {SetDefaultSortOrder{SortOrderId{4}}}), HasCode(Code::kInvalidArgument));
}

TEST(ApplyTest, PropertiesLocationAndStatisticsAreReplaced) {
  TableMetadata t = Applied(NewMetadata(), {SetProperties{{{"a", "1"}, {"b", ""}}}});
  EXPECT_EQ(t.Property("b"), "");
  t = Applied(t,
              {SetProperties{{{"a", "2"}}}, RemoveProperties{{"b"}}, SetLocation{Location("/u/")}});
  EXPECT_EQ(t.Property("a"), "2");
  EXPECT_EQ(t.Property("b"), std::nullopt);
  EXPECT_EQ(t.location, Location("/u"));
  EXPECT_THAT(TryApply(t, {SetLocation{Location()}}), HasCode(Code::kInvalidArgument));
  const SnapshotId one{1};
  t = Applied(
      t,
      {SetStatistics{{.snapshot_id = one, .statistics_path = Location("/a"), .blob_metadata = {}}},
       SetStatistics{
           {.snapshot_id = one, .statistics_path = Location("/b"), .blob_metadata = {}}}});
  ASSERT_EQ(t.statistics.size(), 1U);
  EXPECT_EQ(t.statistics[0].statistics_path, Location("/b"));
  EXPECT_THAT(Applied(t, {RemoveStatistics{one}}).statistics, IsEmpty());
  t = Applied(t, {SetPartitionStatistics{{.snapshot_id = one, .statistics_path = Location("/p")}}});
  EXPECT_EQ(t.partition_statistics.size(), 1U);
  EXPECT_THAT(Applied(t, {RemovePartitionStatistics{one}}).partition_statistics, IsEmpty());
}

TEST(ApplyTest, FirstWrongUpdateEndsIt) {
  const TableMetadata base = NewMetadata();
  EXPECT_THAT(TryApply(base, {SetProperties{{{"a", "1"}}}, SetMain(9), UpgradeFormatVersion{9}}),
              HasError(Code::kInvalidArgument, HasSubstr("snapshot 9")));
}

TEST(ApplyTest, UnknownMembersStay) {
  TableMetadata base = NewMetadata();
  base.unknown_fields = R"({"novel":1})";
  EXPECT_THAT(SerializeTableMetadata(Applied(base, {SetProperties{{{"a", "1"}}}})),
              HasSubstr(R"("novel":1)"));
}

}  // namespace
}  // namespace icewright
