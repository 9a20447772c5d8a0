// Conversions by us and by Java in turn on one table: an independent model of Java's planner finds
// its place on our output, and we find ours on commits of Java's shape.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <utility>

#include "maintain/convert_test_table.h"
#include "maintain/java_planner_model.h"
#include "maintain/staged_changes.h"
#include "maintain/staging_history.h"

namespace icewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A table on which both promote. It knows what each staging snapshot brought.
class SharedTable : public ConvertTestTable {
 public:
  SharedTable() {
    Branch("staging", Upsert({}, {0, 1, 2, 3}));
    for (const int id : {0, 1, 2, 3}) rows_.push_back({id});
  }

  void Stage(const std::vector<int>& deleted, const std::vector<int>& added) {
    Staged staged{.deleted = deleted, .added = added, .time = ++now_};
    SnapshotUpdate update{.operation = added.empty() ? "delete" : "overwrite", .branch = "staging"};
    if (!deleted.empty()) update.added_delete_files.push_back({DeleteIds(NewName("e"), deleted)});
    if (!added.empty()) update.added_data_files.push_back({Rows(NewName("f"), added)});
    staged.data_files = update.added_data_files;
    staged_[Commit(update)] = staged;
  }
  void AddToTarget(const std::vector<int>& ids) {
    Upsert({}, ids);
    ++now_;
    for (const int id : ids) rows_.push_back({id, false, now_});
  }

  /// The commit that Java makes of one staging snapshot: marker, counters, nothing else.
  void PromoteAsJava(SnapshotId id) {
    const Table table = Load();
    SnapshotUpdate update{.validate_from = table.metadata().FindRef("main")->id,
                          .properties = {{std::string(kJavaMarker), std::to_string(Raw(id))}}};
    const Staged& staged = staged_.at(id);
    update.added_data_files = staged.data_files;
    AddVectors(staged.deleted, update);
    const bool deletes = !update.added_delete_files.empty();
    update.operation = staged.added.empty() ? "delete" : deletes ? "overwrite" : "append";
    Commit(update);
    Expect(id, true);
  }
  /// Java takes every row of the target with the key; we those that were there when it was deleted.
  void Expect(SnapshotId id, bool as_java) {
    const Staged& staged = staged_.at(id);
    std::erase_if(rows_, [&](const Row& row) {
      return std::ranges::find(staged.deleted, row.id) != staged.deleted.end() &&
             (as_java || row.promoted || row.time < staged.time);
    });
    for (const int added : staged.added) rows_.push_back({added, true, staged.time});
  }
  std::vector<int> ExpectedIds() const {
    std::vector<int> ids;
    for (const Row& row : rows_) ids.push_back(row.id);
    std::ranges::sort(ids);
    return ids;
  }

  SnapshotIds JavaWaits() { return JavaWaits(Load()); }
  static SnapshotIds JavaWaits(const Table& table) {
    return JavaPlanner(table.metadata(), "staging", "main").Waiting();
  }
  /// As PlanPromotion takes them: what changes nothing is left out.
  SnapshotIds WeWait(const Table& table) {
    const auto waiting = FindWaitingSnapshots(table.metadata(), "staging", "main", {});
    EXPECT_THAT(waiting, IsOk());
    SnapshotIds ids;
    if (!waiting) return ids;
    for (const Snapshot* snapshot : waiting->snapshots) {
      auto changes = ReadStagedChanges(run(), io(), table.metadata(), *snapshot, {FieldId{1}});
      EXPECT_THAT(changes, IsOk());
      if (changes && !changes->empty()) ids.push_back(snapshot->id);
    }
    return ids;
  }

 private:
  struct Staged {
    std::vector<int> deleted, added;
    std::vector<AddedFile> data_files = {};
    int time = 0;
  };
  struct Row {
    int id;
    bool promoted = false;
    int time = 0;
  };

