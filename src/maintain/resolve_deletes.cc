#include "maintain/resolve_deletes.h"

#include <algorithm>
#include <utility>

#include "base/executor.h"

namespace icewright {
namespace {

/// Parts of the keys beyond which it is the positions that do not fit.
constexpr std::uint32_t kMostShares = 256;

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
    std::vector<ResolvedFile> out;
    for (std::size_t i = 0; i < files_.size(); ++i) {
      if (!files_[i] || files_[i]->resolved() == 0) continue;
      out.push_back(std::move(*files_[i]));
    }
    return out;
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
    if (options_.reaches && rows.positions.cardinality() > rows.by_position) {
      IW_TRY(LeaveUnreached(finder, task, rows));
    }
    run_.progress().Advance();
    if (!file) {
      file = ResolvedFile{.task = number, .rows = std::move(rows)};
      return {};
    }
    file->rows.positions.Merge(rows.positions);
    return file->rows.memory.Resize(file->rows.memory.bytes() + rows.memory.bytes());
  }

  /// Takes back the rows that the equality deletes must not reach.
  Status LeaveUnreached(const DroppedRowFinder& finder, const FileTask& task, DroppedRows& rows) {
    IW_ASSIGN(const std::optional<bool> whole_file, options_.reaches(task.sequence_number, false));
    if (whole_file == true) return {};
    FileTask without = task;
    std::erase_if(without.deletes, [](const std::shared_ptr<const DeleteTask>& deletes) {
      return deletes->file.content == FileContent::kEqualityDeletes;
    });
    IW_ASSIGN(DroppedRows before, finder.Find(run_, without));
    if (!whole_file) {
      PositionBitmap reached = before.positions.Clone();
      IW_TRY(finder.VisitLastUpdated(
          run_, task, rows.positions, [&](std::int64_t position, SequenceNumber number) -> Status {
            if (before.positions.Contains(position)) return {};
            IW_ASSIGN(const std::optional<bool> reaches, options_.reaches(number, true));
            if (reaches == true) reached.Add(position);
            return {};
          }));
      before.positions = std::move(reached);
    }
    rows.positions = std::move(before.positions);
    return {};
  }

  RunContext& run_;
  std::shared_ptr<const TableMetadata> metadata_;
  std::shared_ptr<FileIO> io_;
  const std::vector<FileTask>& tasks_;
  const ResolveOptions& options_;
  std::vector<std::optional<ResolvedFile>> files_;  // by task; each touched by one thread at a time
};

}  // namespace

Result<std::vector<ResolvedFile>> ResolveEqualityDeletes(
    RunContext& run, std::shared_ptr<const TableMetadata> metadata, std::shared_ptr<FileIO> io,
    const std::vector<FileTask>& tasks, const ResolveOptions& options) {
  return Resolver(run, std::move(metadata), std::move(io), tasks, options).Resolve();
}

}  // namespace icewright
