#include "maintain/compute_partition_stats.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "base/executor.h"
#include "catalog/metadata_files.h"
#include "data/literal_file.h"
#include "maintain/partition_tally.h"
#include "maintain/statistics_commit.h"
#include "maintain/transient_retry.h"
#include "manifest/manifest_reader.h"

namespace icewright {
namespace {

using Options = ComputePartitionStatsOptions;

constexpr OptionField<Options> kFields[] = {
    {"snapshot-id", &Options::snapshot_id, "of this snapshot; default: the head of the branch"},
    {"branch", &Options::branch, "of the head of this branch; default: main"},
    {"full", &Options::full, "read all manifests, even if statistics of an ancestor are there"},
    {"dry-run", &Options::dry_run, "show what would be written, write nothing"},
};

/// What one partition takes in memory, roughly.
constexpr std::int64_t kBytesPerPartition = 512;

/// Java's reader of these files knows Parquet and Avro.
FileFormat FormatFor(FileFormat table_default) {
  return table_default == FileFormat::kAvro ? FileFormat::kAvro : FileFormat::kParquet;
}

Result<FileFormat> FormatByName(const Location& path) {
  return ParseFileFormat(path.text().substr(path.text().rfind('.') + 1));
}

/// One call of Execute. Single-threaded.
class PartitionStats {
 public:
  PartitionStats(RunContext& run, Table& table, const Options& options, TaskReport& report)
      : run_(run), table_(table), options_(options), report_(report) {}

  Status Run() {
    for (const char* key : {"partitions-count", "manifests-count", "statistics-bytes"}) {
      report_.counts[key] = 0;
    }
    IW_ASSIGN(snapshot_, SnapshotForStatistics(table_, options_.snapshot_id, options_.branch,
                                               options_.dry_run));
    IW_ASSIGN(unified_, UnifiedPartition::Make(table_.metadata()));
    if (snapshot_ == nullptr) return NothingToDo("there is no snapshot");
    if (unified_.is_empty()) return NothingToDo("the table is not partitioned");
    if (!options_.full && StatisticsOf(snapshot_->id) != nullptr) {
      return NothingToDo("the snapshot has partition statistics");
    }
    IW_ASSIGN(memory_, run_.memory().Reserve(0, "partition statistics"));
    IW_ASSIGN(manifests_, ReadManifests(run_, table_.io(), table_.metadata(), *snapshot_));
    IW_ASSIGN(PartitionTally tally, Compute());
    report_.counts["partitions-count"] = static_cast<std::int64_t>(tally.size());
    if (options_.dry_run) {
      report_.outcome = TaskOutcome::kPlanned;
      return {};
    }
    IW_ASSIGN(const PartitionStatisticsFile file, Write(std::move(tally)));
    return CommitStatistics(run_, table_, file, report_);
  }

 private:
  Status NothingToDo(std::string reason) {
    report_.outcome = TaskOutcome::kNothingToDo;
    report_.reason = std::move(reason);
    return {};
  }

  const PartitionStatisticsFile* StatisticsOf(SnapshotId id) const {
    const auto& files = table_.metadata().partition_statistics;
    const auto it = std::ranges::find(files, id, &PartitionStatisticsFile::snapshot_id);
    return it == files.end() ? nullptr : &*it;
  }

  // ---- Which manifests

  Result<PartitionTally> Compute() {
    if (!options_.full) {
      auto tally = ComputeFromAncestor();
      if (tally) {
        if (*tally) return **std::move(tally);
      } else if (!MayComputeAnew(tally.error().code())) {
        return tally.error();
      } else {
        report_.notes.push_back("computed anew: " + tally.error().message());
      }
    }
    report_.counts["manifests-count"] = 0;
    return ReadEntries(Since::kEver, manifests_);
  }

  static bool MayComputeAnew(Code code) {
    return code == Code::kCorrupt || code == Code::kUnsupported || code == Code::kNotFound;
  }

