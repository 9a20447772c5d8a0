#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "maintain/expire_snapshots.h"
#include "maintain/expire_test_table.h"

namespace icewright {
namespace {

using ::testing::IsEmpty;

enum class Kind : std::uint8_t {
  kOneCall,    ///< One call fails.
  kOneAnswer,  ///< One call takes effect and its answer is lost.
  kKill,       ///< From one call on nothing happens any more: the process is gone.
  kKillAfter,  ///< The same, and the last call took effect.
};

struct SweepCase {
  const char* name;
  Kind kind;
  bool lose_a_race = false;
  Code code = Code::kIo;
};

class ExpireSweepTest : public ::testing::TestWithParam<SweepCase> {};

const ExpireSnapshotsOptions kOptions = {
    .max_snapshot_age = 0, .retain_last = 1, .delete_batch_size = 3};

/// A table whose expiry deletes files of every kind, in several batches.
struct Sweep {
  Sweep()
      : table({.format_version = 3,
               .properties = {{"commit.manifest.min-count-to-merge", "3"},
                              {"commit.status-check.num-retries", "1"},
                              {"commit.retry.num-retries", "2"}}}) {
    const SnapshotId first = table.Append({"a", "b"});
    table.Commit({.operation = "delete",
                  .added_delete_files = {{table.EqualityDeletes("e")},
                                         {table.Dv("p1", table.Data("a"), 4)},
                                         {table.Dv("p1", table.Data("b"), 44)}}});
    table.Commit({.operation = "delete",
                  .added_delete_files = {{table.Dv("p2", table.Data("a"))}},
                  .removed_delete_files = {table.Dv("p1", table.Data("a"), 4)}});
    table.Tag("old", first, 1);
    table.Append({"c"});
    table.Replace({"b"}, {"d"});
    table.Statistics(first, "s1");
    table.Stage({"staged"});
    table.Append({"f"});
    table.clock().Advance(kMinute);
    // The pointer is storage as well: a fault may hit right before or after it moves.
    const auto touch = [this]() -> Status {
      const auto answer = table.io().Exists(Location("memory:/pointer"));
      return answer ? Status() : Status(answer.error());
    };
    table.before_swap = touch;
    table.after_swap = [touch]() -> Status {
      return touch() ? Status() : Status(Error(Code::kCommitUnknown, "the answer is lost"));
    };
  }

  void LoseARace() {
    // The other writer may run into the fault as well; then there is no race.
    table.before_swap = [this, rival = table.Load()]() -> Status {
      Table other = rival;
      CommitReport report;
      (void)CommitSnapshot(table.run(), other, {.added_data_files = {{table.Data("f")}}}, report);
      others_leftovers = report.leftovers;
      return {};
    };
  }

  ExpireTestTable table;
  std::vector<Location> others_leftovers;
};

void Inject(FaultFileIO& io, const SweepCase& c, int call) {
  const Error error(c.code, "injected failure");
  switch (c.kind) {
    case Kind::kOneCall:
      return io.FailAt(call, error, FaultFileIO::When::kBefore);
    case Kind::kOneAnswer:
      return io.FailAt(call, error, FaultFileIO::When::kAfter);
    case Kind::kKill:
      return io.FailFrom(call, error);
    case Kind::kKillAfter:
      io.FailAt(call, error, FaultFileIO::When::kAfter);
      return io.OnCall([call, error](int n, const IoEvent&) -> Status {
        return n > call ? Status(error) : Status();
      });
  }
}

void Heal(FaultFileIO& io) {
  io.FailAt(-1);
  io.OnCall({});
}

/// What must hold right after the run, whichever call failed.
void ExpectSound(Sweep& sweep, const Status& status, const ExpireTestTable::Paths& before) {
  ExpireTestTable& table = sweep.table;
  EXPECT_TRUE(table.Load().metadata().current_snapshot() != nullptr);
  const auto unsound = table.Unsound();
  for (const std::string& path : unsound) {
    EXPECT_FALSE(path.starts_with("!")) << "a reachable file is gone: " << path;
  }
  const bool landed = !table.Load().metadata().refs.contains("old");
  if (!landed) {
    EXPECT_FALSE(status) << "it claims a commit that did not land";
    for (const std::string& path : before) {
      EXPECT_TRUE(table.Files().contains(path)) << "deleted before the commit: " << path;
    }
  } else if (!status) {
    EXPECT_EQ(status.error().code(), Code::kCommitUnknown) << status.error().message();
  }
  if (status && table.report.outcome == TaskOutcome::kDone) {
    EXPECT_THAT(table.report.leftovers, IsEmpty());
    EXPECT_THAT(table.report.failures, IsEmpty());
  }
}

TEST_P(ExpireSweepTest, LosesNothingAndTheNextRunFinishes) {
  const SweepCase& c = GetParam();
  int failures = 0;
  int partial = 0;
  for (int step = 0;; ++step) {
    SCOPED_TRACE(step);
    Sweep sweep;
    ExpireTestTable& table = sweep.table;
    Table loaded = table.Load();
    if (c.lose_a_race) sweep.LoseARace();
    const auto before = table.Files();
    const int start = table.io().calls();
    Inject(table.io(), c, start + step);
    const Status status = table.ExpireLoaded(loaded, kOptions);
    const bool reached = table.io().calls() > start + step;
    Heal(table.io());
    table.before_swap = table.after_swap = {};
    failures += status ? 0 : 1;
    partial += status && table.report.outcome == TaskOutcome::kPartial ? 1 : 0;
    ExpectSound(sweep, status, before);
    if (HasFailure() || step > 3000) return;

    ASSERT_THAT(table.Expire(kOptions), IsOk());
    EXPECT_THAT(table.report.failures, IsEmpty());
    auto unsound = table.Unsound();
    for (const Location& left : sweep.others_leftovers) {
      unsound.erase(left.text().substr(std::string("memory:/w/db/t/").size()));
    }
    EXPECT_THAT(unsound, IsEmpty()) << "after the next run";
    EXPECT_THAT(table.Journals(), IsEmpty());
    if (HasFailure()) return;
    if (!reached) {
      EXPECT_THAT(status, IsOk());
      EXPECT_GT(step, 60) << "the operation has more calls than that";
      if (c.code == Code::kIo) {
        EXPECT_GT(failures, 20) << "calls before the commit matter";
        EXPECT_GT(partial, 5) << "calls after the commit matter";
      }
      return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Table, ExpireSweepTest,
    ::testing::Values(SweepCase{"Call", Kind::kOneCall}, SweepCase{"Answer", Kind::kOneAnswer},
                      SweepCase{"Kill", Kind::kKill}, SweepCase{"KillAfter", Kind::kKillAfter},
                      SweepCase{"RaceCall", Kind::kOneCall, true},
                      SweepCase{"RaceKill", Kind::kKill, true},
                      SweepCase{"AwayForAMoment", Kind::kOneCall, false, Code::kUnavailable}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace icewright
