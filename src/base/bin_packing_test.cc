#include "base/bin_packing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace icewright {
namespace {

using Bins = std::vector<std::vector<std::int64_t>>;
constexpr std::size_t kAll = SIZE_MAX;

Bins Weights(std::span<const std::int64_t> weights,
             const std::vector<std::vector<std::size_t>>& bins) {
  Bins out;
  for (const auto& bin : bins) {
    out.emplace_back();
    for (const std::size_t item : bin) out.back().push_back(weights[item]);
  }
  return out;
}

struct Case {
  const char* name;
  std::vector<std::int64_t> items;
  BinPackingOptions options;
  Bins want;
  bool from_end = false;
};

class BinPackingTest : public ::testing::TestWithParam<Case> {};

TEST_P(BinPackingTest, PacksExactly) {
  const Case& c = GetParam();
  const auto bins = c.from_end ? PackBinsFromEnd(c.items, c.options) : PackBins(c.items, c.options);
  EXPECT_EQ(Weights(c.items, bins), c.want);
}

const std::vector<std::int64_t> kOneToFive = {1, 2, 3, 4, 5};

std::vector<Case> Cases() {
  std::vector<Case> cases = {
      {"Forward8", kOneToFive, {8, kAll}, {{1, 2, 3}, {4}, {5}}},
      {"Forward9", kOneToFive, {9, kAll}, {{1, 2, 3}, {4, 5}}},
      {"Forward10", kOneToFive, {10, kAll}, {{1, 2, 3, 4}, {5}}},
      {"Forward14", kOneToFive, {14, kAll}, {{1, 2, 3, 4}, {5}}},
      {"Forward15", kOneToFive, {15, kAll}, {{1, 2, 3, 4, 5}}},
      {"Forward3", kOneToFive, {3, kAll}, {{1, 2}, {3}, {4}, {5}}},
      {"Forward5", kOneToFive, {5, kAll}, {{1, 2}, {3}, {4}, {5}}},
      {"Forward6", kOneToFive, {6, kAll}, {{1, 2, 3}, {4}, {5}}},
      {"Max2Of6", kOneToFive, {6, kAll, false, 2}, {{1, 2}, {3}, {4}, {5}}},
      {"Max3Of8", kOneToFive, {8, kAll, false, 3}, {{1, 2, 3}, {4}, {5}}},
      {"Max3Of14", kOneToFive, {14, kAll, false, 3}, {{1, 2, 3}, {4, 5}}},
      {"Lookback2", {5, 1, 5, 1, 5, 1}, {8, 2}, {{5, 1, 1}, {5, 1}, {5}}},
      {"LookbackAll", {5, 1, 5, 1, 5, 1}, {8, kAll}, {{5, 1, 1, 1}, {5}, {5}}},
      {"Lookback1", {5, 1, 5, 1, 5, 1}, {8, 1}, {{5, 1}, {5, 1}, {5, 1}}},
      {"LargestFirst",
       {36, 36, 36, 36, 65, 65, 128},
       {128, 2, true},
       {{36, 36, 36}, {128}, {36, 65}, {65}}},
      {"LargestFirstLookback1",
       {64, 64, 128, 32, 32, 32, 32},
       {128, 1, true},
       {{64, 64}, {128}, {32, 32, 32, 32}}},
  };
  const std::vector<std::pair<std::int64_t, Bins>> end_lookback_1 = {
      {3, {{1, 2}, {3}, {4}, {5}}}, {4, {{1, 2}, {3}, {4}, {5}}}, {5, {{1}, {2, 3}, {4}, {5}}},
      {6, {{1, 2, 3}, {4}, {5}}},   {7, {{1, 2}, {3, 4}, {5}}},   {8, {{1, 2}, {3, 4}, {5}}},
      {9, {{1, 2, 3}, {4, 5}}},     {11, {{1, 2, 3}, {4, 5}}},    {12, {{1, 2}, {3, 4, 5}}},
      {14, {{1}, {2, 3, 4, 5}}},    {15, {{1, 2, 3, 4, 5}}},
  };
  for (const auto& [target, want] : end_lookback_1) {
    cases.push_back({"EndLookback1", kOneToFive, {target, 1}, want, true});
  }
  const std::vector<std::pair<std::int64_t, Bins>> end_lookback_all = {
      {4, {{2}, {1, 3}, {4}, {5}}}, {5, {{2, 3}, {1, 4}, {5}}}, {6, {{3}, {2, 4}, {1, 5}}},
      {7, {{1}, {3, 4}, {2, 5}}},   {8, {{1, 2, 4}, {3, 5}}},   {10, {{2, 3}, {1, 4, 5}}},
      {11, {{1, 3}, {2, 4, 5}}},    {13, {{2}, {1, 3, 4, 5}}},
  };
  for (const auto& [target, want] : end_lookback_all) {
    cases.push_back({"EndLookbackAll", kOneToFive, {target, kAll}, want, true});
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Table, BinPackingTest, ::testing::ValuesIn(Cases()), [](const auto& test) {
  return std::string(test.param.name) + "_" + std::to_string(test.param.options.target_weight) +
         "_" + std::to_string(test.index);
});

// With one open bin, packing is cutting the sequence: each bin is as long as it can be.
TEST(BinPackingTest, WithLookback1CutsTheSequenceGreedily) {
  std::mt19937 rng(20240601);
  for (int round = 0; round < 500; ++round) {
    std::vector<std::int64_t> items(rng() % 20);
    for (auto& item : items) item = static_cast<std::int64_t>(rng() % 12);
    const auto target = static_cast<std::int64_t>(1 + rng() % 20);
    Bins want;
    for (const std::int64_t item : items) {
      if (want.empty() || std::accumulate(want.back().begin(), want.back().end(), item) > target) {
        want.emplace_back();
      }
      want.back().push_back(item);
    }
    EXPECT_EQ(Weights(items, PackBins(items, {target, 1})), want) << "round " << round;
  }
}

}  // namespace
}  // namespace icewright
