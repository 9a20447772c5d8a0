#include "maintain/orphan_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace icewright {
namespace {

constexpr std::int64_t kMostSorterBytes = std::int64_t{48} << 20;
constexpr std::int64_t kLeastSorterBytes = std::int64_t{1} << 20;
constexpr std::size_t kMismatchesNamed = 5;
constexpr int kGroupsPerCheck = 1 << 14;

std::int64_t SorterBytes(const MemoryBudget& budget) {
  // Reading manifests needs memory at the same time.
  return std::clamp(budget.available() / 6, kLeastSorterBytes, kMostSorterBytes);
}

template <typename T>
void AppendFixed(T value, std::string& out) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

}  // namespace

std::string PackFile(const FileStatus& file) {
  std::string payload;
  payload.reserve(2 * sizeof(std::int64_t) + file.location.text().size());
  AppendFixed(file.size, payload);
  AppendFixed(ToMillis(file.modified), payload);
  payload += file.location.text();
  return payload;
}

FileStatus UnpackFile(std::string_view payload) {
  constexpr std::size_t kWord = sizeof(std::int64_t);
  return {.location = Location(std::string(payload.substr(2 * kWord))),
          .size = LoadLittle<std::int64_t>(payload.data()),
          .modified = FromMillis(LoadLittle<std::int64_t>(payload.data() + kWord))};
}

Result<OrphanSearch> OrphanSearch::Start(RunContext& run, const PrefixRules& rules,
                                         PrefixMismatchMode mode) {
  IW_ASSIGN(auto memory,
            run.memory().Reserve(2 * SorterBytes(run.memory()), "listed and referenced files"));
  return OrphanSearch(run, rules, mode, std::move(memory));
}

OrphanSearch::OrphanSearch(RunContext& run, const PrefixRules& rules, PrefixMismatchMode mode,
                           Reservation memory)
    : run_(run),
      rules_(rules),
      mode_(mode),
      memory_(std::move(memory)),
      folder_(std::make_unique<LazySpillFolder>()) {
  const auto bytes = static_cast<std::size_t>(memory_.bytes() / 2);
  listed_ = std::make_unique<HashSorter>(*folder_, bytes);
  referenced_ = std::make_unique<HashSorter>(*folder_, bytes);
}

Status OrphanSearch::AddListed(const FileStatus& file, PathHash hash) {
  return listed_->Add(hash, PackFile(file));
}

OrphanSearch::PrefixNumber OrphanSearch::NumberOf(Prefix prefix) {
  const auto [at, is_new] =
      numbers_.try_emplace(std::move(prefix), static_cast<PrefixNumber>(prefixes_.size()));
  if (is_new) prefixes_.push_back(&at->first);
  return at->second;
}

Status OrphanSearch::AddReferenced(std::span<const std::string> paths) {
  for (const std::string& path : paths) {
    const auto uri = SplitUri(path);
    if (!uri) {
      return Error(Code::kCorrupt,
                   fmt::format("the table names {}; nothing is deleted", uri.error().message()));
    }
    const std::string_view prefix =
        std::string_view(path).substr(0, path.size() - uri->path.size());
    if (prefixes_.empty() || prefix != last_prefix_) {
      last_number_ = NumberOf(rules_.PrefixOf(*uri));
      last_prefix_ = prefix;
    }
    std::string payload;
    AppendFixed(last_number_, payload);
    IW_TRY(referenced_->Add(HashOfPath(uri->path), payload));
  }
  return {};
}

Status OrphanSearch::Compare(const std::function<Status(const OrphanFile&)>& visit) {
  run_.progress().Enter("compare", "files", listed_->size());
  IW_TRY(listed_->Sort(run_));
  IW_TRY(referenced_->Sort(run_));
  HashedRecord listed;
  HashedRecord referenced;
  IW_ASSIGN(bool more_listed, listed_->Next(listed));
  IW_ASSIGN(bool more_referenced, referenced_->Next(referenced));
  std::vector<FileStatus> files;
  std::vector<const Prefix*> prefixes;
  for (int group = 1; more_listed; ++group) {
    if (group % kGroupsPerCheck == 0) IW_TRY(run_.Check());
    const PathHash hash = listed.hash;
    files.clear();
    prefixes.clear();
    while (more_listed && listed.hash == hash) {
      files.push_back(UnpackFile(listed.payload));
      IW_ASSIGN(more_listed, listed_->Next(listed));
    }
    while (more_referenced && referenced.hash <= hash) {
      if (referenced.hash == hash) {
        prefixes.push_back(prefixes_[LoadLittle<PrefixNumber>(referenced.payload.data())]);
      }
      IW_ASSIGN(more_referenced, referenced_->Next(referenced));
    }
    IW_TRY(CompareGroup(files, hash, prefixes, visit));
  }
  if (mode_ == PrefixMismatchMode::kError && counts_.mismatched > 0) return MismatchError();
  return {};
}

Status OrphanSearch::CompareGroup(std::vector<FileStatus>& listed, PathHash hash,
                                  const std::vector<const Prefix*>& referenced,
                                  const std::function<Status(const OrphanFile&)>& visit) {
  std::ranges::sort(listed, {}, &FileStatus::location);
  const Location* last = nullptr;
  for (FileStatus& file : listed) {
    if (last != nullptr && file.location == *last) continue;
    last = &file.location;
    ++counts_.compared;
    run_.progress().Advance();
    IW_ASSIGN(const FileUri uri, SplitUri(file.location.text()));
    const Prefix prefix = rules_.PrefixOf(uri);
    const Match match = MatchPrefixes(prefix, referenced);
    if (match == Match::kReferenced) {
      ++counts_.referenced;
      continue;
    }
    OrphanFile orphan{.file = file, .hash = hash};
    if (match == Match::kMismatch) {
      ++counts_.mismatched;
      orphan.named_with = PrefixText(*referenced.front());
      if (mode_ != PrefixMismatchMode::kDelete) {
        if (mismatches_.size() >= kMismatchesNamed) continue;
        mismatches_.try_emplace(
            fmt::format("listed with {}, named with {}", PrefixText(prefix), orphan.named_with),
            file.location.text());
        continue;
      }
    }
    ++counts_.orphans;
    counts_.bytes += file.size;
    IW_TRY(visit(orphan));
  }
  return {};
}

Error OrphanSearch::MismatchError() const {
  std::string differences;
  for (const auto& [difference, example] : mismatches_) {
    differences += fmt::format("; {}: {}", difference, example);
  }
  return {Code::kInvalidArgument,
          fmt::format("{} listed file(s) have the path of a file that the table names with another "
                      "scheme or authority, and nothing is deleted{}. If they are the same, say so "
                      "with equal-schemes or equal-authorities; else choose prefix-mismatch-mode "
                      "IGNORE to leave such files alone or DELETE to delete them",
                      counts_.mismatched, differences)};
}

}  // namespace icewright
