#include "commit/added_manifests.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "base/executor.h"

namespace icewright {
namespace {

constexpr std::size_t kFilesBetweenRolls = 250;
constexpr std::size_t kMinFilesOfAWorker = 10'000;

using Files = std::span<const AddedFile* const>;

/// What one worker writes: a run of files of one spec.
struct Share {
  SpecId spec{};
  Files files;
};

Result<AddedManifest> WriteOne(const CommitScope& scope, ManifestContent content, SpecId spec,
                               std::int64_t target_bytes, Files& rest) {
  IW_ASSIGN(ManifestWriter writer, scope.NewManifest(spec, content));
  std::size_t count = 0;
  while (count < rest.size()) {
    const AddedFile& added = *rest[count++];
    IW_TRY(writer.AddAdded(added.file, added.sequence_number));
    if (count % kFilesBetweenRolls != 0) continue;
    IW_TRY(scope.run.Check());
    if (writer.estimated_bytes() >= target_bytes) break;
  }
  IW_ASSIGN(ManifestFile manifest, writer.Close());
  AddedManifest written{.manifest = std::move(manifest),
                        .files = {rest.begin(), rest.begin() + count}};
  rest = rest.subspan(count);
  return written;
}

Result<std::vector<AddedManifest>> WriteShare(const CommitScope& scope, ManifestContent content,
                                              std::int64_t target_bytes, Share share) {
  std::vector<AddedManifest> written;
  while (!share.files.empty()) {
    IW_ASSIGN(AddedManifest one, WriteOne(scope, content, share.spec, target_bytes, share.files));
    written.push_back(std::move(one));
  }
  return written;
}

std::vector<Share> SharesOf(SpecId spec, Files files, int threads) {
  const std::size_t wanted = std::clamp<std::size_t>(files.size() / kMinFilesOfAWorker, 1,
                                                     static_cast<std::size_t>(threads));
  const std::size_t size = (files.size() + wanted - 1) / wanted;
  std::vector<Share> shares;
  for (std::size_t first = 0; first < files.size(); first += size) {
    shares.push_back({spec, files.subspan(first, std::min(size, files.size() - first))});
  }
  return shares;
}

}  // namespace

Result<std::vector<AddedManifest>> WriteAddedManifests(const CommitScope& scope,
                                                       ManifestContent content,
                                                       const std::vector<AddedFile>& files,
                                                       std::int64_t target_bytes) {
  std::map<SpecId, std::vector<const AddedFile*>, std::greater<>> by_spec;
  for (const AddedFile& added : files) by_spec[added.file.spec_id].push_back(&added);
  std::vector<Share> shares;
  for (const auto& [spec, members] : by_spec) {
    std::ranges::copy(SharesOf(spec, members, scope.run.threads()), std::back_inserter(shares));
  }
  std::vector<std::vector<AddedManifest>> written(shares.size());
  IW_TRY(ParallelFor(scope.run, shares.size(), scope.run.threads(), [&](std::size_t i) -> Status {
    IW_ASSIGN(written[i], WriteShare(scope, content, target_bytes, shares[i]));
    return {};
  }));
  std::vector<AddedManifest> all;
  for (auto& part : written) std::ranges::move(part, std::back_inserter(all));
  return all;
}

}  // namespace icewright
