#include "maintain/deletion_journal.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "codec/json.h"
#include "maintain/path_json.h"

namespace icewright {
namespace {

constexpr std::string_view kPrefix = "icewright-deletions-";
constexpr std::string_view kSuffix = ".json";
constexpr std::string_view kVersionKey = "icewright-deletions";
constexpr std::int64_t kVersion = 1;
constexpr std::string_view kSnapshotWord = "snapshot";
constexpr std::size_t kBufferBytes = 64 << 10;
constexpr std::size_t kMaxLineBytes = 1 << 20;

std::optional<FileKind> ParseKind(std::string_view name) {
  const auto* found = std::ranges::find(kFileKindNames, name);
  if (found == kFileKindNames.end()) return std::nullopt;
  return static_cast<FileKind>(found - kFileKindNames.begin());
}

std::optional<DoomedFile> ParseFile(const Json& line) {
  if (!line.is_array() || line.size() < 3 || !line[0].is_string() || !line[1].is_number_integer()) {
    return std::nullopt;
  }
  const auto kind = ParseKind(line[0].get_ref<const std::string&>());
  if (!kind) return std::nullopt;
  auto path = PathFromJson(line, 2);
  if (!path) return std::nullopt;
  return DoomedFile{*kind, std::move(*path), line[1].get<std::int64_t>()};
}

}  // namespace

// ---- Writing

Result<JournalWriter> JournalWriter::Create(FileIO& io, const Location& location,
                                            const JournalHeader& header) {
  IW_ASSIGN(auto file, io.Create(location, CreateMode::kAtomicReplace));
  JournalWriter writer(std::move(file));
  const Json first = {{std::string(kVersionKey), kVersion},
                      {"table-uuid", header.table_uuid},
                      {"base-metadata", header.base_metadata.text()}};
  IW_TRY(writer.AddLine(DumpJson(first)));
  for (const SnapshotId id : header.expired) {
    IW_TRY(writer.AddLine(DumpJson(Json::array({kSnapshotWord, Raw(id)}))));
  }
  return writer;
}

Status JournalWriter::AddLine(std::string_view line) {
  buffer_ += line;
  buffer_ += '\n';
  if (buffer_.size() < kBufferBytes) return {};
  IW_TRY(file_->Append(buffer_));
  buffer_.clear();
  return {};
}

Status JournalWriter::Add(const DoomedFile& file) {
  Json line = Json::array({Name(file.kind), file.size_bytes});
  AppendPath(file.path, line);
  ++files_;
  return AddLine(DumpJson(line));
}

Status JournalWriter::Close() {
  IW_TRY(AddLine(DumpJson(Json{{"files", files_}})));
  if (!buffer_.empty()) IW_TRY(file_->Append(buffer_));
  return file_->Close();
}

// ---- Reading

JournalReader::JournalReader(Location location, std::unique_ptr<InputFile> file)
    : location_(std::move(location)), lines_(std::move(file), kMaxLineBytes) {}

Result<JournalReader> JournalReader::Open(FileIO& io, const Location& location) {
  IW_ASSIGN(auto file, io.Open(location));
  JournalReader reader(location, std::move(file));
  IW_TRY(reader.ReadHeader());
  return reader;
}

Result<bool> JournalReader::NextLine(std::string& line) {
  IW_ASSIGN(const bool more, lines_.Next(line));
  if (more && !lines_.is_whole()) return Corrupt("the line is cut off");
  return more;
}

Status JournalReader::ReadHeader() {
  std::string line;
  IW_ASSIGN(const bool has_header, NextLine(line));
  if (!has_header) return Corrupt("the file is empty");
  auto header = ParseJson(line);
  if (!header || !header->is_object()) return Corrupt("no header");
  const auto version = GetInt(*header, kVersionKey);
  if (!version) return Corrupt(version.error().message());
  if (*version != kVersion) {
    return Error(Code::kUnsupported,
                 fmt::format("{}: version {} of a newer icewright", location_.text(), *version));
  }
  const auto uuid = GetString(*header, "table-uuid");
  const auto base = GetString(*header, "base-metadata");
  if (!uuid || !base) return Corrupt("the header lacks table-uuid or base-metadata");
  header_.table_uuid = *uuid;
  header_.base_metadata = Location(*base);
  for (;;) {
    IW_ASSIGN(const bool more, NextLine(first_line_));
    if (!more) return Corrupt("the end is missing");
    const auto json = ParseJson(first_line_);
    if (!json) return Corrupt(json.error().message());
    const bool is_snapshot = json->is_array() && json->size() == 2 && (*json)[0] == kSnapshotWord &&
                             (*json)[1].is_number_integer();
    if (!is_snapshot) break;
    header_.expired.push_back(SnapshotId{(*json)[1].get<std::int64_t>()});
  }
  // Without one there is no telling whether the commit has landed.
  if (header_.expired.empty()) return Corrupt("it names no expired snapshot");
  return {};
}

Status JournalReader::CheckEnd(std::string_view line) {
  const auto end = ParseJson(line);
  if (!end) return Corrupt(end.error().message());
  const auto files = end->is_object() ? GetInt(*end, "files") : Result<std::int64_t>(-1);
  if (!files || *files != files_) return Corrupt("neither a file nor the right end");
  std::string rest;
  IW_ASSIGN(const bool more, NextLine(rest));
  if (more) return Corrupt("something follows the end");
  return {};
}

Result<bool> JournalReader::Next(DoomedFile& file) {
  std::string line = std::exchange(first_line_, {});
  if (line.empty()) {
    IW_ASSIGN(const bool more, NextLine(line));
    if (!more) return Corrupt("the end is missing");
  }
  const auto json = ParseJson(line);
  if (!json) return Corrupt(json.error().message());
  auto parsed = ParseFile(*json);
  if (!parsed) {
    IW_TRY(CheckEnd(line));
    return false;
  }
  ++files_;
  file = std::move(*parsed);
  return true;
}

// ---- Names

Location JournalLocation(const Location& metadata_folder, std::string_view uuid) {
  return metadata_folder.Child(fmt::format("{}{}{}", kPrefix, uuid, kSuffix));
}

Result<std::vector<Location>> ListJournals(FileIO& io, const Location& metadata_folder) {
  std::vector<Location> journals;
  const std::string folder = metadata_folder.Child("").text();
  IW_TRY(io.List(metadata_folder, [&](const FileStatus& file) -> Status {
    const std::string_view name = file.location.file_name();
    const bool is_direct = file.location.text().size() == folder.size() + name.size();
    if (is_direct && name.starts_with(kPrefix) && name.ends_with(kSuffix)) {
      journals.push_back(file.location);
    }
    return {};
  }));
  std::ranges::sort(journals);
  return journals;
}

}  // namespace icewright
