#include "maintain/maintain_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "catalog/catalog.h"
#include "maintain/expire_test_table.h"
#include "testing/fixtures.h"

namespace icewright {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::string_view kAge = "history.expire.max-snapshot-age-ms";
constexpr std::string_view kKeep = "history.expire.min-snapshots-to-keep";

TEST(MaintainRetentionTest, OptionsThenTheTableThenOurDefaults) {
  struct Case {
    const char* name;
    MaintainTableOptions options;
    std::map<std::string_view, const char*> properties;
    std::int64_t age;
    std::int64_t keep;
    const char* text;
  };
  const Case cases[] = {
      {"default",
       {},
       {},
       kDayMs,
       100,
       "the last 100 snapshot(s) of each branch stay, and what is younger than 1 d 0 h"},
      {"table", {}, {{kAge, "7200000"}, {kKeep, "3"}}, 7200000, 3, "younger than 2 h 0 min"},
      {"table's age only", {}, {{kAge, "7200000"}}, 7200000, 1, "the last 1 "},
      {"table's count only", {}, {{kKeep, "3"}}, 5 * kDayMs, 3, "younger than 5 d 0 h"},
      {"option beside default", {.retain_last = 7}, {}, kDayMs, 7, "the last 7 "},
      {"option beside table", {.max_snapshot_age = 60000}, {{kKeep, "3"}}, 60000, 3, "1 min 0 s"},
      {"count",
       {.count_only = true},
       {},
       0,
       100,
       "the last 100 snapshot(s) of each branch stay, whatever"},
      {"count by option",
       {.retain_last = 5, .count_only = true},
       {{kKeep, "3"}},
       0,
       5,
       "the last 5 "},
      {"count by table",
       {.count_only = true},
       {{kKeep, "3"}, {kAge, "7200000"}},
       0,
       3,
       "the last 3 "},
      {"count, table's age", {.count_only = true}, {{kAge, "7200000"}}, 0, 100, "the last 100 "},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Properties properties;
    for (const auto& [key, value] : c.properties) properties.emplace(key, value);
    IW_ASSERT_OK_AND_ASSIGN(const Retention retention, RetentionOf(c.options, properties));
    IW_ASSERT_OK_AND_ASSIGN(const ExpireSettings settings,
                            ResolveExpireOptions(retention.options, properties));
    EXPECT_EQ(settings.max_snapshot_age_ms, c.age);
    EXPECT_EQ(settings.min_snapshots_to_keep, c.keep);
    EXPECT_THAT(retention.text, HasSubstr(c.text));
  }
  EXPECT_THAT(RetentionOf({.max_snapshot_age = 1, .count_only = true}, {}),
              HasError(Code::kInvalidArgument, HasSubstr("exclude each other")));
  EXPECT_THAT(RetentionOf({.retain_last = 0}, {}),
              HasError(Code::kInvalidArgument, HasSubstr("retain-last")));
}

TEST(MaintainPlanTest, StepsAreLeftOutByName) {
  constexpr std::string_view kNames[] = {"rewrite-data-files", "expire-snapshots"};
  EXPECT_THAT(SkippedSteps({}, kNames), IsOkAndHolds(IsEmpty()));
  EXPECT_THAT(SkippedSteps({.skip = "expire-snapshots, rewrite-data-files"}, kNames),
              IsOkAndHolds(ElementsAre("expire-snapshots", "rewrite-data-files")));
  EXPECT_THAT(SkippedSteps({.skip = "expire-snapshot"}, kNames),
              HasError(Code::kInvalidArgument, HasSubstr("did you mean 'expire-snapshots'")));
}

TEST(MaintainPlanTest, OnlyHarmlessFailuresLetTheChainGoOn) {
  for (const Code code :
       {Code::kConflict, Code::kExhausted, Code::kUnsupported, Code::kInvalidArgument}) {
    EXPECT_TRUE(MayContinueAfter(code)) << Name(code);
  }
  for (const Code code : {Code::kCorrupt, Code::kNotFound, Code::kIo, Code::kUnavailable,
                          Code::kDenied, Code::kCommitUnknown, Code::kCancelled, Code::kLockLost,
                          Code::kLockHeld, Code::kInternal, Code::kAlreadyExists}) {
    EXPECT_FALSE(MayContinueAfter(code)) << Name(code);
  }
}

/// Files are no Parquet: a compaction that begins fails.
class MaintainTableTest : public ::testing::Test {
 protected:
  MaintainTableTest()
      : table_({.may_write = [this]() -> Status {
          if (!lock_lost_) return {};
          return Error(Code::kLockLost, "lost");
        }}) {}

