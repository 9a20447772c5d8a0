#include "commit/retry_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/fake_clock.h"
#include "testing/matchers.h"

namespace icewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(RetryPolicyTest, DefaultsLeaveTheNumberOfRetriesOpen) {
  IW_ASSERT_OK_AND_ASSIGN(const RetryPolicy policy, RetryPolicy::Of({}));
  EXPECT_EQ(policy.num_retries, std::nullopt);
  EXPECT_EQ(policy.min_wait, Milliseconds(100));
  EXPECT_EQ(policy.max_wait, Milliseconds(60'000));
  EXPECT_EQ(policy.total_timeout, Milliseconds(1'800'000));
}

TEST(RetryPolicyTest, ReadsTheTablesProperties) {
  IW_ASSERT_OK_AND_ASSIGN(const RetryPolicy policy,
                          RetryPolicy::Of({{"commit.retry.num-retries", "7"},
                                           {"commit.retry.min-wait-ms", "3"},
                                           {"commit.retry.max-wait-ms", "50"},
                                           {"commit.retry.total-timeout-ms", "900"}}));
  EXPECT_EQ(policy.num_retries, 7);
  EXPECT_EQ(policy.min_wait, Milliseconds(3));
  EXPECT_EQ(policy.max_wait, Milliseconds(50));
  EXPECT_EQ(policy.total_timeout, Milliseconds(900));
}

TEST(RetryPolicyTest, RefusesWhatIsNoNumberOrNegative) {
  EXPECT_THAT(RetryPolicy::Of({{"commit.retry.min-wait-ms", "-1"}}),
              HasError(Code::kInvalidArgument, HasSubstr("commit.retry.min-wait-ms")));
  EXPECT_THAT(RetryPolicy::Of({{"commit.retry.num-retries", "many"}}),
              HasError(Code::kInvalidArgument, HasSubstr("commit.retry.num-retries")));
}

struct MayRetryCase {
  const char* name;
  std::optional<std::int64_t> num_retries;
  int attempts;
  std::int64_t elapsed_ms;
  bool expected;
};

class MayRetryTest : public ::testing::TestWithParam<MayRetryCase> {};

TEST_P(MayRetryTest, Decides) {
  const MayRetryCase& c = GetParam();
  const RetryPolicy policy{.num_retries = c.num_retries, .total_timeout = Milliseconds(1000)};
  EXPECT_EQ(MayRetry(policy, c.attempts, Milliseconds(c.elapsed_ms)), c.expected);
}

INSTANTIATE_TEST_SUITE_P(
    Table, MayRetryTest,
    ::testing::Values(MayRetryCase{"NoRetriesMeansOneAttempt", 0, 1, 0, false},
                      MayRetryCase{"FourRetriesAreFiveAttempts", 4, 4, 0, true},
                      MayRetryCase{"AfterTheFifthItEnds", 4, 5, 0, false},
                      MayRetryCase{"OpenNumberGoesOn", {}, 5000, 1000, true},
                      MayRetryCase{"TimeoutEndsIt", {}, 2, 1001, false},
                      MayRetryCase{"TimeoutEndsItBeforeTheNumber", 100, 2, 1001, false},
                      MayRetryCase{"OneRetryIsAlwaysLeft", {}, 1, 5000, true}),
    [](const auto& test) { return test.param.name; });

TEST(RetryPolicyTest, WaitsDoubleUpToTheLongest) {
  const RetryPolicy policy;
  EXPECT_EQ(WaitAfter(policy, 1, 0), Milliseconds(100));
  EXPECT_EQ(WaitAfter(policy, 2, 0), Milliseconds(200));
  EXPECT_EQ(WaitAfter(policy, 10, 0), Milliseconds(51'200));
  EXPECT_EQ(WaitAfter(policy, 11, 0), Milliseconds(60'000));
  EXPECT_EQ(WaitAfter(policy, 1'000'000, 0), Milliseconds(60'000));
  EXPECT_EQ(WaitAfter(policy, 2, 0.5), Milliseconds(210)) << "half of the ten per cent";
}

TEST(CommitRetryTest, WaitsOnTheInjectedClockAndSaysHowOftenItTried) {
  FakeClock clock;
  Random random(1);
  RunContext run({.clock = &clock, .random = &random});
  CommitRetry retry(run, {.num_retries = 2});
  const Error lost(Code::kConflict, "somebody else won");
  retry.CountAttempt();
  EXPECT_THAT(retry.WaitOrGiveUp(run, lost), IsOk());
  retry.CountAttempt();
  EXPECT_THAT(retry.WaitOrGiveUp(run, lost), IsOk());
  retry.CountAttempt();
  EXPECT_THAT(retry.WaitOrGiveUp(run, lost),
              HasError(Code::kConflict, HasSubstr("gave up after 3 attempts")));
  ASSERT_EQ(clock.sleeps().size(), 2U);
  EXPECT_EQ(clock.sleeps()[0] / 10, Milliseconds(10));
  EXPECT_EQ(clock.sleeps()[1] / 21, Milliseconds(9)) << "200 to 219 ms";
}

TEST(CommitRetryTest, AStoppedRunDoesNotWait) {
  FakeClock clock;
  std::stop_source stop;
  RunContext run({.stop = stop.get_token(), .clock = &clock});
  CommitRetry retry(run, {});
  retry.CountAttempt();
  stop.request_stop();
  EXPECT_THAT(retry.WaitOrGiveUp(run, Error(Code::kConflict, "lost")), HasCode(Code::kCancelled));
}

}  // namespace
}  // namespace icewright
