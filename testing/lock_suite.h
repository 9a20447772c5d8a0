#pragma once

/// \file testing/lock_suite.h
/// What every maintenance lock promises, as one suite.
///
///   INSTANTIATE_TEST_SUITE_P(Memory, LockSuite, ::testing::Values(LockSuiteCase{"memory", Make}),
///                            LockCaseName);
///
/// Include it in one test file per binary. Locks that need a server are instantiated as "Service".

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "lock/lock.h"
#include "testing/matchers.h"

namespace icewright {

inline std::string KindName(LockKind kind) {
  return kind == LockKind::kTable ? "table" : "recovery";
}

/// One store of locks, and the powers that a test needs over it.
class LockBackend {
 public:
  virtual ~LockBackend() = default;

  /// A client of its own, as another process would be.
  virtual Result<std::shared_ptr<LockFactory>> Open(const std::string& lock_id,
                                                    const std::string& owner) = 0;

  /// The lease of what Open() makes.
  virtual Milliseconds lease() const = 0;

  /// Lets time pass; on a fake clock it takes none.
  virtual void Pass(Milliseconds duration) = 0;

  /// The client that Open() made does nothing more from now on: no heartbeat reaches the store.
  virtual void Kill(LockFactory& client) = 0;

  /// What Java's lock object does, in its own words: `isHeld`, `tryLock`, `unlock`.
  virtual bool JavaIsHeld(LockKind kind, const std::string& lock_id) = 0;
  virtual bool JavaTryLock(LockKind kind, const std::string& lock_id) = 0;
  virtual void JavaUnlock(LockKind kind, const std::string& lock_id) = 0;
};

struct LockSuiteCase {
  std::string name;
  std::function<std::unique_ptr<LockBackend>()> make;
};

inline std::string LockCaseName(const ::testing::TestParamInfo<LockSuiteCase>& param) {
  return param.param.name;
}

class LockSuite : public ::testing::TestWithParam<LockSuiteCase> {
 protected:
  static constexpr LockKind kKinds[] = {LockKind::kTable, LockKind::kRecovery};

  struct Client {
    std::shared_ptr<LockFactory> factory;
    std::shared_ptr<MaintenanceLock> Lock(LockKind kind) const {
      return kind == LockKind::kTable ? factory->TableLock() : factory->RecoveryLock();
    }
    MaintenanceLock* operator->() const { return factory->TableLock().get(); }
  };

  Client Open(const std::string& owner, const std::string& more = "") {
    auto opened = backend_->Open(id_ + more, owner);
    EXPECT_THAT(opened, IsOk());
    return {*opened};
  }
  LockState StateOf(MaintenanceLock& lock) {
    const auto state = lock.Inspect();
    EXPECT_THAT(state, IsOk());
    return state ? *state : LockState{};
  }

  std::unique_ptr<LockBackend> backend_ = GetParam().make();
  std::string id_ = "db.t";
};

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LockSuite);

TEST_P(LockSuite, OneHolderAtATime) {
  const Client a = Open("a");
  const Client b = Open("b");
  for (const LockKind kind : kKinds) {
    SCOPED_TRACE(KindName(kind));
    EXPECT_THAT(a.Lock(kind)->IsHeld(), IsOkAndHolds(false));
    EXPECT_THAT(a.Lock(kind)->TryAcquire(), IsOkAndHolds(true));
    EXPECT_THAT(a.Lock(kind)->TryAcquire(), IsOkAndHolds(false)) << "not reentrant";
    EXPECT_THAT(b.Lock(kind)->TryAcquire(), IsOkAndHolds(false));
    EXPECT_THAT(a.Lock(kind)->IsHeld(), IsOkAndHolds(true));
    EXPECT_THAT(b.Lock(kind)->IsHeld(), IsOkAndHolds(true));
    EXPECT_TRUE(backend_->JavaIsHeld(kind, id_));
    EXPECT_THAT(a.Lock(kind)->Release(), IsOk());
    EXPECT_FALSE(backend_->JavaIsHeld(kind, id_));
    EXPECT_THAT(b.Lock(kind)->TryAcquire(), IsOkAndHolds(true));
    EXPECT_THAT(b.Lock(kind)->Release(), IsOk());
  }
}

