#include "maintain/resolve_deletes.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "base/executor.h"

namespace icewright {
namespace {

/// Parts of the keys beyond which it is the positions that do not fit.
constexpr std::uint32_t kMostShares = 256;
constexpr std::size_t kKeysHeld = 4096;     // of a delete file that is looked up
constexpr std::size_t kPlacesHeld = 4096;   // of their rows
constexpr std::int64_t kPositionBytes = 2;  // in a bitmap

bool IsEqualityDelete(const std::shared_ptr<const DeleteTask>& deletes) {
  return deletes->file.content == FileContent::kEqualityDeletes;
}

Error UnknownAge(const DataFile& file) {
  return Error(
      Code::kConflict,
      fmt::format("data file {} was rewritten without row lineage: nobody knows whether its "
                  "rows came before the staged deletes or after them; recreate the staging "
                  "branch from the target",
                  file.file_path.text()));
}

/// Takes back the rows that the equality deletes must not reach.
Status LeaveUnreached(RunContext& run, const DroppedRowFinder& finder, const FileTask& task,
                      const ResolveOptions& options, DroppedRows& rows) {
  if (!options.reaches_file || rows.positions.cardinality() == rows.by_position) return {};
  const std::optional<bool> whole_file = options.reaches_file(task);
  if (whole_file == true) return {};
  IW_ASSIGN(DroppedRows before, finder.ByPosition(run, task));
  if (!whole_file) {
    PositionBitmap reached = before.positions.Clone();
    const auto visit = [&](std::int64_t position, std::optional<SequenceNumber> number) -> Status {
      if (before.positions.Contains(position)) return {};
      if (!number) return UnknownAge(task.data_file);
      IW_ASSIGN(const bool reaches, options.reaches_row(*number));
      if (reaches) reached.Add(position);
      return {};
    };
    IW_TRY(finder.VisitLastUpdated(run, task, rows.positions, visit));
    before.positions = std::move(reached);
  }
  rows.positions = std::move(before.positions);
  rows.by_position = before.by_position;
  return {};
}

std::vector<ResolvedFile> OnlyResolved(std::vector<std::optional<ResolvedFile>>&& files) {
  std::vector<ResolvedFile> out;
  for (std::optional<ResolvedFile>& file : files) {
    if (file && file->resolved() > 0) out.push_back(std::move(*file));
  }
  return out;
}

class Resolver {
 public:
  Resolver(RunContext& run, std::shared_ptr<const TableMetadata> metadata,
           std::shared_ptr<FileIO> io, const std::vector<FileTask>& tasks,
           const ResolveOptions& options)
      : run_(run),
        metadata_(std::move(metadata)),
        io_(std::move(io)),
        tasks_(tasks),
        options_(options) {}

  Result<std::vector<ResolvedFile>> Resolve() {
    for (std::uint32_t shares = FirstShares();; shares *= 2) {
      files_.clear();
      files_.resize(tasks_.size());
      const Status status = AllShares(shares);
      if (status) break;
      if (status.error().code() != Code::kExhausted || shares >= kMostShares) return status.error();
    }
    return OnlyResolved(std::move(files_));
  }

 private:
  /// So many that the keys take about half of the memory that is left; the rest is for positions
  /// and for reading.
  std::uint32_t FirstShares() const {
    const std::int64_t room = std::max<std::int64_t>(run_.memory().available() / 16 * 9, 1);
    const std::int64_t keys = DroppedRowFinder::KeyMemory(*metadata_, tasks_);
    return static_cast<std::uint32_t>(std::min<std::int64_t>(keys / room + 1, kMostShares));
  }

  Status AllShares(std::uint32_t count) {
    run_.progress().Enter("resolve equality deletes", "files",
                          static_cast<std::int64_t>(tasks_.size()) * count);
    for (std::uint32_t i = 0; i < count; ++i) {
      IW_ASSIGN(const DroppedRowFinder finder,
                DroppedRowFinder::Make(metadata_, io_, {.index = i, .count = count}));
      IW_TRY(finder.LoadKeys(run_, tasks_));
      IW_TRY(ParallelFor(run_, tasks_.size(), run_.threads(),
                         [&](std::size_t task) { return One(finder, task); }));
    }
    return {};
  }

  Status One(const DroppedRowFinder& finder, std::size_t number) {
    const FileTask& task = tasks_[number];
    std::optional<ResolvedFile>& file = files_[number];
    IW_ASSIGN(DroppedRows rows, finder.Find(run_, task));
    IW_TRY(LeaveUnreached(run_, finder, task, options_, rows));
    run_.progress().Advance();
    if (!file) {
      file = ResolvedFile{.task = number, .rows = std::move(rows)};
      return {};
    }
    file->rows.positions.Merge(rows.positions);
    return file->rows.memory.Resize(file->rows.memory.bytes() + rows.memory.bytes());
  }

  RunContext& run_;
  std::shared_ptr<const TableMetadata> metadata_;
  std::shared_ptr<FileIO> io_;
  const std::vector<FileTask>& tasks_;
  const ResolveOptions& options_;
  std::vector<std::optional<ResolvedFile>> files_;  // by task; each touched by one thread at a time
};

/// Deletes looked up one by one.
class LookUp {
 public:
  LookUp(RunContext& run, std::shared_ptr<const TableMetadata> metadata, std::shared_ptr<FileIO> io,
         const std::vector<FileTask>& tasks, const RowKeys& keys, KeyPlaces& places,
         const ResolveOptions& options)
      : run_(run),
        metadata_(std::move(metadata)),
        io_(std::move(io)),
        tasks_(tasks),
        keys_(keys),
        places_(places),
        options_(options),
        hits_(tasks.size()) {}

