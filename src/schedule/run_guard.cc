#include "schedule/run_guard.h"

#include <fmt/format.h>

#include <algorithm>

namespace icewright {
namespace {

// A lock without a lease is asked all the same: it may be freed by force.
Milliseconds IntervalOf(const RunRequest& request) {
  constexpr Milliseconds kWithoutLease{15'000};
  return request.lease > Milliseconds(0) ? HeartbeatInterval(request.lease) : kWithoutLease;
}

}  // namespace

RunGuard::RunGuard(const RunRequest& request)
    : request_(request),
      deadline_(request.max_run_time ? std::optional(request.time->Now() + *request.max_run_time)
                                     : std::nullopt),
      next_beat_(request.time->Now() + IntervalOf(request)),
      outer_(request.stop, [this] { source_.request_stop(); }),
      ticker_(std::clamp(IntervalOf(request), Milliseconds(1), Milliseconds(250)),
              [this] { Tick(); }) {}

Status RunGuard::MayWrite() {
  if (Overtime()) return Error(Code::kExhausted, "the run reached its time limit");
  const std::scoped_lock lock(mutex_);
  return Renew();
}

bool RunGuard::Overtime() {
  if (!deadline_ || request_.time->Now() < *deadline_) return false;
  Stop(StopReason::kDeadline);
  return true;
}

void RunGuard::Tick() {
  if (Overtime()) return;
  const std::scoped_lock lock(mutex_);
  if (request_.time->Now() < next_beat_) return;
  (void)Renew();  // a lost lock stops the run; the run's own next question reports it
}

// The mutex is held.
Status RunGuard::Renew() {
  if (lost_) return *lost_;
  const Status renewed = request_.lock->Renew();
  next_beat_ = request_.time->Now() + IntervalOf(request_);
  if (!renewed && renewed.error().code() == Code::kLockLost) {
    request_.log->Warning(fmt::format("run {} of {} on {}: {}", request_.run_id,
                                      request_.task->name(), request_.table,
                                      renewed.error().message()));
    lost_ = renewed.error();
    Stop(StopReason::kLockLost);
  }
  return renewed;
}

void RunGuard::Stop(StopReason reason) {
  if (source_.stop_requested()) return;
  reason_.store(reason);
  source_.request_stop();
}

}  // namespace icewright
