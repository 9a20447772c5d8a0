#pragma once

/// \file testing/sql_servers.h
/// Real servers for suites named *Service*: databases and ZooKeeper.

#include <string>
#include <string_view>

namespace icewright {

/// A server on this machine that is up.
struct SqlServer {
  std::string host;
  std::string port;
  std::string user;
  std::string password;  ///< Empty: none is asked for.
  std::string database;
};

/// Started when first asked for (tools/services/) and shared by all test programs of this build; it
/// stops soon after the last of them ended. Tests keep apart by names: see UniqueName(). Aborts the
/// test program if the server does not start.
const SqlServer& PostgresServer();
const SqlServer& MariaDbServer();

/// "HOST:PORT", likewise. Sessions may be as short as 400 ms.
const std::string& ZookeeperServer();

/// "PREFIX-PID-N": no other test of this machine gets the same.
std::string UniqueName(std::string_view prefix);

}  // namespace icewright
