#include "database/driver_options.h"

#include <algorithm>
#include <charconv>
#include <span>
#include <string_view>

#include "base/text.h"

namespace icewright {
namespace {

// How a value is carried over. kNone: it steers what only the Java driver does.
enum class Rule : std::uint8_t {
  kNone,
  kLibpq,       // the same value
  kSwitch,      // true/false -> 1/0
  kSearchPath,  // a schema -> options=-csearch_path=...
  kServerType,  // JDBC's words for libpq's target_session_attrs
  kTlsIfTrue,   // true -> kOn, or kVerifyFull
  kVerifyIfTrue,
  kTlsMode,
  kCaFile,
  kCertificateFile,
  kKeyFile,
  kKeyPassword,
  kConnectSeconds,
  kConnectMillis,
  kAnswerSeconds,
  kAnswerMillis,
};

struct Row {
  std::string_view jdbc;
  Rule rule;
  std::string_view libpq = {};
};

constexpr Row kPostgresRows[] = {
    {"ssl", Rule::kVerifyIfTrue},
    {"sslmode", Rule::kTlsMode},
    {"sslrootcert", Rule::kCaFile},
    {"sslcert", Rule::kCertificateFile},
    {"sslkey", Rule::kKeyFile},
    {"sslpassword", Rule::kKeyPassword},
    {"ApplicationName", Rule::kLibpq, "application_name"},
    {"application_name", Rule::kLibpq, "application_name"},
    {"channelBinding", Rule::kLibpq, "channel_binding"},
    {"connectTimeout", Rule::kConnectSeconds},
    {"loginTimeout", Rule::kConnectSeconds},
    {"connect_timeout", Rule::kConnectSeconds},
    {"socketTimeout", Rule::kAnswerSeconds},
    {"currentSchema", Rule::kSearchPath},
    {"options", Rule::kLibpq, "options"},
    {"tcpKeepAlive", Rule::kSwitch, "keepalives"},
    {"targetServerType", Rule::kServerType, "target_session_attrs"},
    {"gssEncMode", Rule::kLibpq, "gssencmode"},
    {"kerberosServerName", Rule::kLibpq, "krbsrvname"},
    {"assumeMinServerVersion", Rule::kNone},
    {"autosave", Rule::kNone},
    {"binaryTransfer", Rule::kNone},
    {"cancelSignalTimeout", Rule::kNone},
    {"defaultRowFetchSize", Rule::kNone},
    {"loadBalanceHosts", Rule::kNone},
    {"logUnclosedConnections", Rule::kNone},
    {"preferQueryMode", Rule::kNone},
    {"prepareThreshold", Rule::kNone},
    {"preparedStatementCacheQueries", Rule::kNone},
    {"preparedStatementCacheSizeMiB", Rule::kNone},
    {"readOnly", Rule::kNone},
    {"reWriteBatchedInserts", Rule::kNone},
    {"stringtype", Rule::kNone},
};

constexpr Row kMariaDbRows[] = {
    {"useSSL", Rule::kTlsIfTrue},
    {"useSsl", Rule::kTlsIfTrue},
    {"requireSSL", Rule::kTlsIfTrue},
    {"verifyServerCertificate", Rule::kVerifyIfTrue},
    {"sslMode", Rule::kTlsMode},
    {"serverSslCert", Rule::kCaFile},
    {"connectTimeout", Rule::kConnectMillis},
    {"socketTimeout", Rule::kAnswerMillis},
    {"allowPublicKeyRetrieval", Rule::kNone},
    {"autoReconnect", Rule::kNone},
    {"cachePrepStmts", Rule::kNone},
    {"characterEncoding", Rule::kNone},
    {"connectionCollation", Rule::kNone},
    {"connectionTimeZone", Rule::kNone},
    {"permitMysqlScheme", Rule::kNone},
    {"rewriteBatchedStatements", Rule::kNone},
    {"serverTimezone", Rule::kNone},
    {"tcpKeepAlive", Rule::kNone},
    {"tcpNoDelay", Rule::kNone},
    {"useServerPrepStmts", Rule::kNone},
    {"useUnicode", Rule::kNone},
};

Result<Milliseconds> Span(std::string_view text, int unit_ms) {
  std::int64_t count = 0;
  const char* end = text.data() + text.size();
  if (text.empty() || std::from_chars(text.data(), end, count).ptr != end || count < 0 ||
      count > 86'400'000) {
    return Error(Code::kInvalidArgument, "'" + std::string(text) + "' is no length of time");
  }
  return Milliseconds(count * unit_ms);
}

Result<SqlTls> TlsMode(std::string_view text) {
  const std::string mode = ToLower(text);
  if (mode == "disable" || mode == "disabled") return SqlTls::kOff;
  if (mode == "allow" || mode == "prefer" || mode == "preferred") return SqlTls::kDriverDefault;
  if (mode == "require" || mode == "required" || mode == "trust") return SqlTls::kOn;
  if (mode == "verify-ca" || mode == "verify_ca") return SqlTls::kVerifyCa;
  if (mode == "verify-full" || mode == "verify_full" || mode == "verify_identity") {
    return SqlTls::kVerifyFull;
  }
  return Error(Code::kInvalidArgument,
               "'" + std::string(text) +
                   "' is unknown; known are disable, prefer, require, verify-ca and verify-full");
}

Result<std::string> SessionAttributes(std::string_view text) {
  const std::string type = ToLower(text);
  if (type == "any") return std::string("any");
  if (type == "primary" || type == "master") return std::string("primary");
  return Error(Code::kInvalidArgument,
               "'" + std::string(text) + "': a lock is written; known are any and primary");
}

// Drivers let sslmode decide where it is given; without it the strongest wish counts.
void Wish(SqlTls tls, DriverOptions& options) {
  if (static_cast<int>(tls) > static_cast<int>(options.tls)) options.tls = tls;
}

Status Apply(const Row& row, const std::string& value, DriverOptions& options) {
  const bool yes = ToLower(value) == "true" || value.empty();  // "?ssl" and "?ssl=" mean true
  switch (row.rule) {
    case Rule::kNone:
      return {};
    case Rule::kLibpq:
      options.libpq.emplace(row.libpq, value);
      return {};
    case Rule::kSwitch:
      options.libpq.emplace(row.libpq, yes ? "1" : "0");
      return {};
    case Rule::kSearchPath:
      options.libpq.emplace("options", "-csearch_path=" + value);
      return {};
    case Rule::kServerType: {
      IW_ASSIGN(std::string attributes, SessionAttributes(value));
      options.libpq.emplace(row.libpq, std::move(attributes));
      return {};
    }
    case Rule::kTlsIfTrue:
      if (yes) Wish(SqlTls::kOn, options);
      return {};
    case Rule::kVerifyIfTrue:
      if (yes) Wish(SqlTls::kVerifyFull, options);
      return {};
    case Rule::kTlsMode: {
      IW_ASSIGN(options.tls, TlsMode(value));
      return {};
    }
    case Rule::kCaFile:
      options.ca_file = value;
      return {};
    case Rule::kCertificateFile:
      options.certificate_file = value;
      return {};
    case Rule::kKeyFile:
      options.key_file = value;
      return {};
    case Rule::kKeyPassword:
      options.key_password = value;
      return {};
    case Rule::kConnectSeconds:
    case Rule::kConnectMillis: {
      IW_ASSIGN(const Milliseconds span, Span(value, row.rule == Rule::kConnectMillis ? 1 : 1000));
      if (span > Milliseconds(0)) options.connect_timeout = span;
      return {};
    }
    case Rule::kAnswerSeconds:
    case Rule::kAnswerMillis: {
      IW_ASSIGN(options.answer_timeout, Span(value, row.rule == Rule::kAnswerMillis ? 1 : 1000));
      return {};
    }
  }
  return {};
}

}  // namespace

Result<DriverOptions> TranslateOptions(const SqlUrl& url, UnknownOption unknown) {
  DriverOptions options;
  std::span<const Row> rows;
  if (url.dialect == SqlDialect::kPostgres) rows = kPostgresRows;
  if (url.dialect == SqlDialect::kMariaDb) rows = kMariaDbRows;
  const bool has_mode = url.options.contains("sslmode") || url.options.contains("sslMode");
  for (const auto& [key, value] : url.options) {
    const auto row = std::ranges::find_if(
        rows,
        [&, name = std::string_view(key)](const Row& candidate) { return candidate.jdbc == name; });
    if (row != rows.end()) {
      const bool overruled =
          has_mode && (row->rule == Rule::kTlsIfTrue || row->rule == Rule::kVerifyIfTrue);
      if (overruled) continue;
      const Status applied = Apply(*row, value, options);
      if (!applied) return applied.error().Within("driver property " + key);
    } else if (unknown == UnknownOption::kError) {
      return Error(Code::kInvalidArgument,
                   "driver property " + key +
                       " has no translation; the table \"driver "
                       "properties\" of docs/locks.md has those that are known: remove it, or name "
                       "what it stands for");
    }
  }
  return options;
}

bool IsLoopback(std::string_view host) {
  return host.empty() || host == "localhost" || host.starts_with("127.") || host == "::1" ||
         host.starts_with('/');
}

bool CrossesNetworkInPlain(const SqlUrl& url, const DriverOptions& options) {
  if (url.dialect == SqlDialect::kSqlite || IsLoopback(url.host)) return false;
  return options.tls == SqlTls::kDriverDefault || options.tls == SqlTls::kOff;
}

}  // namespace icewright
