#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "io/line_reader.h"
#include "io/local_file_io.h"
#include "io/memory_file_io.h"
#include "testing/fake_clock.h"
#include "testing/fault_file_io.h"
#include "testing/file_io_suite.h"
#include "testing/prefix_mapped_file_io.h"
#include "testing/temp_folder.h"

namespace icewright {
namespace {

// The spelling without a scheme is a location, too.
FileIoUnderTest OnPath() {
  auto folder = std::make_shared<TempFolder>();
  return {MakeLocalFileIO(), Location(folder->path()), folder};
}

FileIoUnderTest OnUri() {
  auto folder = std::make_shared<TempFolder>();
  return {MakeLocalFileIO(), folder->location(), folder};
}

FileIoUnderTest InMemory() { return {MakeMemoryFileIO(), Location("mem://bucket/root")}; }

FileIoUnderTest Faultless() {
  auto folder = std::make_shared<TempFolder>();
  return {std::make_shared<FaultFileIO>(MakeLocalFileIO()), folder->location(), folder};
}

FileIoUnderTest Mapped() {
  auto folder = std::make_shared<TempFolder>();
  return {MakePrefixMappedFileIO(MakeLocalFileIO(), {{"file:/recorded", folder->path() + "/now"}},
                                 MappedAccess::kReadWrite),
          Location("file:/recorded/w"), folder};
}

INSTANTIATE_TEST_SUITE_P(All, FileIoSuite,
                         ::testing::Values(FileIoFactory{"LocalPath", OnPath, true},
                                           FileIoFactory{"LocalUri", OnUri, true},
                                           FileIoFactory{"Memory", InMemory},
                                           FileIoFactory{"Fault", Faultless, true},
                                           FileIoFactory{"PrefixMapped", Mapped, true}),
                         FileIoFactory::Name);

TEST(LocalPathOfTest, ReadsTheSpellings) {
  struct Case {
    const char* location;
    const char* path;
  };
  for (const Case& c :
       {Case{"file:/a/b", "/a/b"}, Case{"file:///a/b", "/a/b"}, Case{"file://localhost/a", "/a"},
        Case{"/a/b", "/a/b"}, Case{"/a:b/c", "/a:b/c"}, Case{"file:/a%20b", "/a%20b"},
        Case{"file:////a", "//a"}}) {
    EXPECT_THAT(LocalPathOf(Location(c.location)), IsOkAndHolds(c.path)) << c.location;
  }
}

TEST(LocalPathOfTest, RefusesTheRest) {
  struct Case {
    std::string location;
    Code code;
  };
  for (const Case& c :
       {Case{"s3://b/k", Code::kUnsupported}, Case{"hdfs:/x", Code::kUnsupported},
        Case{"file://host/a", Code::kUnsupported}, Case{"a/b", Code::kInvalidArgument},
        Case{"file:a", Code::kInvalidArgument}, Case{"", Code::kInvalidArgument},
        Case{std::string("/a\0b", 4), Code::kInvalidArgument}}) {
    EXPECT_THAT(LocalPathOf(Location(c.location)), HasCode(c.code)) << c.location;
  }
}

class LocalFileIoTest : public ::testing::Test {
 protected:
  void Write(const std::string& name, ByteView bytes) {
    ASSERT_THAT(WriteFile(*io_, folder_.Child(name), bytes, CreateMode::kNew), IsOk());
  }
  bool OnDisk(const std::string& name) const {
    return std::filesystem::exists(folder_.path() + "/" + name);
  }

