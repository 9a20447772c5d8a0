#pragma once

/// \file base/log.h
/// The log, as an interface: the program decides where lines go.

#include <cstdint>
#include <string_view>

namespace icewright {

enum class LogLevel : std::uint8_t { kDebug, kInfo, kWarning, kError };

/// Thread-safe. Never given a secret.
class Log {
 public:
  virtual ~Log() = default;
  virtual void Write(LogLevel level, std::string_view message) = 0;

  void Debug(std::string_view message) { Write(LogLevel::kDebug, message); }
  void Info(std::string_view message) { Write(LogLevel::kInfo, message); }
  void Warning(std::string_view message) { Write(LogLevel::kWarning, message); }

  /// Drops every line.
  static Log& Silent();
};

}  // namespace icewright
