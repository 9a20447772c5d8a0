#pragma once

/// \file lock/lock_connections.h
/// Connections to the stores of locks that the tables of one program share: a thousand tables must
/// not open a thousand of them.

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.h"
#include "database/sql_store.h"
#include "lock/zookeeper/zk_client.h"

namespace icewright {

/// Thread-safe.
class LockConnections {
 public:
  /// At most this many to one store with the same settings: so that a heartbeat does not stand
  /// behind every other table's question.
  explicit LockConnections(std::size_t per_store = 4) : per_store_(per_store) {}

  /// As OpenSqlStore with a time limit for answers.
  Result<std::shared_ptr<SqlStore>> Sql(const SqlUrl& url, Milliseconds answer_timeout);

  /// As ZkClient::Connect. A session that ends ends the leases of all that share it.
  Result<std::shared_ptr<ZkClient>> ZooKeeper(const ZkOptions& options, Clock& clock);

 private:
  template <typename Connection, typename Open>
  Result<std::shared_ptr<Connection>> Get(
      std::map<std::string, std::vector<std::weak_ptr<Connection>>>& all, const std::string& key,
      Open open);

  const std::size_t per_store_;
  std::mutex mutex_;
  std::map<std::string, std::vector<std::weak_ptr<SqlStore>>> sql_;        // guarded by mutex_
  std::map<std::string, std::vector<std::weak_ptr<ZkClient>>> zookeeper_;  // guarded by mutex_
};

}  // namespace icewright
