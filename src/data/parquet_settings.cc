#include "data/parquet_settings.h"

#include <arrow/util/compression.h>
#include <fmt/format.h>
#include <parquet/bloom_filter.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/text.h"
#include "data/parquet_schema.h"

namespace icewright {
namespace {

using Builder = parquet::WriterProperties::Builder;
constexpr std::int64_t kMiB = std::int64_t{1} << 20;

// Arrow's dictionary encoder counts bits of a page in 32 bits: pages stay far below.
constexpr std::int64_t kMaxPageBytes = 64 * kMiB;
constexpr std::int64_t kMaxPageRows = 1'000'000;

struct CodecChoice {
  std::string_view name;
  arrow::Compression::type codec;
  std::optional<int> default_level;  // what parquet-mr uses where Arrow's default differs
};

constexpr CodecChoice kCodecs[] = {
    {"uncompressed", arrow::Compression::UNCOMPRESSED, {}},
    {"none", arrow::Compression::UNCOMPRESSED, {}},
    {"snappy", arrow::Compression::SNAPPY, {}},
    {"gzip", arrow::Compression::GZIP, 6},
    {"zstd", arrow::Compression::ZSTD, 3},
    {"brotli", arrow::Compression::BROTLI, 1},
    {"lz4", arrow::Compression::LZ4, {}},
    {"lz4_raw", arrow::Compression::LZ4, {}},
};

Status SetCodec(const Properties& properties, Builder& builder) {
  const std::string name =
      ToLower(StringProperty(properties, "write.parquet.compression-codec", "gzip"));
  const auto* choice =
      std::find_if(std::begin(kCodecs), std::end(kCodecs),
                   [&](const CodecChoice& candidate) { return candidate.name == name; });
  if (choice == std::end(kCodecs) || !arrow::util::Codec::IsAvailable(choice->codec)) {
    return Error(Code::kUnsupported, "write.parquet.compression-codec=" + name);
  }
  builder.compression(choice->codec);
  constexpr std::string_view kLevelKey = "write.parquet.compression-level";
  const auto given = properties.find(std::string(kLevelKey));
  if (given != properties.end() && given->second != "null") {
    IW_ASSIGN(const std::int64_t level, IntProperty(properties, kLevelKey, 0));
    // Java ignores the level for codecs without one.
    if (choice->default_level) builder.compression_level(static_cast<int>(level));
  } else if (choice->default_level) {
    builder.compression_level(*choice->default_level);
  }
  return {};
}

Status SetPages(const WritePlan& plan, Builder& builder) {
  const Properties& properties = plan.metadata->properties;
  IW_ASSIGN(const std::int64_t bytes,
            IntProperty(properties, "write.parquet.page-size-bytes", kMiB));
  IW_ASSIGN(const std::int64_t rows,
            IntProperty(properties, "write.parquet.page-row-limit", 20'000));
  if (bytes <= 0 || rows <= 0) {
    return Error(Code::kInvalidArgument, "write.parquet page limits must be above 0");
  }
  builder.data_pagesize(std::min(bytes, kMaxPageBytes));
  builder.max_rows_per_page(std::min(rows, kMaxPageRows));
  builder.dictionary_pagesize_limit(std::min(plan.dictionary_bytes, kMaxPageBytes));
  const std::string version =
      ToLower(StringProperty(properties, "write.parquet.page-version", "v1"));
  if (version != "v1" && version != "v2") {
    return Error(Code::kInvalidArgument,
                 "write.parquet.page-version=" + version + ": v1 or v2 expected");
  }
  builder.data_page_version(version == "v2" ? parquet::ParquetDataPageVersion::V2
                                            : parquet::ParquetDataPageVersion::V1);
  return {};
}

using PathsById = std::unordered_map<FieldId, std::string>;

// Calls visit(path of the leaf in the file, column name, value) for each property `prefix`COLUMN.
void ForEachColumn(
    const WritePlan& plan, const PathsById& paths, std::string_view prefix,
    const std::function<void(const std::string&, const std::string&, const std::string&)>& visit) {
  const Properties& properties = plan.metadata->properties;
  for (auto it = properties.lower_bound(std::string(prefix));
       it != properties.end() && it->first.starts_with(prefix); ++it) {
    const std::string column = it->first.substr(prefix.size());
    const Field* field = plan.schema.Find(std::string_view(column));
    if (field == nullptr) continue;
    const auto path = paths.find(field->id);
    if (path != paths.end()) visit(path->second, column, it->second);
  }
}

// Number of distinct values a filter of at most `max_bytes` is made for.
std::int64_t FittingNdv(std::int64_t ndv, double fpp, std::int64_t max_bytes) {
  while (ndv > 1 && parquet::BlockSplitBloomFilter::OptimalNumOfBytes(
                        static_cast<std::uint64_t>(ndv), fpp) > max_bytes) {
    ndv /= 2;
  }
  return ndv;
}

Status SetBloomFilters(const WritePlan& plan, const PathsById& paths, Builder& builder) {
  const Properties& properties = plan.metadata->properties;
  IW_ASSIGN(const std::int64_t max_bytes,
            IntProperty(properties, "write.parquet.bloom-filter-max-bytes", kMiB));
  Status status;
  ForEachColumn(
      plan, paths, "write.parquet.bloom-filter-enabled.column.",
      [&](const std::string& path, const std::string& column, const std::string& value) {
        if (ToLower(value) != "true" || !status) return;
        const auto fpp =
            DoubleProperty(properties, "write.parquet.bloom-filter-fpp.column." + column, 0.01);
        const auto ndv =
            IntProperty(properties, "write.parquet.bloom-filter-ndv.column." + column, 0);
        if (!fpp || !ndv || *fpp <= 0 || *fpp >= 1 || *ndv < 0) {
          status = !fpp   ? fpp.error()
                   : !ndv ? ndv.error()
                          : Error(Code::kInvalidArgument, "bloom filter of column " + column +
                                                              ": fpp in (0, 1), ndv above 0");
          return;
        }
        // Without a number of values the filter takes the whole limit and is folded when written.
        const std::int64_t wanted = *ndv > 0 ? *ndv : std::numeric_limits<std::int32_t>::max();
        builder.enable_bloom_filter(
            path, {.ndv = FittingNdv(wanted, *fpp, max_bytes), .fpp = *fpp, .fold = *ndv == 0});
      });
  return status;
}

}  // namespace

Result<std::shared_ptr<parquet::WriterProperties>> MakeParquetProperties(
    const WritePlan& plan, arrow::MemoryPool* pool, const std::vector<std::string>& plain) {
  Builder builder;
  builder.memory_pool(pool);
  builder.version(parquet::ParquetVersion::PARQUET_2_6);
  builder.created_by(plan.created_by);
  builder.enable_store_decimal_as_integer();
  builder.max_row_group_length(std::numeric_limits<std::int64_t>::max());
  builder.set_size_statistics_level(parquet::SizeStatisticsLevel::None);
  IW_TRY(SetCodec(plan.metadata->properties, builder));
  IW_TRY(SetPages(plan, builder));

  PathsById paths;
  for (const ParquetLeaf& leaf : ParquetLeaves(plan.schema)) paths[leaf.field.id] = leaf.path;
  ForEachColumn(plan, paths, "write.parquet.stats-enabled.column.",
                [&](const std::string& path, const std::string&, const std::string& value) {
                  if (ToLower(value) != "true") builder.disable_statistics(path);
                });
  ForEachColumn(plan, paths, "write.parquet.dict-encoding-enabled.column.",
                [&](const std::string& path, const std::string&, const std::string& value) {
                  if (ToLower(value) != "true") builder.disable_dictionary(path);
                });
  for (const std::string& path : plain) builder.disable_dictionary(path);
  IW_TRY(SetBloomFilters(plan, paths, builder));
  return builder.build();
}

std::int64_t OpenColumnBytes(const Properties& properties) {
  constexpr std::int64_t kAnyCodec = 64 << 10;
  const std::string codec =
      ToLower(StringProperty(properties, "write.parquet.compression-codec", "gzip"));
  if (codec == "gzip") return kAnyCodec + (256 << 10);  // a window of 15 bits and its hash chains
  if (codec != "zstd") return kAnyCodec;
  // As ZSTD_sizeof_CCtx() says after a page of 1 MiB at level 3; estimated for higher levels.
  const auto level = IntProperty(properties, "write.parquet.compression-level", 3);
  return kAnyCodec + (level && *level > 3 ? 4 * kMiB : 5 * kMiB / 4);
}

}  // namespace icewright
