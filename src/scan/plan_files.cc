#include "scan/plan_files.h"

#include <algorithm>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/executor.h"
#include "manifest/manifest_file.h"
#include "manifest/manifest_reader.h"
#include "manifest/partition_codec.h"
#include "manifest/pruning.h"
#include "scan/delete_index.h"

namespace icewright {
namespace {

/// The filter as partitions of one spec see it.
struct SpecFilter {
  const PartitionSpec* spec = nullptr;
  Type partition_type;
  Expression projected;
};

/// Immutable after Make.
class ManifestFilter {
 public:
  static Result<ManifestFilter> Make(const TableMetadata& metadata, const PlanOptions& options,
                                     const std::vector<ManifestFile>& manifests) {
    ManifestFilter filter;
    filter.schema_ = options.schema != nullptr ? options.schema : &metadata.schema();
    filter.filter_ = options.filter;
    if (options.filter.is_true()) return filter;
    for (const ManifestFile& manifest : manifests) {
      const SpecId id = manifest.partition_spec_id;
      const PartitionSpec* spec = metadata.FindSpec(id);
      if (spec == nullptr || filter.by_spec_.contains(id)) continue;
      filter.by_spec_[id] = {
          .spec = spec,
          .partition_type = spec->PartitionType(PartitionSchemaOf(metadata, *spec)),
          .projected = ProjectInclusive(options.filter, *filter.schema_, *spec)};
    }
    return filter;
  }

  bool is_true() const { return filter_.is_true(); }

  /// Can files of this manifest hold matching rows, by its partition summaries?
  bool MayHold(const ManifestFile& manifest) const {
    const SpecFilter* spec = OfSpec(manifest.partition_spec_id);
    return spec == nullptr ||
           MayMatch(spec->projected, *spec->spec, spec->partition_type, manifest);
  }

  bool MayHoldPartition(const DataFile& file) const {
    const SpecFilter* spec = OfSpec(file.spec_id);
    return spec == nullptr || MayMatch(spec->projected, *spec->spec, file.partition);
  }

  bool MayHold(const DataFile& file) const {
    if (is_true()) return true;
    return MayHoldPartition(file) && MayMatch(filter_, *schema_, file);
  }

  /// Deletes of a partition in which no row matches apply to no file of the plan. Equality deletes
  /// of an unpartitioned spec apply everywhere.
  bool MayApply(const ManifestFile& deletes) const {
    return IsGlobal(deletes.partition_spec_id) || MayHold(deletes);
  }
  bool MayApply(const DataFile& delete_file) const {
    return IsGlobal(delete_file.spec_id) || MayHoldPartition(delete_file);
  }

 private:
  const SpecFilter* OfSpec(SpecId id) const {
    const auto it = by_spec_.find(id);
    return it == by_spec_.end() ? nullptr : &it->second;
  }
  bool IsGlobal(SpecId id) const {
    const SpecFilter* spec = OfSpec(id);
    return spec == nullptr || spec->spec->is_unpartitioned();
  }

