// Whatever becomes of the folder of an index, the next conversion has the right
// rows, or names the folder in its error; one that may choose never fails.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/fsuid.h>
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <sstream>
#include <utility>

#include "maintain/convert_test_table.h"
#include "maintain/stored_key_places.h"
#include "testing/temp_folder.h"

namespace icewright {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// The files of a folder with their bytes.
using Image = std::map<std::string, Bytes>;

Image Take(const fs::path& folder) {
  Image image;
  for (const auto& file : fs::directory_iterator(folder)) {
    std::ostringstream bytes;
    bytes << std::ifstream(file.path(), std::ios::binary).rdbuf();
    image[file.path().filename().string()] = bytes.str();
  }
  return image;
}

void Put(const Image& image, const fs::path& folder) {
  fs::remove_all(folder);
  fs::create_directories(folder);
  for (const auto& [name, bytes] : image) {
    std::ofstream(folder / name, std::ios::binary).write(bytes.data(), std::ssize(bytes));
  }
}

/// Logs for people do not make two images differ.
bool SameIndex(Image a, Image b) {
  const auto is_log = [](const auto& file) { return file.first.starts_with("LOG"); };
  std::erase_if(a, is_log);
  std::erase_if(b, is_log);
  return a == b;
}

std::vector<int> Numbers(int first, int count) {
  std::vector<int> ids(static_cast<std::size_t>(count));
  std::iota(ids.begin(), ids.end(), first);
  return ids;
}

struct Damage {
  const char* name;
  std::function<void(Bytes&)> apply;  ///< Unset: the file is gone.
};

const std::vector<Damage>& Damages() {
  static const std::vector<Damage> damages = {
      {"gone", {}},
      {"empty", [](Bytes& bytes) { bytes.clear(); }},
      {"half", [](Bytes& bytes) { bytes.resize(bytes.size() / 2); }},
      {"a byte short", [](Bytes& bytes) { bytes.resize(bytes.size() - 1); }},
      {"a byte flipped", [](Bytes& bytes) { bytes[bytes.size() / 2] ^= '\x20'; }},
      // Of tables of keys, among those that are read.
      {"an early byte flipped", [](Bytes& bytes) { bytes[bytes.size() / 20] ^= '\x20'; }},
  };
  return damages;
}

/// Two conversions filled an index; a third waits. It is tried again and again,
/// each time with another index.
class StoredKeyPlacesDamageSweepTest : public ::testing::Test, public ConvertTestTable {
 protected:
  StoredKeyPlacesDamageSweepTest() {
    Upsert({}, Numbers(0, 700));  // f1
    Upsert({5, 300}, {});
    EXPECT_THAT(Convert(Indexed()), IsOk());
    older = Take(Home());
    Upsert({}, Numbers(1000, 100));  // f2
    Upsert({7, 1001}, {7});
    io().OnCall([&, home = Home()](int, const IoEvent&) -> Status {
      Image image = Take(home);
      if (crashed.empty() || !SameIndex(crashed.back(), image)) crashed.push_back(image);
      return {};
    });
    EXPECT_THAT(Convert(Indexed()), IsOk());
    io().OnCall({});
    EXPECT_EQ(Count("read-data-file-num"), 1) << "f2: f1 was known";
    closed = Take(Home());
    waiting = Upsert({9, 1050}, {9});
    want = LiveRows();
  }

  ConvertEqualityDeletesOptions Indexed() {
    return {.resolve = "indexed", .index_path = folder.path()};
  }
  fs::path Home(const std::string& branch = "main") {
    return fs::path(folder.path()) / Load().metadata().table_uuid / branch;
  }

