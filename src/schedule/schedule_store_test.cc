#include "schedule/schedule_store.h"

#include <gmock/gmock.h>

#include "schedule/schedule_state_json.h"
#include "testing/matchers.h"
#include "testing/sql_servers.h"
#include "testing/temp_folder.h"

namespace icewright {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TableScheduleState FullState() {
  TableScheduleState state;
  state.triggers.next_evaluation = FromMillis(5);
  state.triggers.starts_from = "b";
  state.triggers.saved_at = FromMillis(4);
  state.triggers.tasks["a"] = {.accumulated = {1, 2, 3, 4, 5, 6, 7},
                               .last_trigger = FromMillis(11),
                               .cron_after = FromMillis(12),
                               .ever_triggered = true,
                               .manual = true,
                               .paused = false,
                               .failures = 3,
                               .retry_at = FromMillis(13)};
  state.triggers.tasks["b"] = {};
  state.positions["main"] = {SnapshotId{std::int64_t{1} << 62}, SequenceNumber{9}};
  return state;
}

RunRecord FullRecord() {
  return {.run_id = 0,
          .table = "cat.db.t",
          .task = "a",
          .reason = "commit-count 3 of 2",
          .owner = "icewright on a, pid 1",
          .started = FromMillis(1),
          .ended = FromMillis(2),
          .outcome = "partial",
          .snapshot_ids = {SnapshotId{1}, SnapshotId{-2}},
          .counts = {{"rewritten-bytes", 10}},
          .error_code = "conflict",
          .error = "lost \"the\" race",
          .failures = {"one", "two"},
          .notes = {"note"},
          .leftovers = 4};
}

class ScheduleStoreTest : public ::testing::Test {
 public:
  void SetUp() override {
    auto opened = ScheduleStore::Open(":memory:");
    ASSERT_THAT(opened, IsOk());
    store_ = *opened;
  }

