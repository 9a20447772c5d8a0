#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>

#include "commit/commit_test_table.h"
#include "commit/snapshot_update.h"

namespace icewright {
namespace {

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::IsEmpty;

enum class Kind : std::uint8_t { kOneCall, kOneAnswer, kAllFromThen };

struct SweepCase {
  const char* name;
  bool file_system;
  bool lose_a_race;
  Kind kind;
};

class CommitSweepTest : public ::testing::TestWithParam<SweepCase> {};

/// One run of the operation, with a fault at one call.
struct Sweep {
  explicit Sweep(const SweepCase& c)
      : table({.format_version = 3,
               .properties = {{"commit.manifest.min-count-to-merge", "2"},
                              {"commit.status-check.num-retries", "1"},
                              {"commit.retry.num-retries", "3"}},
               .file_system = c.file_system}) {
    table.MustCommit({.added_data_files = {{table.Data("f1")}, {table.Data("f2")}}});
    table.MustCommit(
        {.operation = "delete",
         .added_delete_files = {{table.EqualityDeletes("e2")}, {MakeDv("p2", table.Data("f1"))}}});
    planned = table.Append("f3");
  }

  /// Removes f1 and f2 and the DV of f1; the equality delete stays, for g1 is as old as the plan.
  SnapshotUpdate Update() const {
    return {.operation = "replace",
            .added_data_files = {{table.Data("g1"), SequenceNumber(1)}},
            .removed_data_files = {table.Data("f1"), table.Data("f2")},
            .validate_from = planned,
            .fail_on_new_deletes = true};
  }

  /// The other writer may run into the fault as well; then there is no race.
  void LoseARace() {
    table.before_swap = [this, rival = table.Load()]() -> Status {
      Table other = rival;
      CommitReport report;
      const Status committed =
          CommitSnapshot(table.run(), other, {.added_data_files = {{table.Data("other")}}}, report);
      for (const Location& left : report.leftovers) others_leftovers.insert(left.text());
      return committed ? Status() : Status(Error(Code::kIo, "the race was not run"));
    };
  }

  CommitTestTable table;
  SnapshotId planned{};
  std::set<std::string> others_leftovers;
};

void Inject(FaultFileIO& io, Kind kind, int call) {
  const Error error(Code::kIo, "injected failure");
  switch (kind) {
    case Kind::kOneCall:
      return io.FailAt(call, error, FaultFileIO::When::kBefore);
    case Kind::kOneAnswer:
      return io.FailAt(call, error, FaultFileIO::When::kAfter);
    case Kind::kAllFromThen:
      return io.FailFrom(call, error);
  }
}

/// What must hold whichever call failed.
void ExpectSound(Sweep& sweep, const Status& status, const CommitReport& report,
                 SnapshotId head_before) {
  std::set<std::string> told = sweep.others_leftovers;
  for (const Location& left : report.leftovers) told.insert(left.text());
  for (const std::string& file : sweep.table.Unsound()) {
    EXPECT_FALSE(file.starts_with("!")) << "a named file is missing: " << file;
    EXPECT_THAT(told, Contains(file)) << "left behind and not told";
  }
  const auto live = sweep.table.Live();
  const bool landed = live.contains("g1");
  if (status) {
    EXPECT_TRUE(landed);
    EXPECT_EQ(sweep.table.Head().id, report.snapshot_id);
  } else {
    EXPECT_THAT(status.error().code(), AnyOf(Code::kIo, Code::kCommitUnknown));
    if (landed) {
      EXPECT_EQ(report.snapshot_id, sweep.table.Head().id) << "it was said to have failed for good";
    } else if (!live.contains("other")) {
      EXPECT_EQ(sweep.table.Head().id, head_before);
    }
  }
  EXPECT_TRUE(live.contains("e2"));
  EXPECT_TRUE(live.contains("f3"));
  EXPECT_EQ(live.contains("f1"), !landed);
  EXPECT_EQ(live.contains("f2"), !landed);
  EXPECT_EQ(live.contains("p2@4"), !landed);
}

TEST_P(CommitSweepTest, IsSoundWhicheverCallFails) {
  const SweepCase& c = GetParam();
  int failures = 0;
  for (int step = 0;; ++step) {
    SCOPED_TRACE(step);
    Sweep sweep(c);
    const SnapshotId head = sweep.table.Head().id;
    Table table = sweep.table.Load();
    if (c.lose_a_race) sweep.LoseARace();
    const int start = sweep.table.io().calls();
    Inject(sweep.table.io(), c.kind, start + step);
    CommitReport report;
    const Status status = CommitSnapshot(sweep.table.run(), table, sweep.Update(), report);
    const bool reached = sweep.table.io().calls() > start + step;
    sweep.table.io().FailAt(-1);  // the storage is well again
    failures += status ? 0 : 1;
    ExpectSound(sweep, status, report, head);
    if (HasFailure() || step > 2000) return;
    if (!reached) {
      EXPECT_THAT(status, IsOk());
      EXPECT_THAT(report.leftovers, IsEmpty());
      EXPECT_GT(step, 20) << "the operation has more calls than that";
      EXPECT_GT(failures, step / 2) << "most calls matter";
      return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Table, CommitSweepTest,
    ::testing::Values(SweepCase{"MemoryCall", false, false, Kind::kOneCall},
                      SweepCase{"MemoryAnswer", false, false, Kind::kOneAnswer},
                      SweepCase{"MemoryAll", false, false, Kind::kAllFromThen},
                      SweepCase{"MemoryRaceCall", false, true, Kind::kOneCall},
                      SweepCase{"MemoryRaceAnswer", false, true, Kind::kOneAnswer},
                      SweepCase{"FileSystemCall", true, false, Kind::kOneCall},
                      SweepCase{"FileSystemAnswer", true, false, Kind::kOneAnswer},
                      SweepCase{"FileSystemAll", true, false, Kind::kAllFromThen}),
    [](const auto& test) { return test.param.name; });

TEST(CommitRaceSweepTest, TwoThreadsAppendAndNothingIsLost) {
  constexpr int kEach = 50;
  const TempFolder folder;
  CommitTestTable table({.properties = {{"commit.retry.min-wait-ms", "1"},
                                        {"commit.retry.max-wait-ms", "5"},
                                        {"commit.manifest.min-count-to-merge", "10"}},
                         .folder = &folder});
  const auto append_all = [&](const std::string& writer) {
    RunContext run;
    auto catalog = MakeFilesystemCatalog(writer, folder.location(), MakeLocalFileIO());
    ASSERT_THAT(catalog, IsOk());
    auto loaded = (*catalog)->LoadTable(run, kTestTable);
    ASSERT_THAT(loaded, IsOk());
    Table mine = *std::move(loaded);
    for (int i = 0; i < kEach; ++i) {
      CommitReport report;
      ASSERT_THAT(
          CommitSnapshot(run, mine,
                         {.added_data_files = {{table.Data(writer + std::to_string(i))}}}, report),
          IsOk());
      ASSERT_THAT(report.leftovers, IsEmpty());
    }
  };
  std::thread other(append_all, "a");
  append_all("b");
  other.join();
  EXPECT_EQ(table.Live().size(), 2U * kEach);
  EXPECT_EQ(table.Load().metadata().snapshots.size(), 2U * kEach);
  EXPECT_EQ(table.Head().sequence_number, SequenceNumber(2 * kEach));
  EXPECT_EQ(table.Key(table.Head(), "total-data-files"), std::to_string(2 * kEach));
  EXPECT_THAT(table.Unsound(), IsEmpty());
}

}  // namespace
}  // namespace icewright
