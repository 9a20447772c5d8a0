#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>

#include "maintain/expire_snapshots.h"
#include "maintain/expire_test_table.h"

namespace icewright {
namespace {

using ::testing::IsEmpty;

std::uint64_t FirstSeed() {
  const char* seed = std::getenv("ICEWRIGHT_TEST_SEED");
  return seed == nullptr ? 20240601 : std::strtoull(seed, nullptr, 10);
}

/// One table with a random past: commits on branches, tags, rollbacks, staged snapshots, rewrites,
/// deletion vectors that share Puffin files, statistics, and an expiry now and then.
class RandomHistory {
 public:
  explicit RandomHistory(std::uint64_t seed)
      : rng_(seed),
        version_(1 + Below(3)),
        table_({.format_version = version_,
                .properties = {{"commit.manifest.min-count-to-merge", std::to_string(2 + Below(4))},
                               {"commit.manifest-merge.enabled", Below(4) == 0 ? "false" : "true"}},
                .threads = 1 + Below(2)}) {
    table_.Append({NewName()});
  }

  /// False if a check has failed.
  bool Live(int steps) {
    for (int i = 0; i < steps; ++i) {
      Step();
      if (::testing::Test::HasFailure()) return false;
    }
    Expire();
    return !::testing::Test::HasFailure();
  }

  int expiries() const { return expiries_; }
  std::int64_t deleted() const { return deleted_; }

 private:
  int Below(int n) { return static_cast<int>(rng_() % static_cast<std::uint64_t>(n)); }
  bool OneIn(int n) { return Below(n) == 0; }
  template <typename T>
  const T& Pick(const std::vector<T>& items) {
    return items[static_cast<std::size_t>(Below(static_cast<int>(items.size())))];
  }
  std::string NewName() { return "f" + std::to_string(++names_); }

  std::vector<std::string> Branches() {
    std::vector<std::string> names;
    const Table table = table_.Load();
    for (const auto& [name, ref] : table.metadata().refs) {
      if (ref.kind == SnapshotRef::Kind::kBranch) names.push_back(name);
    }
    return names;
  }

  void Step() {
    table_.clock().Advance(kMinute * Below(600));
    switch (Below(14)) {
      case 0:
      case 1:
      case 2: {
        SnapshotUpdate update{.branch = Pick(Branches())};
        for (int i = 1 + Below(3); i > 0; --i) {
          update.added_data_files.push_back({table_.Data(NewName())});
        }
        table_.Commit(update);
        return;
      }
      case 3:
      case 4:
        return Rewrite(Pick(Branches()));
      case 5:
      case 6:
        return AddDeletes(Pick(Branches()));
      case 7:
        return ReplaceDv(Pick(Branches()));
      case 8:
        return AddRef();
      case 9:
        return RemoveRef();
      case 10:
        if (OneIn(2)) return table_.RollBackTo(Pick(table_.Snapshots()));
        table_.Stage({NewName()});
        return;
      case 11:
        return AddStatistics();
      case 12:
        return PickFromAnywhere();
      default:
        return Expire();
    }
  }

  std::vector<DataFile> LiveData(const std::string& branch) {
    std::vector<DataFile> files = table_.Live(branch);
    std::erase_if(files, [](const DataFile& file) { return file.content != FileContent::kData; });
    return files;
  }

  // Replaces or deletes some data files; their deletion vectors go with them.
  void Rewrite(const std::string& branch) {
    SnapshotUpdate update{.operation = OneIn(3) ? "delete" : "replace", .branch = branch};
    for (DataFile& file : LiveData(branch)) {
      if (OneIn(2)) update.removed_data_files.push_back(std::move(file));
    }
    if (update.removed_data_files.empty()) return;
    if (update.operation == "replace") update.added_data_files = {{table_.Data(NewName())}};
    table_.Commit(update);
  }

  void AddDeletes(const std::string& branch) {
    if (version_ == 1) return;
    SnapshotUpdate update{.operation = "delete", .branch = branch};
    if (version_ == 2) {
      update.added_delete_files = {
          {OneIn(2) ? table_.EqualityDeletes(NewName()) : table_.PositionDeletes(NewName())}};
      table_.Commit(update);
      return;
    }
    std::set<std::string> covered;
    for (const DataFile& file : table_.Live(branch)) {
      if (file.is_deletion_vector()) covered.insert(file.referenced_data_file->text());
    }
    const std::string puffin = NewName();
    std::int64_t offset = 4;
    for (const DataFile& file : LiveData(branch)) {
      if (covered.contains(file.file_path.text()) || OneIn(3)) continue;
      update.added_delete_files.push_back({table_.Dv(puffin, file, offset)});
      offset += 40;
    }
    if (!update.added_delete_files.empty()) table_.Commit(update);
  }

  // The old vector's Puffin file may hold others that stay.
  void ReplaceDv(const std::string& branch) {
    std::vector<DataFile> dvs = table_.Live(branch);
    std::erase_if(dvs, [](const DataFile& file) { return !file.is_deletion_vector(); });
    if (dvs.empty()) return;
    const DataFile old = Pick(dvs);
    DataFile data = table_.Data("x");
    data.file_path = *old.referenced_data_file;
    table_.Commit({.operation = "delete",
                   .branch = branch,
                   .added_delete_files = {{table_.Dv(NewName(), data)}},
                   .removed_delete_files = {old}});
  }

