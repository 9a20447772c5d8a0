#include "maintain/deletion_journal.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "codec/json.h"

namespace icewright {
namespace {

constexpr std::string_view kPrefix = "icewright-deletions-";
constexpr std::string_view kSuffix = ".json";
constexpr std::string_view kVersionKey = "icewright-deletions";
constexpr std::int64_t kVersion = 1;
constexpr std::string_view kSnapshotWord = "snapshot";
constexpr std::size_t kBufferBytes = 64 << 10;
constexpr std::size_t kMaxLineBytes = 1 << 20;

bool IsAscii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

// JSON has no room for other bytes than UTF-8: DumpJson would replace them, and another file would
// be named.
bool FitsJson(const std::string& path) {
  if (IsAscii(path)) return true;
  const auto back = ParseJson(DumpJson(Json(path)));
  return back && back->is_string() && back->get_ref<const std::string&>() == path;
}

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
  DoomedFile file{.kind = *kind, .path = {}, .size_bytes = line[1].get<std::int64_t>()};
  if (line.size() == 3 && line[2].is_string()) {
    file.path = Location(line[2].get<std::string>());
  } else if (line.size() == 4 && line[2].is_null() && line[3].is_string()) {
    auto bytes = FromHex(line[3].get_ref<const std::string&>());
    if (!bytes) return std::nullopt;
    file.path = Location(std::move(*bytes));
  }
  if (file.path.empty()) return std::nullopt;
  return file;
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
  const std::string& path = file.path.text();
  Json line = Json::array({Name(file.kind), file.size_bytes});
  if (FitsJson(path)) {
    line.push_back(path);
  } else {
    line.push_back(nullptr);
    line.push_back(ToHex(path));
  }
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
    : location_(std::move(location)),
      file_(std::move(file)),
      source_(std::make_unique<InputFileSource>(*file_)) {}

Result<JournalReader> JournalReader::Open(FileIO& io, const Location& location) {
  IW_ASSIGN(auto file, io.Open(location));
  JournalReader reader(location, std::move(file));
  IW_TRY(reader.ReadHeader());
  return reader;
}

Error JournalReader::Corrupt(std::string_view what) const {
  return {Code::kCorrupt, fmt::format("{}: line {}: {}", location_.text(), lines_, what)};
}

Result<bool> JournalReader::NextLine(std::string& line) {
  line.clear();
  for (;;) {
    const std::size_t end = buffer_.find('\n', position_);
    const std::size_t stop = std::min(end, buffer_.size());
    line.append(buffer_, position_, stop - position_);
    if (line.size() > kMaxLineBytes) return Corrupt("the line is too long");
    if (end != Bytes::npos) {
      position_ = end + 1;
      ++lines_;
      return true;
    }
    buffer_.resize(kBufferBytes);
    IW_ASSIGN(const std::size_t got, source_->Read(buffer_));
    buffer_.resize(got);
    position_ = 0;
    if (got > 0) continue;
    if (!line.empty()) return Corrupt("the line is cut off");
    return false;
  }
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
