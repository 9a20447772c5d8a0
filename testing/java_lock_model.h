#pragma once

/// \file testing/java_lock_model.h
/// The statements that Java's JdbcLockFactory sends, in their order, as an independent model.

#include <memory>
#include <string>
#include <utility>

#include "base/random.h"
#include "database/sql_store.h"

namespace icewright {

/// One lock of one Java job. Where Java throws, the calls return an error.
class JavaSqlLock {
 public:
  JavaSqlLock(std::shared_ptr<SqlStore> store, std::string type, std::string lock_id,
              Random& random)
      : store_(std::move(store)),
        type_(std::move(type)),
        lock_id_(std::move(lock_id)),
        random_(random) {}

  Result<bool> IsHeld() {
    IW_ASSIGN(const std::string instance, InstanceId());
    return !instance.empty();
  }

  Result<bool> TryLock() {
    IW_ASSIGN(const bool held, IsHeld());
    if (held) return false;
    const std::string instance = random_.NewUuid();
    const std::vector<SqlValue> values = {type_, lock_id_, instance};
    const auto inserted = store_->Execute(
        "INSERT INTO flink_maintenance_lock (LOCK_TYPE, LOCK_ID, INSTANCE_ID) VALUES (?, ?, ?)",
        values);
    if (inserted) return *inserted == 1;
    IW_ASSIGN(const std::string now, InstanceId());
    if (now == instance) return true;
    return inserted.error();  // "failed to create lock": the job restarts
  }

  /// Whoever holds it.
  Status Unlock() {
    IW_ASSIGN(const std::string instance, InstanceId());
    if (instance.empty()) return {};
    const std::vector<SqlValue> values = {type_, lock_id_, instance};
    IW_TRY(store_->Execute(
        "DELETE FROM flink_maintenance_lock WHERE LOCK_TYPE=? AND LOCK_ID=? AND INSTANCE_ID=?",
        values));
    return {};
  }

 private:
  Result<std::string> InstanceId() {
    const std::vector<SqlValue> values = {type_, lock_id_};
    IW_ASSIGN(const auto rows,
              store_->Query("SELECT INSTANCE_ID FROM flink_maintenance_lock WHERE LOCK_TYPE=? AND "
                            "LOCK_ID=?",
                            values));
    return rows.empty() ? std::string() : rows.front()[0].value_or("");
  }

  std::shared_ptr<SqlStore> store_;
  std::string type_;
  std::string lock_id_;
  Random& random_;
};

}  // namespace icewright
