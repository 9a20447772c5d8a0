#include "base/log.h"

namespace icewright {

Log& Log::Silent() {
  class SilentLog final : public Log {
    void Write(LogLevel, std::string_view) override {}
  };
  static SilentLog log;
  return log;
}

}  // namespace icewright
