#include "lock/lease_watch.h"

#include <algorithm>

namespace icewright {

Status CheckLockOptions(const std::string& lock_id, const LockOptions& options) {
  if (lock_id.empty()) return Error(Code::kInvalidArgument, "a lock needs an id: set lock-id");
  if (options.lease < Milliseconds(0)) {
    return Error(Code::kInvalidArgument, "the lease of a lock cannot be negative");
  }
  if (options.owner.size() > 255) {
    return Error(Code::kInvalidArgument, "the owner's name of a lock is longer than 255 bytes");
  }
  return {};
}

void LeaseWatch::Start(Milliseconds asked_at) {
  const std::scoped_lock lock(mutex_);
  held_ = true;
  lost_ = false;
  proven_at_ = asked_at;
}

void LeaseWatch::Reset() {
  const std::scoped_lock lock(mutex_);
  held_ = false;
  lost_ = false;
}

bool LeaseWatch::lost() const {
  const std::scoped_lock lock(mutex_);
  return lost_;
}

Error LeaseWatch::Lose(const std::string& what, const std::string& why) {
  {
    const std::scoped_lock lock(mutex_);
    lost_ = true;
  }
  return {Code::kLockLost, what + " is lost: " + why};
}

Status LeaseWatch::Prove(const std::string& what, const std::function<Result<bool>()>& prove) {
  const Milliseconds pause = std::clamp(lease_ / 20, Milliseconds(10), Milliseconds(500));
  for (;;) {
    const Milliseconds asked_at = clock_.Steady();
    IW_TRY(CheckHeld(what));
    const Result<bool> ours = prove();
    if (ours && !*ours) return Lose(what, "another client has or freed it");
    const Milliseconds now = clock_.Steady();
    if (ours && now < asked_at + lease_) {
      const std::scoped_lock lock(mutex_);
      proven_at_ = std::max(proven_at_, asked_at);
      return {};
    }
    if (!ours && !IsAway(ours.error().code())) return ours.error();
    if (now + pause >= LeaseEnd()) {
      return Lose(what, "its lease ended before the store answered" +
                            (ours ? std::string() : ": " + ours.error().message()));
    }
    clock_.SleepFor(pause, {});
  }
}

Status LeaseWatch::CheckHeld(const std::string& what) const {
  const std::scoped_lock lock(mutex_);
  if (!held_) return Error(Code::kLockLost, what + " is not held");
  if (lost_) return Error(Code::kLockLost, what + " was lost before");
  return {};
}

Milliseconds LeaseWatch::LeaseEnd() const {
  const std::scoped_lock lock(mutex_);
  return proven_at_ + lease_;
}

}  // namespace icewright
