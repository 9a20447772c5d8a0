#include "codec/avro/container.h"

#include <algorithm>
#include <string>
#include <vector>

#include "testing/matchers.h"

namespace icewright::avro {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

constexpr std::string_view kSync = "0123456789abcdef";
constexpr std::string_view kSchema = R"({"type" : "record", "name": "r", "fields": [
  {"name": "id", "type": "long", "field-id": 1}, {"name": "s", "type": "string", "field-id": 2}]})";

struct Row {
  std::int64_t id;
  std::string text;
  friend bool operator==(const Row&, const Row&) = default;
};

std::vector<Row> Rows(int count) {
  std::vector<Row> rows;
  for (int i = 0; i < count; ++i) {
    rows.push_back({i * 1009, std::string(static_cast<std::size_t>(i % 50), 'x')});
  }
  return rows;
}

ContainerWriter::Options OptionsOf(Compression compression) {
  return {.compression = compression, .block_bytes = 1000, .sync_marker = std::string(kSync)};
}

Bytes Written(const std::vector<Row>& rows, Compression compression) {
  MemorySink sink;
  auto writer =
      ContainerWriter::Open(sink, kSchema, {{"format-version", "2"}}, OptionsOf(compression));
  EXPECT_THAT(writer, IsOk());
  for (const Row& row : rows) {
    writer->encoder().WriteLong(row.id);
    writer->encoder().WriteBytes(row.text);
    EXPECT_THAT(writer->EndRecord(), IsOk());
  }
  EXPECT_THAT(writer->Finish(), IsOk());
  EXPECT_EQ(writer->estimated_bytes(), static_cast<std::int64_t>(sink.bytes().size()));
  return std::move(sink).Take();
}

/// Gives at most `step` bytes a call, and an error after `fail_after` bytes.
class SlowSource final : public ByteSource {
 public:
  SlowSource(ByteView bytes, std::size_t step, std::size_t fail_after = SIZE_MAX)
      : bytes_(bytes), step_(step), fail_after_(fail_after) {}
  Result<std::size_t> Read(std::span<char> out) override {
    if (position_ >= fail_after_) return Error(Code::kIo, "disk on fire");
    const std::size_t size = std::min({step_, out.size(), bytes_.size() - position_});
    std::copy_n(bytes_.data() + position_, size, out.data());
    position_ += size;
    return size;
  }

 private:
  ByteView bytes_;
  std::size_t step_;
  std::size_t fail_after_;
  std::size_t position_ = 0;
};

Result<std::vector<Row>> ReadAll(std::unique_ptr<ByteSource> source,
                                 std::size_t limit = std::size_t{1} << 20) {
  IW_ASSIGN(ContainerReader reader, ContainerReader::Open(std::move(source), "m0.avro", limit));
  std::vector<Row> rows;
  ContainerReader::Block block;
  for (;;) {
    IW_ASSIGN(const bool more, reader.Next(block));
    if (!more) return rows;
    Decoder decoder(block.data);
    for (std::int64_t i = 0; i < block.count; ++i) {
      const std::int64_t id = decoder.ReadLong();
      rows.push_back({id, std::string(decoder.ReadBytes())});
    }
    if (!decoder.ok() || !decoder.at_end()) return Error(Code::kCorrupt, "m0.avro: bad record");
  }
}

Result<std::vector<Row>> ReadAll(ByteView file) {
  return ReadAll(std::make_unique<MemorySource>(file));
}

class AvroContainerTest : public ::testing::TestWithParam<Compression> {};

TEST_P(AvroContainerTest, RoundTrips) {
  for (const int count : {0, 1, 2, 500}) {
    const Bytes file = Written(Rows(count), GetParam());
    EXPECT_THAT(ReadAll(file), IsOkAndHolds(ElementsAreArray(Rows(count))));
  }
}

TEST_P(AvroContainerTest, ReadsWhateverPiecesTheSourceGives) {
  const std::vector<Row> rows = Rows(300);
  const Bytes file = Written(rows, GetParam());
  for (const std::size_t step : {1, 7, 1000}) {
    EXPECT_THAT(ReadAll(std::make_unique<SlowSource>(file, step)),
                IsOkAndHolds(ElementsAreArray(rows)));
  }
}

