#pragma once

/// \file commit/commit_test_table.h
/// A table whose commits a test can watch, fail and race. For tests only.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "catalog/filesystem/filesystem_catalog.h"
#include "catalog/memory/memory_catalog.h"
#include "commit/snapshot_update.h"
#include "io/local_file_io.h"
#include "io/memory_file_io.h"
#include "manifest/manifest_reader.h"
#include "testing/fake_clock.h"
#include "testing/fault_file_io.h"
#include "testing/matchers.h"
#include "testing/table_builder.h"
#include "testing/temp_folder.h"

namespace icewright {

inline const TableIdentifier kTestTable{{"db"}, "t"};

struct CommitTestOptions {
  int format_version = 2;
  bool partitioned = false;
  Properties properties = {};
  /// The file-system catalog: on files in memory, or in a real folder.
  bool file_system = false;
  const TempFolder* folder = nullptr;
  RunOptions run = {};
};

/// The table has columns id (1) and cat (2); spec 0 is unpartitioned or identity(cat). Its data
/// files are names only.
class CommitTestTable {
 public:
  explicit CommitTestTable(CommitTestOptions options = {})
      : warehouse_(options.folder == nullptr ? Location("memory:/w") : options.folder->location()),
        io_(std::make_shared<FaultFileIO>(options.folder == nullptr ? MakeMemoryFileIO(&clock_)
                                                                    : MakeLocalFileIO())),
        run_(WithClock(options.run)) {
    MemoryCatalogHooks hooks;
    hooks.before_swap = [this](const TableIdentifier&) { return Call(before_swap); };
    if (options.folder == nullptr && !options.file_system) {
      catalog_ = MakeMemoryCatalog("mem", warehouse_, io_, {}, std::move(hooks));
    } else {
      auto catalog = MakeFilesystemCatalog("files", warehouse_, io_);
      EXPECT_THAT(catalog, IsOk());
      catalog_ = *std::move(catalog);
    }
    EXPECT_THAT(catalog_->CreateNamespace(run_, kTestTable.ns, {}), IsOk());
    CreateTableRequest request{
        .schema = MakeSchema({{1, "id", TypeId::kLong}, {2, "cat", TypeId::kString}}),
        .properties = options.properties};
    if (options.partitioned) request.spec = MakeSpec(0, {{2, "identity"}});
    request.properties["format-version"] = std::to_string(options.format_version);
    EXPECT_THAT(catalog_->CreateTable(run_, kTestTable, request), IsOk());
  }

  /// Called once at the next swap in the memory catalog, then forgotten; may commit from elsewhere.
  std::function<Status()> before_swap;

  RunContext& run() { return run_; }
  FakeClock& clock() { return clock_; }
  FaultFileIO& io() { return *io_; }
  std::shared_ptr<FaultFileIO> shared_io() { return io_; }

  Table Load() {
    auto table = catalog_->LoadTable(run_, kTestTable);
    EXPECT_THAT(table, IsOk());
    return std::move(table).value();
  }

  Status Commit(const SnapshotUpdate& update) {
    report = {};
    Table table = Load();
    return CommitSnapshot(run_, table, update, report);
  }
  CommitReport report;

  /// Commits and returns the snapshot's id; the test fails if the commit does.
  SnapshotId MustCommit(const SnapshotUpdate& update) {
    EXPECT_THAT(Commit(update), IsOk());
    return report.snapshot_id.value_or(SnapshotId());
  }

  /// Appends one file of ten records.
  SnapshotId Append(const std::string& path, const std::string& branch = "main") {
    return MustCommit({.branch = branch, .added_data_files = {{Data(path)}}});
  }

  /// "cat=a/f1" is in partition a if the table is partitioned.
  DataFile Data(const std::string& path, std::int64_t records = 10) const {
    return MakeDataFile(path, {.records = records, .partition = PartitionOf(path)});
  }
  DataFile EqualityDeletes(const std::string& path, std::int64_t records = 2) const {
    return MakeEqualityDeletes(path, {1}, {.records = records, .partition = PartitionOf(path)});
  }
  DataFile PositionDeletes(const std::string& path, std::int64_t records = 3) const {
    return MakePositionDeletes(path, {.records = records, .partition = PartitionOf(path)});
  }

