#include "data/splice/layout.h"

#include <arrow/memory_pool.h>
#include <arrow/util/type_fwd.h>
#include <parquet/properties.h>

#include "data/arrow_bridge.h"
#include "data/parquet_schema.h"
#include "data/parquet_settings.h"
#include "io/memory_file_io.h"

namespace icewright::splice {
namespace {

// Of a file without rows: everything in it but row groups is what outputs have, too.
Result<Bytes> EmptyFooter(RunContext& run, const std::shared_ptr<const WritePlan>& plan) {
  const auto io = MakeMemoryFileIO();
  const Location location("memory:/empty.parquet");
  IW_ASSIGN(auto writer, CreateFileWriter(run, plan, *io, location, MakePool(run)));
  IW_ASSIGN(const DataFile file, writer->Close(run));
  IW_ASSIGN(Bytes bytes, ReadFile(*io, location));
  if (bytes.size() < 12) return Error(Code::kInternal, "an empty Parquet file of no size");
  const std::size_t length = LoadLittle<std::uint32_t>(bytes.data() + bytes.size() - 8);
  if (length > bytes.size() - 12) return Error(Code::kInternal, "an empty Parquet file is broken");
  return bytes.substr(bytes.size() - 8 - length, length);
}

std::optional<BlockCodec> CodecFrom(arrow::Compression::type codec) {
  switch (codec) {
    case arrow::Compression::UNCOMPRESSED:
      return BlockCodec::kNone;
    case arrow::Compression::SNAPPY:
      return BlockCodec::kSnappy;
    case arrow::Compression::GZIP:
      return BlockCodec::kGzip;
    case arrow::Compression::ZSTD:
      return BlockCodec::kZstd;
    case arrow::Compression::LZ4:
      return BlockCodec::kLz4Raw;
    default:
      return {};
  }
}

bool InMetrics(const Leaf& leaf) { return leaf.max_repetition == 0; }

bool IsFloat(const Leaf& leaf) {
  return leaf.type == Physical::kFloat || leaf.type == Physical::kDouble;
}

// Empty, or why not.
std::string FillSettings(const WritePlan& plan, const parquet::WriterProperties& properties,
                         OutputColumn& column) {
  const auto path = parquet::schema::ColumnPath::FromDotString(column.path);
  const auto codec = CodecFrom(properties.compression(path));
  if (!codec) return "the table's codec is none that pages are moved in";
  ChunkSettings& settings = column.settings;
  if (const auto bloom = properties.bloom_filter_options(path)) {
    if (column.leaf.type == Physical::kBoolean) return "a Bloom filter of booleans";
    settings.bloom = {.ndv = bloom->ndv.value_or(1), .fpp = bloom->fpp, .fold = bloom->fold};
  }
  settings.codec = *codec;
  const int level = properties.compression_level(path);
  if (level != arrow::util::kUseDefaultCompressionLevel) settings.level = level;
  // Levels above make indices hardly smaller (0.01 % of the file), but take twice the time.
  settings.index_level = settings.level;
  const bool level_given = plan.metadata->properties.contains("write.parquet.compression-level");
  if (settings.codec == BlockCodec::kZstd && !level_given) settings.index_level = 1;
  settings.page_bytes = static_cast<std::size_t>(properties.data_pagesize());
  settings.page_rows = properties.max_rows_per_page();
  settings.dictionary_bytes = static_cast<std::size_t>(properties.dictionary_pagesize_limit());
  settings.dictionary =
      properties.dictionary_enabled(path) && column.leaf.type != Physical::kBoolean;
  settings.statistics = properties.statistics_enabled(path);
  settings.count_nans = column.in_metrics && column.mode.counts() && IsFloat(column.leaf);
  return {};
}

}  // namespace

Result<LayoutChoice> MakeLayout(RunContext& run, std::shared_ptr<const WritePlan> plan) {
  if (plan->format != FileFormat::kParquet) {
    return LayoutChoice{.layout = nullptr, .reason = "the table's format is not Parquet"};
  }
  auto layout = std::make_shared<Layout>();
  IW_ASSIGN(layout->footer, EmptyFooter(run, plan));
  IW_ASSIGN(layout->meta, ParseFooter(layout->footer));
  const std::vector<ParquetLeaf> leaves = ParquetLeaves(plan->schema);
  if (leaves.size() != layout->meta.leaves.size()) {
    return Error(Code::kInternal, "the schema and its Parquet form have not the same columns");
  }
  const auto pool = MakePool(run);
  IW_ASSIGN(const auto properties, MakeParquetProperties(*plan, pool.get()));
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    OutputColumn column{.leaf = layout->meta.leaves[i],
                        .field = leaves[i].field,
                        .path = leaves[i].path,
                        .top_level = leaves[i].top_level};
    column.in_metrics = InMetrics(column.leaf);
    column.mode = plan->metrics.ModeOf(column.field.id);
    if (std::string reason = FillSettings(*plan, *properties, column); !reason.empty()) {
      return LayoutChoice{.layout = nullptr, .reason = column.path + ": " + reason};
    }
    layout->columns.push_back(std::move(column));
  }
  layout->plan = std::move(plan);
  return LayoutChoice{.layout = std::move(layout), .reason = {}};
}

}  // namespace icewright::splice