  const Schema* schema_ = nullptr;
  Expression filter_;
  std::map<SpecId, SpecFilter> by_spec_;
};

struct Manifests {
  std::vector<ManifestFile> data;
  std::vector<ManifestFile> deletes;
};

/// What the plan has to read of a snapshot.
Manifests Choose(const ManifestFilter& filter, std::vector<ManifestFile> all,
                 PlanSummary& summary) {
  Manifests chosen;
  for (ManifestFile& manifest : all) {
    const bool is_data = manifest.content == ManifestContent::kData;
    ++(is_data ? summary.data_manifests : summary.delete_manifests);
    const bool wanted = manifest.may_have_live() &&
                        (is_data ? filter.MayHold(manifest) : filter.MayApply(manifest));
    if (!wanted) {
      ++(is_data ? summary.data_manifests_skipped : summary.delete_manifests_skipped);
    } else {
      (is_data ? chosen.data : chosen.deletes).push_back(std::move(manifest));
    }
  }
  if (chosen.data.empty()) {  // nothing that deletes could apply to
    summary.delete_manifests_skipped += static_cast<std::int64_t>(chosen.deletes.size());
    chosen.deletes.clear();
  }
  return chosen;
}

Result<std::vector<DeleteTask>> ReadDeletes(RunContext& run, FileIO& io,
                                            const TableMetadata& metadata,
                                            const ManifestFilter& filter,
                                            const std::vector<ManifestFile>& manifests) {
  using Batch = std::vector<DeleteTask>;
  Batch deletes;
  IW_TRY(OrderedParallel<Batch>(
      run, manifests.size(), run.threads(),
      [&](std::size_t i) -> Result<Batch> {
        Batch batch;
        IW_ASSIGN(auto reader, ManifestReader::Open(io, metadata, manifests[i]));
        ManifestEntry entry;
        for (;;) {
          IW_ASSIGN(const bool more, reader.Next(entry));
          if (!more) return batch;
          if (!filter.MayApply(entry.file)) continue;
          batch.push_back({std::move(entry.file), *entry.sequence_number});
        }
      },
      [&](std::size_t, Batch&& batch) -> Status {
        std::ranges::move(batch, std::back_inserter(deletes));
        return {};
      }));
  return deletes;
}

struct TaskBatch {
  std::vector<FileTask> tasks;
  std::int64_t skipped = 0;
};

Result<TaskBatch> PlanManifest(FileIO& io, const TableMetadata& metadata,
                               const ManifestFile& manifest, const ManifestFilter& filter,
                               const DeleteIndex& deletes, bool keep_metrics) {
  const bool metrics = keep_metrics || !filter.is_true() || deletes.uses_metrics();
  IW_ASSIGN(auto reader, ManifestReader::Open(io, metadata, manifest, {.metrics = metrics}));
  TaskBatch batch;
  ManifestEntry entry;
  for (;;) {
    IW_ASSIGN(const bool more, reader.Next(entry));
    if (!more) return batch;
    if (!filter.MayHold(entry.file)) {
      ++batch.skipped;
      continue;
    }
    FileTask& task = batch.tasks.emplace_back();
    task.sequence_number = *entry.sequence_number;
    task.file_sequence_number = entry.file_sequence_number;
    IW_ASSIGN(task.deletes, deletes.Find(entry.file, task.sequence_number));
    if (metrics && !keep_metrics) entry.file.DropMetrics();
    task.data_file = std::move(entry.file);
  }
}

}  // namespace

Result<PlanSummary> PlanFiles(RunContext& run, FileIO& io, const TableMetadata& metadata,
                              const Snapshot& snapshot, const PlanOptions& options,
                              const std::function<Status(FileTask&&)>& visit) {
  PlanSummary summary;
  IW_ASSIGN(auto all, ReadManifests(run, io, metadata, snapshot));
  IW_ASSIGN(const auto filter, ManifestFilter::Make(metadata, options, all));
  const Manifests manifests = Choose(filter, std::move(all), summary);

  IW_ASSIGN(auto delete_tasks, ReadDeletes(run, io, metadata, filter, manifests.deletes));
  summary.delete_files = static_cast<std::int64_t>(delete_tasks.size());
  IW_ASSIGN(const auto deletes, DeleteIndex::Build(metadata, std::move(delete_tasks)));

  const auto plan_one = [&](std::size_t i) {
    return PlanManifest(io, metadata, manifests.data[i], filter, deletes, options.metrics);
  };
  const auto visit_all = [&](std::size_t, TaskBatch&& batch) -> Status {
    summary.data_files_skipped += batch.skipped;
    summary.data_files += static_cast<std::int64_t>(batch.tasks.size());
    for (FileTask& task : batch.tasks) IW_TRY(visit(std::move(task)));
    return {};
  };
  IW_TRY(
      OrderedParallel<TaskBatch>(run, manifests.data.size(), run.threads(), plan_one, visit_all));
  return summary;
}

}  // namespace icewright
