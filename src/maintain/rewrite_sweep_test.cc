// Fail compaction as a whole at call 0, 1, 2, ... of storage and catalog, from the plan to the
// clean-up after the last commit: whatever fails, no row is lost and the next run finishes the job.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "maintain/rewrite_test_table.h"

namespace icewright {
namespace {

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSubsetOf;

enum class Kind : std::uint8_t {
  kOneCall,    ///< One call fails.
  kOneAnswer,  ///< One call takes effect and its answer is lost.
  kKill,       ///< From one call on nothing happens any more: the process is gone.
  kKillAfter,  ///< The same, and the last call took effect.
};

struct SweepCase {
  const char* name;
  TestCatalog catalog = TestCatalog::kMemory;
  int format_version = 2;
  Kind kind = Kind::kOneCall;
  bool partial_progress = false;
  bool lose_a_race = false;
  int threads = 1;
  friend void PrintTo(const SweepCase& c, std::ostream* os) { *os << c.name; }
};

/// Three data files in two groups, with deletes of every kind the version has.
struct Sweep {
  explicit Sweep(const SweepCase& c)
      : dvs(c.format_version >= 3),
        table({.format_version = c.format_version,
               .properties = {{"commit.manifest.min-count-to-merge", "3"},
                              {"commit.status-check.num-retries", "1"},
                              {"commit.retry.num-retries", "2"},
                              {"write.parquet.compression-codec", "uncompressed"}},
               .threads = c.threads,
               .catalog = c.catalog}) {
    const DataFile a = table.Rows("a", {1, 2, 3, 4});
    const DataFile b = table.Rows("b", {5, 6, 7, 8});
    table.Commit({.added_data_files = {{a}, {b}}});
    table.Commit({.operation = "delete",
                  .added_delete_files = {
                      {dvs ? table.DvOf("pa", a, {0, 3}) : table.DeletePositions("pa", a, {0, 3})},
                      {table.DeleteIds("e", {6})}}});
    table.Commit({.added_data_files = {{table.Rows("c", {6, 9})}}});
    // The memory catalog's pointer is storage as well.
    const auto touch = [this]() -> Status {
      const auto answer = table.io().Exists(Location("memory:/pointer"));
      return answer ? Status() : Status(answer.error());
    };
    table.before_swap = touch;
    if (c.lose_a_race) LoseARace();
    table.before_read = touch;
    table.after_swap = [touch]() -> Status {
      return touch() ? Status() : Status(Error(Code::kCommitUnknown, "the answer is lost"));
    };
    rows =
        dvs ? std::vector<std::string>{R"([2,"c2",1,1])", R"([3,"c3",2,1])", R"([5,"c5",4,1])",
                                       R"([6,"c6",8,3])", R"([7,"c7",6,1])", R"([8,"c8",7,1])",
                                       R"([9,"c9",9,3])"}
            : std::vector<std::string>{R"([2,"c2"])", R"([3,"c3"])", R"([5,"c5"])", R"([6,"c6"])",
                                       R"([7,"c7"])", R"([8,"c8"])", R"([9,"c9"])"};
    options = {.rewrite_all = true,
               .max_file_group_input_files = 2,
               .partial_progress_enabled = c.partial_progress,
               .verify = true};
  }

  /// The other writer may run into the fault as well; then there is no race.
  void LoseARace() {
    const DataFile z = table.Rows("z", {10});
    others_leftovers.push_back(z.file_path);
    table.before_swap = [this, z, rival = table.Load()]() -> Status {
      Table other = rival;
      CommitReport commit;
      (void)CommitSnapshot(table.run(), other, {.added_data_files = {{z}}}, commit);
      others_leftovers.insert(others_leftovers.end(), commit.leftovers.begin(),
                              commit.leftovers.end());
      return {};
    };
  }

  /// Takes the other writer's file out of `live`; with it comes a row.
  void SettleRace(std::vector<std::string>& live) {
    if (std::erase(live, "z") == 0) return;
    rows.insert(rows.begin(), dvs ? R"([10,"c10",10,4])" : R"([10,"c10"])");
  }

