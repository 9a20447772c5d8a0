#include "maintain/deletion_journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/memory_file_io.h"
#include "testing/matchers.h"

namespace icewright {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Location kFolder("memory:/t/metadata");
const Location kJournal = JournalLocation(kFolder, "u1");
const JournalHeader kHeader = {.table_uuid = "uuid",
                               .base_metadata = Location("memory:/t/metadata/v7.metadata.json"),
                               .expired = {SnapshotId{1}, SnapshotId{-2}}};

class DeletionJournalTest : public ::testing::Test {
 protected:
  void Write(const std::vector<DoomedFile>& files) {
    auto writer = JournalWriter::Create(*io_, kJournal, kHeader);
    ASSERT_THAT(writer, IsOk());
    for (const DoomedFile& file : files) ASSERT_THAT(writer->Add(file), IsOk());
    ASSERT_THAT(writer->Close(), IsOk());
  }
  void WriteText(std::string_view text) {
    ASSERT_THAT(WriteFile(*io_, kJournal, text, CreateMode::kAtomicReplace), IsOk());
  }
  Result<std::vector<DoomedFile>> Read() {
    IW_ASSIGN(auto reader, JournalReader::Open(*io_, kJournal));
    std::vector<DoomedFile> files;
    for (DoomedFile file;;) {
      IW_ASSIGN(const bool more, reader.Next(file));
      if (!more) return files;
      files.push_back(file);
    }
  }

  std::shared_ptr<FileIO> io_ = MakeMemoryFileIO();
};

TEST_F(DeletionJournalTest, GivesBackWhatWasWritten) {
  const std::vector<DoomedFile> files = {
      {FileKind::kDataFile, Location("s3://b/a b/\"x\"\\\n%20.parquet"), 17},
      {FileKind::kPositionDeletes, Location("s3://b/\xc3\xa4.puffin"), 1},
      {FileKind::kEqualityDeletes, Location("s3://b/\xff\xfe.parquet"), 2},
      {FileKind::kManifest, Location("m.avro"), std::int64_t{1} << 60},
      {FileKind::kManifestList, Location("snap.avro"), 0},
      {FileKind::kStatistics, Location("s.stats"), 9}};
  Write(files);
  EXPECT_THAT(Read(), IsOkAndHolds(ElementsAreArray(files)));
  IW_ASSERT_OK_AND_ASSIGN(const auto reader, JournalReader::Open(*io_, kJournal));
  EXPECT_EQ(reader.header().table_uuid, "uuid");
  EXPECT_EQ(reader.header().base_metadata, kHeader.base_metadata);
  EXPECT_THAT(reader.header().expired, ElementsAre(SnapshotId{1}, SnapshotId{-2}));
}

TEST_F(DeletionJournalTest, IsAsLongAsItTakes) {
  std::vector<DoomedFile> files;
  for (int i = 0; i < 5000; ++i) {
    files.push_back({FileKind::kDataFile, Location("s3://bucket/" + std::to_string(i)), i});
  }
  Write(files);
  EXPECT_THAT(Read(), IsOkAndHolds(ElementsAreArray(files)));
}

TEST_F(DeletionJournalTest, EmptyIsAJournal) {
  Write({});
  EXPECT_THAT(Read(), IsOkAndHolds(IsEmpty()));
}

TEST_F(DeletionJournalTest, DoesNotExistBeforeItIsClosed) {
  auto writer = JournalWriter::Create(*io_, kJournal, kHeader);
  ASSERT_THAT(writer, IsOk());
  ASSERT_THAT(writer->Add({FileKind::kDataFile, Location("a"), 1}), IsOk());
  EXPECT_THAT(ListJournals(*io_, kFolder), IsOkAndHolds(IsEmpty()));
}

// Cut anywhere, or with any byte changed, it never reads as a whole journal with other files.
TEST_F(DeletionJournalTest, APartIsNoJournal) {
  const std::vector<DoomedFile> files = {{FileKind::kDataFile, Location("aa"), 17},
                                         {FileKind::kManifest, Location("bb"), 3}};
  Write(files);
  IW_ASSERT_OK_AND_ASSIGN(const Bytes whole, ReadFile(*io_, kJournal));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    WriteText(whole.substr(0, length));
    EXPECT_THAT(Read(), HasError(Code::kCorrupt, HasSubstr(kJournal.text()))) << length;
  }
  for (std::size_t at = 0; at < whole.size(); ++at) {
    Bytes changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    WriteText(changed);
    Read().has_value();  // must not crash
  }
}

struct BrokenCase {
  const char* name;
  const char* text;
  Code code = Code::kCorrupt;
};

class BrokenJournalTest : public DeletionJournalTest,
                          public ::testing::WithParamInterface<BrokenCase> {};

TEST_P(BrokenJournalTest, IsRefused) {
  WriteText(GetParam().text);
  EXPECT_THAT(Read(), HasError(GetParam().code, HasSubstr(kJournal.text())));
}

#define HEADER "{\"icewright-deletions\":1,\"table-uuid\":\"u\",\"base-metadata\":\"m\"}\n"
#define SNAPSHOT "[\"snapshot\",1]\n"
INSTANTIATE_TEST_SUITE_P(
    Table, BrokenJournalTest,
    ::testing::Values(
        BrokenCase{"NoJson", "hello\n"}, BrokenCase{"NoObject", "[1]\n"},
        BrokenCase{"NoVersion", "{\"a\":1}\n"},
        BrokenCase{"NewerVersion", "{\"icewright-deletions\":2}\n", Code::kUnsupported},
        BrokenCase{"NoSnapshot", HEADER "{\"files\":0}\n"},
        BrokenCase{"UnknownKind", HEADER SNAPSHOT "[\"folder\",1,\"a\"]\n{\"files\":1}\n"},
        BrokenCase{"NoPath", HEADER SNAPSHOT "[\"manifests\",1]\n{\"files\":1}\n"},
        BrokenCase{"EmptyPath", HEADER SNAPSHOT "[\"manifests\",1,\"\"]\n{\"files\":1}\n"},
        BrokenCase{"BadHex", HEADER SNAPSHOT "[\"manifests\",1,null,\"f\"]\n{\"files\":1}\n"},
        BrokenCase{"WrongCount", HEADER SNAPSHOT "[\"manifests\",1,\"a\"]\n{\"files\":2}\n"},
        BrokenCase{"SomethingFollows", HEADER SNAPSHOT "{\"files\":0}\n[]\n"}),
    [](const auto& test) { return test.param.name; });

TEST_F(DeletionJournalTest, ALineHasAnEnd) {
  WriteText(std::string(3 << 20, '['));
  EXPECT_THAT(Read(), HasError(Code::kCorrupt, HasSubstr("too long")));
}

TEST_F(DeletionJournalTest, OnlyJournalsOfTheFolderAreListed) {
  for (const char* name :
       {"icewright-deletions-b.json", "icewright-deletions-a.json", "v1.metadata.json",
        "icewright-deletions-c.json.tmp", "sub/icewright-deletions-d.json"}) {
    ASSERT_THAT(WriteFile(*io_, kFolder.Child(name), "x", CreateMode::kNew), IsOk());
  }
  EXPECT_THAT(
      ListJournals(*io_, kFolder),
      IsOkAndHolds(ElementsAre(JournalLocation(kFolder, "a"), JournalLocation(kFolder, "b"))));
}

}  // namespace
}  // namespace icewright
