#pragma once

/// \file database/sql_store.h
/// A database of users, as statements. Behind the SQL catalog, the SQL lock and the run store.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "database/driver_options.h"
#include "database/sql_url.h"

namespace icewright {

using SqlValue = std::optional<std::string>;  ///< Unset: NULL.
using SqlRow = std::vector<SqlValue>;

/// One database, by one connection that is made again when it breaks. Each statement is its own
/// transaction. Values are always bound: statements hold '?' for them. Thread-safe.
///
/// Errors of all calls: kUnavailable: nothing was done (no connection, busy, deadlock; asked again
/// a few times already). kDenied, kInvalidArgument (a value is too long), kIo: nothing was done.
class SqlStore {
 public:
  virtual ~SqlStore() = default;

  virtual SqlDialect dialect() const = 0;

  /// For messages: "PostgreSQL db3:5432/prod".
  virtual std::string Display() const = 0;

  virtual Result<std::vector<SqlRow>> Query(std::string_view sql,
                                            std::span<const SqlValue> values) = 0;

  /// Number of rows that matched. Errors: also kAlreadyExists: a key is taken. kCommitUnknown: the
  /// connection broke after the statement was sent; it may have taken effect.
  virtual Result<std::int64_t> Execute(std::string_view sql, std::span<const SqlValue> values) = 0;

  /// Names of a table's columns in lower case; none if there is no such table.
  virtual Result<std::vector<std::string>> ColumnsOf(std::string_view table) = 0;
};

struct SqlOpenOptions {
  UnknownOption unknown = UnknownOption::kIgnore;

  /// A server that does not answer a statement for so long is away. 0: waits for ever, unless the
  /// URL says otherwise. Connecting takes no longer either.
  Milliseconds answer_timeout{0};
};

/// Connects. Errors: kUnavailable, kDenied, kNotFound, kUnsupported; kInvalidArgument for options
/// (see TranslateOptions). No message holds a password.
Result<std::shared_ptr<SqlStore>> OpenSqlStore(const SqlUrl& url,
                                               const SqlOpenOptions& options = {});

/// One per driver; OpenSqlStore picks.
Result<std::shared_ptr<SqlStore>> OpenSqliteStore(const SqlUrl& url, const DriverOptions& options);
Result<std::shared_ptr<SqlStore>> OpenPostgresStore(const SqlUrl& url,
                                                    const DriverOptions& options);
Result<std::shared_ptr<SqlStore>> OpenMariaDbStore(const SqlUrl& url, const DriverOptions& options);

/// How often a statement that was rolled back as a whole (deadlock, serialization) is sent.
inline constexpr int kSqlAttempts = 4;

}  // namespace icewright
