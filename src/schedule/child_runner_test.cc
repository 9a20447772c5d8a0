#include "schedule/child_runner.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include "base/executor_pool.h"
#include "io/local_file_io.h"
#include "schedule/child_task.h"
#include "schedule/scheduler_test_table.h"
#include "testing/temp_folder.h"

namespace icewright {
namespace {

using ::testing::HasSubstr;

// The task's side on a thread of this process.
class ThreadChild final : public ChildProcess {
 public:
  using Serve = std::function<void(int in, int out)>;
  explicit ThreadChild(Serve serve) : ThreadChild(std::move(serve), Pipe(), Pipe()) {}

  LineChannel& channel() override { return channel_; }
  void Kill() override {
    killed_ = true;
    some_killed = true;
    some_killed.notify_all();
  }
  std::string Wait() override { return killed_ ? "signal 9" : ""; }
  std::optional<std::int64_t> ResidentBytes() override { return resident; }

  static inline std::atomic<std::int64_t> resident{1000};
  static inline std::atomic<bool> some_killed{false};

 private:
  static std::array<int, 2> Pipe() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe(ends.data()), 0);
    return ends;
  }
  ThreadChild(Serve serve, std::array<int, 2> down, std::array<int, 2> up)
      : channel_(up[0], down[1]), thread_(1) {
    thread_.Submit([serve = std::move(serve), in = down[0], out = up[1]] { serve(in, out); });
  }

  LineChannel channel_;
  std::atomic<bool> killed_{false};
  WorkerPool thread_;
};

class RenewingLock final : public MaintenanceLock {
 public:
  std::atomic<int> renewals{0};
  std::atomic<int> lost_at{1'000'000};

  Result<bool> TryAcquire() override { return true; }
  Result<bool> IsHeld() override { return true; }
  Status Renew() override {
    if (++renewals >= lost_at) return Error(Code::kLockLost, "somebody took it");
    return {};
  }
  Status Release() override { return {}; }
  Result<LockState> Inspect() override { return LockState(); }
  Result<LockState> ForceRelease() override { return LockState(); }
};

