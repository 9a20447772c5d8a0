#pragma once

/// \file database/driver_options.h
/// Properties of JDBC drivers in the words of the native ones. docs/locks.md has the table.

#include <cstdint>
#include <map>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "database/sql_url.h"

namespace icewright {

enum class SqlTls : std::uint8_t {
  kDriverDefault,  ///< PostgreSQL: if the server offers it, without proof of who it is.
  kOff,
  kOn,  ///< Encrypted; the server's name is not proven.
  kVerifyCa,
  kVerifyFull,
};

/// The options of a URL, translated.
struct DriverOptions {
  SqlTls tls = SqlTls::kDriverDefault;
  std::string ca_file;
  std::string certificate_file;
  std::string key_file;
  std::string key_password;
  Milliseconds connect_timeout{10'000};
  Milliseconds answer_timeout{0};            ///< 0: waits for ever.
  std::map<std::string, std::string> libpq;  ///< Further parameters of libpq.
};

enum class UnknownOption : std::uint8_t { kError, kIgnore };

/// Errors: kInvalidArgument for a value that does not parse and, if asked for, an option that no
/// row of the table names.
Result<DriverOptions> TranslateOptions(const SqlUrl& url, UnknownOption unknown);

/// True if what is sent, the password included, may be read on the way.
bool CrossesNetworkInPlain(const SqlUrl& url, const DriverOptions& options);

/// True for this machine: "localhost", 127.0.0.0/8, ::1, a path (a socket file), nothing.
bool IsLoopback(std::string_view host);

}  // namespace icewright
