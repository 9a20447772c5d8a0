#include "base/clock.h"

#include <ctime>

namespace icewright {
namespace {

class SystemClock final : public Clock {
 public:
  TimePoint Now() override {
    return std::chrono::floor<Milliseconds>(std::chrono::system_clock::now());
  }

  Milliseconds Steady() override {
    timespec now{};
    ::clock_gettime(CLOCK_BOOTTIME, &now);
    return std::chrono::floor<Milliseconds>(std::chrono::seconds(now.tv_sec) +
                                            std::chrono::nanoseconds(now.tv_nsec));
  }

  void SleepFor(Milliseconds duration, std::stop_token stop) override {
    std::mutex mutex;
    std::condition_variable_any wake;
    std::unique_lock lock(mutex);
    wake.wait_for(lock, stop, duration, [] { return false; });
  }
};

}  // namespace

Clock& Clock::System() {
  static SystemClock clock;
  return clock;
}

}  // namespace icewright
