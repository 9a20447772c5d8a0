#include "schedule/task_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/executor.h"

namespace icewright {
namespace {

// Watches over one run: its lock, its time, and those who want it to stop.
class RunGuard {
 public:
  explicit RunGuard(const RunRequest& request)
      : request_(request),
        deadline_(request.max_run_time ? std::optional(request.time->Now() + *request.max_run_time)
                                       : std::nullopt),
        next_beat_(request.time->Now() + HeartbeatInterval(request.lease)),
        outer_(request.stop, [this] { source_.request_stop(); }),
        ticker_(std::clamp(HeartbeatInterval(request.lease), Milliseconds(1), Milliseconds(250)),
                [this] { Tick(); }) {}

  std::stop_token stop() const { return source_.get_token(); }
  const std::atomic<StopReason>* reason() const { return &reason_; }

  Status MayWrite() {
    if (Overtime()) return Error(Code::kExhausted, "the run reached its time limit");
    const std::scoped_lock lock(mutex_);
    return Renew();
  }

 private:
  bool Overtime() {
    if (!deadline_ || request_.time->Now() < *deadline_) return false;
    Stop(StopReason::kDeadline);
    return true;
  }

  void Tick() {
    if (Overtime()) return;
    const std::scoped_lock lock(mutex_);
    if (request_.time->Now() < next_beat_) return;
    (void)Renew();  // a lost lock stops the run; the run's own next question reports it
  }

  Status Renew() {
    const Status renewed = request_.lock->Renew();
    next_beat_ = request_.time->Now() + HeartbeatInterval(request_.lease);
    if (!renewed && renewed.error().code() == Code::kLockLost) {
      request_.log->Warning(fmt::format("run {} of {} on {}: {}", request_.run_id,
                                        request_.task->name(), request_.table,
                                        renewed.error().message()));
      Stop(StopReason::kLockLost);
    }
    return renewed;
  }

  void Stop(StopReason reason) {
    if (source_.stop_requested()) return;
    reason_.store(reason);
    source_.request_stop();
  }

  const RunRequest& request_;
  const std::optional<TimePoint> deadline_;
  std::atomic<StopReason> reason_{StopReason::kCancelled};
  std::stop_source source_;
  std::mutex mutex_;
  TimePoint next_beat_;  // guarded by mutex_
  std::stop_callback<std::function<void()>> outer_;
  Ticker ticker_;
};

}  // namespace

std::optional<Progress::View> RunView::Read() const {
  const std::scoped_lock lock(mutex_);
  if (run_ == nullptr) return {};
  return run_->progress().Read();
}

void RunView::Show(RunContext* run) {
  const std::scoped_lock lock(mutex_);
  run_ = run;
}

Status InProcessRunner::Run(const RunRequest& request, TaskReport& report) {
  RunGuard guard(request);
  RunContext run({.stop = guard.stop(),
                  .stop_reason = guard.reason(),
                  .clock = request.clock,
                  .memory_limit_bytes = request.memory_limit_bytes,
                  .threads = request.threads,
                  .log = request.log,
                  .may_write = [&guard] { return guard.MayWrite(); }});
  if (request.view != nullptr) request.view->Show(&run);
  const Status status = executor_internal::Guarded([&]() -> Status {
    IW_TRY(run.Check());
    IW_ASSIGN(Table table, request.load(run));
    return request.task->Execute(run, table, report);
  });
  if (request.view != nullptr) request.view->Show(nullptr);
  return status;
}

}  // namespace icewright
