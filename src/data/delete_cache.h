#pragma once

/// \file data/delete_cache.h
/// Deletes of a run, each file read once. The inside of what data/batch_reader.h declares.
///
/// Spec: "Delete Formats", "Scan Planning".

#include <arrow/type_fwd.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/memory_budget.h"
#include "base/result.h"
#include "base/run_context.h"
#include "codec/position_bitmap.h"
#include "data/array_filter.h"
#include "data/batch_reader.h"
#include "data/key_columns.h"
#include "data/key_filter.h"
#include "data/key_set.h"
#include "data/key_share.h"

namespace icewright {

/// Deleted positions of one data file, and the memory they take.
struct DeletedPositions {
  PositionBitmap bitmap;
  Reservation memory = {};
};

/// Equality deletes with the same key columns and the same reach: one partition of one spec, or the
/// whole table. Grows as tasks name further delete files. A key keeps the newest sequence number
/// that deletes it, so one look-up answers for all files. Thread-safe.
class EqualityGroup {
 public:
  /// Keys outside `share` are not kept.
  EqualityGroup(KeyColumns keys, KeyShare share, MemoryBudget& budget)
      : keys_(std::move(keys)), share_(share), integers_(budget), bytes_(budget) {}

  const KeyColumns& keys() const { return keys_; }

  /// Makes room for so many keys of delete files; what is in the share of them counts. A hint.
  void Expect(std::int64_t keys);

  /// Reads the delete file unless it is here already. Who needs one that another thread reads waits
  /// for it.
  Status Load(RunContext& run, FileIO& io, const ReadPlan& plan, const DeleteTask& task);

  /// Drops rows of a batch whose keys are deleted by a number above `sequence_number`. `columns`:
  /// arrays of keys().fields().
  Status Apply(const std::vector<std::shared_ptr<arrow::Array>>& columns,
               SequenceNumber sequence_number, Selection& rows) const;

  /// To skip row groups with; null if there are too many keys, or not of one simple column, or null
  /// is deleted.
  std::shared_ptr<const KeyFilter> Filter() const;

 private:
  Status Read(RunContext& run, FileIO& io, const ReadPlan& plan, const DeleteTask& task);
  Status Add(const KeyRows& rows, std::int64_t count, SequenceNumber sequence_number);
  void ApplyIntegers(const KeyRows& rows, SequenceNumber sequence_number, Selection& out) const;

  const KeyColumns keys_;
  const KeyShare share_;
  std::mutex load_mutex_;
  std::condition_variable load_ended_;
  std::unordered_set<std::string> loading_;  // guarded by load_mutex_
  std::unordered_set<std::string> loaded_;   // guarded by load_mutex_
  mutable std::shared_mutex mutex_;          // guards the keys
  IntegerKeySet integers_;
  ByteKeySet bytes_;
  std::optional<SequenceNumber> null_deleted_by_;  // beside integers_
};

/// What of the deletes a data file meets. Either part may be empty.
struct TaskDeletes {
  std::shared_ptr<const DeletedPositions> positions;
  std::vector<std::shared_ptr<const EqualityGroup>> groups;
};

class DeleteCache {
 public:
  DeleteCache(std::shared_ptr<const ReadPlan> plan, std::shared_ptr<FileIO> io, KeyShare share)
      : plan_(std::move(plan)), io_(std::move(io)), share_(share) {}

  /// Reads what is missing. Tasks of one cache come from one plan, and the run outlives the cache.
  /// Errors: kCorrupt, kUnsupported, kExhausted, those of io; all name the delete file.
  Result<TaskDeletes> Load(RunContext& run, const FileTask& task);

  /// Reads the equality deletes of all the tasks at once, in parallel. Errors: as Load.
  Status LoadEqualityDeletes(RunContext& run, const std::vector<FileTask>& tasks);

 private:
  using PositionsByFile = std::unordered_map<std::string, std::shared_ptr<const DeletedPositions>>;
  /// A position delete file of many data files.
  struct SharedFile {
    std::mutex mutex;
    std::optional<PositionsByFile> content;  // guarded by mutex
  };
  struct GroupKey {
    std::vector<FieldId> ids;
    std::optional<SpecId> spec_id;  // unset: the whole table
    StructValue partition;
    bool operator==(const GroupKey& other) const;
  };
  struct GroupKeyHash {
    std::size_t operator()(const GroupKey& key) const;
  };

  Result<std::shared_ptr<const DeletedPositions>> LoadPositions(RunContext& run,
                                                                const DeleteTask& task,
                                                                const std::string& data_file);
  Result<std::shared_ptr<const DeletedPositions>> LoadShared(RunContext& run,
                                                             const DeleteTask& task,
                                                             const std::string& data_file);
  Result<std::shared_ptr<EqualityGroup>> GroupOf(RunContext& run, const DeleteTask& task);

  std::shared_ptr<const ReadPlan> plan_;
  std::shared_ptr<FileIO> io_;
  const KeyShare share_;
  std::mutex mutex_;  // guards the maps, not what they point to
  std::unordered_map<std::string, std::shared_ptr<SharedFile>> shared_files_;
  std::unordered_map<GroupKey, std::shared_ptr<EqualityGroup>, GroupKeyHash> groups_;
};

/// A deletion vector; `file` is its manifest entry. Errors: kCorrupt, kExhausted, those of io.
Result<DeletedPositions> ReadDeletionVector(RunContext& run, FileIO& io, const DataFile& file);

/// A position delete file, split by data file. `only`: keep this data file's positions only.
Result<std::unordered_map<std::string, DeletedPositions>> ReadPositionDeletes(
    RunContext& run, FileIO& io, const DataFile& file, const std::optional<std::string>& only);

/// Drops the deleted positions from rows that start at position `first_row`.
void ApplyPositions(const PositionBitmap& deleted, std::int64_t first_row, Selection& rows);

}  // namespace icewright
