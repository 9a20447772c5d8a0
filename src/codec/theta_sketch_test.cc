#include "codec/theta_sketch.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "base/random.h"
#include "codec/compression.h"
#include "testing/paths.h"

namespace icewright {
namespace {

using ::testing::Ge;

template <typename T>
Bytes BytesOf(T value) {
  Bytes out;
  AppendLittle(out, value);
  return out;
}

/// The values of test/golden/make/ThetaSketches.java.
Bytes Value(std::string_view kind, int i) {
  if (kind == "long") return BytesOf<std::int64_t>(i * std::int64_t{7} - 1000);
  if (kind == "int") return BytesOf<std::int32_t>(i);
  if (kind == "text") return "value-" + std::to_string(i);
  if (kind == "repeat") return BytesOf<std::int64_t>(i % 10);
  Bytes out;
  for (int k = 0; k < i; ++k) out.push_back(static_cast<char>(k * 37 + 200));
  return out;
}

ThetaSketch Sketch(std::string_view kind, int n) {
  ThetaSketch sketch;
  for (int i = 0; i < n; ++i) sketch.Update(Value(kind, i));
  return sketch;
}

/// As the generator: four sketches that overlap.
ThetaSketch Union(std::string_view kind, int n) {
  ThetaSketch all;
  for (int part = 0; part < 4; ++part) {
    ThetaSketch sketch;
    for (int i = 0; i < n; ++i) {
      if (i % 4 == part || i % 9 == part) sketch.Update(Value(kind, i));
    }
    all.Merge(sketch);
  }
  return all;
}

TEST(ThetaSketchGolden, BytesAndEstimatesAreThoseOfJava) {
  std::ifstream golden(SourceFolder() + "/test/golden/theta_sketches.txt");
  int lines = 0;
  for (std::string line; std::getline(golden, line); ++lines) {
    SCOPED_TRACE(line);
    std::istringstream words(line);
    std::string how, kind, crc, head;
    int n = 0;
    std::int64_t estimate = 0;
    std::size_t size = 0;
    ASSERT_TRUE(words >> how >> kind >> n >> estimate >> size >> crc >> head);
    const ThetaSketch sketch = how == "union" ? Union(kind, n) : Sketch(kind, n);
    const Bytes bytes = sketch.Serialize();
    EXPECT_EQ(sketch.Estimate(), estimate);
    EXPECT_EQ(bytes.size(), size);
    EXPECT_EQ(ToHex(ByteView(bytes).substr(0, 64)), head);
    EXPECT_EQ(fmt::format("{:08x}", Crc32(bytes)), crc);
  }
  EXPECT_THAT(lines, Ge(80));
}

TEST(ThetaSketchTest, DependsOnTheSetOfValuesOnly) {
  Random random(20240601);
  for (const int n : {10, 4096, 4100, 9000, 50000}) {
    SCOPED_TRACE(n);
    const Bytes want = Sketch("long", n).Serialize();
    std::vector<int> order;
    for (int i = 0; i < n; ++i) order.push_back(i);
    for (int i = 0; i < n / 3; ++i) order.push_back(i);  // some twice
    for (int round = 0; round < 4; ++round) {
      for (std::size_t i = order.size(); i > 1; --i) {
        std::swap(order[i - 1], order[random.Next() % i]);
      }
      std::vector<ThetaSketch> parts(static_cast<std::size_t>(1 + round * 3));
      for (std::size_t i = 0; i < order.size(); ++i) {
        parts[i % parts.size()].Update(Value("long", order[i]));
      }
      ThetaSketch all;
      for (const ThetaSketch& part : parts) all.Merge(part);
      EXPECT_EQ(all.Serialize(), want);
    }
  }
}

TEST(ThetaSketchTest, EstimatesStayWithinFourStandardErrors) {
  for (const int n : {6000, 30000, 300000}) {
    const auto estimate = static_cast<double>(Sketch("text", n).Estimate());
    EXPECT_NEAR(estimate, n, 4 * n / 64.0) << n;
  }
}

TEST(ThetaSketchTest, NoBytesAreNoValue) {
  ThetaSketch sketch;
  sketch.Update({});
  EXPECT_EQ(sketch.Estimate(), 0);
  EXPECT_EQ(sketch.Serialize(), ThetaSketch().Serialize());
}

}  // namespace
}  // namespace icewright