  /// From the newest ancestor that has statistics; unset if there is none.
  Result<std::optional<PartitionTally>> ComputeFromAncestor() {
    const SnapshotIndex index(table_.metadata());
    std::unordered_set<std::int64_t> since;
    const PartitionStatisticsFile* base = nullptr;
    // A chain that meets itself would be a forged circle.
    for (const Snapshot* s = snapshot_; s != nullptr; s = index.ParentOf(*s)) {
      base = StatisticsOf(s->id);
      if (base != nullptr || !since.insert(Raw(s->id)).second) break;
    }
    if (base == nullptr) return std::optional<PartitionTally>();
    // What was written between may be gone from the head's list: each snapshot's own is read.
    std::vector<ManifestFile> written;
    for (const std::int64_t id : since) {
      IW_ASSIGN(auto manifests,
                ReadManifests(run_, table_.io(), table_.metadata(), *index.Find(SnapshotId{id})));
      for (ManifestFile& manifest : manifests) {
        if (Raw(manifest.added_snapshot_id) == id) written.push_back(std::move(manifest));
      }
    }
    IW_ASSIGN(PartitionTally tally, ReadStatistics(*base));
    IW_ASSIGN(PartitionTally changes, ReadEntries(Since::kBase, written));
    tally.Merge(std::move(changes));
    IW_TRY(CheckAgainstManifestList(tally));
    report_.notes.push_back(
        fmt::format("computed from the statistics of snapshot {}", Raw(base->snapshot_id)));
    return std::optional<PartitionTally>(std::move(tally));
  }

  Result<PartitionTally> ReadStatistics(const PartitionStatisticsFile& statistics) {
    DataFile file;
    file.file_path = statistics.statistics_path;
    file.file_size_in_bytes = statistics.file_size_in_bytes;
    IW_ASSIGN(file.file_format, FormatByName(statistics.statistics_path));
    PartitionTally tally;
    const auto add = [&](StructValue&& row) -> Status {
      IW_TRY(AddRow(std::move(row), unified_.type(), tally));
      return Account(tally.size());
    };
    const Status read =
        ReadLiteralFile(run_, table_.shared_io(), table_.shared_metadata(),
                        LenientPartitionStatisticsSchema(unified_.type()), file, add);
    if (!read) return read.error().Within(statistics.statistics_path.text());
    return tally;
  }

  /// The list knows how many files and rows there are.
  Status CheckAgainstManifestList(const PartitionTally& tally) const {
    PartitionTally::Totals want;
    for (const ManifestFile& manifest : manifests_) {
      if (!manifest.added_files_count || !manifest.existing_files_count ||
          !manifest.added_rows_count || !manifest.existing_rows_count) {
        return Error(Code::kCorrupt, "the manifest list has no counts to check increments against");
      }
      const std::int64_t files =
          std::int64_t{*manifest.added_files_count} + *manifest.existing_files_count;
      if (manifest.content == ManifestContent::kDeletes) {
        want.delete_files += files;
      } else {
        want.data_files += files;
        want.data_records += *manifest.added_rows_count + *manifest.existing_rows_count;
      }
    }
    if (tally.Sum() == want) return {};
    return Error(Code::kCorrupt,
                 "the statistics of an ancestor and the changes since do not add up to the "
                 "snapshot's files");
  }

  // ---- Counting

  enum class Since : std::uint8_t { kEver, kBase };

  Result<PartitionTally> ReadEntries(Since since, const std::vector<ManifestFile>& manifests) {
    run_.progress().Enter("read manifests", "manifests", std::ssize(manifests));
    const SnapshotIndex index(table_.metadata());
    PartitionTally all;
    const auto read = [&](std::size_t i) { return ReadManifest(since, manifests[i], index); };
    const auto merge = [&](std::size_t, PartitionTally&& tally) -> Status {
      all.Merge(std::move(tally));
      run_.progress().Advance();
      return Account(all.size());
    };
    IW_TRY(OrderedParallel<PartitionTally>(run_, manifests.size(), run_.threads(), read, merge));
    report_.counts["manifests-count"] += std::ssize(manifests);
    return all;
  }

