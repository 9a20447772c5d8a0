#include "scan/metadata_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "base/executor.h"
#include "manifest/manifest_reader.h"
#include "scan/metadata_rows.h"
#include "table/literal.h"

namespace icewright {
namespace {

using scan_internal::OptionalJson;
using scan_internal::RowMaker;
using scan_internal::TimeJson;

/// What the tables are made from.
struct Source {
  RunContext& run;
  FileIO& io;
  const TableMetadata& metadata;
  const Location& metadata_location;
  const MetadataTableRequest& request;
  const ColumnsVisitor& on_columns;
  const RowVisitor& on_row;
};

enum class Files : char { kAll, kData, kDeletes };
enum class Scope : char { kSnapshot, kAllSnapshots };

bool IsWanted(Files files, ManifestContent content) {
  return files == Files::kAll || (files == Files::kData) == (content == ManifestContent::kData);
}

Status Snapshots(const Source& source) {
  IW_TRY(source.on_columns(
      {"committed_at", "snapshot_id", "parent_id", "operation", "manifest_list", "summary"}));
  for (const Snapshot& snapshot : source.metadata.snapshots) {
    Json summary = Json::object();
    for (const auto& [key, value] : snapshot.summary) summary[key] = value;
    const Json list = snapshot.manifest_list.empty() ? Json() : Json(snapshot.manifest_list.text());
    IW_TRY(source.on_row(Json::array({TimeJson(snapshot.timestamp), Raw(snapshot.id),
                                      OptionalJson(snapshot.parent_id),
                                      OptionalJson(snapshot.operation), list, summary})));
  }
  return {};
}

Status History(const Source& source) {
  IW_TRY(source.on_columns({"made_current_at", "snapshot_id", "parent_id", "is_current_ancestor"}));
  const SnapshotIndex index(source.metadata);
  std::set<SnapshotId> ancestors;
  for (const Snapshot* s = source.metadata.current_snapshot(); s != nullptr;
       s = index.ParentOf(*s)) {
    if (!ancestors.insert(s->id).second) break;
  }
  for (const SnapshotLogEntry& entry : source.metadata.snapshot_log) {
    const Snapshot* snapshot = index.Find(entry.snapshot_id);
    const Json parent = snapshot == nullptr ? Json() : OptionalJson(snapshot->parent_id);
    IW_TRY(source.on_row(Json::array({TimeJson(entry.timestamp), Raw(entry.snapshot_id), parent,
                                      ancestors.contains(entry.snapshot_id)})));
  }
  return {};
}

Status Refs(const Source& source) {
  IW_TRY(source.on_columns({"name", "type", "snapshot_id", "max_reference_age_in_ms",
                            "min_snapshots_to_keep", "max_snapshot_age_in_ms"}));
  for (const auto& [name, ref] : source.metadata.refs) {
    const char* type = ref.kind == SnapshotRef::Kind::kBranch ? "BRANCH" : "TAG";
    IW_TRY(source.on_row(Json::array(
        {name, type, Raw(ref.snapshot_id), OptionalJson(ref.max_ref_age_ms),
         OptionalJson(ref.min_snapshots_to_keep), OptionalJson(ref.max_snapshot_age_ms)})));
  }
  return {};
}

Status MetadataLog(const Source& source) {
  IW_TRY(source.on_columns(
      {"timestamp", "file", "latest_snapshot_id", "latest_schema_id", "latest_sequence_number"}));
  std::vector<MetadataLogEntry> log = source.metadata.metadata_log;
  log.push_back({source.metadata.last_updated, source.metadata_location});
  const SnapshotIndex index(source.metadata);
  for (const MetadataLogEntry& entry : log) {
    const Snapshot* latest = nullptr;
    Json latest_id;
    for (const SnapshotLogEntry& made : source.metadata.snapshot_log) {
      if (made.timestamp > entry.timestamp) continue;
      latest_id = Raw(made.snapshot_id);
      latest = index.Find(made.snapshot_id);
    }
    const Json schema_id = latest == nullptr ? Json() : OptionalJson(latest->schema_id);
    const Json number = latest == nullptr ? Json() : Json(Raw(latest->sequence_number));
    IW_TRY(source.on_row(Json::array(
        {TimeJson(entry.timestamp), entry.metadata_file.text(), latest_id, schema_id, number})));
  }
  return {};
}

/// The snapshots that the request is about, oldest first.
Result<std::vector<const Snapshot*>> ChooseSnapshots(const Source& source, Scope scope) {
  std::vector<const Snapshot*> chosen;
  if (scope == Scope::kAllSnapshots) {
    for (const Snapshot& snapshot : source.metadata.snapshots) chosen.push_back(&snapshot);
    return chosen;
  }
  IW_ASSIGN(const Snapshot* snapshot, SelectSnapshot(source.metadata, source.request.snapshot));
  if (snapshot != nullptr) chosen.push_back(snapshot);
  return chosen;
}

/// Calls visit for each snapshot with its manifests. Lists are read in parallel.
Status VisitManifests(
    const Source& source, Scope scope,
    const std::function<Status(const Snapshot&, std::vector<ManifestFile>&&)>& visit) {
  using List = std::vector<ManifestFile>;
  IW_ASSIGN(const auto snapshots, ChooseSnapshots(source, scope));
  return OrderedParallel<List>(
      source.run, snapshots.size(), source.run.threads(),
      [&](std::size_t i) {
        return ReadManifests(source.run, source.io, source.metadata, *snapshots[i]);
      },
      [&](std::size_t i, List&& list) { return visit(*snapshots[i], std::move(list)); });
}

Status Manifests(const Source& source, Scope scope) {
  std::vector<std::string> columns = RowMaker::ManifestColumns();
  const bool all = scope == Scope::kAllSnapshots;
  if (all) columns.insert(columns.end(), {"reference_snapshot_id", "key_metadata"});
  IW_TRY(source.on_columns(columns));
  const RowMaker rows(source.metadata);
  return VisitManifests(
      source, scope, [&](const Snapshot& snapshot, std::vector<ManifestFile>&& list) -> Status {
        for (const ManifestFile& manifest : list) {
          Json row = rows.ManifestRow(manifest);
          if (all) {
            row.push_back(Raw(snapshot.id));
            row.push_back(manifest.key_metadata ? Json(ToHex(*manifest.key_metadata)) : Json());
          }
          IW_TRY(source.on_row(std::move(row)));
        }
        return {};
      });
}

/// Calls visit for each entry of the chosen manifests, each manifest once.
Status VisitEntries(const Source& source, Scope scope, Files files, ManifestReadOptions options,
                    const std::function<Status(ManifestEntry&&)>& visit) {
  std::vector<ManifestFile> manifests;
  std::unordered_set<Location> seen;
  IW_TRY(VisitManifests(source, scope,
                        [&](const Snapshot&, std::vector<ManifestFile>&& list) -> Status {
                          for (ManifestFile& manifest : list) {
                            if (!IsWanted(files, manifest.content)) continue;
                            if (!seen.insert(manifest.manifest_path).second) continue;
                            manifests.push_back(std::move(manifest));
                          }
                          return {};
                        }));
  using Batch = std::vector<ManifestEntry>;
  return OrderedParallel<Batch>(
      source.run, manifests.size(), source.run.threads(),
      [&](std::size_t i) {
        return ReadManifest(source.run, source.io, source.metadata, manifests[i], options);
      },
      [&](std::size_t, Batch&& batch) -> Status {
        for (ManifestEntry& entry : batch) {
          if (auto status = visit(std::move(entry)); !status) return status;
        }
        return {};
      });
}

Status FileRows(const Source& source, Scope scope, Files files) {
  IW_TRY(source.on_columns(RowMaker::FileColumns()));
  const RowMaker rows(source.metadata);
  return VisitEntries(source, scope, files, {}, [&](ManifestEntry&& entry) {
    return source.on_row(rows.FileRow(entry.file));
  });
}

Status EntryRows(const Source& source, Scope scope) {
  IW_TRY(source.on_columns(
      {"status", "snapshot_id", "sequence_number", "file_sequence_number", "data_file"}));
  const RowMaker rows(source.metadata);
  return VisitEntries(source, scope, Files::kAll, {.live_only = false}, [&](ManifestEntry&& entry) {
    const Json values = rows.FileRow(entry.file);
    Json file = Json::object();
    for (std::size_t i = 0; i < values.size(); ++i) file[RowMaker::FileColumns()[i]] = values[i];
    return source.on_row(Json::array(
        {static_cast<int>(entry.status), OptionalJson(entry.snapshot_id),
         OptionalJson(entry.sequence_number), OptionalJson(entry.file_sequence_number), file}));
  });
}

/// Files and rows of one content in a partition.
struct Tally {
  std::int64_t files = 0, records = 0, bytes = 0;

