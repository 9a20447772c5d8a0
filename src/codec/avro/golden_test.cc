#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "codec/avro/container.h"
#include "testing/matchers.h"
#include "testing/paths.h"

namespace icewright::avro {
namespace {

/// Any value as text: null `~`, boolean t/f, numbers, floats and bytes in hex, [array], (map),
/// {record}.
void Render(Decoder& decoder, const Schema& schema, std::string& out);

void RenderItems(Decoder& decoder, const Schema& schema, std::string& out) {
  const bool map = schema.kind == Kind::kMap;
  bool first = true;
  out += map ? '(' : '[';
  while (const std::int64_t count = decoder.ReadBlockCount()) {
    for (std::int64_t i = 0; i < count; ++i) {
      if (!first) out += ',';
      first = false;
      if (map) out += ToHex(decoder.ReadBytes()) + "=";
      Render(decoder, *schema.items, out);
    }
  }
  out += map ? ')' : ']';
}

template <typename T>
std::string HexOf(T value) {
  Bytes raw;
  AppendLittle(raw, value);
  return ToHex(raw);
}

void Render(Decoder& decoder, const Schema& schema, std::string& out) {
  switch (schema.kind) {
    case Kind::kNull:
      out += '~';
      break;
    case Kind::kBoolean:
      out += decoder.ReadBoolean() ? 't' : 'f';
      break;
    case Kind::kInt:
    case Kind::kEnum:
      out += std::to_string(decoder.ReadInt());
      break;
    case Kind::kLong:
      out += std::to_string(decoder.ReadLong());
      break;
    case Kind::kFloat:
      out += HexOf(decoder.ReadFloat());
      break;
    case Kind::kDouble:
      out += HexOf(decoder.ReadDouble());
      break;
    case Kind::kBytes:
    case Kind::kString:
      out += ToHex(decoder.ReadBytes());
      break;
    case Kind::kFixed:
      out += ToHex(decoder.ReadFixed(schema.size));
      break;
    case Kind::kRecord:
      out += '{';
      for (std::size_t i = 0; i < schema.fields.size(); ++i) {
        if (i > 0) out += ',';
        Render(decoder, *schema.fields[i].schema, out);
      }
      out += '}';
      break;
    case Kind::kArray:
    case Kind::kMap:
      RenderItems(decoder, schema, out);
      break;
    case Kind::kUnion:
      Render(decoder, *schema.branches.at(static_cast<std::size_t>(decoder.ReadLong())), out);
      break;
  }
}

struct GoldenFile {
  const char* name;
  const char* codec;
  std::int64_t records;
  std::uint32_t crc;
};

// Manifest lists, manifests and data by Java, Spark, PyIceberg, Go and Rust, and every type and
// codec by fastavro. Counts and the CRC of the rendered records are from reading with
// fastavro 1.12.
constexpr GoldenFile kFiles[] = {
    {"fastavro-deflate", "deflate", 40, 0xb9d20c51},
    {"fastavro-null", "null", 40, 0xb9d20c51},
    {"fastavro-snappy", "snappy", 40, 0xb9d20c51},
    {"fastavro-zstandard", "zstandard", 40, 0xb9d20c51},
    {"go-list-v2", "deflate", 3, 0xf60cebad},
    {"go-manifest-v2", "deflate", 1, 0xb64f3902},
    {"java-data", "deflate", 129, 0x7c13d572},
    {"java-list-v1", "deflate", 1, 0x482e6cf9},
    {"java-list-v2", "deflate", 1, 0xae380dac},
    {"java-list-v3", "deflate", 1, 0x7af4ecab},
    {"java-manifest-v1", "deflate", 3, 0x746caa70},
    {"java-manifest-v2", "deflate", 2, 0x1b997fa7},
    {"java-manifest-v3", "deflate", 1, 0x787abacd},
    {"pyiceberg-list-v1", "deflate", 1, 0x07d9509f},
    {"pyiceberg-list-v2", "deflate", 1, 0x72db05e2},
    {"pyiceberg-manifest-v2", "deflate", 1, 0x55033f6f},
    {"rust-list-v2", "null", 4, 0x34739267},
    {"rust-manifest-v2", "null", 2, 0xc97d3c9d},
    {"spark-list-v3", "deflate", 1, 0xe2cba530},
    {"spark-manifest-v3", "deflate", 2, 0xf2cd9002},
};

Bytes Golden(std::string_view name) {
  std::ifstream in(fmt::format("{}/fuzz/corpus/avro/{}.avro", SourceFolder(), name),
                   std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(AvroGoldenTest, ReadsTheSameValuesAsFastavro) {
  for (const GoldenFile& golden : kFiles) {
    SCOPED_TRACE(golden.name);
    const Bytes file = Golden(golden.name);
    IW_ASSERT_OK_AND_ASSIGN(
        auto reader, ContainerReader::Open(std::make_unique<MemorySource>(file), golden.name));
    EXPECT_EQ(reader.compression(), *CodecByName(golden.codec));
    std::string text;
    std::int64_t records = 0;
    ContainerReader::Block block;
    for (;;) {
      IW_ASSERT_OK_AND_ASSIGN(const bool more, reader.Next(block));
      if (!more) break;
      Decoder decoder(block.data);
      Decoder skipper(block.data);
      for (std::int64_t i = 0; i < block.count; ++i, ++records) {
        Render(decoder, *reader.schema(), text);
        text += '\n';
        skipper.Skip(*reader.schema());
        ASSERT_EQ(skipper.remaining(), decoder.remaining()) << "skipping takes the same bytes";
      }
      EXPECT_TRUE(decoder.ok() && decoder.at_end());
      EXPECT_TRUE(skipper.ok());
    }
    EXPECT_EQ(records, golden.records);
    EXPECT_EQ(Crc32(text), golden.crc);
  }
}

TEST(AvroGoldenTest, ManifestsCarryIcebergsIds) {
  for (const char* name : {"java-manifest-v2", "spark-manifest-v3", "pyiceberg-manifest-v2",
                           "go-manifest-v2", "rust-manifest-v2"}) {
    SCOPED_TRACE(name);
    const Bytes file = Golden(name);
    IW_ASSERT_OK_AND_ASSIGN(auto reader,
                            ContainerReader::Open(std::make_unique<MemorySource>(file), name));
    EXPECT_EQ(reader.schema()->kind, Kind::kRecord);
    EXPECT_EQ(reader.schema()->name, "manifest_entry");
    const RecordField& status = reader.schema()->fields.front();
    EXPECT_EQ(status.name, "status");
    EXPECT_EQ(status.field_id, 0);
    const RecordField& data_file = reader.schema()->fields.back();
    EXPECT_EQ(data_file.name, "data_file");
    EXPECT_EQ(data_file.field_id, 2);
    EXPECT_EQ(data_file.schema->fields[1].field_id, 100);
    EXPECT_EQ(reader.metadata().count("partition-spec"), 1U);
  }
}

}  // namespace
}  // namespace icewright::avro
