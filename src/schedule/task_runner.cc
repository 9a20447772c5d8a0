#include "schedule/task_runner.h"

#include <utility>

#include "base/guarded.h"
#include "schedule/run_guard.h"

namespace icewright {

std::optional<Progress::View> RunView::Read() const {
  const std::scoped_lock lock(mutex_);
  if (run_ == nullptr) return told_;
  return run_->progress().Read();
}

void RunView::Tell(std::optional<Progress::View> view) {
  const std::scoped_lock lock(mutex_);
  told_ = std::move(view);
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
  const Status status = Guarded([&]() -> Status {
    IW_TRY(run.Check());
    IW_ASSIGN(Table table, request.load(run));
    return request.task->Execute(run, table, report);
  });
  if (request.view != nullptr) request.view->Show(nullptr);
  return status;
}

}  // namespace icewright
