// Real servers behind a wire that is cut, and what a holder and those who wait make of it.

#include <algorithm>

#include "database/sql_store.h"
#include "lock/lock_config.h"
#include "lock/lock_keeper.h"
#include "lock/zookeeper/zk_lock.h"
#include "testing/matchers.h"
#include "testing/sql_servers.h"
#include "testing/tcp_proxy.h"

namespace icewright {
namespace {

using ::testing::HasSubstr;

constexpr Milliseconds kLease{2000};
constexpr Milliseconds kInterval = HeartbeatInterval(kLease);

struct Place {
  const char* name;
  std::string (*target)();  // "host:port"
  std::string (*uri)(const std::string& address);
};

std::string SqlUri(const char* scheme, const SqlServer& server, const std::string& address) {
  return std::string(scheme) + "://" + address + "/" + server.database + "?user=" + server.user +
         "&password=" + server.password;
}

class LockNetworkServiceTest : public ::testing::TestWithParam<Place> {
 protected:
  Result<std::shared_ptr<LockFactory>> Open(const std::string& address, const std::string& owner,
                                            Milliseconds lease = kLease) {
    LockConfig config;
    IW_TRY(SetLockUri(GetParam().uri(address), config));
    config.init_lock_table = true;
    config.zookeeper.session_timeout = lease;
    config.zookeeper.connection_timeout = Milliseconds(1000);
    config.zookeeper.base_sleep = Milliseconds(50);
    config.zookeeper.max_retries = 1;
    return OpenLocks(config, id_, {.owner = owner, .lease = lease}, nullptr);
  }

  // How long until the lock is ours; an error of the store counts as "not yet".
  Milliseconds UntilAcquired(MaintenanceLock& lock, Milliseconds limit) {
    Clock& clock = Clock::System();
    const Milliseconds start = clock.Steady();
    while (clock.Steady() < start + limit) {
      const auto got = lock.TryAcquire();
      if (got && *got) return clock.Steady() - start;
      clock.SleepFor(Milliseconds(20), {});
    }
    return limit;
  }

