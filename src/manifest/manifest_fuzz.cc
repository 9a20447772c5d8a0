// Manifests and manifest lists from arbitrary bytes: no crash, no over-read, no endless memory.

#include <cstddef>
#include <cstdint>

#include "io/memory_file_io.h"
#include "manifest/manifest_file.h"
#include "manifest/manifest_reader.h"

namespace {

using namespace icewright;

/// A table with one partitioned spec, so that both the table's and the header's spec are tried.
TableMetadata Table() {
  TableMetadata table;
  table.schemas = {
      Schema({{.id = FieldId{1}, .name = "id", .type = Type::Of(TypeId::kLong)}}, SchemaId{0})};
  table.partition_specs = {{.id = SpecId{0},
                            .fields = {{.source_ids = {FieldId{1}},
                                        .field_id = FieldId{1000},
                                        .name = "id",
                                        .transform = Transform::Parse("identity")}}}};
  table.sort_orders = {SortOrder{}};
  return table;
}

void ReadAsManifest(FileIO& io, const TableMetadata& table, const Location& path, bool metrics) {
  ManifestFile manifest;
  manifest.manifest_path = path;
  manifest.sequence_number = SequenceNumber{5};
  manifest.first_row_id = 10;
  auto reader = ManifestReader::Open(io, table, manifest, {.metrics = metrics, .live_only = false});
  if (!reader) return;
  ManifestEntry entry;
  for (int i = 0; i < 100000; ++i) {
    auto more = reader->Next(entry);
    if (!more || !*more) return;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const TableMetadata table = Table();
  const auto io = MakeMemoryFileIO();
  const Location path("memory:/fuzz.avro");
  const ByteView bytes(reinterpret_cast<const char*>(data), size);
  if (!WriteFile(*io, path, bytes, CreateMode::kNew)) return 0;
  ReadAsManifest(*io, table, path, true);
  ReadAsManifest(*io, TableMetadata(), path, false);
  RunContext run;
  Snapshot snapshot;
  snapshot.manifest_list = path;
  auto manifests = ReadManifests(run, *io, table, snapshot);
  snapshot.manifest_list = {};
  snapshot.v1_manifests = {path};
  auto described = ReadManifests(run, *io, table, snapshot);
  static_cast<void>(manifests.has_value() || described.has_value());
  return 0;
}