TEST_P(LockSuite, TellsItsLease) { EXPECT_EQ(Open("a").factory->lease(), backend_->lease()); }

TEST_P(LockSuite, ReleaseIsForTheHolderAndHarmlessTwice) {
  const Client a = Open("a");
  const Client b = Open("b");
  EXPECT_THAT(a->Release(), IsOk()) << "nobody holds it";
  ASSERT_THAT(a->TryAcquire(), IsOkAndHolds(true));
  EXPECT_THAT(b->Release(), IsOk());
  EXPECT_THAT(a->IsHeld(), IsOkAndHolds(true)) << "b does not hold it";
  EXPECT_THAT(a->Release(), IsOk());
  EXPECT_THAT(a->Release(), IsOk());
  ASSERT_THAT(b->TryAcquire(), IsOkAndHolds(true));
  EXPECT_THAT(a->Release(), IsOk());
  EXPECT_THAT(a->TryAcquire(), IsOkAndHolds(false)) << "a held it before";
  EXPECT_THAT(b->Renew(), IsOk());
}

TEST_P(LockSuite, IdsAndKindsAreIndependent) {
  const Client a = Open("a");
  const Client other = Open("a", "2");
  EXPECT_THAT(a->TryAcquire(), IsOkAndHolds(true));
  EXPECT_THAT(a.Lock(LockKind::kRecovery)->TryAcquire(), IsOkAndHolds(true));
  EXPECT_THAT(other->TryAcquire(), IsOkAndHolds(true));
  EXPECT_THAT(a->Release(), IsOk());
  EXPECT_THAT(a.Lock(LockKind::kRecovery)->IsHeld(), IsOkAndHolds(true));
  EXPECT_THAT(other->IsHeld(), IsOkAndHolds(true));
}

// A restarted Flink job replays old work under the recovery lock alone.
TEST_P(LockSuite, AForeignRecoveryBlocksTheTableLock) {
  const Client a = Open("a");
  const Client b = Open("b");
  ASSERT_TRUE(backend_->JavaTryLock(LockKind::kRecovery, id_));
  EXPECT_THAT(a->TryAcquire(), IsOkAndHolds(false));
  EXPECT_THAT(a->IsHeld(), IsOkAndHolds(false)) << "nothing is left behind";
  backend_->JavaUnlock(LockKind::kRecovery, id_);
  ASSERT_THAT(a.Lock(LockKind::kRecovery)->TryAcquire(), IsOkAndHolds(true));
  EXPECT_THAT(b->TryAcquire(), IsOkAndHolds(false));
  EXPECT_THAT(a->TryAcquire(), IsOkAndHolds(true)) << "its own recovery";
}

TEST_P(LockSuite, TellsWhoHoldsIt) {
  const Client a = Open("icewright on db3, pid 7");
  const Client b = Open("b");
  for (const LockKind kind : kKinds) {
    SCOPED_TRACE(KindName(kind));
    LockState state = StateOf(*b.Lock(kind));
    EXPECT_FALSE(state.held || state.ours || state.lease_over);
    EXPECT_EQ(state.owner, "");
    ASSERT_THAT(a.Lock(kind)->TryAcquire(), IsOkAndHolds(true));
    state = StateOf(*b.Lock(kind));
    EXPECT_TRUE(state.held);
    EXPECT_FALSE(state.ours);
    EXPECT_FALSE(state.lease_over);
    EXPECT_EQ(state.owner, "icewright on db3, pid 7");
    EXPECT_EQ(state.instance.size(), 36u);
    EXPECT_TRUE(state.since && state.lease_until);
    EXPECT_TRUE(StateOf(*a.Lock(kind)).ours);
    EXPECT_EQ(StateOf(*a.Lock(kind)).instance, state.instance);
  }
}

