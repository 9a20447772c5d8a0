#pragma once

/// \file lock/memory_lock.h
/// Locks inside one process: what a Flink job's coordinator does when no lock is configured.
///
/// Java twin: TriggerManagerCoordinator, LockRemoverCoordinator.

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "lock/lock.h"

namespace icewright {

/// Who holds what. Clients that are to exclude each other share one; it has no static state.
/// Thread-safe.
class MemoryLockTable {
 public:
  MemoryLockTable();
  ~MemoryLockTable();

  struct Row;
  struct Rows;

 private:
  friend class MemoryLock;
  std::unique_ptr<Rows> rows_;
};

/// Errors: kInvalidArgument for a lock id that is empty or a lease that is negative.
Result<std::shared_ptr<LockFactory>> MakeMemoryLocks(std::shared_ptr<MemoryLockTable> table,
                                                     std::string lock_id, LockOptions options);

}  // namespace icewright
