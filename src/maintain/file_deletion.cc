#include "maintain/file_deletion.h"

#include <algorithm>
#include <mutex>
#include <span>
#include <unordered_map>
#include <utility>

#include "base/executor.h"
#include "maintain/deletion_journal.h"
#include "maintain/transient_retry.h"

namespace icewright {
namespace {

/// One call of DeleteInRounds. Batches of a round run in parallel.
class Deleter {
 public:
  Deleter(RunContext& run, const DeletionSource& source, const DeletionOptions& options)
      : run_(run), source_(source), options_(options) {}

  DeletionOutcome DeleteAll() {
    run_.progress().Enter("delete files", "files", options_.total);
    if (const Status status = DeleteRounds(); !status) outcome_.stopped = status.error();
    outcome_.pending = options_.total - settled_;
    return std::move(outcome_);
  }

 private:
  using Files = std::vector<DoomedFile>;

  Status DeleteRounds() {
    const auto round_size = static_cast<std::size_t>(options_.batch_size) *
                            static_cast<std::size_t>(options_.parallelism);
    for (bool more = true; more;) {
      Files round;
      DoomedFile file;
      while (round.size() < round_size) {
        IW_ASSIGN(more, source_.next(file));
        if (!more) break;
        round.push_back(std::move(file));
      }
      if (!round.empty()) IW_TRY(DeleteRound(std::move(round)));
    }
    return {};
  }

  Status DeleteRound(Files round) {
    IW_TRY(run_.CheckMayWrite());
    const std::size_t planned = round.size();
    IW_TRY(source_.spare(round));
    const auto spared = static_cast<std::int64_t>(planned - round.size());
    outcome_.spared += spared;
    settled_ += spared;
    const auto size = static_cast<std::size_t>(options_.batch_size);
    const std::size_t batches = (round.size() + size - 1) / size;
    return ParallelFor(run_, batches, options_.parallelism, [&](std::size_t i) -> Status {
      IW_TRY(run_.CheckMayWrite());
      const std::size_t begin = i * size;
      DeleteBatch(std::span(round).subspan(begin, std::min(size, round.size() - begin)));
      return {};
    });
  }

  void DeleteBatch(std::span<const DoomedFile> batch) {
    const auto failures = TryDelete(batch);
    const std::scoped_lock lock(mutex_);
    settled_ += static_cast<std::int64_t>(batch.size());
    for (const DoomedFile& file : batch) {
      if (const auto failure = failures.find(file.path); failure != failures.end()) {
        outcome_.failed.push_back(file);
        if (!outcome_.first_failure) outcome_.first_failure = failure->second;
        continue;
      }
      ++outcome_.deleted[static_cast<std::size_t>(file.kind)];
      outcome_.deleted_bytes += file.size_bytes;
    }
    run_.progress().Advance(static_cast<std::int64_t>(batch.size()));
  }

  // What could not be deleted, and why; what failed for the moment is tried again.
  std::unordered_map<Location, Error> TryDelete(std::span<const DoomedFile> batch) {
    std::unordered_map<Location, Error> failures;
    std::vector<Location> paths;
    for (const DoomedFile& file : batch) paths.push_back(file.path);
    Milliseconds wait = kFirstTransientWait;
    for (int attempt = 1; !paths.empty(); ++attempt) {
      const std::vector<DeleteFailure> failed = source_.remove(paths);
      for (const Location& path : paths) failures.erase(path);
      paths.clear();
      for (const DeleteFailure& failure : failed) {
        failures.emplace(failure.location, failure.error);
        if (IsRetryable(failure.error.code())) paths.push_back(failure.location);
      }
      if (attempt == kTransientAttempts || paths.empty() || !run_.SleepFor(wait)) break;
      wait *= 4;
    }
    return failures;
  }

  RunContext& run_;
  const DeletionSource& source_;
  const DeletionOptions& options_;
  std::mutex mutex_;
  DeletionOutcome outcome_;   // guarded by mutex_ while batches run
  std::int64_t settled_ = 0;  // guarded by mutex_ while batches run
};

}  // namespace

DeletionOutcome DeleteInRounds(RunContext& run, const DeletionSource& source,
                               const DeletionOptions& options) {
  return Deleter(run, source, options).DeleteAll();
}

DeletionOutcome DeleteJournaled(RunContext& run, Table& table, const Location& journal,
                                ReachableFiles& reachable, const DeletionOptions& options) {
  std::optional<JournalReader> reader;
  const DeletionSource source{
      .next = [&](DoomedFile& file) -> Result<bool> {
        if (!reader) {
          IW_ASSIGN(reader,
                    RetryTransient(run, [&] { return JournalReader::Open(table.io(), journal); }));
        }
        return reader->Next(file);
      },
      .spare = [&](std::vector<DoomedFile>& round) -> Status {
        IW_TRY(RetryTransient(run, [&] {
                 return table.Refresh(run);
               }).Within("load the table before files are deleted"));
        IW_TRY(reachable.Extend(run, table.state()));
        std::erase_if(round, [&](const DoomedFile& file) {
          return reachable.Contains(HashPath(file.path.text()));
        });
        return {};
      },
      .remove = [&](std::span<const Location> paths) { return table.io().DeleteFiles(paths); }};
  return DeleteInRounds(run, source, options);
}

}  // namespace icewright
