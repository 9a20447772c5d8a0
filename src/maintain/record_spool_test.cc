#include "maintain/record_spool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "testing/matchers.h"

namespace icewright {
namespace {

using Record = std::pair<PathHash, std::string>;

std::vector<Record> RandomRecords(std::uint64_t seed, int count, std::size_t max_bytes) {
  std::mt19937_64 rng(seed);
  std::vector<Record> records;
  for (int i = 0; i < count; ++i) {
    // Few different hashes, so that equal ones meet.
    const PathHash hash{rng() % 50, rng() % 20};
    records.emplace_back(hash, std::string(rng() % (max_bytes + 1), static_cast<char>(rng())));
  }
  return records;
}

template <typename Source>
std::vector<Record> ReadAll(Source& source) {
  std::vector<Record> records;
  HashedRecord record;
  for (;;) {
    const auto more = source.Next(record);
    EXPECT_THAT(more, IsOk());
    if (!more || !*more) return records;
    records.emplace_back(record.hash, record.payload);
  }
}

TEST(RecordSpoolTest, GivesBackWhatWasPutInInOrder) {
  const auto records = RandomRecords(1, 3000, 300);
  for (const std::size_t memory : {std::size_t{0}, std::size_t{1000}, std::size_t{10} << 20}) {
    LazySpillFolder folder;
    RecordSpool spool(folder, memory);
    for (const auto& [hash, payload] : records) ASSERT_THAT(spool.Append(hash, payload), IsOk());
    EXPECT_EQ(spool.size(), 3000);
    ASSERT_THAT(spool.Rewind(), IsOk());
    EXPECT_EQ(ReadAll(spool), records) << memory;
  }
}

TEST(RecordSpoolTest, ARecordMayBeLargerThanTheBuffer) {
  LazySpillFolder folder;
  RecordSpool spool(folder, 0);
  const std::string large(1'000'000, 'x');
  ASSERT_THAT(spool.Append({1, 2}, large), IsOk());
  ASSERT_THAT(spool.Append({3, 4}, ""), IsOk());
  ASSERT_THAT(spool.Rewind(), IsOk());
  EXPECT_EQ(ReadAll(spool), (std::vector<Record>{{{1, 2}, large}, {{3, 4}, ""}}));
}

TEST(RecordSpoolTest, AnEmptyOneHasNothing) {
  LazySpillFolder folder;
  RecordSpool spool(folder, 0);
  ASSERT_THAT(spool.Rewind(), IsOk());
  EXPECT_TRUE(ReadAll(spool).empty());
}

TEST(HashSorterTest, SortsLikeTheStandardLibraryHoweverLittleMemoryThereIs) {
  // 20,000 records of at most 88 bytes: no run, a few, more than may be open at once.
  for (const std::size_t memory :
       {std::size_t{10} << 20, std::size_t{200'000}, std::size_t{9'000}}) {
    SCOPED_TRACE(memory);
    auto records = RandomRecords(7, 20'000, 40);
    LazySpillFolder folder;
    HashSorter sorter(folder, memory);
    for (const auto& [hash, payload] : records) ASSERT_THAT(sorter.Add(hash, payload), IsOk());
    RunContext run;
    ASSERT_THAT(sorter.Sort(run), IsOk());
    auto sorted = ReadAll(sorter);
    EXPECT_TRUE(std::ranges::is_sorted(sorted, {}, &Record::first));
    std::ranges::sort(sorted);
    std::ranges::sort(records);
    EXPECT_EQ(sorted, records);
  }
}

TEST(HashSorterTest, OneRecordMayBeLargerThanTheMemory) {
  LazySpillFolder folder;
  HashSorter sorter(folder, 10);
  for (std::uint64_t i = 3; i > 0; --i) ASSERT_THAT(sorter.Add({i, 0}, "payload"), IsOk());
  RunContext run;
  ASSERT_THAT(sorter.Sort(run), IsOk());
  EXPECT_EQ(ReadAll(sorter),
            (std::vector<Record>{{{1, 0}, "payload"}, {{2, 0}, "payload"}, {{3, 0}, "payload"}}));
}

TEST(HashSorterTest, AStopEndsTheMerging) {
  std::stop_source stop;
  LazySpillFolder folder;
  HashSorter sorter(folder, 2'000);
  for (std::uint64_t i = 0; i < 40'000; ++i)
    ASSERT_THAT(sorter.Add({i * 7919 % 40'000, i}, "x"), IsOk());
  stop.request_stop();
  RunContext run(RunOptions{.stop = stop.get_token()});
  EXPECT_THAT(sorter.Sort(run), HasCode(Code::kCancelled));
}

}  // namespace
}  // namespace icewright
