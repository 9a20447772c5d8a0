#include "data/key_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

#include "testing/matchers.h"

namespace icewright {
namespace {

constexpr SequenceNumber Seq(std::int64_t n) { return SequenceNumber{n}; }

TEST(IntegerKeySetTest, NewestDeleteDecides) {
  MemoryBudget budget;
  IntegerKeySet keys(budget);
  EXPECT_FALSE(keys.Deletes(0, Seq(0))) << "empty";
  ASSERT_THAT(keys.Add(7, Seq(5)), IsOk());
  ASSERT_THAT(keys.Add(7, Seq(3)), IsOk());
  EXPECT_TRUE(keys.Deletes(7, Seq(4)));
  EXPECT_FALSE(keys.Deletes(7, Seq(5)));
  EXPECT_FALSE(keys.Deletes(8, Seq(0)));
  EXPECT_EQ(keys.size(), 1U);
}

// Oracle: std::map.
TEST(IntegerKeySetTest, AgreesWithAMapOnRandomKeys) {
  MemoryBudget budget;
  IntegerKeySet keys(budget);
  std::map<std::int64_t, std::int64_t> oracle;
  std::mt19937_64 rng(20240601);
  // Few bits in random places: neighbours, multiples of powers of two, extremes.
  const auto key = [&] { return static_cast<std::int64_t>((rng() % 64) << (rng() % 64)); };
  for (int i = 0; i < 20000; ++i) {
    const std::int64_t k = key();
    const auto seq = static_cast<std::int64_t>(rng() % 20);
    ASSERT_THAT(keys.Add(k, Seq(seq)), IsOk());
    const auto [it, fresh] = oracle.emplace(k, seq);
    if (!fresh) it->second = std::max(it->second, seq);
  }
  EXPECT_EQ(keys.size(), oracle.size());
  for (int i = 0; i < 20000; ++i) {
    const std::int64_t k = key();
    const auto seq = static_cast<std::int64_t>(rng() % 20);
    const auto it = oracle.find(k);
    ASSERT_EQ(keys.Deletes(k, Seq(seq)), it != oracle.end() && it->second > seq) << k;
  }
}

TEST(ByteKeySetTest, AgreesWithAMapOnRandomKeys) {
  MemoryBudget budget;
  ByteKeySet keys(budget);
  std::map<std::string, std::int64_t> oracle;
  std::mt19937_64 rng(20240601);
  const auto key = [&] { return std::string(rng() % 20, static_cast<char>('a' + rng() % 9)); };
  for (int i = 0; i < 5000; ++i) {
    const std::string k = key() + key();
    const auto seq = static_cast<std::int64_t>(rng() % 20);
    ASSERT_THAT(keys.Add(k, ByteKeySet::Hash(k), Seq(seq)), IsOk());
    const auto [it, fresh] = oracle.emplace(k, seq);
    if (!fresh) it->second = std::max(it->second, seq);
  }
  EXPECT_EQ(keys.size(), oracle.size());
  for (int i = 0; i < 20000; ++i) {
    const std::string k = key() + key();
    const auto seq = static_cast<std::int64_t>(rng() % 20);
    const auto it = oracle.find(k);
    ASSERT_EQ(keys.Deletes(k, ByteKeySet::Hash(k), Seq(seq)),
              it != oracle.end() && it->second > seq)
        << k;
  }
}

// Trailing zeros and lengths are part of a key.
TEST(ByteKeySetTest, HashTellsLengthsApart) {
  std::map<std::uint64_t, std::string> seen;
  for (std::size_t length = 0; length < 40; ++length) {
    const std::string key(length, '\0');
    const auto [it, fresh] = seen.emplace(ByteKeySet::Hash(key), key);
    EXPECT_TRUE(fresh) << length << " and " << it->second.size();
  }
}

TEST(KeySetTest, ReservedRoomIsJustEnough) {
  constexpr std::int64_t kKeys = 100'000;
  MemoryBudget budget;
  IntegerKeySet integers(budget);
  ASSERT_THAT(integers.Reserve(kKeys), IsOk());
  const std::int64_t reserved = budget.used();
  EXPECT_LE(reserved, kKeys * kIntegerKeyBytes);
  for (std::int64_t i = 0; i < kKeys; ++i) ASSERT_THAT(integers.Add(i * 1024, Seq(1)), IsOk());
  EXPECT_EQ(budget.used(), reserved) << "never moved";
  EXPECT_THAT(integers.Reserve(10), IsOk()) << "less than there is";
  for (std::int64_t i = 0; i < kKeys; ++i) {
    ASSERT_TRUE(integers.Deletes(i * 1024, Seq(0)));
    ASSERT_FALSE(integers.Deletes(i * 1024 + 1, Seq(0)));
  }
  MemoryBudget small(2048);
  IntegerKeySet refused(small);
  EXPECT_THAT(refused.Reserve(kKeys), HasCode(Code::kExhausted));
  EXPECT_THAT(refused.Add(1, Seq(1)), IsOk()) << "grows as it can";
}

TEST(KeySetTest, StopsAtTheBudgetAndGivesBack) {
  MemoryBudget budget(16 << 10);
  {
    IntegerKeySet keys(budget);
    Status status;
    std::int64_t added = 0;
    while ((status = keys.Add(added, Seq(1)))) ++added;
    EXPECT_THAT(status, HasError(Code::kExhausted, ::testing::HasSubstr("equality deletes")));
    EXPECT_EQ(keys.size(), static_cast<std::size_t>(added));
    EXPECT_TRUE(keys.Deletes(added - 1, Seq(0))) << "what was added stays";
  }
  EXPECT_EQ(budget.used(), 0);
  {
    ByteKeySet keys(budget);
    Status status;
    int added = 0;
    const auto key = [](int n) { return std::string(100, 'x') + std::to_string(n); };
    while ((status = keys.Add(key(added), ByteKeySet::Hash(key(added)), Seq(1)))) ++added;
    EXPECT_THAT(status, HasCode(Code::kExhausted));
    EXPECT_TRUE(keys.Deletes(key(0), ByteKeySet::Hash(key(0)), Seq(0)));
  }
  EXPECT_EQ(budget.used(), 0);
}

}  // namespace
}  // namespace icewright
