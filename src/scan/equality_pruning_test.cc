// Equality deletes are left out only where no row can match.

#include "scan/equality_pruning.h"

#include <limits>

#include "table/literal.h"
#include "testing/matchers.h"
#include "testing/table_builder.h"

namespace icewright {
namespace {

using scan_internal::DataRanges;
using scan_internal::EqualityColumnsOf;
using scan_internal::MayDelete;

/// Metrics of one column. -1: count unknown; monostate: bound unknown.
struct Metrics {
  std::int64_t values = -1, nulls = -1;
  Literal lower = {}, upper = {};
};

void SetMetrics(DataFile& file, const Field& field, const Metrics& metrics) {
  if (metrics.values >= 0) file.value_counts.emplace_back(field.id, metrics.values);
  if (metrics.nulls >= 0) file.null_value_counts.emplace_back(field.id, metrics.nulls);
  if (!IsNull(metrics.lower)) {
    file.lower_bounds.emplace_back(field.id, ToBytes(field.type, metrics.lower));
  }
  if (!IsNull(metrics.upper)) {
    file.upper_bounds.emplace_back(field.id, ToBytes(field.type, metrics.upper));
  }
}

Literal L(std::int64_t v) { return v; }

struct Case {
  std::string name;
  int column;
  Metrics data, deletes;
  bool may_delete;
};

Schema TestSchema() {
  std::vector<Field> nested = {
      {.id = FieldId{11}, .name = "in", .required = true, .type = Type::Of(TypeId::kLong)}};
  return MakeSchema({{1, "opt", TypeId::kLong},
                     {2, "req", Type::Of(TypeId::kLong), true},
                     {3, "x", TypeId::kDouble},
                     {4, "u", TypeId::kUuid},
                     {10, "s", Type::Struct(nested)}});
}

class EqualityPruningTest : public ::testing::TestWithParam<Case> {};

TEST_P(EqualityPruningTest, Decides) {
  const Case& c = GetParam();
  const Schema schema = TestSchema();
  const Field& field = *schema.Find(FieldId{c.column});
  DataFile data = MakeDataFile("f"), deletes = MakeEqualityDeletes("e", {c.column});
  SetMetrics(data, field, c.data);
  SetMetrics(deletes, field, c.deletes);
  DataRanges ranges(data);
  EXPECT_EQ(MayDelete(EqualityColumnsOf(schema, deletes), ranges), c.may_delete);
}

const Metrics kNoNulls1To9 = {10, 0, L(1), L(9)};
const Metrics kNulls1To9 = {10, 2, L(1), L(9)};
const Metrics kAllNull = {10, 10};
const Literal kUuidA = std::string(16, '\x01');
const Literal kUuidZ = std::string(16, '\xf0');

INSTANTIATE_TEST_SUITE_P(
    Cases, EqualityPruningTest,
    ::testing::Values(
        Case{"NothingKnown", 1, {}, {}, true},
        Case{"NothingKnownOfData", 1, {}, {3, 0, L(20), L(30)}, true},
        Case{"NothingKnownOfDeletes", 1, kNoNulls1To9, {}, true},
        Case{"RangesOverlap", 1, kNoNulls1To9, {3, 0, L(9), L(30)}, true},
        Case{"DeletesAbove", 1, kNoNulls1To9, {3, 0, L(10), L(30)}, false},
        Case{"DeletesBelow", 1, kNoNulls1To9, {3, 0, L(-5), L(0)}, false},
        Case{"DisjointButBothHaveNulls", 1, kNulls1To9, {3, 1, L(10), L(30)}, true},
        Case{"DisjointAndOnlyDataHasNulls", 1, kNulls1To9, {3, 0, L(10), L(30)}, false},
        Case{"DisjointAndOnlyDeletesHaveNulls", 1, kNoNulls1To9, {3, 1, L(10), L(30)}, false},
        Case{"DisjointButNullsUnknown", 1, {10, -1, L(1), L(9)}, {3, -1, L(10), L(30)}, true},
        Case{"DisjointAndNullsUnknownOnOneSide",
             1,
             {10, -1, L(1), L(9)},
             {3, 0, L(10), L(30)},
             false},
        Case{"DataAllNullDeletesWithoutNulls", 1, kAllNull, {3, 0, L(1), L(2)}, false},
        Case{"DataAllNullDeletesWithNulls", 1, kAllNull, {3, 1, L(1), L(2)}, true},
        Case{"DataAllNullDeletesUnknown", 1, kAllNull, {}, true},
        Case{"DeletesAllNullDataWithoutNulls", 1, kNoNulls1To9, {3, 3}, false},
        Case{"DeletesAllNullDataWithNulls", 1, kNulls1To9, {3, 3}, true},
        Case{"DeletesAllNullDataUnknown", 1, {}, {3, 3}, true},
        Case{"RequiredColumnHasNoNullsByDefault",
             2,
             {10, -1, L(1), L(9)},
             {3, -1, L(10), L(30)},
             false},
        Case{"ACountBeatsTheSchema", 2, kNulls1To9, {3, 1, L(10), L(30)}, true},
        Case{"RequiredInOptionalStructMayBeNull",
             11,
             {10, -1, L(1), L(9)},
             {3, -1, L(10), L(30)},
             true},
        Case{"OneBoundMissing", 1, {10, 0, L(1), {}}, {3, 0, L(10), L(30)}, true},
        Case{"NanIsOutsideTheBoundsOfFloats", 3, {10, 0, 1.0, 9.0}, {3, 0, 10.0, 30.0}, true},
        Case{"UuidsWereOnceOrderedOtherwise",
             4,
             {10, 0, kUuidA, kUuidA},
             {3, 0, kUuidZ, kUuidZ},
             true},
        Case{"FloatsArePrunedByNulls", 3, kAllNull, {3, 0, 1.0, 2.0}, false}),
    [](const auto& test) { return test.param.name; });

TEST(EqualityPruning, OneColumnThatCannotMatchIsEnough) {
  const Schema schema = TestSchema();
  DataFile data = MakeDataFile("f"), deletes = MakeEqualityDeletes("e", {1, 2});
  SetMetrics(data, *schema.Find(FieldId{1}), kNoNulls1To9);
  SetMetrics(data, *schema.Find(FieldId{2}), kNoNulls1To9);
  SetMetrics(deletes, *schema.Find(FieldId{1}), kNoNulls1To9);
  SetMetrics(deletes, *schema.Find(FieldId{2}), {3, 0, L(10), L(30)});
  DataRanges ranges(data);
  EXPECT_FALSE(MayDelete(EqualityColumnsOf(schema, deletes), ranges));
}

TEST(EqualityPruning, BoundsOfBeforeAPromotionAreWidened) {
  const Schema schema = TestSchema();
  DataFile data = MakeDataFile("f"), deletes = MakeEqualityDeletes("e", {1});
  SetMetrics(deletes, *schema.Find(FieldId{1}), {3, 0, L(10), L(30)});
  data.value_counts = {{FieldId{1}, 5}};
  data.null_value_counts = {{FieldId{1}, 0}};
  const Type old_type = Type::Of(TypeId::kInt);
  data.lower_bounds = {{FieldId{1}, ToBytes(old_type, std::int32_t{-1})}};
  data.upper_bounds = {{FieldId{1}, ToBytes(old_type, std::int32_t{9})}};
  DataRanges below(data);
  EXPECT_FALSE(MayDelete(EqualityColumnsOf(schema, deletes), below));
  data.upper_bounds = {{FieldId{1}, ToBytes(old_type, std::int32_t{10})}};
  DataRanges touching(data);
  EXPECT_TRUE(MayDelete(EqualityColumnsOf(schema, deletes), touching));
  data.upper_bounds = {{FieldId{1}, "odd"}};
  DataRanges odd(data);
  EXPECT_TRUE(MayDelete(EqualityColumnsOf(schema, deletes), odd));
}

TEST(EqualityPruning, AColumnThatTheSchemaLacksPrunesNothing) {
  const Schema schema = TestSchema();
  DataFile data = MakeDataFile("f");
  DataRanges ranges(data);
  EXPECT_TRUE(MayDelete(EqualityColumnsOf(schema, MakeEqualityDeletes("e", {77})), ranges));
}

}  // namespace
}  // namespace icewright
