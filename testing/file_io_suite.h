#pragma once

/// \file testing/file_io_suite.h
/// What every FileIO promises, as one suite.
///
///   INSTANTIATE_TEST_SUITE_P(Local, FileIoSuite, ::testing::Values(FileIoFactory{...}),
///                            FileIoFactory::Name);
///
/// Include it in one test file per binary.

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/file_io.h"
#include "testing/matchers.h"

namespace icewright {

/// A FileIO and a folder of it that is empty.
struct FileIoUnderTest {
  std::shared_ptr<FileIO> io;
  Location root;
  std::shared_ptr<void> keep_alive = {};  ///< What the folder lives in.
};

struct FileIoFactory {
  std::string name;
  std::function<FileIoUnderTest()> make;
  bool has_real_folders = false;  ///< MakeFolder leaves something behind.

  static std::string Name(const ::testing::TestParamInfo<FileIoFactory>& info) {
    return info.param.name;
  }
  friend void PrintTo(const FileIoFactory& factory, std::ostream* os) { *os << factory.name; }
};

class FileIoSuite : public ::testing::TestWithParam<FileIoFactory> {
 protected:
  FileIO& io() { return *under_test_.io; }
  const Location& root() const { return under_test_.root; }
  Location At(std::string_view relative) const { return root().Child(relative); }

  void Put(std::string_view relative, ByteView bytes = "x") {
    ASSERT_THAT(WriteFile(io(), At(relative), bytes, CreateMode::kNew), IsOk());
  }

  /// Sorted texts of what List shows, without `prefix`.
  std::vector<std::string> Listed(const Location& prefix) {
    std::vector<std::string> found;
    const Status status = io().List(prefix, [&](const FileStatus& file) -> Status {
      EXPECT_TRUE(file.location.text().starts_with(prefix.text())) << file.location.text();
      found.push_back(file.location.text().substr(prefix.text().size()));
      return {};
    });
    EXPECT_THAT(status, IsOk());
    std::sort(found.begin(), found.end());
    return found;
  }

