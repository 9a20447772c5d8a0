#include "lock/memory_lock.h"

#include "testing/fake_clock.h"
#include "testing/matchers.h"

namespace icewright {
namespace {

TEST(MemoryLockTest, ALeaseThatIsOverIsTakenOver) {
  FakeClock clock;
  const auto table = std::make_shared<MemoryLockTable>();
  const auto open = [&](const char* owner) {
    return *MakeMemoryLocks(table, "db.t",
                            {.owner = owner, .lease = Milliseconds(1000), .clock = &clock});
  };
  const auto dead = open("dead")->TableLock();
  const auto live = open("live")->TableLock();
  EXPECT_THAT(dead->TryAcquire(), IsOkAndHolds(true));
  EXPECT_THAT(live->TryAcquire(), IsOkAndHolds(false));
  clock.Advance(Milliseconds(999));
  EXPECT_THAT(dead->Renew(), IsOk());
  clock.Advance(Milliseconds(999));
  EXPECT_THAT(live->TryAcquire(), IsOkAndHolds(false));
  clock.Advance(Milliseconds(1));
  EXPECT_THAT(live->TryAcquire(), IsOkAndHolds(true));
  EXPECT_THAT(dead->Renew(), HasCode(Code::kLockLost));
  EXPECT_THAT(dead->Release(), IsOk());
  IW_ASSERT_OK_AND_ASSIGN(const LockState state, dead->Inspect());
  EXPECT_TRUE(state.held && !state.ours && !state.lease_over);
  EXPECT_EQ(state.owner, "live");
}

}  // namespace
}  // namespace icewright
