#pragma once

/// \file database/sql_url.h
/// Where a database is, in the spellings of JDBC and of PyIceberg (SQLAlchemy).

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace icewright {

/// Options by name, as catalogs and locks have them.
using SqlProperties = std::map<std::string, std::string>;

enum class SqlDialect : std::uint8_t { kSqlite, kPostgres, kMariaDb };

struct SqlUrl {
  SqlDialect dialect = SqlDialect::kSqlite;
  std::string file;  ///< SQLite: a path, ":memory:" or a "file:" URI.
  std::string host;  ///< Empty: the driver's default.
  std::string port;
  std::string database;
  std::string user;
  std::string password;
  std::map<std::string, std::string> options;  ///< What follows '?', and `jdbc.` properties.

  /// For messages: without user, password and options.
  std::string Display() const;
};

/// Reads jdbc:sqlite:FILE, jdbc:postgresql://HOST:PORT/DB?user=.., jdbc:mysql://..,
/// jdbc:mariadb://.., sqlite:///FILE (relative; four slashes: absolute),
/// postgresql[+driver]://USER:PW@HOST/DB, mysql[+driver]://.., mariadb[+driver]://... `properties`
/// may add jdbc.user, jdbc.password and other jdbc. options; the URL wins. Errors:
/// kInvalidArgument. No message holds a secret.
Result<SqlUrl> ParseSqlUrl(std::string_view uri, const SqlProperties& properties);

/// True if ParseSqlUrl would know the scheme.
bool IsSqlUrl(std::string_view uri);

}  // namespace icewright