  void Add(const DataFile& file) {
    ++files;
    records = Sum(records, file.record_count);
    bytes = Sum(bytes, file.file_size_in_bytes);
  }
  static std::int64_t Sum(std::int64_t a, std::int64_t b) {
    std::int64_t sum = 0;
    return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::int64_t>::max() : sum;
  }
};

struct PartitionTally {
  SpecId spec_id;
  StructValue partition;
  Tally by_content[3] = {};
  const Snapshot* last_updated = nullptr;
};

Status Partitions(const Source& source) {
  IW_TRY(source.on_columns(
      {"partition", "spec_id", "record_count", "file_count", "total_data_file_size_in_bytes",
       "position_delete_record_count", "position_delete_file_count", "equality_delete_record_count",
       "equality_delete_file_count", "last_updated_at", "last_updated_snapshot_id"}));
  const SnapshotIndex index(source.metadata);
  std::vector<PartitionTally> tallies;  // in order of appearance
  // Equal tuples of two specs are two partitions.
  std::map<SpecId, std::unordered_map<StructValue, std::size_t, StructValueHash, StructValueEqual>>
      positions;
  IW_TRY(VisitEntries(
      source, Scope::kSnapshot, Files::kAll, {.metrics = false}, [&](ManifestEntry&& entry) {
        const DataFile& file = entry.file;
        const auto [it, is_new] = positions[file.spec_id].emplace(file.partition, tallies.size());
        if (is_new) tallies.push_back({.spec_id = file.spec_id, .partition = file.partition});
        PartitionTally& tally = tallies[it->second];
        tally.by_content[static_cast<std::size_t>(file.content)].Add(file);
        const Snapshot* snapshot = entry.snapshot_id ? index.Find(*entry.snapshot_id) : nullptr;
        if (snapshot != nullptr && (tally.last_updated == nullptr ||
                                    tally.last_updated->timestamp < snapshot->timestamp)) {
          tally.last_updated = snapshot;
        }
        return Status();
      }));
  const RowMaker rows(source.metadata);
  for (const PartitionTally& tally : tallies) {
    const auto& [data, positional, equality] = tally.by_content;
    const bool known = tally.last_updated != nullptr;
    IW_TRY(source.on_row(Json::array(
        {rows.PartitionJson(tally.spec_id, tally.partition), Raw(tally.spec_id), data.records,
         data.files, data.bytes, positional.records, positional.files, equality.records,
         equality.files, known ? TimeJson(tally.last_updated->timestamp) : Json(),
         known ? Json(Raw(tally.last_updated->id)) : Json()})));
  }
  return {};
}

struct Table {
  std::string_view name;
  Status (*scan)(const Source&);
};

template <Scope scope, Files files>
Status FilesTable(const Source& source) {
  return FileRows(source, scope, files);
}
template <Scope scope>
Status EntriesTable(const Source& source) {
  return EntryRows(source, scope);
}
template <Scope scope>
Status ManifestsTable(const Source& source) {
  return Manifests(source, scope);
}

constexpr auto kOne = Scope::kSnapshot;
constexpr auto kEvery = Scope::kAllSnapshots;
constexpr Table kTables[] = {
    {"snapshots", Snapshots},
    {"history", History},
    {"refs", Refs},
    {"metadata-log", MetadataLog},
    {"manifests", ManifestsTable<kOne>},
    {"partitions", Partitions},
    {"files", FilesTable<kOne, Files::kAll>},
    {"data-files", FilesTable<kOne, Files::kData>},
    {"delete-files", FilesTable<kOne, Files::kDeletes>},
    {"entries", EntriesTable<kOne>},
    {"all-manifests", ManifestsTable<kEvery>},
    {"all-files", FilesTable<kEvery, Files::kAll>},
    {"all-data-files", FilesTable<kEvery, Files::kData>},
    {"all-delete-files", FilesTable<kEvery, Files::kDeletes>},
    {"all-entries", EntriesTable<kEvery>},
};

}  // namespace

std::vector<std::string> MetadataTableNames() {
  std::vector<std::string> names;
  for (const Table& table : kTables) names.emplace_back(table.name);
  return names;
}

Status ScanMetadataTable(RunContext& run, FileIO& io, const TableMetadata& metadata,
                         const Location& metadata_location, const MetadataTableRequest& request,
                         const ColumnsVisitor& on_columns, const RowVisitor& on_row) {
  std::string name = request.what;
  std::ranges::replace(name, '_', '-');
  if (name == "metadata-log-entries") name = "metadata-log";  // Java's name
  const auto table = std::ranges::find(kTables, name, &Table::name);
  if (table != std::end(kTables)) {
    return table->scan({run, io, metadata, metadata_location, request, on_columns, on_row});
  }
  if (name == "position-deletes") {
    return Error(Code::kUnsupported, "position-deletes is not among the metadata tables here");
  }
  return Error(Code::kNotFound, fmt::format("metadata table '{}': there are {}", request.what,
                                            fmt::join(MetadataTableNames(), ", ")));
}

}  // namespace icewright
