#include <libpq-fe.h>
#include <poll.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <mutex>
#include <utility>

#include "database/sql_store.h"

namespace icewright {
namespace {

struct CloseConnection {
  void operator()(PGconn* connection) const { PQfinish(connection); }
};
using Connection = std::unique_ptr<PGconn, CloseConnection>;

struct ClearAnswer {
  void operator()(PGresult* answer) const { PQclear(answer); }
};
using Answer = std::unique_ptr<PGresult, ClearAnswer>;

const char* SslMode(SqlTls tls) {
  switch (tls) {
    case SqlTls::kDriverDefault:
      return "prefer";
    case SqlTls::kOff:
      return "disable";
    case SqlTls::kOn:
      return "require";
    case SqlTls::kVerifyCa:
      return "verify-ca";
    case SqlTls::kVerifyFull:
      break;
  }
  return "verify-full";
}

// libpq's messages end in a line feed.
std::string Trimmed(const char* message) {
  std::string text = message == nullptr ? "" : message;
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

std::string Numbered(std::string_view sql) {
  std::string text;
  int number = 0;
  for (const char c : sql) {
    text += c == '?' ? "$" + std::to_string(++number) : std::string(1, c);
  }
  return text;
}

bool IsRolledBack(std::string_view state) { return state == "40001" || state == "40P01"; }

Code CodeOf(std::string_view state) {
  if (state == "23505") return Code::kAlreadyExists;
  if (state == "42501" || state.starts_with("28")) return Code::kDenied;
  if (state.starts_with("22")) return Code::kInvalidArgument;
  if (state == "3D000") return Code::kNotFound;
  if (IsRolledBack(state) || state.starts_with("53") || state.starts_with("57")) {
    return Code::kUnavailable;
  }
  return Code::kIo;
}

class PostgresStore final : public SqlStore {
 public:
  PostgresStore(SqlUrl url, DriverOptions options)
      : url_(std::move(url)), options_(std::move(options)) {}

  SqlDialect dialect() const override { return SqlDialect::kPostgres; }
  std::string Display() const override { return url_.Display(); }

  Result<std::vector<SqlRow>> Query(std::string_view sql,
                                    std::span<const SqlValue> values) override {
    const std::scoped_lock lock(mutex_);
    Result<Answer> answer = Send(sql, values);
    // Reading twice harms nobody.
    if (!answer && answer.error().code() == Code::kCommitUnknown) answer = Send(sql, values);
    if (!answer) {
      if (answer.error().code() != Code::kCommitUnknown) return answer.error();
      return Error(Code::kUnavailable, answer.error().message());
    }
    std::vector<SqlRow> rows;
    for (int i = 0; i < PQntuples(answer->get()); ++i) {
      SqlRow row;
      for (int j = 0; j < PQnfields(answer->get()); ++j) {
        if (PQgetisnull(answer->get(), i, j) != 0) {
          row.emplace_back();
        } else {
          row.emplace_back(std::string(PQgetvalue(answer->get(), i, j),
                                       static_cast<std::size_t>(PQgetlength(answer->get(), i, j))));
        }
      }
      rows.push_back(std::move(row));
    }
    return rows;
  }

  Result<std::int64_t> Execute(std::string_view sql, std::span<const SqlValue> values) override {
    const std::scoped_lock lock(mutex_);
    IW_ASSIGN(const Answer answer, Send(sql, values));
    const char* count = PQcmdTuples(answer.get());
    std::int64_t rows = 0;  // stays 0 for statements that count none
    std::from_chars(count, count + std::strlen(count), rows);
    return rows;
  }

  Result<std::vector<std::string>> ColumnsOf(std::string_view table) override {
    const std::vector<SqlValue> values = {std::string(table)};
    IW_ASSIGN(const auto rows,
              Query("SELECT lower(attname) FROM pg_attribute WHERE attrelid = to_regclass(?) AND "
                    "attnum > 0 AND NOT attisdropped ORDER BY attnum",
                    values));
    std::vector<std::string> names;
    for (const SqlRow& row : rows) names.push_back(row[0].value_or(""));
    return names;
  }

  Status Connect() {
    const std::scoped_lock lock(mutex_);
    return ConnectLocked();
  }

 private:
  Status ConnectLocked() {
    if (connection_ != nullptr && PQstatus(connection_.get()) == CONNECTION_OK) return {};
    const std::string timeout = std::to_string(std::max<std::int64_t>(
        1, std::chrono::ceil<std::chrono::seconds>(options_.connect_timeout).count()));
    std::vector<const char*> keys;
    std::vector<const char*> values;
    const auto add = [&](const char* key, const std::string& value) {
      if (value.empty()) return;
      keys.push_back(key);
      values.push_back(value.c_str());
    };
    add("host", url_.host);
    add("port", url_.port);
    add("dbname", url_.database);
    add("user", url_.user);
    add("password", url_.password);
    add("connect_timeout", timeout);
    const std::string ssl_mode = SslMode(options_.tls);
    add("sslmode", ssl_mode);
    add("sslrootcert", options_.ca_file);
    add("sslcert", options_.certificate_file);
    add("sslkey", options_.key_file);
    add("sslpassword", options_.key_password);
    for (const auto& [key, value] : options_.libpq) add(key.c_str(), value);
    keys.push_back("client_encoding");
    values.push_back("UTF8");
    keys.push_back(nullptr);
    values.push_back(nullptr);
    connection_.reset(PQconnectdbParams(keys.data(), values.data(), 0));
    if (connection_ != nullptr && PQstatus(connection_.get()) == CONNECTION_OK) {
      // Notices ("relation exists, skipping") are no news for the error stream.
      PQsetNoticeProcessor(
          connection_.get(), [](void*, const char*) {}, nullptr);
      return {};
    }
    const std::string message = Trimmed(PQerrorMessage(connection_.get()));
    // libpq gives no SQLSTATE for a connection that did not come about.
    Code code = Code::kUnavailable;
    if (message.find("authentication failed") != std::string::npos ||
        message.find("no password supplied") != std::string::npos ||
        message.find("no pg_hba.conf entry") != std::string::npos) {
      code = Code::kDenied;
    } else if (message.find("does not exist") != std::string::npos) {
      code = Code::kNotFound;
    }
    return Error(code, "cannot connect to " + url_.Display() + ": " + message);
  }

  // Errors: kCommitUnknown if the connection broke.
  Result<Answer> Send(std::string_view sql, std::span<const SqlValue> values) {
    const std::string text = Numbered(sql);
    std::vector<const char*> raw;
    for (const SqlValue& value : values) raw.push_back(value ? value->c_str() : nullptr);
    for (int attempt = 1;; ++attempt) {
      IW_TRY(ConnectLocked());
      Answer answer = SendOnce(text, raw);
      const ExecStatusType status = PQresultStatus(answer.get());
      if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK) return answer;
      const std::string message =
          url_.Display() + ": " + Trimmed(PQerrorMessage(connection_.get()));
      if (answer == nullptr || PQstatus(connection_.get()) != CONNECTION_OK) {
        connection_.reset();  // an answer that comes too late must not be taken for the next one
        return Error(Code::kCommitUnknown,
                     message.ends_with(": ") ? url_.Display() + ": no answer in time" : message);
      }
      const char* field = PQresultErrorField(answer.get(), PG_DIAG_SQLSTATE);
      const std::string_view state = field == nullptr ? "" : field;
      if (!IsRolledBack(state) || attempt == kSqlAttempts) return Error(CodeOf(state), message);
    }
  }

  // Null: the connection broke, or no answer came in time.
  Answer SendOnce(const std::string& text, const std::vector<const char*>& values) {
    PGconn* const connection = connection_.get();
    const int count = static_cast<int>(values.size());
    if (options_.answer_timeout <= Milliseconds(0)) {
      return Answer(PQexecParams(connection, text.c_str(), count, nullptr, values.data(), nullptr,
                                 nullptr, 0));
    }
    if (PQsendQueryParams(connection, text.c_str(), count, nullptr, values.data(), nullptr, nullptr,
                          0) != 1) {
      return nullptr;
    }
    Clock& clock = Clock::System();
    const Milliseconds end = clock.Steady() + options_.answer_timeout;
    Answer answer;
    for (;;) {
      while (PQisBusy(connection) == 1) {
        pollfd readable{.fd = PQsocket(connection), .events = POLLIN, .revents = 0};
        const Milliseconds left = end - clock.Steady();
        if (left <= Milliseconds(0) || ::poll(&readable, 1, static_cast<int>(left.count())) == 0) {
          return nullptr;
        }
        if (PQconsumeInput(connection) != 1) return nullptr;
      }
      Answer next(PQgetResult(connection));
      if (next == nullptr) return answer;
      answer = std::move(next);
    }
  }

  std::mutex mutex_;
  Connection connection_;  // guarded by mutex_
  const SqlUrl url_;
  const DriverOptions options_;
};

}  // namespace

Result<std::shared_ptr<SqlStore>> OpenPostgresStore(const SqlUrl& url,
                                                    const DriverOptions& options) {
  auto store = std::make_shared<PostgresStore>(url, options);
  IW_TRY(store->Connect());
  return store;
}

}  // namespace icewright
