#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "maintain/manifest_test_table.h"

namespace icewright {
namespace {

using ::testing::IsEmpty;

std::uint64_t FirstSeed() {
  const char* seed = std::getenv("ICEWRIGHT_TEST_SEED");
  return seed == nullptr ? 20240601 : std::strtoull(seed, nullptr, 10);
}

/// A table with a random past in up to two specs and two branches: appends, deletes of files,
/// delete files and vectors, upgrades, and a rewrite of the manifests now and then.
class RandomManifests {
 public:
  explicit RandomManifests(std::uint64_t seed)
      : rng_(seed),
        table_({.format_version = 1 + Below(3),
                .partitioned = Below(3) != 0,
                .properties = {{"commit.manifest.min-count-to-merge", std::to_string(2 + Below(6))},
                               {"commit.manifest-merge.enabled", OneIn(3) ? "true" : "false"},
                               {"write.manifest.compression-codec",
                                OneIn(2) ? "gzip" : "uncompressed"}},
                .run = {.threads = 1 + Below(2)}}) {
    Append();
  }

  void Live(int steps) {
    for (int i = 0; i < steps && !::testing::Test::HasFailure(); ++i) Step();
    if (!::testing::Test::HasFailure()) Rewrite();
  }

  int rewrites() const { return rewrites_; }
  int idle() const { return idle_; }

 private:
  int Below(int n) { return static_cast<int>(rng_() % static_cast<std::uint64_t>(n)); }
  bool OneIn(int n) { return Below(n) == 0; }
  std::string NewName() {
    return std::string("cat=") + static_cast<char>('a' + Below(6)) + "/" + std::to_string(++names_);
  }
  std::string Branch() { return has_branch_ && OneIn(3) ? "dev" : "main"; }
  int Version() { return table_.Load().metadata().format_version; }

  DataFile NewFile() {
    DataFile file = table_.Data(NewName(), 1 + Below(20));
    const Table table = table_.Load();
    file.spec_id = table.metadata().default_spec_id;
    if (table.metadata().default_spec().fields.empty()) {
      file.partition.clear();
    } else if (OneIn(6) || file.partition.empty()) {
      file.partition = {Literal{}};
    }
    file.lower_bounds = {{FieldId{1}, Bytes(8, static_cast<char>(Below(100)))}};
    return file;
  }

  void Append() {
    SnapshotUpdate update{.branch = Branch()};
    for (int i = 1 + Below(5); i > 0; --i) update.added_data_files.push_back({NewFile()});
    table_.MustCommit(update);
  }

  std::vector<DataFile> Data(const std::string& branch) {
    std::vector<DataFile> files;
    for (auto& [key, entry] : table_.Naive(branch)) {
      if (entry.file.content == FileContent::kData) files.push_back(std::move(entry.file));
    }
    return files;
  }

  void Step() {
    switch (Below(9)) {
      case 0:
      case 1:
      case 2:
        return Append();
      case 3: {
        SnapshotUpdate update{.operation = "delete", .branch = Branch()};
        for (DataFile& file : Data(update.branch)) {
          if (OneIn(4)) update.removed_data_files.push_back(std::move(file));
        }
        if (!update.removed_data_files.empty()) table_.MustCommit(update);
        return;
      }
      case 4:
        return AddDeletes();
      case 5:
        if (OneIn(2) && Version() < 3) {
          ASSERT_THAT(table_.Update({UpgradeFormatVersion{Version() + 1}}), IsOk());
        }
        return;
      case 6:
        if (!has_branch_ && OneIn(2)) {
          ASSERT_THAT(table_.Update({SetSnapshotRef{"dev", {.snapshot_id = table_.Head().id}}}),
                      IsOk());
          has_branch_ = true;
        } else if (!evolved_ && OneIn(2)) {
          if (table_.Load().metadata().default_spec().fields.empty()) return;
          ASSERT_THAT(table_.Update({AddPartitionSpec{MakeSpec(1, {})}, SetDefaultSpec{SpecId{1}}}),
                      IsOk());
          evolved_ = true;
        }
        return;
      default:
        return Rewrite();
    }
  }