  Result<std::vector<ResolvedFile>> Resolve() {
    IW_TRY(LearnFiles());
    IW_ASSIGN(memory_, run_.memory().Reserve(0, "positions of deleted rows"));
    run_.progress().Enter("look up equality deletes", "files", std::ssize(deletes_));
    IW_TRY(ParallelFor(run_, deletes_.size(), run_.threads(),
                       [&](std::size_t i) { return LookUpFile(static_cast<std::uint32_t>(i)); }));
    IW_ASSIGN(const DroppedRowFinder finder, DroppedRowFinder::Make(metadata_, io_));
    std::vector<std::optional<ResolvedFile>> files(tasks_.size());
    IW_TRY(ParallelFor(run_, tasks_.size(), run_.threads(), [&](std::size_t task) -> Status {
      if (hits_[task].positions.empty()) return {};
      IW_ASSIGN(DroppedRows rows, Merged(finder, task));
      files[task] = ResolvedFile{.task = task, .rows = std::move(rows)};
      return {};
    }));
    return OnlyResolved(std::move(files));
  }

 private:
  struct Hits {
    std::vector<std::uint32_t> deletes = {};  // that reach the task, ascending
    PositionBitmap positions = {};
  };

  Status LearnFiles() {
    std::unordered_map<const DeleteTask*, std::uint32_t> numbers;
    std::vector<const DataFile*> files;
    std::vector<std::size_t> reached;
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      for (const auto& deletes : tasks_[i].deletes) {
        if (!IsEqualityDelete(deletes)) continue;
        const auto next = static_cast<std::uint32_t>(deletes_.size());
        const auto [at, is_new] = numbers.emplace(deletes.get(), next);
        if (is_new) deletes_.push_back(&deletes->file);
        hits_[i].deletes.push_back(at->second);
      }
      if (hits_[i].deletes.empty()) continue;
      std::ranges::sort(hits_[i].deletes);
      files.push_back(&tasks_[i].data_file);
      reached.push_back(i);
    }
    run_.progress().Enter("read keys", "files", std::ssize(files));
    IW_ASSIGN(const auto known_as, places_.Learn(run_, keys_, files));
    for (std::size_t i = 0; i < files.size(); ++i) task_of_.emplace(known_as[i], reached[i]);
    return {};
  }

  Status LookUpFile(std::uint32_t number) {
    std::vector<Bytes> keys;
    std::vector<RowPlace> found;
    const auto keep = [&](const RowPlace& place) -> Status {
      found.push_back(place);
      return found.size() < kPlacesHeld ? Status() : Take(number, found);
    };
    const auto look_up = [&]() -> Status {
      IW_TRY(run_.Check());
      std::ranges::sort(keys);
      IW_TRY(places_.Find(keys, keep));
      keys.clear();
      return {};
    };
    IW_TRY(keys_.VisitDeletes(run_, *deletes_[number], [&](std::int64_t, ByteView key) -> Status {
      keys.emplace_back(key);
      return keys.size() < kKeysHeld ? Status() : look_up();
    }));
    IW_TRY(look_up());
    IW_TRY(Take(number, found));
    run_.progress().Advance();
    return {};
  }

  Status Take(std::uint32_t number, std::vector<RowPlace>& found) {
    const std::scoped_lock lock(mutex_);
    std::int64_t taken = 0;
    for (const RowPlace& place : found) {
      const auto task = task_of_.find(place.file);
      if (task == task_of_.end()) continue;
      Hits& hits = hits_[task->second];
      if (!std::ranges::binary_search(hits.deletes, number)) continue;
      hits.positions.Add(place.position);
      ++taken;
    }
    found.clear();
    return memory_.Resize(memory_.bytes() + taken * kPositionBytes);
  }

  /// With what position deletes say.
  Result<DroppedRows> Merged(const DroppedRowFinder& finder, std::size_t number) {
    const FileTask& task = tasks_[number];
    const PositionBitmap& positions = hits_[number].positions;
    IW_ASSIGN(DroppedRows rows, finder.ByPosition(run_, task));
    rows.positions.Merge(positions);
    IW_TRY(rows.memory.Resize(rows.memory.bytes() + positions.cardinality() * kPositionBytes));
    IW_TRY(LeaveUnreached(run_, finder, task, options_, rows));
    return rows;
  }

  RunContext& run_;
  std::shared_ptr<const TableMetadata> metadata_;
  std::shared_ptr<FileIO> io_;
  const std::vector<FileTask>& tasks_;
  const RowKeys& keys_;
  KeyPlaces& places_;
  const ResolveOptions& options_;
  std::vector<const DataFile*> deletes_;
  std::unordered_map<std::uint64_t, std::size_t> task_of_;  // by number of the data file
  std::mutex mutex_;  // guards positions of hits_, and memory_
  Reservation memory_;
  std::vector<Hits> hits_;  // by task
};

}  // namespace

bool HasEqualityDeletes(const FileTask& task) {
  return std::ranges::any_of(task.deletes, IsEqualityDelete);
}

Result<std::vector<ResolvedFile>> ResolveEqualityDeletes(
    RunContext& run, std::shared_ptr<const TableMetadata> metadata, std::shared_ptr<FileIO> io,
    const std::vector<FileTask>& tasks, const ResolveOptions& options) {
  return Resolver(run, std::move(metadata), std::move(io), tasks, options).Resolve();
}

Result<std::vector<ResolvedFile>> LookUpEqualityDeletes(
    RunContext& run, std::shared_ptr<const TableMetadata> metadata, std::shared_ptr<FileIO> io,
    const std::vector<FileTask>& tasks, const RowKeys& keys, KeyPlaces& places,
    const ResolveOptions& options) {
  return LookUp(run, std::move(metadata), std::move(io), tasks, keys, places, options).Resolve();
}

}  // namespace icewright
