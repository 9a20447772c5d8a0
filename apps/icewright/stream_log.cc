#include "icewright/stream_log.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <ostream>

namespace icewright::cli {
namespace {

std::string_view Word(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "debug";
    case LogLevel::kInfo:
      return "info";
    case LogLevel::kWarning:
      return "warning";
    case LogLevel::kError:
      return "error";
  }
  return "";
}

}  // namespace

void StreamLog::Write(LogLevel level, std::string_view message) {
  if (level == LogLevel::kDebug) return;
  const std::int64_t now = ToMillis(clock_.Now());
  const std::string line = fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z {:<7} {}\n",
                                       fmt::gmtime(static_cast<std::time_t>(now / 1000)),
                                       now % 1000, Word(level), message);
  const std::scoped_lock lock(mutex_);
  out_ << line << std::flush;
}

}  // namespace icewright::cli