  /// The third conversion, as if for the first time.
  Status ConvertAgain(const ConvertEqualityDeletesOptions& options) {
    BeforeIt();
    const Status status = Convert(options);
    made = report.snapshot_ids;
    return status;
  }
  void BeforeIt() {
    RollBackTo(waiting);
    if (!made.empty()) Update({RemoveSnapshots{std::exchange(made, {})}});
  }
  void ExpectRightRows() {
    EXPECT_TRUE(LiveRows() == want);
    EXPECT_EQ(EqualityDeleteFiles(), 0);
  }
  /// `prepare` makes the index that the runs find.
  void ExpectRightOrNamed(const std::function<void()>& prepare) {
    prepare();
    const Status status = ConvertAgain(Indexed());
    if (status) {
      ExpectRightRows();
      if (report.notes.empty() && Count("read-data-file-num") == 0) return;
      const bool is_new = !report.notes.empty();
      EXPECT_THAT(ConvertAgain(Indexed()), IsOk());
      ExpectRightRows();
      EXPECT_EQ(Count("read-data-file-num"), 0) << "what was left behind is whole";
      EXPECT_THAT(report.notes, IsEmpty());
      if (!is_new) return;
    } else {
      EXPECT_THAT(status.error().message(), HasSubstr(folder.path()));
      EXPECT_EQ(EqualityDeleteFiles(), 1);
      ++refused;
    }
    prepare();
    EXPECT_THAT(ConvertAgain({.index_path = folder.path()}), IsOk());
    ExpectRightRows();
  }
  void ExpectRightOrNamed(const Image& image) {
    ExpectRightOrNamed([&] { Put(image, Home()); });
  }

  void TryDamages(const Image& whole, const std::string& name) {
    for (const Damage& damage : Damages()) {
      SCOPED_TRACE(name + " " + damage.name);
      Image image = whole;
      if (!damage.apply) {
        image.erase(name);
      } else if (!image[name].empty()) {
        damage.apply(image[name]);
      }
      ExpectRightOrNamed(image);
    }
  }

  TempFolder folder;
  Image older;                 ///< After the first conversion.
  std::vector<Image> crashed;  ///< As the second one went on, where they differ.
  Image closed;                ///< After it.
  SnapshotId waiting{};        ///< The head that a conversion is to convert.
  std::vector<std::string> want;
  std::vector<SnapshotId> made;  ///< By the third conversion.
  int refused = 0;
};

TEST_F(StoredKeyPlacesDamageSweepTest, EveryFileInEveryWay) {
  for (const auto& [name, bytes] : closed) TryDamages(closed, name);
  const Image& open = crashed.back();
  for (const auto& [name, bytes] : open) {
    if (name.starts_with("MANIFEST") || name.ends_with(".log")) TryDamages(open, name);
  }
  EXPECT_EQ(refused, 0) << "a damaged index is begun anew";
}

/// What a killed run leaves.
TEST_F(StoredKeyPlacesDamageSweepTest, ARunKilledAtAnyCall) {
  EXPECT_THAT(crashed, SizeIs(::testing::Ge(3)));
  for (std::size_t i = 0; i < crashed.size(); ++i) {
    SCOPED_TRACE(i);
    ExpectRightOrNamed(crashed[i]);
  }
  EXPECT_EQ(refused, 0);
}

/// What a copy leaves that was made file by file while a run went on.
TEST_F(StoredKeyPlacesDamageSweepTest, FilesOfTwoMoments) {
  std::vector<Image> moments = crashed;
  moments.push_back(closed);
  for (std::size_t i = 0; i + 1 < moments.size(); ++i) {
    for (std::size_t j = i + 1; j < moments.size(); ++j) {
      for (const auto& [name, bytes] : moments[i]) {
        if (name.starts_with("LOG")) continue;
        SCOPED_TRACE(fmt::format("{} of moment {}, all else of {}", name, i, j));
        Image image = moments[j];
        image[name] = bytes;
        if (!SameIndex(image, moments[j])) ExpectRightOrNamed(image);
      }
    }
  }
  EXPECT_EQ(refused, 0);
}

TEST_F(StoredKeyPlacesDamageSweepTest, OlderAndNewerThanTheTable) {
  ExpectRightOrNamed(older);
  Upsert({11}, {12});
  ASSERT_THAT(Convert(Indexed()), IsOk());
  ExpectRightOrNamed(Take(Home()));
  EXPECT_EQ(refused, 0);
}

/// An index may be removed at any time, also while a run has it open.
TEST_F(StoredKeyPlacesDamageSweepTest, TheFolderGoesAwayAtAnyCall) {
  for (int step = 0;; step += 9) {
    SCOPED_TRACE(step);
    Put(older, Home());
    BeforeIt();
    Table loaded = Load();
    const int base = io().calls();
    io().OnCall([&](int n, const IoEvent&) -> Status {
      if (n == base + step) fs::remove_all(folder.path());
      return {};
    });
    const Status status = ConvertLoaded(loaded, Indexed());
    io().OnCall({});
    made = report.snapshot_ids;
    if (status) {
      ExpectRightRows();
    } else {
      EXPECT_THAT(status.error().message(), HasSubstr(folder.path()));
      ++refused;
    }
    EXPECT_THAT(ConvertAgain(Indexed()), IsOk());
    ExpectRightRows();
    if (HasFailure() || io().calls() <= base + step) break;
  }
  EXPECT_GT(refused, 0) << "in the middle of an indexed run";
}

/// No file may become larger than a limit, as on a disk that is full.
class SmallFiles {
 public:
  explicit SmallFiles(rlim_t bytes) : handler_(::signal(SIGXFSZ, SIG_IGN)) {
    EXPECT_EQ(::getrlimit(RLIMIT_FSIZE, &before_), 0);
    const rlimit now{.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &now), 0);
  }
  ~SmallFiles() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  sighandler_t handler_;
};

