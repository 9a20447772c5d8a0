#include "schedule/service_status.h"

#include <gmock/gmock.h>

#include "schedule/scheduler_test_table.h"

namespace icewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

TEST(RunDurationsTest, EachRunIsInOneBucket) {
  RunDurations durations;
  for (const std::int64_t ms : {0, 1'000, 1'001, 14'400'000, 14'400'001}) durations.Count(ms);
  EXPECT_THAT(durations.runs, ElementsAre(2, 1, 0, 0, 0, 0, 0, 1, 1));
  EXPECT_EQ(durations.total_ms, 28'802'002);
}

TEST(TableFactsTest, ComeFromTheSummaryOfTheCurrentSnapshot) {
  HistoryTestTable history;
  TableMetadata metadata = history.Load().metadata();
  EXPECT_EQ(FactsOf(metadata), (TableFacts{.target_file_bytes = 512 * kMiB}));
  history.Append({"f1", "f2"});
  metadata = history.Load().metadata();
  metadata.snapshots.back().summary = {
      {"total-data-files", "7"},       {"total-delete-files", "3"},
      {"total-records", "1000"},       {"total-files-size", "12345"},
      {"total-position-deletes", "5"}, {"total-equality-deletes", "-1"}};
  metadata.properties["write.target-file-size-bytes"] = "10000";
  EXPECT_EQ(FactsOf(metadata), (TableFacts{.snapshots = 1,
                                           .data_files = 7,
                                           .delete_files = 3,
                                           .equality_deletes = 0,  // no count can be negative
                                           .position_deletes = 5,
                                           .records = 1000,
                                           .data_bytes = 12345,
                                           .target_file_bytes = 10000}));
  metadata.properties["write.target-file-size-bytes"] = "much";
  EXPECT_EQ(FactsOf(metadata).target_file_bytes, 512 * kMiB);
}

TEST(TableFactsTest, ExcessFilesAreThoseBeyondTheTargetSize) {
  struct Case {
    std::int64_t files, bytes, target, excess;
  };
  for (const Case& c : {Case{0, 0, 10, 0}, Case{1, 1, 10, 0}, Case{3, 10, 10, 2},
                        Case{3, 11, 10, 1}, Case{1, 100, 10, 0}, Case{5, 100, 0, 0}}) {
    const TableFacts facts{
        .data_files = c.files, .data_bytes = c.bytes, .target_file_bytes = c.target};
    EXPECT_EQ(facts.excess_files(), c.excess) << c.files << " files of " << c.bytes;
  }
}

TableStatus Healthy() {
  TableStatus table;
  table.facts = TableFacts{.snapshots = 5,
                           .data_files = 20,
                           .data_bytes = 20 * 400 * kMiB,
                           .target_file_bytes = 512 * kMiB};
  table.tasks.emplace_back().id = "rewrite-data-files";
  return table;
}

TEST(TableHealthTest, EachFindingIsNamed) {
  const TableHealth well = HealthOf(Healthy());
  EXPECT_THAT(well.problems, IsEmpty());
  EXPECT_THAT(well.notices, IsEmpty());

  TableStatus table = Healthy();
  table.last_error = "the catalog is away";
  table.lock.warnings = {"db3 is reached without TLS"};
  table.tasks[0].failures = 3;
  table.tasks[0].last_error = "disk full";
  EXPECT_THAT(
      HealthOf(table).problems,
      ElementsAre("the catalog is away", "rewrite-data-files failed 3 time(s) in a row: disk full",
                  "lock: db3 is reached without TLS"));

  table = Healthy();
  table.facts->data_bytes = 20 * kMiB;
  table.facts->delete_files = 11;
  table.facts->snapshots = 1'001;
  EXPECT_THAT(HealthOf(table).notices,
              ElementsAre("20 data files of 1.0 MiB on average", "11 delete files on 20 data files",
                          "1,001 snapshots"));
  table.facts->data_files = 10;  // a handful of small files is no finding
  table.facts->delete_files = 0;
  table.facts->snapshots = 1'000;
  EXPECT_THAT(HealthOf(table).notices, IsEmpty());
}

TEST(FlinkTaskIndicesTest, AreFlinksOrderOfTheTasksThereAre) {
  const auto indices = [](const std::vector<std::string>& kinds) {
    std::vector<TaskStatus> tasks(kinds.size());
    for (std::size_t i = 0; i < kinds.size(); ++i) tasks[i].kind = kinds[i];
    return FlinkTaskIndices(tasks);
  };
  EXPECT_THAT(indices({"rewrite-data-files", "convert-equality-deletes", "expire-snapshots",
                       "delete-orphan-files", "rewrite-manifests"}),
              ElementsAre(0, 3, 1, 2, 4));
  EXPECT_THAT(indices({"rewrite-manifests", "expire-snapshots", "expire-snapshots"}),
              ElementsAre(2, 0, 1));
  EXPECT_THAT(indices({}), IsEmpty());
}

