#include "codec/avro/coding.h"

#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "testing/matchers.h"

namespace icewright::avro {
namespace {

using std::string_literals::operator""s;

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

Bytes EncodedLong(std::int64_t value) {
  Bytes out;
  Encoder(out).WriteLong(value);
  return out;
}

TEST(AvroCodingTest, LongsAreZigZagVarints) {
  struct Case {
    std::int64_t value;
    const char* hex;
  };
  for (const Case& c :
       {Case{0, "00"}, Case{-1, "01"}, Case{1, "02"}, Case{-64, "7f"}, Case{64, "8001"},
        Case{-65, "8101"}, Case{8191, "fe7f"}, Case{8192, "808001"}, Case{2147483647, "feffffff0f"},
        Case{-2147483648, "ffffffff0f"}, Case{kMax, "feffffffffffffffff01"},
        Case{kMin, "ffffffffffffffffff01"}}) {
    EXPECT_EQ(ToHex(EncodedLong(c.value)), c.hex);
    const Bytes bytes = *FromHex(c.hex);
    Decoder decoder(bytes);
    EXPECT_EQ(decoder.ReadLong(), c.value);
    EXPECT_TRUE(decoder.ok());
    EXPECT_TRUE(decoder.at_end());
  }
}

TEST(AvroCodingTest, LongsOfEveryWidthRoundTrip) {
  std::mt19937_64 rng(20240601);
  for (int i = 0; i < 200'000; ++i) {
    const auto value = static_cast<std::int64_t>(rng()) >> (rng() % 64);
    const Bytes bytes = EncodedLong(value);
    Decoder decoder(bytes);
    ASSERT_EQ(decoder.ReadLong(), value);
    ASSERT_TRUE(decoder.at_end() && decoder.ok());
  }
}

TEST(AvroCodingTest, ValuesRoundTrip) {
  Bytes bytes;
  Encoder encoder(bytes);
  encoder.WriteInt(-2147483648);
  encoder.WriteBoolean(true);
  encoder.WriteBoolean(false);
  encoder.WriteFloat(-0.5F);
  encoder.WriteDouble(std::numeric_limits<double>::infinity());
  encoder.WriteBytes("h\0llo"s);
  encoder.WriteBytes("");
  encoder.WriteFixed("1234");
  Decoder decoder(bytes);
  EXPECT_EQ(decoder.ReadInt(), -2147483648);
  EXPECT_TRUE(decoder.ReadBoolean());
  EXPECT_FALSE(decoder.ReadBoolean());
  EXPECT_EQ(decoder.ReadFloat(), -0.5F);
  EXPECT_EQ(decoder.ReadDouble(), std::numeric_limits<double>::infinity());
  EXPECT_EQ(decoder.ReadBytes(), "h\0llo"s);
  EXPECT_EQ(decoder.ReadBytes(), "");
  EXPECT_EQ(decoder.ReadFixed(4), "1234");
  EXPECT_TRUE(decoder.ok());
  EXPECT_TRUE(decoder.at_end());
}

TEST(AvroCodingTest, FloatsKeepTheirBits) {
  Bytes bytes;
  Encoder(bytes).WriteDouble(1.5);
  EXPECT_EQ(ToHex(bytes), "000000000000f83f");
  bytes.clear();
  Encoder(bytes).WriteFloat(-2.0F);
  EXPECT_EQ(ToHex(bytes), "000000c0");
}

TEST(AvroCodingTest, MalformedValuesFail) {
  struct Case {
    const char* hex;
    void (*read)(Decoder&);
  };
  const auto read_long = [](Decoder& d) { EXPECT_EQ(d.ReadLong(), 0); };
  const auto read_int = [](Decoder& d) { EXPECT_EQ(d.ReadInt(), 0); };
  const auto read_bool = [](Decoder& d) { EXPECT_FALSE(d.ReadBoolean()); };
  const auto read_bytes = [](Decoder& d) { EXPECT_EQ(d.ReadBytes(), ""); };
  const auto read_fixed = [](Decoder& d) { EXPECT_EQ(d.ReadFixed(4), ""); };
  const Case cases[] = {
      {"", read_long},
      {"80", read_long},
      {"ffffffffffffffffff", read_long},
      {"ffffffffffffffffff02", read_long},    // more than 64 bits
      {"80808080808080808080", read_long},    // no end
      {"8080808080808080808001", read_long},  // eleven bytes
      {"8080808010", read_int},               // 2^31
      {"8180808010", read_int},               // -2^31 - 1
      {"", read_bool},
      {"02", read_bool},
      {"", read_bytes},
      {"04aa", read_bytes},                  // one byte is missing
      {"01aa", read_bytes},                  // -1 bytes
      {"feffffffffffffffff01", read_bytes},  // 2^63 - 1 bytes
      {"ffffffffffffffffff01", read_bytes},  // -2^63 bytes
      {"aabbcc", read_fixed},
      {"aabbcc", [](Decoder& d) { EXPECT_EQ(d.ReadFloat(), 0); }},
      {"aabbccddeeff00", [](Decoder& d) { EXPECT_EQ(d.ReadDouble(), 0); }},
  };
  for (const Case& c : cases) {
    const Bytes bytes = *FromHex(c.hex);
    Decoder decoder(bytes);
    c.read(decoder);
    EXPECT_FALSE(decoder.ok()) << c.hex;
    EXPECT_TRUE(decoder.at_end()) << c.hex;
  }
}

TEST(AvroCodingTest, AfterAFailureEverythingIsEmpty) {
  const Bytes bytes = "\x02\x02\x02\x02"s;
  Decoder decoder(bytes);
  decoder.Fail();
  EXPECT_EQ(decoder.ReadLong(), 0);
  EXPECT_EQ(decoder.ReadInt(), 0);
  EXPECT_FALSE(decoder.ReadBoolean());
  EXPECT_EQ(decoder.ReadBytes(), "");
  EXPECT_EQ(decoder.ReadFixed(0), "");
  EXPECT_EQ(decoder.ReadDouble(), 0);
  EXPECT_EQ(decoder.ReadBlockCount(), 0);
  EXPECT_FALSE(decoder.ok());
}

TEST(AvroCodingTest, BlockCountsAreBounded) {
  struct Case {
    std::int64_t count;
    std::int64_t min_item_bytes;
    bool ok;
  };
  for (const Case& c : {Case{10, 1, true}, Case{11, 1, false}, Case{5, 2, true}, Case{6, 2, false},
                        Case{0, 8, true}, Case{kMax, 1, false}, Case{1 << 24, 0, true},
                        Case{(1 << 24) + 1, 0, false}, Case{kMax, 0, false}}) {
    const Bytes bytes = EncodedLong(c.count) + Bytes(10, 'x');
    Decoder decoder(bytes);
    EXPECT_EQ(decoder.ReadBlockCount(c.min_item_bytes), c.ok ? c.count : 0);
    EXPECT_EQ(decoder.ok(), c.ok) << c.count << " of " << c.min_item_bytes;
  }
}

TEST(AvroCodingTest, NegativeBlockCountsCarryASize) {
  const Bytes bytes = EncodedLong(-3) + EncodedLong(3) + "abc" + EncodedLong(0);
  Decoder decoder(bytes);
  EXPECT_EQ(decoder.ReadBlockCount(), 3);
  EXPECT_EQ(decoder.ReadFixed(3), "abc");
  EXPECT_EQ(decoder.ReadBlockCount(), 0);
  EXPECT_TRUE(decoder.ok() && decoder.at_end());
  for (const Bytes& bad :
       {EncodedLong(-3) + EncodedLong(4) + "abc", EncodedLong(-3) + EncodedLong(-1) + "abc",
        EncodedLong(kMin) + EncodedLong(1) + "abc", EncodedLong(-3)}) {
    Decoder broken(bad);
    EXPECT_EQ(broken.ReadBlockCount(), 0);
    EXPECT_FALSE(broken.ok()) << ToHex(bad);
  }
}

struct SkipCase {
  const char* schema;
  Bytes value;
};

std::vector<SkipCase> SkipCases() {
  const auto n = EncodedLong;
  return {
      {R"("null")", ""},
      {R"("boolean")", "\1"},
      {R"("int")", n(300)},
      {R"("long")", n(kMin)},
      {R"("float")", "1234"},
      {R"("double")", "12345678"},
      {R"("bytes")", n(3) + "abc"},
      {R"("string")", n(0)},
      {R"({"type":"fixed","name":"f","size":5})", "12345"},
      {R"({"type":"enum","name":"e","symbols":["A","B"]})", n(1)},
      {R"(["null","string"])", n(1) + n(2) + "ab"},
      {R"(["null","string"])", n(0)},
      {R"({"type":"array","items":"string"})",
       n(2) + n(1) + "a" + n(2) + "bc" + n(1) + n(0) + n(0)},
      {R"({"type":"array","items":"string"})", n(-2) + n(5) + n(1) + "a" + n(2) + "bc" + n(0)},
      {R"({"type":"array","items":"null"})", n(1000) + n(0)},
      {R"({"type":"map","values":"long"})", n(1) + n(2) + "ab" + n(77777) + n(0)},
      {R"({"type":"map","values":"null"})", n(2) + n(1) + "a" + n(1) + "b" + n(0)},
      {R"({"type":"record","name":"r","fields":[{"name":"a","type":"long"},
           {"name":"b","type":{"type":"array","items":["null","int"]}},{"name":"c","type":"double"}]})",
       n(5) + n(2) + n(0) + n(1) + n(9) + n(0) + "12345678"},
  };
}

