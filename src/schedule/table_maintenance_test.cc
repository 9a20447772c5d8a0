// Java twins: TestTableMaintenance, TestTableMaintenanceCoordinationLock.

#include "icewright/table_maintenance.h"

#include <gmock/gmock.h>

#include "commit/snapshot_update.h"
#include "io/local_file_io.h"
#include "schedule/scheduler_test_table.h"
#include "testing/temp_folder.h"

namespace icewright {
namespace {

using ::testing::HasSubstr;

// A table of a file-system catalog, and a task that ends the maintenance in its n-th run.
class TableMaintenanceTest : public ::testing::Test {
 public:
  void SetUp() override {
    properties_ = {{"type", "hadoop"}, {"warehouse", folder_.location().text()}};
    auto opened = OpenCatalog(run_, "cat", properties_, MakeLocalFileIO());
    ASSERT_THAT(opened, IsOk());
    catalog_ = *opened;
    ASSERT_THAT(catalog_->CreateNamespace(run_, id_.ns, {}), IsOk());
    ASSERT_THAT(
        catalog_->CreateTable(run_, id_, {.schema = MakeSchema({{1, "id", TypeId::kLong}})}),
        IsOk());
  }
  TableLoader Loader() { return TableLoader::FromCatalog("cat", properties_, id_); }
  void Append(const std::string& name) {
    RunContext run;  // of its own: that of the test may be stopped
    auto table = catalog_->LoadTable(run, id_);
    ASSERT_THAT(table, IsOk());
    SnapshotUpdate update;
    update.added_data_files.push_back(
        {MakeDataFile(folder_.location().text() + "/db/t/data/" + name)});
    CommitReport report;
    ASSERT_THAT(CommitSnapshot(run, *table, update, report), IsOk());
  }
  StubTask StopsAfter(int runs) {
    return StubTask("stub", [this, runs](RunContext&, Table& table, TaskReport& report) -> Status {
      EXPECT_EQ(table.name(), "cat.db.t");
      report.counts["run"] = ++runs_;
      if (runs_ == runs) stop_.request_stop();
      return {};
    });
  }

 protected:
  TempFolder folder_;
  std::stop_source stop_;
  RunContext run_{{.stop = stop_.get_token(), .threads = 3}};
  Properties properties_;
  std::shared_ptr<Catalog> catalog_;
  const TableIdentifier id_{{"db"}, "t"};
  int runs_ = 0;
};

TEST_F(TableMaintenanceTest, ATableIsWatchedAndMaintained) {
  Append("a");
  Append("b");
  auto made = TableMaintenance::ForTable(Loader())
                  .RateLimit(Milliseconds(1))
                  .Add(StopsAfter(1), {.on_commit_count = 2})
                  .Build(run_);
  ASSERT_THAT(made, IsOk());
  EXPECT_EQ((*made)->table(), "cat.db.t");
  (*made)->Run(run_);
  EXPECT_EQ(runs_, 1);
  const TableStatus status = (*made)->status();
  EXPECT_EQ(status.tasks[0].succeeded, 1);
  IW_ASSERT_OK_AND_ASSIGN(const auto runs, (*made)->Runs(10));
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0].table, "cat.db.t");
  EXPECT_EQ(runs[0].reason, "commit-count 2 of 2");
  EXPECT_EQ(runs[0].outcome, "done");
}

TEST_F(TableMaintenanceTest, AnIntervalRunsAgainAndAgain) {
  auto made = TableMaintenance::ForTable(Loader())
                  .RateLimit(Milliseconds(1))
                  .Add(StopsAfter(3), {.on_interval = Milliseconds(1)})
                  .Build(run_);
  ASSERT_THAT(made, IsOk());
  (*made)->Run(run_);
  EXPECT_EQ(runs_, 3);
}

TEST_F(TableMaintenanceTest, AChangeStreamPushesWhatASinkSaw) {
  auto made = TableMaintenance::ForChangeStream(Loader())
                  .RateLimit(Milliseconds(1))
                  .UidSuffix("sink")
                  .Add(StopsAfter(1), {.on_data_file_count = 3})
                  .Build(run_);
  ASSERT_THAT(made, IsOk());
  ASSERT_THAT((*made)->Push({.data_file_count = 2, .commit_count = 1}), IsOk());
  ASSERT_THAT((*made)->Push({.data_file_count = 2, .commit_count = 1}), IsOk());
  (*made)->Run(run_);
  IW_ASSERT_OK_AND_ASSIGN(const auto runs, (*made)->Runs(10));
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0].table, "cat.db.t/sink");
  EXPECT_EQ(runs[0].reason, "data-file-count 4 of 3");
}

