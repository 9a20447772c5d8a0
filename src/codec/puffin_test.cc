#include "codec/puffin.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "codec/compression.h"
#include "codec/json.h"
#include "codec/position_bitmap.h"
#include "testing/matchers.h"
#include "testing/paths.h"

namespace icewright {
namespace {

using ::testing::ElementsAre;
using ::testing::Eq;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Optional;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

Result<PuffinFooter> FooterOf(ByteView file) {
  const auto size = static_cast<std::int64_t>(file.size());
  const ByteView last = file.substr(file.size() - std::min<std::size_t>(12, file.size()));
  IW_ASSIGN(const std::int64_t footer, PuffinFooterSize(last, size));
  return ParsePuffinFooter(file.substr(file.size() - static_cast<std::size_t>(footer)), size);
}

ByteView RawBlob(ByteView file, const PuffinBlob& blob) {
  return file.substr(static_cast<std::size_t>(blob.offset), static_cast<std::size_t>(blob.length));
}

TEST(PuffinTest, AnEmptyFileIsHeaderAndFooter) {
  MemorySink sink;
  PuffinWriter writer(sink, "icewright");
  const std::string payload = R"({"blobs":[],"properties":{"created-by":"icewright"}})";
  EXPECT_THAT(writer.Finish(), IsOkAndHolds(static_cast<std::int64_t>(payload.size()) + 16));
  Bytes want = "PFA1PFA1" + payload;
  AppendLittle(want, static_cast<std::int32_t>(payload.size()));
  want += Bytes(4, '\0') + "PFA1";
  EXPECT_EQ(sink.bytes(), want);
  EXPECT_EQ(writer.bytes_written(), static_cast<std::int64_t>(want.size()));
  IW_ASSERT_OK_AND_ASSIGN(const auto footer, FooterOf(sink.bytes()));
  EXPECT_THAT(footer.blobs, IsEmpty());
  EXPECT_THAT(footer.properties, ElementsAre(Pair("created-by", "icewright")));
  EXPECT_EQ(footer.footer_size, static_cast<std::int64_t>(payload.size()) + 16);
}

TEST(PuffinTest, WritesAndReadsBlobs) {
  MemorySink sink;
  PuffinWriter writer(sink, "icewright");
  IW_ASSERT_OK_AND_ASSIGN(const auto first,
                          writer.Add({.type = "deletion-vector-v1",
                                      .fields = {FieldId(2147483645)},
                                      .properties = {{"referenced-data-file", "s3://b/\xc3\xa4 b"},
                                                     {"cardinality", "3"}}},
                                     "raw bytes"));
  EXPECT_EQ(first.offset, 4);
  EXPECT_EQ(first.length, 9);
  IW_ASSERT_OK_AND_ASSIGN(const Bytes packed, Compress(Compression::kZstd, "sketch sketch"));
  IW_ASSERT_OK_AND_ASSIGN(const auto second, writer.Add({.type = "apache-datasketches-theta-v1",
                                                         .fields = {FieldId(1), FieldId(2)},
                                                         .snapshot_id = SnapshotId(77),
                                                         .sequence_number = SequenceNumber(5),
                                                         .compression_codec = "zstd"},
                                                        packed));
  EXPECT_EQ(second.offset, 13);
  EXPECT_THAT(writer.Finish(), IsOk());

  IW_ASSERT_OK_AND_ASSIGN(const auto footer, FooterOf(sink.bytes()));
  ASSERT_EQ(footer.blobs.size(), 2U);
  const PuffinBlob& dv = footer.blobs[0];
  EXPECT_EQ(dv.type, "deletion-vector-v1");
  EXPECT_THAT(dv.fields, ElementsAre(FieldId(2147483645)));
  EXPECT_EQ(Raw(dv.snapshot_id), -1);
  EXPECT_EQ(Raw(dv.sequence_number), -1);
  EXPECT_EQ(dv.compression_codec, std::nullopt);
  EXPECT_THAT(dv.properties, UnorderedElementsAre(Pair("referenced-data-file", "s3://b/\xc3\xa4 b"),
                                                  Pair("cardinality", "3")));
  EXPECT_THAT(DecodePuffinBlob(dv, RawBlob(sink.bytes(), dv), 100), IsOkAndHolds(Eq("raw bytes")));
  const PuffinBlob& sketch = footer.blobs[1];
  EXPECT_EQ(sketch.snapshot_id, SnapshotId(77));
  EXPECT_EQ(sketch.sequence_number, SequenceNumber(5));
  EXPECT_THAT(sketch.compression_codec, Optional(std::string("zstd")));
  EXPECT_THAT(sketch.properties, IsEmpty());
  EXPECT_THAT(DecodePuffinBlob(sketch, RawBlob(sink.bytes(), sketch), 100),
              IsOkAndHolds(Eq("sketch sketch")));
}

TEST(PuffinTest, DecodesCodecsWithinALimit) {
  for (const auto& [name, codec] :
       {std::pair{"lz4", Compression::kLz4Frame}, std::pair{"zstd", Compression::kZstd}}) {
    IW_ASSERT_OK_AND_ASSIGN(const Bytes raw, Compress(codec, Bytes(1000, 'a')));
    const PuffinBlob blob{.type = "t",
                          .fields = {},
                          .length = static_cast<std::int64_t>(raw.size()),
                          .compression_codec = name};
    EXPECT_THAT(DecodePuffinBlob(blob, raw, 1000), IsOkAndHolds(Eq(Bytes(1000, 'a'))));
    EXPECT_THAT(DecodePuffinBlob(blob, raw, 999),
                HasError(Code::kCorrupt, HasSubstr("Puffin blob: ")));
    EXPECT_THAT(DecodePuffinBlob(blob, raw + "x", 1000), HasCode(Code::kCorrupt));
  }
  EXPECT_THAT(
      DecodePuffinBlob({.type = "t", .fields = {}, .length = 1, .compression_codec = "xz"}, "x", 9),
      HasError(Code::kUnsupported, HasSubstr("'xz'")));
}

/// A file with any payload.
Bytes FileOf(ByteView payload, std::uint32_t flags = 0) {
  Bytes out = "PFA1blobPFA1" + std::string(payload);
  AppendLittle(out, static_cast<std::int32_t>(payload.size()));
  AppendLittle(out, flags);
  return out + "PFA1";
}

std::string BlobJson(std::string_view extra) {
  return fmt::format(
      R"({{"blobs":[{{"type":"t","fields":[1],"snapshot-id":1,"sequence-number":2,{}}}]}})", extra);
}

TEST(PuffinTest, ReadsACompressedFooter) {
  const std::string payload = BlobJson(R"("offset":4,"length":4)");
  IW_ASSERT_OK_AND_ASSIGN(const Bytes packed, Compress(Compression::kLz4Frame, payload));
  const Bytes file = FileOf(packed, 1);
  IW_ASSERT_OK_AND_ASSIGN(const auto footer, FooterOf(file));
  ASSERT_EQ(footer.blobs.size(), 1U);
  EXPECT_EQ(RawBlob(file, footer.blobs[0]), "blob");
  EXPECT_THAT(footer.properties, IsEmpty());
  EXPECT_THAT(FooterOf(FileOf(payload, 1)), HasCode(Code::kCorrupt));
  EXPECT_THAT(FooterOf(FileOf(packed, 0)), HasCode(Code::kCorrupt));
}

TEST(PuffinTest, SaysWhatIsWrong) {
  const std::string good = BlobJson(R"("offset":4,"length":4)");
  const Bytes file = FileOf(good);
  Bytes no_magic = file;
  no_magic.back() = '2';
  Bytes no_start = file;
  no_start[8] = 'X';
  struct Case {
    Bytes file;
    const char* message;
    Code code = Code::kCorrupt;
  };
  const Case cases[] = {
      {"", "too short"},
      {"PFA1", "too short"},
      {Bytes(12, 'x'), "does not end with the magic"},
      {no_magic, "does not end with the magic"},
      {no_start, "does not start with the magic"},
      {FileOf(good, 2), "unknown footer flags 0x2", Code::kUnsupported},
      {FileOf(good, 0x80000000), "unknown footer flags 0x80000000", Code::kUnsupported},
      {FileOf("{"), "Puffin footer: JSON is malformed"},
      {FileOf("[]"), "an object with 'blobs'"},
      {FileOf("{}"), "'blobs' is missing"},
      {FileOf(R"({"blobs":[],"properties":{"a":1}})"), "property 'a' is no string"},
      {FileOf(R"({"blobs":[{}]})"), "Puffin blob 0: 'type' is missing"},
      {FileOf(BlobJson(R"("offset":4)")), "'length' is missing"},
      {FileOf(BlobJson(R"("offset":3,"length":4)")), "4 bytes at 3 are not inside"},
      {FileOf(BlobJson(R"("offset":4,"length":5)")), "5 bytes at 4 are not inside"},
      {FileOf(BlobJson(R"("offset":9,"length":0)")), "0 bytes at 9 are not inside"},
      {FileOf(BlobJson(R"("offset":4,"length":-1)")), "-1 bytes at 4 are not inside"},
      {FileOf(BlobJson(R"("offset":4,"length":9223372036854775807)")), "are not inside"},
      {FileOf(BlobJson(R"("offset":4,"length":4,"compression-codec":"xz")")), "codec 'xz'",
       Code::kUnsupported},
      {FileOf(R"({"blobs":[{"type":"t","fields":[4294967296]}]})"), "4294967296 is no field id"},
      {FileOf(R"({"blobs":[{"type":"t","fields":["a"]}]})"), "\"a\" is no field id"},
  };
  for (const Case& c : cases) {
    EXPECT_THAT(FooterOf(c.file), HasError(c.code, HasSubstr(c.message))) << c.message;
  }
  EXPECT_THAT(FooterOf(file), IsOk());
}

TEST(PuffinTest, FooterSizesAreChecked) {
  const auto tail = [](std::int32_t payload) {
    Bytes out;
    AppendLittle(out, payload);
    return out + Bytes(4, '\0') + "PFA1";
  };
  EXPECT_THAT(PuffinFooterSize(tail(84), 104), IsOkAndHolds(100));
  for (const std::int32_t payload : {85, -1, -2147483647 - 1, 2147483647}) {
    EXPECT_THAT(PuffinFooterSize(tail(payload), 104), HasCode(Code::kCorrupt)) << payload;
  }
  const Bytes file = FileOf(BlobJson(R"("offset":4,"length":4)"));
  EXPECT_THAT(ParsePuffinFooter(ByteView(file).substr(4), static_cast<std::int64_t>(file.size())),
              HasError(Code::kCorrupt, HasSubstr("the footer has")));
}

Bytes Golden(std::string_view name) {
  std::ifstream in(fmt::format("{}/fuzz/corpus/puffin/{}", SourceFolder(), name), std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(PuffinGoldenTest, ReadsAndRewritesDeletionVectorsOfOthers) {
  const std::pair<const char*, std::vector<std::int64_t>> files[] = {
      {"java-dv-1.puffin", {1, 3}}, {"flink-dv.puffin", {61}}, {"spark-dv.puffin", {11, 10, 1}}};
  for (const auto& [name, cardinalities] : files) {
    SCOPED_TRACE(name);
    const Bytes file = Golden(name);
    IW_ASSERT_OK_AND_ASSIGN(const auto footer, FooterOf(file));
    MemorySink sink;
    PuffinWriter writer(sink, footer.properties.at("created-by"));
    std::vector<std::int64_t> found;
    for (const PuffinBlob& blob : footer.blobs) {
      EXPECT_EQ(blob.type, "deletion-vector-v1");
      EXPECT_THAT(blob.fields, ElementsAre(FieldId(2147483645)));
      EXPECT_THAT(blob.properties.at("referenced-data-file"), HasSubstr("file:/tmp/"));
      found.push_back(std::stoll(blob.properties.at("cardinality")));
      IW_ASSERT_OK_AND_ASSIGN(const auto bitmap, PositionBitmap::ParseDeletionVector(
                                                     RawBlob(file, blob), found.back()));
      IW_ASSERT_OK_AND_ASSIGN(const auto written,
                              writer.Add(blob, bitmap.SerializeDeletionVector()));
      EXPECT_EQ(written.offset, blob.offset);
      EXPECT_EQ(written.length, blob.length);
    }
    EXPECT_EQ(found, cardinalities);
    EXPECT_THAT(writer.Finish(), IsOkAndHolds(footer.footer_size));
    // The same but for the order of properties: Java writes them as they were set.
    const auto blobs_end = file.size() - static_cast<std::size_t>(footer.footer_size);
    EXPECT_EQ(sink.bytes().substr(0, blobs_end), file.substr(0, blobs_end));
    EXPECT_EQ(sink.bytes().size(), file.size());
  }
}

TEST(PuffinGoldenTest, ReadsCompressedSketchesOfJava) {
  const Bytes file = Golden("java-theta.stats");
  IW_ASSERT_OK_AND_ASSIGN(const auto footer, FooterOf(file));
  ASSERT_EQ(footer.blobs.size(), 2U);
  EXPECT_EQ(footer.blobs[0].type, "apache-datasketches-theta-v1");
  EXPECT_EQ(footer.blobs[0].snapshot_id, SnapshotId(2720612735747516999));
  EXPECT_EQ(footer.blobs[0].sequence_number, SequenceNumber(14));
  EXPECT_THAT(footer.blobs[0].properties, ElementsAre(Pair("ndv", "850")));
  IW_ASSERT_OK_AND_ASSIGN(
      const Bytes sketch,
      DecodePuffinBlob(footer.blobs[0], RawBlob(file, footer.blobs[0]), 10'000));
  EXPECT_EQ(sketch.size(), 6816U);
  EXPECT_EQ(Crc32(sketch), 0xb00d497fU);  // by Python's zstd
}

}  // namespace
}  // namespace icewright
