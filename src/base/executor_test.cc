#include "base/executor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <new>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "testing/matchers.h"

namespace icewright {
namespace {

using ::testing::HasSubstr;

class ParallelForTest : public ::testing::TestWithParam<int> {
 protected:
  RunContext run_;
};

TEST_P(ParallelForTest, CallsEachItemOnce) {
  std::vector<std::atomic<int>> calls(100);
  ASSERT_THAT(ParallelFor(run_, calls.size(), GetParam(),
                          [&](std::size_t i) -> Status {
                            ++calls[i];
                            return {};
                          }),
              IsOk());
  for (const auto& n : calls) EXPECT_EQ(n, 1);
}

TEST_P(ParallelForTest, ReturnsTheErrorAndStartsNothingAfterIt) {
  std::atomic<int> calls{0};
  EXPECT_THAT(ParallelFor(run_, 1'000'000, GetParam(),
                          [&](std::size_t i) -> Status {
                            ++calls;
                            if (i == 3) return Error(Code::kIo, "disk");
                            return {};
                          }),
              HasError(Code::kIo, "disk"));
  EXPECT_LT(calls, 1'000'000);
}

TEST_P(ParallelForTest, TurnsExceptionsIntoErrors) {
  EXPECT_THAT(ParallelFor(run_, 2, GetParam(),
                          [](std::size_t) -> Status { throw std::runtime_error("boom"); }),
              HasError(Code::kInternal, HasSubstr("boom")));
  EXPECT_THAT(
      ParallelFor(run_, 2, GetParam(), [](std::size_t) -> Status { throw std::bad_alloc(); }),
      HasCode(Code::kExhausted));
}

TEST_P(ParallelForTest, StopsWhenTheRunIsStopped) {
  std::stop_source stop;
  RunContext run({.stop = stop.get_token()});
  EXPECT_THAT(ParallelFor(run, 1'000'000, GetParam(),
                          [&](std::size_t i) -> Status {
                            if (i == 5) stop.request_stop();
                            return {};
                          }),
              HasCode(Code::kCancelled));
}

TEST_P(ParallelForTest, OrderedParallelConsumesInOrder) {
  std::vector<std::size_t> seen;
  ASSERT_THAT(OrderedParallel<std::size_t>(
                  run_, 500, GetParam(), [](std::size_t i) -> Result<std::size_t> { return i * i; },
                  [&](std::size_t i, std::size_t&& square) -> Status {
                    EXPECT_EQ(square, i * i);
                    seen.push_back(i);
                    return {};
                  }),
              IsOk());
  std::vector<std::size_t> want(500);
  std::iota(want.begin(), want.end(), 0U);
  EXPECT_EQ(seen, want);
}

TEST_P(ParallelForTest, OrderedParallelStopsOnErrorsOfEitherSide) {
  const auto produce = [](std::size_t i) -> Result<int> {
    if (i == 40) return Error(Code::kCorrupt, "item 40");
    return static_cast<int>(i);
  };
  std::size_t consumed = 0;
  EXPECT_THAT(OrderedParallel<int>(run_, 100, GetParam(), produce,
                                   [&](std::size_t, int&&) -> Status {
                                     ++consumed;
                                     return {};
                                   }),
              HasError(Code::kCorrupt, "item 40"));
  EXPECT_LE(consumed, 40U);
  EXPECT_THAT(OrderedParallel<int>(run_, 100, GetParam(), produce,
                                   [&](std::size_t i, int&&) -> Status {
                                     if (i == 7) return Error(Code::kIo, "consumer");
                                     return {};
                                   }),
              HasError(Code::kIo, "consumer"));
}

TEST(TickerTest, ATickThatThrowsIsLeftOut) {
  std::atomic<int> ticks{0};
  {
    const Ticker ticker(Milliseconds(1), [&] {
      if (++ticks == 1) throw std::bad_alloc();
    });
    while (ticks < 3) Clock::System().SleepFor(Milliseconds(1), {});
  }
  EXPECT_GE(ticks, 3);
}

INSTANTIATE_TEST_SUITE_P(Limits, ParallelForTest, ::testing::Values(1, 2, 7));

}  // namespace
}  // namespace icewright
