#pragma once

/// \file maintain/expire_test_table.h
/// A table to expire snapshots of, and a naive walker that decides what may be deleted. For tests
/// only.

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "maintain/expire_snapshots.h"
#include "maintain/history_test_table.h"
#include "manifest/manifest_reader.h"

namespace icewright {

class ExpireTestTable : public HistoryTestTable {
 public:
  using HistoryTestTable::HistoryTestTable;

  // ---- Expiry

  TaskReport report;
  Status Expire(const ExpireSnapshotsOptions& options) {
    Table table = Load();
    return ExpireLoaded(table, options);
  }
  Status ExpireLoaded(Table& table, const ExpireSnapshotsOptions& options) {
    report = {};
    return ExpireSnapshots(options).Execute(run(), table, report);
  }
  std::int64_t Count(const std::string& key) const {
    const auto found = report.counts.find(key);
    return found == report.counts.end() ? -1 : found->second;
  }

  std::vector<SnapshotId> Snapshots() {
    std::vector<SnapshotId> ids;
    const Table table = Load();
    for (const Snapshot& snapshot : table.metadata().snapshots) ids.push_back(snapshot.id);
    return ids;
  }

  Paths Journals() {
    Paths journals;
    for (const std::string& file : Files()) {
      if (file.find("icewright-deletions-") != std::string::npos) journals.insert(file);
    }
    return journals;
  }

  // ---- The oracle

  /// Live entries of a snapshot, read anew.
  std::vector<DataFile> Live(const TableMetadata& metadata, const Snapshot& snapshot) {
    std::vector<DataFile> live;
    auto manifests = ReadManifests(run(), io(), metadata, snapshot);
    EXPECT_THAT(manifests, IsOk());
    if (!manifests) return live;
    for (const ManifestFile& manifest : *manifests) {
      auto entries =
          ReadManifest(run(), io(), metadata, manifest, {.metrics = false, .live_only = false});
      EXPECT_THAT(entries, IsOk());
      if (!entries) return live;
      for (ManifestEntry& entry : *entries) {
        if (entry.status != EntryStatus::kDeleted) live.push_back(std::move(entry.file));
      }
    }
    return live;
  }
  std::vector<DataFile> Live(const std::string& ref = "main") {
    const Table table = Load();
    const Snapshot* head = table.metadata().FindRef(ref);
    return head == nullptr ? std::vector<DataFile>() : Live(table.metadata(), *head);
  }

  /// Every path that any snapshot of the table leads to.
  Paths Reachable() {
    const Table table = Load();
    const TableMetadata& metadata = table.metadata();
    std::set<std::string> full;
    for (const Snapshot& snapshot : metadata.snapshots) {
      full.insert(snapshot.manifest_list.text());
      auto manifests = ReadManifests(run(), io(), metadata, snapshot);
      EXPECT_THAT(manifests, IsOk());
      if (!manifests) continue;
      for (const ManifestFile& manifest : *manifests) full.insert(manifest.manifest_path.text());
      for (const DataFile& file : Live(metadata, snapshot)) full.insert(file.file_path.text());
    }
    for (const auto& file : metadata.statistics) full.insert(file.statistics_path.text());
    for (const auto& file : metadata.partition_statistics) full.insert(file.statistics_path.text());
    const std::string folder = "memory:/w/db/t/";
    Paths reachable;
    for (const std::string& path : full) reachable.insert(path.substr(folder.size()));
    return reachable;
  }
  /// "!x": reachable but gone; "x": there but unreachable. Empty: as it should be.
  Paths Unsound() {
    Paths unsound = Files();
    for (const std::string& path : Reachable()) {
      if (unsound.erase(path) == 0) unsound.insert("!" + path);
    }
    return unsound;
  }
};

}  // namespace icewright
