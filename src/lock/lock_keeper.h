#pragma once

/// \file lock/lock_keeper.h
/// Holds a lock for the length of a run.

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/executor.h"
#include "base/run_context.h"
#include "lock/lock.h"

namespace icewright {

/// "icewright on HOST, pid 4711"
std::string ThisProcessAsOwner();

/// "lock db.t is held by icewright on db3, pid 7, since 2026-11-30T07:00:00Z, ..."
std::string HolderText(const std::string& lock_id, const LockState& state);

/// Tries until the lock is ours or `wait` is over. A store that does not answer is tried again,
/// too. Errors: kLockHeld, naming the holder; those of TryAcquire and of a stop.
Status AcquireWithin(RunContext& run, MaintenanceLock& lock, const std::string& lock_id,
                     Milliseconds wait);

/// Sends heartbeats on a thread of its own, from construction to Release(). Thread-safe.
class LockKeeper {
 public:
  /// `lock` is held. `on_lost` is called once, from the thread that notices.
  LockKeeper(std::shared_ptr<MaintenanceLock> lock, Milliseconds lease,
             std::function<void(const Error&)> on_lost);
  ~LockKeeper();

  /// For RunOptions::may_write. Errors: kLockLost, those of Renew.
  Status MayWrite();

  /// Ends the heartbeats and frees the lock.
  Status Release();

 private:
  void Tell(const Error& error);

  const std::shared_ptr<MaintenanceLock> lock_;
  const std::function<void(const Error&)> on_lost_;
  std::once_flag told_;
  std::optional<Ticker> heartbeat_;  // last: it is joined before the rest goes
};

}  // namespace icewright
