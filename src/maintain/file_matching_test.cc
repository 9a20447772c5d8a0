#include "maintain/file_matching.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "testing/matchers.h"

namespace icewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

struct UriCase {
  const char* text;
  const char* scheme;
  const char* authority;
  const char* path;
};

TEST(FileMatchingTest, UrisAreSplitAndNotDecoded) {
  const UriCase cases[] = {
      {"s3://bucket/a/b", "s3", "bucket", "/a/b"},
      {"s3://bucket", "s3", "bucket", ""},
      {"file:/a/b", "file", "", "/a/b"},
      {"file:///a/b", "file", "", "/a/b"},
      {"file://localhost/a", "file", "localhost", "/a"},
      {"/a/b", "", "", "/a/b"},
      {"//a/b", "", "", "//a/b"},
      {"/a:b/c", "", "", "/a:b/c"},
      {"abfss://c@acc.dfs.core/x", "abfss", "c@acc.dfs.core", "/x"},
      {"hdfs://nn:8020/w/t", "hdfs", "nn:8020", "/w/t"},
      {"s3://b/with space/100%25?x#y", "s3", "b", "/with space/100%25?x#y"},
  };
  for (const UriCase& c : cases) {
    SCOPED_TRACE(c.text);
    const auto uri = SplitUri(c.text);
    ASSERT_THAT(uri, IsOk());
    EXPECT_EQ(uri->scheme, c.scheme);
    EXPECT_EQ(uri->authority, c.authority);
    EXPECT_EQ(uri->path, c.path);
  }
  for (const char* text :
       {"", "a/b", "data/x", "s3:x", "://b/x", "1s:/x", "s 3:/x", "file:", "s3://"}) {
    EXPECT_THAT(SplitUri(text), HasCode(Code::kInvalidArgument)) << text;
  }
}

TEST(FileMatchingTest, PathsAreComparedByTheirNormalForm) {
  const std::pair<const char*, const char*> cases[] = {
      {"/a/b", "/a/b"},           {"/a//b", "/a/b"},        {"//a/b/", "/a/b"}, {"/a/./b", "/a/b"},
      {"/a/../b", "/b"},          {"/../a", "/a"},          {"/a/b/..", "/a"},  {"/", ""},
      {"/a/..b/.c", "/a/..b/.c"}, {"/a/b%2Fc", "/a/b%2Fc"}, {"/a b", "/a b"},
  };
  for (const auto& [path, normal] : cases) {
    std::string out = "kept";
    AppendNormalPath(path, out);
    EXPECT_EQ(out, std::string("kept") + normal) << path;
    EXPECT_EQ(HashOfPath(path), HashPath(normal)) << path;
  }
  EXPECT_NE(HashOfPath("/a b"), HashOfPath("/a%20b"));
  EXPECT_NE(HashOfPath("/a/B"), HashOfPath("/a/b"));
}

TEST(FileMatchingTest, RelativeMeansWholeParts) {
  EXPECT_EQ(RelativeTo("/w/t", "/w/t/data/x"), "data/x");
  EXPECT_EQ(RelativeTo("/w/t", "/w/t2/x"), "");
  EXPECT_EQ(RelativeTo("/w/t", "/w/t"), "");
  EXPECT_EQ(RelativeTo("/w/t", "/w"), "");
  EXPECT_EQ(RelativeTo("", "/x/y"), "x/y");
}

TEST(FileMatchingTest, HiddenPathsByParts) {
  const std::vector<std::string> prefixes = {"_p=", ".q="};
  const std::pair<const char*, bool> cases[] = {
      {"data/x", false},        {"_SUCCESS", true},         {"data/.x.crc", true},
      {"data/_tmp/x", true},    {".hive-staging/x", true},  {"data/_p=1/x", false},
      {"data/.q=1/x", false},   {"data/_p=1/_tmp/x", true}, {"data/_p/x", true},
      {"data/_part=1/x", true}, {"data/_pp=1/x", true},     {"data/a_b/c.d", false},
      {"data/_p=1/.y", true},   {"data/_p=", false},        {"data/x_", false},
  };
  for (const auto& [path, hidden] : cases) EXPECT_EQ(IsHidden(path, prefixes), hidden) << path;
  EXPECT_TRUE(IsHidden("data/_p=1/x", {})) << "no partition field of that name";
}

TEST(FileMatchingTest, EqualsAreLists) {
  EXPECT_THAT(ParseEquals("equal-schemes", "s3a,s3n=s3"),
              IsOkAndHolds(ElementsAre(Pair("s3a", "s3"), Pair("s3n", "s3"))));
  EXPECT_THAT(
      ParseEquals("equal-schemes", " a , b = c ; d=e,f=g,"),
      IsOkAndHolds(ElementsAre(Pair("a", "c"), Pair("b", "c"), Pair("d", "e"), Pair("f", "g"))));
  EXPECT_THAT(ParseEquals("equal-schemes", " "), IsOkAndHolds(ElementsAre()));
  for (const char* text : {"a", "a=b,c", "a=", "=b", "a,,b=c"}) {
    EXPECT_THAT(ParseEquals("equal-schemes", text),
                HasError(Code::kInvalidArgument, HasSubstr("equal-schemes")))
        << text;
  }
}

