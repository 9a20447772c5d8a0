#include "maintain/entry_sorter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "testing/matchers.h"

namespace icewright {
namespace {

const Type kLong = Type::Of(TypeId::kLong);

std::strong_ordering ByFirst(const StructValue& a, const StructValue& b) {
  return Compare(kLong, a[0], b[0]);
}

struct Line {
  std::int64_t partition;
  std::string text;
  friend bool operator==(const Line&, const Line&) = default;
};

// Sorted as std::stable_sort does it, whatever fits into memory.
TEST(EntrySorterTest, EqualsAStableSortWithAndWithoutSpilling) {
  for (int seed = 0; seed < 16; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 rng(static_cast<unsigned>(seed));
    RunContext run;
    EntrySorter sorter(run, ByFirst, seed % 4 == 0 ? 1 << 20 : 2000);
    std::vector<Line> expected;
    for (int batch = 0; batch < 20; ++batch) {
      EntryBatch entries;
      for (int i = static_cast<int>(rng() % 12); i > 0; --i) {
        const auto partition = static_cast<std::int64_t>(rng() % 7);
        Line line{partition, std::string(rng() % 90, 'x') + std::to_string(expected.size())};
        // A partition may come twice in the batch's list.
        entries.partitions.push_back({Literal(partition)});
        entries.entries.push_back(
            {.partition = static_cast<std::uint32_t>(entries.partitions.size() - 1),
             .size = static_cast<std::uint32_t>(line.text.size()),
             .rows = std::ssize(line.text),
             .sequence_number = SequenceNumber(batch)});
        entries.records += line.text;
        expected.push_back(std::move(line));
      }
      ASSERT_THAT(sorter.Add(std::move(entries)), IsOk());
    }
    EXPECT_EQ(sorter.runs() > 1, seed % 4 != 0);
    std::ranges::stable_sort(expected, {}, &Line::partition);
    std::vector<Line> sorted;
    ASSERT_THAT(sorter.ForEach([&](const EntryFacts& facts, ByteView record) -> Status {
      EXPECT_EQ(facts.rows, std::ssize(record));
      sorted.push_back(
          {std::get<std::int64_t>(sorter.partition(facts.partition)[0]), std::string(record)});
      return {};
    }),
                IsOk());
    EXPECT_EQ(sorted, expected);
  }
}

TEST(EntrySorterTest, AVisitorsErrorAndAStopEndIt) {
  RunContext run;
  EntrySorter sorter(run, ByFirst, 1000);
  ASSERT_THAT(
      sorter.Add(
          {.records = "ab", .entries = {{.size = 2}}, .partitions = {{Literal(std::int64_t{1})}}}),
      IsOk());
  EXPECT_THAT(sorter.ForEach(
                  [](const EntryFacts&, ByteView) -> Status { return Error(Code::kIo, "full"); }),
              HasCode(Code::kIo));
}

TEST(EntrySorterTest, TheRunsMemoryIsALimitToo) {
  RunContext run({.memory_limit_bytes = 4000});
  EntrySorter sorter(run, ByFirst, 1 << 20);
  for (int i = 0; i < 30; ++i) {
    ASSERT_THAT(sorter.Add({.records = std::string(500, 'x'),
                            .entries = {{.size = 500}},
                            .partitions = {{Literal(std::int64_t{1})}}}),
                IsOk());
  }
  EXPECT_GT(sorter.runs(), 3U) << "spilled, because the budget was full";
  EXPECT_LE(run.memory().peak(), 4000);
  EntrySorter too_big(run, ByFirst, 1 << 20);
  EXPECT_THAT(too_big.Add({.records = std::string(5000, 'x'),
                           .entries = {{.size = 5000}},
                           .partitions = {{Literal(std::int64_t{1})}}}),
              HasCode(Code::kExhausted));
}

}  // namespace
}  // namespace icewright
