// Commits whose answer is lost. The memory catalog's hooks stand in for the network.

#include "catalog/metadata_pointer.h"

#include <algorithm>

#include "catalog/memory/memory_catalog.h"
#include "io/memory_file_io.h"
#include "testing/fake_clock.h"
#include "testing/matchers.h"

namespace icewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const TableIdentifier kTable{{"db"}, "t"};
const Error kLostAnswer(Code::kCommitUnknown, "connection lost");

class LostAnswerTest : public ::testing::Test {
 protected:
  LostAnswerTest() {
    catalog_ = MakeMemoryCatalog(
        "cat", Location("mem:/w"), io_, {},
        {.before_swap = [this](const TableIdentifier&) { return Ask(before_swap_); },
         .after_swap = [this](const TableIdentifier&) { return Ask(after_swap_); },
         .before_read = [this](const TableIdentifier&) { return Ask(before_read_); }});
    table_.emplace(catalog_->CreateTable(run_, kTable, {.schema = {}}).value());
    other_.emplace(catalog_->LoadTable(run_, kTable).value());
  }

  using Hook = std::function<Status()>;
  static Status Ask(Hook& hook) { return hook ? Hook(hook)() : Status{}; }

  // A hook that answers `error` the next `times` times.
  static Hook Times(int times, Error error, Hook also = {}) {
    return [times, error, also]() mutable -> Status {
      if (times == 0) return {};
      --times;
      if (also) IW_TRY(also());
      return error;
    };
  }
  void Set(Hook& hook, int times, const Error& error, Hook also = {}) {
    auto state = std::make_shared<Hook>(Times(times, error, std::move(also)));
    hook = [state] { return (*state)(); };
  }

  static Status Put(RunContext& run, Table& table, const std::string& key) {
    const std::vector<TableUpdate> updates = {SetProperties{{{key, "x"}}}};
    return table.Commit(run, {}, updates);
  }
  Status Commit() { return Put(run_, *table_, "mine"); }

  // Another process commits; no hook gets into its way.
  Status OthersCommit(int times = 1) {
    const Hook before = std::exchange(before_swap_, {});
    const Hook after = std::exchange(after_swap_, {});
    const Hook read = std::exchange(before_read_, {});
    for (int i = 0; i < times; ++i) IW_TRY(Put(run_, *other_, "theirs" + std::to_string(i)));
    before_swap_ = before;
    after_swap_ = after;
    before_read_ = read;
    return {};
  }

  void ForgetHooks() { before_swap_ = after_swap_ = before_read_ = {}; }
  bool IsCommitted() {
    ForgetHooks();
    return catalog_->LoadTable(run_, kTable)->metadata().properties.contains("mine");
  }
  std::size_t Files() {
    std::size_t count = 0;
    EXPECT_THAT(io_->List(Location("mem:/w"),
                          [&](const FileStatus&) -> Status {
                            ++count;
                            return {};
                          }),
                IsOk());
    return count;
  }

  FakeClock clock_;
  RunContext run_{RunOptions{.clock = &clock_}};
  std::shared_ptr<FileIO> io_ = MakeMemoryFileIO();
  Hook before_swap_;
  Hook after_swap_;
  Hook before_read_;
  std::shared_ptr<Catalog> catalog_;
  std::optional<Table> table_;
  std::optional<Table> other_;
};

TEST_F(LostAnswerTest, ItHadLanded) {
  Set(after_swap_, 1, kLostAnswer);
  EXPECT_THAT(Commit(), IsOk());
  EXPECT_TRUE(IsCommitted());
  EXPECT_EQ(Files(), 2u);
  EXPECT_THAT(clock_.sleeps(), IsEmpty());
}

TEST_F(LostAnswerTest, ItHadNotLandedAndIsTriedAgain) {
  Set(before_swap_, 1, kLostAnswer);
  EXPECT_THAT(Commit(), IsOk());
  EXPECT_TRUE(IsCommitted());
  EXPECT_EQ(Files(), 2u);
}

TEST_F(LostAnswerTest, ItLandedAndOthersCommittedOnTop) {
  Set(after_swap_, 1, kLostAnswer, [this] { return OthersCommit(3); });
  EXPECT_THAT(Commit(), IsOk());
  EXPECT_TRUE(IsCommitted());
}

TEST_F(LostAnswerTest, AnotherCommitWon) {
  Set(before_swap_, 1, kLostAnswer, [this] { return OthersCommit(2); });
  EXPECT_THAT(Commit(), HasCode(Code::kConflict));
  EXPECT_FALSE(IsCommitted());
  EXPECT_EQ(Files(), 3u) << "the loser's file is gone";
}

TEST_F(LostAnswerTest, ItCannotBeFoundOut) {
  Set(after_swap_, 1, kLostAnswer, [this]() -> Status {
    Set(before_read_, 99, Error(Code::kUnavailable, "still away"));
    return {};
  });
  EXPECT_THAT(Commit(), HasError(Code::kCommitUnknown, HasSubstr("connection lost")));
  EXPECT_THAT(clock_.sleeps(),
              ElementsAre(Milliseconds(1000), Milliseconds(2000), Milliseconds(4000)));
  EXPECT_TRUE(IsCommitted()) << "and so its file must stay";
  EXPECT_EQ(Files(), 2u);
}

