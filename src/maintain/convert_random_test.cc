// Random upsert histories, converted now and then, against naive models.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <random>

#include "maintain/convert_test_table.h"
#include "testing/temp_folder.h"

namespace icewright {
namespace {

std::uint64_t FirstSeed() {
  const char* seed = std::getenv("ICEWRIGHT_TEST_SEED");
  return seed == nullptr ? 20240601 : std::strtoull(seed, nullptr, 10);
}

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : rng_(seed) {}
  int Below(int n) { return static_cast<int>(rng_() % static_cast<std::uint64_t>(n)); }
  bool OneIn(int n) { return Below(n) == 0; }
  std::vector<int> Ids(int most) {
    std::vector<int> ids(static_cast<std::size_t>(Below(most + 1)));
    for (int& id : ids) id = Below(12);
    return ids;
  }

 private:
  std::mt19937_64 rng_;
};

/// In some histories keys are looked up in an index: the result is the same.
class Way {
 public:
  explicit Way(bool indexed) {
    if (indexed) folder_.emplace();
  }
  ConvertEqualityDeletesOptions Options() const {
    if (!folder_) return {.resolve = "stateless"};
    return {.resolve = "indexed", .index_path = folder_->path()};
  }

 private:
  std::optional<TempFolder> folder_;
};

/// In place nothing but the form of the deletes may change: rows, row ids and their numbers stay.
void InPlaceHistory(std::uint64_t seed, int steps) {
  SCOPED_TRACE("ICEWRIGHT_TEST_SEED=" + std::to_string(seed));
  Dice dice(seed);
  ConvertTestTable table({.threads = 1 + dice.Below(2)});
  const Way way(dice.OneIn(5));
  table.Upsert({}, {0, 1, 2, 3});
  for (int i = 0; i < steps && !::testing::Test::HasFailure(); ++i) {
    switch (dice.Below(6)) {
      case 0:
      case 1:
      case 2: {
        const auto deleted = dice.Ids(4);
        const auto added = dice.Ids(4);
        if (!deleted.empty() || !added.empty()) table.Upsert(deleted, added);
        break;
      }
      case 3:
        EXPECT_THAT(table.Rewrite({.rewrite_all = dice.OneIn(2)}), IsOk());
        break;
      default: {
        const auto rows = table.LiveRows();
        const bool all = dice.OneIn(2);
        ConvertEqualityDeletesOptions options = way.Options();
        if (!all) options.max_staging_snapshots = 1;
        EXPECT_THAT(table.Convert(options), IsOk());
        EXPECT_EQ(table.LiveRows(), rows);
        if (all) {
          EXPECT_EQ(table.EqualityDeleteFiles(), 0);
        }
        table.Vectors();  // at most one each
        EXPECT_THAT(table.Unsound(), ::testing::IsEmpty());
      }
    }
  }
}

/// An index is kept, copied and put back, whatever becomes of the table meanwhile.
class IndexedHistory {
 public:
  explicit IndexedHistory(std::uint64_t seed) : dice_(seed) {
    indexed_ = {.resolve = "indexed", .index_path = folder_.path() + "/index"};
    Upsert();
  }

  void Step() {
    switch (dice_.Below(10)) {
      case 0:
      case 1:
      case 2:
        return Upsert();
      case 3:
        EXPECT_THAT(table_.Rewrite({.rewrite_all = dice_.OneIn(2)}), IsOk());
        return Remember();
      case 4:
        return table_.RollBackTo(past_[static_cast<std::size_t>(dice_.Below(Past()))]);
      case 5:
        return Convert({.resolve = "stateless"});  // somebody else
      case 6:
        return dice_.OneIn(2) ? Copy("index", "copy") : Copy("copy", "index");
      case 7:
        if (!dice_.OneIn(4)) return;
        table_.Recreate();
        past_.clear();
        return Upsert();
      default:
        return Convert(indexed_);
    }
  }

 private:
  int Past() const { return static_cast<int>(past_.size()); }
  void Remember() { past_.push_back(*table_.Load().metadata().current_snapshot_id); }
  void Upsert() {
    std::vector<int> added = dice_.Ids(4);
    added.push_back(0);
    table_.Upsert(dice_.Ids(4), added);
    Remember();
  }
  void Convert(const ConvertEqualityDeletesOptions& options) {
    const auto rows = table_.LiveRows();
    EXPECT_THAT(table_.Convert(options), IsOk());
    EXPECT_EQ(table_.LiveRows(), rows);
    EXPECT_EQ(table_.EqualityDeleteFiles(), 0);
    EXPECT_THAT(table_.report.notes, ::testing::IsEmpty());
    table_.Vectors();
    Remember();
  }
  void Copy(const std::string& from, const std::string& to) {
    const std::filesystem::path root = folder_.path();
    if (!std::filesystem::exists(root / from)) return;
    std::filesystem::remove_all(root / to);
    std::filesystem::copy(root / from, root / to, std::filesystem::copy_options::recursive);
  }

