#include "data/group_proof.h"

#include "data/write_test_table.h"

namespace icewright {
namespace {

using ::testing::HasSubstr;

ColumnSums SumsOf(const Schema& schema,
                  const std::vector<std::shared_ptr<arrow::RecordBatch>>& batches) {
  ColumnSums sums;
  for (const auto& batch : batches) EXPECT_THAT(sums.Add(schema, *batch), IsOk());
  return sums;
}

std::uint64_t HashOfRows(const std::vector<std::shared_ptr<arrow::RecordBatch>>& batches) {
  RowHashSum hash;
  for (const auto& batch : batches) EXPECT_THAT(hash.Add(*batch), IsOk());
  return hash.sum();
}

const std::string kRows = R"([
    [1, ["ann", 30], ["x", null], [["k", 1]], [[7, [["q", 1.5]]]]],
    [2, null, null, null, null],
    [3, ["bob", null], [], [], []]])";

TEST(ColumnSumsTest, SumsByType) {
  const Schema schema = PrimitiveSchema();
  const ColumnSums sums = SumsOf(schema, {RowsOf(schema, R"([
      [true, 5, -7, 1.0, 2.0, 3, 4, 5, 6, "abc", "aaaaaaaabbbbbbbb", "xyz", "pq", "1.00", "0.002", "3.0000000000"],
      [true, 1, 1, 0, 0, 1, 1, 1, 1, "d", "aaaaaaaabbbbbbbb", "xyz", "", "0.01", "0.001", "0.0000000000"],
      [null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null]])")});
  const std::uint64_t want[] = {2,
                                6,
                                static_cast<std::uint64_t>(-6),
                                0x3f800000,
                                0x4000000000000000,
                                4,
                                5,
                                6,
                                7,
                                4,
                                2 * 0x6161616161616161ULL,
                                2 * 0x7a7978ULL,
                                2,
                                101,
                                3,
                                30000000000ULL};
  ASSERT_EQ(sums.columns().size(), std::size(want));
  for (std::size_t i = 0; i < std::size(want); ++i) {
    EXPECT_EQ(sums.columns()[i].sum, want[i]) << sums.columns()[i].name;
    EXPECT_EQ(sums.columns()[i].nulls, 1) << sums.columns()[i].name;
    EXPECT_EQ(sums.columns()[i].values, 3) << sums.columns()[i].name;
  }
}

TEST(ColumnSumsTest, DoNotDependOnBatchesOrOrder) {
  const Schema schema = NestedSchema();
  const auto rows = RowsOf(schema, kRows);
  const ColumnSums whole = SumsOf(schema, {rows});
  const ColumnSums parts =
      SumsOf(schema, {rows->Slice(2, 1), rows->Slice(0, 1), rows->Slice(1, 1)});
  EXPECT_THAT(whole.CheckSame(parts), IsOk());
  EXPECT_EQ(HashOfRows({rows}), HashOfRows({rows->Slice(1, 2), rows->Slice(0, 1)}));
}

struct Tampering {
  std::string name, rows, complaint;
};

class TamperedTest : public ::testing::TestWithParam<Tampering> {};

TEST_P(TamperedTest, IsCaught) {
  const Schema schema = NestedSchema();
  const auto honest = RowsOf(schema, kRows);
  const auto other = RowsOf(schema, GetParam().rows);
  EXPECT_NE(HashOfRows({honest}), HashOfRows({other}));
  if (GetParam().complaint.empty()) return;
  EXPECT_THAT(SumsOf(schema, {honest}).CheckSame(SumsOf(schema, {other})),
              HasError(Code::kInternal, HasSubstr(GetParam().complaint)));
}

// Where no complaint is named, sums cannot see the change and only the hash does.
INSTANTIATE_TEST_SUITE_P(
    Table, TamperedTest,
    ::testing::Values(
        Tampering{"RowLost", R"([[1, ["ann", 30], ["x", null], [["k", 1]], [[7, [["q", 1.5]]]]],
                                 [2, null, null, null, null]])",
                  "rows: 3 read, 2 written"},
        Tampering{"IdChanged", R"([[1, ["ann", 30], ["x", null], [["k", 1]], [[7, [["q", 1.5]]]]],
                                   [2, null, null, null, null], [4, ["bob", null], [], [], []]])",
                  "sum of id: 6 read, 7 written"},
        Tampering{"NullLost", R"([[1, ["ann", 30], ["x", ""], [["k", 1]], [[7, [["q", 1.5]]]]],
                                  [2, null, null, null, null], [3, ["bob", null], [], [], []]])",
                  "nulls of tags.element: 1 read, 0 written"},
        Tampering{"EmptyForNull",
                  R"([[1, ["ann", 30], ["x", null], [["k", 1]], [[7, [["q", 1.5]]]]],
                                      [2, null, [], null, null], [3, ["bob", null], [], [], []]])",
                  "nulls of tags: 1 read, 0 written"},
        Tampering{"DeepValue", R"([[1, ["ann", 30], ["x", null], [["k", 1]], [[7, [["q", 1.25]]]]],
                                   [2, null, null, null, null], [3, ["bob", null], [], [], []]])",
                  "sum of deep.element.m.value"},
        Tampering{"ElementsSwapped",
                  R"([[1, ["ann", 30], [null, "x"], [["k", 1]], [[7, [["q", 1.5]]]]],
                                         [2, null, null, null, null], [3, ["bob", null], [], [], []]])",
                  ""},
        Tampering{"ValuesOfTwoRowsSwapped",
                  R"([[1, ["bob", 30], ["x", null], [["k", 1]], [[7, [["q", 1.5]]]]],
                      [2, null, null, null, null], [3, ["ann", null], [], [], []]])",
                  ""},
        Tampering{"TextChanged", R"([[1, ["ann", 30], ["z", null], [["k", 1]], [[7, [["q", 1.5]]]]],
                                     [2, null, null, null, null], [3, ["bob", null], [], [], []]])",
                  ""}),
    [](const auto& test) { return test.param.name; });

TEST(RowHashTest, TellsBitsOfFloatsAndNullFromEmpty) {
  const Schema schema = MakeSchema({{1, "d", TypeId::kDouble}, {2, "s", TypeId::kString}});
  const std::uint64_t zero = HashOfRows({RowsOf(schema, R"([[0.0, ""]])")});
  EXPECT_NE(zero, HashOfRows({RowsOf(schema, R"([[-0.0, ""]])")}));
  EXPECT_NE(zero, HashOfRows({RowsOf(schema, R"([[0.0, null]])")}));
  EXPECT_NE(zero, HashOfRows({RowsOf(schema, R"([[null, ""]])")}));
}

TEST(RowHashTest, DictionariesHashAsTheirValues) {
  const Schema schema = MakeSchema({{1, "s", TypeId::kString}});
  auto array = arrow::json::DictArrayFromJSONString(
      arrow::dictionary(arrow::int32(), arrow::utf8()), "[1, null, 0]", R"(["a", "bb"])");
  ASSERT_TRUE(array.ok());
  const auto coded =
      arrow::RecordBatch::Make(arrow::schema({arrow::field("s", (*array)->type())}), 3, {*array});
  const auto dense = RowsOf(schema, R"([["bb"], [null], ["a"]])");
  EXPECT_EQ(HashOfRows({coded}), HashOfRows({dense}));
  EXPECT_THAT(SumsOf(schema, {coded}).CheckSame(SumsOf(schema, {dense})), IsOk());
}

}  // namespace
}  // namespace icewright
