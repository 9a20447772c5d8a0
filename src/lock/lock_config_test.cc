#include "lock/lock_config.h"

#include <algorithm>

#include "lock/zookeeper/zk_payload.h"
#include "testing/matchers.h"
#include "testing/temp_folder.h"

namespace icewright {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Result<LockConfig> Read(const std::string& key, const std::string& value) {
  return ReadLockConfig({{"flink-maintenance.lock." + key, value}});
}

TEST(LockConfigTest, DefaultsAreThoseOfFlink) {
  IW_ASSERT_OK_AND_ASSIGN(const LockConfig config,
                          ReadLockConfig({{"uri", "x"}, {"flink-maintenance.parallelism", "2"}}));
  EXPECT_EQ(config.type, "");
  EXPECT_EQ(config.lock_id, "");
  EXPECT_FALSE(config.init_lock_table);
  EXPECT_EQ(config.zookeeper.session_timeout, Milliseconds(60'000));
  EXPECT_EQ(config.zookeeper.connection_timeout, Milliseconds(15'000));
  EXPECT_EQ(config.zookeeper.base_sleep, Milliseconds(3'000));
  EXPECT_EQ(config.zookeeper.max_retries, 3);
  EXPECT_EQ(config.zookeeper.max_sleep, Milliseconds(10'000));
  EXPECT_EQ(config.zookeeper.policy, ZkRetryPolicy::kExponentialBackoff);
  EXPECT_THAT(config.warnings, IsEmpty());
}

TEST(LockConfigTest, ReadsEveryKey) {
  const std::map<std::string, std::string> properties = {
      {"flink-maintenance.lock.type", "jdbc"},
      {"flink-maintenance.lock.lock-id", "t1"},
      {"flink-maintenance.lock.jdbc.uri", "jdbc:postgresql://h/d"},
      {"flink-maintenance.lock.jdbc.init-lock-table", "true"},
      {"flink-maintenance.lock.jdbc.user", "u"},
      {"flink-maintenance.lock.jdbc.password", "p"},
      {"flink-maintenance.lock.retryable_status_codes", "57P01, 57P02"},
      {"flink-maintenance.lock.zookeeper.uri", "z:2181"},
      {"flink-maintenance.lock.zookeeper.session-timeout-ms", "1"},
      {"flink-maintenance.lock.zookeeper.connection-timeout-ms", "2"},
      {"flink-maintenance.lock.zookeeper.base-sleep-ms", "3"},
      {"flink-maintenance.lock.zookeeper.max-retries", "4"},
      {"flink-maintenance.lock.zookeeper.max-sleep-ms", "5"},
      {"flink-maintenance.lock.zookeeper.retry-policy", "UNTIL_ELAPSED"}};
  IW_ASSERT_OK_AND_ASSIGN(const LockConfig config, ReadLockConfig(properties));
  EXPECT_EQ(config.type, "jdbc");
  EXPECT_EQ(config.lock_id, "t1");
  EXPECT_EQ(config.jdbc_uri, "jdbc:postgresql://h/d");
  EXPECT_TRUE(config.init_lock_table);
  EXPECT_EQ(config.jdbc,
            (std::map<std::string, std::string>{{"jdbc.password", "p"}, {"jdbc.user", "u"}}));
  EXPECT_EQ(config.zookeeper.connect, "z:2181");
  EXPECT_EQ(config.zookeeper.session_timeout, Milliseconds(1));
  EXPECT_EQ(config.zookeeper.connection_timeout, Milliseconds(2));
  EXPECT_EQ(config.zookeeper.base_sleep, Milliseconds(3));
  EXPECT_EQ(config.zookeeper.max_retries, 4);
  EXPECT_EQ(config.zookeeper.max_sleep, Milliseconds(5));
  EXPECT_EQ(config.zookeeper.policy, ZkRetryPolicy::kUntilElapsed);
}

TEST(LockConfigTest, TheOldSpellingCountsWithAWarning) {
  IW_ASSERT_OK_AND_ASSIGN(const LockConfig config, Read("jdbc.init-lock-tables", "true"));
  EXPECT_TRUE(config.init_lock_table);
  EXPECT_THAT(config.warnings, ElementsAre(HasSubstr("jdbc.init-lock-table")));
}

TEST(LockConfigTest, MistakesAreNamed) {
  struct Case {
    const char* key;
    const char* value;
    const char* says;
  };
  for (const Case& c : {Case{"typ", "jdbc", "did you mean 'type'"},
                        Case{"type", "JDBC", "jdbc, zookeeper"}, Case{"type", "redis", "redis"},
                        Case{"zookeeper.session-timeout", "1", "session-timeout-ms"},
                        Case{"zookeeper.session-timeout-ms", "1s", "whole number"},
                        Case{"zookeeper.max-retries", "-1", "negative"},
                        Case{"zookeeper.max-sleep-ms", "10", "base-sleep-ms"},
                        Case{"zookeeper.retry-policy", "SOMETIMES", "BOUNDED_EXPONENTIAL_BACKOFF"},
                        Case{"jdbc.init-lock-table", "yes", "neither true nor false"}}) {
    EXPECT_THAT(Read(c.key, c.value), HasError(Code::kInvalidArgument, HasSubstr(c.says)))
        << c.key << "=" << c.value;
  }
}

TEST(LockConfigTest, ZookeeperWithTlsIsRefused) {
  for (const char* key : {"zookeeper.ssl.trustStore.password", "zookeeper.client.secure"}) {
    EXPECT_THAT(
        Read(key, "hunter2"),
        HasError(Code::kUnsupported, AllOf(HasSubstr("tunnel"), Not(HasSubstr("hunter2")))));
  }
}

TEST(LockConfigTest, OpeningNamesWhatIsMissing) {
  const auto open = [](const std::map<std::string, std::string>& properties) {
    return OpenLocks(*ReadLockConfig(properties), "db.t", {}, nullptr);
  };
  EXPECT_THAT(open({}), HasError(Code::kInvalidArgument, HasSubstr("lock.type")));
  EXPECT_THAT(open({{"flink-maintenance.lock.type", "jdbc"}}),
              HasError(Code::kInvalidArgument, HasSubstr("flink-maintenance.lock.jdbc.uri")));
  EXPECT_THAT(open({{"flink-maintenance.lock.type", "zookeeper"}}),
              HasError(Code::kInvalidArgument, HasSubstr("flink-maintenance.lock.zookeeper.uri")));
  EXPECT_THAT(
      open({{"flink-maintenance.lock.type", "jdbc"},
            {"flink-maintenance.lock.jdbc.uri", "jdbc:postgresql://127.0.0.1:1/d"},
            {"flink-maintenance.lock.jdbc.sslfactory", "hunter2"}}),
      HasError(Code::kInvalidArgument, AllOf(HasSubstr("sslfactory"), Not(HasSubstr("hunter2")))));
  EXPECT_THAT(open({{"flink-maintenance.lock.type", "jdbc"},
                    {"flink-maintenance.lock.jdbc.uri", "jdbc:postgresql://127.0.0.1:1/d"},
                    {"flink-maintenance.lock.jdbc.password", "hunter2"}}),
              HasError(Code::kUnavailable, Not(HasSubstr("hunter2"))));
  EXPECT_THAT(open({{"flink-maintenance.lock.type", "zookeeper"},
                    {"flink-maintenance.lock.zookeeper.uri", "127.0.0.1:1"},
                    {"flink-maintenance.lock.zookeeper.connection-timeout-ms", "200"}}),
              HasError(Code::kUnavailable, HasSubstr("127.0.0.1:1")));
}

TEST(LockConfigTest, ATableIsMadeOnlyIfAsked) {
  const TempFolder folder;
  LockConfig config;
  ASSERT_THAT(SetLockUri("jdbc:sqlite:" + folder.path() + "/l.db", config), IsOk());
  EXPECT_THAT(OpenLocks(config, "db.t", {}, nullptr),
              HasError(Code::kNotFound, HasSubstr("init-lock-table")));
  config.init_lock_table = true;
  EXPECT_THAT(OpenLocks(config, "db.t", {}, nullptr), IsOk());
  config.init_lock_table = false;
  EXPECT_THAT(OpenLocks(config, "db.t", {}, nullptr), IsOk());
  EXPECT_THAT(OpenLocks(config, std::string(99, 'x'), {}, nullptr), IsOk());
  EXPECT_THAT(OpenLocks(config, std::string(100, 'x'), {}, nullptr),
              HasError(Code::kInvalidArgument, HasSubstr("lock-id")));
}

TEST(LockConfigTest, OneUriNamesTypeAndPlace) {
  const auto set = [](const char* uri) -> std::string {
    LockConfig config;
    if (!SetLockUri(uri, config)) return "error";
    return config.type + " " + config.jdbc_uri + config.zookeeper.connect;
  };
  EXPECT_EQ(set("jdbc:postgresql://h/d"), "jdbc jdbc:postgresql://h/d");
  EXPECT_EQ(set("sqlite:////x.db"), "jdbc sqlite:////x.db");
  EXPECT_EQ(set("zookeeper://a:1,b:2/root"), "zookeeper a:1,b:2/root");
  EXPECT_EQ(set("zookeeper:a:1"), "zookeeper a:1");
  for (const char* bad : {"", "zookeeper://", "redis://h", "jdbc:oracle:thin:@h"}) {
    EXPECT_EQ(set(bad), "error") << bad;
  }
}

TEST(LockConfigTest, WarnsOfPlainTextOnTheNetwork) {
  struct Case {
    const char* uri;
    bool warns;
  };
  for (const Case& c :
       {Case{"jdbc:postgresql://db3/d?password=hunter2", true},
        Case{"jdbc:postgresql://db3/d?ssl=true", false},
        Case{"jdbc:postgresql://localhost/d", false}, Case{"jdbc:sqlite:/x.db", false},
        Case{"zookeeper://zk1:2181", true}, Case{"zookeeper://127.0.0.1:2181,zk2:2181/x", true},
        Case{"zookeeper://127.0.0.1:2181,localhost:2182/x", false}}) {
    LockConfig config;
    ASSERT_THAT(SetLockUri(c.uri, config), IsOk());
    const auto warning = PlainTextWarning(config);
    EXPECT_EQ(warning.has_value(), c.warns) << c.uri;
    if (warning) {
      EXPECT_THAT(*warning, AllOf(HasSubstr("TLS"), Not(HasSubstr("hunter2"))));
    }
  }
}

TEST(ZkRetryTest, PoliciesSleepAsCuratorsDo) {
  const ZkOptions base{
      .connect = {}, .base_sleep = Milliseconds(100), .max_sleep = Milliseconds(250)};
  const auto sleeps = [&](const char* name, int retries) {
    ZkOptions options = base;
    options.policy = *ParseZkRetryPolicy(name);
    options.max_retries = retries;
    Random random(5);
    std::vector<std::int64_t> result;
    Milliseconds elapsed{0};
    while (const auto sleep =
               ZkRetrySleep(options, static_cast<int>(result.size()), elapsed, random)) {
      result.push_back(sleep->count());
      elapsed += *sleep;
    }
    return result;
  };
  EXPECT_THAT(sleeps("ONE_TIME", 7), ElementsAre(100));
  EXPECT_THAT(sleeps("N_TIME", 3), ElementsAre(100, 100, 100));
  EXPECT_THAT(sleeps("N_TIME", 0), IsEmpty());
  EXPECT_THAT(sleeps("UNTIL_ELAPSED", 0), ElementsAre(100, 100, 100)) << "250 ms are the budget";
  for (const std::int64_t sleep : sleeps("BOUNDED_EXPONENTIAL_BACKOFF", 20)) {
    EXPECT_GE(sleep, 100);
    EXPECT_LE(sleep, 250);
  }
  const auto growing = sleeps("EXPONENTIAL_BACKOFF", 100);
  ASSERT_EQ(growing.size(), 29u) << "Curator's limit";
  for (std::size_t i = 0; i < growing.size(); ++i) {
    EXPECT_GE(growing[i], 100);
    EXPECT_LT(growing[i], 100 * (std::int64_t{2} << i)) << i;
    EXPECT_EQ(growing[i] % 100, 0);
  }
  EXPECT_GT(*std::ranges::max_element(growing), 250) << "max-sleep-ms does not bound this one";
}

TEST(ZkPayloadTest, JavaSeesItsFourBytes) {
  const std::string instance = "01234567-89ab-cdef-0123-456789abcdef";
  const std::string held("\0\0\0\1", 4);
  const std::string id("\x01\x23\x45\x67\x89\xab\xcd\xef\x01\x23\x45\x67\x89\xab\xcd\xef", 16);
  EXPECT_EQ(ZkPayload{}.Encode(), std::string(4, '\0'));
  EXPECT_EQ((ZkPayload{true, "", false}.Encode()), held);
  EXPECT_EQ((ZkPayload{true, instance, true}.Encode()), held + id);
  EXPECT_EQ((ZkPayload{true, instance, false}.Encode()), held + id + "n");
  for (const ZkPayload& payload :
       {ZkPayload{}, ZkPayload{true, "", false}, ZkPayload{true, instance, true},
        ZkPayload{true, instance, false}}) {
    IW_ASSERT_OK_AND_ASSIGN(const ZkPayload back, ZkPayload::Decode(payload.Encode()));
    EXPECT_EQ(back.held, payload.held);
    EXPECT_EQ(back.instance, payload.instance);
    EXPECT_EQ(back.has_lease, payload.has_lease);
  }
  EXPECT_THAT(ZkPayload::Decode(""), HasCode(Code::kCorrupt));
  EXPECT_THAT(ZkPayload::Decode(std::string("\0\0\1", 3)), HasCode(Code::kCorrupt));
  EXPECT_THAT(ZkPayload::Decode(std::string("\0\0\0\2", 4)), HasCode(Code::kCorrupt));
  IW_ASSERT_OK_AND_ASSIGN(const ZkPayload odd, ZkPayload::Decode(held + "abc"));
  EXPECT_TRUE(odd.held && odd.instance.empty() && !odd.has_lease);
}

TEST(ZkPayloadTest, IdsMustBePaths) {
  for (const char* good : {"db.t", "a/b", "prod.db.t-1", "ä"}) {
    EXPECT_THAT(CheckZkLockId(good), IsOk()) << good;
  }
  for (const char* bad :
       {"", "/a", "a/", "a//b", "hdfs://x/y", ".", "a/../b", "a\nb", "\xc2\x85"}) {
    EXPECT_THAT(CheckZkLockId(bad), HasError(Code::kInvalidArgument, HasSubstr("lock-id"))) << bad;
  }
}

}  // namespace
}  // namespace icewright
