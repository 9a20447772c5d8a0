#include "lock/sql/lease_table.h"

#include <charconv>

namespace icewright {
namespace {

constexpr std::string_view kTable = "icewright_lock_lease";
constexpr std::string_view kCreate =
    "CREATE TABLE IF NOT EXISTS icewright_lock_lease (instance_id CHAR(36) NOT NULL, "
    "lock_type CHAR(1) NOT NULL, lock_id VARCHAR(100) NOT NULL, owner VARCHAR(255) NOT NULL, "
    "since_ms BIGINT NOT NULL, lease_until_ms BIGINT NOT NULL, PRIMARY KEY (instance_id))";

TimePoint TimeOf(const SqlValue& value) {
  std::int64_t ms = 0;
  if (value) std::from_chars(value->data(), value->data() + value->size(), ms);
  return FromMillis(ms);
}

}  // namespace

std::string LockTypeText(LockKind kind) { return kind == LockKind::kTable ? "m" : "r"; }

Result<std::int64_t> ExecuteTwice(SqlStore& store, std::string_view sql,
                                  std::span<const SqlValue> values) {
  auto done = store.Execute(sql, values);
  if (!done && done.error().code() != Code::kDenied) done = store.Execute(sql, values);
  if (!done && done.error().code() == Code::kCommitUnknown) {
    return Error(Code::kUnavailable, done.error().message());
  }
  return done;
}

// An expression for the server's milliseconds since 1970. SQLite has no server.
std::string LeaseTable::Now() const {
  switch (store_->dialect()) {
    case SqlDialect::kSqlite:
      break;
    case SqlDialect::kPostgres:
      return "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)";
    case SqlDialect::kMariaDb:
      return "(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000)";
  }
  return std::to_string(ToMillis(options_.clock->Now()));
}

Result<bool> LeaseTable::Exists() {
  if (exists_) return true;
  IW_ASSIGN(const auto columns, store_->ColumnsOf(kTable));
  exists_ = !columns.empty();
  return exists_.load();
}

Result<bool> LeaseTable::Prepare() {
  IW_ASSIGN(bool exists, Exists());
  if (exists) return true;
  const auto made = store_->Execute(kCreate, {});
  IW_ASSIGN(exists, Exists());  // another client may have been faster
  if (exists) return true;
  if (!made && made.error().code() == Code::kUnavailable) return made.error();
  WarnOnce(made ? "it does not appear when it is made" : made.error().message());
  return false;
}

void LeaseTable::WarnOnce(const std::string& why) {
  if (warned_.exchange(true)) return;
  options_.log->Warning(store_->Display() + ": table icewright_lock_lease cannot be used (" + why +
                        "): locks have no lease; if their holder dies, only 'icewright lock "
                        "release --force' frees them");
}

Status LeaseTable::Insert(LockKind kind, const std::string& lock_id, const std::string& instance) {
  const std::vector<SqlValue> values = {instance, LockTypeText(kind), lock_id, options_.owner};
  const std::string now = Now();
  IW_TRY(store_->Execute(
      "INSERT INTO icewright_lock_lease (instance_id, lock_type, lock_id, owner, since_ms, "
      "lease_until_ms) VALUES (?, ?, ?, ?, " +
          now + ", " + now + " + " + std::to_string(options_.lease.count()) + ")",
      values));
  return {};
}

Result<bool> LeaseTable::Extend(const std::string& instance) {
  const std::vector<SqlValue> values = {instance};
  IW_ASSIGN(const std::int64_t rows,
            ExecuteTwice(*store_,
                         "UPDATE icewright_lock_lease SET lease_until_ms = " + Now() + " + " +
                             std::to_string(options_.lease.count()) +
                             " WHERE instance_id = ? AND lease_until_ms > 0",
                         values));
  return rows == 1;
}

Result<bool> LeaseTable::Claim(const std::string& instance) {
  const std::vector<SqlValue> values = {instance};
  IW_ASSIGN(const std::int64_t rows,
            ExecuteTwice(*store_,
                         "UPDATE icewright_lock_lease SET lease_until_ms = 0 WHERE instance_id = ? "
                         "AND lease_until_ms <= " +
                             Now(),
                         values));
  return rows == 1;
}

Status LeaseTable::Delete(const std::string& instance) {
  const std::vector<SqlValue> values = {instance};
  IW_TRY(ExecuteTwice(*store_, "DELETE FROM icewright_lock_lease WHERE instance_id = ?", values));
  return {};
}

Status LeaseTable::Sweep(LockKind kind, const std::string& lock_id, const std::string& instance) {
  const std::vector<SqlValue> values = {LockTypeText(kind), lock_id, instance};
  IW_TRY(ExecuteTwice(*store_,
                      "DELETE FROM icewright_lock_lease WHERE lock_type = ? AND lock_id = ? AND "
                      "instance_id <> ? AND lease_until_ms <= " +
                          Now(),
                      values));
  return {};
}

Result<std::optional<LeaseRow>> LeaseTable::Find(const std::string& instance) {
  IW_ASSIGN(const bool exists, Exists());
  if (!exists) return std::optional<LeaseRow>();
  const std::vector<SqlValue> values = {instance};
  const auto rows = store_->Query("SELECT owner, since_ms, lease_until_ms, " + Now() +
                                      " FROM icewright_lock_lease WHERE instance_id = ?",
                                  values);
  if (!rows) {
    if (rows.error().code() == Code::kDenied) return std::optional<LeaseRow>();
    return rows.error();
  }
  if (rows->empty()) return std::optional<LeaseRow>();
  const SqlRow& row = rows->front();
  const TimePoint until = TimeOf(row[2]);
  return std::optional<LeaseRow>(
      {row[0].value_or(""), TimeOf(row[1]), until, until <= TimeOf(row[3])});
}

}  // namespace icewright
