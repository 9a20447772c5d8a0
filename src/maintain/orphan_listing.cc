#include "maintain/orphan_listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/executor.h"
#include "io/line_reader.h"
#include "maintain/referenced_files.h"
#include "table/calendar.h"

namespace icewright {
namespace {

constexpr std::size_t kMaxLineBytes = 64 << 10;
constexpr int kLinesPerCheck = 1 << 14;
// Milliseconds between 1973 and 5138; seconds and microseconds of today are not.
constexpr std::int64_t kLeastMillis = 100'000'000'000;
constexpr std::int64_t kMostMillis = 100'000'000'000'000;

std::vector<std::string> PartitionPrefixes(const TableMetadata& metadata) {
  std::vector<std::string> prefixes;
  for (const PartitionSpec& spec : metadata.partition_specs) {
    for (const PartitionField& field : spec.fields) {
      if (field.name.starts_with('_') || field.name.starts_with('.')) {
        prefixes.push_back(field.name + "=");
      }
    }
  }
  std::ranges::sort(prefixes);
  prefixes.erase(std::ranges::unique(prefixes).begin(), prefixes.end());
  return prefixes;
}

std::string NormalPathOf(const Location& location) {
  std::string path;
  if (const auto uri = SplitUri(location.text())) AppendNormalPath(uri->path, path);
  return path;
}

}  // namespace

// ---- ListingFilter

ListingFilter::ListingFilter(const TableState& state, const Location& base, TimePoint cutoff)
    : base_(NormalPathOf(base)),
      cutoff_(cutoff),
      partition_prefixes_(PartitionPrefixes(*state.metadata)) {
  for (const Location& folder : MetadataFolders(state)) {
    metadata_folders_.push_back(NormalPathOf(folder));
  }
}

Result<ListingFilter::Verdict> ListingFilter::Judge(const FileStatus& file) {
  IW_ASSIGN(const FileUri uri, SplitUri(file.location.text()));
  path_.clear();
  AppendNormalPath(uri.path, path_);
  const std::string_view relative = RelativeTo(base_, path_);
  if (relative.empty()) return Verdict::kElsewhere;
  if (IsHidden(relative, partition_prefixes_)) return Verdict::kHidden;
  IW_TRY(CheckOwner(file.location, path_));
  if (file.modified >= cutoff_) return Verdict::kYoung;
  hash_ = HashPath(path_);
  return Verdict::kCandidate;
}

Status ListingFilter::CheckOwner(const Location& file, std::string_view path) const {
  const std::size_t slash = path.rfind('/');
  if (!MetadataVersionOf(path.substr(slash + 1))) return {};
  if (std::ranges::find(metadata_folders_, path.substr(0, slash)) != metadata_folders_.end()) {
    return {};
  }
  return Error(Code::kInvalidArgument,
               fmt::format("{} is metadata of another table, whose files would look like orphans "
                           "of this one; name a folder with --location that this table has alone",
                           file.text()));
}

// ---- Listings

Status WalkFolders(RunContext& run, FileIO& io, const Location& folder, int parallelism,
                   const ListingFilter& filter, const FileVisitor& visit) {
  struct Listed {
    std::vector<FileStatus> files;
    std::vector<std::string> folders;
  };
  std::vector<Location> level = {folder};
  while (!level.empty()) {
    std::vector<Location> next;
    const auto list = [&](std::size_t i) -> Result<Listed> {
      Listed listed;
      IW_ASSIGN(listed.folders, io.ListDirectly(level[i], [&](const FileStatus& file) -> Status {
        listed.files.push_back(file);
        return {};
      }));
      return listed;
    };
    const auto show = [&](std::size_t i, Listed&& listed) -> Status {
      for (const FileStatus& file : listed.files) IW_TRY(visit(file));
      for (const std::string& name : listed.folders) {
        if (!filter.IsHiddenName(name)) next.push_back(level[i].Child(name));
      }
      return {};
    };
    IW_TRY(OrderedParallel<Listed>(run, level.size(), parallelism, list, show));
    level = std::move(next);
  }
  return {};
}

namespace {

enum Column : std::size_t { kPath, kTime, kSize, kColumns };
constexpr std::array<std::string_view, kColumns> kColumnNames = {"file_path", "last_modified",
                                                                 "size"};
constexpr std::size_t kNoPosition = static_cast<std::size_t>(-1);

// Where each column stands in a line.
struct Columns {
  std::array<std::size_t, kColumns> position = {0, 1, 2};
};

std::vector<std::string_view> SplitCells(std::string_view line) {
  std::vector<std::string_view> cells;
  if (line.ends_with('\r')) line.remove_suffix(1);
  for (;;) {
    const std::size_t tab = line.find('\t');
    cells.push_back(line.substr(0, tab));
    if (tab == std::string_view::npos) return cells;
    line.remove_prefix(tab + 1);
  }
}

std::optional<Columns> ParseHeader(std::span<const std::string_view> cells) {
  Columns columns;
  for (std::size_t i = 0; i < kColumns; ++i) {
    const auto at = std::ranges::find(cells, kColumnNames[i]);
    columns.position[i] =
        at == cells.end() ? kNoPosition : static_cast<std::size_t>(at - cells.begin());
  }
  if (columns.position[kPath] == kNoPosition) return std::nullopt;
  return columns;
}

std::optional<std::int64_t> ParseInt(std::string_view text) {
  std::int64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

// Unset: neither a time nor in milliseconds.
std::optional<TimePoint> ParseTimeOfChange(std::string_view text) {
  if (const auto millis = ParseInt(text)) {
    if (*millis < kLeastMillis || *millis > kMostMillis) return std::nullopt;
    return FromMillis(*millis);
  }
  constexpr int kDecimals = 6;
  if (text.ends_with(" UTC")) text.remove_suffix(4);
  const auto micros = ParseTimestamp(text, kDecimals, ZoneText::kOptional);
  if (!micros) return std::nullopt;
  return std::chrono::floor<Milliseconds>(
      std::chrono::sys_time<std::chrono::microseconds>(std::chrono::microseconds(*micros)));
}

}  // namespace

Status ReadFileList(RunContext& run, FileIO& io, const Location& list, const FileVisitor& visit) {
  IW_ASSIGN(auto file, io.Open(list));
  LineReader lines(std::move(file), kMaxLineBytes);
  const auto bad = [&](std::string_view what) {
    return Error(Code::kInvalidArgument,
                 fmt::format("{}: line {}: {}", list.text(), lines.number(), what));
  };
  Columns columns;
  std::string line;
  for (;;) {
    IW_ASSIGN(const bool more, lines.Next(line));
    if (!more) return {};
    if (lines.number() % kLinesPerCheck == 0) IW_TRY(run.Check());
    const std::vector<std::string_view> cells = SplitCells(line);
    if (cells.size() == 1 && cells[0].empty()) continue;
    if (lines.number() == 1) {
      if (const auto header = ParseHeader(cells)) {
        columns = *header;
        if (columns.position[kTime] == kNoPosition) return bad("there is no column last_modified");
        continue;
      }
    }
    const auto cell = [&](Column column) {
      const std::size_t at = columns.position[column];
      return at < cells.size() ? cells[at] : std::string_view();
    };
    const auto modified = ParseTimeOfChange(cell(kTime));
    if (cell(kPath).empty()) return bad("the path is missing");
    if (!modified) {
      return bad(
          fmt::format("last_modified '{}' is neither a timestamp nor milliseconds since "
                      "1970; a line is file_path, a tab, last_modified",
                      cell(kTime)));
    }
    const std::string_view size_text = cell(kSize);
    const auto size = size_text.empty() ? std::optional<std::int64_t>(0) : ParseInt(size_text);
    if (!size || *size < 0) return bad(fmt::format("size '{}' is no number of bytes", size_text));
    IW_TRY(visit({Location(std::string(cell(kPath))), *size, *modified}));
  }
}

}  // namespace icewright