TEST_P(AvroContainerTest, ACutFileIsCorruptOrEndsAtABlock) {
  const std::vector<Row> rows = Rows(100);
  const Bytes file = Written(rows, GetParam());
  int whole = 0;
  for (std::size_t size = 0; size < file.size(); ++size) {
    const auto read = ReadAll(ByteView(file).substr(0, size));
    if (read) {  // the format cannot tell a file cut between blocks from a shorter one
      ++whole;
      ASSERT_TRUE(ByteView(file).substr(0, size).ends_with(kSync)) << size;
      ASSERT_TRUE(std::equal(read->begin(), read->end(), rows.begin())) << size;
    } else {
      ASSERT_THAT(read, HasError(Code::kCorrupt, HasSubstr("m0.avro"))) << size;
    }
  }
  EXPECT_EQ(whole, 3) << "after the header and after each block but the last";
}

TEST_P(AvroContainerTest, FlippedBitsNeverCrash) {
  const Bytes file = Written(Rows(30), GetParam());
  for (std::size_t i = 0; i < file.size() * 8; ++i) {
    Bytes broken = file;
    broken[i / 8] = static_cast<char>(broken[i / 8] ^ (1 << (i % 8)));
    const auto read = ReadAll(broken);
    if (!read) {
      ASSERT_THAT(read.error().message(), HasSubstr("m0.avro")) << i;
    }
  }
}

TEST_P(AvroContainerTest, RawBlocksCopyIntoAnotherFile) {
  const std::vector<Row> rows = Rows(200);
  const Bytes file = Written(rows, GetParam());
  IW_ASSERT_OK_AND_ASSIGN(auto reader,
                          ContainerReader::Open(std::make_unique<MemorySource>(file), "m0.avro"));
  EXPECT_EQ(reader.compression(), GetParam());
  MemorySink sink;
  ContainerWriter::Options options = OptionsOf(GetParam());
  options.sync_marker = "another marker!!";
  IW_ASSERT_OK_AND_ASSIGN(auto writer,
                          ContainerWriter::Open(sink, reader.schema_json(), {}, options));
  writer.encoder().WriteLong(-5);
  writer.encoder().WriteBytes("own record");
  ASSERT_THAT(writer.EndRecord(), IsOk());
  ContainerReader::RawBlock block;
  for (;;) {
    IW_ASSERT_OK_AND_ASSIGN(const bool more, reader.NextRaw(block));
    if (!more) break;
    ASSERT_THAT(writer.AppendRaw(block), IsOk());
  }
  ASSERT_THAT(writer.Finish(), IsOk());
  std::vector<Row> want = {{-5, "own record"}};
  want.insert(want.end(), rows.begin(), rows.end());
  EXPECT_THAT(ReadAll(sink.bytes()), IsOkAndHolds(ElementsAreArray(want)));
}

std::string NameOfCase(const ::testing::TestParamInfo<Compression>& test) {
  switch (test.param) {
    case Compression::kDeflate:
      return "Deflate";
    case Compression::kZstd:
      return "Zstd";
    case Compression::kSnappy:
      return "Snappy";
    default:
      return "Null";
  }
}

INSTANTIATE_TEST_SUITE_P(Codec, AvroContainerTest,
                         ::testing::Values(Compression::kNone, Compression::kDeflate,
                                           Compression::kZstd, Compression::kSnappy),
                         NameOfCase);

TEST(AvroHeaderTest, KeepsMetadataAndSchemaText) {
  const Bytes file = Written({}, Compression::kZstd);
  IW_ASSERT_OK_AND_ASSIGN(auto reader,
                          ContainerReader::Open(std::make_unique<MemorySource>(file), "m0.avro"));
  EXPECT_EQ(reader.schema_json(), kSchema);
  EXPECT_EQ(reader.schema()->fields[1].name, "s");
  EXPECT_THAT(reader.metadata(),
              ::testing::UnorderedElementsAre(::testing::Pair("avro.schema", kSchema),
                                              ::testing::Pair("avro.codec", "zstandard"),
                                              ::testing::Pair("format-version", "2")));
}

TEST(AvroHeaderTest, CodecNames) {
  EXPECT_THAT(CodecByName("null"), IsOkAndHolds(Compression::kNone));
  EXPECT_THAT(CodecByName("deflate"), IsOkAndHolds(Compression::kDeflate));
  EXPECT_THAT(CodecByName("zstandard"), IsOkAndHolds(Compression::kZstd));
  EXPECT_THAT(CodecByName("zstd"), IsOkAndHolds(Compression::kZstd));
  EXPECT_THAT(CodecByName("snappy"), IsOkAndHolds(Compression::kSnappy));
  EXPECT_THAT(CodecByName("bzip2"), HasError(Code::kUnsupported, HasSubstr("'bzip2'")));
}

