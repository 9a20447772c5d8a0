#include "maintain/quarantine.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "codec/json.h"
#include "maintain/path_json.h"
#include "maintain/path_set.h"

namespace icewright {
namespace {

constexpr std::string_view kVersionKey = "icewright-quarantine";
constexpr std::int64_t kVersion = 1;
constexpr std::string_view kSuffix = ".json";
constexpr std::size_t kMaxNameBytes = 200;

bool IsPlainName(std::string_view name) {
  return !name.empty() && name.size() <= kMaxNameBytes && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  });
}

// "RUN/NAME": two plain parts, so that it stays in the folder.
bool IsInFolder(std::string_view name) {
  const std::size_t slash = name.find('/');
  if (slash == std::string_view::npos) return false;
  const std::string_view parts[] = {name.substr(0, slash), name.substr(slash + 1)};
  return std::ranges::all_of(
      parts, [](std::string_view part) { return IsPlainName(part) && !part.starts_with('.'); });
}

std::optional<QuarantinedFile> ParseFile(const Json& row) {
  if (!row.is_array() || row.size() < 4 || !row[0].is_string() || !row[1].is_number_integer() ||
      !row[2].is_number_integer()) {
    return std::nullopt;
  }
  auto original = PathFromJson(row, 3);
  auto name = row[0].get<std::string>();
  if (!original || !IsInFolder(name)) return std::nullopt;
  return QuarantinedFile{.original = std::move(*original),
                         .name = std::move(name),
                         .size = row[1].get<std::int64_t>(),
                         .modified = FromMillis(row[2].get<std::int64_t>())};
}

Result<QuarantineRecord> ParseRecord(const Location& location, const Json& json) {
  if (!json.is_object()) return Error(Code::kCorrupt, "it is no JSON object");
  IW_ASSIGN(const std::int64_t version, GetInt(json, kVersionKey));
  if (version != kVersion) {
    return Error(Code::kUnsupported, fmt::format("version {} of a newer icewright", version));
  }
  QuarantineRecord record{.location = location, .table_uuid = {}, .table = {}};
  IW_ASSIGN(record.table_uuid, GetString(json, "table-uuid"));
  IW_ASSIGN(record.table, GetString(json, "table"));
  IW_ASSIGN(const std::int64_t at, GetInt(json, "quarantined-at-ms"));
  record.at = FromMillis(at);
  IW_ASSIGN(const Json* rows, GetArray(json, "files"));
  for (std::size_t i = 0; i < rows->size(); ++i) {
    auto file = ParseFile((*rows)[i]);
    if (!file) return Error(Code::kCorrupt, fmt::format("file {} is damaged", i));
    record.files.push_back(std::move(*file));
  }
  return record;
}

}  // namespace

Location QuarantineFolder(const Location& quarantine, const TableMetadata& metadata) {
  if (IsPlainName(metadata.table_uuid)) return quarantine.Child(metadata.table_uuid);
  const PathHash hash = HashPath(metadata.location.text());
  return quarantine.Child(fmt::format("{:016x}{:016x}", hash.high, hash.low));
}

std::string QuarantineName(std::string_view run, std::int64_t number, const Location& original) {
  const std::string_view name = original.file_name();
  return IsPlainName(name) ? fmt::format("{}/{}-{}", run, number, name)
                           : fmt::format("{}/{}", run, number);
}

Status WriteQuarantineRecord(FileIO& io, const QuarantineRecord& record) {
  Json rows = Json::array();
  for (const QuarantinedFile& file : record.files) {
    Json row = Json::array({file.name, file.size, ToMillis(file.modified)});
    AppendPath(file.original, row);
    rows.push_back(std::move(row));
  }
  const Json json = {{std::string(kVersionKey), kVersion},
                     {"table-uuid", record.table_uuid},
                     {"table", record.table},
                     {"quarantined-at-ms", ToMillis(record.at)},
                     {"files", std::move(rows)}};
  return WriteFile(io, record.location, DumpJson(json), CreateMode::kAtomicReplace);
}

Result<QuarantineRecord> ReadQuarantineRecord(FileIO& io, const Location& location) {
  IW_ASSIGN(const Bytes bytes, ReadFile(io, location));
  const auto json = ParseJson(bytes);
  if (!json) return json.error().Within(location.text());
  return ParseRecord(location, *json).Within(location.text());
}

Result<std::vector<Location>> ListQuarantineRecords(FileIO& io, const Location& folder) {
  std::vector<Location> records;
  const auto folders = io.ListDirectly(folder, [&](const FileStatus& file) -> Status {
    if (file.location.file_name().ends_with(kSuffix)) records.push_back(file.location);
    return {};
  });
  if (!folders) return folders.error();
  std::ranges::sort(records);
  return records;
}

}  // namespace icewright
