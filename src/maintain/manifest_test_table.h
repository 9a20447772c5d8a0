#pragma once

/// \file maintain/manifest_test_table.h
/// A partitioned table whose manifests a test rewrites, and a naive picture of its live files. For
/// tests only.

#include <map>
#include <string>

#include "commit/commit_test_table.h"
#include "maintain/rewrite_manifests.h"

namespace icewright {

class ManifestTestTable : public CommitTestTable {
 public:
  using CommitTestTable::CommitTestTable;

  TaskReport task;
  Status Rewrite(const RewriteManifestsOptions& options = {}) {
    Table table = Load();
    return RewriteLoaded(table, options);
  }
  Status RewriteLoaded(Table& table, const RewriteManifestsOptions& options = {}) {
    task = {};
    return RewriteManifests(options).Execute(run(), table, task);
  }
  std::int64_t Count(const std::string& key) const {
    const auto found = task.counts.find(key);
    return found == task.counts.end() ? -1 : found->second;
  }

  /// Everything a reader inherits or stores of each live file of a branch, by path and offset.
  std::map<std::string, ManifestEntry> Naive(const std::string& branch = "main") {
    std::map<std::string, ManifestEntry> live;
    const Table table = Load();
    const Snapshot* head = table.metadata().FindRef(branch);
    if (head == nullptr) return live;
    for (const ManifestFile& manifest : Manifests(*head)) {
      for (ManifestEntry& entry : Entries(manifest)) {
        if (!entry.is_live()) continue;
        entry.status = EntryStatus::kExisting;
        const std::string key = entry.file.file_path.text() + "@" +
                                std::to_string(entry.file.content_offset.value_or(-1));
        EXPECT_TRUE(live.emplace(key, std::move(entry)).second) << key;
      }
    }
    return live;
  }

  Status Update(const std::vector<TableUpdate>& updates) {
    Table table = Load();
    return table.Commit(run(), {}, updates);
  }
};

}  // namespace icewright
