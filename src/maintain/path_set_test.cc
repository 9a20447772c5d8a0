#include "maintain/path_set.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>

namespace icewright {
namespace {

// Published values of MurmurHash3_x64_128 with seed 0.
TEST(PathSetTest, HashesAreMurmur3) {
  EXPECT_EQ(HashPath("hello"), (PathHash{0xcbd8a7b341bd9b02, 0x5b1e906a48ae1d19}));
  EXPECT_EQ(HashPath("The quick brown fox jumps over the lazy dog"),
            (PathHash{0xe34bbc7bbc071b6c, 0x7a433ca9c49a9347}));
  EXPECT_EQ(HashPath(""), PathHash());
}

TEST(PathSetTest, AgreesWithAnOrdinarySet) {
  std::mt19937 rng(20240601);
  std::set<std::string> expected;
  PathSet set;
  for (int i = 0; i < 20000; ++i) {
    const std::string path = "s3://b/t/data/" + std::to_string(rng() % 12000) + ".parquet";
    EXPECT_EQ(set.Insert(path), expected.insert(path).second);
    EXPECT_EQ(set.size(), expected.size());
  }
  for (int i = 0; i < 12000; ++i) {
    const std::string path = "s3://b/t/data/" + std::to_string(i) + ".parquet";
    EXPECT_EQ(set.Contains(path), expected.contains(path));
  }
}

TEST(PathSetTest, TheHashThatMarksAFreeSlotIsAPathLikeAnyOther) {
  PathSet set;
  EXPECT_FALSE(set.Contains(""));
  EXPECT_TRUE(set.Insert(""));
  EXPECT_FALSE(set.Insert(""));
  EXPECT_TRUE(set.Contains(""));
  EXPECT_EQ(set.size(), 1U);
}

TEST(PathSetTest, MemoryIsKnownBeforeItIsTaken) {
  PathSet set;
  for (int i = 0; i < 5000; ++i) {
    const std::int64_t allowed = set.BytesWith(1);
    set.Insert(std::to_string(i));
    EXPECT_LE(set.bytes(), allowed);
  }
  EXPECT_LE(set.bytes(), 5000 * 16 * 3) << "at least a third full";
}

}  // namespace
}  // namespace icewright
