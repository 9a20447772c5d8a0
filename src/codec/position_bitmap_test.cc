#include "codec/position_bitmap.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "codec/compression.h"
#include "testing/matchers.h"
#include "testing/paths.h"

namespace icewright {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

constexpr std::int64_t kKey = std::int64_t{1} << 32;
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

std::vector<std::int64_t> Members(const PositionBitmap& bitmap) {
  std::vector<std::int64_t> out;
  bitmap.ForEach([&](std::int64_t position) { out.push_back(position); });
  return out;
}

TEST(PositionBitmapTest, StartsEmpty) {
  const PositionBitmap bitmap;
  EXPECT_TRUE(bitmap.empty());
  EXPECT_EQ(bitmap.cardinality(), 0);
  EXPECT_FALSE(bitmap.Contains(0));
  EXPECT_EQ(bitmap.CountRange(0, kMax), 0);
  EXPECT_THAT(Members(bitmap), ElementsAre());
}

TEST(PositionBitmapTest, HoldsPositionsOfAllSizes) {
  PositionBitmap bitmap;
  for (const std::int64_t p : {kMax, std::int64_t{0}, kKey, kKey - 1, 7 * kKey + 5, kKey}) {
    bitmap.Add(p);
  }
  EXPECT_EQ(bitmap.cardinality(), 5);
  EXPECT_THAT(Members(bitmap), ElementsAre(0, kKey - 1, kKey, 7 * kKey + 5, kMax));
  EXPECT_TRUE(bitmap.Contains(kMax));
  EXPECT_FALSE(bitmap.Contains(kMax - 1));
  EXPECT_FALSE(bitmap.Contains(2 * kKey));
}

TEST(PositionBitmapTest, NegativePositionsNameNoRow) {
  PositionBitmap bitmap;
  bitmap.Add(-1);
  bitmap.Add(std::numeric_limits<std::int64_t>::min());
  EXPECT_TRUE(bitmap.empty());
  bitmap.AddRange(-5, 2);
  EXPECT_THAT(Members(bitmap), ElementsAre(0, 1));
  EXPECT_FALSE(bitmap.Contains(-1));
  EXPECT_EQ(bitmap.CountRange(-10, 1), 1);
}

TEST(PositionBitmapTest, EmptyAndReversedRangesAddNothing) {
  PositionBitmap bitmap;
  bitmap.AddRange(5, 5);
  bitmap.AddRange(6, 5);
  bitmap.AddRange(kMax, 0);
  EXPECT_TRUE(bitmap.empty());
}

TEST(PositionBitmapTest, RangesCrossKeys) {
  PositionBitmap bitmap;
  bitmap.AddRange(kKey - 2, kKey + 2);
  EXPECT_THAT(Members(bitmap), ElementsAre(kKey - 2, kKey - 1, kKey, kKey + 1));
  bitmap.AddRange(5 * kKey - 1, 7 * kKey + 1);
  EXPECT_EQ(bitmap.cardinality(), 4 + 2 * kKey + 2);
  EXPECT_EQ(bitmap.CountRange(0, kMax), 4 + 2 * kKey + 2);
  EXPECT_EQ(bitmap.CountRange(5 * kKey, 6 * kKey), kKey);
  EXPECT_EQ(bitmap.CountRange(5 * kKey - 5, 6 * kKey + 9), kKey + 10);
  EXPECT_TRUE(bitmap.Contains(7 * kKey));
  EXPECT_FALSE(bitmap.Contains(7 * kKey + 1));
}

TEST(PositionBitmapTest, ClonesAndMovesAreIndependent) {
  PositionBitmap bitmap;
  bitmap.Add(1);
  PositionBitmap copy = bitmap.Clone();
  copy.Add(2);
  bitmap.Add(3);
  EXPECT_THAT(Members(bitmap), ElementsAre(1, 3));
  EXPECT_THAT(Members(copy), ElementsAre(1, 2));
  PositionBitmap moved = std::move(copy);
  moved.Add(4);
  EXPECT_THAT(Members(moved), ElementsAre(1, 2, 4));
  moved.Merge(moved);
  EXPECT_EQ(moved.cardinality(), 3);
}

/// Positions near borders of containers and keys, and clusters, so that all kinds of containers
/// appear.
std::int64_t RandomPosition(std::mt19937_64& rng) {
  const std::int64_t keys[] = {0, 1, 2, 5, 0x7ffffffe};
  const std::int64_t base = keys[rng() % 5] * kKey;
  switch (rng() % 4) {
    case 0:
      return base + static_cast<std::int64_t>(rng() % 200'000);
    case 1:
      return base + 65536 * static_cast<std::int64_t>(rng() % 4) +
             static_cast<std::int64_t>(rng() % 3);
    case 2:
      return base + kKey - 1 - static_cast<std::int64_t>(rng() % 70'000);
    default:
      return base + static_cast<std::int64_t>(rng() % kKey);
  }
}

// Oracle: std::set.
TEST(PositionBitmapTest, AgreesWithASetOnRandomHistories) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 rng(seed);
    PositionBitmap bitmap;
    PositionBitmap other;
    std::set<std::int64_t> want;
    for (int step = 0; step < 400; ++step) {
      const std::int64_t p = RandomPosition(rng);
      PositionBitmap& target = rng() % 2 == 0 ? bitmap : other;
      if (rng() % 8 == 0) {
        const std::int64_t end = p + static_cast<std::int64_t>(rng() % 3000);
        target.AddRange(p, end);
        for (std::int64_t i = p; i < end; ++i) want.insert(want.end(), i);
      } else {
        target.Add(p);
        want.insert(p);
      }
    }
    bitmap.Merge(other);
    ASSERT_EQ(bitmap.cardinality(), static_cast<std::int64_t>(want.size()));
    ASSERT_THAT(Members(bitmap), ElementsAreArray(want));
    for (int probe = 0; probe < 300; ++probe) {
      const std::int64_t p = RandomPosition(rng);
      ASSERT_EQ(bitmap.Contains(p), want.count(p) == 1) << p;
      const std::int64_t q = RandomPosition(rng);
      const auto count = q <= p ? 0 : std::distance(want.lower_bound(p), want.lower_bound(q));
      ASSERT_EQ(bitmap.CountRange(p, q), count) << p << " to " << q;
    }
    const Bytes blob = bitmap.SerializeDeletionVector();
    IW_ASSERT_OK_AND_ASSIGN(const auto back, PositionBitmap::ParseDeletionVector(
                                                 blob, static_cast<std::int64_t>(want.size())));
    ASSERT_THAT(Members(back), ElementsAreArray(want));
    ASSERT_EQ(back.SerializeDeletionVector(), blob);
  }
}

// ---- deletion vectors

void AppendBig32(Bytes& out, std::uint32_t value) { AppendLittle(out, __builtin_bswap32(value)); }

/// Length, magic and CRC around a vector.
Bytes Framed(ByteView vector) {
  Bytes checked("\xD1\xD3\x39\x64");
  checked += vector;
  Bytes out;
  AppendBig32(out, static_cast<std::uint32_t>(checked.size()));
  out += checked;
  AppendBig32(out, Crc32(checked));
  return out;
}

Bytes Counted(std::int64_t count, ByteView rest) {
  Bytes out;
  AppendLittle(out, count);
  return out + std::string(rest);
}

/// A key with an array of one value, or with an empty bitmap.
Bytes Keyed(std::uint32_t key, int value) {
  Bytes out;
  AppendLittle(out, key);
  const bool empty = value < 0;
  for (const int word : empty ? std::vector<int>{12346, 0, 0, 0}
                              : std::vector<int>{12346, 0, 1, 0, 0, 0, 16, 0, value}) {
    AppendLittle(out, static_cast<std::uint16_t>(word));
  }
  return out;
}

TEST(DeletionVectorTest, LayoutIsExact) {
  PositionBitmap bitmap;
  bitmap.Add(5);
  EXPECT_EQ(ToHex(bitmap.SerializeDeletionVector().substr(0, 38)),
            "00000022"
            "d1d33964"
            "0100000000000000"
            "00000000"
            "3a30000001000000"
            "00000000"
            "10000000"
            "0500");
  EXPECT_EQ(bitmap.SerializeDeletionVector(), Framed(Counted(1, Keyed(0, 5))));
  EXPECT_EQ(PositionBitmap().SerializeDeletionVector(), Framed(Counted(0, "")));
}

TEST(DeletionVectorTest, IsRunOptimised) {
  PositionBitmap bitmap;
  for (std::int64_t p = 1000; p < 50'000; ++p) bitmap.Add(p);
  EXPECT_EQ(bitmap.SerializeDeletionVector().size(), 24U + 5 + 4 + 2 + 4);
}

TEST(DeletionVectorTest, LeavesKeysWithoutMembersOut) {
  PositionBitmap bitmap;
  bitmap.Add(9 * kKey);
  EXPECT_EQ(bitmap.SerializeDeletionVector(), Framed(Counted(1, Keyed(9, 0))));
}

TEST(DeletionVectorTest, ReadsEmptyBitmapsAndGaps) {
  const Bytes blob =
      Framed(Counted(4, Keyed(0, -1) + Keyed(1, 7) + Keyed(2, -1) + Keyed(0x7fffffff, 65535)));
  IW_ASSERT_OK_AND_ASSIGN(const auto bitmap, PositionBitmap::ParseDeletionVector(blob, 2));
  EXPECT_THAT(Members(bitmap), ElementsAre(kKey + 7, 0x7fffffff * kKey + 65535));
}

TEST(DeletionVectorTest, SaysWhatIsWrong) {
  struct Case {
    Bytes blob;
    const char* message;
  };
  const Bytes good = Framed(Counted(1, Keyed(0, 5)));
  Bytes length = good;
  length[3] ^= 1;
  Bytes magic = good;
  magic[4] ^= 1;
  Bytes crc = good;
  crc.back() = static_cast<char>(crc.back() ^ 1);
  Bytes data = good;
  data[36] ^= 1;
  const Case cases[] = {
      {"", "0 bytes are too few"},
      {good.substr(0, 19), "19 bytes are too few"},
      {good.substr(0, good.size() - 1), "its length is 34, not 33"},
      {good + "x", "its length is 34, not 35"},
      {length, "its length is 35, not 34"},
      {magic, "the magic is missing"},
      {crc, "the CRC is wrong"},
      {data, "the CRC is wrong"},
      {Framed(Counted(2, Keyed(0, 5))), "the bytes end inside it"},
      {Framed(Counted(1, "")), "1 bitmaps do not fit"},
      {Framed(Counted(-1, Keyed(0, 5))), "bitmaps do not fit"},
      {Framed(Counted(1, Keyed(0, 5) + "x")), "1 bytes follow the bitmaps"},
      {Framed(Counted(0, Keyed(0, 5))), "22 bytes follow the bitmaps"},
      {Framed(Counted(2, Keyed(1, 5) + Keyed(1, 5))), "keys are out of order"},
      {Framed(Counted(2, Keyed(1, 5) + Keyed(0, 5))), "keys are out of order"},
      {Framed(Counted(1, Keyed(0x80000000, 5))), "the key 2147483648 is out of range"},
      {Framed(Counted(1, Keyed(3, 5).substr(0, 21))), "key 3: roaring bitmap: the bytes end"},
      {Framed(Counted(2, Keyed(0, 5) + Keyed(1, 5))), "it has 2 positions, not 1"},
      {Framed(Counted(1, Keyed(0, -1))), "it has 0 positions, not 1"},
  };
  for (const Case& c : cases) {
    EXPECT_THAT(PositionBitmap::ParseDeletionVector(c.blob, 1),
                HasError(Code::kCorrupt, HasSubstr(c.message)));
  }
  EXPECT_THAT(PositionBitmap::ParseDeletionVector(good, 1), IsOk());
}

TEST(DeletionVectorTest, FlippedBitsAreNoticed) {
  PositionBitmap bitmap;
  bitmap.AddRange(10, 400);
  bitmap.Add(3 * kKey);
  const Bytes blob = bitmap.SerializeDeletionVector();
  for (std::size_t i = 0; i < blob.size() * 8; ++i) {
    Bytes broken = blob;
    broken[i / 8] = static_cast<char>(broken[i / 8] ^ (1 << (i % 8)));
    ASSERT_THAT(PositionBitmap::ParseDeletionVector(broken, 391), HasCode(Code::kCorrupt)) << i;
  }
}

// Vectors by Java, Spark, Flink and CRoaring 5.2 (with all kinds of containers, several keys, a
// gap). Cardinality and the CRC of the positions, one a line, are CRoaring's.
TEST(DeletionVectorGoldenTest, ReadsWhatOthersWrote) {
  struct Case {
    const char* name;
    std::int64_t cardinality;
    std::uint32_t crc;
  };
  for (const Case& c :
       {Case{"flink-dv", 61, 0x4b978b0d}, Case{"java-dv-1", 1, 0x3aaa63a9},
        Case{"spark-dv", 11, 0xe5cc5af6}, Case{"croaring-empty", 0, 0x00000000},
        Case{"croaring-array", 300, 0xde2f4dde}, Case{"croaring-bitset", 4500, 0x869fdf29},
        Case{"croaring-runs", 6014, 0x907d7ad3}, Case{"croaring-full", 131072, 0x52950a1f},
        Case{"croaring-keys", 8905, 0x794cdf2a}, Case{"croaring-mixed", 30205, 0x1d2a30e3}}) {
    SCOPED_TRACE(c.name);
    std::ifstream in(fmt::format("{}/fuzz/corpus/deletion_vector/{}.bin", SourceFolder(), c.name),
                     std::ios::binary);
    const Bytes vector{std::istreambuf_iterator<char>(in), {}};
    const Bytes blob = Framed(vector);
    IW_ASSERT_OK_AND_ASSIGN(const auto bitmap,
                            PositionBitmap::ParseDeletionVector(blob, c.cardinality));
    std::string lines;
    for (const std::int64_t p : Members(bitmap)) lines += fmt::format("{}\n", p);
    EXPECT_EQ(Crc32(lines), c.crc);
    EXPECT_EQ(bitmap.SerializeDeletionVector(), blob) << "our bytes are the same as theirs";
  }
}

}  // namespace
}  // namespace icewright
