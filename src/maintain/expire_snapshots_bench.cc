// Question: what does expiring a streaming table's history to its last ten snapshots cost, and how
//   does the cost grow?
// Shape: n snapshots, each with a manifest of five new files; every hundredth replaces all files by
//   one. All but ten snapshots expire: about 7 files go per snapshot.
// Unit: ms per run, in memory: lists, manifests, journal, commit, deletes.

#include <benchmark/benchmark.h>

#include "catalog/memory/memory_catalog.h"
#include "io/memory_file_io.h"
#include "maintain/expire_snapshots.h"
#include "manifest/manifest_writer.h"

namespace icewright {
namespace {

constexpr int kFilesPerSnapshot = 5;
constexpr int kCompactEvery = 100;
const TableIdentifier kTable{{"db"}, "t"};

DataFile MakeFile(int snapshot, int n) {
  DataFile file;
  file.file_path =
      Location("memory:/warehouse/db/t/data/" + std::to_string(snapshot) + "-" + std::to_string(n) +
               "-6f1d2c3b-4a59-4c0e-9f7e-0d1c2b3a4f5e-00001.parquet");
  file.record_count = 10000;
  file.file_size_in_bytes = 1 << 20;
  return file;
}

Result<ManifestFile> WriteManifest(RunContext& run, const Table& table, int snapshot, int files) {
  const TableMetadata& metadata = table.metadata();
  const Location path = metadata.location.Child("metadata/m" + std::to_string(snapshot) + ".avro");
  IW_ASSIGN(auto writer,
            ManifestWriter::Create(run, table.io(), path, metadata.schema(),
                                   metadata.default_spec(), {.snapshot_id = SnapshotId{snapshot}}));
  for (int n = 0; n < files; ++n) IW_TRY(writer.AddAdded(MakeFile(snapshot, n)));
  return writer.Close();
}

Result<Table> MakeHistory(RunContext& run, Catalog& catalog, int snapshots) {
  IW_TRY(catalog.CreateNamespace(run, kTable.ns, {}));
  IW_ASSIGN(Table table,
            catalog.CreateTable(
                run, kTable,
                {.schema = Schema(
                     {Field{.id = FieldId{1}, .name = "id", .type = Type::Of(TypeId::kLong)}})}));
  std::vector<TableUpdate> updates;
  std::vector<ManifestFile> manifests;
  for (int i = 1; i <= snapshots; ++i) {
    const bool compacts = i % kCompactEvery == 0;
    if (compacts) manifests.clear();
    IW_ASSIGN(ManifestFile added, WriteManifest(run, table, i, compacts ? 1 : kFilesPerSnapshot));
    manifests.insert(manifests.begin(), std::move(added));
    Snapshot snapshot{.id = SnapshotId{i},
                      .sequence_number = SequenceNumber{i},
                      .timestamp = run.Now(),
                      .operation = compacts ? "replace" : "append",
                      .schema_id = SchemaId{0}};
    if (i > 1) snapshot.parent_id = SnapshotId{i - 1};
    snapshot.manifest_list =
        table.metadata().location.Child("metadata/snap-" + std::to_string(i) + ".avro");
    IW_ASSIGN(auto written, WriteManifestList(run, table.io(), snapshot.manifest_list,
                                              {.snapshot_id = snapshot.id,
                                               .parent_snapshot_id = snapshot.parent_id,
                                               .sequence_number = snapshot.sequence_number},
                                              std::move(manifests)));
    manifests = std::move(written.manifests);
    updates.push_back(AddSnapshot{std::move(snapshot)});
  }
  updates.push_back(SetSnapshotRef{"main", {.snapshot_id = SnapshotId{snapshots}}});
  IW_TRY(table.Commit(run, {}, updates));
  return table;
}

void BM_ExpireToTheLastTen(benchmark::State& state) {
  const auto snapshots = static_cast<int>(state.range(0));
  RunContext run(RunOptions{.threads = static_cast<int>(state.range(1))});
  std::int64_t deleted = 0;
  for (auto _ : state) {
    state.PauseTiming();
    const auto catalog =
        MakeMemoryCatalog("bench", Location("memory:/warehouse"), MakeMemoryFileIO());
    auto table = MakeHistory(run, *catalog, snapshots);
    if (!table) return state.SkipWithError(table.error().message().c_str());
    TaskReport report;
    state.ResumeTiming();
    const ExpireSnapshots task({.max_snapshot_age = 0, .retain_last = 10});
    const Status status = task.Execute(run, *table, report);
    if (!status || report.outcome != TaskOutcome::kDone ||
        report.counts["expired-snapshots-count"] != snapshots - 10) {
      return state.SkipWithError("wrong expiry");
    }
    for (const char* kind : {"data-files", "manifests", "manifest-lists"}) {
      deleted += report.counts[std::string("deleted-") + kind + "-count"];
    }
  }
  state.SetItemsProcessed(deleted);
}
BENCHMARK(BM_ExpireToTheLastTen)
    ->ArgNames({"snapshots", "threads"})
    ->Args({500, 1})
    ->Args({1000, 1})
    ->Args({2000, 1})
    ->Args({2000, 2})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace icewright