TEST(TableStatusTest, SaysWhatRunsDidAndWhenTheNextOneIs) {
  SchedulerTestTable table;
  table.options.lock = {.type = "jdbc", .lock_id = "mem.db.t", .warnings = {"a warning"}};
  int calls = 0;
  table.tasks = {Scheduled("a", {.on_interval = Milliseconds(1000)},
                           [&](RunContext&, Table&, TaskReport& report) -> Status {
                             report.counts = {{"rewritten-bytes", 10}, {"failed-groups", calls}};
                             report.leftovers = {Location("f")};
                             if (calls++ == 0) {
                               report.outcome = TaskOutcome::kDone;
                               return {};
                             }
                             return Error(Code::kConflict, "lost a race");
                           }),
                 Scheduled("b", {.on_commit_count = 9})};
  table.history.Append({"f1"});
  ASSERT_THAT(table.Open(), IsOk());
  table.Play(Milliseconds(500));
  TableStatus status = table.scheduler->status();
  EXPECT_EQ(status.key, "mem.db.t");
  EXPECT_THAT(status.lock.warnings, ElementsAre("a warning"));
  ASSERT_TRUE(status.facts);
  EXPECT_EQ(status.facts->snapshots, 1);
  EXPECT_EQ(status.tasks[0].kind, "a");
  EXPECT_EQ(status.tasks[0].next_run, table.history.clock().Now() + Milliseconds(500));
  EXPECT_EQ(status.tasks[1].next_run, std::nullopt) << "only commits can make it due";

  table.Play(Milliseconds(600));
  const TimePoint success = *table.scheduler->status().tasks[0].last_success;
  table.Play(Milliseconds(1000));
  status = table.scheduler->status();
  EXPECT_THAT(status.tasks[0].totals.outcomes, ElementsAre(Pair("done", 1), Pair("failed", 1)));
  EXPECT_THAT(status.tasks[0].totals.error_codes, ElementsAre(Pair("conflict", 1)));
  EXPECT_EQ(status.tasks[0].totals.counts["rewritten-bytes"], 20);
  EXPECT_EQ(status.tasks[0].totals.leftovers, 2);
  EXPECT_EQ(status.tasks[0].totals.runs_with_failed_groups, 1);
  EXPECT_EQ(status.tasks[0].totals.durations.runs[0], 2);
  EXPECT_EQ(status.tasks[0].last_error, "lost a race");
  EXPECT_EQ(status.tasks[0].last_success, success);
  EXPECT_THAT(status.tasks[0].state, HasSubstr("failed 1 time(s)"));

  ASSERT_THAT(table.Restart(), IsOk());
  status = table.scheduler->status();
  EXPECT_EQ(status.tasks[0].last_success, success) << "kept across restarts";
  EXPECT_THAT(status.tasks[0].totals.outcomes, IsEmpty()) << "counters are not";
}

TEST(NextDueTest, IsTheFirstMomentAtWhichTheTaskMayRun) {
  const TimePoint noon = FromMillis(1'700'049'600'000);  // 2023-11-15 12:00 UTC, a Wednesday
  const TimePoint now = FromMillis(5'000'000);           // another clock
  const Instant at{now, noon};
  TaskTriggerState state{.last_trigger = now, .cron_after = noon};
  using std::chrono::hours;
  using std::chrono::minutes;

  Schedule schedule{.any = {.on_commit_count = 3}};
  EXPECT_EQ(NextDue(schedule, state, at), std::nullopt);
  state.accumulated.commit_count = 3;
  EXPECT_EQ(NextDue(schedule, state, at), now);
  state.accumulated = {};
  schedule.any.on_interval = hours(2);
  EXPECT_EQ(NextDue(schedule, state, at), now + hours(2));
  // Quiet hours that cover the end of the interval put it off; those before it do not.
  schedule.extras.quiet_hours = {*QuietHours::Parse("13:00-18:30")};
  EXPECT_EQ(NextDue(schedule, state, at), now + hours(6) + minutes(30));
  schedule.extras.quiet_hours = {*QuietHours::Parse("12:30-13:00")};
  EXPECT_EQ(NextDue(schedule, state, at), now + hours(2));
  schedule.extras.quiet_hours.clear();
  schedule.extras.cron = {*CronTimes::Parse("30 12 * * *")};
  EXPECT_EQ(NextDue(schedule, state, at), now + minutes(30));
  state.retry_at = now + minutes(45);  // a failed run: conditions do not shorten the wait
  EXPECT_EQ(NextDue(schedule, state, at), now + minutes(45));
  state.paused = true;
  EXPECT_EQ(NextDue(schedule, state, at), std::nullopt);
  state.manual = true;
  EXPECT_EQ(NextDue(schedule, state, at), now);
}

}  // namespace
}  // namespace icewright