  /// One vector for each file of the target with such a row, in place of the one it had.
  void AddVectors(const std::vector<int>& deleted, SnapshotUpdate& update) {
    std::map<std::string, std::set<std::int64_t>> kept;
    std::set<std::string> hit;
    for (const std::string& text : LiveColumns({"id", "_file", "_pos"})) {
      const Json row = ParseJson(text).value();
      const std::string file = row[1];
      kept[file];
      if (std::ranges::find(deleted, row[0].get<int>()) == deleted.end()) {
        kept[file].insert(row[2].get<std::int64_t>());
      } else {
        hit.insert(file);
      }
    }
    const auto live = Live();
    for (const DataFile& file : live) {
      if (file.content == FileContent::kData && hit.contains(file.file_path.text())) {
        std::vector<int> gone;
        for (int i = 0; i < file.record_count; ++i) {
          if (!kept[file.file_path.text()].contains(i)) gone.push_back(i);
        }
        update.added_delete_files.push_back({DvOf(NewName("d"), file, gone)});
      }
      const auto of = ReferencedDataFile(file);
      if (of && hit.contains(of->text())) update.removed_delete_files.push_back(file);
    }
  }

  std::map<SnapshotId, Staged> staged_;
  std::vector<Row> rows_;
  int now_ = 0;
};

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : rng_(seed) {}
  int Below(int n) { return static_cast<int>(rng_() % static_cast<std::uint64_t>(n)); }
  std::vector<int> Keys(int most) {
    std::vector<int> ids(static_cast<std::size_t>(Below(most + 1)));
    for (int& id : ids) id = Below(8);
    return ids;
  }

 private:
  std::mt19937_64 rng_;
};

std::uint64_t FirstSeed() {
  const char* seed = std::getenv("ICEWRIGHT_TEST_SEED");
  return seed == nullptr ? 20240601 : std::strtoull(seed, nullptr, 10);
}

/// Both in turn, beside a writer of the staging branch, one of the target, and expiry.
class TakingTurns {
 public:
  TakingTurns(std::uint64_t seed, int steps) : seed_(seed), steps_(steps), dice_(seed) {}

  void Run() {
    SCOPED_TRACE("ICEWRIGHT_TEST_SEED=" + std::to_string(seed_));
    for (int i = 0; i < steps_ && !::testing::Test::HasFailure(); ++i) {
      Step();
      const Table table = table_.Load();
      waiting_ = SharedTable::JavaWaits(table);
      EXPECT_EQ(waiting_, table_.WeWait(table));
    }
    EXPECT_EQ(table_.Ids(), table_.ExpectedIds());
  }

 private:
  void Step() {
    switch (dice_.Below(9)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return table_.Stage(dice_.Keys(2), dice_.Keys(2));  // maybe neither
      case 4:
        return table_.AddToTarget({dice_.Below(8)});
      case 5:
        if (promoted_) {
          EXPECT_THAT(table_.Expire({.max_snapshot_age = 0, .retain_last = 1}), IsOk());
        }
        return;
      case 6:
        return Ours();
      default:
        return Javas();
    }
  }
  void Ours() {
    SnapshotIds waiting = waiting_;
    ConvertEqualityDeletesOptions options;
    const auto most = static_cast<std::size_t>(1 + dice_.Below(3));
    if (dice_.Below(3) != 0) options.max_staging_snapshots = static_cast<std::int64_t>(most);
    if (options.max_staging_snapshots && most < waiting.size()) waiting.resize(most);
    ASSERT_THAT(table_.Promote(options), IsOk());
    EXPECT_EQ(table_.report.snapshot_ids.size(), waiting.size());
    if (!waiting.empty()) {
      EXPECT_EQ(table_.Marker(), std::to_string(Raw(waiting.back())));
    }
    for (const SnapshotId id : waiting) table_.Expect(id, false);
    promoted_ |= !waiting.empty();
  }
  void Javas() {
    if (waiting_.empty()) return;
    table_.PromoteAsJava(waiting_.front());
    promoted_ = true;
  }

