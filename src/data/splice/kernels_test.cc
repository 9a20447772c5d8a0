// The kernels under a splice, against naive models.

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <random>

#include "codec/block_compression.h"
#include "data/splice/delta.h"
#include "data/splice/hybrid.h"
#include "data/splice/input.h"
#include "data/splice/source.h"
#include "data/splice/statistics.h"
#include "data/splice/thrift.h"
#include "data/splice/union_dictionary.h"
#include "data/splice/values.h"
#include "testing/matchers.h"

namespace icewright::splice {
namespace {

class Random {
 public:
  explicit Random(std::uint32_t seed) : generator_(seed) {}
  std::uint32_t operator()() { return static_cast<std::uint32_t>(generator_()); }

 private:
  std::mt19937 generator_;
};

// Runs and noise.
std::vector<std::uint32_t> Numbers(Random& random, std::uint32_t limit, std::size_t count) {
  std::vector<std::uint32_t> out;
  while (out.size() < count) {
    const std::uint32_t value = random() % limit;
    const std::size_t run = random() % 3 == 0 ? random() % 40 : 1;
    for (std::size_t i = 0; i < run && out.size() < count; ++i) out.push_back(value);
  }
  return out;
}

TEST(HybridTest, WhatIsEncodedIsDecoded) {
  Random random(1);
  for (int round = 0; round < 500; ++round) {
    const std::uint32_t limit = 1 + random() % (1U << (random() % 9));
    const int width = BitsFor(limit - 1);
    const auto numbers = Numbers(random, limit, random() % 2000);
    const auto count = static_cast<std::uint32_t>(numbers.size());
    Scratch indices;
    EncodeIndices(numbers.data(), numbers.size(), width, indices);
    std::vector<std::uint32_t> back(numbers.size());
    ASSERT_TRUE(DecodeHybrid(indices.view(), width, count, back.data()));
    ASSERT_EQ(back, numbers);
    const std::vector<std::uint8_t> bytes(numbers.begin(), numbers.end());
    Scratch levels;
    EncodeLevels(bytes.data(), bytes.size(), width, levels);
    ASSERT_TRUE(DecodeHybrid(levels.view(), width, count, back.data()));
    ASSERT_EQ(back, numbers);
    std::vector<std::uint32_t> scratch;
    std::uint32_t equal = 0;
    ASSERT_TRUE(CountEqual(levels.view(), width, count, limit - 1, scratch, equal));
    ASSERT_EQ(equal, std::count(numbers.begin(), numbers.end(), limit - 1));
  }
}

TEST(HybridTest, MappedIndicesOfManyPagesJoin) {
  Random random(2);
  Scratch joined;
  std::vector<std::uint32_t> expected;
  for (int page = 0; page < 50; ++page) {
    const auto numbers = Numbers(random, 37, random() % 300);
    std::vector<std::uint32_t> map(37);
    for (std::uint32_t& value : map) value = random() % 1000;
    Scratch encoded;
    EncodeIndices(numbers.data(), numbers.size(), 6, encoded);
    std::vector<std::uint32_t> scratch;
    ASSERT_TRUE(MapIndices(encoded.view(), 6, static_cast<std::uint32_t>(numbers.size()), map, 10,
                           scratch, joined));
    for (const std::uint32_t number : numbers) expected.push_back(map[number]);
  }
  std::vector<std::uint32_t> back(expected.size());
  ASSERT_TRUE(
      DecodeHybrid(joined.view(), 10, static_cast<std::uint32_t>(back.size()), back.data()));
  EXPECT_EQ(back, expected);
}

TEST(HybridTest, MalformedBytesAreRefused) {
  Scratch bytes;
  std::uint32_t out[64];
  std::vector<std::uint32_t> scratch;
  bytes.Append(ByteView("\x10", 1));  // a run of 8 without its value
  EXPECT_FALSE(DecodeHybrid(bytes.view(), 8, 8, out));
  bytes.Clear();
  bytes.Append(ByteView("\x10\x07", 2));
  EXPECT_TRUE(DecodeHybrid(bytes.view(), 8, 8, out));
  EXPECT_FALSE(DecodeHybrid(bytes.view(), 8, 9, out)) << "too few values";
  Scratch mapped;
  EXPECT_FALSE(MapIndices(bytes.view(), 8, 8, {1, 2, 3}, 2, scratch, mapped)) << "7 of 3 entries";
  bytes.Clear();
  bytes.Append(ByteView("\x05\x01", 2));  // 16 bit-packed values in 1 byte
  EXPECT_FALSE(DecodeHybrid(bytes.view(), 8, 16, out));
}

Bytes Plain(const std::vector<std::string>& values) {
  Bytes out;
  for (const std::string& value : values) {
    AppendLittle(out, static_cast<std::uint32_t>(value.size()));
    out += value;
  }
  return out;
}

TEST(UnionDictionaryTest, IndicesOfMaps) {
  Random random(3);
  UnionDictionary dictionary;
  dictionary.Clear();
  std::map<std::string, std::uint32_t> model;
  Bytes all;
  for (int round = 0; round < 60; ++round) {
    std::vector<std::string> values;
    for (std::uint32_t i = random() % 200; i > 0; --i) {
      values.push_back(std::string(random() % 12, 'k') + std::to_string(random() % 3000));
    }
    const auto count = static_cast<std::uint32_t>(values.size());
    Bytes body = Plain(values);
    const std::size_t size = body.size();
    body.append(kSlack, 'x');
    std::vector<std::uint32_t> offsets;
    ASSERT_TRUE(PlainOffsets(ByteView(body).substr(0, size), count, 0, offsets));
    std::vector<std::uint32_t> map;
    if (round % 7 == 3) {  // what is refused leaves no trace
      const bool fits = dictionary.Add(body, offsets, dictionary.body().size(), false, map);
      ASSERT_TRUE(!fits || dictionary.size() == model.size());
      ASSERT_EQ(dictionary.body(), all);
      continue;
    }
    ASSERT_TRUE(dictionary.Add(body, offsets, 1 << 20, false, map));
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto [at, added] =
          model.try_emplace(values[i], static_cast<std::uint32_t>(model.size()));
      if (added) all += Plain({values[i]});
      ASSERT_EQ(map[i], at->second);
    }
    ASSERT_EQ(dictionary.body(), all);
  }
}

TEST(ValuesTest, Conversions) {
  Scratch out;
  Bytes ints;
  AppendLittle(ints, std::int32_t{-2});
  AppendLittle(ints, std::int32_t{300});
  ASSERT_TRUE(ConvertValues(Conversion::kIntToLong, 4, 8, ints, out));
  EXPECT_EQ(ToHex(out.view()), "feffffffffffffff2c01000000000000");
  out.Clear();
  ASSERT_TRUE(ConvertValues(Conversion::kIntToFixed, 4, 9, ints, out));
  EXPECT_EQ(ToHex(out.view()), "fffffffffffffffffe00000000000000012c");
  out.Clear();
  ASSERT_TRUE(ConvertValues(Conversion::kFixedToFixed, 2, 3, ByteView("\xff\x01\x01\x02", 4), out));
  EXPECT_EQ(ToHex(out.view()), "ffff01000102");
  EXPECT_FALSE(ConvertValues(Conversion::kIntToLong, 4, 8, "abc", out));
}

TEST(DeltaTest, BytesOfAConstantStepAndOfJumps) {
  Bytes out;
  EncodeDelta({}, out);
  EXPECT_EQ(ToHex(out), "8001040000");
  out.clear();
  const std::int64_t steps[] = {7, 8, 9, 10};
  EncodeDelta(steps, out);
  EXPECT_EQ(ToHex(out),
            "8001"
            "04"
            "04"
            "0e"
            "02"
            "00000000");
  out.clear();
  const std::int64_t jumps[] = {1, 2, 10};  // deltas 1 and 8: least 1, then 0 and 7 in 3 bits
  EncodeDelta(jumps, out);
  EXPECT_EQ(ToHex(out),
            "8001"
            "04"
            "03"
            "02"
            "02"
            "03000000"
            "380000000000000000000000");
}

TEST(BlockCompressionTest, RoundTripAndDamage) {
  Random random(5);
  for (const BlockCodec codec : {BlockCodec::kNone, BlockCodec::kSnappy, BlockCodec::kGzip,
                                 BlockCodec::kZstd, BlockCodec::kLz4Raw}) {
    for (const std::size_t size : {0UL, 1UL, 100UL, 70'000UL}) {
      Bytes input(size, 'a');
      for (std::size_t i = 0; i < size; i += 3) input[i] = static_cast<char>(random());
      Bytes block(MaxBlockSize(codec, size), '\0');
      IW_ASSERT_OK_AND_ASSIGN(const std::size_t length,
                              CompressBlock(codec, {}, input, {block.data(), block.size()}));
      block.resize(length);
      Bytes back(size, '\0');
      ASSERT_THAT(DecompressBlock(codec, block, {back.data(), back.size()}), IsOk());
      EXPECT_EQ(back, input);
      Bytes longer(size + 1, '\0');
      EXPECT_THAT(DecompressBlock(codec, block, {longer.data(), longer.size()}),
                  HasCode(Code::kCorrupt));
    }
  }
}

TEST(ThriftTest, WhatIsWrittenIsRead) {
  Bytes out;
  ThriftWriter w(out);
  w.Begin();
  w.I32(1, -5);
  w.Binary(20, "text");
  w.BeginField(21);
  w.Flag(1, true);
  w.End();
  w.List(22, Wire::kI64, 20);
  for (std::int64_t i = 0; i < 20; ++i) w.Element(i);
  w.End();
  ThriftReader r(out);
  std::vector<int> ids;
  r.Struct([&](const ThriftReader::Field& f) {
    ids.push_back(f.id);
    if (f.id == 1) {
      EXPECT_EQ(r.I32(f), -5);
    } else if (f.id == 20) {
      EXPECT_EQ(r.Binary(f), "text");
    } else {
      r.Skip(f);
    }
  });
  EXPECT_TRUE(r.ok());
  EXPECT_EQ(r.position(), out.size());
  EXPECT_EQ(ids, (std::vector<int>{1, 20, 21, 22}));
  // Every prefix is noticed.
  for (std::size_t size = 0; size < out.size(); ++size) {
    ThriftReader cut(ByteView(out).substr(0, size));
    cut.Struct([&](const ThriftReader::Field& f) { cut.Skip(f); });
    EXPECT_FALSE(cut.ok()) << size;
  }
}

TEST(SourceTest, TouchedPages) {
  const RowRanges deleted = {{5, 7}, {20, 30}};
  EXPECT_FALSE(Touches(deleted, 0, 5));
  EXPECT_TRUE(Touches(deleted, 0, 6));
  EXPECT_TRUE(Touches(deleted, 6, 10));
  EXPECT_FALSE(Touches(deleted, 7, 13));
  EXPECT_TRUE(Touches(deleted, 29, 100));
  EXPECT_FALSE(Touches(deleted, 30, 100));
}

// ---- Numbers of footers may be any: their sums must not overflow

constexpr std::int64_t kHuge = std::int64_t{1} << 62;

// One row group of one optional INT64 column.
Bytes FooterOf(std::int64_t values, std::int64_t nulls) {
  Bytes out;
  ThriftWriter w(out);
  w.Begin();
  w.List(2, Wire::kStruct, 2);
  w.Begin();
  w.Binary(4, "table");
  w.I32(5, 1);
  w.End();
  w.Begin();
  w.I32(1, static_cast<int>(Physical::kInt64));
  w.I32(3, 1);
  w.Binary(4, "x");
  w.End();
  w.I64(3, values);
  w.List(4, Wire::kStruct, 1);
  w.Begin();
  w.List(1, Wire::kStruct, 1);
  w.Begin();
  w.BeginField(3);
  w.I32(1, static_cast<int>(Physical::kInt64));
  w.I64(5, values);
  w.BeginField(12);
  w.I64(3, nulls);
  w.End();
  w.End();
  w.End();
  w.I64(3, values);
  w.End();
  w.End();
  return out;
}

TEST(UntrustedNumbersTest, NullsThatCannotBeAreUnknown) {
  for (const std::int64_t nulls :
       {std::int64_t{-1}, std::int64_t{11}, kHuge, std::numeric_limits<std::int64_t>::min()}) {
    const Bytes footer = FooterOf(10, nulls);
    IW_ASSERT_OK_AND_ASSIGN(const FileMeta meta, ParseFooter(footer));
    EXPECT_EQ(meta.groups.at(0).columns.at(0).statistics.null_count, std::nullopt) << nulls;
  }
  const Bytes footer = FooterOf(10, 10);
  IW_ASSERT_OK_AND_ASSIGN(const FileMeta meta, ParseFooter(footer));
  EXPECT_EQ(meta.groups.at(0).columns.at(0).statistics.null_count, 10);
}

TEST(UntrustedNumbersTest, ChunksOfGroupsWithoutRowsHaveNoSize) {
  Input input;
  input.columns = {{.leaf = 0}};
  for (const auto& [rows, size] :
       {std::pair<std::int64_t, std::int64_t>{0, kHuge}, {0, kHuge}, {10, 100}}) {
    RowGroup group;
    group.rows = rows;
    group.columns.push_back({.compressed = size});
    input.meta.groups.push_back(group);
  }
  const TreatmentBytes bytes = ExpectedBytes(input);
  EXPECT_EQ(bytes[static_cast<std::size_t>(Treatment::kVerbatim)], 100);
}

TEST(UntrustedNumbersTest, SizesThatOverflowAreUnknown) {
  const auto merged = [](const SizeStatistics& part) {
    SizesMerger merger;
    merger.Add(part);
    merger.Add(part);
    Bytes out;
    ThriftWriter w(out);
    w.Begin();
    merger.Write(w, 1);
    w.End();
    return out;
  };
  EXPECT_EQ(merged({.unencoded_bytes = kHuge, .definition = {1, 2}}),
            merged({.definition = {1, 2}}));
  EXPECT_EQ(merged({.unencoded_bytes = 5, .repetition = {1, kHuge}, .definition = {1, 2}}),
            merged({.unencoded_bytes = 5, .definition = {1, 2}}));
}

}  // namespace
}  // namespace icewright::splice
