#include "codec/compression.h"

#include <lz4frame.h>
#include <zlib.h>
#include <zstd.h>

#include <limits>
#include <random>
#include <string>

#include "testing/matchers.h"

namespace icewright {
namespace {

using ::testing::HasSubstr;
using enum Compression;

constexpr std::size_t kNoLimit = std::size_t{1} << 30;

/// Text that compresses, noise that does not, and runs that compress a thousandfold.
enum class Content { kText, kNoise, kZeros };

Bytes Make(Content content, std::size_t size) {
  Bytes out;
  out.reserve(size);
  std::mt19937_64 rng(size);
  while (out.size() < size) {
    switch (content) {
      case Content::kText:
        out += "row " + std::to_string(rng() % 1000) + ";";
        break;
      case Content::kNoise:
        AppendLittle(out, rng());
        break;
      case Content::kZeros:
        out.append(4096, '\0');
        break;
    }
  }
  out.resize(size);
  return out;
}

Bytes Compressed(Compression codec, ByteView input, std::optional<int> level = {}) {
  auto out = Compress(codec, input, level);
  EXPECT_THAT(out, IsOk());
  return out ? *std::move(out) : Bytes();
}

class CompressionTest : public ::testing::TestWithParam<Compression> {};

TEST_P(CompressionTest, RoundTripsEverySizeAndContent) {
  for (const Content content : {Content::kText, Content::kNoise, Content::kZeros}) {
    for (const std::size_t size :
         {0, 1, 2, 15, 4095, 4096, 4097, 65535, 65536, 100'000, 300'000, 2'000'000}) {
      const Bytes input = Make(content, size);
      const Bytes packed = Compressed(GetParam(), input);
      auto back = Decompress(GetParam(), packed, kNoLimit);
      ASSERT_THAT(back, IsOk()) << size;
      ASSERT_TRUE(*back == input) << size;
    }
  }
}

TEST_P(CompressionTest, TheLimitIsExact) {
  for (const Content content : {Content::kText, Content::kNoise, Content::kZeros}) {
    const Bytes input = Make(content, 100'000);
    const Bytes packed = Compressed(GetParam(), input);
    EXPECT_THAT(Decompress(GetParam(), packed, input.size()), IsOk());
    EXPECT_THAT(Decompress(GetParam(), packed, input.size() - 1),
                HasError(Code::kCorrupt, HasSubstr("limit of 99999 bytes")));
    EXPECT_THAT(Decompress(GetParam(), packed, 0), HasCode(Code::kCorrupt));
    EXPECT_THAT(Decompress(GetParam(), packed, std::numeric_limits<std::size_t>::max()), IsOk());
  }
}

TEST_P(CompressionTest, ReusedBufferHoldsOnlyTheLastOutput) {
  Bytes out;
  std::mt19937 rng(1);
  for (int round = 0; round < 100; ++round) {
    const Bytes input = Make(round % 3 == 0 ? Content::kNoise : Content::kText, rng() % 50'000);
    ASSERT_THAT(DecompressInto(GetParam(), Compressed(GetParam(), input), kNoLimit, out), IsOk());
    ASSERT_TRUE(out == input) << round;
  }
}

TEST_P(CompressionTest, CutInputIsCorrupt) {
  if (GetParam() == kNone) return;  // any bytes are valid
  const Bytes packed = Compressed(GetParam(), Make(Content::kText, 3000));
  for (std::size_t size = 0; size < packed.size(); ++size) {
    ASSERT_THAT(Decompress(GetParam(), ByteView(packed).substr(0, size), kNoLimit),
                HasCode(Code::kCorrupt))
        << size;
  }
}

TEST_P(CompressionTest, FlippedBitsNeverCrash) {
  const Bytes packed = Compressed(GetParam(), Make(Content::kText, 2000));
  for (std::size_t i = 0; i < packed.size() * 8; ++i) {
    Bytes broken = packed;
    broken[i / 8] = static_cast<char>(broken[i / 8] ^ (1 << (i % 8)));
    const auto out = Decompress(GetParam(), broken, 10'000);
    if (!out) {
      ASSERT_EQ(out.error().code(), Code::kCorrupt);
    } else {
      ASSERT_LE(out->size(), 10'000U);
    }
  }
}

std::string NameOfCase(const ::testing::TestParamInfo<Compression>& test) {
  constexpr const char* kNames[] = {"None", "Deflate", "Gzip", "Zstd", "Snappy", "Lz4"};
  return kNames[static_cast<std::size_t>(test.param)];
}

INSTANTIATE_TEST_SUITE_P(Codec, CompressionTest,
                         ::testing::Values(kNone, kDeflate, kGzip, kZstd, kSnappy, kLz4Frame),
                         NameOfCase);

TEST(CompressionLevelTest, AcceptsTheLevelsOfEachCodec) {
  struct Case {
    Compression codec;
    int low, high;
  };
  const Bytes input = Make(Content::kText, 5000);
  for (const Case& c :
       {Case{kDeflate, -1, 9}, Case{kGzip, -1, 9}, Case{kZstd, -5, 22}, Case{kLz4Frame, 0, 12}}) {
    for (int level = c.low; level <= c.high; ++level) {
      EXPECT_THAT(Decompress(c.codec, Compressed(c.codec, input, level), kNoLimit),
                  IsOkAndHolds(input))
          << level;
    }
    EXPECT_THAT(Compress(c.codec, input, c.high + 1), HasCode(Code::kInvalidArgument));
  }
  EXPECT_THAT(Compress(kDeflate, input, -2), HasCode(Code::kInvalidArgument));
  EXPECT_THAT(Compress(kLz4Frame, input, -1), HasCode(Code::kInvalidArgument));
  EXPECT_LT(Compressed(kDeflate, input, 9).size(), Compressed(kDeflate, input, 0).size());
  EXPECT_EQ(Compressed(kDeflate, input, -1), Compressed(kDeflate, input));
}

TEST(CompressionLevelTest, CodecsWithoutLevelsPassOverOne) {
  EXPECT_EQ(Compressed(kNone, "abc", 9), "abc");
  EXPECT_EQ(Compressed(kSnappy, "abc", 9), Compressed(kSnappy, "abc"));
}

TEST(GzipTest, ReadsSeveralMembers) {
  const Bytes a = Make(Content::kText, 10'000);
  const Bytes b = Make(Content::kZeros, 500'000);
  const Bytes packed = Compressed(kGzip, a) + Compressed(kGzip, "") + Compressed(kGzip, b);
  EXPECT_THAT(Decompress(kGzip, packed, a.size() + b.size()), IsOkAndHolds(a + b));
  EXPECT_THAT(Decompress(kGzip, packed, a.size() + b.size() - 1), HasCode(Code::kCorrupt));
  EXPECT_THAT(Decompress(kGzip, packed + "x", kNoLimit), HasCode(Code::kCorrupt));
}

TEST(ZstdTest, ReadsSeveralFramesAndFramesWithoutASize) {
  const Bytes input = Make(Content::kZeros, 700'000);
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
  Bytes packed(ZSTD_compressBound(input.size()), '\0');
  packed.resize(ZSTD_compress2(context, packed.data(), packed.size(), input.data(), input.size()));
  ZSTD_freeCCtx(context);
  ASSERT_EQ(ZSTD_getFrameContentSize(packed.data(), packed.size()), ZSTD_CONTENTSIZE_UNKNOWN);
  EXPECT_THAT(Decompress(kZstd, packed + packed, 1'400'000), IsOkAndHolds(input + input));
  EXPECT_THAT(Decompress(kZstd, packed + packed, 1'399'999), HasCode(Code::kCorrupt));
}

TEST(Lz4Test, WritesTheContentSizeThatPuffinWants) {
  const Bytes packed = Compressed(kLz4Frame, "hello");
  LZ4F_dctx* context = nullptr;
  ASSERT_EQ(LZ4F_createDecompressionContext(&context, LZ4F_VERSION), 0U);
  LZ4F_frameInfo_t info = {};
  std::size_t size = packed.size();
  EXPECT_EQ(LZ4F_isError(LZ4F_getFrameInfo(context, &info, packed.data(), &size)), 0U);
  EXPECT_EQ(info.contentSize, 5U);
  LZ4F_freeDecompressionContext(context);
  EXPECT_THAT(Decompress(kLz4Frame, packed + packed, kNoLimit), IsOkAndHolds("hellohello"));
}

TEST(DeflateTest, PassesOverALeftTrailer) {
  // Python's writers cut two bytes of zlib's header and one of its four-byte trailer.
  const Bytes input = Make(Content::kText, 1000);
  Bytes zlib(compressBound(input.size()), '\0');
  uLongf size = zlib.size();
  ASSERT_EQ(compress(reinterpret_cast<Bytef*>(zlib.data()), &size,
                     reinterpret_cast<const Bytef*>(input.data()), input.size()),
            Z_OK);
  EXPECT_THAT(Decompress(kDeflate, ByteView(zlib).substr(2, size - 3), kNoLimit),
              IsOkAndHolds(input));
}

TEST(SnappyTest, RefusesASizeThatTheInputCannotMake) {
  const Bytes claims_1_gib("\x80\x80\x80\x80\x04\x00", 6);
  EXPECT_THAT(Decompress(kSnappy, claims_1_gib, std::size_t{2} << 30),
              HasError(Code::kCorrupt, HasSubstr("claims a size")));
}

TEST(Crc32Test, IsZlibs) {
  EXPECT_EQ(Crc32(""), 0U);
  EXPECT_EQ(Crc32("123456789"), 0xcbf43926U);
  EXPECT_EQ(Crc32("6789", Crc32("12345")), 0xcbf43926U);
}

}  // namespace
}  // namespace icewright
