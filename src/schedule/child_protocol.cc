#include "schedule/child_protocol.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "codec/json.h"

namespace icewright {
namespace {

constexpr std::size_t kLongestLine = std::size_t{64} << 20;

constexpr std::array<Code, 15> kCodes = {
    Code::kInvalidArgument, Code::kNotFound,    Code::kAlreadyExists,
    Code::kCorrupt,         Code::kUnsupported, Code::kConflict,
    Code::kCommitUnknown,   Code::kUnavailable, Code::kIo,
    Code::kDenied,          Code::kLockHeld,    Code::kLockLost,
    Code::kCancelled,       Code::kExhausted,   Code::kInternal};
constexpr std::array<TaskOutcome, 5> kOutcomes = {TaskOutcome::kDone, TaskOutcome::kNothingToDo,
                                                  TaskOutcome::kPlanned, TaskOutcome::kPartial,
                                                  TaskOutcome::kFailed};
constexpr std::array<std::pair<std::string_view, StopReason>, 3> kReasons = {
    {{"cancelled", StopReason::kCancelled},
     {"deadline", StopReason::kDeadline},
     {"lock-lost", StopReason::kLockLost}}};

Json ErrorToJson(const Error& error) {
  return {{"code", Name(error.code())}, {"message", error.message()}};
}

// A status that is never a success, or kCorrupt.
Status ParseError(const Json& json) {
  IW_ASSIGN(const std::string name, GetString(json, "code"));
  IW_ASSIGN(std::string message, GetString(json, "message"));
  for (const Code code : kCodes) {
    if (Name(code) == name) return Error(code, std::move(message));
  }
  return Error(Code::kInternal, std::move(message));
}

// null: success.
Json StatusToJson(const Status& status) { return status ? Json() : ErrorToJson(status.error()); }

Result<Status> ParseStatus(const Json& object, std::string_view key) {
  IW_ASSIGN(const Json* json, FindObject(object, key));
  return json == nullptr ? Status() : ParseError(*json);
}

template <typename Texts>
Result<Texts> ParseTexts(const Json& object, std::string_view key) {
  Texts texts;
  IW_ASSIGN(const Json* json, GetObject(object, key));
  for (const auto& [name, value] : json->items()) {
    IW_ASSIGN(texts[name], GetString(*json, name));
  }
  return texts;
}

Json ReportToJson(const TaskReport& report) {
  Json json = {{"outcome", Name(report.outcome)},
               {"reason", report.reason},
               {"snapshot-ids", Json::array()},
               {"counts", Json::object()},
               {"leftovers", Json::array()},
               {"failures", Json::array()},
               {"notes", report.notes}};
  for (const SnapshotId id : report.snapshot_ids) json["snapshot-ids"].push_back(Raw(id));
  for (const auto& [key, value] : report.counts) json["counts"][key] = value;
  for (const Location& location : report.leftovers) json["leftovers"].push_back(location.text());
  for (const Error& error : report.failures) json["failures"].push_back(ErrorToJson(error));
  return json;
}

Result<TaskReport> ParseReport(const Json& json) {
  TaskReport report;
  IW_ASSIGN(const std::string outcome, GetString(json, "outcome"));
  for (const TaskOutcome known : kOutcomes) {
    if (Name(known) == outcome) report.outcome = known;
  }
  IW_ASSIGN(report.reason, GetString(json, "reason"));
  IW_ASSIGN(const Json* ids, GetArray(json, "snapshot-ids"));
  for (const Json& id : *ids) {
    if (!id.is_number_integer()) return Error(Code::kCorrupt, "a snapshot id is no number");
    report.snapshot_ids.push_back(SnapshotId{id.get<std::int64_t>()});
  }
  IW_ASSIGN(const Json* counts, GetObject(json, "counts"));
  for (const auto& [key, value] : counts->items()) {
    IW_ASSIGN(report.counts[key], GetInt(*counts, key));
  }
  IW_ASSIGN(const Json* leftovers, GetArray(json, "leftovers"));
  for (const Json& text : *leftovers) {
    if (!text.is_string()) return Error(Code::kCorrupt, "a leftover is no text");
    report.leftovers.emplace_back(text.get<std::string>());
  }
  IW_ASSIGN(const Json* failures, GetArray(json, "failures"));
  for (const Json& failure : *failures) {
    report.failures.push_back(ParseError(failure).error());
  }
  IW_ASSIGN(const Json* notes, GetArray(json, "notes"));
  for (const Json& note : *notes) {
    if (!note.is_string()) return Error(Code::kCorrupt, "a note is no text");
    report.notes.push_back(note.get<std::string>());
  }
  return report;
}

Result<Json> ParseObject(std::string_view line) {
  IW_ASSIGN(Json json, ParseJson(line));
  if (!json.is_object()) return Error(Code::kCorrupt, "a message is no object");
  return json;
}

}  // namespace

std::string ToJson(const ChildRequest& request) {
  Json json = {{"catalog", request.catalog},    {"properties", request.properties},
               {"namespace", request.table.ns}, {"table", request.table.name},
               {"task", request.task},          {"options", request.options},
               {"threads", request.threads},    {"memory", request.memory_limit_bytes}};
  return DumpJson(json);
}

Result<ChildRequest> ParseChildRequest(std::string_view line) {
  IW_ASSIGN(const Json json, ParseObject(line));
  ChildRequest request;
  IW_ASSIGN(request.catalog, GetString(json, "catalog"));
  IW_ASSIGN(request.properties, ParseTexts<Properties>(json, "properties"));
  IW_ASSIGN(const Json* ns, GetArray(json, "namespace"));
  for (const Json& level : *ns) {
    if (!level.is_string()) return Error(Code::kCorrupt, "a namespace is no text");
    request.table.ns.push_back(level.get<std::string>());
  }
  IW_ASSIGN(request.table.name, GetString(json, "table"));
  IW_ASSIGN(request.task, GetString(json, "task"));
  IW_ASSIGN(request.options, ParseTexts<TaskOptionTexts>(json, "options"));
  IW_ASSIGN(const std::int64_t threads, GetInt(json, "threads"));
  request.threads = static_cast<int>(threads);
  IW_ASSIGN(request.memory_limit_bytes, GetInt(json, "memory"));
  return request;
}

std::string ToJson(const FromChild& message) {
  if (const auto* view = std::get_if<Progress::View>(&message)) {
    Json json = {{"phase", view->phase}, {"unit", view->unit}, {"done", view->done}};
    if (view->total) json["total"] = *view->total;
    return DumpJson({{"progress", std::move(json)}});
  }
  if (std::holds_alternative<MayWriteQuestion>(message)) return R"({"may-write": true})";
  const ChildDone& done = std::get<ChildDone>(message);
  return DumpJson(
      {{"done", {{"error", StatusToJson(done.status)}, {"report", ReportToJson(done.report)}}}});
}

Result<FromChild> ParseFromChild(std::string_view line) {
  IW_ASSIGN(const Json json, ParseObject(line));
  if (json.contains("may-write")) return FromChild(MayWriteQuestion());
  IW_ASSIGN(const Json* progress, FindObject(json, "progress"));
  if (progress != nullptr) {
    Progress::View view;
    IW_ASSIGN(view.phase, GetString(*progress, "phase"));
    IW_ASSIGN(view.unit, GetString(*progress, "unit"));
    IW_ASSIGN(view.done, GetInt(*progress, "done"));
    IW_ASSIGN(view.total, FindInt(*progress, "total"));
    return FromChild(std::move(view));
  }
  IW_ASSIGN(const Json* done, GetObject(json, "done"));
  ChildDone result;
  IW_ASSIGN(result.status, ParseStatus(*done, "error"));
  IW_ASSIGN(const Json* report, GetObject(*done, "report"));
  IW_ASSIGN(result.report, ParseReport(*report));
  return FromChild(std::move(result));
}

std::string ToJson(const ToChild& message) {
  if (const auto* reason = std::get_if<StopReason>(&message)) {
    std::string_view word;
    for (const auto& [name, known] : kReasons) {
      if (known == *reason) word = name;
    }
    return DumpJson({{"stop", word}});
  }
  const Status& answer = std::get<Status>(message);
  return DumpJson({{"answer", true}, {"error", StatusToJson(answer)}});
}

Result<ToChild> ParseToChild(std::string_view line) {
  IW_ASSIGN(const Json json, ParseObject(line));
  IW_ASSIGN(const auto stop, FindString(json, "stop"));
  if (stop) {
    for (const auto& [name, reason] : kReasons) {
      if (name == *stop) return ToChild(reason);
    }
    return Error(Code::kCorrupt, "no reason to stop: " + *stop);
  }
  IW_TRY(GetBool(json, "answer"));
  IW_ASSIGN(Status answer, ParseStatus(json, "error"));
  return ToChild(std::move(answer));
}

LineChannel::~LineChannel() {
  CloseOut();
  ::close(in_);
}

std::optional<std::string> LineChannel::Read() {
  std::size_t searched = 0;
  for (;;) {
    const std::size_t end = buffer_.find('\n', searched);
    if (end != std::string::npos) {
      std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      return line;
    }
    searched = buffer_.size();
    if (searched > kLongestLine) return {};
    std::array<char, 65536> bytes;
    const ssize_t n = ::read(in_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return {};
    buffer_.append(bytes.data(), static_cast<std::size_t>(n));
  }
}

bool LineChannel::Write(std::string_view line) {
  const std::string text = std::string(line) + '\n';
  const std::scoped_lock lock(mutex_);
  for (std::size_t sent = 0; sent < text.size();) {
    if (out_ < 0) return false;
    const ssize_t n = ::write(out_, text.data() + sent, text.size() - sent);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    sent += static_cast<std::size_t>(n);
  }
  return true;
}

void LineChannel::CloseOut() {
  const std::scoped_lock lock(mutex_);
  if (out_ >= 0) ::close(out_);
  out_ = -1;
}

}  // namespace icewright
