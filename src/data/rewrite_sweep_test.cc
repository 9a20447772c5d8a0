#include <new>

#include "base/guarded.h"
#include "data/rewrite_test_table.h"
#include "testing/fault_file_io.h"

namespace icewright {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAreArray;

// Three inputs, a delete, rows for several output files, every value verified.
struct Scene {
  explicit Scene(const std::string& format = "parquet")
      : table(IdAndText(), {{"write.format.default", format},
                            {"write.parquet.compression-codec", "uncompressed"},
                            {"write.parquet.dict-encoding-enabled.column.id", "false"}}) {
    FileTask first = table.Task("a", NumberedRows(0, 1500));
    first.deletes = {table.DeletePositions("d", first.data_file, {3})};
    request = RequestOf({first, table.Task("b", NumberedRows(1500, 1500)),
                         table.Task("c", NumberedRows(3000, 100))});
    request.roll_at_bytes = 9000;
    request.verify_values = true;
    before = table.FileNames();
  }
  RewriteTestTable table;
  RewriteGroupRequest request;
  std::vector<std::string> before;
};

// Whichever step fails, the inputs are there and nothing else is.
void LeavesNoFile(FaultFileIO::When when) {
  for (const std::string format : {"parquet", "avro", "orc"}) {
    Scene scene(format);
    for (const int threads : {1, 2}) {
      for (int step = 0;; ++step) {
        SCOPED_TRACE(format + " threads " + std::to_string(threads) + " step " +
                     std::to_string(step));
        auto io = std::make_shared<FaultFileIO>(scene.table.io());
        io->FailAt(step, Error(Code::kIo, "injected failure"), when);
        RunContext run({.threads = threads});
        const auto group = scene.table.Rewrite(run, scene.request, io);
        if (io->calls() <= step) {
          ASSERT_THAT(group, IsOk());
          for (const DataFile& file : group->added) {
            ASSERT_THAT(scene.table.io()->Delete(file.file_path), IsOk());
          }
          break;
        }
        ASSERT_THAT(group, HasError(Code::kIo, HasSubstr("injected failure")));
        ASSERT_THAT(scene.table.FileNames(), UnorderedElementsAreArray(scene.before));
      }
    }
  }
}

TEST(RewriteSweepTest, LeavesNoFileWhicheverStepFails) { LeavesNoFile(FaultFileIO::When::kBefore); }

TEST(RewriteSweepTest, LeavesNoFileWhicheverAnswerIsLost) {
  LeavesNoFile(FaultFileIO::When::kAfter);
}

// Memory that runs out, wherever: an exception takes no short cut past the clean-up.
TEST(RewriteSweepTest, LeavesNoFileWhicheverStepThrows) {
  Scene scene;
  for (const EngineChoice engine : {EngineChoice::kDecode, EngineChoice::kSplice}) {
    for (int step = 0;; ++step) {
      SCOPED_TRACE(step);
      auto io = std::make_shared<FaultFileIO>(scene.table.io());
      io->OnCall([&](int n, const IoEvent&) -> Status {
        if (n == step) throw std::bad_alloc();
        return {};
      });
      RunContext run;
      const auto group =
          Guarded([&] { return scene.table.Rewrite(run, scene.request, io, engine); });
      if (group) {
        ASSERT_LE(io->calls(), step);
        for (const DataFile& file : group->added) {
          ASSERT_THAT(scene.table.io()->Delete(file.file_path), IsOk());
        }
        break;
      }
      ASSERT_THAT(group, HasCode(Code::kExhausted));
      ASSERT_THAT(scene.table.FileNames(), UnorderedElementsAreArray(scene.before));
    }
  }
}

// If the clean-up fails too, every file that stays is in the message.
TEST(RewriteSweepTest, NamesWhatItCannotRemove) {
  Scene scene;
  int named = 0;
  for (int step = 0;; ++step) {
    SCOPED_TRACE(step);
    auto io = std::make_shared<FaultFileIO>(scene.table.io());
    io->FailFrom(step);
    RunContext run;
    const auto group = scene.table.Rewrite(run, scene.request, io);
    if (group) break;
    std::vector<std::string> accounted = scene.before;
    for (const std::string& name : scene.table.FileNames()) {
      if (std::find(scene.before.begin(), scene.before.end(), name) != scene.before.end()) continue;
      EXPECT_THAT(group.error().message(), AllOf(HasSubstr("left behind"), HasSubstr(name)));
      accounted.push_back(name);
      ++named;
      ASSERT_THAT(scene.table.io()->Delete(Location(name)), IsOk());
    }
  }
  EXPECT_GE(named, 3);
}

TEST(RewriteSweepTest, StopsAtAnyStepAndLeavesNothing) {
  Scene scene;
  for (const int threads : {1, 2}) {
    for (int step = 0;; ++step) {
      SCOPED_TRACE(step);
      std::stop_source stop;
      auto io = std::make_shared<FaultFileIO>(scene.table.io());
      io->OnCall([&](int n, const IoEvent&) -> Status {
        if (n == step) stop.request_stop();
        return {};
      });
      RunContext run({.stop = stop.get_token(), .threads = threads});
      const auto group = scene.table.Rewrite(run, scene.request, io);
      if (io->calls() <= step) {
        ASSERT_THAT(group, IsOk());
        for (const DataFile& file : group->added) {
          ASSERT_THAT(scene.table.io()->Delete(file.file_path), IsOk());
        }
        break;
      }
      if (group) {  // the stop came after the last check
        for (const DataFile& file : group->added) {
          ASSERT_THAT(scene.table.io()->Delete(file.file_path), IsOk());
        }
        continue;
      }
      ASSERT_THAT(group, HasCode(Code::kCancelled));
      ASSERT_THAT(scene.table.FileNames(), UnorderedElementsAreArray(scene.before));
    }
  }
}

TEST(RewriteProofTest, AWrittenFileThatReadsBackDifferentlyIsCaught) {
  Scene scene;
  scene.request.roll_at_bytes = 1 << 20;
  // The same rows with two texts exchanged between rows: counts and sums agree, values do not.
  RewriteTestTable& table = scene.table;
  scene.request.tasks = {table.Task("e", R"([[1, "ab"], [2, "cd"]])")};
  auto swapped = table.Task("f", R"([[1, "cd"], [2, "ab"]])");
  IW_ASSERT_OK_AND_ASSIGN(const Bytes other, ReadFile(*table.io(), swapped.data_file.file_path));
  auto io = std::make_shared<FaultFileIO>(table.io());
  io->OnCall([&](int, const IoEvent& event) -> Status {
    if (event.call != IoCall::kOpen || !event.location.text().ends_with(".parquet")) return {};
    return WriteFile(*table.io(), event.location, other, CreateMode::kAtomicReplace);
  });
  RunContext run;
  const auto before = table.FileNames();
  EXPECT_THAT(table.Rewrite(run, scene.request, io),
              HasError(Code::kInternal, HasSubstr("hash of all values")));
  EXPECT_THAT(table.FileNames(), UnorderedElementsAreArray(before));
}

TEST(RewriteMemoryTest, SmallLimitsShrinkRowGroupsAndSaySo) {
  RewriteTestTable table(IdAndText());
  auto request = RequestOf({table.Task("a", NumberedRows(0, 20000))});
  RunContext run({.memory_limit_bytes = 16 << 20});
  IW_ASSERT_OK_AND_ASSIGN(const RewrittenGroup group, table.Rewrite(run, request));
  EXPECT_EQ(group.rows_written, 20000);
  EXPECT_THAT(group.notes, ElementsAre("dictionaries of 1 MiB instead of 2 MiB: memory limit",
                                       "row groups of 5 MiB instead of 128 MiB: memory limit"));
  EXPECT_LE(run.memory().peak(), 16 << 20);
  EXPECT_EQ(run.memory().used(), 0);
}

TEST(RewriteMemoryTest, FewOpenWritersCloseEarlyAndSaySo) {
  RewriteTestTable table(IdAndText(), {}, 2, {MakeSpec(0, {}), MakeSpec(1, {{1, "bucket[8]"}})});
  auto request = RequestOf({table.Task("a", NumberedRows(0, 2000))});
  request.output_spec_id = SpecId{1};
  RunContext run({.memory_limit_bytes = 16 << 20});
  IW_ASSERT_OK_AND_ASSIGN(const RewrittenGroup group, table.Rewrite(run, request));
  EXPECT_EQ(group.rows_written, 2000);
  EXPECT_THAT(group.added, SizeIs(8));
  EXPECT_THAT(group.notes, ::testing::Contains(HasSubstr("at most 1 files open at once")));
}

TEST(RewriteMemoryTest, TooLittleMemoryIsAnErrorAndLeavesNothing) {
  RewriteTestTable table(IdAndText());
  auto request = RequestOf({table.Task("a", NumberedRows(0, 20000))});
  const auto before = table.FileNames();
  RunContext run({.memory_limit_bytes = 64 << 10});
  EXPECT_THAT(table.Rewrite(run, request), HasCode(Code::kExhausted));
  EXPECT_THAT(table.FileNames(), UnorderedElementsAreArray(before));
  EXPECT_EQ(run.memory().used(), 0);
}

}  // namespace
}  // namespace icewright
