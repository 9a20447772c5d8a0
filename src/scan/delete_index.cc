#include "scan/delete_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "scan/equality_pruning.h"
#include "table/literal.h"

namespace icewright {
namespace {

using scan_internal::EqualityColumns;
using TaskPtr = std::shared_ptr<const DeleteTask>;

/// Deletes of one scope. Sorted by sequence number before the first search.
struct SortedDeletes {
  struct Item {
    SequenceNumber sequence_number;
    TaskPtr task;
    EqualityColumns columns = {};
  };
  std::vector<Item> items;

  void Sort() { std::ranges::stable_sort(items, {}, &Item::sequence_number); }

  /// Position deletes apply from the data's own sequence number on.
  auto From(SequenceNumber number) const {
    return std::ranges::lower_bound(items, number, {}, &Item::sequence_number);
  }
  /// Equality deletes apply to older data only: a writer may add both in one commit.
  auto After(SequenceNumber number) const {
    return std::ranges::upper_bound(items, number, {}, &Item::sequence_number);
  }
};

/// What partition-scoped deletes share.
struct PartitionKey {
  SpecId spec_id;
  StructValue partition;
};
struct PartitionView {
  SpecId spec_id;
  const StructValue& partition;
};
struct PartitionHash {
  using is_transparent = void;
  template <typename Key>
  std::size_t operator()(const Key& key) const {
    return HashCombine(static_cast<std::size_t>(Raw(key.spec_id)),
                       StructValueHash{}(key.partition));
  }
};
struct PartitionEqual {
  using is_transparent = void;
  template <typename A, typename B>
  bool operator()(const A& a, const B& b) const {
    return a.spec_id == b.spec_id && StructValueEqual{}(a.partition, b.partition);
  }
};

struct PartitionDeletes {
  SortedDeletes positions;
  SortedDeletes equality;
};

bool SamePartition(const DataFile& a, const DataFile& b) {
  return a.spec_id == b.spec_id && StructValueEqual{}(a.partition, b.partition);
}

Error WrongPartition(const DataFile& data, const DataFile& deletes) {
  return {Code::kCorrupt, fmt::format("{} deletes from {} but belongs to another partition",
                                      deletes.file_path.text(), data.file_path.text())};
}

/// Plans of many files need no metrics of deletes, except the path that shows their scope.
void KeepPathBoundsOnly(DataFile& file) {
  const auto keep = [](const ColumnBounds& bounds) {
    ColumnBounds kept;
    const Bytes* path = FindColumn(bounds, kDeleteFilePathField);
    if (path != nullptr) kept.emplace_back(kDeleteFilePathField, *path);
    return kept;
  };
  ColumnBounds lower = keep(file.lower_bounds);
  ColumnBounds upper = keep(file.upper_bounds);
  file.DropMetrics();
  file.lower_bounds = std::move(lower);
  file.upper_bounds = std::move(upper);
}

}  // namespace

struct DeleteIndex::Rep {
  Schema schema;  // equality columns point into it
  SortedDeletes global_equality;
  std::unordered_map<PartitionKey, PartitionDeletes, PartitionHash, PartitionEqual> partitions;
  std::unordered_map<Location, SortedDeletes> by_path;
  std::unordered_map<Location, TaskPtr> dvs;
  std::size_t size = 0;
  bool has_equality = false;

