#include "lock/lock_connections.h"

#include <algorithm>
#include <set>

#include "lock/lock_config.h"
#include "testing/matchers.h"
#include "testing/sql_servers.h"
#include "testing/temp_folder.h"

namespace icewright {
namespace {

constexpr Milliseconds kPatience{1000};

SqlUrl Sqlite(const std::string& file) { return *ParseSqlUrl("jdbc:sqlite:" + file, {}); }

TEST(LockConnectionsTest, ManyUsersShareAFewConnections) {
  const TempFolder folder;
  LockConnections connections(3);
  std::vector<std::shared_ptr<SqlStore>> users;
  std::set<SqlStore*> different;
  for (int i = 0; i < 100; ++i) {
    const auto store = connections.Sql(Sqlite(folder.path() + "/a.db"), kPatience);
    ASSERT_THAT(store, IsOk());
    users.push_back(*store);
    different.insert(store->get());
  }
  EXPECT_EQ(different.size(), 3U);
  for (SqlStore* store : different) {
    const auto uses = std::ranges::count(users, store, &std::shared_ptr<SqlStore>::get);
    EXPECT_NEAR(static_cast<double>(uses), 33.0, 1.0) << "shared out evenly";
  }
}

TEST(LockConnectionsTest, OtherSettingsAreAnotherStore) {
  const TempFolder folder;
  LockConnections connections(1);
  const auto get = [&](const std::string& file, Milliseconds patience) {
    return connections.Sql(Sqlite(folder.path() + file), patience).value();
  };
  const auto a = get("/a.db", kPatience);
  EXPECT_EQ(get("/a.db", kPatience), a);
  EXPECT_NE(get("/b.db", kPatience), a);
  EXPECT_NE(get("/a.db", kPatience * 2), a);
}

TEST(LockConnectionsTest, AConnectionThatNobodyUsesIsClosed) {
  const TempFolder folder;
  LockConnections connections(1);
  auto first = connections.Sql(Sqlite(folder.path() + "/a.db"), kPatience).value();
  const std::weak_ptr<SqlStore> watch = first;
  first.reset();
  EXPECT_TRUE(watch.expired());
  EXPECT_THAT(connections.Sql(Sqlite(folder.path() + "/a.db"), kPatience), IsOk());
}

TEST(LockConnectionsTest, AStoreThatIsAwayIsAskedAnewEachTime) {
  LockConnections connections(1);
  const SqlUrl away = *ParseSqlUrl("jdbc:postgresql://127.0.0.1:1/d", {});
  EXPECT_THAT(connections.Sql(away, kPatience), HasCode(Code::kUnavailable));
  EXPECT_THAT(connections.Sql(away, kPatience), HasCode(Code::kUnavailable));
}

// Locks of different tables on one connection exclude each other as ever.
TEST(LockConnectionsServiceTest, SharedConnectionsKeepLocksApart) {
  for (const std::string& uri :
       {"jdbc:postgresql://" + PostgresServer().host + ":" + PostgresServer().port + "/" +
            PostgresServer().database + "?user=" + PostgresServer().user,
        "zookeeper://" + ZookeeperServer()}) {
    LockConfig config;
    ASSERT_THAT(SetLockUri(uri, config), IsOk());
    config.init_lock_table = true;
    LockConnections ours(2);
    LockConnections theirs(2);
    const std::string prefix = UniqueName("shared");
    std::vector<std::shared_ptr<LockFactory>> tables;
    for (int i = 0; i < 20; ++i) {
      const std::string id = prefix + std::to_string(i);
      IW_ASSERT_OK_AND_ASSIGN(const auto mine,
                              OpenLocks(config, id, {.owner = "us"}, nullptr, &ours));
      ASSERT_THAT(mine->TableLock()->TryAcquire(), IsOkAndHolds(true)) << uri;
      tables.push_back(mine);
    }
    for (int i = 0; i < 20; ++i) {
      const std::string id = prefix + std::to_string(i);
      IW_ASSERT_OK_AND_ASSIGN(const auto other,
                              OpenLocks(config, id, {.owner = "them"}, nullptr, &theirs));
      EXPECT_THAT(other->TableLock()->TryAcquire(), IsOkAndHolds(false));
      EXPECT_THAT(tables[static_cast<std::size_t>(i)]->TableLock()->Renew(), IsOk());
      EXPECT_THAT(tables[static_cast<std::size_t>(i)]->TableLock()->Release(), IsOk());
      EXPECT_THAT(other->TableLock()->TryAcquire(), IsOkAndHolds(true));
      EXPECT_THAT(other->TableLock()->Release(), IsOk());
    }
  }
}

}  // namespace
}  // namespace icewright