  std::uint64_t seed_;
  int steps_;
  Dice dice_;
  SharedTable table_;
  SnapshotIds waiting_;
  bool promoted_ = false;
};

TEST(ConvertJavaPlannerTest, EachGoesOnWhereTheOtherStopped) {
  for (std::uint64_t i = 0; i < 25 && !HasFailure(); ++i) TakingTurns(FirstSeed() + i, 14).Run();
}

TEST(ConvertJavaPlannerSlowTest, EachGoesOnWhereTheOtherStopped) {
  for (std::uint64_t i = 0; i < 150 && !HasFailure(); ++i) {
    TakingTurns(FirstSeed() + 1000 + i, 30).Run();
  }
}

// ---- Snapshots alone: long histories, in no time

class SnapshotsOnly {
 public:
  SnapshotsOnly() : table_(MakeTable(MakeSchema({{1, "id", TypeId::kLong}}), {MakeSpec(0, {})})) {
    Add("main", {{"added-data-files", "1"}});
    table_.refs["staging"] = table_.refs["main"];
  }

  void Stage(bool changes_something) {
    const SnapshotId id =
        Add("staging", {{changes_something ? "added-delete-files" : "manifests-kept", "1"}});
    if (!changes_something) empty_.insert(id);
  }
  void AddToTarget() { Add("main", {{"added-data-files", "1"}}); }
  /// Only we write the table property.
  void Promote(SnapshotId id, bool as_java) {
    Add("main", {{"added-data-files", "1"}, {std::string(kJavaMarker), std::to_string(Raw(id))}});
    if (!as_java) table_.properties[ConvertRecordProperty("main")] = std::to_string(Raw(id));
    promoted_ = id;
  }
  /// What comes before the last promotion, and what was promoted but maybe the last one.
  void Expire(bool last_staged_too) {
    if (!promoted_) return;
    std::set<SnapshotId> gone;
    bool is_older = false;
    for (const Snapshot* s : HistoryOf(table_, "main")) {
      if (is_older) gone.insert(s->id);
      is_older |= FindKey(s->summary, kJavaMarker) != nullptr;
    }
    is_older = false;
    for (const Snapshot* s : HistoryOf(table_, "staging")) {
      is_older |= last_staged_too && s->id == promoted_;
      if (is_older) gone.insert(s->id);
      is_older |= s->id == promoted_;
    }
    gone.erase(table_.refs["staging"].snapshot_id);
    std::erase_if(table_.snapshots, [&](const Snapshot& s) { return gone.contains(s.id); });
  }

  SnapshotIds JavaWaits() const { return JavaPlanner(table_, "staging", "main").Waiting(); }
  SnapshotIds WeWait() const {
    const auto waiting = FindWaitingSnapshots(table_, "staging", "main", {});
    EXPECT_THAT(waiting, IsOk());
    SnapshotIds ids;
    if (!waiting) return ids;
    for (const Snapshot* s : waiting->snapshots) {
      if (!empty_.contains(s->id)) ids.push_back(s->id);
    }
    return ids;
  }

 private:
  SnapshotId Add(const std::string& branch, Summary summary) {
    Snapshot snapshot;
    snapshot.id = SnapshotId(++last_id_);
    snapshot.sequence_number = SequenceNumber(last_id_);
    if (table_.refs.contains(branch)) snapshot.parent_id = table_.refs[branch].snapshot_id;
    snapshot.summary = std::move(summary);
    table_.refs[branch] = {.snapshot_id = snapshot.id};
    table_.snapshots.push_back(std::move(snapshot));
    return SnapshotId(last_id_);
  }

  TableMetadata table_;
  std::set<SnapshotId> empty_;
  std::optional<SnapshotId> promoted_;
  std::int64_t last_id_ = 0;
};