  Status Add(const TableMetadata& metadata, DeleteTask delete_task);
  void Sort();
  Status FindPositions(const DataFile& file, SequenceNumber number,
                       const PartitionDeletes* partition, std::vector<TaskPtr>& out) const;
};

Status DeleteIndex::Rep::Add(const TableMetadata& metadata, DeleteTask delete_task) {
  ++size;
  SortedDeletes::Item item{.sequence_number = delete_task.sequence_number, .task = nullptr};
  const auto referenced = ReferencedDataFile(delete_task.file);
  if (delete_task.file.content == FileContent::kEqualityDeletes) {
    item.columns = scan_internal::EqualityColumnsOf(schema, delete_task.file);
    has_equality = true;
  }
  KeepPathBoundsOnly(delete_task.file);
  auto task = std::make_shared<const DeleteTask>(std::move(delete_task));
  const DataFile& file = task->file;
  item.task = task;
  if (file.is_deletion_vector()) {
    if (!referenced) {
      return Error(Code::kCorrupt, "DV without a data file in " + file.file_path.text());
    }
    if (!dvs.emplace(*referenced, task).second) {
      return Error(Code::kCorrupt, fmt::format("two DVs for {}: one is in {}", referenced->text(),
                                               file.file_path.text()));
    }
    return {};
  }
  if (referenced) {
    by_path[*referenced].items.push_back(std::move(item));
    return {};
  }
  if (file.content == FileContent::kPositionDeletes) {
    auto& scope = partitions[PartitionKey{file.spec_id, file.partition}];
    scope.positions.items.push_back(std::move(item));
    return {};
  }
  const PartitionSpec* spec = metadata.FindSpec(file.spec_id);
  if (spec == nullptr) {
    return Error(Code::kCorrupt, fmt::format("{} belongs to spec {}, which the table lacks",
                                             file.file_path.text(), Raw(file.spec_id)));
  }
  if (spec->is_unpartitioned()) {
    global_equality.items.push_back(std::move(item));
  } else {
    auto& scope = partitions[PartitionKey{file.spec_id, file.partition}];
    scope.equality.items.push_back(std::move(item));
  }
  return {};
}

void DeleteIndex::Rep::Sort() {
  global_equality.Sort();
  for (auto& [path, deletes] : by_path) deletes.Sort();
  for (auto& [key, deletes] : partitions) {
    deletes.positions.Sort();
    deletes.equality.Sort();
  }
}

Status DeleteIndex::Rep::FindPositions(const DataFile& file, SequenceNumber number,
                                       const PartitionDeletes* partition,
                                       std::vector<TaskPtr>& out) const {
  if (const auto dv = dvs.find(file.file_path); dv != dvs.end()) {
    if (dv->second->sequence_number < number) {
      return Error(Code::kCorrupt,
                   fmt::format("the DV in {} has sequence number {}, older than {} of {}",
                               dv->second->file.file_path.text(), Raw(dv->second->sequence_number),
                               Raw(number), file.file_path.text()));
    }
    if (!SamePartition(file, dv->second->file)) return WrongPartition(file, dv->second->file);
    out.push_back(dv->second);
    return {};
  }
  if (partition != nullptr) {
    const SortedDeletes& deletes = partition->positions;
    for (auto it = deletes.From(number); it != deletes.items.end(); ++it) out.push_back(it->task);
  }
  const auto scoped = by_path.find(file.file_path);
  if (scoped == by_path.end()) return {};
  for (auto it = scoped->second.From(number); it != scoped->second.items.end(); ++it) {
    if (!SamePartition(file, it->task->file)) return WrongPartition(file, it->task->file);
    out.push_back(it->task);
  }
  return {};
}

DeleteIndex::DeleteIndex(std::unique_ptr<Rep> rep) : rep_(std::move(rep)) {}
DeleteIndex::DeleteIndex(DeleteIndex&&) noexcept = default;
DeleteIndex& DeleteIndex::operator=(DeleteIndex&&) noexcept = default;
DeleteIndex::~DeleteIndex() = default;

Result<DeleteIndex> DeleteIndex::Build(const TableMetadata& metadata,
                                       std::vector<DeleteTask> deletes,
                                       std::optional<SequenceNumber> after) {
  auto rep = std::make_unique<Rep>();
  if (!deletes.empty()) rep->schema = metadata.schema();
  for (DeleteTask& task : deletes) {
    if (after && task.sequence_number <= *after) continue;
    IW_TRY(rep->Add(metadata, std::move(task)));
  }
  rep->Sort();
  return DeleteIndex(std::move(rep));
}

bool DeleteIndex::empty() const { return rep_->size == 0; }
bool DeleteIndex::uses_metrics() const { return rep_->has_equality; }

Result<std::vector<std::shared_ptr<const DeleteTask>>> DeleteIndex::Find(
    const DataFile& file, SequenceNumber sequence_number) const {
  std::vector<TaskPtr> out;
  if (empty()) return out;
  const auto found = rep_->partitions.find(PartitionView{file.spec_id, file.partition});
  const PartitionDeletes* partition = found == rep_->partitions.end() ? nullptr : &found->second;

  IW_TRY(rep_->FindPositions(file, sequence_number, partition, out));
  scan_internal::DataRanges ranges(file);
  const auto add_equality = [&](const SortedDeletes& deletes) {
    for (auto it = deletes.After(sequence_number); it != deletes.items.end(); ++it) {
      if (scan_internal::MayDelete(it->columns, ranges)) out.push_back(it->task);
    }
  };
  add_equality(rep_->global_equality);
  if (partition != nullptr) add_equality(partition->equality);
  std::ranges::stable_sort(out, {}, [](const TaskPtr& task) { return task->sequence_number; });
  return out;
}

}  // namespace icewright