 private:
  FileIoUnderTest under_test_ = GetParam().make();
};

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

inline constexpr CreateMode kAllCreateModes[] = {CreateMode::kNew, CreateMode::kAtomicNew,
                                                 CreateMode::kAtomicReplace};

TEST_P(FileIoSuite, ReadsBackWhatWasWritten) {
  const std::string large(3'000'001, 'q');
  for (const CreateMode mode : kAllCreateModes) {
    for (const std::string& bytes : {std::string(), std::string("a\0b\n", 4), large}) {
      const Location location = At("d/e/file.bin");
      IW_ASSERT_OK_AND_ASSIGN(const auto out, io().Create(location, mode));
      EXPECT_EQ(out->location(), location);
      for (std::size_t at = 0; at < bytes.size(); at += 700'001) {
        ASSERT_THAT(out->Append(ByteView(bytes).substr(at, 700'001)), IsOk());
      }
      EXPECT_EQ(out->bytes_written(), static_cast<std::int64_t>(bytes.size()));
      ASSERT_THAT(out->Close(), IsOk());
      IW_ASSERT_OK_AND_ASSIGN(const Bytes back, ReadFile(io(), location));
      EXPECT_TRUE(back == bytes) << back.size() << " bytes instead of " << bytes.size();
      ASSERT_THAT(io().Delete(location), IsOk());
    }
  }
}

TEST_P(FileIoSuite, ReadAtFillsUpToTheEnd) {
  Put("f", "0123456789");
  struct Case {
    std::int64_t offset;
    std::size_t length;
    const char* expected;
  };
  IW_ASSERT_OK_AND_ASSIGN(const auto file, io().Open(At("f")));
  EXPECT_EQ(file->location(), At("f"));
  EXPECT_THAT(file->Size(), IsOkAndHolds(10));
  for (const Case& c : {Case{0, 4, "0123"}, Case{3, 3, "345"}, Case{8, 5, "89"}, Case{10, 1, ""},
                        Case{99, 2, ""}, Case{2, 0, ""}}) {
    std::string out(c.length, '?');
    IW_ASSERT_OK_AND_ASSIGN(const std::size_t n, file->ReadAt(c.offset, out));
    EXPECT_EQ(out.substr(0, n), c.expected) << c.offset << "+" << c.length;
  }
  char byte = 0;
  EXPECT_THAT(file->ReadAt(-1, {&byte, 1}), HasCode(Code::kInvalidArgument));
}

TEST_P(FileIoSuite, OpenTakesTheSizeItIsGiven) {
  Put("f", "0123456789");
  IW_ASSERT_OK_AND_ASSIGN(const auto file, io().Open(At("f"), 10));
  EXPECT_THAT(file->Size(), IsOkAndHolds(10));
}

TEST_P(FileIoSuite, AnOpenFileSurvivesItsReplacement) {
  Put("f", "old");
  IW_ASSERT_OK_AND_ASSIGN(const auto file, io().Open(At("f")));
  ASSERT_THAT(WriteFile(io(), At("f"), "newer", CreateMode::kAtomicReplace), IsOk());
  std::string out(5, '?');
  EXPECT_THAT(file->ReadAt(0, out), IsOkAndHolds(3u));
  EXPECT_EQ(out, "old??");
  EXPECT_THAT(ReadFile(io(), At("f")), IsOkAndHolds("newer"));
}

TEST_P(FileIoSuite, MissingFileIsNotFoundAndNamed) {
  EXPECT_THAT(io().Open(At("no/such")), HasError(Code::kNotFound, HasSubstr("no/such")));
  EXPECT_THAT(io().Exists(At("no/such")), IsOkAndHolds(false));
  Put("f");
  EXPECT_THAT(io().Open(At("f/below")), HasCode(Code::kNotFound));
  EXPECT_THAT(io().Exists(At("f/below")), IsOkAndHolds(false));
  EXPECT_THAT(io().Exists(At("f")), IsOkAndHolds(true));
}

TEST_P(FileIoSuite, AFolderIsNoFile) {
  Put("d/f");
  EXPECT_THAT(io().Open(At("d")), HasCode(Code::kNotFound));
  EXPECT_THAT(io().Exists(At("d")), IsOkAndHolds(false));
  EXPECT_THAT(io().Create(At("g/"), CreateMode::kNew), HasCode(Code::kInvalidArgument));
}

TEST_P(FileIoSuite, ReadFileRefusesMoreThanTheLimit) {
  Put("f", "0123456789");
  EXPECT_THAT(ReadFile(io(), At("f"), 10), IsOkAndHolds("0123456789"));
  EXPECT_THAT(ReadFile(io(), At("f"), 9), HasError(Code::kExhausted, HasSubstr("10 bytes")));
}

TEST_P(FileIoSuite, NewModesLeaveAnExistingFileAlone) {
  Put("f", "first");
  for (const CreateMode mode : {CreateMode::kNew, CreateMode::kAtomicNew}) {
    EXPECT_THAT(WriteFile(io(), At("f"), "second", mode), HasCode(Code::kAlreadyExists));
    EXPECT_THAT(ReadFile(io(), At("f")), IsOkAndHolds("first"));
  }
  EXPECT_THAT(Listed(root()), ElementsAre("/f"));
}

TEST_P(FileIoSuite, TheFirstToCloseWinsAnAtomicName) {
  IW_ASSERT_OK_AND_ASSIGN(auto first, io().Create(At("f"), CreateMode::kAtomicNew));
  IW_ASSERT_OK_AND_ASSIGN(auto second, io().Create(At("f"), CreateMode::kAtomicNew));
  ASSERT_THAT(first->Append("first"), IsOk());
  ASSERT_THAT(second->Append("second"), IsOk());
  EXPECT_THAT(io().Exists(At("f")), IsOkAndHolds(false));
  ASSERT_THAT(second->Close(), IsOk());
  EXPECT_THAT(first->Close(), HasCode(Code::kAlreadyExists));
  first.reset();
  EXPECT_THAT(ReadFile(io(), At("f")), IsOkAndHolds("second"));
  EXPECT_THAT(Listed(root()), ElementsAre("/f"));
}

TEST_P(FileIoSuite, ReplaceShowsTheOldFileUntilClose) {
  Put("f", "old");
  IW_ASSERT_OK_AND_ASSIGN(const auto out, io().Create(At("f"), CreateMode::kAtomicReplace));
  ASSERT_THAT(out->Append("new"), IsOk());
  EXPECT_THAT(ReadFile(io(), At("f")), IsOkAndHolds("old"));
  ASSERT_THAT(out->Close(), IsOk());
  EXPECT_THAT(ReadFile(io(), At("f")), IsOkAndHolds("new"));
}

TEST_P(FileIoSuite, AnAbandonedFileLeavesNothing) {
  Put("kept", "old");
  for (const CreateMode mode : kAllCreateModes) {
    const Location location = At(mode == CreateMode::kAtomicReplace ? "kept" : "gone");
    IW_ASSERT_OK_AND_ASSIGN(auto out, io().Create(location, mode));
    ASSERT_THAT(out->Append(std::string(1 << 20, 'x')), IsOk());
    out.reset();
  }
  EXPECT_THAT(Listed(root()), ElementsAre("/kept"));
  EXPECT_THAT(ReadFile(io(), At("kept")), IsOkAndHolds("old"));
}

TEST_P(FileIoSuite, DeletingIsIdempotent) {
  Put("f");
  EXPECT_THAT(io().Delete(At("f")), IsOk());
  EXPECT_THAT(io().Exists(At("f")), IsOkAndHolds(false));
  EXPECT_THAT(io().Delete(At("f")), IsOk());
  EXPECT_THAT(io().Delete(At("no/such/folder/f")), IsOk());
}

TEST_P(FileIoSuite, DeleteFilesTakesAll) {
  Put("a");
  Put("d/b");
  Put("d/c");
  Put("d/e/b");
  Put("dd/b");
  Put("d/kept");
  const std::vector<Location> all = {At("a"),     At("d/b"),  At("d/missing"), At("d/c"),
                                     At("d/e/b"), At("dd/b"), At("missing"),   At("no/such/f")};
  EXPECT_EQ(io().DeleteFiles(all).size(), 0u);
  EXPECT_THAT(Listed(root()), ElementsAre("/d/kept"));
}

TEST_P(FileIoSuite, ListsEverythingBelowAFolderOnly) {
  for (const char* name : {"t/a", "t/b/c", "t/b/d/e", "t/.hidden", "t/_x/y", "t2/z", "ta"})
    Put(name);
  EXPECT_THAT(Listed(At("t")), ElementsAre("/.hidden", "/_x/y", "/a", "/b/c", "/b/d/e"));
  EXPECT_THAT(Listed(At("t/")), ElementsAre(".hidden", "_x/y", "a", "b/c", "b/d/e"));
  EXPECT_THAT(Listed(At("t/a")), ElementsAre(""));
  EXPECT_THAT(Listed(At("missing")), IsEmpty());
}

TEST_P(FileIoSuite, ListsWhatIsDirectlyInAFolder) {
  for (const char* name : {"t/a", "t/b/c", "t/.hidden", "t/_x/y/z", "t2/z"}) Put(name);
  const auto list = [&](const std::string& folder) {
    std::vector<std::string> seen;
    auto folders = io().ListDirectly(At(folder), [&](const FileStatus& file) -> Status {
      seen.push_back(file.location.text());
      return {};
    });
    EXPECT_THAT(folders, IsOk());
    std::sort(seen.begin(), seen.end());
    for (const std::string& name : *folders) seen.push_back(name + "/");
    return seen;
  };
  EXPECT_THAT(list("t"), ElementsAre(At("t/.hidden").text(), At("t/a").text(), "_x/", "b/"));
  EXPECT_THAT(list("t/_x"), ElementsAre("y/"));
  EXPECT_THAT(list("missing"), IsEmpty());
}

TEST_P(FileIoSuite, AMovedFileHasItsNewNameOnly) {
  const std::string bytes(3'000'000, 'x');
  Put("f", bytes);
  EXPECT_THAT(io().Move(At("f"), At("new/folder/g")), IsOk());
  EXPECT_THAT(Listed(root()), ElementsAre("/new/folder/g"));
  EXPECT_THAT(ReadFile(io(), At("new/folder/g")), IsOkAndHolds(bytes));
}

TEST_P(FileIoSuite, MovingReplacesNothing) {
  Put("f", "mine");
  Put("g", "theirs");
  EXPECT_THAT(io().Move(At("f"), At("g")), HasCode(Code::kAlreadyExists));
  EXPECT_THAT(ReadFile(io(), At("f")), IsOkAndHolds("mine"));
  EXPECT_THAT(ReadFile(io(), At("g")), IsOkAndHolds("theirs"));
  EXPECT_THAT(io().Move(At("missing"), At("h")), HasCode(Code::kNotFound));
  EXPECT_THAT(Listed(root()), ElementsAre("/f", "/g"));
}

TEST_P(FileIoSuite, ListGivesSizeAndTime) {
  Put("f", "12345");
  int seen = 0;
  ASSERT_THAT(io().List(root(),
                        [&](const FileStatus& file) -> Status {
                          ++seen;
                          EXPECT_EQ(file.location, At("f"));
                          EXPECT_EQ(file.size, 5);
                          // Within a day of now: the unit is milliseconds since 1970.
                          const auto age = Clock::System().Now() - file.modified;
                          EXPECT_LT(std::chrono::abs(age), std::chrono::hours(24));
                          return {};
                        }),
              IsOk());
  EXPECT_EQ(seen, 1);
}

TEST_P(FileIoSuite, ListEndsWithTheVisitorsError) {
  Put("a");
  Put("b");
  int seen = 0;
  EXPECT_THAT(io().List(root(),
                        [&](const FileStatus&) -> Status {
                          ++seen;
                          return Error(Code::kCancelled, "enough");
                        }),
              HasError(Code::kCancelled, "enough"));
  EXPECT_EQ(seen, 1);
}

TEST_P(FileIoSuite, AVisitorMayDelete) {
  for (int i = 0; i < 50; ++i) Put("d/" + std::to_string(i));
  EXPECT_THAT(io().List(root(), [&](const FileStatus& file) { return io().Delete(file.location); }),
              IsOk());
  EXPECT_THAT(Listed(root()), IsEmpty());
}

TEST_P(FileIoSuite, ListFoldersShowsDirectSubFoldersSorted) {
  for (const char* name : {"w/b/x", "w/a/y/z", "w/file", "other/q/r"}) Put(name);
  EXPECT_THAT(io().ListFolders(At("w")), IsOkAndHolds(ElementsAre("a", "b")));
  EXPECT_THAT(io().ListFolders(At("w/")), IsOkAndHolds(ElementsAre("a", "b")));
  EXPECT_THAT(io().ListFolders(At("missing")), IsOkAndHolds(IsEmpty()));
}

TEST_P(FileIoSuite, MakeFolderMakesParentsAndMayBeRepeated) {
  EXPECT_THAT(io().MakeFolder(At("a/b/c")), IsOk());
  EXPECT_THAT(io().MakeFolder(At("a/b/c")), IsOk());
  if (GetParam().has_real_folders) {
    EXPECT_THAT(io().ListFolders(At("a/b")), IsOkAndHolds(ElementsAre("c")));
  }
  Put("a/b/c/f");
  EXPECT_THAT(io().ListFolders(At("a/b")), IsOkAndHolds(ElementsAre("c")));
}

TEST_P(FileIoSuite, DeleteEmptyFolderRefusesTheRest) {
  Put("t/a/f");
  EXPECT_THAT(io().DeleteEmptyFolder(At("t")), HasCode(Code::kInvalidArgument));
  EXPECT_THAT(io().DeleteEmptyFolder(At("t/a")), HasCode(Code::kInvalidArgument));
  EXPECT_THAT(io().Exists(At("t/a/f")), IsOkAndHolds(true));
  ASSERT_THAT(io().Delete(At("t/a/f")), IsOk());
  EXPECT_THAT(io().DeleteEmptyFolder(At("t/a")), IsOk());
  EXPECT_THAT(io().ListFolders(At("t")), IsOkAndHolds(IsEmpty()));
  EXPECT_THAT(io().DeleteEmptyFolder(At("missing")), IsOk());
}

TEST_P(FileIoSuite, DeleteFolderTakesAllBelowAndNothingElse) {
  for (const char* name : {"t/a", "t/b/c", "t2/d"}) Put(name);
  EXPECT_THAT(io().DeleteFolder(At("t")), IsOk());
  EXPECT_THAT(Listed(root()), ElementsAre("/t2/d"));
  EXPECT_THAT(io().DeleteFolder(At("t")), IsOk());
  EXPECT_THAT(io().ListFolders(root()), IsOkAndHolds(ElementsAre("t2")));
}

// Spellings are opaque: nothing is decoded, encoded or normalised.
TEST_P(FileIoSuite, OddNamesAreTakenLetterForLetter) {
  const std::vector<std::string> names = {
      "a b",   "a%20b", "a+b", "%2F", "q?x=1#y",  "p=\xc3\xa4\xe6\x97\xa5\xf0\x9f\x98\x80",
      "'\"`$", "b\\c",  "~",   "a:b", "tab\there"};
  for (const std::string& name : names) Put("odd/" + name + "/" + name, name);
  for (const std::string& name : names) {
    EXPECT_THAT(ReadFile(io(), At("odd/" + name + "/" + name)), IsOkAndHolds(name));
  }
  auto sorted = names;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_THAT(io().ListFolders(At("odd")), IsOkAndHolds(::testing::ElementsAreArray(sorted)));
  EXPECT_THAT(io().Delete(At("odd/a b/a b")), IsOk());
  EXPECT_THAT(io().Exists(At("odd/a%20b/a%20b")), IsOkAndHolds(true));
}

TEST_P(FileIoSuite, ASourceReadsOnFromItsOffset) {
  std::string bytes;
  for (int i = 0; i < 10'000; ++i) bytes += static_cast<char>('a' + i % 23);
  Put("f", bytes);
  IW_ASSERT_OK_AND_ASSIGN(const auto file, io().Open(At("f")));
  for (const std::size_t buffer : {std::size_t{1}, std::size_t{64}, std::size_t{100'000}}) {
    InputFileSource source(*file, 17, buffer);
    std::string got;
    std::size_t step = 1;
    for (;;) {
      std::string chunk(step, '?');
      IW_ASSERT_OK_AND_ASSIGN(const std::size_t n, source.Read(chunk));
      if (n == 0) break;
      got += chunk.substr(0, n);
      step = step * 2 % 199 + 1;
    }
    EXPECT_EQ(got, bytes.substr(17));
  }
}

}  // namespace icewright
