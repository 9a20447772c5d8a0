#include "maintain/statistics_commit.h"

#include <fmt/format.h>

#include <algorithm>

#include "commit/retry_policy.h"
#include "maintain/task_checks.h"
#include "maintain/transient_retry.h"
#include "scan/plan_files.h"

namespace icewright {
namespace {

/// One commit of one file. Single-threaded.
class StatisticsCommit {
 public:
  StatisticsCommit(RunContext& run, Table& table, const NewStatistics& statistics,
                   TaskReport& report)
      : run_(run), table_(table), statistics_(statistics), report_(report) {}

  Status Run() {
    const Status committed = CommitWithRetries();
    if (committed) return Finish();
    const Error& error = committed.error();
    if (error.code() == Code::kCommitUnknown) {
      report_.notes.push_back(
          fmt::format("{} stays: the table may name it already", path().text()));
      return error;
    }
    if (!RetryTransient(run_, [&] { return table_.Refresh(run_); })) {
      report_.notes.push_back(
          fmt::format("{} stays: it is not known whether the table names it", path().text()));
      return error;
    }
    // Even after a conflict: a request whose answer was lost may have been repeated on the way.
    if (IsNamed(path())) return Finish();
    Delete(path());
    return error;
  }

 private:
  template <typename Member>
  auto Of(Member StatisticsFile::*table_member,
          Member PartitionStatisticsFile::*partition_member) const -> const Member& {
    if (const auto* file = std::get_if<StatisticsFile>(&statistics_)) return file->*table_member;
    return std::get<PartitionStatisticsFile>(statistics_).*partition_member;
  }
  const Location& path() const {
    return Of(&StatisticsFile::statistics_path, &PartitionStatisticsFile::statistics_path);
  }
  SnapshotId snapshot() const {
    return Of(&StatisticsFile::snapshot_id, &PartitionStatisticsFile::snapshot_id);
  }
  bool of_partitions() const {
    return std::holds_alternative<PartitionStatisticsFile>(statistics_);
  }

  TableUpdate SetUpdate() const {
    if (const auto* file = std::get_if<StatisticsFile>(&statistics_)) return SetStatistics{*file};
    return SetPartitionStatistics{std::get<PartitionStatisticsFile>(statistics_)};
  }
  TableUpdate RemoveUpdate() const {
    if (of_partitions()) return RemovePartitionStatistics{snapshot()};
    return RemoveStatistics{snapshot()};
  }

  Error Expired() const {
    return {Code::kConflict,
            fmt::format("snapshot {} expired while its statistics were made; run again for a "
                        "snapshot that the table has",
                        Raw(snapshot()))};
  }

  bool HasSnapshot() const { return table_.metadata().FindSnapshot(snapshot()) != nullptr; }

  Status CommitWithRetries() {
    IW_ASSIGN(const RetryPolicy policy, RetryPolicy::Of(table_.metadata().properties));
    CommitRetry retry(run_, policy);
    run_.progress().Enter("commit", "commits", 1);
    for (;;) {
      IW_TRY(RetryTransient(run_, [&] { return table_.Refresh(run_); }));
      if (!HasSnapshot()) return Expired();
      IW_TRY(run_.CheckMayWrite());
      replaced_ = Replaced();
      retry.CountAttempt();
      const TableUpdate update = SetUpdate();
      const Status committed = table_.Commit(run_, {}, std::span(&update, 1));
      if (committed) return {};
      if (committed.error().code() != Code::kConflict) return committed.error();
      IW_TRY(retry.WaitOrGiveUp(run_, committed.error()));
    }
  }

  /// The file that the snapshot has now.
  std::optional<Location> Replaced() const {
    const auto find = [&](const auto& files) -> std::optional<Location> {
      for (const auto& file : files) {
        if (file.snapshot_id == snapshot()) return file.statistics_path;
      }
      return std::nullopt;
    };
    const TableMetadata& metadata = table_.metadata();
    return of_partitions() ? find(metadata.partition_statistics) : find(metadata.statistics);
  }

  /// Statistics are named by the metadata alone.
  bool IsNamed(const Location& location) const {
    const auto named = [&](const auto& files) {
      return std::ranges::any_of(
          files, [&](const auto& file) { return file.statistics_path == location; });
    };
    const TableMetadata& metadata = table_.metadata();
    return named(metadata.statistics) || named(metadata.partition_statistics);
  }

  bool KnownToBeAbsent() { return table_.Refresh(run_).has_value() && !IsNamed(path()); }

  /// The commit has landed.
  Status Finish() {
    // No catalog can be asked to check that a snapshot is there.
    if (!HasSnapshot()) {
      const TableUpdate update = RemoveUpdate();
      const Status removed = table_.Commit(run_, {}, std::span(&update, 1));
      if (removed || KnownToBeAbsent()) Delete(path());
      return Expired();
    }
    report_.outcome = TaskOutcome::kDone;
    const bool may_delete = BoolProperty(table_.metadata().properties, "gc.enabled", true);
    if (!replaced_ || !may_delete || IsNamed(*replaced_)) return {};
    report_.counts["replaced-statistics-files-count"] = 1;
    if (const Status may_write = run_.CheckMayWrite(); !may_write) {
      report_.leftovers.push_back(*replaced_);
      return {};
    }
    Delete(*replaced_);
    return {};
  }

  void Delete(const Location& location) {
    if (!table_.io().Delete(location)) report_.leftovers.push_back(location);
  }

  RunContext& run_;
  Table& table_;
  const NewStatistics& statistics_;
  TaskReport& report_;
  std::optional<Location> replaced_;
};

}  // namespace

Result<const Snapshot*> SnapshotForStatistics(const Table& table,
                                              std::optional<std::int64_t> snapshot_id,
                                              const std::optional<std::string>& branch,
                                              bool dry_run) {
  IW_TRY(CheckMayCommit(table, dry_run));
  if (table.metadata().is_encrypted()) {
    return Error(Code::kUnsupported, "statistics of an encrypted table are not written");
  }
  SnapshotSelector selector{.branch = branch};
  if (snapshot_id) selector.snapshot_id = SnapshotId{*snapshot_id};
  return SelectSnapshot(table.metadata(), selector);
}

Status CommitStatistics(RunContext& run, Table& table, const NewStatistics& statistics,
                        TaskReport& report) {
  return StatisticsCommit(run, table, statistics, report).Run();
}

}  // namespace icewright
