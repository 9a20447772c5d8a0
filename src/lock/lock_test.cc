// The conformance suite on each kind of lock.

#include "base/random.h"
#include "lock/memory_lock.h"
#include "lock/sql/sql_lock.h"
#include "testing/fake_clock.h"
#include "testing/java_lock_model.h"
#include "testing/lock_suite.h"
#include "testing/sql_servers.h"
#include "testing/temp_folder.h"

namespace icewright {
namespace {

class MemoryBackend final : public LockBackend {
 public:
  Result<std::shared_ptr<LockFactory>> Open(const std::string& lock_id,
                                            const std::string& owner) override {
    return MakeMemoryLocks(table_, lock_id, {.owner = owner, .lease = lease(), .clock = &clock_});
  }
  Milliseconds lease() const override { return Milliseconds(1000); }
  void Pass(Milliseconds duration) override { clock_.Advance(duration); }
  void Kill(LockFactory&) override {}  // it has no heartbeat of its own

  // Nothing but this process can know these locks: "Java" is a client without owner and lease.
  bool JavaIsHeld(LockKind kind, const std::string& lock_id) override {
    return *Java(kind, lock_id)->IsHeld();
  }
  bool JavaTryLock(LockKind kind, const std::string& lock_id) override {
    return *Java(kind, lock_id)->TryAcquire();
  }
  void JavaUnlock(LockKind kind, const std::string& lock_id) override {
    EXPECT_THAT(Java(kind, lock_id)->ForceRelease(), IsOk());
  }

 private:
  std::shared_ptr<MaintenanceLock> Java(LockKind kind, const std::string& lock_id) {
    const auto factory = *MakeMemoryLocks(table_, lock_id, {.lease = {}, .clock = &clock_});
    return kind == LockKind::kTable ? factory->TableLock() : factory->RecoveryLock();
  }

  FakeClock clock_;
  std::shared_ptr<MemoryLockTable> table_ = std::make_shared<MemoryLockTable>();
};

class SqlBackend : public LockBackend {
 public:
  SqlBackend(std::string uri, SqlProperties properties, Clock* clock, FakeClock* fake,
             Milliseconds lease, std::string prefix)
      : uri_(std::move(uri)),
        properties_(std::move(properties)),
        clock_(clock),
        fake_(fake),
        lease_(lease),
        prefix_(std::move(prefix)) {}

  Result<std::shared_ptr<LockFactory>> Open(const std::string& lock_id,
                                            const std::string& owner) override {
    IW_ASSIGN(auto store, OpenStore());
    return MakeSqlLocks(std::move(store), prefix_ + lock_id,
                        {.owner = owner, .lease = lease_, .clock = clock_}, true);
  }
  Milliseconds lease() const override { return lease_; }
  void Pass(Milliseconds duration) override {
    fake_ != nullptr ? fake_->Advance(duration) : clock_->SleepFor(duration, {});
  }
  void Kill(LockFactory&) override {}  // it has no heartbeat of its own
  bool JavaIsHeld(LockKind kind, const std::string& lock_id) override {
    return *Java(kind, lock_id).IsHeld();
  }
  bool JavaTryLock(LockKind kind, const std::string& lock_id) override {
    return *Java(kind, lock_id).TryLock();
  }
  void JavaUnlock(LockKind kind, const std::string& lock_id) override {
    EXPECT_THAT(Java(kind, lock_id).Unlock(), IsOk());
  }

 private:
  Result<std::shared_ptr<SqlStore>> OpenStore() {
    IW_ASSIGN(const SqlUrl url, ParseSqlUrl(uri_, properties_));
    return OpenSqlStore(url);
  }
  JavaSqlLock Java(LockKind kind, const std::string& lock_id) {
    if (java_ == nullptr) java_ = *OpenStore();
    return {java_, kind == LockKind::kTable ? "m" : "r", prefix_ + lock_id, random_};
  }

  const std::string uri_;
  const SqlProperties properties_;
  Clock* const clock_;
  FakeClock* const fake_;
  const Milliseconds lease_;
  const std::string prefix_;
  Random random_;
  std::shared_ptr<SqlStore> java_;
};

struct SqliteWorld {
  TempFolder folder;
  FakeClock clock;
};

class SqliteBackend final : private SqliteWorld, public SqlBackend {
 public:
  SqliteBackend()
      : SqlBackend("jdbc:sqlite:" + folder.path() + "/locks.db", {}, &clock, &clock,
                   Milliseconds(1000), "") {}
};

INSTANTIATE_TEST_SUITE_P(
    Unit, LockSuite,
    ::testing::Values(LockSuiteCase{"memory", [] { return std::make_unique<MemoryBackend>(); }},
                      LockSuiteCase{"sqlite", [] { return std::make_unique<SqliteBackend>(); }}),
    LockCaseName);

std::unique_ptr<LockBackend> OnServer(const char* scheme, const SqlServer& server) {
  const std::string uri = std::string(scheme) + "://" + server.host + ":" + server.port + "/" +
                          server.database + "?user=" + server.user + "&password=" + server.password;
  return std::make_unique<SqlBackend>(uri, SqlProperties{}, &Clock::System(), nullptr,
                                      Milliseconds(600), UniqueName("lock"));
}

INSTANTIATE_TEST_SUITE_P(
    Service, LockSuite,
    ::testing::Values(
        LockSuiteCase{"postgres", [] { return OnServer("jdbc:postgresql", PostgresServer()); }},
        LockSuiteCase{"mariadb", [] { return OnServer("jdbc:mariadb", MariaDbServer()); }}),
    LockCaseName);

}  // namespace
}  // namespace icewright