  const std::string id_ = UniqueName("net");
  TcpProxy wire_{GetParam().target()};
};

// A heartbeat that gets no answer: the holder gives up when its lease ends, and somebody else gets
// the lock about then, not before.
TEST_P(LockNetworkServiceTest, ACutHolderStopsAndTheNextOneStarts) {
  IW_ASSERT_OK_AND_ASSIGN(const auto cut, Open(wire_.address(), "cut"));
  IW_ASSERT_OK_AND_ASSIGN(const auto next, Open(GetParam().target(), "next"));
  ASSERT_THAT(cut->TableLock()->TryAcquire(), IsOkAndHolds(true));
  std::atomic<std::int64_t> lost_at{0};
  LockKeeper keeper(cut->TableLock(), kLease,
                    [&](const Error&) { lost_at = Clock::System().Steady().count(); });
  Clock::System().SleepFor(kInterval * 2, {});
  EXPECT_THAT(next->TableLock()->TryAcquire(), IsOkAndHolds(false));
  const std::int64_t cut_at = Clock::System().Steady().count();
  wire_.Drop();
  const Milliseconds waited = UntilAcquired(*next->TableLock(), kLease * 5);
  EXPECT_GE(waited, kLease - kInterval * 2) << "the lease began with the last heartbeat";
  EXPECT_LE(waited, kLease + kInterval + Milliseconds(1500));
  EXPECT_THAT(keeper.MayWrite(), HasCode(Code::kLockLost));
  EXPECT_GT(lost_at, cut_at);
  // The last question and the attempt to connect again have their own time limits.
  EXPECT_LE(lost_at - cut_at, (kLease + kInterval + Milliseconds(5000)).count());
  EXPECT_THAT(next->TableLock()->Renew(), IsOk());
  wire_.Refuse();
  (void)keeper.Release();
  EXPECT_THAT(next->TableLock()->Renew(), IsOk());
}

// A slow wire is no dead one: heartbeats come late and in time all the same.
TEST_P(LockNetworkServiceTest, ASlowWireCostsNobodyTheLock) {
  wire_.Delay(Milliseconds(20));
  IW_ASSERT_OK_AND_ASSIGN(const auto slow, Open(wire_.address(), "slow"));
  IW_ASSERT_OK_AND_ASSIGN(const auto other, Open(GetParam().target(), "other"));
  ASSERT_THAT(slow->TableLock()->TryAcquire(), IsOkAndHolds(true));
  {
    LockKeeper keeper(slow->TableLock(), kLease,
                      [](const Error& error) { ADD_FAILURE() << "lost: " << error.message(); });
    for (Milliseconds passed{0}; passed < kLease * 3 / 2; passed += kInterval) {
      EXPECT_THAT(other->TableLock()->TryAcquire(), IsOkAndHolds(false));
      EXPECT_THAT(keeper.MayWrite(), IsOk());
      Clock::System().SleepFor(kInterval, {});
    }
    EXPECT_THAT(keeper.Release(), IsOk());
  }
  EXPECT_THAT(other->TableLock()->TryAcquire(), IsOkAndHolds(true));
}

// An outage that is shorter than the lease costs nobody the lock.
TEST_P(LockNetworkServiceTest, AShortOutageIsSurvived) {
  constexpr Milliseconds kLong{8000};
  IW_ASSERT_OK_AND_ASSIGN(const auto held, Open(wire_.address(), "held", kLong));
  IW_ASSERT_OK_AND_ASSIGN(const auto other, Open(GetParam().target(), "other", kLong));
  ASSERT_THAT(held->TableLock()->TryAcquire(), IsOkAndHolds(true));
  wire_.Refuse();
  EXPECT_THAT(other->TableLock()->TryAcquire(), IsOkAndHolds(false));
  Clock::System().SleepFor(Milliseconds(300), {});
  wire_.Forward();
  EXPECT_THAT(held->TableLock()->Renew(), IsOk());
  EXPECT_THAT(other->TableLock()->TryAcquire(), IsOkAndHolds(false));
  // Once more for the release: it reconnects and frees its own lock only.
  wire_.Refuse();
  Clock::System().SleepFor(Milliseconds(100), {});
  wire_.Forward();
  Status released = held->TableLock()->Release();
  for (int i = 0; i < 20 && !released; ++i) {
    Clock::System().SleepFor(Milliseconds(100), {});
    released = held->TableLock()->Release();
  }
  EXPECT_THAT(released, IsOk());
  EXPECT_THAT(other->TableLock()->TryAcquire(), IsOkAndHolds(true));
}

// A run ends while the store is away. Nobody frees the lock a second time; the next acquisition
// does.
TEST_P(LockNetworkServiceTest, AReleaseThatFailedIsMadeUpForByTheNextAcquisition) {
  constexpr Milliseconds kLong{20'000};  // longer than this test: nobody's lease ends in it
  IW_ASSERT_OK_AND_ASSIGN(const auto held, Open(wire_.address(), "held", kLong));
  IW_ASSERT_OK_AND_ASSIGN(const auto other, Open(GetParam().target(), "other", kLong));
  ASSERT_THAT(held->TableLock()->TryAcquire(), IsOkAndHolds(true));
  wire_.Refuse();
  EXPECT_THAT(held->TableLock()->Release(), HasCode(Code::kUnavailable));
  EXPECT_THAT(other->TableLock()->TryAcquire(), IsOkAndHolds(false));
  wire_.Forward();
  EXPECT_LT(UntilAcquired(*held->TableLock(), kLong), kLong / 2);
  EXPECT_THAT(held->TableLock()->Renew(), IsOk());
  EXPECT_THAT(other->TableLock()->TryAcquire(), IsOkAndHolds(false));
  EXPECT_THAT(held->TableLock()->Release(), IsOk());
  EXPECT_THAT(other->TableLock()->TryAcquire(), IsOkAndHolds(true));
}

// The answer to the acquisition is lost: either it is ours in the end, or nobody's.
TEST_P(LockNetworkServiceTest, ALostAnswerToAnAcquisitionIsResolved) {
  IW_ASSERT_OK_AND_ASSIGN(const auto unsure, Open(wire_.address(), "unsure"));
  IW_ASSERT_OK_AND_ASSIGN(const auto other, Open(GetParam().target(), "other"));
  ASSERT_THAT(unsure->TableLock()->TryAcquire(), IsOkAndHolds(true));  // makes nodes and tables
  ASSERT_THAT(unsure->TableLock()->Release(), IsOk());
  wire_.DropAnswers();
  const auto got = unsure->TableLock()->TryAcquire();
  EXPECT_TRUE(!got || !*got) << "without an answer nobody may believe to hold it";
  wire_.Refuse();
  Clock::System().SleepFor(Milliseconds(50), {});
  wire_.Forward();
  const Milliseconds waited = UntilAcquired(*unsure->TableLock(), kLease * 5);
  EXPECT_LE(waited, kLease + kInterval + Milliseconds(1500));
  EXPECT_THAT(other->TableLock()->TryAcquire(), IsOkAndHolds(false));
  EXPECT_THAT(unsure->TableLock()->Renew(), IsOk());
}

INSTANTIATE_TEST_SUITE_P(
    All, LockNetworkServiceTest,
    ::testing::Values(Place{"postgres",
                            [] { return PostgresServer().host + ":" + PostgresServer().port; },
                            [](const std::string& address) {
                              return SqlUri("jdbc:postgresql", PostgresServer(), address);
                            }},
                      Place{"mariadb",
                            [] { return MariaDbServer().host + ":" + MariaDbServer().port; },
                            [](const std::string& address) {
                              return SqlUri("jdbc:mariadb", MariaDbServer(), address);
                            }},
                      Place{"zookeeper", [] { return ZookeeperServer(); },
                            [](const std::string& address) { return "zookeeper://" + address; }}),
    [](const auto& param) { return param.param.name; });

// A session whose transactions fail from one on, for a while: they are done or not, nobody knows.
class FaultZkClient final : public ZkClient {
 public:
  explicit FaultZkClient(std::shared_ptr<ZkClient> zk) : zk_(std::move(zk)) {}

  Result<std::optional<ZkNode>> Get(const std::string& path) override { return zk_->Get(path); }
  Status Create(const std::string& path, const std::string& data) override {
    return zk_->Create(path, data);
  }
  Status Transact(std::span<const ZkOp> ops) override {
    const bool fails = fails_after-- <= 0 && failures-- > 0;
    if (!fails) return zk_->Transact(ops);
    if (done) (void)zk_->Transact(ops);
    return Error(Code::kCommitUnknown, "injected");
  }
  std::int64_t session() override { return zk_->session(); }
  Milliseconds session_timeout() override { return zk_->session_timeout(); }

  int fails_after = 0;
  int failures = 0;
  bool done = false;

 private:
  const std::shared_ptr<ZkClient> zk_;
};

// The session lives on, so nothing that is left behind ends by itself.
TEST(ZkReleaseServiceTest, AReleaseWhoseTransactionsFailKeepsNobodyOut) {
  const ZkOptions options{.connect = ZookeeperServer()};
  const auto zk = std::make_shared<FaultZkClient>(*ZkClient::Connect(options, Clock::System()));
  const std::string id = UniqueName("release");
  const auto mine = *MakeZkLocks(zk, id, {.owner = "mine"});
  const auto other =
      *MakeZkLocks(*ZkClient::Connect(options, Clock::System()), id, {.owner = "other"});
  for (const bool done : {false, true}) {
    for (const int failures : {1, 2}) {
      for (const int step : {0, 1}) {
        SCOPED_TRACE(testing::Message() << "done " << done << ", failures " << failures
                                        << ", from transaction " << step);
        ASSERT_THAT(mine->TableLock()->TryAcquire(), IsOkAndHolds(true));
        zk->done = done;
        zk->fails_after = step;
        zk->failures = failures;
        const Status released = mine->TableLock()->Release();
        zk->failures = 0;
        if (released) {
          EXPECT_THAT(other->TableLock()->TryAcquire(), IsOkAndHolds(true));
          EXPECT_THAT(mine->TableLock()->TryAcquire(), IsOkAndHolds(false));
          EXPECT_THAT(other->TableLock()->Release(), IsOk());
        }
        EXPECT_TRUE(released || failures > 1) << "one lost answer is made up for at once";
        EXPECT_THAT(mine->TableLock()->TryAcquire(), IsOkAndHolds(true));
        EXPECT_THAT(mine->TableLock()->Release(), IsOk());
        EXPECT_THAT(other->TableLock()->TryAcquire(), IsOkAndHolds(true));
        EXPECT_THAT(other->TableLock()->Release(), IsOk());
      }
    }
  }
}

class Lines final : public Log {
 public:
  void Write(LogLevel, std::string_view message) override { text += std::string(message) + "\n"; }
  std::string text;
};

// A user who may not make tables: no lease, a warning, and only force frees a dead holder's lock.
TEST(LockRightsServiceTest, WithoutATableOfOurOwnThereIsNoLease) {
  const SqlServer& server = PostgresServer();
  std::string name = UniqueName("rights");
  std::replace(name.begin(), name.end(), '-', '_');
  const auto uri = [&](const std::string& database, const std::string& user) {
    return "jdbc:postgresql://" + server.host + ":" + server.port + "/" + database +
           "?user=" + user;
  };
  const auto admin = *OpenSqlStore(*ParseSqlUrl(uri("postgres", server.user), {}));
  ASSERT_THAT(admin->Execute("CREATE DATABASE " + name, {}), IsOk());
  ASSERT_THAT(admin->Execute("CREATE ROLE " + name + " LOGIN", {}), IsOk());
  LockConfig config;
  ASSERT_THAT(SetLockUri(uri(name, server.user), config), IsOk());
  config.init_lock_table = true;
  ASSERT_THAT(OpenLocks(config, "db.t", {}, nullptr), IsOk());
  const auto owner = *OpenSqlStore(*ParseSqlUrl(uri(name, server.user), {}));
  ASSERT_THAT(owner->Execute("GRANT ALL ON flink_maintenance_lock TO " + name, {}), IsOk());

  ASSERT_THAT(SetLockUri(uri(name, name), config), IsOk());
  Lines log;
  const LockOptions options{.owner = "poor", .lease = Milliseconds(50), .log = &log};
  IW_ASSERT_OK_AND_ASSIGN(const auto poor, OpenLocks(config, "db.t", options, nullptr));
  ASSERT_THAT(poor->TableLock()->TryAcquire(), IsOkAndHolds(true));
  EXPECT_THAT(log.text, HasSubstr("icewright_lock_lease"));
  EXPECT_THAT(log.text, HasSubstr("lock release --force"));
  EXPECT_THAT(poor->TableLock()->Renew(), IsOk());
  Clock::System().SleepFor(Milliseconds(150), {});
  IW_ASSERT_OK_AND_ASSIGN(const auto other, OpenLocks(config, "db.t", options, nullptr));
  EXPECT_THAT(other->TableLock()->TryAcquire(), IsOkAndHolds(false));
  ASSERT_THAT(other->TableLock()->ForceRelease(), IsOk());
  EXPECT_THAT(other->TableLock()->TryAcquire(), IsOkAndHolds(true));
  EXPECT_THAT(poor->TableLock()->Renew(), HasCode(Code::kLockLost));
}

}  // namespace
}  // namespace icewright