TEST(AvroCodingTest, SkipsExactlyOneValue) {
  for (const SkipCase& c : SkipCases()) {
    const SchemaPtr schema = *ParseSchema(c.schema);
    const Bytes bytes = c.value + "rest";
    Decoder decoder(bytes);
    decoder.Skip(*schema);
    EXPECT_TRUE(decoder.ok()) << c.schema;
    EXPECT_EQ(decoder.remaining(), 4U) << c.schema;
  }
}

TEST(AvroCodingTest, SkippingACutValueFails) {
  for (const SkipCase& c : SkipCases()) {
    const SchemaPtr schema = *ParseSchema(c.schema);
    for (std::size_t size = 0; size < c.value.size(); ++size) {
      Decoder decoder(ByteView(c.value).substr(0, size));
      decoder.Skip(*schema);
      EXPECT_FALSE(decoder.ok()) << c.schema << " cut to " << size;
    }
  }
}

TEST(AvroCodingTest, SkippingUnknownBranchesAndEndlessArraysFails) {
  const SchemaPtr choice = *ParseSchema(R"(["null","int"])");
  for (const std::int64_t branch : {std::int64_t{2}, std::int64_t{-1}, kMax, kMin}) {
    const Bytes bytes = EncodedLong(branch) + "xxxx";
    Decoder decoder(bytes);
    decoder.Skip(*choice);
    EXPECT_FALSE(decoder.ok()) << branch;
  }
  const SchemaPtr doubles = *ParseSchema(R"({"type":"array","items":"double"})");
  const Bytes bytes = EncodedLong(kMax) + Bytes(64, '\1');
  Decoder decoder(bytes);
  decoder.Skip(*doubles);
  EXPECT_FALSE(decoder.ok());
}

TEST(AvroCodingTest, SkippingEmptyItemsTakesNoTime) {
  const SchemaPtr nulls = *ParseSchema(R"({"type":"array","items":
      {"type":"record","name":"r","fields":[{"name":"a","type":"null"}]}})");
  const Bytes bytes = EncodedLong(kMax) + EncodedLong(kMax) + EncodedLong(0);
  Decoder decoder(bytes);
  decoder.Skip(*nulls);
  EXPECT_TRUE(decoder.ok() && decoder.at_end());
}

}  // namespace
}  // namespace icewright::avro
