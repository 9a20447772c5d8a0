#include <errmsg.h>
#include <mysql.h>
#include <mysqld_error.h>

#include <algorithm>
#include <charconv>
#include <deque>
#include <functional>
#include <mutex>
#include <utility>

#include "base/text.h"
#include "database/sql_store.h"

namespace icewright {
namespace {

struct CloseConnection {
  void operator()(MYSQL* connection) const { mysql_close(connection); }
};
using Connection = std::unique_ptr<MYSQL, CloseConnection>;

struct CloseStatement {
  void operator()(MYSQL_STMT* statement) const { mysql_stmt_close(statement); }
};
using Statement = std::unique_ptr<MYSQL_STMT, CloseStatement>;

bool IsBroken(unsigned error) {
  return error == CR_SERVER_GONE_ERROR || error == CR_SERVER_LOST || error == CR_CONN_HOST_ERROR ||
         error == CR_SERVER_HANDSHAKE_ERR || error == ER_SERVER_SHUTDOWN ||
         error == ER_CONNECTION_KILLED;
}

bool IsRolledBack(unsigned error) {
  return error == ER_LOCK_DEADLOCK || error == ER_LOCK_WAIT_TIMEOUT;
}

Code CodeOf(unsigned error) {
  if (IsBroken(error) || IsRolledBack(error)) return Code::kUnavailable;
  switch (error) {
    case ER_DUP_ENTRY:
    case ER_DUP_UNIQUE:
      return Code::kAlreadyExists;
    case ER_ACCESS_DENIED_ERROR:
    case ER_DBACCESS_DENIED_ERROR:
    case ER_TABLEACCESS_DENIED_ERROR:
      return Code::kDenied;
    case ER_BAD_DB_ERROR:
      return Code::kNotFound;
    case ER_DATA_TOO_LONG:
    case ER_TRUNCATED_WRONG_VALUE_FOR_FIELD:
      return Code::kInvalidArgument;
    case ER_CON_COUNT_ERROR:
    case CR_CONNECTION_ERROR:
    case CR_UNKNOWN_HOST:
    case CR_IPSOCK_ERROR:
      return Code::kUnavailable;
    default:
      return Code::kIo;
  }
}

// Rows that a statement sends back, all as text.
Result<std::vector<SqlRow>> FetchRows(MYSQL_STMT* statement, const std::function<Error()>& error) {
  const unsigned columns = mysql_stmt_field_count(statement);
  std::vector<SqlRow> rows;
  if (columns == 0) return rows;
  if (mysql_stmt_store_result(statement) != 0) return error();
  std::vector<MYSQL_BIND> binds(columns);
  std::vector<unsigned long> lengths(columns);
  std::deque<my_bool> nulls(columns);
  for (unsigned i = 0; i < columns; ++i) {
    binds[i] = {};
    binds[i].buffer_type = MYSQL_TYPE_STRING;
    binds[i].length = &lengths[i];
    binds[i].is_null = &nulls[i];
  }
  if (mysql_stmt_bind_result(statement, binds.data()) != 0) return error();
  for (;;) {
    // Without a buffer each value is "truncated", but its length is told.
    const int fetched = mysql_stmt_fetch(statement);
    if (fetched == MYSQL_NO_DATA) return rows;
    if (fetched != 0 && fetched != MYSQL_DATA_TRUNCATED) return error();
    SqlRow row;
    for (unsigned i = 0; i < columns; ++i) {
      if (nulls[i] != 0) {
        row.emplace_back();
        continue;
      }
      std::string text(lengths[i], '\0');
      MYSQL_BIND bind{};
      bind.buffer_type = MYSQL_TYPE_STRING;
      bind.buffer = text.data();
      bind.buffer_length = lengths[i];
      if (!text.empty() && mysql_stmt_fetch_column(statement, &bind, i, 0) != 0) return error();
      row.emplace_back(std::move(text));
    }
    rows.push_back(std::move(row));
  }
}

class MariaDbStore final : public SqlStore {
 public:
  MariaDbStore(SqlUrl url, DriverOptions options)
      : url_(std::move(url)), options_(std::move(options)) {}

  SqlDialect dialect() const override { return SqlDialect::kMariaDb; }
  std::string Display() const override { return url_.Display(); }

  Result<std::vector<SqlRow>> Query(std::string_view sql,
                                    std::span<const SqlValue> values) override {
    const std::scoped_lock lock(mutex_);
    Result<Answer> answer = Send(sql, values);
    // Reading twice harms nobody.
    if (!answer && answer.error().code() == Code::kCommitUnknown) answer = Send(sql, values);
    if (answer) return std::move(answer->rows);
    if (answer.error().code() != Code::kCommitUnknown) return answer.error();
    return Error(Code::kUnavailable, answer.error().message());
  }

  Result<std::int64_t> Execute(std::string_view sql, std::span<const SqlValue> values) override {
    const std::scoped_lock lock(mutex_);
    IW_ASSIGN(const Answer answer, Send(sql, values));
    return answer.matched;
  }

  Result<std::vector<std::string>> ColumnsOf(std::string_view table) override {
    const std::vector<SqlValue> values = {std::string(table)};
    IW_ASSIGN(const auto rows,
              Query("SELECT column_name FROM information_schema.columns WHERE table_schema = "
                    "database() AND lower(table_name) = ? ORDER BY ordinal_position",
                    values));
    std::vector<std::string> names;
    for (const SqlRow& row : rows) names.push_back(ToLower(row[0].value_or("")));
    return names;
  }

