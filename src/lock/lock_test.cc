// The conformance suite on each kind of lock.

#include <map>

#include "base/random.h"
#include "lock/memory_lock.h"
#include "lock/sql/sql_lock.h"
#include "lock/zookeeper/zk_lock.h"
#include "testing/fake_clock.h"
#include "testing/java_lock_model.h"
#include "testing/lock_suite.h"
#include "testing/sql_servers.h"
#include "testing/tcp_proxy.h"
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
                                      Milliseconds(1500), UniqueName("lock"));
}

class ZkBackend final : public LockBackend {
 public:
  Result<std::shared_ptr<LockFactory>> Open(const std::string& lock_id,
                                            const std::string& owner) override {
    wires_.push_back(std::make_unique<TcpProxy>(ZookeeperServer()));
    IW_ASSIGN(auto client, Connect(wires_.back()->address()));
    IW_ASSIGN(auto factory,
              MakeZkLocks(std::move(client), prefix_ + lock_id, {.owner = owner, .lease = kLease}));
    wire_of_[factory.get()] = wires_.back().get();
    return factory;
  }
  Milliseconds lease() const override { return kLease; }

  // A session ends up to a tick after its time.
  void Pass(Milliseconds duration) override {
    Clock::System().SleepFor(duration < kLease ? duration : duration + Milliseconds(500), {});
  }
  // The client's own threads would keep its session alive.
  void Kill(LockFactory& client) override { wire_of_.at(&client)->Drop(); }

  bool JavaIsHeld(LockKind kind, const std::string& lock_id) override {
    const auto node = *Java().Get(Path(kind, lock_id));
    return node && node->data.substr(0, 4) == kOne;
  }
  bool JavaTryLock(LockKind kind, const std::string& lock_id) override {
    EXPECT_THAT(Java().Create(Path(kind, lock_id), std::string(kZero)), IsOk());
    const auto node = *Java().Get(Path(kind, lock_id));
    if (node->data.substr(0, 4) == kOne) return false;
    EXPECT_EQ(node->data, kZero) << "Java compares the whole array";
    return Java().Transact(Set(Path(kind, lock_id), kOne, node->version)).has_value();
  }
  void JavaUnlock(LockKind kind, const std::string& lock_id) override {
    EXPECT_THAT(Java().Transact(Set(Path(kind, lock_id), kZero, -1)), IsOk());
  }

 private:
  static constexpr Milliseconds kLease{2000};
  static constexpr std::string_view kZero{"\0\0\0\0", 4};
  static constexpr std::string_view kOne{"\0\0\0\1", 4};

  static std::vector<ZkOp> Set(const std::string& path, std::string_view data, int version) {
    return {
        {.kind = ZkOp::Kind::kSet, .path = path, .data = std::string(data), .version = version}};
  }
  static Result<std::shared_ptr<ZkClient>> Connect(const std::string& address) {
    return ZkClient::Connect({.connect = address,
                              .session_timeout = kLease,
                              .connection_timeout = Milliseconds(3000),
                              .base_sleep = Milliseconds(50),
                              .max_retries = 2},
                             Clock::System());
  }
  ZkClient& Java() {
    if (java_ == nullptr) java_ = *Connect(ZookeeperServer());
    return *java_;
  }
  std::string Path(LockKind kind, const std::string& lock_id) const {
    return "/iceberg/flink/maintenance/locks/" + prefix_ + lock_id +
           (kind == LockKind::kTable ? "/task" : "/recovery");
  }

  const std::string prefix_ = UniqueName("lock");
  std::vector<std::unique_ptr<TcpProxy>> wires_;
  std::map<const LockFactory*, TcpProxy*> wire_of_;
  std::shared_ptr<ZkClient> java_;
};

INSTANTIATE_TEST_SUITE_P(
    Service, LockSuite,
    ::testing::Values(
        LockSuiteCase{"zookeeper", [] { return std::make_unique<ZkBackend>(); }},
        LockSuiteCase{"postgres", [] { return OnServer("jdbc:postgresql", PostgresServer()); }},
        LockSuiteCase{"mariadb", [] { return OnServer("jdbc:mariadb", MariaDbServer()); }}),
    LockCaseName);

}  // namespace
}  // namespace icewright