TEST_F(StoredKeyPlacesDamageSweepTest, WritesFailFromSomeByteOn) {
  for (const rlim_t bytes : {0, 15, 40, 100, 300, 600, 1500, 6000}) {
    SCOPED_TRACE(bytes);
    Put(older, Home());
    const auto limited = [&](const ConvertEqualityDeletesOptions& options) {
      BeforeIt();
      const SmallFiles small(bytes);
      return ConvertAgain(options);
    };
    if (const Status status = limited(Indexed())) {
      ExpectRightRows();
    } else {
      EXPECT_THAT(status.error().message(), HasSubstr(folder.path()));
      ++refused;
      EXPECT_THAT(limited({.index_path = folder.path()}), IsOk());
      ExpectRightRows();
    }
    EXPECT_THAT(ConvertAgain(Indexed()), IsOk());
    ExpectRightRows();
  }
  EXPECT_GT(refused, 0);
}

/// The calling thread may read files of others and not write them, even if it
/// is root's.
class ReadOnly {
 public:
  explicit ReadOnly(const fs::path& folder) : folder_(folder) {
    fs::permissions(folder_, fs::perms(0555));
    ::setfsuid(65534);
  }
  ~ReadOnly() {
    ::setfsuid(::geteuid());
    fs::permissions(folder_, fs::perms(0755));
  }

 private:
  fs::path folder_;
};

TEST_F(StoredKeyPlacesDamageSweepTest, AFolderThatCannotBeWritten) {
  for (const fs::path& folder_of : {Home(), Home().parent_path(), fs::path(folder.path())}) {
    SCOPED_TRACE(folder_of.string());
    Put(closed, Home());
    if (folder_of != Home()) {
      for (const auto& child : fs::directory_iterator(folder_of)) fs::remove_all(child.path());
    }
    const ReadOnly read_only(folder_of);
    const Status status = ConvertAgain(Indexed());
    EXPECT_THAT(status, HasError(Code::kDenied, HasSubstr(folder.path())));
    EXPECT_THAT(ConvertAgain({.index_path = folder.path()}), IsOk());
    EXPECT_THAT(report.notes, ElementsAre(HasSubstr("the index is not used")));
    ExpectRightRows();
  }
}

