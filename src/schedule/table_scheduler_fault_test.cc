// What a scheduler makes of a lock or a state whose store fails.

#include <gmock/gmock.h>

#include "schedule/flaky_test_lock.h"
#include "schedule/scheduler_test_table.h"
#include "schedule/table_scheduler.h"
#include "testing/sql_servers.h"

namespace icewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Ran = SchedulerTestTable::Ran;

TEST(TableSchedulerFaultTest, ALockStoreThatIsAwayIsWaitedFor) {
  SchedulerTestTable table;
  const auto locks = table.MakeLocks();
  const auto flaky = std::make_shared<FlakyLock>(locks->TableLock());
  table.locks = std::make_shared<LockFactory>(flaky, locks->RecoveryLock(), locks->lease());
  table.tasks = {Scheduled("a", {.on_commit_count = 1})};
  table.history.Append({"f1"});
  ASSERT_THAT(table.Open(), IsOk());
  table.Play(Milliseconds(85));
  EXPECT_THAT(table.runs, IsEmpty());
  EXPECT_EQ(table.scheduler->status().concurrent_run_throttled, 3);
  EXPECT_THAT(table.log.text(),
              HasSubstr("the lock cannot be taken: the store of the lock is away"));
  flaky->away = false;
  table.Play(Milliseconds(5));
  EXPECT_THAT(table.runs, ElementsAre(Ran{"a", "done"}));
}

// Others wait for the lock although nothing is due here for a long time.
TEST(TableSchedulerFaultTest, AReleaseThatFailedIsTriedAgain) {
  SchedulerTestTable table;
  const auto locks = table.MakeLocks();
  const auto flaky = std::make_shared<FlakyLock>(locks->TableLock());
  flaky->away = false;
  flaky->failing_releases = 2;
  table.locks = std::make_shared<LockFactory>(flaky, locks->RecoveryLock(), locks->lease());
  table.options.triggers.rate_limit = std::chrono::hours(1);
  table.tasks = {Scheduled("a", {.on_commit_count = 1})};
  table.history.Append({"f1"});
  ASSERT_THAT(table.Open(), IsOk());
  table.Play(Milliseconds(35));
  EXPECT_THAT(table.runs, ElementsAre(Ran{"a", "done"}));
  EXPECT_THAT(table.log.text(), HasSubstr("the lock cannot be released"));
  EXPECT_TRUE(table.LockIsHeld());
  table.Play(Milliseconds(30));
  EXPECT_FALSE(table.LockIsHeld()) << "at 0, 30 and 60";
  EXPECT_EQ(flaky->failing_releases, -1) << "and then no more";
  table.Play(Milliseconds(1000));
  EXPECT_EQ(flaky->failing_releases, -1);
}

// Who asked for the lock got no answer, and does not want it any more.
TEST(TableSchedulerFaultTest, AnAcquisitionInDoubtIsReleasedIfNothingIsDueAnyMore) {
  SchedulerTestTable table;
  const auto locks = table.MakeLocks();
  const auto flaky = std::make_shared<FlakyLock>(locks->TableLock());
  flaky->away = false;
  flaky->lost_answers = 1;
  table.locks = std::make_shared<LockFactory>(flaky, locks->RecoveryLock(), locks->lease());
  table.tasks = {Scheduled("a", {.on_commit_count = 1})};
  table.history.Append({"f1"});
  ASSERT_THAT(table.Open(), IsOk());
  table.Play(Milliseconds(10));
  EXPECT_TRUE(table.LockIsHeld());
  ASSERT_THAT(table.scheduler->SetPaused("a", true), IsOk());
  table.Play(Milliseconds(30));
  EXPECT_THAT(table.runs, IsEmpty());
  EXPECT_FALSE(table.LockIsHeld());
}

// A recovery lock that is our own looks like any other.
TEST(TableSchedulerFaultTest, ARecoveryLockThatCouldNotBeReleasedIsReleasedLater) {
  SchedulerTestTable table;
  const auto locks = table.MakeLocks();
  const auto flaky = std::make_shared<FlakyLock>(locks->RecoveryLock());
  flaky->away = false;
  table.locks = std::make_shared<LockFactory>(locks->TableLock(), flaky, locks->lease());
  table.options.triggers.policy = TriggerPolicy::kJava;
  table.tasks = {Scheduled("a", {.on_commit_count = 2})};
  table.history.Append({"f1"});
  ASSERT_THAT(table.Open(), IsOk());
  table.Play(Milliseconds(10));
  flaky->failing_releases = 1;
  ASSERT_THAT(table.Open(), IsOk());  // with the same locks
  table.history.Append({"f2"});
  table.Play(Milliseconds(1000));
  EXPECT_THAT(table.log.text(), HasSubstr("recovery lock: the store of the lock is away"));
  EXPECT_THAT(table.runs, ElementsAre(Ran{"a", "done"}));
}

class AwaySqlStore final : public SqlStore {
 public:
  explicit AwaySqlStore(std::shared_ptr<SqlStore> store) : store_(std::move(store)) {}
  bool away = false;

  SqlDialect dialect() const override { return store_->dialect(); }
  std::string Display() const override { return store_->Display(); }
  Result<std::vector<SqlRow>> Query(std::string_view sql,
                                    std::span<const SqlValue> values) override {
    if (away) return Error(Code::kUnavailable, "the state is away");
    return store_->Query(sql, values);
  }
  Result<std::int64_t> Execute(std::string_view sql, std::span<const SqlValue> values) override {
    if (away) return Error(Code::kUnavailable, "the state is away");
    return store_->Execute(sql, values);
  }
  Result<std::vector<std::string>> ColumnsOf(std::string_view table) override {
    return store_->ColumnsOf(table);
  }

 private:
  const std::shared_ptr<SqlStore> store_;
};

TEST(TableSchedulerFaultTest, ARunThatCannotBeRecordedIsDueAsBefore) {
  for (const TriggerPolicy policy : {TriggerPolicy::kDefault, TriggerPolicy::kJava}) {
    SchedulerTestTable table;
    const std::string place =
        "jdbc:sqlite:file:" + UniqueName("state") + "?mode=memory&cache=shared";
    IW_ASSERT_OK_AND_ASSIGN(const auto keeps_it, ScheduleStore::Open(place));
    const auto sql = std::make_shared<AwaySqlStore>(*OpenSqlStore(*ParseSqlUrl(place, {})));
    table.store = std::make_shared<ScheduleStore>(sql);
    table.options.triggers.policy = policy;
    table.tasks = {Scheduled("a", {.on_commit_count = 2})};
    table.history.Append({"f1"});
    table.history.Append({"f2"});
    ASSERT_THAT(table.Open(), IsOk());
    sql->away = true;
    table.Play(Milliseconds(40));
    EXPECT_THAT(table.runs, IsEmpty());
    EXPECT_FALSE(table.LockIsHeld());
    const TableStatus status = table.scheduler->status();
    EXPECT_EQ(status.tasks[0].pending.commit_count, 2);
    EXPECT_EQ(status.tasks[0].triggered, 0);
    EXPECT_EQ(status.waits_for, "the record of its run: the state is away");
    sql->away = false;
    table.Play(Milliseconds(200));
    EXPECT_THAT(table.runs, ElementsAre(Ran{"a", "done"}));
    EXPECT_EQ(table.scheduler->status().tasks[0].triggered, 1);
    EXPECT_EQ(table.scheduler->status().waits_for, "");
  }
}

}  // namespace
}  // namespace icewright
