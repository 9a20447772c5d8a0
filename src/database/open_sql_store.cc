#include "database/sql_store.h"

namespace icewright {

Result<std::shared_ptr<SqlStore>> OpenSqlStore(const SqlUrl& url) {
  switch (url.dialect) {
    case SqlDialect::kSqlite:
      return OpenSqliteStore(url);
    case SqlDialect::kPostgres:
      return OpenPostgresStore(url);
    case SqlDialect::kMariaDb:
      return OpenMariaDbStore(url);
  }
  return Error(Code::kInternal, "no such dialect");
}

}  // namespace icewright
