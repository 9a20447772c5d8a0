// Any bytes as an Avro container: every record is skipped by its schema, and what was read must be
// readable again after it is written with another codec.

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "codec/avro/container.h"

using icewright::ByteView;
using icewright::Compression;
using icewright::MemorySink;
using icewright::MemorySource;
namespace avro = icewright::avro;

namespace {

constexpr std::size_t kBlockLimit = 1 << 20;

std::int64_t Records(ByteView file, MemorySink* copy) {
  auto reader =
      avro::ContainerReader::Open(std::make_unique<MemorySource>(file), "fuzz", kBlockLimit);
  if (!reader) return -1;
  std::optional<avro::ContainerWriter> writer;
  if (copy != nullptr) {
    auto opened = avro::ContainerWriter::Open(
        *copy, reader->schema_json(), {},
        {.compression = Compression::kZstd, .sync_marker = "0123456789abcdef"});
    if (!opened) std::abort();
    writer = *std::move(opened);
  }
  std::int64_t records = 0;
  avro::ContainerReader::Block block;
  for (;;) {
    auto more = reader->Next(block);
    if (!more || !*more) break;
    if (block.count > (1 << 12)) break;  // values without bytes: only slow
    avro::Decoder decoder(block.data);
    for (std::int64_t i = 0; i < block.count; ++i) {
      const std::size_t before = decoder.remaining();
      decoder.Skip(*reader->schema());
      if (!decoder.ok()) return records;
      if (writer) {
        writer->encoder().WriteFixed(
            block.data.substr(block.data.size() - before, before - decoder.remaining()));
        if (!writer->EndRecord()) std::abort();
      }
      ++records;
    }
  }
  if (writer && !writer->Finish()) std::abort();
  return records;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  MemorySink copy;
  Records(ByteView(reinterpret_cast<const char*>(data), size), &copy);
  const auto first = Records(copy.bytes(), nullptr);
  MemorySink again;
  if (Records(copy.bytes(), &again) != first) std::abort();
  if (first >= 0 && Records(again.bytes(), nullptr) != first) std::abort();
  return 0;
}
