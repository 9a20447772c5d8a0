#include <algorithm>

#include "database/sql_store.h"

namespace icewright {

Result<std::shared_ptr<SqlStore>> OpenSqlStore(const SqlUrl& url, const SqlOpenOptions& options) {
  IW_ASSIGN(DriverOptions driver, TranslateOptions(url, options.unknown));
  if (driver.answer_timeout <= Milliseconds(0) ||
      (options.answer_timeout > Milliseconds(0) &&
       options.answer_timeout < driver.answer_timeout)) {
    driver.answer_timeout = options.answer_timeout;
  }
  // Connecting again is part of the answer.
  if (options.answer_timeout > Milliseconds(0)) {
    driver.connect_timeout = std::min(driver.connect_timeout, options.answer_timeout);
  }
  switch (url.dialect) {
    case SqlDialect::kSqlite:
      return OpenSqliteStore(url, driver);
    case SqlDialect::kPostgres:
      return OpenPostgresStore(url, driver);
    case SqlDialect::kMariaDb:
      return OpenMariaDbStore(url, driver);
  }
  return Error(Code::kInternal, "no such dialect");
}

}  // namespace icewright
