#include "schedule/run_slots.h"

#include <gmock/gmock.h>

namespace icewright {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Who is told about the slot.
std::vector<RunSlots::TableNumber> Free(RunSlots& slots, const std::string& pool) {
  slots.Free(pool);
  return slots.TakeGranted();
}

TEST(RunSlotsTest, SlotsGoRoundInTheOrderOfAsking) {
  RunSlots slots({{"", {.concurrent_tasks = 1}}}, {});
  const TimePoint now = FromMillis(0);
  EXPECT_EQ(slots.Take(1, "", false, now), "");
  EXPECT_EQ(slots.Take(2, "", false, now), "a free slot: 1 task(s) run");
  EXPECT_NE(slots.Take(3, "", false, now), "");
  EXPECT_NE(slots.Take(2, "", false, now), "") << "asking again keeps the place";
  EXPECT_THAT(Free(slots, ""), ElementsAre(2));
  EXPECT_NE(slots.Take(1, "", false, now), "") << "nobody jumps the queue";
  EXPECT_NE(slots.Take(3, "", false, now), "");
  EXPECT_EQ(slots.Take(2, "", false, now), "");
  EXPECT_EQ(slots.used(""), 1);
  EXPECT_THAT(Free(slots, ""), ElementsAre(3));
  slots.Forget(3);
  EXPECT_THAT(slots.TakeGranted(), ElementsAre(1)) << "3 does not want it any more";
  EXPECT_EQ(slots.Take(1, "", false, now), "");
  EXPECT_THAT(Free(slots, ""), IsEmpty());
  EXPECT_EQ(slots.used(""), 0);
}

TEST(RunSlotsTest, PoolsAreApart) {
  RunSlots slots({{"", {}}, {"big", {.concurrent_tasks = 2, .threads = 4, .memory_bytes = 100}}},
                 {});
  const TimePoint now = FromMillis(0);
  EXPECT_EQ(slots.Take(1, "", false, now), "");
  EXPECT_EQ(slots.Take(2, "big", false, now), "");
  EXPECT_EQ(slots.Take(3, "big", false, now), "");
  EXPECT_EQ(slots.Take(4, "big", false, now), "a free slot: 2 task(s) run in pool big");
  EXPECT_THAT(Free(slots, ""), IsEmpty());
  EXPECT_THAT(Free(slots, "big"), ElementsAre(4));
  EXPECT_EQ(slots.pool("big").threads_per_task(), 2);
  EXPECT_EQ(slots.pool("big").memory_per_task(), 50);
}

/// Pools of one slot each, both taken; table 3 has a task for each and waits for both.
RunSlots BothTaken(TimePoint now) {
  RunSlots slots({{"a", {}}, {"b", {}}}, {});
  EXPECT_EQ(slots.Take(1, "a", false, now), "");
  EXPECT_EQ(slots.Take(2, "b", false, now), "");
  EXPECT_NE(slots.Take(3, "a", false, now), "");
  EXPECT_NE(slots.Take(3, "b", false, now), "");
  return slots;
}

// A table has a task for each of two pools; while it waits for both, another task has its turn.
TEST(RunSlotsTest, ASlotThatIsNotTheOneThatIsWantedGoesOn) {
  const TimePoint now = FromMillis(0);
  RunSlots slots = BothTaken(now);
  EXPECT_THAT(Free(slots, "a"), ElementsAre(3));
  EXPECT_NE(slots.Take(3, "b", false, now), "");
  EXPECT_EQ(slots.used("a"), 0) << "held by nobody who uses it";
  EXPECT_THAT(slots.TakeGranted(), IsEmpty());
  EXPECT_THAT(Free(slots, "b"), ElementsAre(3));
  EXPECT_EQ(slots.Take(3, "b", false, now), "");
  EXPECT_THAT(Free(slots, "b"), IsEmpty());
  EXPECT_EQ(slots.used("a"), 0);
  EXPECT_EQ(slots.used("b"), 0);
  EXPECT_EQ(slots.Take(4, "a", false, now), "");
}

// Both slots are granted before the table is asked.
TEST(RunSlotsTest, TwoGrantsAreTwoSlots) {
  const TimePoint now = FromMillis(0);
  RunSlots slots = BothTaken(now);
  EXPECT_NE(slots.Take(4, "a", false, now), "");
  EXPECT_THAT(Free(slots, "a"), ElementsAre(3));
  EXPECT_THAT(Free(slots, "b"), ElementsAre(3));
  EXPECT_EQ(slots.Take(3, "b", false, now), "");
  EXPECT_THAT(slots.TakeGranted(), ElementsAre(4)) << "what 3 did not use";
  EXPECT_EQ(slots.Take(4, "a", false, now), "");
}

TEST(RunSlotsTest, BytesThatAreUsedUpHoldNoSlot) {
  RunSlots slots({}, 100);
  const TimePoint now = FromMillis(0);
  EXPECT_EQ(slots.Take(1, "", true, now), "");
  EXPECT_NE(slots.Take(2, "", true, now), "");
  EXPECT_NE(slots.Take(3, "", false, now), "");
  slots.CountBytes(100, now);
  EXPECT_THAT(Free(slots, ""), ElementsAre(2));
  EXPECT_EQ(slots.Take(2, "", true, now), "bytes-per-hour 100 B is used up");
  EXPECT_THAT(slots.TakeGranted(), ElementsAre(3));
  EXPECT_EQ(slots.Take(3, "", false, now), "");
}

TEST(RunSlotsTest, BytesOfTheLastHour) {
  RunSlots slots({}, 100);
  const auto at = [](int minutes) { return FromMillis(minutes * 60'000); };
  slots.CountBytes(60, at(0));
  EXPECT_EQ(slots.Take(1, "", true, at(1)), "");
  slots.CountBytes(60, at(10));
  EXPECT_EQ(slots.Take(2, "", true, at(11)), "bytes-per-hour 100 B is used up");
  EXPECT_EQ(slots.BytesLastHour(at(59)), 120);
  EXPECT_EQ(slots.BytesLastHour(at(60)), 60);
  EXPECT_NE(slots.Take(2, "", true, at(60)), "bytes-per-hour 100 B is used up");
}

}  // namespace
}  // namespace icewright