  void Heal() {
    table.io().FailAt(-1);
    table.io().OnCall({});
    table.before_swap = table.after_swap = table.before_read = {};
  }

  const bool dvs;
  RewriteTestTable table;
  RewriteDataFilesOptions options;
  std::vector<std::string> rows;
  std::vector<Location> others_leftovers;
};

void Inject(FaultFileIO& io, Kind kind, int call) {
  const Error error(Code::kIo, "injected failure");
  switch (kind) {
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

/// What a run left and did, seen from outside.
struct Aftermath {
  Status status;
  bool reached = false;                ///< The fault hit.
  bool hit_a_delete = false;           ///< It hit the clean-up.
  std::vector<Location> deletes = {};  ///< Asked for after it hit.
  std::vector<std::string> live = {};
};

Aftermath RunWithFault(Sweep& sweep, Kind kind, int step) {
  RewriteTestTable& table = sweep.table;
  Table loaded = table.Load();
  const int start = table.io().calls();
  Inject(table.io(), kind, start + step);
  Aftermath after{.status = table.RewriteLoaded(loaded, sweep.options)};
  const auto events = table.io().events();
  const auto hit = static_cast<std::size_t>(start + step);
  after.reached = events.size() > hit;
  after.hit_a_delete = after.reached && events[hit].call == IoCall::kDelete;
  for (std::size_t i = hit + 1; i < events.size(); ++i) {
    if (events[i].call == IoCall::kDelete) after.deletes.push_back(events[i].location);
  }
  sweep.Heal();
  after.live = table.LiveNames();
  sweep.SettleRace(after.live);
  return after;
}

/// Everything that a person is told of files left behind.
std::string Told(const Sweep& sweep, const Status& status) {
  std::string told = status ? "" : status.error().message();
  for (const std::string& failure : sweep.table.Failures()) told += "\n" + failure;
  for (const Location& left : sweep.table.report.leftovers) told += "\n" + left.text();
  return told;
}

void ExpectSound(Sweep& sweep, const SweepCase& c, const Aftermath& after,
                 const ExpireTestTable::Paths& before) {
  EXPECT_THAT(sweep.table.LiveRows(), ElementsAreArray(sweep.rows));
  EXPECT_THAT(before, IsSubsetOf(sweep.table.Files())) << "compaction deletes no file of others";
  auto unsound = sweep.table.Unsound();
  for (const Location& left : sweep.others_leftovers) {
    unsound.erase(left.text().substr(kHistoryWarehouse.text().size() + 6));
  }
  for (const std::string& path : unsound) {
    EXPECT_FALSE(path.starts_with("!")) << "a file in use is gone: " << path;
  }
  const bool unknown = !after.status && after.status.error().code() == Code::kCommitUnknown;
  if (unknown) {
    for (const Location& gone : after.deletes) {
      // The new metadata file of a swap that certainly failed may go; nothing it names may.
      EXPECT_THAT(gone.text(), HasSubstr(".metadata.json")) << "deleted after an unknown outcome";
    }
    return;
  }
  if (c.kind == Kind::kKill || c.kind == Kind::kKillAfter) return;  // nobody cleans up
  const std::string told = Told(sweep, after.status);
  for (const std::string& path : unsound) EXPECT_THAT(told, HasSubstr(path));
  if (!after.hit_a_delete) {
    EXPECT_THAT(unsound, IsEmpty()) << told;
  }
}

void ExpectTrueAnswer(Sweep& sweep, const Aftermath& after) {
  const bool all_new = std::ranges::count(after.live, "new") == std::ssize(after.live);
  const bool none_new = std::ranges::find(after.live, "new") == after.live.end();
  const TaskReport& report = sweep.table.report;
  if (after.status) {
    EXPECT_THAT(report.outcome, AnyOf(TaskOutcome::kDone, TaskOutcome::kPartial));
    EXPECT_EQ(all_new, report.outcome == TaskOutcome::kDone);
    EXPECT_FALSE(none_new);
    EXPECT_EQ(report.failures.empty(), report.outcome == TaskOutcome::kDone);
  } else if (!none_new && report.snapshot_ids.empty()) {
    EXPECT_EQ(after.status.error().code(), Code::kCommitUnknown) << "a commit landed unannounced";
  }
}

/// The storage is well again: one more run must do what is left and leave nothing of its own.
void ExpectRerunFinishes(Sweep& sweep) {
  const auto unsound = sweep.table.Unsound();
  ASSERT_THAT(sweep.table.Rewrite(sweep.options), IsOk());
  EXPECT_EQ(sweep.table.report.outcome, TaskOutcome::kDone);
  EXPECT_THAT(sweep.table.LiveRows(), ElementsAreArray(sweep.rows));
  EXPECT_THAT(sweep.table.LiveNames(), Each("new"));
  EXPECT_THAT(sweep.table.Unsound(), IsSubsetOf(unsound));
}

/// What a run left, without random names. A rerun on what looks the same does the same.
std::string ShapeOf(Sweep& sweep, const Aftermath& after) {
  std::string shape = after.status ? "ok" : std::string(Name(after.status.error().code()));
  for (const std::string& name : after.live) shape += " " + name;
  std::map<std::string, int> left;
  for (const std::string& path : sweep.table.Unsound()) {
    ++left[path.substr(0, path.find('/')) + path.substr(path.rfind('-') + 1, 2)];
  }
  for (const auto& [kind, count] : left) shape += " " + kind + ":" + std::to_string(count);
  return shape;
}

class RewriteDataFilesSweepTest : public ::testing::TestWithParam<SweepCase> {};

TEST_P(RewriteDataFilesSweepTest, LosesNothingAndTheNextRunFinishes) {
  const SweepCase& c = GetParam();
  int failures = 0;
  std::set<std::string> shapes;
  int step = 0;
  for (;; ++step) {
    SCOPED_TRACE(step);
    Sweep sweep(c);
    const auto before = sweep.table.Files();
    const Aftermath after = RunWithFault(sweep, c.kind, step);
    failures += after.status ? 0 : 1;
    ExpectSound(sweep, c, after, before);
    ExpectTrueAnswer(sweep, after);
    if (HasFailure()) return;
    const TaskOutcome outcome = sweep.table.report.outcome;
    if (shapes.insert(ShapeOf(sweep, after)).second) ExpectRerunFinishes(sweep);
    if (HasFailure()) return;
    if (after.reached) continue;
    EXPECT_THAT(after.status, IsOk());
    EXPECT_EQ(outcome, TaskOutcome::kDone);
    break;
  }
  EXPECT_GT(step, 120) << "the operation has more calls than that";
  EXPECT_GT(failures, step / 2) << "most calls matter";
  EXPECT_GE(shapes.size(), 4U);
}

constexpr TestCatalog kFiles = TestCatalog::kFileSystem;
constexpr TestCatalog kSql = TestCatalog::kSql;
constexpr TestCatalog kMemory = TestCatalog::kMemory;

INSTANTIATE_TEST_SUITE_P(
    Table, RewriteDataFilesSweepTest,
    ::testing::Values(SweepCase{"MemoryCall", kMemory, 2, Kind::kOneCall},
                      SweepCase{"MemoryKill", kMemory, 3, Kind::kKill},
                      SweepCase{"MemoryBatchesCall", kMemory, 3, Kind::kOneCall, true},
                      SweepCase{"MemoryBatchesThreadsAnswer", kMemory, 2, Kind::kOneAnswer, true,
                                false, 3},
                      SweepCase{"MemoryRaceCall", kMemory, 3, Kind::kOneCall, false, true},
                      SweepCase{"FilesCall", kFiles, 2, Kind::kOneCall},
                      SweepCase{"FilesAnswer", kFiles, 3, Kind::kOneAnswer},
                      SweepCase{"FilesBatchesKillAfter", kFiles, 2, Kind::kKillAfter, true},
                      SweepCase{"SqlAnswer", kSql, 2, Kind::kOneAnswer},
                      SweepCase{"SqlBatchesKill", kSql, 3, Kind::kKill, true}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace icewright