  Dice dice_;
  TempFolder folder_;
  ConvertTestTable table_;
  ConvertEqualityDeletesOptions indexed_;
  std::vector<SnapshotId> past_;
};

void KeepAnIndex(std::uint64_t seed, int steps) {
  SCOPED_TRACE("ICEWRIGHT_TEST_SEED=" + std::to_string(seed));
  IndexedHistory history(seed);
  for (int i = 0; i < steps && !::testing::Test::HasFailure(); ++i) history.Step();
}

/// What promotion must come to: staged deletes reach the rows that were on main when they were
/// staged, and all rows promoted before them.
class Model {
 public:
  void AddToMain(const std::vector<int>& ids) {
    for (const int id : ids) rows_.push_back({id, false, now_});
    ++now_;
  }
  void Stage(const std::vector<int>& deleted, const std::vector<int>& added) {
    staged_.push_back({deleted, added, now_++});
  }
  bool PromoteOne() {
    if (staged_.empty()) return false;
    const Staged staged = staged_.front();
    staged_.erase(staged_.begin());
    std::erase_if(rows_, [&](const Row& row) {
      return std::ranges::find(staged.deleted, row.id) != staged.deleted.end() &&
             (row.promoted || row.time < staged.time);
    });
    for (const int id : staged.added) rows_.push_back({id, true, staged.time});
    return true;
  }
  std::vector<int> Ids() const {
    std::vector<int> ids;
    for (const Row& row : rows_) ids.push_back(row.id);
    std::ranges::sort(ids);
    return ids;
  }

 private:
  struct Row {
    int id;
    bool promoted;
    int time;
  };
  struct Staged {
    std::vector<int> deleted, added;
    int time;
  };
  std::vector<Row> rows_;
  std::vector<Staged> staged_;
  int now_ = 0;
};

ConvertEqualityDeletesOptions OneOf(ConvertEqualityDeletesOptions options) {
  options.max_staging_snapshots = 1;
  return options;
}

void PromotionHistory(std::uint64_t seed, int steps) {
  SCOPED_TRACE("ICEWRIGHT_TEST_SEED=" + std::to_string(seed));
  Dice dice(seed);
  ConvertTestTable table;
  const Way way(dice.OneIn(5));
  Model model;
  table.Branch("staging", table.Upsert({}, {0, 1, 2, 3}));
  model.AddToMain({0, 1, 2, 3});
  for (int i = 0; i < steps && !::testing::Test::HasFailure(); ++i) {
    switch (dice.Below(7)) {
      case 0:
      case 1:
      case 2: {
        const auto deleted = dice.Ids(4);
        const auto added = dice.Ids(4);
        if (deleted.empty() && added.empty()) break;
        table.Upsert(deleted, added, "staging");
        model.Stage(deleted, added);
        break;
      }
      case 3: {
        const auto added = dice.Ids(3);
        if (added.empty()) break;
        table.Upsert({}, added, "main");
        model.AddToMain(added);
        break;
      }
      case 4:
        EXPECT_THAT(
            table.Rewrite({.rewrite_all = true, .use_starting_sequence_number = dice.OneIn(2)}),
            IsOk());
        break;
      case 5:
        EXPECT_THAT(table.Promote(OneOf(way.Options())), IsOk());
        model.PromoteOne();
        break;
      default:
        EXPECT_THAT(table.Promote(way.Options()), IsOk());
        while (model.PromoteOne()) {
        }
    }
    EXPECT_EQ(table.Ids(), model.Ids());
    EXPECT_EQ(table.EqualityDeleteFiles(), 0);
    table.Vectors();
  }
}

TEST(ConvertRandomTest, InPlaceRowsStay) {
  for (int i = 0; i < 80 && !HasFailure(); ++i) {
    InPlaceHistory(FirstSeed() + static_cast<std::uint64_t>(i), 8);
  }
}

TEST(ConvertRandomTest, AnIndexKeptForeverIsRight) {
  for (int i = 0; i < 10 && !HasFailure(); ++i) {
    KeepAnIndex(FirstSeed() + static_cast<std::uint64_t>(i), 20);
  }
}

TEST(ConvertRandomTest, PromotionAgreesWithTheModel) {
  for (int i = 0; i < 120 && !HasFailure(); ++i) {
    PromotionHistory(FirstSeed() + static_cast<std::uint64_t>(i), 10);
  }
}

TEST(ConvertRandomSlowTest, InPlaceRowsStay) {
  for (int i = 0; i < 2000 && !HasFailure(); ++i) {
    InPlaceHistory(FirstSeed() + 1000 + static_cast<std::uint64_t>(i), 30);
  }
}

TEST(ConvertRandomSlowTest, AnIndexKeptForeverIsRight) {
  for (int i = 0; i < 200 && !HasFailure(); ++i) {
    KeepAnIndex(FirstSeed() + 1000 + static_cast<std::uint64_t>(i), 60);
  }
}

TEST(ConvertRandomSlowTest, PromotionAgreesWithTheModel) {
  for (int i = 0; i < 3000 && !HasFailure(); ++i) {
    PromotionHistory(FirstSeed() + 1000 + static_cast<std::uint64_t>(i), 30);
  }
}

}  // namespace
}  // namespace icewright
