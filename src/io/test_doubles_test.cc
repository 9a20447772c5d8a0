// The FileIOs of the test library are held to the promises of the real ones: file_io_test.cc runs
// the conformance suite on them. Here is what they have beyond it.

#include <algorithm>
#include <filesystem>

#include "io/memory_file_io.h"
#include "testing/fault_file_io.h"
#include "testing/fixtures.h"
#include "testing/matchers.h"

namespace icewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Location kFile{"mem/f"};

// One of each call, all of which succeed when nothing is injected.
void Exercise(FileIO& io) {
  (void)WriteFile(io, kFile, "x", CreateMode::kNew);
  (void)ReadFile(io, kFile);
  (void)io.Exists(kFile);
  (void)io.List(Location("mem"), [](const FileStatus&) { return Status{}; });
  (void)io.ListFolders(Location("mem"));
  (void)io.MakeFolder(Location("mem/d"));
  (void)io.Delete(kFile);
  (void)io.DeleteEmptyFolder(Location("mem"));
  (void)io.DeleteFolder(Location("mem"));
}

TEST(FaultFileIoTest, CountsEachCall) {
  FaultFileIO io(MakeMemoryFileIO());
  Exercise(io);
  std::vector<std::string_view> names;
  for (const IoEvent& event : io.events()) names.push_back(Name(event.call));
  EXPECT_THAT(names, ElementsAre("Create", "Append", "Close", "Open", "Size", "Read", "Exists",
                                 "List", "ListFolders", "MakeFolder", "Delete", "DeleteEmptyFolder",
                                 "DeleteFolder"));
  EXPECT_EQ(io.calls(), 13);
  EXPECT_THAT(io.created(), ElementsAre(kFile));
  EXPECT_THAT(io.deleted(), ElementsAre(kFile));
}

// FileIO::Move, which stores without a rename have: one of the two is left whatever fails.
TEST(FaultFileIoTest, AMoveKeepsTheFileWhicheverCallFails) {
  for (const auto when : {FaultFileIO::When::kBefore, FaultFileIO::When::kAfter}) {
    for (int step = 0;; ++step) {
      FaultFileIO io(MakeMemoryFileIO());
      ASSERT_THAT(WriteFile(io, kFile, "x", CreateMode::kNew), IsOk());
      const int start = io.calls();
      io.FailAt(start + step, Error(Code::kIo, "boom"), when);
      const Status moved = io.Move(kFile, Location("mem/g"));
      const bool reached = io.calls() > start + step;
      io.FailAt(-1);
      const auto from = ReadFile(io, kFile);
      const auto to = ReadFile(io, Location("mem/g"));
      EXPECT_TRUE((from && *from == "x") || (to && *to == "x")) << "step " << step;
      EXPECT_EQ(moved.has_value(), !reached) << "step " << step;
      if (!reached) {
        EXPECT_EQ(step, 7);
        break;
      }
    }
  }
}

TEST(FaultFileIoTest, FailsExactlyTheCallItWasTold) {
  FaultFileIO io(MakeMemoryFileIO());
  io.FailAt(2, Error(Code::kUnavailable, "boom"));
  EXPECT_THAT(WriteFile(io, kFile, "x", CreateMode::kNew),
              HasError(Code::kUnavailable, "Close mem/f (call 2): boom"));
  EXPECT_THAT(io.created(), IsEmpty());
  EXPECT_THAT(io.Exists(kFile), IsOkAndHolds(false));
  EXPECT_THAT(WriteFile(io, kFile, "x", CreateMode::kNew), IsOk());
}

TEST(FaultFileIoTest, ALostAnswerTakesEffect) {
  FaultFileIO io(MakeMemoryFileIO());
  io.FailAt(2, Error(Code::kUnavailable, "boom"), FaultFileIO::When::kAfter);
  EXPECT_THAT(WriteFile(io, kFile, "x", CreateMode::kNew), HasCode(Code::kUnavailable));
  EXPECT_THAT(io.Exists(kFile), IsOkAndHolds(true));
  EXPECT_THAT(io.created(), ElementsAre(kFile));
}

