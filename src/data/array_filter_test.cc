#include "data/array_filter.h"

#include <arrow/array.h>
#include <arrow/array/concatenate.h>
#include <arrow/json/from_string.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "testing/matchers.h"

namespace icewright {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

MATCHER_P2(RunIs, start, length, "") { return arg.start == start && arg.length == length; }

TEST(SelectionTest, RunsCoverWhatWasNotDropped) {
  Selection rows(8);
  EXPECT_TRUE(rows.all());
  EXPECT_THAT(rows.Runs(), ElementsAre(RunIs(0, 8)));
  rows.Drop(0);
  rows.Drop(3);
  rows.Drop(3);  // again: counted once
  rows.Drop(4);
  EXPECT_EQ(rows.kept(), 5);
  EXPECT_FALSE(rows.Keeps(3));
  EXPECT_TRUE(rows.Keeps(5));
  EXPECT_THAT(rows.Runs(), ElementsAre(RunIs(1, 2), RunIs(5, 3)));
  rows.Drop(7);
  EXPECT_THAT(rows.Runs(), ElementsAre(RunIs(1, 2), RunIs(5, 2)));
  rows.DropAll();
  EXPECT_EQ(rows.kept(), 0);
  EXPECT_THAT(rows.Runs(), IsEmpty());
}

struct Case {
  std::string name;
  std::shared_ptr<arrow::DataType> type;
  std::string json;  // a handful of values; repeated to make a long array
  friend void PrintTo(const Case& c, std::ostream* os) { *os << c.name; }
};

class KeepRunsTest : public ::testing::TestWithParam<Case> {
 protected:
  std::shared_ptr<arrow::Array> Repeated(int times) const {
    const auto values =
        arrow::json::ArrayFromJSONString(GetParam().type, GetParam().json).ValueOrDie();
    return arrow::Concatenate(arrow::ArrayVector(static_cast<std::size_t>(times), values))
        .ValueOrDie();
  }
};

// Oracle: slices, concatenated by Arrow.
TEST_P(KeepRunsTest, AgreesWithConcatenatedSlices) {
  const auto whole = Repeated(40);
  std::mt19937 rng(20240601);
  for (int round = 0; round < 60; ++round) {
    const auto offset = static_cast<std::int64_t>(rng() % 9);
    const auto array = whole->Slice(offset, whole->length() - offset - static_cast<int>(rng() % 5));
    Selection rows(array->length());
    const auto percent = round % 4 == 0 ? 2 : rng() % 100;
    for (std::int64_t i = 0; i < array->length(); ++i) {
      if (rng() % 100 < percent) rows.Drop(i);
    }
    arrow::ArrayVector slices = {array->Slice(0, 0)};
    for (const RowRun& run : rows.Runs()) slices.push_back(array->Slice(run.start, run.length));
    const auto expected = arrow::Concatenate(slices).ValueOrDie();
    IW_ASSERT_OK_AND_ASSIGN(auto data,
                            KeepRuns(*array->data(), rows.Runs(), arrow::default_memory_pool()));
    const auto kept = arrow::MakeArray(data);
    ASSERT_TRUE(kept->ValidateFull().ok()) << kept->ValidateFull().ToString();
    ASSERT_TRUE(kept->Equals(*expected)) << kept->ToString() << "\n" << expected->ToString();
    ASSERT_EQ(kept->null_count(), expected->null_count());
  }
}

INSTANTIATE_TEST_SUITE_P(
    Types, KeepRunsTest,
    ::testing::Values(
        Case{"Null", arrow::null(), "[null, null, null]"},
        Case{"Boolean", arrow::boolean(), "[true, null, false, true, true]"},
        Case{"Int32", arrow::int32(), "[1, null, 3, 4, 5]"},
        Case{"Int64WithoutNulls", arrow::int64(), "[1, 2, 3, 4, 5]"},
        Case{"Double", arrow::float64(), "[1.5, null, 3]"},
        Case{"Decimal", arrow::decimal128(9, 2), R"(["1.50", null, "3.00"])"},
        Case{"Fixed", arrow::fixed_size_binary(3), R"(["abc", null, "def"])"},
        Case{"String", arrow::utf8(), R"(["", "a", null, "long text here", "b"])"},
        Case{"List", arrow::list(arrow::utf8()), R"([["a"], null, ["b"], [], [null], ["c", "d"]])"},
        Case{"Struct",
             arrow::struct_({arrow::field("a", arrow::int32()),
                             arrow::field("b", arrow::list(arrow::int64()))}),
             R"([{"a": 1, "b": [1, 2]}, null, {"a": null, "b": null}, {"a": 2, "b": []}])"},
        Case{"Map", arrow::map(arrow::utf8(), arrow::int64()),
             R"([[["k", 1], ["l", null]], null, [], [["m", 2]]])"}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace icewright