  Result<PartitionTally> ReadManifest(Since since, const ManifestFile& manifest,
                                      const SnapshotIndex& index) const {
    IW_ASSIGN(auto reader, ManifestReader::Open(table_.io(), table_.metadata(), manifest,
                                                {.metrics = false, .live_only = false}));
    PartitionTally tally;
    ManifestEntry entry;
    for (;;) {
      IW_ASSIGN(const bool more, reader.Next(entry));
      if (!more) return tally;
      const bool deleted = entry.status == EntryStatus::kDeleted;
      if (since == Since::kBase) {
        // Existing files, and what another snapshot did, are in the statistics already.
        const bool own = !entry.snapshot_id || *entry.snapshot_id == manifest.added_snapshot_id;
        if (entry.status == EntryStatus::kExisting || !own) continue;
      }
      const Snapshot* snapshot = entry.snapshot_id ? index.Find(*entry.snapshot_id) : nullptr;
      auto partition = unified_.Unify(entry.file.spec_id, entry.file.partition);
      if (!partition) return partition.error().Within(manifest.manifest_path.text());
      if (!deleted) {
        tally.AddLive(entry.file, *std::move(partition), snapshot);
      } else if (since == Since::kBase) {
        tally.Remove(entry.file, *std::move(partition), snapshot);
      } else {
        tally.AddDeleted(entry.file, *std::move(partition), snapshot);
      }
    }
  }

  /// Keeps the budget informed, a step ahead.
  Status Account(std::size_t partitions) {
    const auto need = static_cast<std::int64_t>(partitions) * kBytesPerPartition;
    if (need <= memory_.bytes()) return {};
    return memory_.Resize(need + need / 4);
  }

  // ---- Writing

  Result<PartitionStatisticsFile> Write(PartitionTally tally) {
    IW_TRY(run_.CheckMayWrite());
    run_.progress().Enter("write statistics", "partitions",
                          static_cast<std::int64_t>(tally.size()));
    const TableMetadata& metadata = table_.metadata();
    IW_ASSIGN(
        const FileFormat table_format,
        ParseFileFormat(StringProperty(metadata.properties, "write.format.default", "parquet")));
    const FileFormat format = FormatFor(table_format);
    PartitionStatisticsFile out;
    out.snapshot_id = snapshot_->id;
    out.statistics_path = MetadataFolderOf(metadata).Child(
        fmt::format("partition-stats-{}-{}.{}", Raw(snapshot_->id), run_.random().NewUuid(),
                    format == FileFormat::kAvro ? "avro" : "parquet"));
    const auto rows = RowsOf(tally, unified_.type(), metadata.format_version);
    auto written =
        WriteLiteralFile(run_, table_.io(), table_.shared_metadata(),
                         PartitionStatisticsSchema(unified_.type(), metadata.format_version),
                         format, out.statistics_path, rows);
    if (!written) {
      // The answer may be lost although the file is there.
      if (!table_.io().Delete(out.statistics_path)) {
        report_.leftovers.push_back(out.statistics_path);
      }
      return written.error().Within("write " + out.statistics_path.text());
    }
    out.file_size_in_bytes = written->file_size_in_bytes;
    report_.counts["statistics-bytes"] = out.file_size_in_bytes;
    return out;
  }

  RunContext& run_;
  Table& table_;
  const Options& options_;
  TaskReport& report_;
  const Snapshot* snapshot_ = nullptr;
  UnifiedPartition unified_;
  std::vector<ManifestFile> manifests_;
  Reservation memory_;
};

}  // namespace

std::span<const OptionField<ComputePartitionStatsOptions>> ComputePartitionStatsFields() {
  return kFields;
}

Status ComputePartitionStats::Execute(RunContext& run, Table& table, TaskReport& report) const {
  report = {};
  IW_TRY(RetryTransient(run, [&] { return table.Refresh(run); }));
  return PartitionStats(run, table, options_, report).Run();
}

}  // namespace icewright
