#include "lock/lock_keeper.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

namespace icewright {
namespace {

std::string TimeText(TimePoint time) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(ToMillis(time) / 1000));
}

}  // namespace

std::string ThisProcessAsOwner() {
  std::array<char, 200> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  return fmt::format("icewright on {}, pid {}", host.data(), ::getpid());
}

std::string HolderText(const std::string& lock_id, const LockState& state) {
  if (!state.held) return fmt::format("lock {} is free", lock_id);
  std::string text = fmt::format("lock {} is held by ", lock_id);
  if (state.owner.empty()) {
    text += "a client that leaves no name, such as a Flink job";
    if (!state.instance.empty()) text += fmt::format(" (instance {})", state.instance);
  } else {
    text += state.owner;
  }
  if (state.since) text += fmt::format(", since {}", TimeText(*state.since));
  if (state.lease_over) {
    text += ", whose lease is over: the next icewright that wants the lock takes it";
  } else if (state.lease_until) {
    text += fmt::format(", lease until {}", TimeText(*state.lease_until));
  } else {
    text += "; it has no lease: if its holder is dead, 'icewright lock release --force' frees it";
  }
  return text;
}

Status AcquireWithin(RunContext& run, MaintenanceLock& lock, const std::string& lock_id,
                     Milliseconds wait) {
  constexpr Milliseconds kPause{500};
  Milliseconds left = wait;
  for (;;) {
    IW_TRY(run.Check());
    const Result<bool> got = lock.TryAcquire();
    if (got && *got) return {};
    if (!got && got.error().code() != Code::kUnavailable) return got.error();
    if (left <= Milliseconds(0)) {
      if (!got) return got.error();
      const auto state = lock.Inspect();
      // Held by a recovery, or freed this moment.
      if (!state || !state->held) {
        return Error(
            Code::kLockHeld,
            fmt::format("lock {} is taken: another client holds it, or recovers", lock_id));
      }
      return Error(Code::kLockHeld, HolderText(lock_id, *state));
    }
    const Milliseconds pause = std::min(left, kPause);
    IW_TRY(run.SleepFor(pause));
    left -= pause;
  }
}

LockKeeper::LockKeeper(std::shared_ptr<MaintenanceLock> lock, Milliseconds lease,
                       std::function<void(const Error&)> on_lost)
    : lock_(std::move(lock)), on_lost_(std::move(on_lost)) {
  if (lease > Milliseconds(0)) {
    heartbeat_.emplace(std::max(HeartbeatInterval(lease), Milliseconds(1)),
                       [this] { (void)MayWrite(); });
  }
}

LockKeeper::~LockKeeper() = default;

void LockKeeper::Tell(const Error& error) {
  std::call_once(told_, [&] {
    if (on_lost_) on_lost_(error);
  });
}

Status LockKeeper::MayWrite() {
  const Status renewed = lock_->Renew();
  if (!renewed && renewed.error().code() == Code::kLockLost) Tell(renewed.error());
  return renewed;
}

Status LockKeeper::Release() {
  heartbeat_.reset();
  return lock_->Release();
}

}  // namespace icewright