TEST(FileMatchingTest, ModesInAnyCase) {
  EXPECT_THAT(ParsePrefixMismatchMode("ERROR"), IsOkAndHolds(PrefixMismatchMode::kError));
  EXPECT_THAT(ParsePrefixMismatchMode("ignore"), IsOkAndHolds(PrefixMismatchMode::kIgnore));
  EXPECT_THAT(ParsePrefixMismatchMode("Delete"), IsOkAndHolds(PrefixMismatchMode::kDelete));
  EXPECT_THAT(ParsePrefixMismatchMode("delet"),
              HasError(Code::kInvalidArgument, HasSubstr("did you mean 'delete'")));
}

// ---- Which of two spellings is the same file

struct MatchCase {
  const char* listed;
  std::vector<const char*> named;  // all with the listed file's path
  Match match;
  const char* equal_schemes = "";
  const char* equal_authorities = "";
};

Match MatchOf(const MatchCase& c) {
  const PrefixRules rules(ParseEquals("s", c.equal_schemes).value(),
                          ParseEquals("a", c.equal_authorities).value());
  const auto prefix_of = [&](const char* text) { return rules.PrefixOf(SplitUri(text).value()); };
  std::vector<PrefixRules::Prefix> prefixes;
  for (const char* named : c.named) prefixes.push_back(prefix_of(named));
  std::vector<const PrefixRules::Prefix*> borrowed;
  for (const auto& prefix : prefixes) borrowed.push_back(&prefix);
  return MatchPrefixes(prefix_of(c.listed), borrowed);
}

TEST(FileMatchingTest, PrefixesMatchByTheRules) {
  const MatchCase cases[] = {
      {"s3://b/x", {}, Match::kOrphan},
      {"s3://b/x", {"s3://b/x"}, Match::kReferenced},
      {"S3://B/x", {"s3://b/x"}, Match::kReferenced},
      // Without scheme and authority in the table, anything matches; not the other way round.
      {"s3://b/x", {"/x"}, Match::kReferenced},
      {"/x", {"s3://b/x"}, Match::kMismatch},
      {"s3://b/x", {"s3:/x"}, Match::kReferenced},
      // A plain path is a local file.
      {"/x", {"file:/x"}, Match::kReferenced},
      {"/x", {"file:///x"}, Match::kReferenced},
      {"file:/x", {"/x"}, Match::kReferenced},
      {"file:///x", {"file:/x"}, Match::kReferenced},
      {"file:/x", {"file://localhost/x"}, Match::kReferenced},
      {"s3://b/x", {"file:/x"}, Match::kMismatch},
      // s3a and s3n are s3 by default; others must be declared.
      {"s3a://b/x", {"s3://b/x"}, Match::kReferenced},
      {"s3://b/x", {"s3n://b/x"}, Match::kReferenced},
      {"oss://b/x", {"s3://b/x"}, Match::kMismatch},
      {"oss://b/x", {"s3a://b/x"}, Match::kReferenced, "OSS,cos=s3"},
      {"s3a://b/x", {"s3n://b/x"}, Match::kReferenced, "oss=s3"},
      {"s3://b/x", {"s3://c/x"}, Match::kMismatch},
      {"s3://b/x", {"s3://c/x"}, Match::kReferenced, "", "b,d=c"},
      {"s3://d/x", {"s3://b/x"}, Match::kReferenced, "", "b,d=c"},
      {"s3://e/x", {"s3://b/x"}, Match::kMismatch, "", "b,d=c"},
      {"hdfs://nn/x", {"hdfs://nn:8020/x"}, Match::kMismatch},
      {"hdfs://nn/x", {"hdfs://nn:8020/x"}, Match::kReferenced, "", "nn:8020=nn"},
      // One that matches is enough.
      {"s3://b/x", {"s3://c/x", "s3://b/x"}, Match::kReferenced},
      {"s3://b/x", {"s3://c/x", "s3://d/x"}, Match::kMismatch},
      {"s3://b/x", {"hdfs://c/x", "/x"}, Match::kReferenced},
  };
  for (const MatchCase& c : cases) {
    EXPECT_EQ(MatchOf(c), c.match) << c.listed << " against " << ::testing::PrintToString(c.named)
                                   << c.equal_schemes << c.equal_authorities;
  }
}

}  // namespace
}  // namespace icewright