class ChildRunnerTest : public ::testing::Test {
 public:
  void SetUp() override {
    std::signal(SIGPIPE, SIG_IGN);  // as the program does
    child_.catalog = "cat";
    child_.properties = {{"type", "hadoop"}, {"warehouse", folder_.location().text()}};
    child_.table = {{"db"}, "t"};
    child_.task = "expire-snapshots";
    child_.options = {{"max-snapshot-age", "0s"}};
    auto opened = OpenCatalog(run_, "cat", child_.properties, MakeLocalFileIO());
    ASSERT_THAT(opened, IsOk());
    catalog_ = *opened;
    ASSERT_THAT(catalog_->CreateNamespace(run_, child_.table.ns, {}), IsOk());
    ASSERT_THAT(catalog_->CreateTable(run_, child_.table,
                                      {.schema = MakeSchema({{1, "id", TypeId::kLong}})}),
                IsOk());
    for (const std::string name : {"a", "b", "c"}) {
      auto table = catalog_->LoadTable(run_, child_.table);
      ASSERT_THAT(table, IsOk());
      SnapshotUpdate update;
      update.added_data_files.push_back(
          {MakeDataFile(folder_.location().text() + "/db/t/data/" + name)});
      CommitReport report;
      ASSERT_THAT(CommitSnapshot(run_, *table, update, report), IsOk());
    }
  }
  std::size_t Snapshots() {
    auto table = catalog_->LoadTable(run_, child_.table);
    EXPECT_THAT(table, IsOk());
    return table ? table->metadata().snapshots.size() : 0;
  }
  RunRequest Request() {
    return {.table = "cat.db.t",
            .task = std::make_shared<StubTask>("expire-snapshots"),
            .child = &child_,
            .lock = lock_,
            .lease = Milliseconds(60'000),
            .stop = stop_.get_token(),
            .time = &time_,
            .log = &log_,
            .view = &view_};
  }
  Status Run(ThreadChild::Serve serve) {
    ChildRunner runner([serve]() -> Result<std::unique_ptr<ChildProcess>> {
      return std::make_unique<ThreadChild>(serve);
    });
    return runner.Run(Request(), report_);
  }
  static void Serve(int in, int out) { EXPECT_THAT(ServeChildTask(in, out), IsOk()); }

 protected:
  TempFolder folder_;
  RunContext run_;
  std::shared_ptr<Catalog> catalog_;
  ChildRequest child_;
  std::shared_ptr<RenewingLock> lock_ = std::make_shared<RenewingLock>();
  std::stop_source stop_;
  SteadyTime time_{Clock::System()};
  TestLog log_;
  RunView view_;
  TaskReport report_;
};

TEST_F(ChildRunnerTest, ATaskAsksBeforeItWritesAndReports) {
  ASSERT_EQ(Snapshots(), 3U);
  ASSERT_THAT(Run(Serve), IsOk());
  EXPECT_EQ(Snapshots(), 1U);
  EXPECT_EQ(report_.outcome, TaskOutcome::kDone);
  EXPECT_EQ(report_.counts.at("expired-snapshots-count"), 2);
  EXPECT_GE(lock_->renewals, 2) << "the commit, and the deletion of files";
  EXPECT_EQ(view_.Read(), std::nullopt);
}

TEST_F(ChildRunnerTest, WithoutTheLockNothingIsWritten) {
  lock_->lost_at = 1;
  EXPECT_THAT(Run(Serve), HasCode(Code::kLockLost));
  EXPECT_EQ(Snapshots(), 3U);
}

TEST_F(ChildRunnerTest, ALockLostAfterTheCommitStopsTheDeletion) {
  lock_->lost_at = 3;
  (void)Run(Serve);
  EXPECT_EQ(Snapshots(), 1U);
  EXPECT_EQ(report_.outcome, TaskOutcome::kPartial);
}

TEST_F(ChildRunnerTest, MistakesInTheOptionsComeBack) {
  child_.options = {{"retain-last", "0"}};
  EXPECT_THAT(Run(Serve), HasError(Code::kInvalidArgument, HasSubstr("retain-last")));
  child_.options = {{"retain-lst", "1"}};
  EXPECT_THAT(Run(Serve),
              HasError(Code::kInvalidArgument, HasSubstr("did you mean 'retain-last'")));
}

TEST_F(ChildRunnerTest, AProcessThatDiesIsAFailedRun) {
  const auto dies = [](int in, int out) { const LineChannel closed(in, out); };
  EXPECT_THAT(Run(dies), HasError(Code::kInternal, "the task's process died: signal 9"));
}

TEST_F(ChildRunnerTest, AProcessThatTalksNonsenseIsEnded) {
  const auto babbles = [](int in, int out) {
    LineChannel channel(in, out);
    (void)channel.Read();
    (void)channel.Write("{\"done\": 7}");
    while (channel.Read()) {
    }
  };
  EXPECT_THAT(Run(babbles), HasCode(Code::kInternal));
}

TEST_F(ChildRunnerTest, AStopIsToldWithItsReason) {
  std::string heard;
  const auto listens = [&](int in, int out) {
    LineChannel channel(in, out);
    (void)channel.Read();
    stop_.request_stop();
    heard = channel.Read().value_or("nothing");
    (void)channel.Write(ToJson(FromChild(ChildDone{Error(Code::kCancelled, "stopped"), {}})));
  };
  EXPECT_THAT(Run(listens), HasCode(Code::kCancelled));
  EXPECT_EQ(heard, "{\"stop\":\"cancelled\"}");
}

TEST_F(ChildRunnerTest, ATaskWhoseServiceIsGoneWritesNothing) {
  // The service's side: sends the request, and is gone at the first question.
  std::array<int, 2> down{};
  std::array<int, 2> up{};
  ASSERT_EQ(::pipe(down.data()), 0);
  ASSERT_EQ(::pipe(up.data()), 0);
  WorkerPool task(1);
  task.Submit([&] { (void)ServeChildTask(down[0], up[1]); });
  LineChannel service(up[0], down[1]);
  ASSERT_TRUE(service.Write(ToJson(child_)));
  for (;;) {
    const auto line = service.Read();
    ASSERT_TRUE(line);
    const auto message = ParseFromChild(*line);
    ASSERT_THAT(message, IsOk());
    if (std::holds_alternative<MayWriteQuestion>(*message)) service.CloseOut();
    if (const auto* done = std::get_if<ChildDone>(&*message)) {
      EXPECT_THAT(done->status, HasCode(Code::kLockLost));
      break;
    }
  }
  EXPECT_EQ(Snapshots(), 3U);
}

TEST_F(ChildRunnerTest, AProcessThatOutgrowsItsMemoryIsKilled) {
  ThreadChild::resident = 2000;
  ThreadChild::some_killed = false;
  ChildRunner runner([]() -> Result<std::unique_ptr<ChildProcess>> {
    return std::make_unique<ThreadChild>([](int in, int out) {
      LineChannel channel(in, out);
      (void)channel.Read();
      ThreadChild::some_killed.wait(false);
    });
  });
  RunRequest request = Request();
  request.memory_limit_bytes = 1999;
  EXPECT_THAT(runner.Run(request, report_), HasCode(Code::kExhausted));
  ThreadChild::resident = 1000;
}

TEST(ChildProtocolTest, MessagesComeBackAsTheyWere) {
  const ChildRequest request{.catalog = "c",
                             .properties = {{"uri", "u"}, {"jdbc.password", "p\"w"}},
                             .table = {{"a", "b"}, "t"},
                             .task = "expire-snapshots",
                             .options = {{"retain-last", "2"}},
                             .threads = 3,
                             .memory_limit_bytes = 1 << 20};
  EXPECT_THAT(ParseChildRequest(ToJson(request)), IsOkAndHolds(request));

  ChildDone done{Error(Code::kConflict, "lost"),
                 {.outcome = TaskOutcome::kPartial,
                  .reason = "r",
                  .snapshot_ids = {SnapshotId{5}},
                  .counts = {{"n", 1}},
                  .leftovers = {Location("file:/x")},
                  .failures = {Error(Code::kIo, "f")},
                  .notes = {"note"}}};
  const auto message = ParseFromChild(ToJson(FromChild(done)));
  ASSERT_THAT(message, IsOk());
  const auto& back = std::get<ChildDone>(*message);
  EXPECT_THAT(back.status, HasError(Code::kConflict, "lost"));
  EXPECT_EQ(back.report.outcome, TaskOutcome::kPartial);
  EXPECT_EQ(back.report.reason, "r");
  EXPECT_EQ(back.report.snapshot_ids, done.report.snapshot_ids);
  EXPECT_EQ(back.report.counts, done.report.counts);
  EXPECT_EQ(back.report.leftovers, done.report.leftovers);
  EXPECT_EQ(back.report.failures[0].message(), "f");
  EXPECT_EQ(back.report.failures[0].code(), Code::kIo);
  EXPECT_EQ(back.report.notes, done.report.notes);

  for (const StopReason reason :
       {StopReason::kCancelled, StopReason::kDeadline, StopReason::kLockLost}) {
    const auto stop = ParseToChild(ToJson(ToChild(reason)));
    ASSERT_THAT(stop, IsOk());
    EXPECT_EQ(std::get<StopReason>(*stop), reason);
  }
  for (const std::string line : {"", "[]", "{}", "{\"stop\": \"x\"}", "{\"done\": {}}"}) {
    EXPECT_THAT(ParseToChild(line), HasCode(Code::kCorrupt)) << line;
    EXPECT_THAT(ParseFromChild(line), HasCode(Code::kCorrupt)) << line;
    EXPECT_THAT(ParseChildRequest(line), HasCode(Code::kCorrupt)) << line;
  }
}

}  // namespace
}  // namespace icewright
