// Every statement of a lock's life fails once, or its answer is lost; and random histories of
// clients beside a model of Java.

#include <map>
#include <utility>
#include <vector>

#include "lock/sql/sql_lock.h"
#include "testing/fake_clock.h"
#include "testing/fault_sql_store.h"
#include "testing/java_lock_model.h"
#include "testing/matchers.h"
#include "testing/sql_servers.h"

namespace icewright {
namespace {

constexpr Milliseconds kLease{10'000};

// A database in memory that all connections of a test share.
class SharedDatabase {
 public:
  std::shared_ptr<SqlStore> Connect() const { return OpenSqlStore(*ParseSqlUrl(uri_, {})).value(); }

 private:
  std::string uri_ = "jdbc:sqlite:file:" + UniqueName("locks") + "?mode=memory&cache=shared";
  std::shared_ptr<SqlStore> keeps_it_ = Connect();
};

struct World {
  FakeClock clock;
  Random random{7};
  SharedDatabase database;

  LockOptions Options(const std::string& owner) {
    return {.owner = owner, .lease = kLease, .clock = &clock, .random = &random};
  }
  std::shared_ptr<LockFactory> Open(const std::string& owner) {
    return *MakeSqlLocks(database.Connect(), "db.t", Options(owner), true);
  }
  std::int64_t Count(const char* table) {
    const auto rows = database.Connect()->Query(std::string("SELECT * FROM ") + table, {});
    return rows ? std::ssize(*rows) : 0;
  }
};

// What a holder does: acquires (and asks again, as a scheduler does), renews, frees.
void LiveThrough(World& world, MaintenanceLock& mine, MaintenanceLock& other) {
  bool got = false;
  for (int i = 0; i < 3 && !got; ++i) {
    const auto tried = mine.TryAcquire();
    if (!tried) {
      ASSERT_THAT(tried, HasCode(Code::kUnavailable));
    }
    got = tried && *tried;
  }
  if (!got) return;
  EXPECT_THAT(other.TryAcquire(), IsOkAndHolds(false)) << "two holders";
  world.clock.Advance(HeartbeatInterval(kLease));
  EXPECT_THAT(mine.Renew(), IsOk()) << "the lease lasts, so there is time to ask again";
  EXPECT_THAT(other.TryAcquire(), IsOkAndHolds(false)) << "two holders";
  Status released = mine.Release();
  if (!released) released = mine.Release();
  EXPECT_THAT(released, IsOk());
}

TEST(SqlLockSweep, OneFailingStatementNeverMakesTwoHoldersOrAStuckLock) {
  for (const SqlFault fault : {SqlFault::kAway, SqlFault::kLostAnswer}) {
    for (const LockKind kind : {LockKind::kTable, LockKind::kRecovery}) {
      for (int step = 0;; ++step) {
        SCOPED_TRACE(testing::Message() << "fault " << static_cast<int>(fault) << ", kind "
                                        << static_cast<int>(kind) << ", step " << step);
        World world;
        const auto other_locks = world.Open("other");
        const auto other =
            kind == LockKind::kTable ? other_locks->TableLock() : other_locks->RecoveryLock();
        int armed_from = 1'000'000;
        const auto store = std::make_shared<FaultSqlStore>(world.database.Connect(), [&](int call) {
          return call == armed_from + step ? fault : SqlFault::kNone;
        });
        const auto locks = *MakeSqlLocks(store, "db.t", world.Options("mine"), true);
        const auto mine = kind == LockKind::kTable ? locks->TableLock() : locks->RecoveryLock();
        armed_from = store->calls();
        LiveThrough(world, *mine, *other);
        if (testing::Test::HasFailure()) return;
        const bool was_hit = store->calls() > armed_from + step;
        armed_from = 1'000'000;  // from here on nothing fails
        world.clock.Advance(kLease + Milliseconds(1));
        ASSERT_THAT(other->TryAcquire(), IsOkAndHolds(true)) << "stuck beyond its lease";
        ASSERT_THAT(mine->TryAcquire(), IsOkAndHolds(false));
        ASSERT_THAT(other->Release(), IsOk());
        ASSERT_THAT(mine->TryAcquire(), IsOkAndHolds(true));
        ASSERT_THAT(mine->Release(), IsOk());
        EXPECT_EQ(world.Count("flink_maintenance_lock"), 0);
        EXPECT_EQ(world.Count("icewright_lock_lease"), 0) << "litter";
        if (!was_hit) break;
      }
    }
  }
}

MaintenanceLock& LockOf(const LockFactory& locks, LockKind kind) {
  return kind == LockKind::kTable ? *locks.TableLock() : *locks.RecoveryLock();
}

// Nobody calls Release a second time: the holder's run is over, and it only asks for the next one.
TEST(SqlLockSweep, AReleaseThatFailedKeepsNobodyOut) {
  for (const SqlFault fault : {SqlFault::kAway, SqlFault::kLostAnswer}) {
    for (const LockKind kind : {LockKind::kTable, LockKind::kRecovery}) {
      for (const bool other_is_next : {false, true}) {
        // A statement that may run twice is repeated: two in a row fail.
        for (int step = 0;; ++step) {
          SCOPED_TRACE(testing::Message()
                       << "fault " << static_cast<int>(fault) << ", kind " << static_cast<int>(kind)
                       << ", other " << other_is_next << ", step " << step);
          World world;
          const auto other_locks = world.Open("other");
          int armed_from = 1'000'000;
          const auto store =
              std::make_shared<FaultSqlStore>(world.database.Connect(), [&](int call) {
                const int after = call - armed_from;
                return after == step || after == step + 1 ? fault : SqlFault::kNone;
              });
          const auto my_locks = *MakeSqlLocks(store, "db.t", world.Options("mine"), true);
          MaintenanceLock& other = LockOf(*other_locks, kind);
          MaintenanceLock& mine = LockOf(*my_locks, kind);
          ASSERT_THAT(mine.TryAcquire(), IsOkAndHolds(true));
          armed_from = store->calls();
          const Status released = mine.Release();
          if (!released) {
            EXPECT_THAT(mine.Renew(), HasCode(Code::kLockLost)) << "it was let go";
          }
          armed_from = 1'000'000;
          if (other_is_next) {
            world.clock.Advance(kLease + Milliseconds(1));
            ASSERT_THAT(other.TryAcquire(), IsOkAndHolds(true));
            ASSERT_THAT(mine.TryAcquire(), IsOkAndHolds(false));
            EXPECT_THAT(other.Renew(), IsOk()) << "the next holder's lock was freed";
            ASSERT_THAT(other.Release(), IsOk());
          }
          ASSERT_THAT(mine.TryAcquire(), IsOkAndHolds(true)) << "stuck in its own lock";
          EXPECT_THAT(mine.Renew(), IsOk());
          ASSERT_THAT(mine.Release(), IsOk());
          EXPECT_EQ(world.Count("flink_maintenance_lock"), 0);
          EXPECT_EQ(world.Count("icewright_lock_lease"), 0) << "litter";
          if (released) break;
        }
      }
    }
  }
}

// A wire on which the statement that takes the lock stays until Arrive(), and the question after it
// is lost.
class LateSqlStore final : public SqlStore {
 public:
  explicit LateSqlStore(std::shared_ptr<SqlStore> store) : store_(std::move(store)) {}

  SqlDialect dialect() const override { return store_->dialect(); }
  std::string Display() const override { return store_->Display(); }
  Result<std::vector<SqlRow>> Query(std::string_view sql,
                                    std::span<const SqlValue> values) override {
    if (std::exchange(loses_question_, false)) return Error(Code::kUnavailable, "no answer");
    return store_->Query(sql, values);
  }
  Result<std::int64_t> Execute(std::string_view sql, std::span<const SqlValue> values) override {
    if (!sql.starts_with("INSERT INTO flink_maintenance_lock") || !late_.empty()) {
      return store_->Execute(sql, values);
    }
    late_ = sql;
    values_.assign(values.begin(), values.end());
    loses_question_ = true;
    return Error(Code::kCommitUnknown, "no answer");
  }
  Result<std::vector<std::string>> ColumnsOf(std::string_view table) override {
    return store_->ColumnsOf(table);
  }
  Result<std::int64_t> Arrive() { return store_->Execute(late_, values_); }

 private:
  const std::shared_ptr<SqlStore> store_;
  std::string late_;
  std::vector<SqlValue> values_;
  bool loses_question_ = false;
};

TEST(SqlLockSweep, AnAcquisitionThatArrivesAfterItsReleaseEndsWithItsLease) {
  World world;
  const auto wire = std::make_shared<LateSqlStore>(world.database.Connect());
  const auto locks = *MakeSqlLocks(wire, "db.t", world.Options("mine"), true);
  const auto other = world.Open("other");
  EXPECT_THAT(locks->TableLock()->TryAcquire(), HasCode(Code::kUnavailable));
  EXPECT_THAT(locks->TableLock()->Release(), IsOk());
  ASSERT_THAT(wire->Arrive(), IsOkAndHolds(1));
  EXPECT_THAT(other->TableLock()->TryAcquire(), IsOkAndHolds(false));
  world.clock.Advance(kLease + Milliseconds(1));
  EXPECT_THAT(other->TableLock()->TryAcquire(), IsOkAndHolds(true)) << "held by nobody, for ever";
}

// The holder dies after each statement: whatever it leaves is freed after its lease.
TEST(SqlLockSweep, DeathAfterAnyStatementLeavesNothingForEver) {
  for (int step = 0;; ++step) {
    SCOPED_TRACE(step);
    World world;
    int dies_at = 1'000'000;
    const auto store = std::make_shared<FaultSqlStore>(world.database.Connect(), [&](int call) {
      return call >= dies_at ? SqlFault::kAway : SqlFault::kNone;
    });
    {
      const auto locks = *MakeSqlLocks(store, "db.t", world.Options("dead"), true);
      dies_at = store->calls() + step;
      const auto got = locks->TableLock()->TryAcquire();
      if (got && *got) (void)locks->TableLock()->Release();
    }
    const bool died = store->calls() > dies_at;
    const auto heir = world.Open("heir");
    world.clock.Advance(kLease + Milliseconds(1));
    ASSERT_THAT(heir->TableLock()->TryAcquire(), IsOkAndHolds(true));
    ASSERT_THAT(heir->TableLock()->Release(), IsOk());
    EXPECT_EQ(world.Count("flink_maintenance_lock"), 0);
    if (!died) break;
  }
}

// Two icewrights and a Java job, one step of one of them at a time. Whoever got the lock last may
// write; nobody else.
class History {
 public:
  History(std::uint64_t seed, bool java_clears)
      : dice_(seed), java_clears_(java_clears), java_store_(world_.database.Connect()) {
    for (Icewright& ours : icewrights_) ours.locks = world_.Open("icewright");
  }

  // True if no two clients wrote under the lock at once.
  bool Live(Milliseconds duration) {
    const Milliseconds end = world_.clock.Steady() + duration;
    while (world_.clock.Steady() < end) {
      world_.clock.Advance(Milliseconds(dice_.Next() % 900));
      const std::uint64_t who = dice_.Next() % 5;
      const bool fine = who < 4 ? Step(icewrights_[who % 2], who % 2) : JavaStep();
      if (!fine) return false;
    }
    return true;
  }

  int runs_of_icewright = 0;
  int runs_of_java = 0;
  int losses = 0;
  int clearings = 0;

 private:
  struct Icewright {
    std::shared_ptr<LockFactory> locks = {};
    bool holds = false;
    int left = 0;
    Milliseconds asleep_until{0};
  };
  static constexpr std::size_t kJava = 2;

  bool Step(Icewright& ours, std::size_t who) {
    MaintenanceLock& lock = *ours.locks->TableLock();
    if (world_.clock.Steady() < ours.asleep_until) return true;
    if (!ours.holds) {
      const auto got = lock.TryAcquire();
      if (!got || !*got) return got.has_value();
      if (java_holds_) return false;  // Java's own run asks nobody
      ours.holds = true;
      ours.left = static_cast<int>(dice_.Next() % 8);
      latest_ = who;
      ++runs_of_icewright;
      return true;
    }
    if (dice_.Next() % 40 == 0) {
      // Killed, and another process starts; or stopped for a while by the machine.
      if (dice_.Next() % 2 == 0) {
        ours = {.locks = world_.Open("icewright")};
      } else {
        ours.asleep_until = world_.clock.Steady() + kLease * 2;
      }
      return true;
    }
    const Status may_write = lock.Renew();
    if (!may_write) {
      ours.holds = false;
      ++losses;
      return lock.Release().has_value();
    }
    if (latest_ != who || java_holds_) return false;  // it would write beside another holder
    if (ours.left-- > 0) return true;
    ours.holds = false;
    return lock.Release().has_value();
  }

  bool JavaStep() {
    JavaSqlLock lock(java_store_, "m", "db.t", world_.random);
    if (java_holds_) {
      if (java_left_-- > 0) return true;
      java_holds_ = false;
      return lock.Unlock().has_value();
    }
    if (java_clears_ && dice_.Next() % 30 == 0) {
      ++clearings;
      return lock.Unlock().has_value();  // a start without state
    }
    const auto got = lock.TryLock();
    if (!got) return false;
    if (!*got) return true;
    java_holds_ = true;
    java_left_ = static_cast<int>(dice_.Next() % 4);
    latest_ = kJava;
    ++runs_of_java;
    return true;
  }

  World world_;
  Random dice_;
  const bool java_clears_;
  std::shared_ptr<SqlStore> java_store_;
  Icewright icewrights_[2];
  std::size_t latest_ = kJava + 1;
  bool java_holds_ = false;
  int java_left_ = 0;
};

TEST(LockHistoryTest, TenMinutesBesideJavaNeverTwoHolders) {
  int ours = 0;
  int javas = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    History history(seed, false);
    ASSERT_TRUE(history.Live(std::chrono::minutes(10))) << "seed " << seed;
    ours += history.runs_of_icewright;
    javas += history.runs_of_java;
  }
  EXPECT_GT(ours, 1000);
  EXPECT_GT(javas, 100);
}

TEST(LockHistoryTest, BesideAJavaThatClearsOursStopsBeforeItsNextWrite) {
  int losses = 0;
  int clearings = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    History history(seed, true);
    ASSERT_TRUE(history.Live(std::chrono::minutes(10))) << "seed " << seed;
    losses += history.losses;
    clearings += history.clearings;
  }
  EXPECT_GT(clearings, 20);
  EXPECT_GT(losses, 20);
}

TEST(LockHistorySlow, HoursBesideJava) {
  for (std::uint64_t seed = 100; seed < 600; ++seed) {
    for (const bool clears : {false, true}) {
      ASSERT_TRUE(History(seed, clears).Live(std::chrono::minutes(60))) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace icewright
