#include <sqlite3.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/text.h"
#include "database/sql_store.h"

namespace icewright {
namespace {

// Java and PyIceberg may hold the file's lock for the length of their transactions.
constexpr int kBusyTimeoutMs = 10'000;

struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
};
using Database = std::unique_ptr<sqlite3, CloseDatabase>;

struct FinalizeStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;

Code CodeOf(int extended) {
  switch (extended & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return Code::kUnavailable;
    case SQLITE_CONSTRAINT:
      return Code::kAlreadyExists;  // NOT NULL and the like cannot be violated by our statements
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return Code::kDenied;
    case SQLITE_CANTOPEN:
      return Code::kNotFound;
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      return Code::kCorrupt;
    default:
      return Code::kIo;
  }
}

class SqliteStore final : public SqlStore {
 public:
  SqliteStore(Database database, std::string display)
      : database_(std::move(database)), display_(std::move(display)) {}

  SqlDialect dialect() const override { return SqlDialect::kSqlite; }
  std::string Display() const override { return display_; }

  Result<std::vector<SqlRow>> Query(std::string_view sql,
                                    std::span<const SqlValue> values) override {
    const std::scoped_lock lock(mutex_);
    std::vector<SqlRow> rows;
    IW_TRY(ForEachRow(sql, values, [&](sqlite3_stmt* statement) {
      SqlRow row;
      for (int i = 0; i < sqlite3_column_count(statement); ++i) {
        const void* text = sqlite3_column_text(statement, i);
        if (text == nullptr) {
          row.emplace_back();
        } else {
          row.emplace_back(
              std::string(static_cast<const char*>(text),
                          static_cast<std::size_t>(sqlite3_column_bytes(statement, i))));
        }
      }
      rows.push_back(std::move(row));
    }));
    return rows;
  }

  Result<std::int64_t> Execute(std::string_view sql, std::span<const SqlValue> values) override {
    const std::scoped_lock lock(mutex_);
    IW_TRY(ForEachRow(sql, values, [](sqlite3_stmt*) {}));
    return static_cast<std::int64_t>(sqlite3_changes(database_.get()));
  }

  Result<std::vector<std::string>> ColumnsOf(std::string_view table) override {
    const std::vector<SqlValue> values = {std::string(table)};
    IW_ASSIGN(const auto rows, Query("SELECT name FROM pragma_table_info(?)", values));
    std::vector<std::string> names;
    for (const SqlRow& row : rows) names.push_back(ToLower(row[0].value_or("")));
    return names;
  }

 private:
  Error LastError() const {
    return {CodeOf(sqlite3_extended_errcode(database_.get())),
            display_ + ": " + sqlite3_errmsg(database_.get())};
  }

  template <typename Visit>
  Status ForEachRow(std::string_view sql, std::span<const SqlValue> values, Visit visit) {
    sqlite3_stmt* raw = nullptr;
    if (sqlite3_prepare_v2(database_.get(), sql.data(), static_cast<int>(sql.size()), &raw,
                           nullptr) != SQLITE_OK) {
      return LastError();
    }
    const Statement statement(raw);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const int place = static_cast<int>(i) + 1;
      const int bound = values[i]
                            ? sqlite3_bind_text(raw, place, values[i]->data(),
                                                static_cast<int>(values[i]->size()), SQLITE_STATIC)
                            : sqlite3_bind_null(raw, place);
      if (bound != SQLITE_OK) return LastError();
    }
    for (;;) {
      const int step = sqlite3_step(raw);
      if (step == SQLITE_DONE) return {};
      if (step != SQLITE_ROW) return LastError();
      visit(raw);
    }
  }

  std::mutex mutex_;
  Database database_;  // guarded by mutex_
  const std::string display_;
};

}  // namespace

Result<std::shared_ptr<SqlStore>> OpenSqliteStore(const SqlUrl& url, const DriverOptions& options) {
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX;
  if (url.file.starts_with("file:")) flags |= SQLITE_OPEN_URI;
  sqlite3* raw = nullptr;
  const int opened = sqlite3_open_v2(url.file.c_str(), &raw, flags, nullptr);
  Database database(raw);
  if (opened != SQLITE_OK) {
    return Error(CodeOf(opened), "cannot open " + url.Display() + ": " + sqlite3_errstr(opened));
  }
  const auto wanted = static_cast<int>(options.answer_timeout.count());
  sqlite3_busy_timeout(raw, wanted > 0 ? std::min(wanted, kBusyTimeoutMs) : kBusyTimeoutMs);
  return std::make_shared<SqliteStore>(std::move(database), url.Display());
}

}  // namespace icewright
