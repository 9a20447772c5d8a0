#include "data/external_sort.h"

#include <algorithm>
#include <filesystem>
#include <random>

#include "data/arrow_values.h"
#include "data/write_test_table.h"
#include "table/literal.h"
#include "testing/temp_folder.h"

namespace icewright {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Schema TestSchema() {
  return MakeSchema(
      {{1, "n", TypeId::kLong}, {2, "s", TypeId::kString}, {3, "d", TypeId::kDouble}});
}

SortField By(int column, const std::string& transform, bool ascending, bool nulls_first) {
  return {.source_ids = {FieldId{column}},
          .transform = Transform::Parse(transform),
          .direction = ascending ? SortField::Direction::kAsc : SortField::Direction::kDesc,
          .nulls = nulls_first ? SortField::Nulls::kFirst : SortField::Nulls::kLast};
}

struct Outcome {
  std::vector<std::int64_t> order;  // first column
  int spilled = 0;
  std::vector<std::string> left;  // in the temporary folder, after all
};

Outcome SortRows(const std::vector<SortField>& fields,
                 const std::vector<std::shared_ptr<arrow::RecordBatch>>& batches,
                 std::int64_t memory, std::int64_t output_rows = 7) {
  const TempFolder temp;
  Outcome out;
  RunContext run;
  {
    auto key = SortKey::Make(TestSchema(), fields);
    EXPECT_THAT(key, IsOk());
    ExternalSort sort(
        *key, {.memory_bytes = memory, .output_rows = output_rows, .temp_folder = temp.path()},
        MakePool(run));
    for (const auto& batch : batches) EXPECT_THAT(sort.Add(run, batch), IsOk());
    for (;;) {
      auto batch = sort.Next(run);
      EXPECT_THAT(batch, IsOk());
      if (!batch || *batch == nullptr) break;
      EXPECT_LE((*batch)->num_rows(), output_rows);
      for (std::int64_t row = 0; row < (*batch)->num_rows(); ++row) {
        out.order.push_back(std::get<std::int64_t>(*LiteralAt(*(*batch)->column(0), row)));
      }
    }
    out.spilled = sort.spilled_runs();
  }
  for (const auto& entry : std::filesystem::directory_iterator(temp.path())) {
    out.left.push_back(entry.path());
  }
  return out;
}

struct Case {
  std::string name;
  std::vector<SortField> fields;
  std::vector<std::int64_t> want;
};

class SortOrderTest : public ::testing::TestWithParam<Case> {};

TEST_P(SortOrderTest, Sorts) {
  const auto rows = RowsOf(TestSchema(), R"([
      [0, "b", 1.5], [1, null, NaN], [2, "a", -0.0], [3, "ba", 0.0], [4, "", null],
      [5, "b", -1.5], [6, "\u0000", 1e300], [7, "bz", -1e300]])");
  for (const std::int64_t memory : {std::int64_t{1} << 20, std::int64_t{1}}) {
    const Outcome outcome =
        SortRows(GetParam().fields, {rows->Slice(0, 5), rows->Slice(5, 3)}, memory);
    EXPECT_THAT(outcome.order, ElementsAreArray(GetParam().want)) << "memory " << memory;
    EXPECT_EQ(outcome.spilled, memory == 1 ? 2 : 0);
    EXPECT_THAT(outcome.left, IsEmpty());
  }
}

