#include "base/run_context.h"

#include <algorithm>
#include <utility>

namespace icewright {

void Progress::Enter(std::string_view phase, std::string_view unit,
                     std::optional<std::int64_t> total) {
  const std::scoped_lock lock(mutex_);
  head_ = View{.phase = std::string(phase), .unit = std::string(unit), .total = total};
  done_.store(0, std::memory_order_relaxed);
}

Progress::View Progress::Read() const {
  const std::scoped_lock lock(mutex_);
  View view = head_;
  view.done = done_.load(std::memory_order_relaxed);
  return view;
}

RunContext::RunContext(RunOptions options)
    : options_(std::move(options)), memory_(options_.memory_limit_bytes) {
  options_.threads = std::max(options_.threads, 1);
}

Status RunContext::Check() const {
  if (!options_.stop.stop_requested()) return {};
  const StopReason reason =
      options_.stop_reason != nullptr ? options_.stop_reason->load() : StopReason::kCancelled;
  switch (reason) {
    case StopReason::kDeadline:
      return Error(Code::kExhausted, "the run reached its time limit");
    case StopReason::kLockLost:
      return Error(Code::kLockLost, "the run lost its maintenance lock");
    case StopReason::kCancelled:
      break;
  }
  return Error(Code::kCancelled, "the run was cancelled");
}

Status RunContext::CheckMayWrite() const {
  IW_TRY(Check());
  return options_.may_write ? options_.may_write() : Status();
}

Status RunContext::SleepFor(Milliseconds duration) const {
  options_.clock->SleepFor(duration, options_.stop);
  return Check();
}

}  // namespace icewright
