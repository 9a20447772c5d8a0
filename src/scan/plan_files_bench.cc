// How fast is planning? 100,000 data files in 100 manifests in memory, as a wide table has them.

#include <benchmark/benchmark.h>

#include "io/memory_file_io.h"
#include "manifest/manifest_writer.h"
#include "scan/plan_files.h"
#include "table/literal.h"

namespace icewright {
namespace {

constexpr int kManifests = 100;
constexpr int kFilesPerManifest = 1000;
constexpr int kColumns = 10;

struct Table {
  std::shared_ptr<FileIO> io = MakeMemoryFileIO();
  TableMetadata metadata;
  Snapshot snapshot;
};

DataFile MakeFile(int manifest, int n) {
  DataFile file;
  file.file_path =
      Location("s3://bucket/warehouse/db/table/data/day=2024-01-31/" + std::to_string(manifest) +
               "-" + std::to_string(n) + "-6f1d2c3b-4a59-4c0e-9f7e-0d1c2b3a4f5e-00001.parquet");
  file.partition = {std::int32_t{manifest}};
  file.record_count = 10000;
  file.file_size_in_bytes = 1 << 20;
  const Type type = Type::Of(TypeId::kLong);
  for (int column = 1; column <= kColumns; ++column) {
    const FieldId id{column};
    file.column_sizes.emplace_back(id, 100000);
    file.value_counts.emplace_back(id, 10000);
    file.null_value_counts.emplace_back(id, 0);
    file.lower_bounds.emplace_back(id, ToBytes(type, std::int64_t{n} * 10000));
    file.upper_bounds.emplace_back(id, ToBytes(type, std::int64_t{n} * 10000 + 9999));
  }
  file.split_offsets = {4};
  file.sort_order_id = SortOrderId{0};
  return file;
}

Result<Table> MakeTable() {
  Table table;
  TableMetadata& metadata = table.metadata;
  std::vector<Field> fields;
  for (int column = 1; column <= kColumns; ++column) {
    fields.push_back({.id = FieldId{column},
                      .name = "c" + std::to_string(column),
                      .type = Type::Of(TypeId::kLong)});
  }
  metadata.schemas = {Schema(std::move(fields), SchemaId{0})};
  metadata.partition_specs = {{.id = SpecId{0},
                               .fields = {{.source_ids = {FieldId{1}},
                                           .field_id = FieldId{1000},
                                           .name = "bucket",
                                           .transform = Transform::Bucket(kManifests)}}}};
  metadata.sort_orders = {SortOrder{}};
  RunContext run;
  std::vector<ManifestFile> manifests;
  for (int m = 0; m < kManifests; ++m) {
    IW_ASSIGN(auto writer,
              ManifestWriter::Create(run, *table.io, Location("memory:/m" + std::to_string(m)),
                                     metadata.schema(), metadata.default_spec(), {}));
    for (int n = 0; n < kFilesPerManifest; ++n) IW_TRY(writer.AddAdded(MakeFile(m, n)));
    IW_ASSIGN(manifests.emplace_back(), writer.Close());
  }
  table.snapshot.manifest_list = Location("memory:/list");
  IW_TRY(WriteManifestList(run, *table.io, table.snapshot.manifest_list,
                           {.sequence_number = SequenceNumber{1}}, manifests));
  return table;
}

void BM_PlanFiles(benchmark::State& state) {
  static const Result<Table> table = MakeTable();
  if (!table) return state.SkipWithError(table.error().message().c_str());
  PlanOptions options{.metrics = state.range(1) != 0};
  RunContext run(RunOptions{.threads = static_cast<int>(state.range(0))});
  for (auto _ : state) {
    std::int64_t files = 0, bytes = 0;
    const auto summary =
        PlanFiles(run, *table->io, table->metadata, table->snapshot, options, [&](FileTask&& task) {
          ++files;
          bytes += task.data_file.file_size_in_bytes;
          return Status();
        });
    if (!summary || files != kManifests * kFilesPerManifest || bytes != files << 20) {
      return state.SkipWithError("wrong plan");
    }
  }
  state.SetItemsProcessed(state.iterations() * kManifests * kFilesPerManifest);
}
BENCHMARK(BM_PlanFiles)
    ->ArgNames({"threads", "metrics"})
    ->Args({1, 0})
    ->Args({1, 1})
    ->Args({2, 0})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace icewright