/// A file by hand: any header, then any block.
Bytes File(const std::vector<std::pair<std::string, std::string>>& metadata, ByteView rest = "") {
  Bytes out("Obj\1");
  Encoder encoder(out);
  if (!metadata.empty()) {
    encoder.WriteLong(static_cast<std::int64_t>(metadata.size()));
    for (const auto& [key, value] : metadata) {
      encoder.WriteBytes(key);
      encoder.WriteBytes(value);
    }
  }
  encoder.WriteLong(0);
  return out + std::string(kSync) + std::string(rest);
}

Bytes BlockOf(std::int64_t count, std::int64_t size, ByteView data, ByteView sync = kSync) {
  Bytes out;
  Encoder encoder(out);
  encoder.WriteLong(count);
  encoder.WriteLong(size);
  return out + std::string(data) + std::string(sync);
}

TEST(AvroHeaderTest, NoCodecMeansNull) {
  const Bytes file = File({{"avro.schema", std::string(kSchema)}}, BlockOf(1, 3, "\x0e\x02z"));
  EXPECT_THAT(ReadAll(file), IsOkAndHolds(ElementsAreArray({Row{7, "z"}})));
}

TEST(AvroHeaderTest, MetadataBlocksMayCarryTheirSize) {
  Bytes file("Obj\1");
  Encoder encoder(file);
  encoder.WriteLong(-1);
  encoder.WriteLong(static_cast<std::int64_t>(kSchema.size()) + 14);
  encoder.WriteBytes("avro.schema");
  encoder.WriteBytes(kSchema);
  encoder.WriteLong(0);
  file += kSync;
  EXPECT_THAT(ReadAll(file), IsOkAndHolds(ElementsAreArray(std::vector<Row>{})));
}

struct BadCase {
  Bytes file;
  const char* message;
  Code code = Code::kCorrupt;
};

TEST(AvroContainerErrorTest, SaysWhatIsWrong) {
  const std::string schema(kSchema);
  const std::pair<std::string, std::string> good{"avro.schema", schema};
  const Bytes huge = BlockOf(1, std::int64_t{1} << 40, "");
  const BadCase cases[] = {
      {"", "the magic is missing"},
      {"PAR1", "the magic is missing"},
      {"Obj\2", "the magic is missing"},
      {"Obj\1", "cut off inside a number"},
      {Bytes("Obj\1") + "\x02\x01", "header is malformed"},  // a key of -1 bytes
      {Bytes("Obj\1") + "\x02\xfe\xff\xff\xff\x0f", "header is malformed or larger"},
      {Bytes("Obj\1") + "\x02\xfe\xff\x01", "cut off: 16383 bytes are missing of 16383"},
      {File({}), "no avro.schema"},
      {File({{"avro.schema", "{"}}), "Avro schema: JSON is malformed"},
      {File({good, {"avro.codec", "xz"}}), "'xz' is not supported", Code::kUnsupported},
      {File({good}, BlockOf(1, 3, "\x0e\x02z", "0123456789abcdeX")), "sync marker"},
      {File({good}, BlockOf(-1, 3, "\x0e\x02z")), "negative count or size"},
      {File({good}, BlockOf(1, -3, "\x0e\x02z")), "negative count or size"},
      {File({good}, BlockOf(2, 3, "\x0e\x02z")), "a block of 3 bytes claims 2 records"},
      {File({good}, huge), "a block of 1099511627776 bytes is larger than the limit"},
      {File({good}, BlockOf(1, 1000, "abc")), "cut off: "},
      {File({good, {"avro.codec", "snappy"}}, BlockOf(1, 3, "abc")), "without its CRC"},
      {File({good, {"avro.codec", "snappy"}}, BlockOf(1, 9, Bytes("\x03\x08\x0e\x02z") + "abcd")),
       "CRC of a snappy block is wrong"},
      {File({good, {"avro.codec", "deflate"}}, BlockOf(1, 3, "\xff\xff\xff")),
       "deflate data is malformed"},
      {File({good, {"avro.codec", "zstandard"}}, BlockOf(1, 3, "abc")), "zstd data is malformed"},
      {File({{"avro.schema", "\"null\""}}, BlockOf(1 << 25, 0, "")), "claims 33554432 records"},
  };
  for (const BadCase& c : cases) {
    EXPECT_THAT(ReadAll(c.file),
                HasError(c.code, AllOf(HasSubstr("m0.avro: "), HasSubstr(c.message))))
        << c.message;
  }
}

