#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "maintain/manifest_test_table.h"

namespace icewright {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;

enum class Kind : std::uint8_t { kOneCall, kOneAnswer, kAllFromThen };

struct SweepCase {
  const char* name;
  Kind kind;
  bool lose_a_race = false;
};

class RewriteManifestsSweepTest : public ::testing::TestWithParam<SweepCase> {};

void Inject(FaultFileIO& io, Kind kind, int call) {
  const Error error(Code::kIo, "injected failure");
  if (kind == Kind::kAllFromThen) return io.FailFrom(call, error);
  io.FailAt(call, error,
            kind == Kind::kOneCall ? FaultFileIO::When::kBefore : FaultFileIO::When::kAfter);
}

/// Data and delete manifests, several new ones.
struct Sweep {
  Sweep()
      : table({.format_version = 3,
               .partitioned = true,
               .properties = {{"commit.manifest-merge.enabled", "false"},
                              {"commit.manifest.target-size-bytes", "2000"},
                              {"commit.status-check.num-retries", "1"},
                              {"commit.retry.num-retries", "3"}}}) {
    table.MustCommit({.added_data_files = {{table.Data("cat=b/1")}, {table.Data("cat=a/2")}}});
    table.MustCommit({.added_data_files = {{table.Data("cat=c/3")}, {table.Data("cat=a/4")}}});
    table.MustCommit(
        {.operation = "delete", .added_delete_files = {{table.EqualityDeletes("cat=b/e")}}});
    table.MustCommit(
        {.operation = "delete", .added_delete_files = {{MakeDv("p", table.Data("cat=a/2"))}}});
  }

  /// The other writer takes a manifest away, so that the task has to plan again.
  void LoseARace() {
    table.before_swap = [this, rival = table.Load()]() -> Status {
      Table other = rival;
      CommitReport report;
      const Status committed = CommitSnapshot(
          table.run(), other,
          {.operation = "delete", .removed_data_files = {table.Data("cat=c/3")}}, report);
      for (const Location& left : report.leftovers) others_leftovers.insert(left.text());
      return committed ? Status() : Status(Error(Code::kIo, "the race was not run"));
    };
  }

  ManifestTestTable table;
  std::set<std::string> others_leftovers;
};

TEST_P(RewriteManifestsSweepTest, LosesNothingWhicheverCallFails) {
  const SweepCase& c = GetParam();
  int failures = 0;
  for (int step = 0;; ++step) {
    SCOPED_TRACE(step);
    Sweep sweep;
    ManifestTestTable& table = sweep.table;
    auto before = table.Naive();
    Table loaded = table.Load();
    if (c.lose_a_race) sweep.LoseARace();
    const int start = table.io().calls();
    Inject(table.io(), c.kind, start + step);
    const Status status = table.RewriteLoaded(loaded);
    const bool reached = table.io().calls() > start + step;
    table.io().FailAt(-1);
    table.before_swap = {};
    failures += status ? 0 : 1;

    auto after = table.Naive();
    if (after.size() < before.size()) before.erase("cat=c/3@-1");  // the other writer's delete
    EXPECT_EQ(after, before);
    std::set<std::string> told = sweep.others_leftovers;
    for (const Location& left : table.task.leftovers) told.insert(left.text());
    for (const std::string& file : table.Unsound()) {
      EXPECT_FALSE(file.starts_with("!")) << "a named file is missing: " << file;
      EXPECT_THAT(told, Contains(file)) << "left behind and not told";
    }
    if (!status) {
      const Code code = status.error().code();
      // A lost race is kConflict if the new state cannot be looked at to plan again.
      if (!c.lose_a_race || code != Code::kConflict) {
        EXPECT_THAT(code, ::testing::AnyOf(Code::kIo, Code::kCommitUnknown));
      }
    }
    if (HasFailure() || step > 2000) return;

    ASSERT_THAT(table.Rewrite(), IsOk()) << "the next run";
    EXPECT_EQ(table.Naive(), before);
    if (!reached) {
      EXPECT_THAT(status, IsOk());
      EXPECT_THAT(table.task.leftovers, IsEmpty());
      EXPECT_GT(step, 30) << "the operation has more calls than that";
      EXPECT_GT(failures, 15) << "calls matter";
      return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Table, RewriteManifestsSweepTest,
                         ::testing::Values(SweepCase{"Call", Kind::kOneCall},
                                           SweepCase{"Answer", Kind::kOneAnswer},
                                           SweepCase{"All", Kind::kAllFromThen},
                                           SweepCase{"RaceCall", Kind::kOneCall, true},
                                           SweepCase{"RaceAll", Kind::kAllFromThen, true}),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace icewright