void TakeTurnsWithoutFiles(std::uint64_t seed) {
  SCOPED_TRACE("ICEWRIGHT_TEST_SEED=" + std::to_string(seed));
  Dice dice(seed);
  SnapshotsOnly table;
  for (int i = 0; i < 30 && !::testing::Test::HasFailure(); ++i) {
    const SnapshotIds waiting = table.JavaWaits();
    EXPECT_EQ(waiting, table.WeWait());
    const int die = dice.Below(8);
    if (die < 4) {
      table.Stage(dice.Below(6) != 0);
    } else if (die == 4) {
      table.AddToTarget();
    } else if (die == 5) {
      table.Expire(dice.Below(2) == 0);
    } else if (!waiting.empty()) {
      const auto most = die == 6 ? 1 : 1 + static_cast<std::size_t>(dice.Below(3));
      for (std::size_t n = 0; n < most && n < waiting.size(); ++n) {
        table.Promote(waiting[n], die == 6);
      }
    }
  }
}

TEST(ConvertJavaPlannerTest, InLongHistoriesToo) {
  for (std::uint64_t i = 0; i < 400 && !HasFailure(); ++i) TakeTurnsWithoutFiles(FirstSeed() + i);
}

// ---- In place

/// A table that both convert in place. It knows which rows the deletes of each snapshot drop.
class SharedInPlaceTable : public ConvertTestTable {
 public:
  SharedInPlaceTable() { Write({}, {0, 1, 2, 3, 4}); }

  void Write(const std::vector<int>& deleted, const std::vector<int>& added) {
    SnapshotUpdate update{.operation = added.empty() ? "delete" : "overwrite"};
    if (!deleted.empty()) update.added_delete_files.push_back({DeleteIds(NewName("e"), deleted)});
    if (!added.empty()) update.added_data_files.push_back({Rows(NewName("f"), added)});
    const SnapshotId id = Commit(update);
    if (!deleted.empty()) {
      deletes_[id] = {deleted, files_.size(), update.added_delete_files[0].file};
    }
    if (!added.empty()) files_.push_back({update.added_data_files[0].file, added});
  }
  void ConvertAsJava(SnapshotId id) {
    SnapshotUpdate update{.operation = "overwrite",
                          .removed_delete_files = {deletes_.at(id).file},
                          .properties = {{std::string(kJavaMarker), std::to_string(Raw(id))}}};
    const auto live = Live();
    for (const std::size_t changed : Apply(id)) {
      const File& file = files_[changed];
      const std::vector<int> gone(file.gone.begin(), file.gone.end());
      update.added_delete_files.push_back({DvOf(NewName("d"), file.file, gone)});
      for (const DataFile& old : live) {
        if (ReferencedDataFile(old) == file.file.file_path) {
          update.removed_delete_files.push_back(old);
        }
      }
    }
    Commit(update);
  }
  /// The files that lose rows by the deletes of this snapshot.
  std::vector<std::size_t> Apply(SnapshotId id) {
    const Delete& one = deletes_.at(id);
    std::vector<std::size_t> changed;
    for (std::size_t i = 0; i < one.older_files; ++i) {
      const auto before = files_[i].gone.size();
      for (int row = 0; row < std::ssize(files_[i].ids); ++row) {
        const int key = files_[i].ids[static_cast<std::size_t>(row)];
        if (std::ranges::find(one.ids, key) != one.ids.end()) files_[i].gone.insert(row);
      }
      if (files_[i].gone.size() != before) changed.push_back(i);
    }
    return changed;
  }
  std::map<std::string, std::int64_t> ExpectedVectors() const {
    std::map<std::string, std::int64_t> out;
    for (const File& file : files_) {
      if (file.gone.empty()) continue;
      out[std::string(file.file.file_path.file_name())] = std::ssize(file.gone);
    }
    return out;
  }
  SnapshotIds JavaWaits() {
    const Table table = Load();
    return JavaPlanner(table.metadata(), "main", "main").Waiting();
  }

