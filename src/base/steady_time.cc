#include "base/steady_time.h"

namespace icewright {
namespace {

class SystemSource final : public SteadySource {
 public:
  Milliseconds Elapsed() override {
    return std::chrono::floor<Milliseconds>(std::chrono::steady_clock::now().time_since_epoch());
  }
};

}  // namespace

SteadySource& SteadySource::System() {
  static SystemSource source;
  return source;
}

}  // namespace icewright