  Status Connect() {
    const std::scoped_lock lock(mutex_);
    return ConnectLocked();
  }

 private:
  struct Answer {
    std::vector<SqlRow> rows;
    std::int64_t matched = 0;
  };

  void SetOptions(MYSQL* connection) const {
    const auto seconds = [](Milliseconds span) {
      return static_cast<unsigned>(
          std::max<std::int64_t>(1, std::chrono::ceil<std::chrono::seconds>(span).count()));
    };
    const unsigned connect = seconds(options_.connect_timeout);
    mysql_options(connection, MYSQL_OPT_CONNECT_TIMEOUT, &connect);
    if (options_.answer_timeout > Milliseconds(0)) {
      const unsigned answer = seconds(options_.answer_timeout);
      mysql_options(connection, MYSQL_OPT_READ_TIMEOUT, &answer);
      mysql_options(connection, MYSQL_OPT_WRITE_TIMEOUT, &answer);
    }
    mysql_options(connection, MYSQL_SET_CHARSET_NAME, "utf8mb4");
    if (options_.tls == SqlTls::kDriverDefault || options_.tls == SqlTls::kOff) return;
    const my_bool yes = 1;
    mysql_options(connection, MYSQL_OPT_SSL_ENFORCE, &yes);
    if (!options_.ca_file.empty()) {
      mysql_options(connection, MYSQL_OPT_SSL_CA, options_.ca_file.c_str());
    }
    const my_bool verify = options_.tls == SqlTls::kOn ? 0 : 1;
    mysql_options(connection, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &verify);
  }

  Status ConnectLocked() {
    if (connection_ != nullptr) return {};
    static std::once_flag library;
    std::call_once(library, [] { mysql_library_init(0, nullptr, nullptr); });
    unsigned port = 0;
    const char* end = url_.port.data() + url_.port.size();
    if (!url_.port.empty() && std::from_chars(url_.port.data(), end, port).ptr != end) {
      return Error(Code::kInvalidArgument, "uri: '" + url_.port + "' is no port");
    }
    Connection fresh(mysql_init(nullptr));
    if (fresh == nullptr) return Error(Code::kExhausted, "no memory for a connection");
    SetOptions(fresh.get());
    // As JDBC: an UPDATE counts the rows that match, not those that change.
    if (mysql_real_connect(fresh.get(), url_.host.empty() ? "127.0.0.1" : url_.host.c_str(),
                           url_.user.c_str(), url_.password.c_str(), url_.database.c_str(), port,
                           nullptr, CLIENT_FOUND_ROWS) == nullptr) {
      return Error(CodeOf(mysql_errno(fresh.get())),
                   "cannot connect to " + url_.Display() + ": " + mysql_error(fresh.get()));
    }
    connection_ = std::move(fresh);
    return {};
  }

  // Errors: kCommitUnknown if the connection broke while the statement ran.
  Result<Answer> Send(std::string_view sql, std::span<const SqlValue> values) {
    for (int attempt = 1;; ++attempt) {
      IW_TRY(ConnectLocked());
      unsigned error = 0;
      Result<Answer> answer = SendOnce(sql, values, error);
      if (answer) return answer;
      if (IsBroken(error)) connection_.reset();
      // A connection that broke before the statement was sent is just made again.
      const bool again = IsRolledBack(error) || answer.error().code() == Code::kUnavailable;
      if (!again || attempt == kSqlAttempts) return answer;
    }
  }

  Result<Answer> SendOnce(std::string_view sql, std::span<const SqlValue> values, unsigned& error) {
    const Statement statement(mysql_stmt_init(connection_.get()));
    if (statement == nullptr) return Error(Code::kExhausted, "no memory for a statement");
    const auto failure = [&] {
      error = mysql_stmt_errno(statement.get());
      return Error(CodeOf(error), url_.Display() + ": " + mysql_stmt_error(statement.get()));
    };
    if (mysql_stmt_prepare(statement.get(), sql.data(), sql.size()) != 0) return failure();
    std::vector<MYSQL_BIND> binds(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      binds[i] = {};
      binds[i].buffer_type = values[i] ? MYSQL_TYPE_STRING : MYSQL_TYPE_NULL;
      if (!values[i]) continue;
      binds[i].buffer = const_cast<char*>(values[i]->data());
      binds[i].buffer_length = values[i]->size();
    }
    if (!binds.empty() && mysql_stmt_bind_param(statement.get(), binds.data()) != 0) {
      return failure();
    }
    const auto unknown_if_broken = [&] {
      const Error cause = failure();
      return IsBroken(error) ? Error(Code::kCommitUnknown, cause.message()) : cause;
    };
    if (mysql_stmt_execute(statement.get()) != 0) return unknown_if_broken();
    Answer answer;
    answer.matched = static_cast<std::int64_t>(mysql_stmt_affected_rows(statement.get()));
    IW_ASSIGN(answer.rows, FetchRows(statement.get(), unknown_if_broken));
    return answer;
  }

  std::mutex mutex_;
  Connection connection_;  // guarded by mutex_
  const SqlUrl url_;
  const DriverOptions options_;
};

}  // namespace

Result<std::shared_ptr<SqlStore>> OpenMariaDbStore(const SqlUrl& url,
                                                   const DriverOptions& options) {
  auto store = std::make_shared<MariaDbStore>(url, options);
  IW_TRY(store->Connect());
  return store;
}

}  // namespace icewright