TEST(FaultFileIoTest, StaysDownFromACallOn) {
  FaultFileIO io(MakeMemoryFileIO());
  io.FailFrom(1);
  EXPECT_THAT(io.Exists(kFile), IsOk());
  for (int i = 0; i < 3; ++i) EXPECT_THAT(io.Exists(kFile), HasCode(Code::kIo));
}

TEST(FaultFileIoTest, AHookSeesTheCallAndMayUseTheStorage) {
  const auto base = MakeMemoryFileIO();
  FaultFileIO io(base);
  io.OnCall([&](int n, const IoEvent& event) -> Status {
    if (n == 0) {
      EXPECT_EQ(event, (IoEvent{IoCall::kCreate, kFile}));
    }
    if (event.call == IoCall::kClose) {
      return WriteFile(*base, kFile, "another's", CreateMode::kNew);
    }
    return {};
  });
  EXPECT_THAT(WriteFile(io, kFile, "mine", CreateMode::kAtomicNew), HasCode(Code::kAlreadyExists));
  EXPECT_THAT(ReadFile(*base, kFile), IsOkAndHolds("another's"));
}

TEST(FixturesGoldenTest, AllTablesAreThere) {
  int file_system = 0;
  int fx = 0;
  int jd = 0;
  int ot = 0;
  for (const Fixture& fixture : ListFixtures()) {
    fx += fixture.ns == "fx";
    jd += fixture.ns == "jd";
    ot += fixture.ns == "ot";
    file_system += fixture.in_file_system_catalog;
    EXPECT_TRUE(std::filesystem::exists(fixture.ExpectedPath())) << fixture.ExpectedPath();
  }
  EXPECT_EQ(fx, 28);
  EXPECT_EQ(jd, 1);
  EXPECT_EQ(ot, 18);
  EXPECT_EQ(file_system, 28 + 12);
}

TEST(FixturesGoldenTest, RecordedLocationsLeadToTheUnpackedCopy) {
  const Location hint = FindFixture("append_v2").location.Child("metadata/version-hint.text");
  EXPECT_EQ(hint.text(), "file:/tmp/iceberg-fixtures/fx/append_v2/metadata/version-hint.text");
  IW_ASSERT_OK_AND_ASSIGN(const Bytes version, ReadFile(*FixtureIO(), hint));
  EXPECT_THAT(ReadFile(*FixtureIO(), Location(hint.text().substr(5))), IsOkAndHolds(version));
  IW_ASSERT_OK_AND_ASSIGN(const auto file, FixtureIO()->Open(hint));
  EXPECT_EQ(file->location(), hint);
  EXPECT_THAT(FixtureIO()->Delete(hint), HasError(Code::kDenied, HasSubstr("copy")));
  EXPECT_THAT(FixtureIO()->Create(hint, CreateMode::kAtomicReplace), HasCode(Code::kDenied));
}

TEST(FixturesGoldenTest, ACopyIsPrivateAndKeepsTimes) {
  const FixtureCopy copy("orphans_v2");
  const Location hint = copy.location().Child("metadata/version-hint.text");
  ASSERT_THAT(WriteFile(*copy.io(), hint, "0", CreateMode::kAtomicReplace), IsOk());
  EXPECT_THAT(ReadFile(*copy.io(), hint), IsOkAndHolds("0"));
  EXPECT_THAT(ReadFile(*FixtureIO(), hint), IsOkAndHolds(::testing::Ne("0")));

  const auto times = [&](FileIO& io) {
    std::vector<std::pair<std::string, std::int64_t>> found;
    EXPECT_THAT(io.List(copy.location().Child("data"),
                        [&](const FileStatus& file) -> Status {
                          found.emplace_back(file.location.text(), ToMillis(file.modified));
                          return {};
                        }),
                IsOk());
    std::sort(found.begin(), found.end());
    return found;
  };
  const auto original = times(*FixtureIO());
  EXPECT_THAT(times(*copy.io()), ::testing::ElementsAreArray(original));
}

}  // namespace
}  // namespace icewright
