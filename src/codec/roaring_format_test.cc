#include "codec/roaring_format.h"

#include <initializer_list>
#include <string>

#include "testing/matchers.h"

namespace icewright {
namespace {

using ::testing::HasSubstr;

/// Little-endian 16-bit words, which the whole format consists of.
Bytes Words(std::initializer_list<int> words) {
  Bytes out;
  for (const int word : words) AppendLittle(out, static_cast<std::uint16_t>(word));
  return out;
}

constexpr int kNoRuns = 12346;
constexpr int kRuns = 12347;

/// One bitset container; `members` is what its header says.
Bytes Bitset(int members, int bits_set) {
  Bytes bits(8192, '\0');
  for (int i = 0; i < bits_set; ++i) {
    char& byte = bits[static_cast<std::size_t>(i / 8)];
    byte = static_cast<char>(byte | 1 << (i % 8));
  }
  return Words({kNoRuns, 0, 1, 0, 0, members - 1, 16, 0}) + bits;
}

TEST(RoaringFormatTest, AcceptsEachKindOfContainer) {
  struct Case {
    const char* name;
    Bytes bytes;
    std::int64_t cardinality;
  };
  const Case cases[] = {
      {"empty", Words({kNoRuns, 0, 0, 0}), 0},
      {"array", Words({kNoRuns, 0, 1, 0, 7, 2, 16, 0, 1, 2, 65535}), 3},
      {"two arrays", Words({kNoRuns, 0, 2, 0, 0, 0, 65535, 1, 24, 0, 26, 0, 9, 3, 4}), 3},
      {"bitset", Bitset(4097, 4097), 4097},
      {"full bitset", Bitset(65536, 65536), 65536},
      {"run", Words({kRuns, 0}) + "\x01" + Words({3, 11, 2, 5, 9, 100, 1}), 12},
      {"adjacent runs", Words({kRuns, 0}) + "\x01" + Words({3, 11, 2, 5, 9, 15, 1}), 12},
      {"full run", Words({kRuns, 0}) + "\x01" + Words({0, 65535, 1, 0, 65535}), 65536},
      {"run and array", Words({kRuns, 1}) + "\x02" + Words({0, 1, 1, 9, 4, 5, 1, 0, 9}), 12},
      {"four with offsets",
       Words({kRuns, 3}) + "\x01" +
           Words({0, 0, 1, 0, 2, 0, 3, 0, 37, 0, 43, 0, 45, 0, 47, 0, 1, 8, 0, 7, 7, 7}),
       4},
  };
  for (const Case& c : cases) {
    IW_ASSERT_OK_AND_ASSIGN(const auto extent, CheckPortableRoaring(c.bytes + "what follows"));
    EXPECT_EQ(extent.size_bytes, c.bytes.size()) << c.name;
    EXPECT_EQ(extent.cardinality, c.cardinality) << c.name;
  }
}

TEST(RoaringFormatTest, RefusesEveryCut) {
  const Bytes all[] = {
      Words({kNoRuns, 0, 2, 0, 0, 0, 65535, 1, 24, 0, 26, 0, 9, 3, 4}),
      Bitset(5000, 5000),
      Words({kRuns, 1}) + "\x02" + Words({0, 1, 1, 9, 4, 5, 1, 0, 9}),
  };
  for (const Bytes& bytes : all) {
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      const Bytes cut = bytes.substr(0, size);  // a copy, so that a read past it is seen
      ASSERT_THAT(CheckPortableRoaring(cut),
                  HasError(Code::kCorrupt, HasSubstr("the bytes end inside it")))
          << size;
    }
  }
}

TEST(RoaringFormatTest, SaysWhatIsWrong) {
  struct Case {
    Bytes bytes;
    const char* message;
  };
  const Bytes run = Words({kRuns, 0}) + "\x01";
  const Case cases[] = {
      {Words({0, 0}), "the cookie is 0"},
      {Words({kNoRuns, 1}), "the cookie is 77882"},
      {Words({0, kNoRuns}), "the cookie is"},  // the other byte order
      {Words({kNoRuns, 0, 1, 1}), "more than 65536 containers"},
      {Words({kNoRuns, 0, 2, 0, 5, 0, 5, 0, 24, 0, 26, 0, 1, 1}), "keys of containers"},
      {Words({kNoRuns, 0, 2, 0, 5, 0, 4, 0, 24, 0, 26, 0, 1, 1}), "keys of containers"},
      {Words({kNoRuns, 0, 1, 0, 7, 2, 17, 0, 1, 2, 3}), "offset"},
      {Words({kNoRuns, 0, 1, 0, 7, 2, 16, 1, 1, 2, 3}), "offset"},
      {Words({kNoRuns, 0, 1, 0, 7, 2, 16, 0, 1, 2, 2}), "array is out of order"},
      {Words({kNoRuns, 0, 1, 0, 7, 2, 16, 0, 3, 2, 4}), "array is out of order"},
      {Bitset(4098, 4097), "a bitset has 4097 members, not 4098"},
      {Bitset(4097, 4098), "a bitset has 4098 members, not 4097"},
      {run + Words({3, 11, 2, 5, 9, 14, 1}), "runs overlap"},
      {run + Words({3, 11, 2, 100, 1, 5, 9}), "runs overlap"},
      {run + Words({3, 11, 2, 5, 9, 65535, 1}), "a run leaves its container"},
      {run + Words({3, 12, 2, 5, 9, 100, 1}), "runs have 12 members, not 13"},
      {run + Words({3, 0, 0}), "runs have 0 members, not 1"},
  };
  for (const Case& c : cases) {
    EXPECT_THAT(CheckPortableRoaring(c.bytes), HasError(Code::kCorrupt, HasSubstr(c.message)))
        << ToHex(c.bytes.substr(0, 40));
  }
}

}  // namespace
}  // namespace icewright
