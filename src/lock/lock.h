#pragma once

/// \file lock/lock.h
/// Who may maintain a table: the locks that Flink's table maintenance takes, with an owner and a
/// lease that Flink does not see.
///
/// Java twin: TriggerLockFactory.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "base/result.h"

namespace icewright {

/// A table has two locks, which are independent of each other but for one rule: who wants the table
/// lock waits while a foreign recovery lock is held.
enum class LockKind : std::uint8_t { kTable, kRecovery };

/// What can be told about a lock that somebody holds, or nobody.
struct LockState {
  bool held = false;
  bool ours = false;     ///< Held by the object that was asked.
  std::string instance;  ///< Names this acquisition: a UUID. Empty where the holder left none.
  std::string owner;     ///< Empty: a client that leaves no name, such as a Flink job.
  std::optional<TimePoint> since;
  std::optional<TimePoint> lease_until;  ///< Unset: no lease; only force frees it.
  bool lease_over = false;               ///< The holder is dead; the next TryAcquire takes over.
};

/// How a client takes locks. What the pointers name must outlive the locks.
struct LockOptions {
  std::string owner = {};  ///< For people, at most 255 bytes: "icewright on db3, pid 4711".
  /// Without a heartbeat for so long, a holder counts as dead. 0: there is no lease, so that only
  /// force frees a dead holder's lock.
  Milliseconds lease{60'000};
  Clock* clock = &Clock::System();
  Random* random = nullptr;  ///< Unset: seeded by the machine.
  Log* log = &Log::Silent();
};

/// How often a holder should call Renew().
constexpr Milliseconds HeartbeatInterval(Milliseconds lease) { return lease / 4; }

/// One lock of one lock id, as one client sees it. Thread-safe. Destruction does not release.
///
/// Errors of all calls: kUnavailable: the store of the lock does not answer, and what was asked for
/// may have happened; the next call finds out. kDenied, kNotFound (the store lacks its table),
/// kCorrupt, kIo.
class MaintenanceLock {
 public:
  virtual ~MaintenanceLock() = default;

  /// Never waits for another holder. False: held by anybody, this object included; or, for a table
  /// lock, another holds the recovery lock. A lock whose lease is over is taken over and the log
  /// says so. A lock without a lease is never broken.
  virtual Result<bool> TryAcquire() = 0;

  /// True if anybody holds it, as Java's isHeld: also a holder whose lease is over.
  virtual Result<bool> IsHeld() = 0;

  /// The heartbeat, and the proof before each commit and each delete batch (RunOptions::may_write):
  /// asks the store whether the lock is still ours, and starts its lease anew. While the store
  /// does not answer it asks again until the lease ends. Errors: kLockLost: another one has or
  /// frees it, or the lease ended unproven; from then on it stays lost. Call from one run only.
  virtual Status Renew() = 0;

  /// Frees the lock if this object holds it; else does nothing. Says nothing about a lock that was
  /// lost meanwhile. After an error the lock is let go, and Renew says so, but others may still
  /// find it held: call again, or TryAcquire, which finishes the release before anything else.
  virtual Status Release() = 0;

  virtual Result<LockState> Inspect() = 0;

  /// Frees the lock whoever holds it, and returns what it was. For people who know that the holder
  /// is dead: a live one goes on until it asks again. Nobody holds it: does nothing.
  virtual Result<LockState> ForceRelease() = 0;
};

/// Both locks of one lock id, over one connection. Thread-safe. The locks may outlive it.
class LockFactory {
 public:
  LockFactory(std::shared_ptr<MaintenanceLock> table, std::shared_ptr<MaintenanceLock> recovery,
              Milliseconds lease)
      : table_(std::move(table)), recovery_(std::move(recovery)), lease_(lease) {}

  std::shared_ptr<MaintenanceLock> TableLock() const { return table_; }
  std::shared_ptr<MaintenanceLock> RecoveryLock() const { return recovery_; }

  /// What holders have to keep alive, by HeartbeatInterval: that of the options, or what the store
  /// agreed to. 0: none.
  Milliseconds lease() const { return lease_; }

 private:
  const std::shared_ptr<MaintenanceLock> table_;
  const std::shared_ptr<MaintenanceLock> recovery_;
  const Milliseconds lease_;
};

}  // namespace icewright
