#pragma once

/// \file icewright/stream_log.h
/// The log of the service: one line per message, with time and level.

#include <iosfwd>
#include <mutex>

#include "base/clock.h"
#include "base/log.h"

namespace icewright::cli {

/// Thread-safe.
class StreamLog final : public Log {
 public:
  StreamLog(std::ostream& out, Clock& clock) : out_(out), clock_(clock) {}
  void Write(LogLevel level, std::string_view message) override;

 private:
  std::ostream& out_;  // guarded by mutex_
  Clock& clock_;
  std::mutex mutex_;
};

}  // namespace icewright::cli
