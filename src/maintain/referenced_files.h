#pragma once

/// \file maintain/referenced_files.h
/// Every path that a table names, as a stream: what orphan clean-up must leave alone.
///
/// All snapshots count, staged ones too: their content, manifests and lists; the metadata file and
/// its log; statistics and partition statistics; the version hint; and what a streaming sink has
/// staged.

#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/run_context.h"
#include "catalog/table.h"
#include "maintain/snapshot_manifests.h"

namespace icewright {

/// Single-threaded outside; reads manifests in parallel.
class ReferencedFiles {
 public:
  /// Gets some paths at a time; never called by two threads at once.
  using Visit = std::function<Status(std::span<const std::string> paths)>;

  /// Borrows the FileIO.
  ReferencedFiles(FileIO& io, int parallelism)
      : io_(io), parallelism_(parallelism), manifests_(io, parallelism) {}

  /// Visits what the state names, but not the content of manifests that an earlier call has
  /// visited. A path may come more than once. After an error it can be called again, with a newer
  /// state too. Cost: reads lists and manifests that are new. Errors: kNotFound: an expiry may have
  /// taken away what the state names; those of manifests; those of visit.
  Status VisitNew(RunContext& run, const TableState& state, const Visit& visit);

  /// As VisitNew, with the table's state. If an expiry has taken away what that still names, `load`
  /// loads the table and it is visited again, up to four times. Errors: also those of load.
  Status VisitTable(RunContext& run, const Table& table, const std::function<Status()>& load,
                    const Visit& visit);

  /// Streaming sinks write manifests of what they have not committed yet to
  /// `flink.manifests.location`, by default the metadata folder. Visits those that were made at or
  /// after `since`, and the files they name. Avro files that are no manifests are left out. Cost:
  /// lists the folder. Errors: those of io.
  Status VisitStaged(RunContext& run, const TableState& state, TimePoint since, const Visit& visit);

 private:
  Status VisitContent(RunContext& run, const TableMetadata& metadata, const Visit& visit);
  Status VisitManifest(RunContext& run, const TableMetadata& metadata, const ManifestFile& manifest,
                       const Visit& visit);

  FileIO& io_;
  const int parallelism_;
  std::mutex mutex_;  // one visit at a time
  SnapshotManifests manifests_;
  std::vector<std::uint8_t> content_visited_;  // by index of manifests_: 1 if it was
};

/// The name of a manifest that a sink may have staged: none that a commit gives to its manifests
/// ("-m0.avro") and lists ("snap-").
bool MayBeStaged(std::string_view file_name);

/// Folders that this table keeps metadata in.
std::vector<Location> MetadataFolders(const TableState& state);

}  // namespace icewright
