#pragma once

/// \file icewright/table_lock.h
/// The maintenance lock that a command takes before it changes a table.

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "icewright/session.h"
#include "lock/lock_config.h"
#include "lock/lock_keeper.h"

namespace icewright::cli {

/// Which lock, as flags.
struct LockFlags {
  std::string uri = {};
  std::string id = {};
  std::vector<std::string> properties = {};  ///< "KEY=VALUE"
  std::string wait = "0s";
  std::string lease = "60s";

  /// --lock-uri, --lock-id, --lock-property; for commands that take the lock also --lock-wait and
  /// --lock-lease.
  void Define(CLI::App& app, bool takes_lock);
};

/// A lock that is configured or given, and not yet taken.
struct ConfiguredLock {
  LockConfig config;
  std::string lock_id;
  std::shared_ptr<LockFactory> locks;
};

/// `table`: catalog.namespace.table or a path; may be empty if the flags name the lock. The keys
/// flink-maintenance.lock.* of the table's catalog count, the flags win. Unset: there is no lock.
Result<std::optional<ConfiguredLock>> OpenTableLock(Session& session, const LockFlags& flags,
                                                    const std::string& table);

/// The table lock for the length of a run: heartbeats, and a stop when it is lost. Frees it when
/// destroyed.
class HeldTableLock {
 public:
  /// Null: no lock is configured. Errors: kLockHeld after --lock-wait.
  static Result<std::unique_ptr<HeldTableLock>> Take(Session& session, const LockFlags& flags,
                                                     const std::string& table);
  ~HeldTableLock();
  HeldTableLock(const HeldTableLock&) = delete;
  HeldTableLock& operator=(const HeldTableLock&) = delete;

 private:
  HeldTableLock(Session& session, ConfiguredLock lock);

  Session& session_;
  ConfiguredLock lock_;
  LockKeeper keeper_;
};

}  // namespace icewright::cli
