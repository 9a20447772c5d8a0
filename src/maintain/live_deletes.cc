#include "maintain/live_deletes.h"

#include <algorithm>
#include <iterator>
#include <unordered_set>

#include "base/executor.h"
#include "manifest/manifest_file.h"
#include "manifest/manifest_reader.h"
#include "scan/plan_files.h"

namespace icewright {

Result<AttachedDeletes> FindAttachedDeletes(RunContext& run, FileIO& io,
                                            const TableMetadata& metadata, const Snapshot& snapshot,
                                            const std::function<Status(const FileTask&)>& visit) {
  AttachedDeletes attached;
  // One object per delete, shared by all its tasks: most look-ups need no path.
  std::unordered_set<const DeleteTask*> seen;
  IW_TRY(PlanFiles(run, io, metadata, snapshot, {}, [&](FileTask&& task) -> Status {
    for (const auto& deletes : task.deletes) {
      if (!seen.insert(deletes.get()).second) continue;
      attached.emplace(ContentKey::Of(deletes->file), deletes);
    }
    return visit && !task.deletes.empty() ? visit(task) : Status();
  }));
  return attached;
}

Result<std::vector<DeleteTask>> FindDetachedDeletes(RunContext& run, FileIO& io,
                                                    const TableMetadata& metadata,
                                                    const Snapshot& snapshot,
                                                    const AttachedDeletes& attached) {
  IW_ASSIGN(std::vector<ManifestFile> manifests, ReadManifests(run, io, metadata, snapshot));
  std::erase_if(manifests, [](const ManifestFile& manifest) {
    return manifest.content == ManifestContent::kData || !manifest.may_have_live();
  });
  using Batch = std::vector<DeleteTask>;
  Batch detached;
  const auto read = [&](std::size_t i) -> Result<Batch> {
    Batch batch;
    IW_ASSIGN(auto reader, ManifestReader::Open(io, metadata, manifests[i], {.metrics = false}));
    ManifestEntry entry;
    for (;;) {
      IW_ASSIGN(const bool more, reader.Next(entry));
      if (!more) return batch;
      if (attached.contains(ContentKey::Of(entry.file))) continue;
      batch.push_back({std::move(entry.file), *entry.sequence_number});
    }
  };
  IW_TRY(OrderedParallel<Batch>(run, manifests.size(), run.threads(), read,
                                [&](std::size_t, Batch&& batch) -> Status {
                                  std::ranges::move(batch, std::back_inserter(detached));
                                  return {};
                                }));
  return detached;
}

}  // namespace icewright