  void AddRef() {
    const std::string name = "r" + std::to_string(Below(5));
    SnapshotRef ref;
    if (OneIn(2)) ref.max_ref_age_ms = 1 + Below(5) * kDayMs;
    if (OneIn(2)) {
      ref.kind = SnapshotRef::Kind::kTag;
    } else {
      if (OneIn(2)) ref.min_snapshots_to_keep = 1 + Below(4);
      if (OneIn(2)) ref.max_snapshot_age_ms = 1 + Below(3) * kDayMs;
    }
    const Table table = table_.Load();
    if (table.metadata().refs.contains(name)) table_.Update({RemoveSnapshotRef{name}});
    table_.Branch(name, Pick(table_.Snapshots()), ref);
  }

  void RemoveRef() {
    const Table table = table_.Load();
    std::vector<std::string> names;
    for (const auto& [name, ref] : table.metadata().refs) {
      if (name != kMainBranch) names.push_back(name);
    }
    if (!names.empty()) table_.Update({RemoveSnapshotRef{Pick(names)}});
  }

  void AddStatistics() {
    const SnapshotId id = Pick(table_.Snapshots());
    const std::string name = "s" + std::to_string(Below(3));
    // What an overwritten entry named is left to orphan clean-up; names are few and come again.
    const Table table = table_.Load();
    for (const auto& file : table.metadata().statistics) {
      if (file.snapshot_id == id) return;
    }
    table_.Statistics(id, name);
  }

  // A data file of some snapshot comes to a branch that does not have it, as a cherry-pick does.
  void PickFromAnywhere() {
    const Table table = table_.Load();
    const Snapshot* from = table.metadata().FindSnapshot(Pick(table_.Snapshots()));
    const std::string branch = Pick(Branches());
    std::set<std::string> present;
    for (const DataFile& file : LiveData(branch)) present.insert(file.file_path.text());
    for (DataFile& file : table_.Live(table.metadata(), *from)) {
      if (file.content != FileContent::kData || present.contains(file.file_path.text())) continue;
      file.first_row_id.reset();
      table_.Commit({.branch = branch, .added_data_files = {{std::move(file)}}});
      return;
    }
  }

  void Expire() {
    ExpireSnapshotsOptions options = {.max_snapshot_age = Below(4) * kDayMs,
                                      .retain_last = 1 + Below(4),
                                      .delete_batch_size = 1 + Below(7)};
    if (OneIn(4)) options.snapshot_ids = Unnamed();
    const auto before = table_.Files();
    const auto reachable_before = table_.Reachable();
    ASSERT_THAT(table_.Expire(options), IsOk());
    ++expiries_;
    ASSERT_THAT(table_.Unsound(), IsEmpty());
    const auto after = table_.Files();
    std::int64_t deleted = 0;
    for (const auto& [key, value] : table_.report.counts) {
      if (key.starts_with("deleted-") && key.ends_with("-count")) deleted += value;
    }
    // Nothing was unreachable before, so each deletion is of a file that there was.
    ASSERT_EQ(before, reachable_before);
    ASSERT_EQ(std::ssize(before) - std::ssize(after), deleted - AlreadyGone());
    ASSERT_THAT(table_.report.leftovers, IsEmpty());
    ASSERT_THAT(table_.report.failures, IsEmpty());
    deleted_ += deleted;
  }

  // Files that an earlier expiry deleted, named as deleted by a snapshot that expired now.
  std::int64_t AlreadyGone() {
    for (const std::string& note : table_.report.notes) {
      if (note.find("were not reachable before either") != std::string::npos) {
        return std::strtoll(note.c_str(), nullptr, 10);
      }
    }
    return 0;
  }

  // A snapshot that is no head.
  std::string Unnamed() {
    const Table table = table_.Load();
    std::set<SnapshotId> heads;
    for (const auto& [name, ref] : table.metadata().refs) heads.insert(ref.snapshot_id);
    for (const SnapshotId id : table_.Snapshots()) {
      if (!heads.contains(id) && OneIn(2)) return ToString(id);
    }
    return {};
  }

  std::mt19937_64 rng_;
  const int version_;
  ExpireTestTable table_;
  int names_ = 0;
  int expiries_ = 0;
  std::int64_t deleted_ = 0;
};

void LiveThrough(int histories, int steps, std::int64_t at_least_deleted) {
  std::int64_t deleted = 0;
  int expiries = 0;
  for (int i = 0; i < histories; ++i) {
    const std::uint64_t seed = FirstSeed() + static_cast<std::uint64_t>(i);
    SCOPED_TRACE("ICEWRIGHT_TEST_SEED=" + std::to_string(seed));
    RandomHistory history(seed);
    if (!history.Live(steps)) return;
    deleted += history.deleted();
    expiries += history.expiries();
  }
  EXPECT_GE(expiries, histories * 2) << "histories must be worth the time";
  EXPECT_GE(deleted, at_least_deleted);
}

TEST(ExpireRandomTest, WhatIsReachableStaysAndWhatIsNotGoes) { LiveThrough(200, 16, 1500); }

TEST(ExpireRandomSlowTest, WhatIsReachableStaysAndWhatIsNotGoes) { LiveThrough(3000, 60, 200'000); }

}  // namespace
}  // namespace icewright
