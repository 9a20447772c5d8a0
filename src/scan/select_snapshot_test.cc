#include "scan/plan_files.h"
#include "testing/matchers.h"
#include "testing/table_builder.h"

namespace icewright {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TimePoint At(std::int64_t seconds) { return FromMillis(seconds * 1000); }

/// Snapshots 1, 2, 3 on main at 10, 20, 30 s; 4 on branch "side" at 25 s; tag "first" on 1. The log
/// shows that main was rolled back from 2 to 1 at 22 s.
TableMetadata Table() {
  TableMetadata table = MakeTable(MakeSchema({{1, "id", TypeId::kLong}}), {MakeSpec(0, {})});
  const auto add = [&](std::int64_t id, std::optional<std::int64_t> parent, std::int64_t seconds) {
    Snapshot snapshot;
    snapshot.id = SnapshotId{id};
    if (parent) snapshot.parent_id = SnapshotId{*parent};
    snapshot.timestamp = At(seconds);
    table.snapshots.push_back(snapshot);
  };
  add(1, std::nullopt, 10);
  add(2, 1, 20);
  add(4, 1, 25);
  add(3, 1, 30);
  table.current_snapshot_id = SnapshotId{3};
  table.refs["main"] = {.snapshot_id = SnapshotId{3}};
  table.refs["side"] = {.snapshot_id = SnapshotId{4}};
  table.refs["first"] = {.snapshot_id = SnapshotId{1}, .kind = SnapshotRef::Kind::kTag};
  table.snapshot_log = {{At(10), SnapshotId{1}},
                        {At(20), SnapshotId{2}},
                        {At(22), SnapshotId{1}},
                        {At(30), SnapshotId{3}}};
  return table;
}

std::int64_t Selected(const TableMetadata& table, const SnapshotSelector& selector) {
  const auto snapshot = SelectSnapshot(table, selector);
  EXPECT_THAT(snapshot, IsOk());
  return snapshot && *snapshot != nullptr ? Raw((*snapshot)->id) : -1;
}

TEST(SelectSnapshotTest, FindsByIdTimeBranchAndTag) {
  const TableMetadata table = Table();
  EXPECT_EQ(Selected(table, {}), 3);
  EXPECT_EQ(Selected(table, {.snapshot_id = SnapshotId{2}}), 2);
  EXPECT_EQ(Selected(table, {.branch = "main"}), 3);
  EXPECT_EQ(Selected(table, {.branch = "side"}), 4);
  EXPECT_EQ(Selected(table, {.tag = "first"}), 1);
}

TEST(SelectSnapshotTest, TimeGoesByTheHistoryOfMain) {
  const TableMetadata table = Table();
  struct Case {
    std::int64_t seconds, snapshot;
  };
  for (const Case& c : {Case{10, 1}, Case{19, 1}, Case{20, 2}, Case{21, 2}, Case{22, 1},
                        Case{29, 1}, Case{30, 3}, Case{1000, 3}}) {
    EXPECT_EQ(Selected(table, {.as_of = At(c.seconds)}), c.snapshot) << c.seconds;
  }
  EXPECT_THAT(SelectSnapshot(table, {.as_of = At(9)}),
              HasError(Code::kNotFound, AllOf(HasSubstr("1970-01-01T00:00:09.000Z"),
                                              HasSubstr("oldest snapshot is 1 of "
                                                        "1970-01-01T00:00:10.000Z"))));
}

TEST(SelectSnapshotTest, WithoutALogTheParentsAreTheHistory) {
  TableMetadata table = Table();
  table.snapshot_log.clear();
  EXPECT_EQ(Selected(table, {.as_of = At(29)}), 1);
  EXPECT_EQ(Selected(table, {.as_of = At(30)}), 3);
  EXPECT_THAT(SelectSnapshot(table, {.as_of = At(9)}), HasCode(Code::kNotFound));
}

TEST(SelectSnapshotTest, NamesWhatThereIs) {
  const TableMetadata table = Table();
  EXPECT_THAT(SelectSnapshot(table, {.snapshot_id = SnapshotId{9}}),
              HasError(Code::kNotFound, HasSubstr("4 snapshots, 1 to 3")));
  EXPECT_THAT(SelectSnapshot(table, {.branch = "dev"}),
              HasError(Code::kNotFound, HasSubstr("main, side")));
  EXPECT_THAT(SelectSnapshot(table, {.tag = "dev"}),
              HasError(Code::kNotFound, HasSubstr("the table has first")));
}

TEST(SelectSnapshotTest, RefusesTwoSelectorsAndTheWrongKindOfRef) {
  const TableMetadata table = Table();
  EXPECT_THAT(SelectSnapshot(table, {.snapshot_id = SnapshotId{1}, .branch = "main"}),
              HasCode(Code::kInvalidArgument));
  EXPECT_THAT(SelectSnapshot(table, {.branch = "first"}),
              HasError(Code::kInvalidArgument, HasSubstr("'first' is a tag, not a branch")));
  EXPECT_THAT(SelectSnapshot(table, {.tag = "side"}),
              HasError(Code::kInvalidArgument, HasSubstr("'side' is a branch, not a tag")));
}

TEST(SelectSnapshotTest, ATableWithoutSnapshotsHasNoneToSelect) {
  const TableMetadata table = MakeTable(MakeSchema({{1, "id", TypeId::kLong}}), {MakeSpec(0, {})});
  EXPECT_EQ(Selected(table, {}), -1);
  EXPECT_EQ(Selected(table, {.branch = "main"}), -1);
  EXPECT_THAT(SelectSnapshot(table, {.as_of = At(9)}), HasCode(Code::kNotFound));
  EXPECT_THAT(SelectSnapshot(table, {.snapshot_id = SnapshotId{1}}), HasCode(Code::kNotFound));
}

}  // namespace
}  // namespace icewright
