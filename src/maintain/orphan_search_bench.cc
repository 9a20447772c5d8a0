// Question: what does comparing a million listed files with a million named ones cost, and does it
//   stay inside its memory?
// Shape: paths of 110 bytes; every second listed file is named. Limits: none (48 MiB a side), and
//   24 MiB (4 MiB a side: some forty runs on disk).
// Unit: ms per comparison, files per second of both sides; max_rss_mb is the process's peak.

#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <string>

#include "maintain/orphan_search.h"

namespace icewright {
namespace {

std::string PathOf(int i) {
  return "s3://warehouse-of-somebody/events/clicks/data/day=2024-03-" + std::to_string(i % 28 + 1) +
         "/00000-" + std::to_string(i) + "-6f1d2c3b-4a59-4c0e-9f7e-0d1c2b3a4f5e-00001.parquet";
}

Status Search(RunContext& run, int files, OrphanCounts& counts) {
  const PrefixRules rules({}, {});
  IW_ASSIGN(auto search, OrphanSearch::Start(run, rules, PrefixMismatchMode::kError));
  for (int i = 0; i < files; ++i) {
    FileStatus file{.location = Location(PathOf(i * 2)), .size = 1};
    IW_ASSIGN(const FileUri uri, SplitUri(file.location.text()));
    IW_TRY(search.AddListed(file, HashOfPath(uri.path)));
    const std::string named = PathOf(i * 4);
    IW_TRY(search.AddReferenced({&named, 1}));
  }
  IW_TRY(search.Compare([](const OrphanFile&) { return Status(); }));
  counts = search.counts();
  return {};
}

void BM_CompareListedWithNamed(benchmark::State& state) {
  const auto files = static_cast<int>(state.range(0));
  for (auto _ : state) {
    RunOptions options;
    if (state.range(1) > 0) options.memory_limit_bytes = state.range(1) << 20;
    RunContext run(options);
    OrphanCounts counts;
    const Status status = Search(run, files, counts);
    if (!status || counts.orphans != files / 2 || counts.referenced != files / 2) {
      return state.SkipWithError("wrong comparison");
    }
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  state.counters["max_rss_mb"] = static_cast<double>(usage.ru_maxrss / 1024);
  state.SetItemsProcessed(state.iterations() * files * 2);
}
BENCHMARK(BM_CompareListedWithNamed)
    ->ArgNames({"files", "limit_mb"})
    ->Args({100'000, 0})
    ->Args({1'000'000, 24})
    ->Args({1'000'000, 0})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace icewright