  void AddDeletes() {
    const int version = Version();
    if (version == 1) return;
    SnapshotUpdate update{.operation = "delete", .branch = Branch()};
    std::vector<DataFile> data = Data(update.branch);
    if (data.empty()) return;
    const DataFile& target = data[static_cast<std::size_t>(Below(static_cast<int>(data.size())))];
    DataFile deletes = MakeEqualityDeletes(
        NewName(), {1},
        {.records = 2, .spec_id = Raw(target.spec_id), .partition = target.partition});
    if (version == 3) {
      for (const auto& [key, entry] : table_.Naive(update.branch)) {
        if (entry.file.referenced_data_file == target.file_path) return;
      }
      if (OneIn(2)) deletes = MakeDv(NewName(), target);
    }
    update.added_delete_files = {{deletes}};
    table_.MustCommit(update);
  }

  void Rewrite() {
    const std::string branch = Branch();
    RewriteManifestsOptions options{.rewrite_all = OneIn(4), .branch = branch};
    constexpr std::int64_t kTargets[] = {500, 4000, 6000, 1 << 20};
    options.target_size_bytes = kTargets[Below(4)];
    auto before = table_.Naive(branch);
    const Snapshot head = table_.Head(branch);
    const std::string other_branch = branch == "main" ? "dev" : "main";
    const auto other = table_.Naive(other_branch);
    ASSERT_THAT(table_.Rewrite(options), IsOk());
    ++rewrites_;
    idle_ += table_.task.outcome == TaskOutcome::kNothingToDo ? 1 : 0;
    auto after = table_.Naive(branch);
    // The first commit after an upgrade gives row ids, whatever it does.
    for (auto& [key, entry] : before) {
      const auto found = after.find(key);
      ASSERT_NE(found, after.end()) << key;
      if (!entry.file.first_row_id) found->second.file.first_row_id.reset();
    }
    ASSERT_EQ(after, before);
    ASSERT_EQ(table_.Naive(other_branch), other);
    for (const char* key : {"total-data-files", "total-records", "total-delete-files"}) {
      ASSERT_EQ(table_.Key(table_.Head(branch), key), table_.Key(head, key));
    }
    ASSERT_THAT(table_.Unsound(), IsEmpty());
    options.rewrite_all = false;
    const SnapshotId done = table_.Head(branch).id;
    ASSERT_THAT(table_.Rewrite(options), IsOk());
    ASSERT_EQ(table_.Head(branch).id, done) << "a second run commits nothing";
  }

  std::mt19937_64 rng_;
  ManifestTestTable table_;
  int names_ = 0;
  bool has_branch_ = false;
  bool evolved_ = false;
  int rewrites_ = 0;
  int idle_ = 0;
};

void RunSeeds(std::uint64_t first, int seeds, int steps) {
  int rewrites = 0;
  int idle = 0;
  for (int i = 0; i < seeds; ++i) {
    const std::uint64_t seed = first + static_cast<std::uint64_t>(i);
    SCOPED_TRACE("ICEWRIGHT_TEST_SEED=" + std::to_string(seed));
    RandomManifests history(seed);
    history.Live(steps);
    if (::testing::Test::HasFailure()) return;
    rewrites += history.rewrites();
    idle += history.idle();
  }
  EXPECT_GT(rewrites - idle, seeds) << "most rewrites do something";
}

TEST(RewriteManifestsRandomTest, LiveEntriesStayTheSame) { RunSeeds(FirstSeed(), 30, 20); }

TEST(RewriteManifestsRandomSlowTest, LiveEntriesStayTheSame) {
  RunSeeds(FirstSeed() + 10'000, 3000, 50);
}

}  // namespace
}  // namespace icewright
