#include <benchmark/benchmark.h>

#include <string>

#include "codec/avro/coding.h"
#include "codec/compression.h"

namespace icewright::avro {
namespace {

// Question: can entries of manifests be decoded fast enough to plan a million files in two seconds?
// Shape: the columns of a v2 entry with statistics of eight columns, in blocks of 64 KB.
constexpr const char* kSchema = R"({"type":"record","name":"manifest_entry","fields":[
  {"name":"status","type":"int"},{"name":"snapshot_id","type":["null","long"]},
  {"name":"sequence_number","type":["null","long"]},
  {"name":"file_sequence_number","type":["null","long"]},
  {"name":"data_file","type":{"type":"record","name":"r2","fields":[
    {"name":"content","type":"int"},{"name":"file_path","type":"string"},
    {"name":"file_format","type":"string"},{"name":"partition","type":
      {"type":"record","name":"r102","fields":[{"name":"day","type":["null","int"]}]}},
    {"name":"record_count","type":"long"},{"name":"file_size_in_bytes","type":"long"},
    {"name":"value_counts","type":["null",{"type":"array","items":{"type":"record","name":"k119_v120",
      "fields":[{"name":"key","type":"int"},{"name":"value","type":"long"}]}}]},
    {"name":"lower_bounds","type":["null",{"type":"array","items":{"type":"record","name":"k126_v127",
      "fields":[{"name":"key","type":"int"},{"name":"value","type":"bytes"}]}}]},
    {"name":"upper_bounds","type":["null",{"type":"array","items":"k126_v127"}]}]}}]})";

constexpr int kColumns = 8;

void WriteEntry(Encoder& encoder, std::int64_t i) {
  encoder.WriteInt(1);
  for (const std::int64_t value : {i * 7'000'000'007, i, i}) {
    encoder.WriteLong(1);
    encoder.WriteLong(value);
  }
  encoder.WriteInt(0);
  encoder.WriteBytes("s3://bucket/warehouse/db/t/data/day=2024-06-01/00000-" + std::to_string(i) +
                     "-1f1a7171-cd60-48d2-a588-4733c2b7400e-00001.parquet");
  encoder.WriteBytes("PARQUET");
  encoder.WriteLong(1);
  encoder.WriteInt(19875);
  encoder.WriteLong(10'000 + i);
  encoder.WriteLong(480'000 + i);
  for (int column = 0; column < 3; ++column) {
    encoder.WriteLong(1);
    encoder.WriteLong(kColumns);
    for (int key = 1; key <= kColumns; ++key) {
      encoder.WriteInt(key);
      if (column == 0) {
        encoder.WriteLong(10'000 + i);
      } else {
        encoder.WriteBytes("12345678");
      }
    }
    encoder.WriteLong(0);
  }
}

Bytes BlockOf(std::int64_t entries) {
  Bytes block;
  Encoder encoder(block);
  for (std::int64_t i = 0; i < entries; ++i) WriteEntry(encoder, i);
  return block;
}

/// Reads an entry as a reader of all columns would; the sum keeps the compiler honest.
std::int64_t ReadEntry(Decoder& decoder) {
  std::int64_t sum = decoder.ReadInt();
  for (int i = 0; i < 3; ++i) sum += decoder.ReadLong() == 1 ? decoder.ReadLong() : 0;
  sum += decoder.ReadInt();
  sum += static_cast<std::int64_t>(decoder.ReadBytes().size());
  sum += static_cast<std::int64_t>(decoder.ReadBytes().size());
  sum += decoder.ReadLong() == 1 ? decoder.ReadInt() : 0;
  sum += decoder.ReadLong();
  sum += decoder.ReadLong();
  for (int column = 0; column < 3; ++column) {
    if (decoder.ReadLong() == 0) continue;
    while (const std::int64_t count = decoder.ReadBlockCount(2)) {
      for (std::int64_t i = 0; i < count; ++i) {
        sum += decoder.ReadInt();
        sum += column == 0 ? decoder.ReadLong()
                           : static_cast<std::int64_t>(decoder.ReadBytes().size());
      }
    }
  }
  return sum;
}

constexpr std::int64_t kEntries = 160;  // about 64 KB

void BM_ReadManifestEntries(benchmark::State& state) {
  const Bytes block = BlockOf(kEntries);
  for (auto _ : state) {
    Decoder decoder(block);
    std::int64_t sum = 0;
    for (std::int64_t i = 0; i < kEntries; ++i) sum += ReadEntry(decoder);
    if (!decoder.ok() || !decoder.at_end()) state.SkipWithError("the block does not decode");
    benchmark::DoNotOptimize(sum);
  }
  state.SetItemsProcessed(state.iterations() * kEntries);
}
BENCHMARK(BM_ReadManifestEntries);

void BM_SkipManifestEntries(benchmark::State& state) {
  const Bytes block = BlockOf(kEntries);
  const SchemaPtr schema = *ParseSchema(kSchema);
  for (auto _ : state) {
    Decoder decoder(block);
    for (std::int64_t i = 0; i < kEntries; ++i) decoder.Skip(*schema);
    if (!decoder.ok() || !decoder.at_end()) state.SkipWithError("the block does not decode");
  }
  state.SetItemsProcessed(state.iterations() * kEntries);
}
BENCHMARK(BM_SkipManifestEntries);

void BM_WriteManifestEntries(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(BlockOf(kEntries));
  state.SetItemsProcessed(state.iterations() * kEntries);
}
BENCHMARK(BM_WriteManifestEntries);

// What a block costs before the first value: by codec, items are entries.
void BM_DecompressManifestBlock(benchmark::State& state) {
  const auto codec = static_cast<Compression>(state.range(0));
  const Bytes packed = *Compress(codec, BlockOf(kEntries));
  Bytes out;
  for (auto _ : state) {
    if (!DecompressInto(codec, packed, 1 << 20, out)) state.SkipWithError("does not decompress");
    benchmark::DoNotOptimize(out.data());
  }
  state.SetItemsProcessed(state.iterations() * kEntries);
  state.counters["ratio"] = static_cast<double>(out.size()) / static_cast<double>(packed.size());
}
BENCHMARK(BM_DecompressManifestBlock)
    ->ArgName("codec")
    ->Arg(static_cast<int>(Compression::kDeflate))
    ->Arg(static_cast<int>(Compression::kZstd))
    ->Arg(static_cast<int>(Compression::kSnappy));

}  // namespace
}  // namespace icewright::avro