TEST_F(TableMaintenanceTest, AManualRunNeedsNoCondition) {
  auto made = TableMaintenance::ForTable(Loader())
                  .Add(StopsAfter(1), {.on_interval = std::chrono::hours(1)}, {.name = "by-hand"})
                  .Build(run_);
  ASSERT_THAT(made, IsOk());
  ASSERT_THAT((*made)->RunNow("by-hand"), IsOk());
  (*made)->Run(run_);
  EXPECT_EQ(runs_, 1);
}

TEST_F(TableMaintenanceTest, AStopEndsTheRunningTask) {
  auto made = TableMaintenance::ForTable(Loader())
                  .Add(StubTask("stub",
                                [this](RunContext& run, Table&, TaskReport&) -> Status {
                                  stop_.request_stop();
                                  while (run.Check()) {
                                    IW_TRY(run.SleepFor(Milliseconds(1)));
                                  }
                                  return run.Check();
                                }),
                       {.on_interval = Milliseconds(1)})
                  .StopGrace(Milliseconds(5))
                  .Build(run_);
  ASSERT_THAT(made, IsOk());
  (*made)->Run(run_);
  IW_ASSERT_OK_AND_ASSIGN(const auto runs, (*made)->Runs(10));
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0].outcome, "cancelled");
}

TEST_F(TableMaintenanceTest, StateOutlivesTheObject) {
  const std::string state = folder_.path() + "/state.db";
  Append("a");
  const auto build = [&](RunContext& run, int runs) {
    return TableMaintenance::ForTable(Loader())
        .RateLimit(Milliseconds(1))
        .State(state)
        .Add(StopsAfter(runs), {.on_commit_count = 1})
        .Build(run);
  };
  auto first = build(run_, 1);
  ASSERT_THAT(first, IsOk());
  (*first)->Run(run_);
  stop_ = std::stop_source();
  RunContext again({.stop = stop_.get_token()});
  Append("b");
  auto second = build(again, 2);
  ASSERT_THAT(second, IsOk());
  (*second)->Run(again);
  IW_ASSERT_OK_AND_ASSIGN(const auto runs, (*second)->Runs(10));
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0].run_id, 2);
  EXPECT_EQ(runs[0].reason, "commit-count 1 of 1") << "the first commit is not counted again";
}

TEST_F(TableMaintenanceTest, MistakesAreErrorsOfBuild) {
  const auto bad = [&](TableMaintenanceBuilder builder, Code code, const std::string& message) {
    EXPECT_THAT(builder.Build(run_), HasError(code, HasSubstr(message)));
  };
  const Conditions one{.on_commit_count = 1};
  bad(TableMaintenance::ForTable(Loader()), Code::kInvalidArgument, "at least one task");
  bad(TableMaintenance::ForTable(Loader()).Add(StubTask("a"), {}), Code::kInvalidArgument,
      "a: a task needs at least 1 condition");
  bad(TableMaintenance::ForTable(Loader()).Add(StubTask("a"), one).Add(StubTask("a"), one),
      Code::kInvalidArgument, "two tasks are named 'a'");
  bad(TableMaintenance::ForTable(Loader()).Add(StubTask("a"), one).RateLimit(Milliseconds(0)),
      Code::kInvalidArgument, "rate-limit is 0 ms");
  bad(TableMaintenance::ForTable(Loader()).Add(StubTask("a"), one).LockCheckDelay(Milliseconds(0)),
      Code::kInvalidArgument, "lock-check-delay is 0 ms");
  bad(TableMaintenance::ForTable(Loader()).Add(StubTask("a"), one).Parallelism(0),
      Code::kInvalidArgument, "parallelism is 0 but must be at least 1");
  bad(TableMaintenance::ForTable(Loader()).Add(StubTask("a"), one, {.parallelism = -1}),
      Code::kInvalidArgument, "a: parallelism is -1");
  bad(TableMaintenance::ForTable(Loader()).Add(StubTask("a"), one).MaxReadBack(0),
      Code::kInvalidArgument, "at least 1 snapshot");
  bad(TableMaintenance::ForChangeStream(Loader()).Add(StubTask("a"), one).MaxReadBack(5),
      Code::kInvalidArgument, "no meaning for a change stream");
  bad(TableMaintenance::ForTable(TableLoader::FromCatalog("cat", properties_, {{"db"}, "u"}))
          .Add(StubTask("a"), one),
      Code::kNotFound, "db.u");
  auto watched = TableMaintenance::ForTable(Loader()).Add(StubTask("a"), one).Build(run_);
  ASSERT_THAT(watched, IsOk());
  EXPECT_THAT((*watched)->Push({}), HasCode(Code::kInvalidArgument));
}

}  // namespace
}  // namespace icewright
