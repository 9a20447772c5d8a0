#include "maintain/key_places.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <utility>

#include "maintain/convert_test_table.h"
#include "maintain/stored_key_places.h"
#include "testing/temp_folder.h"

namespace icewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

/// Two files with ids; keys of the column id.
struct Files {
  Files()
      : f(table.Rows("f", {1, 2, 3, 2})),
        g(table.Rows("g", {2, 9})),
        loaded(table.Load()),
        keys(RowKeys::Make(loaded.shared_metadata(), loaded.shared_io(), {FieldId{1}}).value()) {}

  Bytes KeyOf(int id) {
    Bytes found;
    const DataFile one = table.DeleteIds(table.NewName("key"), {id});
    EXPECT_THAT(keys.VisitDeletes(table.run(), one,
                                  [&](std::int64_t, ByteView key) {
                                    found = key;
                                    return Status();
                                  }),
                IsOk());
    return found;
  }
  std::vector<std::pair<std::uint64_t, std::int64_t>> Find(const KeyPlaces& places, int id) {
    std::vector<std::pair<std::uint64_t, std::int64_t>> out;
    EXPECT_THAT(places.Find({KeyOf(id)},
                            [&](const RowPlace& place) {
                              out.emplace_back(place.file, place.position);
                              return Status();
                            }),
                IsOk());
    std::ranges::sort(out);
    return out;
  }
  std::vector<std::uint64_t> Learn(KeyPlaces& places, const std::vector<const DataFile*>& files) {
    const auto numbers = places.Learn(table.run(), keys, files);
    EXPECT_THAT(numbers, IsOk());
    return numbers ? *numbers : std::vector<std::uint64_t>();
  }

  ConvertTestTable table;
  DataFile f;
  DataFile g;
  Table loaded;
  RowKeys keys;
};

void FindsWhatItLearned(Files& files, KeyPlaces& places) {
  EXPECT_THAT(files.Find(places, 2), IsEmpty());
  const auto first = files.Learn(places, {&files.f});
  ASSERT_THAT(first, SizeIs(1));
  EXPECT_THAT(files.Find(places, 2), ElementsAre(Pair(first[0], 1), Pair(first[0], 3)));
  const auto both = files.Learn(places, {&files.g, &files.f});
  ASSERT_THAT(both, SizeIs(2));
  EXPECT_EQ(both[1], first[0]);
  EXPECT_EQ(places.files_read(), 2) << "each is read once";
  EXPECT_THAT(files.Find(places, 2),
              ElementsAre(Pair(first[0], 1), Pair(first[0], 3), Pair(both[0], 0)));
  EXPECT_THAT(files.Find(places, 9), ElementsAre(Pair(both[0], 1)));
  EXPECT_THAT(files.Find(places, 4), IsEmpty());
}

TEST(KeyPlacesInMemoryTest, FindsWhatItLearned) {
  Files files;
  MemoryBudget budget;
  {
    KeyPlacesInMemory places(budget);
    FindsWhatItLearned(files, places);
    EXPECT_GT(budget.used(), 0);
  }
  EXPECT_EQ(budget.used(), 0);
}

TEST(KeyPlacesInMemoryTest, KeepsOnlyRowsThatAreAskedFor) {
  Files files;
  ASSERT_THAT(files.keys.KeepOnly(files.table.run(), {files.table.DeleteIds("d", {2, 77})}),
              IsOk());
  KeyPlacesInMemory places(files.table.run().memory());
  files.Learn(places, {&files.f, &files.g});
  EXPECT_THAT(files.Find(places, 2), SizeIs(3));
  EXPECT_THAT(files.Find(places, 1), IsEmpty());
}

TEST(KeyPlacesInMemoryTest, StopsAtTheBudget) {
  Files files;
  MemoryBudget budget(300);
  KeyPlacesInMemory places(budget);
  EXPECT_THAT(places.Learn(files.table.run(), files.keys, {&files.f}),
              HasError(Code::kExhausted, HasSubstr("memory limit of 300 bytes")));
}

class StoredKeyPlacesTest : public ::testing::Test {
 protected:
  StoredKeyPlacesTest() {
    settings.target = "main";
    settings.index_path = folder.path();
  }
  Result<OpenedKeyPlaces> TryOpen(bool rebuild = false) {
    return OpenStoredKeyPlaces(files.table.run(), settings, files.loaded.metadata(), layout,
                               rebuild);
  }
  OpenedKeyPlaces Open(bool rebuild = false) {
    auto opened = TryOpen(rebuild);
    EXPECT_THAT(opened, IsOk());
    return std::move(opened).value();
  }
  std::filesystem::path Home() {
    return std::filesystem::path(folder.path()) / files.loaded.metadata().table_uuid / "main";
  }
  void Damage(const std::string& prefix) {
    for (const auto& file : std::filesystem::directory_iterator(Home())) {
      const bool wanted = prefix.starts_with(".")
                              ? file.path().extension() == prefix
                              : file.path().filename().string().starts_with(prefix);
      if (wanted) std::ofstream(file.path(), std::ios::binary) << "this is no database";
    }
  }