INSTANTIATE_TEST_SUITE_P(
    Table, SortOrderTest,
    ::testing::Values(
        Case{"Text", {By(2, "identity", true, true)}, {1, 4, 6, 2, 0, 5, 3, 7}},
        Case{"TextNullsLast", {By(2, "identity", true, false)}, {4, 6, 2, 0, 5, 3, 7, 1}},
        Case{"TextDown", {By(2, "identity", false, false)}, {7, 3, 0, 5, 2, 6, 4, 1}},
        Case{"TextDownNullsFirst", {By(2, "identity", false, true)}, {1, 7, 3, 0, 5, 2, 6, 4}},
        Case{"Floats", {By(3, "identity", true, true)}, {4, 7, 5, 2, 3, 0, 6, 1}},
        Case{"FloatsDown", {By(3, "identity", false, true)}, {4, 1, 6, 0, 3, 2, 5, 7}},
        Case{"TruncateThenFloats",
             {By(2, "truncate[1]", true, true), By(3, "identity", true, true)},
             {1, 4, 6, 2, 7, 5, 3, 0}},
        Case{"Void", {By(2, "void", true, true)}, {0, 1, 2, 3, 4, 5, 6, 7}},
        Case{"LongsDown", {By(1, "identity", false, true)}, {7, 6, 5, 4, 3, 2, 1, 0}}),
    [](const auto& test) { return test.param.name; });

// Oracle: std::stable_sort with the order of literals, for any memory.
TEST(ExternalSortTest, AgreesWithStableSortOnRandomRows) {
  std::mt19937 rng(20240601);
  for (int round = 0; round < 40; ++round) {
    struct Row {
      std::int64_t n;
      std::optional<std::string> s;
    };
    std::vector<Row> rows;
    std::vector<std::shared_ptr<arrow::RecordBatch>> batches;
    const int count = static_cast<int>(rng() % 400);
    std::string json;
    for (int i = 0; i < count; ++i) {
      Row row{i, {}};
      if (rng() % 8 != 0) {
        row.s = std::string(rng() % 4, static_cast<char>('a' + rng() % 3));
      }
      json += (json.empty() ? "[[" : ",[") + std::to_string(i) + "," +
              (row.s ? "\"" + *row.s + "\"" : "null") + ",null]";
      rows.push_back(row);
      if (rng() % 50 == 0 || i + 1 == count) {
        batches.push_back(RowsOf(TestSchema(), json + "]"));
        json.clear();
      }
    }
    const bool ascending = rng() % 2 == 0;
    const bool nulls_first = rng() % 2 == 0;
    std::stable_sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
      if (a.s.has_value() != b.s.has_value()) return nulls_first ? !a.s : a.s.has_value();
      if (!a.s) return false;
      return ascending ? *a.s < *b.s : *b.s < *a.s;
    });
    std::vector<std::int64_t> want;
    for (const Row& row : rows) want.push_back(row.n);
    const std::int64_t memory = std::int64_t{1} << (rng() % 16);
    const Outcome outcome =
        SortRows({By(2, "identity", ascending, nulls_first)}, batches, memory, 1 + rng() % 60);
    ASSERT_EQ(outcome.order, want) << "round " << round << " memory " << memory;
    ASSERT_THAT(outcome.left, IsEmpty());
  }
}

TEST(ExternalSortTest, MergesMoreRunsThanItOpensAtOnce) {
  std::vector<std::shared_ptr<arrow::RecordBatch>> batches;
  std::vector<std::int64_t> want;
  for (int i = 0; i < 300; ++i) {
    batches.push_back(RowsOf(TestSchema(), "[[" + std::to_string(299 - i) + ", \"x\", null]]"));
    want.push_back(i);
  }
  const Outcome outcome = SortRows({By(1, "identity", true, true)}, batches, 1);
  EXPECT_EQ(outcome.spilled, 300);
  EXPECT_EQ(outcome.order, want);
  EXPECT_THAT(outcome.left, IsEmpty());
}

TEST(ExternalSortTest, LeavesNothingWhenGivenUp) {
  const TempFolder temp;
  RunContext run;
  {
    auto key = SortKey::Make(TestSchema(), {By(1, "identity", true, true)});
    ASSERT_THAT(key, IsOk());
    ExternalSort sort(*key, {.memory_bytes = 1, .output_rows = 10, .temp_folder = temp.path()},
                      MakePool(run));
    ASSERT_THAT(sort.Add(run, RowsOf(TestSchema(), "[[1, null, null]]")), IsOk());
    ASSERT_EQ(sort.spilled_runs(), 1);
    ASSERT_FALSE(std::filesystem::is_empty(temp.path()));
  }
  EXPECT_TRUE(std::filesystem::is_empty(temp.path()));
}