  Status Set(const Properties& properties) {
    Table table = Load();
    return table.Commit(run_, {}, std::vector<TableUpdate>{SetProperties{properties}});
  }

  Snapshot Head(const std::string& branch = "main") {
    const Table table = Load();
    const Snapshot* head = table.metadata().FindRef(branch);
    EXPECT_NE(head, nullptr);
    return head == nullptr ? Snapshot() : *head;
  }
  std::vector<ManifestFile> Manifests(const Snapshot& snapshot) {
    auto manifests = ReadManifests(run_, *io_, Load().metadata(), snapshot);
    EXPECT_THAT(manifests, IsOk());
    return manifests ? std::move(manifests).value() : std::vector<ManifestFile>();
  }
  std::vector<ManifestEntry> Entries(const ManifestFile& manifest) {
    auto entries = ReadManifest(run_, *io_, Load().metadata(), manifest,
                                {.metrics = true, .live_only = false});
    EXPECT_THAT(entries, IsOk());
    return entries ? std::move(entries).value() : std::vector<ManifestEntry>();
  }

  /// Live files of the branch with their data sequence numbers. A DV shows as "puffin@offset".
  std::map<std::string, std::int64_t> Live(const std::string& branch = "main") {
    std::map<std::string, std::int64_t> live;
    for (const ManifestFile& manifest : Manifests(Head(branch))) {
      for (const ManifestEntry& entry : Entries(manifest)) {
        if (!entry.is_live()) continue;
        std::string name = entry.file.file_path.text();
        if (entry.file.is_deletion_vector()) {
          name += "@" + std::to_string(entry.file.content_offset.value_or(-1));
        }
        EXPECT_TRUE(live.emplace(name, Raw(entry.sequence_number.value())).second) << name;
      }
    }
    return live;
  }

  /// "+f1" added, "-f2" deleted, "=f3" existing, in the order of list and manifests, one string per
  /// manifest.
  std::vector<std::string> Picture(const Snapshot& snapshot) {
    std::vector<std::string> lines;
    for (const ManifestFile& manifest : Manifests(snapshot)) {
      std::string line;
      for (const ManifestEntry& entry : Entries(manifest)) {
        line += entry.status == EntryStatus::kAdded     ? "+"
                : entry.status == EntryStatus::kDeleted ? "-"
                                                        : "=";
        line += entry.file.file_path.text() + " ";
      }
      lines.push_back(line.substr(0, line.size() - 1));
    }
    return lines;
  }

  std::string Key(const Snapshot& snapshot, std::string_view key) {
    const std::string* value = FindKey(snapshot.summary, key);
    return value == nullptr ? "none" : *value;
  }

  /// Avro files below the table that no snapshot names, and named ones that are missing ("!").
  std::set<std::string> Unsound() {
    const Table table = Load();
    std::set<std::string> named;
    for (const Snapshot& snapshot : table.metadata().snapshots) {
      named.insert(snapshot.manifest_list.text());
      for (const ManifestFile& manifest : Manifests(snapshot)) {
        named.insert(manifest.manifest_path.text());
      }
    }
    std::set<std::string> unsound;
    for (const std::string& file : AvroFiles()) {
      if (named.erase(file) == 0) unsound.insert(file);
    }
    for (const std::string& missing : named) unsound.insert("!" + missing);
    return unsound;
  }

  std::set<std::string> AvroFiles() {
    std::set<std::string> files;
    EXPECT_THAT(io_->List(warehouse_,
                          [&](const FileStatus& file) -> Status {
                            const std::string& path = file.location.text();
                            if (path.ends_with(".avro")) files.insert(path);
                            return {};
                          }),
                IsOk());
    return files;
  }

 private:
  RunOptions WithClock(RunOptions options) {
    options.clock = &clock_;
    options.random = &random_;
    return options;
  }

  static Status Call(std::function<Status()>& hook) {
    if (!hook) return {};
    return std::exchange(hook, nullptr)();
  }

  static StructValue PartitionOf(const std::string& path) {
    if (!path.starts_with("cat=")) return {};
    return {Literal(path.substr(4, path.find('/') - 4))};
  }

  const Location warehouse_;
  FakeClock clock_;
  Random random_{20240601};
  std::shared_ptr<FaultFileIO> io_;
  RunContext run_;
  std::shared_ptr<Catalog> catalog_;
};

}  // namespace icewright