 private:
  struct File {
    DataFile file;
    std::vector<int> ids;
    std::set<int> gone = {};
  };
  struct Delete {
    std::vector<int> ids;
    std::size_t older_files = 0;
    DataFile file;
  };
  std::vector<File> files_;
  std::map<SnapshotId, Delete> deletes_;
};

void TakeTurnsInPlace(std::uint64_t seed, int steps) {
  SCOPED_TRACE("ICEWRIGHT_TEST_SEED=" + std::to_string(seed));
  Dice dice(seed);
  SharedInPlaceTable table;
  for (int i = 0; i < steps && !::testing::Test::HasFailure(); ++i) {
    SnapshotIds waiting = table.JavaWaits();
    const int die = dice.Below(6);
    if (die < 3) {
      table.Write(dice.Keys(2), dice.Keys(2));
    } else if (die == 3 && !waiting.empty()) {
      table.ConvertAsJava(waiting.front());
    } else {
      const auto most = static_cast<std::size_t>(1 + dice.Below(2));
      if (most < waiting.size()) waiting.resize(most);
      ASSERT_THAT(table.Convert({.max_staging_snapshots = static_cast<std::int64_t>(most)}),
                  IsOk());
      for (const SnapshotId id : waiting) table.Apply(id);
      if (!waiting.empty()) {
        EXPECT_EQ(table.Marker(), std::to_string(Raw(waiting.back())));
      } else {
        EXPECT_EQ(table.report.outcome, TaskOutcome::kNothingToDo);
      }
    }
    EXPECT_EQ(table.Vectors(), table.ExpectedVectors());
  }
}

TEST(ConvertJavaPlannerTest, InPlaceToo) {
  for (std::uint64_t i = 0; i < 25 && !HasFailure(); ++i) TakeTurnsInPlace(FirstSeed() + i, 10);
}

/// Java looks for the snapshot, we for the deletes.
TEST(ConvertJavaPlannerTest, DeletesOfAnExpiredSnapshotAreLeftByJavaAndConvertedByUs) {
  SharedInPlaceTable table;
  table.Write({1}, {});
  table.Write({}, {7});
  ASSERT_THAT(table.Expire({.max_snapshot_age = 0, .retain_last = 1, .flink_guard_age = 0}),
              IsOk());
  ASSERT_EQ(table.EqualityDeleteFiles(), 1);
  EXPECT_THAT(table.JavaWaits(), IsEmpty());
  ASSERT_THAT(table.Convert(), IsOk());
  EXPECT_EQ(table.EqualityDeleteFiles(), 0);
  EXPECT_THAT(table.Ids(), ElementsAre(0, 2, 3, 4, 7));
}

/// The marker of either keeps the other from promoting a snapshot twice.
TEST(ConvertJavaPlannerTest, JavaPromotesTheSameSnapshotJustBeforeUs) {
  SharedTable table;
  table.Stage({1}, {1, 7});
  table.Stage({7}, {8});
  table.before_swap = [&] {
    table.PromoteAsJava(table.JavaWaits().front());
    return Status();
  };
  ASSERT_THAT(table.Promote(), IsOk());
  EXPECT_EQ(table.report.snapshot_ids.size(), 1U);
  EXPECT_THAT(table.Ids(), ElementsAre(0, 1, 2, 3, 8));
  EXPECT_THAT(table.JavaWaits(), IsEmpty());
}

TEST(ConvertJavaPlannerTest, ASnapshotThatOnlyRemovesIsSkippedByJavaAndRefusedByUs) {
  SharedTable table;
  const DataFile g = table.Rows("g", {8});
  table.Commit({.branch = "staging", .added_data_files = {{g}}});
  ASSERT_THAT(table.Promote(), IsOk());
  table.Commit({.operation = "delete", .branch = "staging", .removed_data_files = {g}});
  EXPECT_THAT(table.JavaWaits(), IsEmpty());
  EXPECT_THAT(table.Promote(), HasError(Code::kUnsupported, HasSubstr("removes data file")));
}

}  // namespace
}  // namespace icewright