TEST_P(LockSuite, ALockOfJavaIsHeldAndNeverBroken) {
  const Client a = Open("a");
  ASSERT_TRUE(backend_->JavaTryLock(LockKind::kTable, id_));
  EXPECT_THAT(a->TryAcquire(), IsOkAndHolds(false));
  backend_->Pass(backend_->lease() * 2);
  EXPECT_THAT(a->TryAcquire(), IsOkAndHolds(false));
  EXPECT_THAT(a->Release(), IsOk());
  EXPECT_TRUE(backend_->JavaIsHeld(LockKind::kTable, id_));
  const LockState state = StateOf(*a.operator->());
  EXPECT_TRUE(state.held);
  EXPECT_EQ(state.owner, "");
  EXPECT_FALSE(state.lease_until || state.lease_over);
  backend_->JavaUnlock(LockKind::kTable, id_);
  EXPECT_THAT(a->TryAcquire(), IsOkAndHolds(true));
  EXPECT_FALSE(backend_->JavaTryLock(LockKind::kTable, id_));
}

TEST_P(LockSuite, AHeartbeatKeepsTheLock) {
  const Client a = Open("a");
  const Client b = Open("b");
  ASSERT_THAT(a->TryAcquire(), IsOkAndHolds(true));
  for (int i = 0; i < 8; ++i) {
    backend_->Pass(HeartbeatInterval(backend_->lease()));
    ASSERT_THAT(a->Renew(), IsOk());
    ASSERT_THAT(b->TryAcquire(), IsOkAndHolds(false));
  }
}

TEST_P(LockSuite, TheLockOfADeadHolderIsFreedAfterItsLease) {
  for (const LockKind kind : kKinds) {
    SCOPED_TRACE(KindName(kind));
    const Client dead = Open("dead");
    const Client b = Open("b");
    const Client c = Open("c");
    ASSERT_THAT(dead.Lock(kind)->TryAcquire(), IsOkAndHolds(true));
    backend_->Kill(*dead.factory);
    EXPECT_THAT(b->TryAcquire(), IsOkAndHolds(false));
    backend_->Pass(backend_->lease() + HeartbeatInterval(backend_->lease()));
    EXPECT_TRUE(StateOf(*b.Lock(kind)).lease_over);
    EXPECT_TRUE(backend_->JavaIsHeld(kind, id_)) << "Java waits until an icewright runs";
    // A dead holder of the recovery lock must not block the table lock either.
    EXPECT_THAT(b->TryAcquire(), IsOkAndHolds(true));
    EXPECT_THAT(c->TryAcquire(), IsOkAndHolds(false));
    EXPECT_EQ(StateOf(*c.operator->()).owner, "b");
    EXPECT_THAT(b->Release(), IsOk());
    EXPECT_FALSE(backend_->JavaIsHeld(LockKind::kRecovery, id_));
  }
}

// The dead holder was only slow: it must notice before it writes.
TEST_P(LockSuite, AHolderThatWasTakenOverHasLostTheLock) {
  const Client slow = Open("slow");
  const Client b = Open("b");
  ASSERT_THAT(slow->TryAcquire(), IsOkAndHolds(true));
  backend_->Kill(*slow.factory);
  backend_->Pass(backend_->lease() + HeartbeatInterval(backend_->lease()));
  ASSERT_THAT(b->TryAcquire(), IsOkAndHolds(true));
  EXPECT_THAT(slow->Renew(), HasCode(Code::kLockLost));
  EXPECT_THAT(slow->Renew(), HasCode(Code::kLockLost)) << "it stays lost";
  (void)slow->Release();  // may find the store away, but must not touch b's lock
  EXPECT_THAT(b->Renew(), IsOk());
  EXPECT_THAT(b->IsHeld(), IsOkAndHolds(true));
}

