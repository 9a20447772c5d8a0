#include "database/sql_url.h"

#include <optional>

#include "base/bytes.h"
#include "base/text.h"

namespace icewright {
namespace {

constexpr std::string_view kJdbc = "jdbc:";
constexpr std::string_view kKnown =
    "known are jdbc:sqlite:, jdbc:postgresql:, jdbc:mysql:, jdbc:mariadb:, sqlite:, postgresql:, "
    "mysql:, mariadb:";

struct Scheme {
  SqlDialect dialect;
  bool jdbc;
  std::string_view rest;  // after the colon
};

std::optional<Scheme> ReadScheme(std::string_view uri) {
  const bool jdbc = uri.starts_with(kJdbc);
  if (jdbc) uri.remove_prefix(kJdbc.size());
  const auto colon = uri.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  // "postgresql+psycopg2": the driver is Python's business.
  const std::string name = ToLower(uri.substr(0, std::min(colon, uri.find('+'))));
  const std::string_view rest = uri.substr(colon + 1);
  if (name == "sqlite") return Scheme{SqlDialect::kSqlite, jdbc, rest};
  if (name == "postgresql" || name == "postgres") {
    return Scheme{SqlDialect::kPostgres, jdbc, rest};
  }
  if (name == "mysql" || name == "mariadb") return Scheme{SqlDialect::kMariaDb, jdbc, rest};
  return std::nullopt;
}

std::string PercentDecoded(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      if (const auto byte = FromHex(text.substr(i + 1, 2))) {
        decoded += *byte;
        i += 2;
        continue;
      }
    }
    decoded += text[i];
  }
  return decoded;
}

void ReadOptions(std::string_view query, SqlUrl& url) {
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), pair.size() + 1));
    const auto equals = pair.find('=');
    if (pair.empty()) continue;
    const std::string_view value =
        equals == std::string_view::npos ? std::string_view() : pair.substr(equals + 1);
    url.options[PercentDecoded(pair.substr(0, equals))] = PercentDecoded(value);
  }
}

std::string TakeOption(SqlUrl& url, const std::string& key) {
  const auto node = url.options.extract(key);
  return node.empty() ? std::string() : node.mapped();
}

// "[::1]:5432", "db:5432", "db".
void ReadHostAndPort(std::string_view text, SqlUrl& url) {
  std::size_t from = 0;
  if (text.starts_with('[')) {
    const auto close = text.find(']');
    if (close == std::string_view::npos) return;
    url.host = text.substr(1, close - 1);
    from = close + 1;
  } else {
    url.host = text.substr(0, text.find(':'));
    from = url.host.size();
  }
  if (from < text.size() && text[from] == ':') url.port = text.substr(from + 1);
}

// "USER:PASSWORD@HOST:PORT/DATABASE?OPTIONS"
void ReadServer(std::string_view rest, SqlUrl& url) {
  const auto question = rest.find('?');
  if (question != std::string_view::npos) {
    ReadOptions(rest.substr(question + 1), url);
    rest = rest.substr(0, question);
  }
  const auto slash = rest.find('/');
  if (slash != std::string_view::npos) url.database = PercentDecoded(rest.substr(slash + 1));
  std::string_view authority = rest.substr(0, slash);
  if (const auto at = authority.rfind('@'); at != std::string_view::npos) {
    const std::string_view login = authority.substr(0, at);
    authority.remove_prefix(at + 1);
    const auto colon = login.find(':');
    url.user = PercentDecoded(login.substr(0, colon));
    if (colon != std::string_view::npos) url.password = PercentDecoded(login.substr(colon + 1));
  }
  ReadHostAndPort(authority, url);
}

Status ReadSqlite(const Scheme& scheme, SqlUrl& url) {
  std::string_view rest = scheme.rest;
  if (!scheme.jdbc) {
    // SQLAlchemy: two slashes and an empty host, then a path: "sqlite:///rel", "sqlite:////abs".
    if (!rest.starts_with("//")) {
      return Error(Code::kInvalidArgument,
                   "uri: sqlite: needs slashes, as in sqlite:////path/x.db");
    }
    rest.remove_prefix(2);
    if (rest.starts_with('/')) rest.remove_prefix(1);
    rest = rest.substr(0, rest.find('?'));
  } else if (!rest.starts_with("file:")) {
    rest = rest.substr(0, rest.find('?'));  // options of the Java driver
  }
  url.file = rest.empty() ? ":memory:" : std::string(rest);
  return {};
}

}  // namespace

std::string SqlUrl::Display() const {
  if (dialect == SqlDialect::kSqlite) return "SQLite " + file.substr(0, file.find('?'));
  const std::string server = (host.empty() ? "localhost" : host) + (port.empty() ? "" : ":" + port);
  const std::string name = dialect == SqlDialect::kPostgres ? "PostgreSQL " : "MariaDB ";
  return name + server + "/" + database;
}

Result<SqlUrl> ParseSqlUrl(std::string_view uri, const SqlProperties& properties) {
  const auto scheme = ReadScheme(uri);
  if (!scheme) {
    const auto colon = uri.find(':', uri.starts_with(kJdbc) ? kJdbc.size() : 0);
    return Error(Code::kInvalidArgument,
                 "uri: '" +
                     std::string(uri.substr(0, colon == std::string_view::npos ? 0 : colon)) +
                     "' is no database; " + std::string(kKnown));
  }
  SqlUrl url;
  url.dialect = scheme->dialect;
  if (url.dialect == SqlDialect::kSqlite) {
    IW_TRY(ReadSqlite(*scheme, url));
    return url;
  }
  // JDBC has the short form "jdbc:postgresql:database", too.
  if (scheme->rest.starts_with("//")) {
    ReadServer(scheme->rest.substr(2), url);
  } else {
    ReadServer("/" + std::string(scheme->rest), url);
  }
  if (url.database.empty()) {
    return Error(Code::kInvalidArgument, "uri: the name of the database is missing");
  }
  constexpr std::string_view kPrefix = "jdbc.";
  for (const auto& [key, value] : properties) {
    if (key.starts_with(kPrefix)) url.options.emplace(key.substr(kPrefix.size()), value);
  }
  const std::string user = TakeOption(url, "user");
  const std::string password = TakeOption(url, "password");
  if (url.user.empty()) url.user = user;
  if (url.password.empty()) url.password = password;
  return url;
}

bool IsSqlUrl(std::string_view uri) { return ReadScheme(uri).has_value(); }

}  // namespace icewright
