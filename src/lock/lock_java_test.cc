// Ours and the real Java lock classes at once: who has the lock makes a file that must not exist.

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <thread>
#include <vector>

#include "lock/lock_config.h"
#include "testing/matchers.h"
#include "testing/paths.h"
#include "testing/sql_servers.h"
#include "testing/temp_folder.h"

namespace icewright {
namespace {

struct Store {
  std::string name;
  std::string uri;   // ours
  std::string java;  // the referee's command and address
};

std::vector<Store> Stores(const std::string& folder) {
  const auto sql = [](const char* name, const SqlServer& server) {
    const std::string uri = "jdbc:" + std::string(name) + "://" + server.host + ":" + server.port +
                            "/" + server.database;
    return Store{name, uri + "?user=" + server.user + "&password=" + server.password,
                 "lock-jdbc --uri " + uri + " --user " + server.user +
                     (server.password.empty() ? "" : " --password " + server.password)};
  };
  const std::string file = "jdbc:sqlite:" + folder + "/locks.db";
  return {sql("postgresql", PostgresServer()), sql("mariadb", MariaDbServer()),
          Store{"sqlite", file, "lock-jdbc --uri " + file},
          Store{"zookeeper", "zookeeper://" + ZookeeperServer(),
                "lock-zk --connect " + ZookeeperServer()}};
}

struct Tally {
  std::atomic<int> rounds{0};
  std::atomic<int> violations{0};
};

void Bounce(const Store& store, const std::string& lock_id, const std::string& guard,
            const std::stop_token& stop, Tally& tally) {
  LockConfig config;
  ASSERT_THAT(SetLockUri(store.uri, config), IsOk());
  config.init_lock_table = true;
  IW_ASSERT_OK_AND_ASSIGN(const auto locks,
                          OpenLocks(config, lock_id, {.owner = "icewright"}, nullptr));
  MaintenanceLock& lock = *locks->TableLock();
  Random random;
  while (!stop.stop_requested()) {
    Clock::System().SleepFor(Milliseconds(random.Next() % 10), {});
    const auto got = lock.TryAcquire();
    if (!got || !*got) continue;
    ++tally.rounds;
    const int fd = ::open(guard.c_str(), O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0) ++tally.violations;
    Clock::System().SleepFor(Milliseconds(random.Next() % 20), {});
    if (!lock.Renew()) ++tally.violations;
    if (fd >= 0 && ::unlink(guard.c_str()) != 0) ++tally.violations;
    ::close(fd);
    EXPECT_THAT(lock.Release(), IsOk());
  }
}

std::string OutputOf(const std::string& command) {
  std::FILE* const pipe = ::popen(command.c_str(), "re");
  std::string text;
  char buffer[4096];
  for (std::size_t n; (n = std::fread(buffer, 1, sizeof(buffer), pipe)) > 0;)
    text.append(buffer, n);
  EXPECT_EQ(::pclose(pipe), 0) << command << "\n" << text;
  return text;
}

void BounceBesideJava(int seconds_each) {
  const TempFolder folder;
  const std::string lock_id = UniqueName("java");
  const std::vector<Store> stores = Stores(folder.path());
  std::vector<Tally> tallies(stores.size());
  std::ofstream batch(folder.path() + "/batch");
  std::string output;
  {
    std::vector<std::jthread> clients;
    for (std::size_t i = 0; i < stores.size(); ++i) {
      const std::string guard = folder.path() + "/guard-" + stores[i].name;
      batch << stores[i].java << " --lock-id " << lock_id << " --bounce " << seconds_each
            << " --guard " << guard << "\n";
      for (int client = 0; client < 2; ++client) {
        clients.emplace_back([&, i, guard](const std::stop_token& stop) {
          Bounce(stores[i], lock_id, guard, stop, tallies[i]);
        });
      }
    }
    batch.close();
    Clock::System().SleepFor(Milliseconds(1000), {});  // the tables are made by us, once
    output = OutputOf("'" + SourceFolder() + "/.cache/oracle/run.sh' batch '" + folder.path() +
                      "/batch' 2>'" + folder.path() + "/java.log'");
  }
  for (std::size_t i = 0; i < stores.size(); ++i) {
    SCOPED_TRACE(stores[i].name);
    EXPECT_EQ(tallies[i].violations, 0);
    EXPECT_GT(tallies[i].rounds, seconds_each);
  }
  std::size_t reports = 0;
  for (std::size_t at = 0; (at = output.find("\"rounds\":", at)) != std::string::npos; ++at) {
    ++reports;
    EXPECT_GT(std::atoi(output.c_str() + at + 9), 0) << output;
  }
  EXPECT_EQ(reports, stores.size()) << output;
  std::size_t clean = 0;
  for (std::size_t at = 0; (at = output.find("\"violations\":0", at)) != std::string::npos; ++at) {
    ++clean;
  }
  EXPECT_EQ(clean, stores.size()) << output;
}

TEST(LockBesideJavaServiceTest, SecondsOfRealTimeNeverTwoHolders) { BounceBesideJava(5); }

TEST(LockBesideJavaSlow, AMinuteOfRealTimeNeverTwoHolders) { BounceBesideJava(60); }

}  // namespace
}  // namespace icewright