TEST(AvroContainerErrorTest, BlocksAreBounded) {
  const Bytes file = Written({{1, std::string(500'000, 'x')}}, Compression::kDeflate);
  EXPECT_THAT(ReadAll(std::make_unique<MemorySource>(file), 500'010), IsOk());
  EXPECT_THAT(ReadAll(std::make_unique<MemorySource>(file), 500'000),
              HasError(Code::kCorrupt, HasSubstr("limit of 500000 bytes")));
  const Bytes plain = Written({{1, std::string(500'000, 'x')}}, Compression::kNone);
  EXPECT_THAT(ReadAll(std::make_unique<MemorySource>(plain), 500'000),
              HasError(Code::kCorrupt, HasSubstr("larger than the limit")));
}

/// Remembers the most that it was asked for.
class AskedSource final : public ByteSource {
 public:
  AskedSource(ByteView bytes, std::size_t& most) : source_(bytes), most_(most) {}
  Result<std::size_t> Read(std::span<char> out) override {
    most_ = std::max(most_, out.size());
    return source_.Read(out);
  }

 private:
  MemorySource source_;
  std::size_t& most_;
};

TEST(AvroContainerErrorTest, ClaimedSizesReserveNoMemory) {
  const std::int64_t claimed = 200 << 20;
  Bytes header("Obj\1\2");  // one entry, whose key claims to be long
  Encoder(header).WriteLong(60 << 20);
  const Bytes files[] = {
      File({{"avro.schema", std::string(kSchema)}}, BlockOf(1, claimed, "little")), header};
  for (const Bytes& file : files) {
    std::size_t most = 0;
    EXPECT_THAT(ReadAll(std::make_unique<AskedSource>(file, most), std::size_t{256} << 20),
                HasError(Code::kCorrupt, HasSubstr("cut off")));
    EXPECT_LE(most, (256U << 10) + file.size());
  }
}

TEST(AvroContainerErrorTest, ErrorsOfTheSourceComeThrough) {
  const Bytes file = Written(Rows(300), Compression::kNone);
  for (const std::size_t after : {std::size_t{0}, std::size_t{100}, file.size() - 1}) {
    EXPECT_THAT(ReadAll(std::make_unique<SlowSource>(file, 50, after)),
                HasError(Code::kIo, HasSubstr("disk on fire")));
  }
}

TEST(AvroWriterTest, RefusesWhatAvroDoesNotHave) {
  MemorySink sink;
  const auto open = [&](const std::map<std::string, std::string>& metadata,
                        ContainerWriter::Options options) {
    return ContainerWriter::Open(sink, kSchema, metadata, std::move(options));
  };
  EXPECT_THAT(open({}, OptionsOf(Compression::kGzip)), HasCode(Code::kInvalidArgument));
  EXPECT_THAT(open({}, OptionsOf(Compression::kLz4Frame)), HasCode(Code::kInvalidArgument));
  EXPECT_THAT(open({}, {.sync_marker = "short"}), HasCode(Code::kInvalidArgument));
  EXPECT_THAT(open({{"avro.codec", "null"}}, OptionsOf(Compression::kNone)),
              HasError(Code::kInvalidArgument, HasSubstr("'avro.codec' is reserved")));
  EXPECT_EQ(sink.bytes(), "");
}

TEST(AvroWriterTest, FlushesABlockWhenItIsBigEnough) {
  const Bytes file = Written(Rows(500), Compression::kNone);
  IW_ASSERT_OK_AND_ASSIGN(auto reader,
                          ContainerReader::Open(std::make_unique<MemorySource>(file), "m0.avro"));
  ContainerReader::Block block;
  std::vector<std::size_t> sizes;
  for (;;) {
    IW_ASSERT_OK_AND_ASSIGN(const bool more, reader.Next(block));
    if (!more) break;
    sizes.push_back(block.data.size());
  }
  const std::size_t last = sizes.back();
  sizes.pop_back();
  EXPECT_THAT(sizes, ::testing::Each(AllOf(::testing::Ge(1000U), ::testing::Lt(1060U))));
  EXPECT_LT(last, 1060U);
}

}  // namespace
}  // namespace icewright::avro