 protected:
  std::shared_ptr<ScheduleStore> store_;
};

TEST_F(ScheduleStoreTest, StateComesBackAsItWas) {
  EXPECT_THAT(store_->LoadState("t"), IsOkAndHolds(std::nullopt));
  ASSERT_THAT(store_->SaveState("t", FullState()), IsOk());
  EXPECT_THAT(store_->LoadState("t"), IsOkAndHolds(FullState()));
  EXPECT_THAT(store_->LoadState("u"), IsOkAndHolds(std::nullopt));
  ASSERT_THAT(store_->SaveState("t", {}), IsOk());
  ASSERT_THAT(store_->SaveState("t", {}), IsOk());
  EXPECT_THAT(store_->LoadState("t"), IsOkAndHolds(TableScheduleState()));
}

TEST_F(ScheduleStoreTest, RecordsComeBackAsTheyWere) {
  RunRecord first = FullRecord();
  first.ended.reset();
  first.outcome = "running";
  ASSERT_THAT(store_->StartRun(first), IsOk());
  EXPECT_EQ(first.run_id, 1);
  EXPECT_THAT(store_->Unfinished("cat.db.t"), IsOkAndHolds(ElementsAre(first)));
  EXPECT_THAT(store_->Unfinished("cat.db.u"), IsOkAndHolds(IsEmpty()));
  RunRecord done = FullRecord();
  done.run_id = 1;
  ASSERT_THAT(store_->FinishRun(done), IsOk());
  EXPECT_THAT(store_->Unfinished("cat.db.t"), IsOkAndHolds(IsEmpty()));
  RunRecord other = FullRecord();
  other.table = "cat.db.u";
  ASSERT_THAT(store_->StartRun(other), IsOk());
  EXPECT_EQ(other.run_id, 2);
  EXPECT_THAT(store_->Runs("cat.db.t", 10), IsOkAndHolds(ElementsAre(done)));
  EXPECT_THAT(store_->Runs("", 10), IsOkAndHolds(ElementsAre(other, done)));
  EXPECT_THAT(store_->Runs("", 1), IsOkAndHolds(ElementsAre(other)));
}

TEST_F(ScheduleStoreTest, OldRecordsGoTheirIdsDoNotComeBack) {
  RunRecord record;
  for (int i = 0; i < ScheduleStore::kept + 3; ++i) {
    record = FullRecord();
    ASSERT_THAT(store_->StartRun(record), IsOk());
    ASSERT_THAT(store_->FinishRun(record), IsOk());
  }
  IW_ASSERT_OK_AND_ASSIGN(const auto kept, store_->Runs("cat.db.t", 5000));
  EXPECT_EQ(kept.size(), static_cast<std::size_t>(ScheduleStore::kept));
  EXPECT_EQ(kept.back().run_id, 4);
  ASSERT_THAT(store_->StartRun(record), IsOk());
  EXPECT_EQ(record.run_id, ScheduleStore::kept + 4);
}

TEST(ScheduleStoreFileTest, AFileRemembersAndIdsGrowOn) {
  const TempFolder folder;
  const std::string file = folder.path() + "/state.db";
  {
    IW_ASSERT_OK_AND_ASSIGN(const auto store, ScheduleStore::Open(file));
    RunRecord record = FullRecord();
    ASSERT_THAT(store->StartRun(record), IsOk());
    ASSERT_THAT(store->SaveState("t", FullState()), IsOk());
  }
  IW_ASSERT_OK_AND_ASSIGN(const auto store, ScheduleStore::Open("jdbc:sqlite:" + file));
  EXPECT_THAT(store->LoadState("t"), IsOkAndHolds(FullState()));
  RunRecord record = FullRecord();
  ASSERT_THAT(store->StartRun(record), IsOk());
  EXPECT_EQ(record.run_id, 2);
  // A second process with the same file.
  IW_ASSERT_OK_AND_ASSIGN(const auto other, ScheduleStore::Open(file));
  ASSERT_THAT(other->StartRun(record), IsOk());
  EXPECT_EQ(record.run_id, 3);
}

TEST(ScheduleStoreFileTest, PlacesThatAreNone) {
  EXPECT_THAT(ScheduleStore::Open("/no/such/folder/state.db"), HasCode(Code::kNotFound));
}

TEST(ScheduleStateJsonTest, BadBytesAreCorrupt) {
  for (const std::string text :
       {"", "[]", "{}", "{\"tasks\": [], \"positions\": {}}",
        "{\"tasks\": {\"a\": 1}, \"positions\": {}}",
        "{\"tasks\": {\"a\": {\"last-trigger\": \"x\"}}, \"positions\": {}}",
        "{\"tasks\": {}, \"positions\": {\"main\": {}}}"}) {
    EXPECT_THAT(ParseScheduleState(text), HasCode(Code::kCorrupt)) << text;
  }
  for (const std::string text :
       {"", "7", "{}", "{\"run-id\": \"1\"}", "{\"run-id\": 1, \"snapshot-ids\": [\"x\"]}",
        "{\"run-id\": 1, \"counts\": {\"x\": \"y\"}}", "{\"run-id\": 1, \"notes\": [1]}"}) {
    EXPECT_THAT(ParseRunRecord(text), HasCode(Code::kCorrupt)) << text;
  }
}

TEST(ScheduleStateJsonTest, LongReportsAreCut) {
  TaskReport report{.outcome = TaskOutcome::kPartial};
  for (int i = 0; i < 30; ++i) report.failures.emplace_back(Code::kIo, std::string(5000, 'x'));
  RunRecord record;
  FillFromReport(record, {}, report);
  ASSERT_EQ(record.failures.size(), 21U);
  EXPECT_EQ(record.failures[0].size(), 2000U);
  EXPECT_EQ(record.failures[20], "... and 10 more");
}

struct StoreServer {
  const char* scheme;
  const SqlServer& (*server)();
};

class ScheduleStoreServiceTest : public ::testing::TestWithParam<StoreServer> {};

TEST_P(ScheduleStoreServiceTest, ServersKeepStateAndRecords) {
  const SqlServer& server = GetParam().server();
  IW_ASSERT_OK_AND_ASSIGN(
      const auto store,
      ScheduleStore::Open(std::string(GetParam().scheme) + "://" + server.host + ":" + server.port +
                              "/" + server.database,
                          {{"jdbc.user", server.user}, {"jdbc.password", server.password}}));
  const std::string table = UniqueName("t");
  ASSERT_THAT(store->SaveState(table, FullState()), IsOk());
  ASSERT_THAT(store->SaveState(table, FullState()), IsOk());
  EXPECT_THAT(store->LoadState(table), IsOkAndHolds(FullState()));
  std::int64_t last = 0;
  for (int i = 0; i < 3; ++i) {
    RunRecord record = FullRecord();
    record.table = table;
    ASSERT_THAT(store->StartRun(record), IsOk());
    EXPECT_GT(record.run_id, last);
    last = record.run_id;
    EXPECT_THAT(store->Unfinished(table), IsOkAndHolds(ElementsAre(record)));
    ASSERT_THAT(store->FinishRun(record), IsOk());
  }
  IW_ASSERT_OK_AND_ASSIGN(const auto runs, store->Runs(table, 10));
  EXPECT_EQ(runs.size(), 3U);
}

INSTANTIATE_TEST_SUITE_P(Servers, ScheduleStoreServiceTest,
                         ::testing::Values(StoreServer{"jdbc:postgresql", PostgresServer},
                                           StoreServer{"jdbc:mariadb", MariaDbServer}));

}  // namespace
}  // namespace icewright
