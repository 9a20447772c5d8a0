#include "maintain/health.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <unordered_map>
#include <unordered_set>

#include "manifest/manifest_file.h"
#include "manifest/manifest_reader.h"

namespace icewright {
namespace {

struct PartitionCounts {
  std::int64_t data_files = 0;
  std::int64_t equality_delete_files = 0;
};

struct HeadCounts {
  std::int64_t data_files = 0;
  std::int64_t data_bytes = 0;
  std::int64_t live_bytes = 0;  // data and deletes
  std::int64_t manifests = 0;
  PartitionCounts worst_files;
  std::string worst_files_partition;
  PartitionCounts worst_deletes;
  std::string worst_deletes_partition;
};

// Partition tuples compare within their spec only.
struct PartitionKey {
  SpecId spec{};
  StructValue tuple;
};
struct PartitionKeyHash {
  std::size_t operator()(const PartitionKey& key) const {
    return HashCombine(static_cast<std::size_t>(Raw(key.spec)), StructValueHash()(key.tuple));
  }
};
struct PartitionKeyEqual {
  bool operator()(const PartitionKey& a, const PartitionKey& b) const {
    return a.spec == b.spec && StructValueEqual()(a.tuple, b.tuple);
  }
};
using Partitions =
    std::unordered_map<PartitionKey, PartitionCounts, PartitionKeyHash, PartitionKeyEqual>;

std::string PartitionText(const TableMetadata& metadata, const PartitionKey& key) {
  const PartitionSpec* spec = metadata.FindSpec(key.spec);
  const std::string path = spec == nullptr ? "" : spec->PathOf(metadata.schema(), key.tuple);
  return path.empty() ? "the table" : "partition " + path;
}

class Checker {
 public:
  Checker(RunContext& run, const Table& table, const HealthThresholds& thresholds)
      : run_(run), table_(table), metadata_(table.metadata()), thresholds_(thresholds) {}

  Result<std::vector<HealthFinding>> Check() {
    run_.progress().Enter("check health", "manifests");
    IW_TRY(ReadHead());
    IW_TRY(ReadHistory());
    CheckFiles();
    CheckHistory();
    IW_TRY(CheckMetadata());
    return std::move(findings_);
  }

 private:
  Status ReadHead() {
    const Snapshot* head = metadata_.current_snapshot();
    if (head == nullptr) return {};
    Partitions partitions;
    IW_ASSIGN(const auto manifests, ReadManifests(run_, table_.io(), metadata_, *head));
    head_.manifests = std::ssize(manifests);
    for (const ManifestFile& manifest : manifests) {
      IW_TRY(ReadLive(manifest, [&](const DataFile& file) {
        head_.live_bytes += BytesOf(file);
        PartitionCounts& counts = partitions[{file.spec_id, file.partition}];
        if (file.content == FileContent::kData) {
          ++head_.data_files;
          head_.data_bytes += file.file_size_in_bytes;
          ++counts.data_files;
        } else if (file.content == FileContent::kEqualityDeletes) {
          ++counts.equality_delete_files;
        }
      }));
    }
    for (const auto& [key, counts] : partitions) {
      if (counts.data_files > head_.worst_files.data_files) {
        head_.worst_files = counts;
        head_.worst_files_partition = PartitionText(metadata_, key);
      }
      if (counts.equality_delete_files > head_.worst_deletes.equality_delete_files) {
        head_.worst_deletes = counts;
        head_.worst_deletes_partition = PartitionText(metadata_, key);
      }
    }
    return {};
  }

  // Bytes of all files that any snapshot still reaches. Paths are remembered as hashes: a collision
  // would miss one file of a ratio.
  Status ReadHistory() {
    std::unordered_set<std::string> seen_manifests;
    std::unordered_set<std::size_t> seen_files;
    for (const Snapshot& snapshot : metadata_.snapshots) {
      IW_ASSIGN(const auto manifests, ReadManifests(run_, table_.io(), metadata_, snapshot));
      for (const ManifestFile& manifest : manifests) {
        if (!seen_manifests.insert(manifest.manifest_path.text()).second) continue;
        IW_TRY(ReadLive(manifest, [&](const DataFile& file) {
          if (seen_files.insert(ContentKeyHash()(ContentKey::Of(file))).second) {
            reachable_bytes_ += BytesOf(file);
          }
        }));
      }
    }
    return {};
  }