  TempFolder folder_;
  std::shared_ptr<FileIO> io_ = MakeLocalFileIO();
};

TEST_F(LocalFileIoTest, ChecksumFilesGoWithTheirFile) {
  for (const CreateMode mode :
       {CreateMode::kNew, CreateMode::kAtomicNew, CreateMode::kAtomicReplace}) {
    Write("d/.f.crc", "stale");
    ASSERT_THAT(WriteFile(*io_, folder_.Child("d/f"), "new", mode), IsOk());
    EXPECT_FALSE(OnDisk("d/.f.crc")) << static_cast<int>(mode);
    Write("d/.f.crc", "again");
    ASSERT_THAT(io_->Delete(folder_.Child("d/f")), IsOk());
    EXPECT_FALSE(OnDisk("d/.f.crc")) << static_cast<int>(mode);
  }
}

TEST_F(LocalFileIoTest, ALostRaceKeepsTheWinnersFile) {
  Write("f", "winner");
  Write(".f.crc", "the winner's");
  EXPECT_THAT(WriteFile(*io_, folder_.Child("f"), "loser", CreateMode::kAtomicNew),
              HasCode(Code::kAlreadyExists));
  EXPECT_TRUE(OnDisk(".f.crc"));
}

TEST_F(LocalFileIoTest, LinksToFoldersAreNotFollowed) {
  Write("outside/secret", "x");
  Write("table/f", "x");
  std::filesystem::create_directory_symlink(folder_.path() + "/outside",
                                            folder_.path() + "/table/link");
  std::filesystem::create_symlink(folder_.path() + "/outside/secret",
                                  folder_.path() + "/table/file_link");
  std::vector<std::string> names;
  ASSERT_THAT(io_->List(folder_.Child("table"),
                        [&](const FileStatus& file) -> Status {
                          names.emplace_back(file.location.file_name());
                          return {};
                        }),
              IsOk());
  EXPECT_THAT(names, ::testing::UnorderedElementsAre("f", "file_link"));
  names.clear();
  EXPECT_THAT(io_->ListDirectly(folder_.Child("table"),
                                [&](const FileStatus& file) -> Status {
                                  names.emplace_back(file.location.file_name());
                                  return {};
                                }),
              IsOkAndHolds(::testing::IsEmpty()));
  EXPECT_THAT(names, ::testing::UnorderedElementsAre("f", "file_link"));
  ASSERT_THAT(io_->DeleteFolder(folder_.Child("table")), IsOk());
  EXPECT_TRUE(OnDisk("outside/secret"));
}

TEST_F(LocalFileIoTest, AMovedFileTakesItsChecksumFileAlong) {
  Write("d/f", "x");
  Write("d/.f.crc", "sum");
  ASSERT_THAT(io_->Move(folder_.Child("d/f"), folder_.Child("e/g")), IsOk());
  EXPECT_FALSE(OnDisk("d/.f.crc"));
  EXPECT_TRUE(OnDisk("e/.g.crc"));
  EXPECT_THAT(io_->Move(folder_.Child("e/g"), folder_.Child("e/g/below")), ::testing::Not(IsOk()));
  EXPECT_TRUE(OnDisk("e/g"));
}

TEST_F(LocalFileIoTest, ManyDeletesTakeChecksumFilesAndNameFolders) {
  Write("d/f", "x");
  Write("d/.f.crc", "sum");
  Write("d/.g.crc", "another's");
  Write("d/sub/f", "x");
  Write("h", "x");
  const std::vector<Location> all = {folder_.Child("d/f"), folder_.Child("d/sub"),
                                     folder_.Child("h/below"), folder_.Child("d/sub/f")};
  const std::vector<DeleteFailure> failures = io_->DeleteFiles(all);
  ASSERT_EQ(failures.size(), 1u);
  EXPECT_EQ(failures[0].location, all[1]);
  EXPECT_THAT(failures[0].error.message(), ::testing::HasSubstr("d/sub: it is a folder"));
  EXPECT_FALSE(OnDisk("d/f"));
  EXPECT_FALSE(OnDisk("d/.f.crc"));
  EXPECT_TRUE(OnDisk("d/.g.crc"));
  EXPECT_FALSE(OnDisk("d/sub/f"));
  EXPECT_TRUE(OnDisk("h"));
}

TEST_F(LocalFileIoTest, LinesAreReadAcrossBuffersAndWithoutAFinalEnd) {
  const std::string longest(100'000, 'x');
  Write("lines", "a\n\n" + longest + "\nlast");
  IW_ASSERT_OK_AND_ASSIGN(auto file, io_->Open(folder_.Child("lines")));
  LineReader lines(std::move(file), longest.size());
  std::string line;
  for (const std::string& want : {std::string("a"), std::string(), longest, std::string("last")}) {
    ASSERT_THAT(lines.Next(line), IsOkAndHolds(true));
    EXPECT_EQ(line, want);
    EXPECT_EQ(lines.is_whole(), want != "last");
  }
  EXPECT_EQ(lines.number(), 4);
  EXPECT_THAT(lines.Next(line), IsOkAndHolds(false));
  IW_ASSERT_OK_AND_ASSIGN(auto again, io_->Open(folder_.Child("lines")));
  LineReader strict(std::move(again), longest.size() - 1);
  EXPECT_THAT(strict.Next(line), IsOkAndHolds(true));
  EXPECT_THAT(strict.Next(line), IsOkAndHolds(true));
  EXPECT_THAT(strict.Next(line), HasError(Code::kCorrupt, HasSubstr("line 3")));
}

TEST_F(LocalFileIoTest, DeleteRefusesAFolder) {
  Write("d/f", "x");
  EXPECT_THAT(io_->Delete(folder_.Child("d")), HasError(Code::kIo, HasSubstr("folder")));
  EXPECT_TRUE(OnDisk("d/f"));
  EXPECT_THAT(io_->DeleteFolder(Location("file:///")), HasCode(Code::kInvalidArgument));
}

TEST_F(LocalFileIoTest, AFileInTheWayOfAFolderIsAnError) {
  Write("f", "x");
  EXPECT_FALSE(WriteFile(*io_, folder_.Child("f/below"), "y", CreateMode::kNew));
  EXPECT_FALSE(io_->MakeFolder(folder_.Child("f")));
  EXPECT_THAT(ReadFile(*io_, folder_.Child("f")), IsOkAndHolds("x"));
}

TEST_F(LocalFileIoTest, ATemporaryNameOfADeadProcessIsPassedOver) {
  // Names count up within a process: occupy the next few that this one would take.
  Write("probe", "x");
  IW_ASSERT_OK_AND_ASSIGN(auto probe, io_->Create(folder_.Child("g"), CreateMode::kAtomicNew));
  std::string temporary;
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
    if (entry.path().extension() == ".tmp") temporary = entry.path().filename();
  }
  probe.reset();
  const auto dash = temporary.rfind('-');
  ASSERT_NE(dash, std::string::npos) << temporary;
  const int next = std::stoi(temporary.substr(dash + 1)) + 1;
  for (int i = 0; i < 3; ++i) {
    Write(temporary.substr(0, dash + 1) + std::to_string(next + i) + ".tmp", "leftover");
  }
  EXPECT_THAT(WriteFile(*io_, folder_.Child("g"), "y", CreateMode::kAtomicNew), IsOk());
  EXPECT_THAT(ReadFile(*io_, folder_.Child("g")), IsOkAndHolds("y"));
}

TEST_F(LocalFileIoTest, OneOfManyWinsAName) {
  constexpr int kThreads = 8;
  constexpr int kRounds = 40;
  std::atomic<int> wins{0};
  std::atomic<int> losses{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < kRounds; ++round) {
        const Status status =
            WriteFile(*io_, folder_.Child("r" + std::to_string(round)),
                      std::to_string(t) + std::string(5000, 'x'), CreateMode::kAtomicNew);
        if (status) {
          ++wins;
        } else if (status.error().code() == Code::kAlreadyExists) {
          ++losses;
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wins, kRounds);
  EXPECT_EQ(losses, kRounds * (kThreads - 1));
  for (int round = 0; round < kRounds; ++round) {
    IW_ASSERT_OK_AND_ASSIGN(const Bytes bytes,
                            ReadFile(*io_, folder_.Child("r" + std::to_string(round))));
    EXPECT_EQ(bytes.size(), 5001u);
  }
}

TEST(MemoryFileIoTest, ModifiedIsTheClocks) {
  FakeClock clock(FromMillis(1234));
  const auto io = MakeMemoryFileIO(&clock);
  ASSERT_THAT(WriteFile(*io, Location("a/f"), "x", CreateMode::kNew), IsOk());
  std::int64_t modified = 0;
  ASSERT_THAT(io->List(Location("a"),
                       [&](const FileStatus& file) -> Status {
                         modified = ToMillis(file.modified);
                         return {};
                       }),
              IsOk());
  EXPECT_EQ(modified, 1234);
}

}  // namespace
}  // namespace icewright