TEST_F(LostAnswerTest, TheCatalogComesBackAfterAWhile) {
  Set(after_swap_, 1, kLostAnswer, [this]() -> Status {
    Set(before_read_, 2, Error(Code::kUnavailable, "still away"));
    return {};
  });
  EXPECT_THAT(Commit(), IsOk());
  EXPECT_TRUE(IsCommitted());
  EXPECT_THAT(clock_.sleeps(), SizeIs(2));
}

TEST_F(LostAnswerTest, TheTableWasRenamedMeanwhile) {
  Set(after_swap_, 1, kLostAnswer, [this] {
    return catalog_->CreateNamespace(run_, {"x"}, {})
               ? catalog_->RenameTable(run_, kTable, {{"x"}, "t"})
               : Status{};
  });
  EXPECT_THAT(Commit(), HasCode(Code::kCommitUnknown));
  ForgetHooks();
  const auto renamed = catalog_->LoadTable(run_, {{"x"}, "t"});
  ASSERT_THAT(renamed, IsOk()) << "its metadata file must not be deleted";
  EXPECT_TRUE(renamed->metadata().properties.contains("mine"));
}

TEST_F(LostAnswerTest, ALogThatIsCutShortProvesNothing) {
  const std::vector<TableUpdate> updates = {
      SetProperties{{{"write.metadata.previous-versions-max", "1"}}}};
  ASSERT_THAT(table_->Commit(run_, {}, updates), IsOk());
  Set(after_swap_, 1, kLostAnswer, [this] { return OthersCommit(3); });
  EXPECT_THAT(Commit(), HasCode(Code::kCommitUnknown));
  EXPECT_TRUE(IsCommitted());
}

TEST_F(LostAnswerTest, AStoppedRunDoesNotGuess) {
  std::stop_source stop;
  RunContext run{RunOptions{.stop = stop.get_token(), .clock = &clock_}};
  Set(after_swap_, 1, kLostAnswer, [&]() -> Status {
    Set(before_read_, 99, Error(Code::kUnavailable, "away"));
    stop.request_stop();
    return {};
  });
  EXPECT_THAT(Put(run, *table_, "mine"), HasCode(Code::kCommitUnknown));
  EXPECT_TRUE(IsCommitted());
}

TEST_F(LostAnswerTest, TheWaitsAreTheTables) {
  const std::vector<TableUpdate> updates = {
      SetProperties{{{"commit.status-check.num-retries", "2"},
                     {"commit.status-check.min-wait-ms", "10"},
                     {"commit.status-check.max-wait-ms", "not a number"}}}};
  ASSERT_THAT(table_->Commit(run_, {}, updates), IsOk());
  Set(after_swap_, 1, kLostAnswer, [this]() -> Status {
    Set(before_read_, 99, Error(Code::kUnavailable, "away"));
    return {};
  });
  EXPECT_THAT(Commit(), HasCode(Code::kCommitUnknown));
  EXPECT_THAT(clock_.sleeps(), ElementsAre(Milliseconds(10), Milliseconds(20)));
}

TEST_F(LostAnswerTest, ACreateIsFoundOutToo) {
  const TableIdentifier id{{"db"}, "fresh"};
  Set(after_swap_, 1, kLostAnswer);
  EXPECT_THAT(catalog_->CreateTable(run_, id, {.schema = {}}), IsOk());
  ForgetHooks();
  Set(before_swap_, 1, kLostAnswer);
  EXPECT_THAT(catalog_->CreateTable(run_, {{"db"}, "fresh2"}, {.schema = {}}), IsOk());
  ForgetHooks();
  EXPECT_THAT(catalog_->LoadTable(run_, id), IsOk());
  EXPECT_THAT(catalog_->LoadTable(run_, {{"db"}, "fresh2"}), IsOk());
}

TEST_F(LostAnswerTest, ADefiniteFailureLeavesNothing) {
  for (const Code code : {Code::kUnavailable, Code::kDenied, Code::kIo}) {
    Set(before_swap_, 1, Error(code, "no"));
    EXPECT_THAT(Commit(), HasCode(code));
    EXPECT_FALSE(IsCommitted());
    EXPECT_EQ(Files(), 1u);
  }
}

TEST_F(LostAnswerTest, ARaceThatIsLostIsAConflict) {
  before_swap_ = [this, done = false]() mutable -> Status {
    if (std::exchange(done, true)) return {};
    return OthersCommit();
  };
  EXPECT_THAT(Commit(), HasError(Code::kConflict, HasSubstr("cat.db.t")));
  EXPECT_FALSE(IsCommitted());
  EXPECT_EQ(Files(), 2u);
  ASSERT_THAT(table_->Refresh(run_), IsOk());
  EXPECT_THAT(Commit(), IsOk());
}

}  // namespace
}  // namespace icewright
