#pragma once

/// \file lock/sql/sql_lock.h
/// Locks in the table flink_maintenance_lock of a database, with Java's statements.
///
/// Java twin: JdbcLockFactory.

#include <memory>
#include <string>

#include "database/sql_store.h"
#include "lock/lock.h"

namespace icewright {

/// A lock is held if and only if its row exists. `init_table` makes the table if it is missing.
/// Errors: kInvalidArgument for a lock id that is empty or of 100 characters and more; kNotFound if
/// the table is missing and not to be made; those of SqlStore.
Result<std::shared_ptr<LockFactory>> MakeSqlLocks(std::shared_ptr<SqlStore> store,
                                                  const std::string& lock_id,
                                                  const LockOptions& options, bool init_table);

}  // namespace icewright
