#pragma once

/// \file lock/lease_watch.h
/// The holder's side of a lease: until when is it proven that the lock is ours?

#include <functional>
#include <mutex>
#include <string>

#include "lock/lock.h"

namespace icewright {

/// Errors: kInvalidArgument for an empty lock id, a negative lease, an owner that is
/// too long.
Status CheckLockOptions(const std::string& lock_id, const LockOptions& options);

/// The store did not answer: what was asked for may have happened or not.
constexpr bool IsAway(Code code) {
  return code == Code::kUnavailable || code == Code::kCommitUnknown;
}

/// What each kind of lock does about time. Counts by the steady clock, from the moment before the
/// store was asked: a store's lease never ends before ours. Thread-safe.
class LeaseWatch {
 public:
  explicit LeaseWatch(const LockOptions& options)
      : clock_(*options.clock),
        lease_(options.lease > Milliseconds(0) ? options.lease : kPatience) {}

  /// The lock was proven to be ours by a call that began then.
  void Start(Milliseconds asked_at);

  /// Not held.
  void Reset();

  bool lost() const;

  /// Calls prove until it answers; true: ours, and the lease starts anew. While its error is
  /// kUnavailable (or kCommitUnknown) it is asked again, until the lease that was proven last ends.
  /// Errors: kLockLost, also for any later call; an error of another kind.
  Status Prove(const std::string& what, const std::function<Result<bool>()>& prove);

 private:
  Status CheckHeld(const std::string& what) const;
  Milliseconds LeaseEnd() const;
  Error Lose(const std::string& what, const std::string& why);

  // How long a silent store is asked where there is no lease.
  static constexpr Milliseconds kPatience{30'000};

  Clock& clock_;
  const Milliseconds lease_;
  mutable std::mutex mutex_;
  bool held_ = false;  // all guarded by mutex_
  bool lost_ = false;
  Milliseconds proven_at_{0};
};

}  // namespace icewright
