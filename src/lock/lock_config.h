#pragma once

/// \file lock/lock_config.h
/// Which lock a table has, in the words of Flink's table maintenance.
///
/// Java twin: LockConfig, LockFactoryBuilder.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lock/lock.h"
#include "lock/lock_connections.h"
#include "lock/memory_lock.h"
#include "lock/zookeeper/zk_options.h"

namespace icewright {

inline constexpr std::string_view kLockPrefix = "flink-maintenance.lock.";

struct LockConfig {
  std::string type;     ///< "": inside this process; "jdbc", "zookeeper".
  std::string lock_id;  ///< Empty: the table's full name.
  std::string jdbc_uri;
  std::map<std::string, std::string> jdbc;  ///< Driver properties, "jdbc.user" and so on.
  bool init_lock_table = false;
  ZkOptions zookeeper;
  std::vector<std::string> warnings;  ///< Old spellings and the like, each naming the current key.
};

/// Picks the keys flink-maintenance.lock.* and leaves all others. Strict: an unknown key or a value
/// that does not parse is kInvalidArgument, and names the nearest key. Values are taken as they
/// are: resolve secrets before. No message holds the value of a jdbc property.
Result<LockConfig> ReadLockConfig(const std::map<std::string, std::string>& properties);

/// Adds type and address from one URI: a JDBC or SQLAlchemy URL, "zookeeper://HOST:PORT,../chroot".
/// Errors: kInvalidArgument.
Status SetLockUri(std::string_view uri, LockConfig& config);

/// Opens the locks of a table. `memory` is for type "", and may be null: an error then.
/// `connections` are shared with other tables; null: the table gets its own. Errors:
/// kInvalidArgument, naming the key; those of the store.
Result<std::shared_ptr<LockFactory>> OpenLocks(const LockConfig& config,
                                               const std::string& table_name,
                                               const LockOptions& options,
                                               std::shared_ptr<MemoryLockTable> memory,
                                               LockConnections* connections = nullptr);

/// A warning for people if what goes to the lock's store can be read on the way.
std::optional<std::string> PlainTextWarning(const LockConfig& config);

}  // namespace icewright
