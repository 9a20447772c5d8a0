#include "lock/lock_connections.h"

#include <algorithm>

namespace icewright {
namespace {

void Add(std::string& key, const std::string& part) {
  key += part;
  key += '\0';
}

std::string KeyOf(const SqlUrl& url, Milliseconds answer_timeout) {
  std::string key;
  Add(key, std::to_string(static_cast<int>(url.dialect)));
  for (const std::string* part :
       {&url.file, &url.host, &url.port, &url.database, &url.user, &url.password}) {
    Add(key, *part);
  }
  for (const auto& [name, value] : url.options) Add(key, name + "=" + value);
  Add(key, std::to_string(answer_timeout.count()));
  return key;
}

std::string KeyOf(const ZkOptions& options) {
  std::string key;
  Add(key, options.connect);
  for (const std::int64_t n :
       {options.session_timeout.count(), options.connection_timeout.count(),
        options.base_sleep.count(), options.max_sleep.count(), std::int64_t{options.max_retries},
        static_cast<std::int64_t>(options.policy)}) {
    Add(key, std::to_string(n));
  }
  return key;
}

// The one with the fewest users.
template <typename Connection>
std::shared_ptr<Connection> LeastUsed(const std::vector<std::weak_ptr<Connection>>& all) {
  const auto best = std::ranges::min_element(all, {}, &std::weak_ptr<Connection>::use_count);
  return best == all.end() ? nullptr : best->lock();
}

}  // namespace

template <typename Connection, typename Open>
Result<std::shared_ptr<Connection>> LockConnections::Get(
    std::map<std::string, std::vector<std::weak_ptr<Connection>>>& all, const std::string& key,
    Open open) {
  const auto find = [&]() -> std::shared_ptr<Connection> {
    auto& known = all[key];
    std::erase_if(known, [](const auto& connection) { return connection.expired(); });
    return known.size() < per_store_ ? nullptr : LeastUsed(known);
  };
  {
    const std::scoped_lock lock(mutex_);
    if (auto found = find()) return found;
  }
  // Not under the mutex: a store that does not answer must not hold up the others.
  IW_ASSIGN(std::shared_ptr<Connection> opened, open());
  const std::scoped_lock lock(mutex_);
  if (auto found = find()) return found;
  all[key].push_back(opened);
  return opened;
}

Result<std::shared_ptr<SqlStore>> LockConnections::Sql(const SqlUrl& url,
                                                       Milliseconds answer_timeout) {
  return Get(sql_, KeyOf(url, answer_timeout), [&] {
    return OpenSqlStore(url, {.unknown = UnknownOption::kError, .answer_timeout = answer_timeout});
  });
}

Result<std::shared_ptr<ZkClient>> LockConnections::ZooKeeper(const ZkOptions& options,
                                                             Clock& clock) {
  return Get(zookeeper_, KeyOf(options), [&] { return ZkClient::Connect(options, clock); });
}

}  // namespace icewright
