#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "maintain/orphan_test_table.h"

namespace icewright {
namespace {

using ::testing::IsEmpty;
using Paths = OrphanTestTable::Paths;

std::uint64_t FirstSeed() {
  const char* seed = std::getenv("ICEWRIGHT_TEST_SEED");
  return seed == nullptr ? 20240601 : std::strtoull(seed, nullptr, 10);
}

/// One table with a random past among which orphans of all ages are sprinkled, cleaned now and
/// then.
class RandomHistory {
 public:
  explicit RandomHistory(std::uint64_t seed)
      : rng_(seed),
        version_(1 + Below(3)),
        table_(
            {.format_version = version_,
             .properties = {{"commit.manifest.min-count-to-merge", std::to_string(2 + Below(4))},
                            {"write.metadata.previous-versions-max", std::to_string(1 + Below(9))}},
             .threads = 1 + Below(2)}) {
    table_.Append({NewName()});
    table_.MakeFile(table_.At("metadata/version-hint.text"));
  }

  /// False if a check has failed.
  bool Live(int steps) {
    for (int i = 0; i < steps; ++i) {
      Step();
      if (::testing::Test::HasFailure()) return false;
    }
    Clean();
    return !::testing::Test::HasFailure();
  }

  int runs() const { return runs_; }
  std::int64_t deleted() const { return deleted_; }

 private:
  int Below(int n) { return static_cast<int>(rng_() % static_cast<std::uint64_t>(n)); }
  bool OneIn(int n) { return Below(n) == 0; }
  template <typename T>
  const T& Pick(const std::vector<T>& items) {
    return items[static_cast<std::size_t>(Below(static_cast<int>(items.size())))];
  }
  std::string NewName() { return "f" + std::to_string(++names_); }

  void Step() {
    table_.clock().Advance(kMinute * Below(2000));
    switch (Below(9)) {
      case 0:
      case 1:
        table_.Append({NewName(), NewName()}, Pick(Branches()));
        return;
      case 2:
        return Rewrite(Pick(Branches()));
      case 3:
        return AddDeletes(Pick(Branches()));
      case 4:
        return ChangeRefs();
      case 5:
        table_.Statistics(Pick(table_.Snapshots()), NewName());
        return;
      case 6:
        ASSERT_THAT(table_.Expire({.max_snapshot_age = Below(4) * kDayMs,
                                   .retain_last = 1 + Below(4),
                                   .clean_up_level = OneIn(2) ? "all" : "none"}),
                    IsOk());
        return;
      case 7:
        return Sprinkle();
      default:
        return Clean();
    }
  }

  std::vector<std::string> Branches() {
    std::vector<std::string> names;
    const Table table = table_.Load();
    for (const auto& [name, ref] : table.metadata().refs) {
      if (ref.kind == SnapshotRef::Kind::kBranch) names.push_back(name);
    }
    return names;
  }

  std::vector<DataFile> LiveData(const std::string& branch) {
    std::vector<DataFile> files = table_.Live(branch);
    std::erase_if(files, [](const DataFile& file) { return file.content != FileContent::kData; });
    return files;
  }

  void Rewrite(const std::string& branch) {
    SnapshotUpdate update{.operation = "replace", .branch = branch};
    for (DataFile& file : LiveData(branch)) {
      if (OneIn(2)) update.removed_data_files.push_back(std::move(file));
    }
    if (update.removed_data_files.empty()) return;
    update.added_data_files = {{table_.Data(NewName())}};
    table_.Commit(update);
  }

  void AddDeletes(const std::string& branch) {
    if (version_ == 1) return;
    SnapshotUpdate update{.operation = "delete", .branch = branch};
    if (version_ == 2) {
      update.added_delete_files = {{table_.PositionDeletes(NewName())}};
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

  void ChangeRefs() {
    const std::string name = "r" + std::to_string(Below(3));
    const bool exists = table_.Load().metadata().refs.contains(name);
    if (OneIn(3)) return table_.RollBackTo(Pick(table_.Snapshots()));
    if (OneIn(3)) {
      table_.Stage({NewName()});
      return;
    }
    if (exists) return table_.Update({RemoveSnapshotRef{name}});
    if (OneIn(2)) return table_.Branch(name, Pick(table_.Snapshots()));
    table_.Tag(name, Pick(table_.Snapshots()));
  }

  // What killed and careless writers leave behind.
  void Sprinkle() {
    static const std::vector<std::string> kFolders = {
        "data/", "data/d=1/", "metadata/", "", "data/_tmp/", "data/.h/", "data/with space/"};
    static const std::vector<std::string> kSuffixes = {"",     ".parquet", "-m0.avro", ".stats",
                                                       ".tmp", "%20x",     " x"};
    for (int i = 1 + Below(4); i > 0; --i) {
      table_.Plant(Pick(kFolders) + NewName() + Pick(kSuffixes), Below(6) * kDayMs + Below(1000));
    }
  }

  void Clean() {
    const std::int64_t min_age = (1 + Below(4)) * kDayMs;
    const Paths orphans = table_.Orphans(min_age);
    const Paths before = table_.All();
    DeleteOrphanFilesOptions options{.min_age = min_age,
                                     .use_prefix_listing = OneIn(2),
                                     .quarantine = OneIn(4) ? "memory:/q" : "",
                                     .delete_batch_size = 1 + Below(5)};
    // A writer commits while files are deleted.
    bool committed = false;
    if (OneIn(3)) {
      table_.io().OnCall([&](int, const IoEvent& event) -> Status {
        if (event.call != IoCall::kDelete || std::exchange(committed, true)) return {};
        table_.Append({NewName()});
        return {};
      });
    }
    ASSERT_THAT(table_.Clean(options), IsOk());
    table_.io().OnCall({});
    ++runs_;
    ASSERT_THAT(table_.report.failures, IsEmpty());
    ASSERT_THAT(table_.Lost(), IsEmpty()) << "a named file is gone";
    Paths gone = before;
    for (const std::string& file : table_.All()) gone.erase(file);
    ASSERT_EQ(gone, orphans);
    ASSERT_EQ(table_.Count("orphan-files-count"), std::ssize(orphans));
    deleted_ += std::ssize(gone);
  }

  std::mt19937_64 rng_;
  const int version_;
  OrphanTestTable table_;
  int names_ = 0;
  int runs_ = 0;
  std::int64_t deleted_ = 0;
};

void LiveThrough(int histories, int steps, std::int64_t at_least_deleted) {
  std::int64_t deleted = 0;
  int runs = 0;
  for (int i = 0; i < histories; ++i) {
    const std::uint64_t seed = FirstSeed() + static_cast<std::uint64_t>(i);
    SCOPED_TRACE("ICEWRIGHT_TEST_SEED=" + std::to_string(seed));
    RandomHistory history(seed);
    if (!history.Live(steps)) return;
    deleted += history.deleted();
    runs += history.runs();
  }
  EXPECT_GE(runs, histories * 2) << "histories must be worth the time";
  EXPECT_GE(deleted, at_least_deleted);
}

TEST(OrphanRandomTest, WhatIsNamedStaysAndWhatIsNotGoes) { LiveThrough(100, 20, 700); }

TEST(OrphanRandomSlowTest, WhatIsNamedStaysAndWhatIsNotGoes) { LiveThrough(3000, 60, 200'000); }

}  // namespace
}  // namespace icewright
