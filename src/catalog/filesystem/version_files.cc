#include "catalog/filesystem/version_files.h"

#include <charconv>
#include <limits>

namespace icewright {
namespace {

constexpr std::string_view kSuffixes[] = {".metadata.json", ".gz.metadata.json",
                                          ".metadata.json.gz"};

// A hint is a few digits; more is not read.
constexpr std::int64_t kHintLimitBytes = 64;

std::optional<int> ParseVersion(std::string_view text) {
  int version = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version);
  if (error != std::errc() || end != text.data() + text.size() || version < 0 ||
      version == std::numeric_limits<int>::max()) {
    return std::nullopt;
  }
  return version;
}

// Unset for whatever reason: the folder's listing decides then.
std::optional<int> ReadHint(FileIO& io, const Location& metadata_folder) {
  const auto bytes = ReadFile(io, metadata_folder.Child(kVersionHint), kHintLimitBytes);
  if (!bytes) return std::nullopt;
  std::string_view text = *bytes;
  constexpr std::string_view kSpace = " \t\r\n";
  const auto first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return std::nullopt;
  text = text.substr(first, text.find_last_not_of(kSpace) - first + 1);
  return ParseVersion(text);
}

Result<std::optional<VersionFile>> FindHighest(FileIO& io, const Location& metadata_folder) {
  std::optional<int> highest;
  IW_TRY(ForEachMetadataFile(io, metadata_folder, [&](const FileStatus& file) {
    const auto version = FileSystemVersionOf(file.location.file_name());
    if (version && (!highest || *version > *highest)) highest = version;
    return true;
  }));
  if (!highest) return std::optional<VersionFile>();
  return FindVersion(io, metadata_folder, *highest);
}

}  // namespace

std::optional<int> FileSystemVersionOf(std::string_view file_name) {
  if (!file_name.starts_with('v')) return std::nullopt;
  const auto dot = file_name.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  for (const std::string_view suffix : kSuffixes) {
    if (file_name.substr(dot) == suffix) return ParseVersion(file_name.substr(1, dot - 1));
  }
  return std::nullopt;
}

bool IsMetadataFileName(std::string_view file_name) {
  return file_name.ends_with(".metadata.json") || file_name.ends_with(".metadata.json.gz");
}

std::array<std::string, 3> NamesOfVersion(int version) {
  const std::string stem = "v" + std::to_string(version);
  return {stem + std::string(kSuffixes[0]), stem + std::string(kSuffixes[1]),
          stem + std::string(kSuffixes[2])};
}

Result<std::optional<VersionFile>> FindVersion(FileIO& io, const Location& metadata_folder,
                                               int version) {
  for (const std::string& name : NamesOfVersion(version)) {
    Location location = metadata_folder.Child(name);
    IW_ASSIGN(const bool exists, io.Exists(location));
    if (exists) return std::optional(VersionFile{version, std::move(location)});
  }
  return std::optional<VersionFile>();
}

Result<std::optional<VersionFile>> FindCurrentVersion(FileIO& io, const Location& metadata_folder) {
  std::optional<VersionFile> current;
  if (const auto hint = ReadHint(io, metadata_folder)) {
    IW_ASSIGN(current, FindVersion(io, metadata_folder, *hint));
  }
  // A hint that is missing, or so old that its version is deleted.
  if (!current) {
    IW_ASSIGN(current, FindHighest(io, metadata_folder));
  }
  while (current) {
    IW_ASSIGN(auto next, FindVersion(io, metadata_folder, current->version + 1));
    if (!next) break;
    current = std::move(next);
  }
  return current;
}

Status ForEachMetadataFile(FileIO& io, const Location& metadata_folder,
                           const std::function<bool(const FileStatus&)>& visit) {
  const std::size_t prefix = metadata_folder.Child("").text().size();
  bool stopped = false;
  const Status listed = io.List(metadata_folder, [&](const FileStatus& file) -> Status {
    const std::string& text = file.location.text();
    if (text.size() <= prefix || text.find('/', prefix) != std::string::npos) return {};
    if (!IsMetadataFileName(file.location.file_name())) return {};
    stopped = !visit(file);
    return stopped ? Status(Error(Code::kCancelled, "enough was seen")) : Status{};
  });
  return stopped ? Status{} : listed;
}

}  // namespace icewright
