#pragma once

/// \file maintain/manifest_test_table.h
/// A partitioned table whose manifests a test rewrites, and a naive picture of its live files. For
/// tests only.

#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "commit/commit_test_table.h"
#include "maintain/rewrite_manifests.h"

namespace icewright {

/// A catalog that never answers a commit.
class SilentOperations final : public TableOperations {
 public:
  explicit SilentOperations(Table real) : real_(std::move(real)) {}
  Result<TableState> Load(RunContext& run) override { return real_.operations().Load(run); }
  Result<TableState> Commit(RunContext&, const TableState&, std::span<const TableRequirement>,
                            std::span<const TableUpdate>) override {
    return Error(Code::kCommitUnknown, "no answer");
  }

 private:
  Table real_;
};

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

  Table LoadSilent() {
    const Table real = Load();
    return {real.name(), std::make_shared<SilentOperations>(real), real.shared_io(), real.state()};
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
