#pragma once

/// \file lock/sql/lease_table.h
/// Owners and leases of icewright's locks, in a table of our own that Flink does not see. All times
/// are the database server's, so clients need not agree on the hour.

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "database/sql_store.h"
#include "lock/lock.h"

namespace icewright {

/// 'm' and 'r', as Java writes them.
std::string LockTypeText(LockKind kind);

struct LeaseRow {
  std::string owner;
  TimePoint since;
  TimePoint until;
  bool over = false;
};

/// Rows by instance id. A row exists before its lock does, so that whoever dies in between leaves
/// no lock without a lease. A lease that somebody has claimed cannot be extended any more.
/// Thread-safe. Errors: those of SqlStore, kCommitUnknown included.
class LeaseTable {
 public:
  LeaseTable(std::shared_ptr<SqlStore> store, const LockOptions& options)
      : store_(std::move(store)), options_(options) {}

  /// Makes the table if it can. False, with one warning in the log: it may not; work without.
  Result<bool> Prepare();

  /// Why locks have no lease; once.
  void WarnOnce(const std::string& why);

  Status Insert(LockKind kind, const std::string& lock_id, const std::string& instance);

  /// False: the lease is gone or claimed.
  Result<bool> Extend(const std::string& instance);

  /// True: the lease is over, and its holder cannot extend it any more.
  Result<bool> Claim(const std::string& instance);

  Status Delete(const std::string& instance);

  /// Removes what dead clients left of this lock, but for `instance`.
  Status Sweep(LockKind kind, const std::string& lock_id, const std::string& instance);

  /// Unset: there is none, or no table. Makes nothing.
  Result<std::optional<LeaseRow>> Find(const std::string& instance);

 private:
  std::string Now() const;
  Result<bool> Exists();

  const std::shared_ptr<SqlStore> store_;
  const LockOptions options_;
  std::atomic<bool> exists_{false};
  std::atomic<bool> warned_{false};
};

/// Execute for statements that may run twice: asked again when the connection broke or the server
/// was away. Errors: never kCommitUnknown; kUnavailable then.
Result<std::int64_t> ExecuteTwice(SqlStore& store, std::string_view sql,
                                  std::span<const SqlValue> values);

}  // namespace icewright
