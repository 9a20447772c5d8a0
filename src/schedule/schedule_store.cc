#include "schedule/schedule_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "config/fields.h"
#include "schedule/schedule_state_json.h"

namespace icewright {
namespace {

struct StoreTable {
  std::string_view name;
  std::string_view ddl;
};
constexpr StoreTable kTables[] = {
    {"icewright_schedule",
     "CREATE TABLE icewright_schedule (schedule_key VARCHAR(255) NOT NULL, state TEXT NOT NULL, "
     "PRIMARY KEY (schedule_key))"},
    {"icewright_run",
     "CREATE TABLE icewright_run (run_id BIGINT NOT NULL, table_name VARCHAR(255) NOT NULL, "
     "finished CHAR(1) NOT NULL, record TEXT NOT NULL, PRIMARY KEY (run_id))"},
    {"icewright_counter",
     "CREATE TABLE icewright_counter (name VARCHAR(32) NOT NULL, value BIGINT NOT NULL, "
     "PRIMARY KEY (name))"},
};

std::vector<SqlValue> Values(std::initializer_list<std::string> values) {
  return {values.begin(), values.end()};
}

Result<std::vector<RunRecord>> ParseRecords(const std::vector<SqlRow>& rows) {
  std::vector<RunRecord> records;
  for (const SqlRow& row : rows) {
    IW_ASSIGN(RunRecord record, ParseRunRecord(row[0].value_or("")));
    records.push_back(std::move(record));
  }
  return records;
}

std::string Left(std::string text, std::size_t bytes) {
  if (text.size() > bytes) text.resize(bytes);
  return text;
}

constexpr std::size_t kLongestText = 2000;
constexpr std::size_t kMostTexts = 20;

template <typename Items, typename TextOf>
std::vector<std::string> FirstTexts(const Items& items, TextOf text_of) {
  std::vector<std::string> texts;
  for (const auto& item : items) {
    if (texts.size() == kMostTexts) {
      texts.push_back(fmt::format("... and {} more", items.size() - kMostTexts));
      break;
    }
    texts.push_back(Left(text_of(item), kLongestText));
  }
  return texts;
}

}  // namespace

Result<std::shared_ptr<ScheduleStore>> ScheduleStore::Open(const std::string& place,
                                                           const SqlProperties& properties) {
  const bool url = IsSqlUrl(place);
  IW_ASSIGN(const SqlUrl parsed, ParseSqlUrl(url ? place : "jdbc:sqlite:" + place, properties));
  IW_ASSIGN(auto sql, OpenSqlStore(parsed));
  if (parsed.dialect == SqlDialect::kSqlite) {
    // Readers (a status page, sqlite3) do not stop the writer, and a commit needs no fsync of two
    // files; after a power failure the last states may be missing, never torn.
    IW_TRY(sql->Query("PRAGMA journal_mode=WAL", {}));
    IW_TRY(sql->Query("PRAGMA synchronous=NORMAL", {}));
  }
  auto store = std::make_shared<ScheduleStore>(std::move(sql));
  Status made = store->MakeTables();
  if (!made) return made.error().Within("state " + parsed.Display());
  return store;
}

Status ScheduleStore::MakeTables() {
  for (const StoreTable& table : kTables) {
    IW_ASSIGN(auto columns, sql_->ColumnsOf(table.name));
    if (!columns.empty()) continue;
    const auto made = sql_->Execute(table.ddl, {});
    if (made) continue;
    // Another process may have been faster.
    IW_ASSIGN(columns, sql_->ColumnsOf(table.name));
    if (columns.empty()) return made.error();
  }
  return {};
}

Result<std::optional<TableScheduleState>> ScheduleStore::LoadState(const std::string& key) {
  IW_ASSIGN(
      const auto rows,
      sql_->Query("SELECT state FROM icewright_schedule WHERE schedule_key = ?", Values({key})));
  if (rows.empty()) return std::optional<TableScheduleState>();
  auto state = ParseScheduleState(rows[0][0].value_or(""));
  if (!state) return state.error().Within("state of " + key);
  return std::optional(std::move(*state));
}

Status ScheduleStore::SaveState(const std::string& key, const TableScheduleState& state) {
  const std::string json = ToJson(state);
  IW_ASSIGN(const std::int64_t updated,
            sql_->Execute("UPDATE icewright_schedule SET state = ? WHERE schedule_key = ?",
                          Values({json, key})));
  if (updated > 0) return {};
  const auto inserted = sql_->Execute(
      "INSERT INTO icewright_schedule (schedule_key, state) VALUES (?, ?)", Values({key, json}));
  // A server that counts changed rows only says 0 for the same state.
  if (!inserted && inserted.error().code() != Code::kAlreadyExists) return inserted.error();
  return {};
}

Result<std::int64_t> ScheduleStore::NextRunId() {
  for (;;) {
    IW_ASSIGN(const auto rows,
              sql_->Query("SELECT value FROM icewright_counter WHERE name = ?", Values({"run"})));
    if (rows.empty()) {
      const auto made = sql_->Execute("INSERT INTO icewright_counter (name, value) VALUES (?, 0)",
                                      Values({"run"}));
      if (!made && made.error().code() != Code::kAlreadyExists) return made.error();
      continue;
    }
    std::int64_t value = 0;
    IW_TRY(
        ParseField(rows[0][0].value_or(""), FieldUnit::kNone, value).Within("icewright_counter"));
    const std::string last = std::to_string(value);
    const std::string next = std::to_string(value + 1);
    IW_ASSIGN(const std::int64_t taken,
              sql_->Execute("UPDATE icewright_counter SET value = " + next +
                                " WHERE name = ? AND value = " + last,
                            Values({"run"})));
    if (taken > 0) return value + 1;
  }
}

Status ScheduleStore::StartRun(RunRecord& record) {
  IW_ASSIGN(record.run_id, NextRunId());
  IW_TRY(sql_->Execute("INSERT INTO icewright_run (run_id, table_name, finished, record) VALUES (" +
                           std::to_string(record.run_id) + ", ?, 'n', ?)",
                       Values({record.table, ToJson(record)})));
  return {};
}

Status ScheduleStore::FinishRun(const RunRecord& record) {
  const std::string id = std::to_string(record.run_id);
  IW_TRY(sql_->Execute("UPDATE icewright_run SET finished = 'y', record = ? WHERE run_id = " + id,
                       Values({ToJson(record)})));
  IW_ASSIGN(const auto oldest,
            sql_->Query("SELECT run_id FROM icewright_run WHERE table_name = ? AND finished = 'y' "
                        "ORDER BY run_id DESC LIMIT 1 OFFSET " +
                            std::to_string(kept),
                        Values({record.table})));
  if (oldest.empty()) return {};
  IW_TRY(
      sql_->Execute("DELETE FROM icewright_run WHERE table_name = ? AND finished = 'y' AND "
                    "run_id <= " +
                        oldest[0][0].value_or("0"),
                    Values({record.table})));
  return {};
}

Result<std::vector<RunRecord>> ScheduleStore::Runs(const std::string& table, int limit) {
  const std::string order = " ORDER BY run_id DESC LIMIT " + std::to_string(limit);
  const auto rows =
      table.empty() ? sql_->Query("SELECT record FROM icewright_run" + order, {})
                    : sql_->Query("SELECT record FROM icewright_run WHERE table_name = ?" + order,
                                  Values({table}));
  if (!rows) return rows.error();
  return ParseRecords(*rows);
}

Result<std::vector<RunRecord>> ScheduleStore::Unfinished(const std::string& table) {
  IW_ASSIGN(const auto rows,
            sql_->Query("SELECT record FROM icewright_run WHERE table_name = ? AND finished = 'n' "
                        "ORDER BY run_id",
                        Values({table})));
  return ParseRecords(rows);
}

void FillFromReport(RunRecord& record, const Status& status, const TaskReport& report) {
  record.outcome = std::string(Name(report.outcome));
  record.snapshot_ids = report.snapshot_ids;
  record.counts = report.counts;
  record.leftovers = static_cast<std::int64_t>(report.leftovers.size());
  record.failures = FirstTexts(report.failures, [](const Error& e) { return e.message(); });
  record.notes = FirstTexts(report.notes, [](const std::string& note) { return note; });
  if (!report.reason.empty()) record.notes.insert(record.notes.begin(), report.reason);
  if (status) return;
  record.error_code = std::string(Name(status.error().code()));
  record.error = Left(status.error().message(), kLongestText);
  switch (status.error().code()) {
    case Code::kCancelled:
      record.outcome = "cancelled";
      break;
    case Code::kLockLost:
      record.outcome = "lock-lost";
      break;
    default:
      record.outcome = std::string(Name(TaskOutcome::kFailed));
      break;
  }
}

RunOutcome OutcomeOf(const Status& status, const TaskReport& report) {
  if (status) {
    if (report.outcome != TaskOutcome::kPartial) return RunOutcome::kSucceeded;
    const bool only_races =
        !report.failures.empty() && std::ranges::all_of(report.failures, [](const Error& error) {
          return error.code() == Code::kConflict;
        });
    return only_races ? RunOutcome::kLostRace : RunOutcome::kFailed;
  }
  switch (status.error().code()) {
    case Code::kCancelled:
      return RunOutcome::kStopped;
    case Code::kConflict:
      return RunOutcome::kLostRace;
    case Code::kInvalidArgument:
    case Code::kUnsupported:
    case Code::kDenied:
    case Code::kCorrupt:
    case Code::kInternal:
      return RunOutcome::kNeedsRepair;
    default:
      return RunOutcome::kFailed;
  }
}

}  // namespace icewright