// Flink clears both locks when it starts without state.
TEST_P(LockSuite, ALockThatJavaClearedIsLost) {
  const Client a = Open("a");
  for (const LockKind kind : kKinds) {
    SCOPED_TRACE(KindName(kind));
    ASSERT_THAT(a.Lock(kind)->TryAcquire(), IsOkAndHolds(true));
    EXPECT_THAT(a.Lock(kind)->Renew(), IsOk());
    backend_->JavaUnlock(kind, id_);
    EXPECT_THAT(a.Lock(kind)->Renew(), HasCode(Code::kLockLost));
    ASSERT_TRUE(backend_->JavaTryLock(kind, id_));
    EXPECT_THAT(a.Lock(kind)->Renew(), HasCode(Code::kLockLost));
    EXPECT_THAT(a.Lock(kind)->Release(), IsOk());
    EXPECT_TRUE(backend_->JavaIsHeld(kind, id_)) << "own-only release";
    EXPECT_THAT(a.Lock(kind)->TryAcquire(), IsOkAndHolds(false));
    backend_->JavaUnlock(kind, id_);
    EXPECT_THAT(a.Lock(kind)->TryAcquire(), IsOkAndHolds(true)) << "it can be taken anew";
    EXPECT_THAT(a.Lock(kind)->Renew(), IsOk());
    EXPECT_THAT(a.Lock(kind)->Release(), IsOk());
  }
}

TEST_P(LockSuite, ForceFreesAnybodysLockAndTellsWhose) {
  const Client a = Open("a");
  const Client b = Open("b");
  IW_ASSERT_OK_AND_ASSIGN(LockState state, b->ForceRelease());
  EXPECT_FALSE(state.held);
  ASSERT_THAT(a->TryAcquire(), IsOkAndHolds(true));
  IW_ASSERT_OK_AND_ASSIGN(state, b->ForceRelease());
  EXPECT_TRUE(state.held);
  EXPECT_EQ(state.owner, "a");
  EXPECT_THAT(a->Renew(), HasCode(Code::kLockLost));
  EXPECT_THAT(b->IsHeld(), IsOkAndHolds(false));
  ASSERT_TRUE(backend_->JavaTryLock(LockKind::kTable, id_));
  ASSERT_THAT(b->ForceRelease(), IsOk());
  EXPECT_THAT(b->TryAcquire(), IsOkAndHolds(true));
}

TEST_P(LockSuite, RenewWithoutTheLockIsLost) {
  const Client a = Open("a");
  EXPECT_THAT(a->Renew(), HasCode(Code::kLockLost));
  ASSERT_THAT(a->TryAcquire(), IsOkAndHolds(true));
  ASSERT_THAT(a->Release(), IsOk());
  EXPECT_THAT(a->Renew(), HasCode(Code::kLockLost));
}

// Clients on threads, Java's object among them: a counter that only the holder changes.
TEST_P(LockSuite, ThreadsExcludeEachOther) {
  constexpr int kClients = 4;
  constexpr int kRounds = 15;
  std::vector<Client> clients;
  for (int i = 0; i < kClients; ++i) clients.push_back(Open(std::to_string(i)));
  std::atomic<int> holders{0};
  std::atomic<int> taken{0};
  std::atomic<bool> two{false};
  {
    std::vector<std::jthread> threads;
    for (const Client& client : clients) {
      threads.emplace_back([&] {
        for (int mine = 0, tries = 0; mine < kRounds && tries < 100'000; ++tries) {
          const auto got = client->TryAcquire();
          if (!got || !*got) {
            std::this_thread::yield();
            continue;
          }
          if (holders.fetch_add(1) != 0) two = true;
          if (!client->Renew()) two = true;
          holders.fetch_sub(1);
          ++mine;
          ++taken;
          if (!client->Release()) two = true;
        }
      });
    }
  }
  EXPECT_FALSE(two);
  EXPECT_EQ(taken, kClients * kRounds);
}

}  // namespace icewright