  Status Maintain(MaintainTableOptions options = {}) {
    Table loaded = table_.Load();
    report_ = {};
    return MaintainTable(std::move(options)).Execute(table_.run(), loaded, report_);
  }
  const TaskReport& Step(std::string_view name) const {
    for (const TaskReport& step : report_.steps) {
      if (step.name == name) return step;
    }
    ADD_FAILURE() << "no step " << name;
    return report_;
  }
  void AppendMany(int files) {
    std::vector<std::string> names;
    for (int i = 0; i < files; ++i) names.push_back("f" + std::to_string(i));
    table_.Append(names);
  }

  bool lock_lost_ = false;
  ExpireTestTable table_;
  TaskReport report_;
};

TEST_F(MaintainTableTest, StepsWithoutGainAreSkippedWithAReason) {
  table_.Append({"a"});
  ASSERT_THAT(Maintain(), IsOk());
  EXPECT_EQ(report_.outcome, TaskOutcome::kNothingToDo);
  EXPECT_EQ(report_.reason, "no step has anything to gain");
  for (const TaskReport& step : report_.steps) {
    EXPECT_EQ(step.outcome, TaskOutcome::kNothingToDo) << step.name;
    EXPECT_NE(step.reason, "") << step.name;
  }
  EXPECT_THAT(Step("convert-equality-deletes").reason, HasSubstr("format version 3"));
  EXPECT_THAT(report_.notes, ElementsAre(HasSubstr("the last 100 ")));
}

TEST_F(MaintainTableTest, AnEmptyTableHasNothingToGain) {
  ASSERT_THAT(Maintain(), IsOk());
  EXPECT_EQ(report_.outcome, TaskOutcome::kNothingToDo);
}

TEST_F(MaintainTableTest, ExpiresByTheRetentionOfTheChain) {
  for (int i = 0; i < 4; ++i) table_.Append({"a" + std::to_string(i)});
  ASSERT_THAT(Maintain({.skip = "rewrite-data-files", .retain_last = 2, .count_only = true}),
              IsOk());
  EXPECT_EQ(report_.outcome, TaskOutcome::kDone);
  EXPECT_EQ(Step("rewrite-manifests").outcome, TaskOutcome::kDone);
  EXPECT_THAT(table_.Snapshots(), SizeIs(3)) << "two are kept, and the manifests made one";
  EXPECT_EQ(Step("rewrite-data-files").reason, "left out");
  EXPECT_EQ(Step("expire-snapshots").counts.at("expired-snapshots-count"), 2);
}

TEST_F(MaintainTableTest, DamageEndsTheChainBeforeAnythingIsDeleted) {
  AppendMany(6);
  table_.Replace({"f0"}, {"g"});
  const auto files = table_.Files();
  EXPECT_THAT(Maintain({.retain_last = 1, .count_only = true}),
              HasError(Code::kCorrupt, HasSubstr("rewrite-data-files")));
  EXPECT_EQ(Step("rewrite-data-files").outcome, TaskOutcome::kFailed);
  EXPECT_EQ(Step("expire-snapshots").outcome, TaskOutcome::kFailed);
  EXPECT_EQ(Step("expire-snapshots").reason, "not run, since rewrite-data-files failed");
  EXPECT_EQ(table_.Files(), files);
}

TEST_F(MaintainTableTest, AnUnknownOutcomeIsTheChainsOutcome) {
  for (int i = 0; i < 4; ++i) table_.Append({"a" + std::to_string(i)});
  table_.Update({SetProperties{{{"commit.status-check.num-retries", "1"}}}});
  table_.after_swap = [this] {
    table_.before_read = [] { return Status(Error(Code::kUnavailable, "away")); };
    return Status(Error(Code::kCommitUnknown, "no answer"));
  };
  const auto files = table_.DataFiles();
  EXPECT_THAT(Maintain({.retain_last = 1, .count_only = true}),
              HasError(Code::kCommitUnknown, HasSubstr("expire-snapshots")));
  EXPECT_EQ(report_.outcome, TaskOutcome::kFailed);
  EXPECT_EQ(table_.DataFiles(), files);
}

TEST_F(MaintainTableTest, ALostLockEndsTheChain) {
  for (int i = 0; i < 4; ++i) table_.Append({"a" + std::to_string(i)});
  lock_lost_ = true;
  EXPECT_THAT(Maintain({.retain_last = 1, .count_only = true}),
              HasError(Code::kLockLost, HasSubstr("expire-snapshots")));
  EXPECT_THAT(table_.Snapshots(), SizeIs(4));
}

TEST_F(MaintainTableTest, WithoutGarbageCollectionNothingIsDeleted) {
  for (int i = 0; i < 4; ++i) table_.Append({"a" + std::to_string(i)});
  table_.Update({SetProperties{{{"gc.enabled", "false"}}}});
  ASSERT_THAT(Maintain({.retain_last = 1, .count_only = true}), IsOk());
  EXPECT_THAT(Step("expire-snapshots").reason, HasSubstr("gc.enabled is false"));
  EXPECT_THAT(table_.Snapshots(), SizeIs(5)) << "none has gone, and the manifests made one";
}

TEST_F(MaintainTableTest, ADryRunChangesNothing) {
  AppendMany(6);
  table_.Replace({"f0"}, {"g"});
  const auto files = table_.Files();
  ASSERT_THAT(Maintain({.retain_last = 1, .count_only = true, .dry_run = true}), IsOk());
  EXPECT_EQ(report_.outcome, TaskOutcome::kPlanned);
  EXPECT_EQ(Step("rewrite-data-files").outcome, TaskOutcome::kPlanned);
  EXPECT_EQ(Step("rewrite-data-files").counts.at("planned-data-files-count"), 6);
  EXPECT_EQ(Step("expire-snapshots").counts.at("planned-data-files-count"), 1);
  EXPECT_EQ(table_.Files(), files);
}

TEST(MaintainTableAnnounceTest, SaysTheRetentionBeforeTheRun) {
  const TableMetadata metadata =
      MakeTable(MakeSchema({{1, "id", TypeId::kLong}}), {MakeSpec(0, {})});
  EXPECT_THAT(MaintainTable().Announce(metadata),
              IsOkAndHolds(ElementsAre(HasSubstr("retention: the last 100 "))));
}

/// The chain on a table of a real upsert sink.
TEST(MaintainTableGolden, CompactsConvertsAndExpires) {
  FixtureCopy copy("upsert_v3");
  RunContext run;
  IW_ASSERT_OK_AND_ASSIGN(Table table, OpenTableAt(run, copy.location(), copy.io()));
  const std::size_t snapshots = table.metadata().snapshots.size();
  TaskReport report;
  // A rewrite of manifests would be one more snapshot on top.
  const MaintainTable task(
      {.skip = "rewrite-manifests", .retain_last = 1, .count_only = true, .no_flink_guard = true});
  ASSERT_THAT(task.Execute(run, table, report), IsOk());
  EXPECT_EQ(report.outcome, TaskOutcome::kDone);
  ASSERT_THAT(report.steps, SizeIs(Ge(3U)));
  EXPECT_EQ(report.steps[0].name, "rewrite-data-files");
  EXPECT_EQ(report.steps[0].outcome, TaskOutcome::kDone);
  EXPECT_THAT(table.metadata().snapshots, SizeIs(1));
  EXPECT_GT(snapshots, 1U);
  EXPECT_THAT(report.snapshot_ids, Contains(*table.metadata().current_snapshot_id));

  // A fixed point: nothing is left to gain.
  TaskReport again;
  ASSERT_THAT(task.Execute(run, table, again), IsOk());
  EXPECT_EQ(again.outcome, TaskOutcome::kNothingToDo);
}

}  // namespace
}  // namespace icewright