TEST(ExternalSortTest, StopsOnRequest) {
  std::stop_source stop;
  RunContext run({.stop = stop.get_token()});
  auto key = SortKey::Make(TestSchema(), {By(1, "identity", true, true)});
  ASSERT_THAT(key, IsOk());
  ExternalSort sort(*key, {.memory_bytes = 1 << 20}, MakePool(run));
  ASSERT_THAT(sort.Add(run, RowsOf(TestSchema(), "[[1, null, null]]")), IsOk());
  stop.request_stop();
  EXPECT_THAT(sort.Next(run), HasCode(Code::kCancelled));
}

TEST(ExternalSortTest, NamesAFolderThatIsNotThere) {
  RunContext run;
  auto key = SortKey::Make(TestSchema(), {By(1, "identity", true, true)});
  ASSERT_THAT(key, IsOk());
  ExternalSort sort(*key, {.memory_bytes = 1, .temp_folder = "/no/such/folder"}, MakePool(run));
  EXPECT_THAT(sort.Add(run, RowsOf(TestSchema(), "[[1, null, null]]")),
              HasError(Code::kIo, HasSubstr("/no/such/folder")));
}

TEST(SortKeyTest, RefusesWhatItCannotSortBy) {
  EXPECT_THAT(SortKey::Make(TestSchema(), {By(9, "identity", true, true)}),
              HasCode(Code::kInvalidArgument));
  EXPECT_THAT(SortKey::Make(TestSchema(), {By(1, "zorder", true, true)}),
              HasCode(Code::kUnsupported));
  EXPECT_THAT(SortKey::Make(TestSchema(), {By(3, "bucket[4]", true, true)}),
              HasError(Code::kInvalidArgument, HasSubstr("bucket[4]")));
}

// Oracle: keys of every primitive type compare as Compare() does.
TEST(SortKeyTest, OrdersAsLiteralsDo) {
  const Schema schema = PrimitiveSchema();
  const auto rows = RowsOf(schema, R"([
      [true, 5, -7, 1.5, -2.5, 10, 1, 17, 18, "m", "aaaaaaaaaaaaaaaa", "abc", "x", "1.50", "-2.500", "3.0000000000"],
      [false, -5, 7, -0.0, 0.0, -10, 2, -17, -18, "", "zaaaaaaaaaaaaaaa", "abd", "", "-1.50", "2.500", "-3.0000000000"],
      [true, 0, 0, 0.0, -0.0, 0, 0, 0, 0, "mm", "aaaaaaaaaaaaaaab", "\u0000bc", "xx", "0.00", "0.000", "99999999999999999999.0000000000"],
      [false, 2147483647, -9223372036854775808, 3e38, 1e308, 99999, 5, 1, 1, "\u00e9", "0aaaaaaaaaaaaaaa", "zzz", "\u0000", "0.01", "0.001", "-99999999999999999999.0000000000"]])");
  for (int column = 1; column <= 16; ++column) {
    const Type& type = schema.Find(FieldId{column})->type;
    auto key = SortKey::Make(schema, {By(column, "identity", true, true)});
    ASSERT_THAT(key, IsOk());
    IW_ASSERT_OK_AND_ASSIGN(const SortKeys keys, key->Encode(*rows));
    for (std::int64_t a = 0; a < rows->num_rows(); ++a) {
      for (std::int64_t b = 0; b < rows->num_rows(); ++b) {
        const auto want = Compare(type, *LiteralAt(*rows->column(column - 1), a),
                                  *LiteralAt(*rows->column(column - 1), b));
        const int got =
            keys.key(static_cast<std::size_t>(a)).compare(keys.key(static_cast<std::size_t>(b)));
        EXPECT_EQ(got <=> 0, want) << type.ToString() << " rows " << a << ", " << b;
      }
    }
  }
}

}  // namespace
}  // namespace icewright