  TempFolder folder;
  Files files;
  ConvertSettings settings;
  std::string layout = files.keys.layout();
};

TEST_F(StoredKeyPlacesTest, FindsWhatItLearned) {
  const OpenedKeyPlaces opened = Open();
  EXPECT_EQ(opened.note, "");
  FindsWhatItLearned(files, *opened.places);
}

TEST_F(StoredKeyPlacesTest, TheNextRunKnowsItAll) {
  files.Learn(*Open().places, {&files.f, &files.g});
  const OpenedKeyPlaces again = Open();
  EXPECT_EQ(again.note, "");
  const auto numbers = files.Learn(*again.places, {&files.f, &files.g});
  EXPECT_EQ(again.places->files_read(), 0);
  EXPECT_THAT(files.Find(*again.places, 2), SizeIs(3));
  EXPECT_THAT(files.Find(*again.places, 9), ElementsAre(Pair(numbers[1], 1)));
}

TEST_F(StoredKeyPlacesTest, OtherKeyTypesBeginAnew) {
  files.Learn(*Open().places, {&files.f});
  layout = "1:string;";
  const OpenedKeyPlaces other = Open();
  EXPECT_THAT(other.note, HasSubstr("begun anew: it was made for other key columns"));
  EXPECT_THAT(files.Find(*other.places, 2), IsEmpty());
}

TEST_F(StoredKeyPlacesTest, DamageBeginsAnew) {
  for (const std::string what : {"CURRENT", "MANIFEST", ".sst"}) {
    SCOPED_TRACE(what);
    files.Learn(*Open(true).places, {&files.f});
    Damage(what);
    OpenedKeyPlaces opened = Open();
    if (opened.note.empty()) {
      // Seen only when it is read.
      const auto visit = [](const RowPlace&) { return Status(); };
      EXPECT_THAT(opened.places->Find({files.KeyOf(2)}, visit), HasCode(Code::kCorrupt));
      EXPECT_TRUE(opened.places->is_broken());
      opened.places.reset();
      opened = Open(true);
    }
    EXPECT_THAT(opened.note, HasSubstr("begun anew"));
    files.Learn(*opened.places, {&files.f});
    EXPECT_THAT(files.Find(*opened.places, 2), SizeIs(2));
  }
}

TEST_F(StoredKeyPlacesTest, AnInterruptedFileIsReadAgainAndCountsOnce) {
  {
    const OpenedKeyPlaces opened = Open();
    int opens = 0;
    files.table.io().OnCall([&](int, const IoEvent& event) -> Status {
      if (event.call == IoCall::kOpen && ++opens == 2) return Error(Code::kIo, "gone");
      return {};
    });
    EXPECT_THAT(opened.places->Learn(files.table.run(), files.keys, {&files.f, &files.g}),
                HasError(Code::kIo, HasSubstr("gone")));
    files.table.io().OnCall({});
  }
  const OpenedKeyPlaces again = Open();
  const auto numbers = files.Learn(*again.places, {&files.f, &files.g});
  EXPECT_EQ(again.places->files_read(), 2);
  // Rows of the first attempt may be there, under a number that no file has.
  std::vector<std::pair<std::uint64_t, std::int64_t>> mine;
  for (const auto& [number, position] : files.Find(*again.places, 2)) {
    if (number == numbers[0] || number == numbers[1]) mine.emplace_back(number, position);
  }
  EXPECT_THAT(mine, ElementsAre(Pair(numbers[0], 1), Pair(numbers[0], 3), Pair(numbers[1], 0)));
}

TEST_F(StoredKeyPlacesTest, OneProcessAtATime) {
  const OpenedKeyPlaces opened = Open();
  EXPECT_THAT(TryOpen(), HasError(Code::kLockHeld, HasSubstr(Home().string())));
}

TEST_F(StoredKeyPlacesTest, BranchesAreKeptApartWhateverTheirNames) {
  files.Learn(*Open().places, {&files.f});
  settings.target = "../../x y";
  const OpenedKeyPlaces other = Open();
  EXPECT_THAT(files.Find(*other.places, 2), IsEmpty());
  EXPECT_TRUE(std::filesystem::exists(std::filesystem::path(folder.path()) /
                                      files.loaded.metadata().table_uuid /
                                      "%2e%2e%2f%2e%2e%2fx%20y"));
}

TEST_F(StoredKeyPlacesTest, AFolderThatCannotBeMadeIsNamed) {
  settings.index_path = "/proc/nothing";
  EXPECT_THAT(TryOpen(), HasError(Code::kIo, HasSubstr("index-path: cannot make the folder")));
}

}  // namespace
}  // namespace icewright
