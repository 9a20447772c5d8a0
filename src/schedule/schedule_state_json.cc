#include "schedule/schedule_state_json.h"

#include <utility>

#include "codec/json.h"

namespace icewright {
namespace {

struct Counter {
  std::string_view key;
  std::int64_t TableChange::*member;
};
constexpr Counter kCounters[] = {
    {"data-file-count", &TableChange::data_file_count},
    {"data-file-size-in-bytes", &TableChange::data_file_size_in_bytes},
    {"pos-delete-file-count", &TableChange::pos_delete_file_count},
    {"pos-delete-record-count", &TableChange::pos_delete_record_count},
    {"eq-delete-file-count", &TableChange::eq_delete_file_count},
    {"eq-delete-record-count", &TableChange::eq_delete_record_count},
    {"commit-count", &TableChange::commit_count},
};

void PutTime(Json& json, const char* key, const std::optional<TimePoint>& t) {
  if (t) json[key] = ToMillis(*t);
}

Status ReadTime(const Json& json, std::string_view key, TimePoint& out) {
  IW_ASSIGN(const auto ms, FindInt(json, key));
  if (ms) out = FromMillis(*ms);
  return {};
}

Status ReadTime(const Json& json, std::string_view key, std::optional<TimePoint>& out) {
  IW_ASSIGN(const auto ms, FindInt(json, key));
  if (ms) out = FromMillis(*ms);
  return {};
}

Status ReadInt(const Json& json, std::string_view key, std::int64_t& out) {
  IW_ASSIGN(const auto value, FindInt(json, key));
  out = value.value_or(out);
  return {};
}

Status ReadText(const Json& json, std::string_view key, std::string& out) {
  IW_ASSIGN(auto value, FindString(json, key));
  if (value) out = std::move(*value);
  return {};
}

Status ReadTexts(const Json& json, std::string_view key, std::vector<std::string>& out) {
  IW_ASSIGN(const Json* array, FindArray(json, key));
  if (array == nullptr) return {};
  for (const Json& item : *array) {
    if (!item.is_string()) return Error(Code::kCorrupt, std::string(key) + " holds no text");
    out.push_back(item.get<std::string>());
  }
  return {};
}

Json TaskJson(const TaskTriggerState& task) {
  Json json = {{"last-trigger", ToMillis(task.last_trigger)},
               {"cron-after", ToMillis(task.cron_after)}};
  for (const Counter& counter : kCounters) {
    const std::int64_t n = task.accumulated.*counter.member;
    if (n != 0) json[std::string(counter.key)] = n;
  }
  if (task.ever_triggered) json["ever-triggered"] = 1;
  if (task.manual) json["manual"] = 1;
  if (task.paused) json["paused"] = *task.paused ? 1 : 0;
  if (task.failures != 0) json["failures"] = task.failures;
  PutTime(json, "retry-at", task.retry_at);
  PutTime(json, "last-success", task.last_success);
  return json;
}

Result<TaskTriggerState> ParseTask(const Json& json) {
  if (!json.is_object()) return Error(Code::kCorrupt, "the state of a task is no object");
  TaskTriggerState task;
  IW_TRY(ReadTime(json, "last-trigger", task.last_trigger));
  IW_TRY(ReadTime(json, "cron-after", task.cron_after));
  for (const Counter& counter : kCounters) {
    IW_TRY(ReadInt(json, counter.key, task.accumulated.*counter.member));
  }
  const auto read_bool = [&](std::string_view key) -> Result<std::optional<bool>> {
    IW_ASSIGN(const auto value, FindInt(json, key));
    return value ? std::optional(*value != 0) : std::nullopt;
  };
  IW_ASSIGN(const auto ever, read_bool("ever-triggered"));
  IW_ASSIGN(const auto manual, read_bool("manual"));
  IW_ASSIGN(task.paused, read_bool("paused"));
  task.ever_triggered = ever.value_or(false);
  task.manual = manual.value_or(false);
  std::int64_t failures = 0;
  IW_TRY(ReadInt(json, "failures", failures));
  task.failures = static_cast<int>(failures);
  IW_TRY(ReadTime(json, "retry-at", task.retry_at));
  IW_TRY(ReadTime(json, "last-success", task.last_success));
  return task;
}

Result<MonitorPosition> ParsePosition(const Json& json) {
  if (!json.is_object()) return Error(Code::kCorrupt, "a position is no object");
  IW_ASSIGN(const std::int64_t id, GetInt(json, "snapshot-id"));
  IW_ASSIGN(const std::int64_t sequence_number, GetInt(json, "sequence-number"));
  return MonitorPosition{SnapshotId{id}, SequenceNumber{sequence_number}};
}

}  // namespace

std::string ToJson(const TableScheduleState& state) {
  Json json = {{"saved-at", ToMillis(state.triggers.saved_at)},
               {"tasks", Json::object()},
               {"positions", Json::object()}};
  PutTime(json, "next-evaluation", state.triggers.next_evaluation);
  if (!state.triggers.starts_from.empty()) json["starts-from"] = state.triggers.starts_from;
  for (const auto& [id, task] : state.triggers.tasks) json["tasks"][id] = TaskJson(task);
  for (const auto& [branch, position] : state.positions) {
    json["positions"][branch] = {{"snapshot-id", Raw(position.last_seen)},
                                 {"sequence-number", Raw(position.sequence_number)}};
  }
  return DumpJson(json);
}

Result<TableScheduleState> ParseScheduleState(std::string_view text) {
  IW_ASSIGN(const Json json, ParseJson(text));
  if (!json.is_object()) return Error(Code::kCorrupt, "the state of a schedule is no object");
  TableScheduleState state;
  IW_TRY(ReadTime(json, "saved-at", state.triggers.saved_at));
  IW_TRY(ReadTime(json, "next-evaluation", state.triggers.next_evaluation));
  IW_TRY(ReadText(json, "starts-from", state.triggers.starts_from));
  IW_ASSIGN(const Json* tasks, GetObject(json, "tasks"));
  for (const auto& [id, task] : tasks->items()) {
    IW_ASSIGN(state.triggers.tasks[id], ParseTask(task));
  }
  IW_ASSIGN(const Json* positions, GetObject(json, "positions"));
  for (const auto& [branch, position] : positions->items()) {
    IW_ASSIGN(state.positions[branch], ParsePosition(position));
  }
  return state;
}

std::string ToJson(const RunRecord& record) {
  Json json = {{"run-id", record.run_id},
               {"table", record.table},
               {"task", record.task},
               {"reason", record.reason},
               {"started", ToMillis(record.started)},
               {"outcome", record.outcome},
               {"snapshot-ids", Json::array()},
               {"counts", Json::object()},
               {"failures", record.failures},
               {"notes", record.notes},
               {"leftovers", record.leftovers}};
  PutTime(json, "ended", record.ended);
  for (const SnapshotId id : record.snapshot_ids) json["snapshot-ids"].push_back(Raw(id));
  for (const auto& [key, value] : record.counts) json["counts"][key] = value;
  if (!record.owner.empty()) json["owner"] = record.owner;
  if (!record.error_code.empty()) json["error-code"] = record.error_code;
  if (!record.error.empty()) json["error"] = record.error;
  return DumpJson(json);
}

Result<RunRecord> ParseRunRecord(std::string_view text) {
  IW_ASSIGN(const Json json, ParseJson(text));
  if (!json.is_object()) return Error(Code::kCorrupt, "a run record is no object");
  RunRecord record;
  IW_ASSIGN(record.run_id, GetInt(json, "run-id"));
  IW_TRY(ReadText(json, "table", record.table));
  IW_TRY(ReadText(json, "task", record.task));
  IW_TRY(ReadText(json, "reason", record.reason));
  IW_TRY(ReadText(json, "owner", record.owner));
  IW_TRY(ReadTime(json, "started", record.started));
  IW_TRY(ReadTime(json, "ended", record.ended));
  IW_TRY(ReadText(json, "outcome", record.outcome));
  IW_ASSIGN(const Json* snapshots, FindArray(json, "snapshot-ids"));
  if (snapshots != nullptr) {
    for (const Json& id : *snapshots) {
      if (!id.is_number_integer()) return Error(Code::kCorrupt, "a snapshot id is no number");
      record.snapshot_ids.push_back(SnapshotId{id.get<std::int64_t>()});
    }
  }
  IW_ASSIGN(const Json* counts, FindObject(json, "counts"));
  if (counts != nullptr) {
    for (const auto& [key, value] : counts->items()) {
      IW_ASSIGN(record.counts[key], GetInt(*counts, key));
    }
  }
  IW_TRY(ReadText(json, "error-code", record.error_code));
  IW_TRY(ReadText(json, "error", record.error));
  IW_TRY(ReadTexts(json, "failures", record.failures));
  IW_TRY(ReadTexts(json, "notes", record.notes));
  IW_TRY(ReadInt(json, "leftovers", record.leftovers));
  return record;
}

}  // namespace icewright
