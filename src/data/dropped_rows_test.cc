#include "data/dropped_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/read_test_table.h"

namespace icewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

std::vector<std::int64_t> Positions(const PositionBitmap& bitmap) {
  std::vector<std::int64_t> out;
  bitmap.ForEach([&](std::int64_t position) { out.push_back(position); });
  return out;
}

/// Ids 0 to 9 in two row groups of one file; 3 twice.
class DroppedRowsTest : public ::testing::Test, public ReadTestTable {
 protected:
  DroppedRowsTest()
      : ReadTestTable(MakeTable(MakeSchema({{1, "id", TypeId::kLong}}), {MakeSpec(0, {})})) {
    AddData("f.parquet", columns,
            {R"([{"id": 0}, {"id": 1}, {"id": 2}, {"id": 3}])",
             R"([{"id": 3}, {"id": null}, {"id": 6}])"});
  }

  Result<DroppedRows> Find(RunContext& run, KeyShare share = {}) {
    IW_ASSIGN(const DroppedRowFinder finder,
              DroppedRowFinder::Make(std::make_shared<const TableMetadata>(metadata()), shared_io(),
                                     share));
    return finder.Find(run, tasks()[0]);
  }
  void DeleteIds(const std::string& name, const std::string& json, int sequence_number = 2) {
    DeleteKeys(name, columns, json, {1}, sequence_number);
  }

  const arrow::FieldVector columns = {Col(1, "id", arrow::int64())};
};

TEST_F(DroppedRowsTest, WithoutDeletesNothingIs) {
  RunContext run;
  const auto dropped = Find(run);
  ASSERT_THAT(dropped, IsOk());
  EXPECT_THAT(Positions(dropped->positions), IsEmpty());
  EXPECT_EQ(dropped->by_position, 0);
}

TEST_F(DroppedRowsTest, KeysAndPositionsAddUp) {
  DeleteVector("v.puffin", {0, 3, 500});  // 500 is no row
  DeleteIds("e1.parquet", R"([{"id": 3}, {"id": null}])");
  DeleteIds("e2.parquet", R"([{"id": 6}, {"id": 77}])", 5);
  DeleteIds("old.parquet", R"([{"id": 1}])", 1);  // not newer than the file
  RunContext run;
  {
    const auto dropped = Find(run);
    ASSERT_THAT(dropped, IsOk());
    EXPECT_THAT(Positions(dropped->positions), ElementsAre(0, 3, 4, 5, 6));
    EXPECT_EQ(dropped->by_position, 2);
  }
  EXPECT_EQ(run.memory().used(), 0);
}

TEST_F(DroppedRowsTest, SharesOfTheKeysAddUp) {
  DeleteIds("e1.parquet",
            R"([{"id": 0}, {"id": 1}, {"id": 2}, {"id": 3}, {"id": 6}, {"id": null}])");
  constexpr std::uint32_t kShares = 3;
  PositionBitmap all;
  std::int64_t not_null = 0;
  for (std::uint32_t i = 0; i < kShares; ++i) {
    RunContext run;
    const auto dropped = Find(run, {.index = i, .count = kShares});
    ASSERT_THAT(dropped, IsOk());
    EXPECT_TRUE(dropped->positions.Contains(5)) << "null is in every share";
    not_null += dropped->positions.cardinality() - 1;
    all.Merge(dropped->positions);
  }
  EXPECT_THAT(Positions(all), ElementsAre(0, 1, 2, 3, 4, 5, 6));
  EXPECT_EQ(not_null, 6) << "every other key is in one share";
}

TEST_F(DroppedRowsTest, KeysComeOutOfTheBudget) {
  std::string json = "[";
  for (int i = 0; i < 20000; ++i)
    json += (i > 0 ? "," : "") + ("{\"id\": " + std::to_string(i)) + "}";
  DeleteIds("e.parquet", json + "]");
  RunContext run({.memory_limit_bytes = 600'000});
  EXPECT_THAT(Find(run), HasError(Code::kExhausted, HasSubstr("e.parquet")));
  EXPECT_EQ(run.memory().used(), 0);
}

TEST_F(DroppedRowsTest, LastUpdatedNumbersOfRows) {
  constexpr std::int64_t kUnknown = -1;
  const arrow::FieldVector with_lineage = {
      Col(1, "id", arrow::int64()),
      Col(2147483539, "_last_updated_sequence_number", arrow::int64())};
  AddData("g.parquet", with_lineage, {R"([{"id": 0, "_last_updated_sequence_number": 4}, {"id": 1},
               {"id": 2, "_last_updated_sequence_number": 3}])"});
  DeleteVector("v.puffin", {0});
  tasks()[1].sequence_number = SequenceNumber(7);
  tasks()[1].data_file.first_row_id = 100;
  RunContext run;
  const auto finder =
      DroppedRowFinder::Make(std::make_shared<const TableMetadata>(metadata()), shared_io());
  ASSERT_THAT(finder, IsOk());
  const auto numbers = [&](const FileTask& task) {
    PositionBitmap rows;
    rows.AddRange(0, 2);
    std::vector<std::pair<std::int64_t, std::int64_t>> out;
    const auto visit = [&](std::int64_t row, std::optional<SequenceNumber> number) -> Status {
      out.emplace_back(row, number ? Raw(*number) : kUnknown);
      return {};
    };
    EXPECT_THAT(finder->VisitLastUpdated(run, task, rows, visit), IsOk());
    return out;
  };
  tasks()[0].file_sequence_number = tasks()[0].sequence_number;
  tasks()[1].file_sequence_number = tasks()[1].sequence_number;
  EXPECT_THAT(numbers(tasks()[1]), ElementsAre(Pair(0, 4), Pair(1, 7)));
  EXPECT_THAT(numbers(tasks()[0]), ElementsAre(Pair(0, 1), Pair(1, 1))) << "without lineage";
  tasks()[0].file_sequence_number = tasks()[1].file_sequence_number = SequenceNumber(9);
  EXPECT_THAT(numbers(tasks()[1]), ElementsAre(Pair(0, 4), Pair(1, kUnknown))) << "rewritten";
  EXPECT_THAT(numbers(tasks()[0]), ElementsAre(Pair(0, kUnknown), Pair(1, kUnknown)));
}

}  // namespace
}  // namespace icewright