TEST_F(StoredKeyPlacesDamageSweepTest, AnIndexThatAnotherProcessHasOpen) {
  const Table table = Load();
  const auto keys = RowKeys::Make(table.shared_metadata(), table.shared_io(), {FieldId{1}});
  ConvertSettings settings{.staging = "main", .target = "main", .index_path = folder.path()};
  {
    const auto held = OpenStoredKeyPlaces(run(), settings, table.metadata(), keys->layout());
    ASSERT_THAT(held, IsOk());
    EXPECT_THAT(ConvertAgain(Indexed()), HasError(Code::kLockHeld, HasSubstr(folder.path())));
    EXPECT_THAT(ConvertAgain({.index_path = folder.path()}), IsOk());
    EXPECT_THAT(report.notes, ElementsAre(HasSubstr("the index is not used")));
    ExpectRightRows();
  }
  EXPECT_THAT(ConvertAgain(Indexed()), IsOk());
  ExpectRightRows();
}

TEST_F(StoredKeyPlacesDamageSweepTest, AnIndexOfAnotherKey) {
  {
    fs::remove_all(Home());
    const Table table = Load();
    const auto keys = RowKeys::Make(table.shared_metadata(), table.shared_io(), {FieldId{2}});
    ConvertSettings settings{.staging = "main", .target = "main", .index_path = folder.path()};
    auto other = OpenStoredKeyPlaces(run(), settings, table.metadata(), keys->layout());
    ASSERT_THAT(other, IsOk());
    const auto live = Live();
    std::vector<const DataFile*> files;
    for (const DataFile& file : live) {
      if (file.content == FileContent::kData) files.push_back(&file);
    }
    ASSERT_THAT(other->places->Learn(run(), *keys, files), IsOk());
  }
  ExpectRightOrNamed(Take(Home()));
  EXPECT_EQ(refused, 0);
}

TEST_F(StoredKeyPlacesDamageSweepTest, AnIndexOfAnotherBranch) {
  Branch("other", waiting);
  Put(closed, Home("other"));
  ConvertEqualityDeletesOptions options = Indexed();
  options.target_branch = "other";
  ASSERT_THAT(Convert(options), IsOk());
  EXPECT_EQ(Count("read-data-file-num"), 1) << "what it knows of files is right here, too";
  EXPECT_TRUE(LiveRows("other") == want);
}

/// A table made anew has files of the same names and sizes with other rows.
TEST_F(StoredKeyPlacesDamageSweepTest, AnIndexOfAnotherTable) {
  Recreate();
  made.clear();
  std::vector<int> ids = Numbers(0, 700);
  std::ranges::reverse(ids);
  const DataFile f = Rows("f1", ids);
  Commit({.added_data_files = {{f}}});
  waiting = Upsert({9, 20}, {});
  want = LiveRows();
  EXPECT_THAT(want, SizeIs(698));
  ExpectRightOrNamed(closed);
  EXPECT_EQ(refused, 0);
}

/// Every byte and every length of small files; of tables of keys the last
/// bytes, and some others.
class StoredKeyPlacesDamageSlowTest : public StoredKeyPlacesDamageSweepTest {};

TEST_F(StoredKeyPlacesDamageSlowTest, BytesAndLengths) {
  for (const Image& whole : {closed, crashed.back()}) {
    for (const auto& [name, bytes] : whole) {
      if (name.starts_with("LOG") || name.starts_with("OPTIONS")) continue;
      const bool keys = name.ends_with(".sst");
      for (std::size_t i = 0; i < bytes.size(); ++i) {
        if (keys && i + 800 < bytes.size() && i % 23 != 0) continue;
        SCOPED_TRACE(fmt::format("{} byte {} of {}", name, i, bytes.size()));
        Image image = whole;
        image[name][i] ^= '\x01';
        ExpectRightOrNamed(image);
        if (keys) continue;
        image[name] = bytes.substr(0, i);
        ExpectRightOrNamed(image);
      }
    }
  }
  EXPECT_EQ(refused, 0);
}

}  // namespace
}  // namespace icewright
