#include "data/delete_cache.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/executor.h"
#include "table/literal.h"

namespace icewright {

bool DeleteCache::GroupKey::operator==(const GroupKey& other) const {
  return ids == other.ids && spec_id == other.spec_id &&
         StructValueEqual{}(partition, other.partition);
}

std::size_t DeleteCache::GroupKeyHash::operator()(const GroupKey& key) const {
  std::size_t hash = StructValueHash{}(key.partition);
  for (const FieldId id : key.ids) hash = HashCombine(hash, static_cast<std::size_t>(Raw(id)));
  return HashCombine(hash, key.spec_id ? static_cast<std::size_t>(Raw(*key.spec_id)) + 1 : 0);
}

Result<TaskDeletes> DeleteCache::Load(RunContext& run, const FileTask& task) {
  TaskDeletes out;
  std::vector<std::shared_ptr<const DeletedPositions>> positions;
  for (const auto& deletes : task.deletes) {
    if (deletes->file.content == FileContent::kEqualityDeletes) {
      IW_ASSIGN(std::shared_ptr<EqualityGroup> group, GroupOf(run, *deletes));
      IW_TRY(group->Load(run, *io_, *plan_, *deletes));
      if (std::find(out.groups.begin(), out.groups.end(), group) == out.groups.end()) {
        out.groups.push_back(std::move(group));
      }
      continue;
    }
    IW_ASSIGN(auto one, LoadPositions(run, *deletes, task.data_file.file_path.text()));
    if (one != nullptr && !one->bitmap.empty()) positions.push_back(std::move(one));
  }
  if (positions.size() == 1) out.positions = std::move(positions[0]);
  if (positions.size() > 1) {
    auto merged = std::make_shared<DeletedPositions>();
    for (const auto& one : positions) merged->bitmap.Merge(one->bitmap);
    IW_ASSIGN(merged->memory,
              run.memory().Reserve(merged->bitmap.cardinality() * 2 + 1024, "deleted positions"));
    out.positions = std::move(merged);
  }
  return out;
}

Status DeleteCache::LoadEqualityDeletes(RunContext& run, const std::vector<FileTask>& tasks) {
  std::vector<std::pair<std::shared_ptr<EqualityGroup>, const DeleteTask*>> files;
  std::unordered_set<const DeleteTask*> seen;
  std::unordered_map<EqualityGroup*, std::int64_t> keys;
  for (const FileTask& task : tasks) {
    for (const auto& deletes : task.deletes) {
      if (deletes->file.content != FileContent::kEqualityDeletes) continue;
      if (!seen.insert(deletes.get()).second) continue;
      IW_ASSIGN(std::shared_ptr<EqualityGroup> group, GroupOf(run, *deletes));
      keys[group.get()] += deletes->file.record_count;
      files.emplace_back(std::move(group), deletes.get());
    }
  }
  for (const auto& [group, count] : keys) group->Expect(count);
  return ParallelFor(run, files.size(), run.threads(), [&](std::size_t i) {
    return files[i].first->Load(run, *io_, *plan_, *files[i].second);
  });
}

Result<std::shared_ptr<const DeletedPositions>> DeleteCache::LoadPositions(
    RunContext& run, const DeleteTask& task, const std::string& data_file) {
  if (task.file.is_deletion_vector()) {
    IW_ASSIGN(DeletedPositions positions, ReadDeletionVector(run, *io_, task.file));
    return std::make_shared<const DeletedPositions>(std::move(positions));
  }
  // A delete of one data file is met once: keeping it would only cost memory.
  if (!ReferencedDataFile(task.file)) return LoadShared(run, task, data_file);
  IW_ASSIGN(auto split, ReadPositionDeletes(run, *io_, task.file, data_file));
  const auto found = split.find(data_file);
  if (found == split.end()) return std::shared_ptr<const DeletedPositions>();
  return std::make_shared<const DeletedPositions>(std::move(found->second));
}

Result<std::shared_ptr<const DeletedPositions>> DeleteCache::LoadShared(
    RunContext& run, const DeleteTask& task, const std::string& data_file) {
  std::shared_ptr<SharedFile> shared;
  {
    const std::scoped_lock lock(mutex_);
    auto& entry = shared_files_[task.file.file_path.text()];
    if (entry == nullptr) entry = std::make_shared<SharedFile>();
    shared = entry;
  }
  const std::scoped_lock lock(shared->mutex);
  if (!shared->content) {
    auto split = ReadPositionDeletes(run, *io_, task.file, {});
    if (!split) return split.error();  // not kept: a later task may have more luck
    PositionsByFile content;
    for (auto& [path, positions] : *split) {
      content.emplace(path, std::make_shared<const DeletedPositions>(std::move(positions)));
    }
    shared->content = std::move(content);
  }
  const auto found = shared->content->find(data_file);
  if (found == shared->content->end()) return std::shared_ptr<const DeletedPositions>();
  return found->second;
}

Result<std::shared_ptr<EqualityGroup>> DeleteCache::GroupOf(RunContext& run,
                                                            const DeleteTask& task) {
  const PartitionSpec* spec = plan_->metadata->FindSpec(task.file.spec_id);
  GroupKey key{.ids = task.file.equality_ids, .spec_id = {}, .partition = {}};
  std::sort(key.ids.begin(), key.ids.end());
  if (spec == nullptr || !spec->is_unpartitioned()) {
    key.spec_id = task.file.spec_id;
    key.partition = task.file.partition;
  }
  const std::scoped_lock lock(mutex_);
  if (const auto found = groups_.find(key); found != groups_.end()) return found->second;
  auto columns = KeyColumns::Make(*plan_->metadata, task.file.equality_ids);
  if (!columns) return columns.error().Within("read " + task.file.file_path.text());
  auto group = std::make_shared<EqualityGroup>(std::move(*columns), share_, run.memory());
  groups_.emplace(std::move(key), group);
  return group;
}

std::shared_ptr<DeleteCache> MakeDeleteCache(std::shared_ptr<const ReadPlan> plan,
                                             std::shared_ptr<FileIO> io, KeyShare share) {
  return std::make_shared<DeleteCache>(std::move(plan), std::move(io), share);
}

}  // namespace icewright