  Status ReadLive(const ManifestFile& manifest, const std::function<void(const DataFile&)>& visit) {
    IW_TRY(run_.Check());
    run_.progress().Advance();
    IW_ASSIGN(ManifestReader reader,
              ManifestReader::Open(table_.io(), metadata_, manifest, {.metrics = false}));
    ManifestEntry entry;
    for (;;) {
      IW_ASSIGN(const bool more, reader.Next(entry));
      if (!more) return {};
      visit(entry.file);
    }
  }

  // A DV is part of a Puffin file that others share.
  static std::int64_t BytesOf(const DataFile& file) {
    return file.content_size_in_bytes.value_or(file.file_size_in_bytes);
  }

  void CheckFiles() {
    const std::string compact = fmt::format("icewright rewrite-data-files {}", table_.name());
    const double average = head_.data_files == 0 ? 0
                                                 : static_cast<double>(head_.data_bytes) /
                                                       static_cast<double>(head_.data_files);
    // One small file cannot be merged with anything.
    Add("average-file-size-bytes", average, static_cast<double>(thresholds_.average_file_bytes),
        head_.data_files > 1 && average < static_cast<double>(thresholds_.average_file_bytes),
        fmt::format("{} data files", head_.data_files), compact);
    Add("files-in-a-partition", static_cast<double>(head_.worst_files.data_files),
        static_cast<double>(thresholds_.files_per_partition),
        head_.worst_files.data_files > thresholds_.files_per_partition, head_.worst_files_partition,
        compact);
    Add("equality-delete-files-in-a-partition",
        static_cast<double>(head_.worst_deletes.equality_delete_files),
        static_cast<double>(thresholds_.equality_delete_files_per_partition),
        head_.worst_deletes.equality_delete_files > thresholds_.equality_delete_files_per_partition,
        head_.worst_deletes_partition, compact + " --delete-file-threshold 1");
  }

  void CheckHistory() {
    // Over the newest hour that has snapshots: a table nobody writes to now may still be bloated.
    double per_hour = 0;
    if (!metadata_.snapshots.empty()) {
      const TimePoint newest =
          std::ranges::max(metadata_.snapshots, {}, &Snapshot::timestamp).timestamp;
      per_hour =
          static_cast<double>(std::ranges::count_if(metadata_.snapshots, [&](const Snapshot& s) {
            return s.timestamp > newest - std::chrono::hours(1);
          }));
    }
    Add("snapshots-per-hour", per_hour, thresholds_.snapshots_per_hour,
        per_hour > thresholds_.snapshots_per_hour,
        fmt::format("{} snapshots in all", metadata_.snapshots.size()),
        "lengthen the writer's commit interval");
    const double ratio = reachable_bytes_ == 0 ? 1
                                               : static_cast<double>(head_.live_bytes) /
                                                     static_cast<double>(reachable_bytes_);
    Add("active-storage-ratio", ratio, thresholds_.active_storage_ratio,
        ratio < thresholds_.active_storage_ratio,
        fmt::format("{} of {} bytes are live at the head", head_.live_bytes, reachable_bytes_),
        fmt::format("icewright expire-snapshots {}", table_.name()));
  }

  Status CheckMetadata() {
    Add("manifests", static_cast<double>(head_.manifests),
        static_cast<double>(thresholds_.manifests), head_.manifests > thresholds_.manifests,
        "at the head", fmt::format("icewright rewrite-manifests {}", table_.name()));
    IW_ASSIGN(const auto file, table_.io().Open(table_.metadata_location()));
    IW_ASSIGN(const std::int64_t size, file->Size());
    Add("metadata-size-bytes", static_cast<double>(size),
        static_cast<double>(thresholds_.metadata_bytes), size > thresholds_.metadata_bytes,
        std::string(table_.metadata_location().file_name()),
        fmt::format("icewright expire-snapshots {}", table_.name()));
    return {};
  }

  void Add(std::string check, double value, double threshold, bool is_finding, std::string detail,
           const std::string& repair) {
    findings_.push_back({.check = std::move(check),
                         .value = value,
                         .threshold = threshold,
                         .is_finding = is_finding,
                         .detail = std::move(detail),
                         .repair = is_finding ? repair : std::string()});
  }

  RunContext& run_;
  const Table& table_;
  const TableMetadata& metadata_;
  const HealthThresholds& thresholds_;
  HeadCounts head_;
  std::int64_t reachable_bytes_ = 0;
  std::vector<HealthFinding> findings_;
};

}  // namespace

Result<std::vector<HealthFinding>> CheckHealth(RunContext& run, const Table& table,
                                               const HealthThresholds& thresholds) {
  return Checker(run, table, thresholds).Check();
}

}  // namespace icewright
