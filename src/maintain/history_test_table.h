#pragma once

/// \file maintain/history_test_table.h
/// A table with files that exist, whose history a test writes in a few lines. For tests only.

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "commit/snapshot_update.h"
#include "io/memory_file_io.h"
#include "testing/fake_clock.h"
#include "testing/fault_file_io.h"
#include "testing/matchers.h"
#include "testing/table_builder.h"
#include "testing/test_catalog.h"

namespace icewright {

inline constexpr Milliseconds kMinute{60'000};
inline constexpr std::int64_t kDayMs = 24 * 3600 * 1000;
inline const TableIdentifier kHistoryTable{{"db"}, "t"};
inline const Location kHistoryWarehouse("memory:/w");

struct HistoryTestOptions {
  int format_version = 2;
  Properties properties = {};
  int threads = 1;
  std::function<Status()> may_write = {};
  TestCatalog catalog = TestCatalog::kMemory;
  std::stop_token stop = {};
};

class HistoryTestTable {
 public:
  using Paths = std::set<std::string>;

  explicit HistoryTestTable(HistoryTestOptions options = {})
      : io_(std::make_shared<FaultFileIO>(MakeMemoryFileIO(&clock_))),
        run_({.stop = options.stop,
              .clock = &clock_,
              .random = &random_,
              .threads = options.threads,
              .may_write = std::move(options.may_write)}) {
    MemoryCatalogHooks hooks;
    hooks.before_swap = [this](const TableIdentifier&) { return Call(before_swap); };
    hooks.after_swap = [this](const TableIdentifier&) { return Call(after_swap); };
    hooks.before_read = [this](const TableIdentifier&) {
      return before_read ? std::function(before_read)() : Status();  // it may replace itself
    };
    catalog_ = OpenTestCatalog(options.catalog, kHistoryWarehouse, io_, std::move(hooks)).value();
    EXPECT_THAT(catalog_->CreateNamespace(run_, kHistoryTable.ns, {}), IsOk());
    request_ = {.schema = MakeSchema({{1, "id", TypeId::kLong}, {2, "cat", TypeId::kString}}),
                .properties = options.properties};
    request_.properties["format-version"] = std::to_string(options.format_version);
    EXPECT_THAT(catalog_->CreateTable(run_, kHistoryTable, request_), IsOk());
  }

  /// Memory catalog: called once at the next swap, then forgotten; may commit from elsewhere.
  std::function<Status()> before_swap;
  std::function<Status()> after_swap;
  std::function<Status()> before_read;  ///< At each read of the pointer.

  RunContext& run() { return run_; }
  FakeClock& clock() { return clock_; }
  FaultFileIO& io() { return *io_; }
  Catalog& catalog() { return *catalog_; }

  /// Drops the table with its files and makes another one with its name, at its place.
  void Recreate() {
    EXPECT_THAT(catalog_->DropTable(run_, kHistoryTable, {.purge = true}), IsOk());
    EXPECT_THAT(catalog_->CreateTable(run_, kHistoryTable, request_), IsOk());
  }

  Table Load() {
    auto table = catalog_->LoadTable(run_, kHistoryTable);
    EXPECT_THAT(table, IsOk());
    return std::move(table).value();
  }

  // ---- Files

  static Location PathOf(const std::string& name) {
    return Location("memory:/w/db/t/data/" + name);
  }
  static DataFile Data(const std::string& name) { return MakeDataFile(PathOf(name).text()); }
  static DataFile EqualityDeletes(const std::string& name) {
    return MakeEqualityDeletes(PathOf(name).text(), {1});
  }
  static DataFile PositionDeletes(const std::string& name) {
    return MakePositionDeletes(PathOf(name).text());
  }
  static DataFile Dv(const std::string& puffin, const DataFile& of, std::int64_t offset = 4) {
    return MakeDv(PathOf(puffin).text(), of, offset);
  }
  void MakeFile(const Location& location) {
    const Status made = WriteFile(*io_, location, "x", CreateMode::kNew);
    EXPECT_TRUE(made || made.error().code() == Code::kAlreadyExists) << made.error().message();
  }

  /// Every file of the table but metadata.json and version hint, below the warehouse's folder of
  /// it.
  Paths Files() {
    const std::string folder = "memory:/w/db/t/";
    Paths files;
    EXPECT_THAT(io_->List(Location(folder),
                          [&](const FileStatus& file) -> Status {
                            const std::string& path = file.location.text();
                            if (!path.ends_with(".metadata.json") &&
                                !path.ends_with("/version-hint.text")) {
                              files.insert(path.substr(folder.size()));
                            }
                            return {};
                          }),
                IsOk());
    return files;
  }
  Paths DataFiles() {
    Paths names;
    for (const std::string& file : Files()) {
      if (file.starts_with("data/")) names.insert(file.substr(5));
    }
    return names;
  }

  // ---- History. The clock moves a minute before each commit.

  SnapshotId Commit(const SnapshotUpdate& update) {
    clock_.Advance(kMinute);
    return CommitNow(update);
  }
  SnapshotId CommitNow(const SnapshotUpdate& update) {
    for (const auto* files : {&update.added_data_files, &update.added_delete_files}) {
      for (const AddedFile& added : *files) MakeFile(added.file.file_path);
    }
    Table table = Load();
    CommitReport commit;
    const Status status = CommitSnapshot(run_, table, update, commit);
    EXPECT_THAT(status, IsOk());
    return commit.snapshot_id.value_or(SnapshotId());
  }
  SnapshotId Append(const std::vector<std::string>& names, const std::string& branch = "main",
                    Summary properties = {}) {
    SnapshotUpdate update{.branch = branch, .properties = std::move(properties)};
    for (const std::string& name : names) update.added_data_files.push_back({Data(name)});
    return Commit(update);
  }
  SnapshotId Replace(const std::vector<std::string>& removed, const std::vector<std::string>& added,
                     const std::string& branch = "main") {
    SnapshotUpdate update{.operation = added.empty() ? "delete" : "replace", .branch = branch};
    for (const std::string& name : removed) update.removed_data_files.push_back(Data(name));
    for (const std::string& name : added) update.added_data_files.push_back({Data(name)});
    return Commit(update);
  }
  void Update(std::vector<TableUpdate> updates) {
    Table table = Load();
    EXPECT_THAT(table.Commit(run_, {}, updates), IsOk());
  }
  void Branch(const std::string& name, SnapshotId at, SnapshotRef ref = {}) {
    ref.snapshot_id = at;
    Update({SetSnapshotRef{name, ref}});
  }
  void Tag(const std::string& name, SnapshotId at, std::optional<std::int64_t> max_age = {}) {
    Branch(name, at, {.kind = SnapshotRef::Kind::kTag, .max_ref_age_ms = max_age});
  }
  void RollBackTo(SnapshotId id) { Branch("main", id); }
  /// A snapshot on top of main that no branch or tag names.
  SnapshotId Stage(const std::vector<std::string>& names) {
    const Table table = Load();
    if (const auto head = table.metadata().current_snapshot_id) Branch("staging", *head);
    const SnapshotId id = Append(names, "staging");
    Update({RemoveSnapshotRef{"staging"}});
    return id;
  }
  void Statistics(SnapshotId id, const std::string& name) {
    MakeFile(PathOf(name));
    StatisticsFile file;
    file.snapshot_id = id;
    file.statistics_path = PathOf(name);
    Update({SetStatistics{file}});
  }
  void PartitionStatistics(SnapshotId id, const std::string& name) {
    MakeFile(PathOf(name));
    Update({SetPartitionStatistics{{.snapshot_id = id, .statistics_path = PathOf(name)}}});
  }

 private:
  static Status Call(std::function<Status()>& hook) {
    if (!hook) return {};
    return std::exchange(hook, nullptr)();
  }

  FakeClock clock_;
  Random random_{20240601};
  std::shared_ptr<FaultFileIO> io_;
  RunContext run_;
  std::shared_ptr<Catalog> catalog_;
  CreateTableRequest request_;
};

}  // namespace icewright
