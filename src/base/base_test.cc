#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <stop_token>

#include "base/bytes.h"
#include "base/location.h"
#include "base/memory_budget.h"
#include "base/random.h"
#include "base/result.h"
#include "base/run_context.h"
#include "testing/matchers.h"

namespace icewright {
namespace {

using ::testing::HasSubstr;

Result<int> Half(int n) {
  if (n % 2 != 0) return Error(Code::kInvalidArgument, "odd");
  return n / 2;
}

Result<int> Quarter(int n) {
  IW_ASSIGN(const int half, Half(n));
  IW_TRY(Half(half));
  return Half(half).Within("second half");
}

TEST(ResultTest, CarriesValuesAndErrorsThroughTheMacros) {
  EXPECT_THAT(Quarter(8), IsOkAndHolds(2));
  EXPECT_THAT(Quarter(7), HasError(Code::kInvalidArgument, "odd"));
  EXPECT_THAT(Half(3).Within("step"), HasError(Code::kInvalidArgument, "step: odd"));
  EXPECT_THAT(Status().Within("step"), IsOk());
}

TEST(ResultTest, EveryCodeHasItsOwnNameAndANextStep) {
  std::set<std::string_view> names;
  for (int code = 0; code <= static_cast<int>(Code::kInternal); ++code) {
    names.insert(Name(static_cast<Code>(code)));
    EXPECT_FALSE(NextStep(static_cast<Code>(code)).empty());
  }
  EXPECT_EQ(names.size(), 15U);
}

TEST(BytesTest, HexRoundTripsAndRefusesOtherText) {
  EXPECT_EQ(ToHex(std::string("\x00\x7f\xff", 3)), "007fff");
  EXPECT_THAT(FromHex("007fFf"), IsOkAndHolds(std::string("\x00\x7f\xff", 3)));
  EXPECT_THAT(FromHex("0"), HasCode(Code::kInvalidArgument));
  EXPECT_THAT(FromHex("zz"), HasCode(Code::kInvalidArgument));
}

TEST(LocationTest, JoinsWithoutTouchingTheSpelling) {
  EXPECT_EQ(Location("s3://b//k%20/").Child("a b").text(), "s3://b//k%20/a b");
  EXPECT_EQ(Location("/t").Child("metadata/x").text(), "/t/metadata/x");
  EXPECT_EQ(Location("/t/x.avro").file_name(), "x.avro");
  EXPECT_EQ(Location("x.avro").file_name(), "x.avro");
}

TEST(MemoryBudgetTest, RefusesWhatDoesNotFitAndTakesItBack) {
  MemoryBudget budget(100);
  {
    IW_ASSERT_OK_AND_ASSIGN(Reservation first, budget.Reserve(60, "sort buffer"));
    EXPECT_THAT(budget.Reserve(41, "page"), HasError(Code::kExhausted, HasSubstr("page: ")));
    EXPECT_THAT(first.Resize(100), IsOk());
    EXPECT_THAT(first.Resize(101), HasCode(Code::kExhausted));
    EXPECT_EQ(budget.used(), 100);
    EXPECT_THAT(first.Resize(10), IsOk());
    Reservation moved = std::move(first);
    EXPECT_EQ(moved.bytes(), 10);
    EXPECT_EQ(budget.used(), 10);
  }
  EXPECT_EQ(budget.used(), 0);
  EXPECT_EQ(budget.peak(), 100);
}

TEST(RandomTest, MakesVersion4UuidsThatFollowTheSeed) {
  Random random(7);
  const std::string uuid = random.NewUuid();
  EXPECT_TRUE(std::regex_match(
      uuid, std::regex("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")))
      << uuid;
  EXPECT_EQ(Random(7).NewUuid(), uuid);
  EXPECT_NE(random.NewUuid(), uuid);
}

TEST(RunContextTest, AStopCarriesItsReason) {
  std::stop_source stop;
  std::atomic<StopReason> reason{StopReason::kLockLost};
  RunContext run({.stop = stop.get_token(), .stop_reason = &reason});
  EXPECT_THAT(run.Check(), IsOk());
  stop.request_stop();
  EXPECT_THAT(run.Check(), HasCode(Code::kLockLost));
  reason = StopReason::kDeadline;
  EXPECT_THAT(run.Check(), HasCode(Code::kExhausted));
  EXPECT_THAT(run.SleepFor(std::chrono::hours(1)), HasCode(Code::kExhausted)) << "returns at once";
}

TEST(RunContextTest, AsksBeforeEachWrite) {
  RunContext run({.may_write = [] { return Status(Error(Code::kLockLost, "taken over")); }});
  EXPECT_THAT(run.Check(), IsOk());
  EXPECT_THAT(run.CheckMayWrite(), HasError(Code::kLockLost, "taken over"));
}

TEST(ProgressTest, CountsWithinAPhase) {
  Progress progress;
  progress.Enter("delete files", "files", 10);
  progress.Advance(3);
  EXPECT_EQ(progress.Read().done, 3);
  EXPECT_EQ(progress.Read().total, 10);
  progress.Enter("commit", "attempts");
  EXPECT_EQ(progress.Read().done, 0);
  EXPECT_EQ(progress.Read().total, std::nullopt);
  EXPECT_EQ(progress.Read().phase, "commit");
}

}  // namespace
}  // namespace icewright
