#include "lock/lock_config.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/text.h"
#include "config/fields.h"
#include "lock/sql/sql_lock.h"
#include "lock/zookeeper/zk_lock.h"

namespace icewright {
namespace {

constexpr std::string_view kJdbcPrefix = "jdbc.";
constexpr std::string_view kZkUri = "zookeeper.uri";

// For "did you mean".
constexpr std::array<std::string_view, 13> kKeys = {
    "type",
    "lock-id",
    "jdbc.uri",
    "jdbc.init-lock-table",
    "jdbc.user",
    "jdbc.password",
    "retryable_status_codes",
    kZkUri,
    "zookeeper.session-timeout-ms",
    "zookeeper.connection-timeout-ms",
    "zookeeper.base-sleep-ms",
    "zookeeper.max-retries",
    "zookeeper.max-sleep-ms",
};

Error Bad(std::string_view key, const std::string& message) {
  return {Code::kInvalidArgument, std::string(kLockPrefix) + std::string(key) + ": " + message};
}

Result<int> ParseInt(std::string_view key, std::string_view text) {
  int value = 0;
  const char* end = text.data() + text.size();
  if (text.empty() || std::from_chars(text.data(), end, value).ptr != end) {
    return Bad(key, "'" + std::string(text) + "' is no whole number");
  }
  return value;
}

Result<bool> ParseBool(std::string_view key, std::string_view text) {
  const std::string value = ToLower(text);
  if (value == "true") return true;
  if (value == "false") return false;
  return Bad(key, "'" + std::string(text) + "' is neither true nor false");
}

Status SetZookeeper(std::string_view key, const std::string& value, ZkOptions& zk) {
  if (key == kZkUri) {
    zk.connect = value;
    return {};
  }
  if (key.starts_with("zookeeper.ssl") || key.starts_with("zookeeper.client.secure")) {
    return Error(Code::kUnsupported,
                 std::string(kLockPrefix) + std::string(key) +
                     ": the ZooKeeper client of this build has no TLS: reach ZooKeeper through a "
                     "tunnel on this machine, such as stunnel");
  }
  if (key == "zookeeper.retry-policy") {
    auto policy = ParseZkRetryPolicy(value);
    if (!policy) return Bad(key, policy.error().message());
    zk.policy = *policy;
    return {};
  }
  if (key == "zookeeper.max-retries") {
    IW_ASSIGN(zk.max_retries, ParseInt(key, value));
    return {};
  }
  static constexpr std::pair<std::string_view, Milliseconds ZkOptions::*> kTimes[] = {
      {"zookeeper.session-timeout-ms", &ZkOptions::session_timeout},
      {"zookeeper.connection-timeout-ms", &ZkOptions::connection_timeout},
      {"zookeeper.base-sleep-ms", &ZkOptions::base_sleep},
      {"zookeeper.max-sleep-ms", &ZkOptions::max_sleep},
  };
  for (const auto& [name, member] : kTimes) {
    if (name != key) continue;
    IW_ASSIGN(const int ms, ParseInt(key, value));
    zk.*member = Milliseconds(ms);
    return {};
  }
  return UnknownKey(key, kKeys);
}

Status SetJdbc(std::string_view key, const std::string& value, LockConfig& config) {
  const std::string_view name = key.substr(kJdbcPrefix.size());
  if (name == "uri") {
    config.jdbc_uri = value;
    return {};
  }
  if (name == "init-lock-table" || name == "init-lock-tables") {
    IW_ASSIGN(const bool init, ParseBool(key, value));
    config.init_lock_table = config.init_lock_table || init;
    if (name.ends_with('s')) {
      config.warnings.push_back(std::string(kLockPrefix) +
                                "jdbc.init-lock-tables is an old spelling: write " +
                                std::string(kLockPrefix) + "jdbc.init-lock-table");
    }
    return {};
  }
  config.jdbc[std::string(key)] = value;
  return {};
}

Status SetKey(std::string_view key, const std::string& value, LockConfig& config) {
  if (key == "type") {
    if (!value.empty() && value != "jdbc" && value != "zookeeper") {
      return Bad(key, "'" + value + "' is unknown; known are jdbc, zookeeper and nothing");
    }
    config.type = value;
    return {};
  }
  if (key == "lock-id") {
    config.lock_id = value.find_first_not_of(" \t") == std::string::npos ? "" : value;
    return {};
  }
  // Every statement that may run twice is repeated anyway, whatever the code of its failure.
  if (key == "retryable_status_codes") return {};
  if (key.starts_with(kJdbcPrefix)) return SetJdbc(key, value, config);
  return SetZookeeper(key, value, config.zookeeper);
}

Result<std::shared_ptr<LockFactory>> OpenSqlLocks(const LockConfig& config,
                                                  const std::string& lock_id,
                                                  const LockOptions& options,
                                                  LockConnections& connections) {
  if (config.jdbc_uri.empty()) return Bad("jdbc.uri", "a lock of type jdbc needs it");
  IW_ASSIGN(const SqlUrl url, ParseSqlUrl(config.jdbc_uri, config.jdbc));
  // A heartbeat that hangs must not outlast the lease.
  const Milliseconds patience =
      std::clamp(options.lease > Milliseconds(0) ? options.lease / 4 : Milliseconds(15'000),
                 Milliseconds(1'000), Milliseconds(15'000));
  IW_ASSIGN(auto store, connections.Sql(url, patience));
  return MakeSqlLocks(std::move(store), lock_id, options, config.init_lock_table);
}

}  // namespace

Result<LockConfig> ReadLockConfig(const std::map<std::string, std::string>& properties) {
  LockConfig config;
  for (const auto& [key, value] : properties) {
    if (!key.starts_with(kLockPrefix)) continue;
    IW_TRY(SetKey(std::string_view(key).substr(kLockPrefix.size()), value, config)
               .Within("lock configuration"));
  }
  const Status zookeeper = CheckZkOptions(config.zookeeper);
  if (!zookeeper) return zookeeper.error().Within("lock configuration: zookeeper");
  return config;
}

Status SetLockUri(std::string_view uri, LockConfig& config) {
  if (IsSqlUrl(uri)) {
    config.type = "jdbc";
    config.jdbc_uri = uri;
    return {};
  }
  constexpr std::string_view kZookeeper = "zookeeper:";
  if (uri.starts_with(kZookeeper)) {
    uri.remove_prefix(kZookeeper.size());
    if (uri.starts_with("//")) uri.remove_prefix(2);
    if (!uri.empty()) {
      config.type = "zookeeper";
      config.zookeeper.connect = uri;
      return {};
    }
  }
  return Error(Code::kInvalidArgument,
               "the lock's URI is none of jdbc:postgresql://.., jdbc:mysql://.., "
               "jdbc:mariadb://.., jdbc:sqlite:FILE, zookeeper://HOST:PORT");
}

Result<std::shared_ptr<LockFactory>> OpenLocks(const LockConfig& config,
                                               const std::string& table_name,
                                               const LockOptions& options,
                                               std::shared_ptr<MemoryLockTable> memory,
                                               LockConnections* connections) {
  LockConnections own;
  if (connections == nullptr) connections = &own;
  const std::string& lock_id = config.lock_id.empty() ? table_name : config.lock_id;
  if (config.type == "jdbc") {
    return OpenSqlLocks(config, lock_id, options, *connections);
  }
  if (config.type == "zookeeper") {
    if (config.zookeeper.connect.empty()) {
      return Bad(kZkUri, "a lock of type zookeeper needs it");
    }
    IW_ASSIGN(auto client, connections->ZooKeeper(config.zookeeper, *options.clock));
    return MakeZkLocks(std::move(client), lock_id, options);
  }
  if (memory == nullptr) return Bad("type", "no lock is configured");
  return MakeMemoryLocks(std::move(memory), lock_id, options);
}

std::optional<std::string> PlainTextWarning(const LockConfig& config) {
  if (config.type == "jdbc") {
    const auto url = ParseSqlUrl(config.jdbc_uri, config.jdbc);
    if (!url) return std::nullopt;
    const auto options = TranslateOptions(*url, UnknownOption::kIgnore);
    if (!options || !CrossesNetworkInPlain(*url, *options)) return std::nullopt;
    return url->Display() +
           " is reached without TLS: whoever is on the way can read the password and free locks; "
           "set sslmode (PostgreSQL) or sslMode (MySQL, MariaDB)";
  }
  if (config.type != "zookeeper") return std::nullopt;
  std::string_view rest = config.zookeeper.connect;
  rest = rest.substr(0, rest.find('/'));
  while (!rest.empty()) {
    const std::string_view server = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), server.size() + 1));
    if (!IsLoopback(server.substr(0, server.rfind(':')))) {
      return "ZooKeeper " + std::string(server) +
             " is reached without TLS: whoever is on the way can free locks";
    }
  }
  return std::nullopt;
}

}  // namespace icewright
