#include "base/executor_pool.h"

#include <utility>

namespace icewright {

WorkerPool::~WorkerPool() {
  {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }
  threads_.clear();  // joins
}

void WorkerPool::Submit(std::function<void()> work) {
  if (limit_ == 0) return work();
  const std::scoped_lock lock(mutex_);
  queue_.push_back(std::move(work));
  if (static_cast<int>(queue_.size()) > idle_ && static_cast<int>(threads_.size()) < limit_) {
    try {
      threads_.emplace_back([this] { Loop(); });
    } catch (...) {
      // The threads there are do the work, later.
      if (threads_.empty()) {
        queue_.pop_back();
        throw;
      }
    }
  }
  changed_.notify_one();
}

void WorkerPool::Loop() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    changed_.wait(lock, [&] { return closed_ || !queue_.empty(); });
    --idle_;
    if (queue_.empty()) return;
    const std::function<void()> work = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    work();
    lock.lock();
  }
}

void WakeSignal::Notify() {
  const std::scoped_lock lock(mutex_);
  wait_.request_stop();
}

void WakeSignal::WaitFor(Clock& clock, Milliseconds duration, const std::stop_token& stop) {
  std::stop_token token;
  {
    const std::scoped_lock lock(mutex_);
    token = wait_.get_token();
  }
  {
    const std::stop_callback forward(stop, [this] { Notify(); });
    clock.SleepFor(duration, token);
  }
  const std::scoped_lock lock(mutex_);
  wait_ = std::stop_source();
}

}  // namespace icewright
