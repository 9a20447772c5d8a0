// Any bytes as a Parquet file: its chunks are spliced twice over, as they are and with deleted
// rows, or refused.

#include <cstdint>
#include <string>
#include <vector>

#include "base/run_context.h"
#include "data/splice/chunk_writer.h"
#include "data/splice/format.h"

using icewright::Bytes;
using icewright::ByteView;
namespace splice = icewright::splice;

namespace {

constexpr std::int64_t kMostPageBytes = 1 << 22;

// Empty: the range is none of the file.
ByteView Part(ByteView file, const splice::FileRange& range) {
  const auto size = static_cast<std::int64_t>(file.size());
  if (range.offset < 0 || range.size < 0 || range.offset > size ||
      range.size > size - range.offset) {
    return {};
  }
  return file.substr(static_cast<std::size_t>(range.offset), static_cast<std::size_t>(range.size));
}

void SpliceChunk(ByteView file, const splice::FileMeta& meta, std::size_t column,
                 const splice::RowRanges* deleted, icewright::BlockCodec codec) {
  const std::string name = "fuzz";
  std::vector<splice::Source> sources;
  for (const splice::RowGroup& group : meta.groups) {
    splice::Source source;
    source.name = &name;
    source.leaf = source.out_leaf = &meta.leaves[column];
    source.chunk = &group.columns[column];
    if (source.chunk->uncompressed > kMostPageBytes ||
        splice::WhyNotMovable(*source.leaf, *source.chunk)) {
      return;
    }
    source.rows = group.rows;
    source.bytes = Part(file, source.chunk->range());
    source.offset_index = Part(file, source.chunk->offset_index);
    source.column_index = Part(file, source.chunk->column_index);
    source.type_defined_order = meta.type_defined_order;
    source.deleted = deleted;
    sources.push_back(source);
    sources.push_back(source);
  }
  icewright::RunContext run;
  splice::ChunkSink sink;
  sink.Begin(run, nullptr);
  splice::ChunkSettings settings{.codec = codec};
  settings.count_nans = meta.leaves[column].type == splice::Physical::kFloat ||
                        meta.leaves[column].type == splice::Physical::kDouble;
  if (deleted == nullptr && meta.leaves[column].type != splice::Physical::kBoolean) {
    settings.bloom = {.ndv = 64, .fpp = 0.1, .fold = true};
  }
  splice::ChunkWriter writer;
  (void)writer.Write(run, meta.leaves[column], settings, sources, sink).has_value();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ByteView input(reinterpret_cast<const char*>(data), size);
  splice::PageHeader header;
  (void)splice::ParsePageHeader(input, header).has_value();
  (void)splice::ParseOffsetIndex(input).has_value();
  (void)splice::ParseColumnIndex(input).has_value();
  if (size < 12) return 0;
  const std::size_t length = icewright::LoadLittle<std::uint32_t>(input.data() + size - 8);
  if (length > size - 12) return 0;
  const auto meta = splice::ParseFooter(input.substr(size - 8 - length, length));
  if (!meta) return 0;
  Bytes file(input);
  file.append(splice::kSlack, '\0');
  const ByteView view = ByteView(file).substr(0, size);
  const splice::RowRanges deleted = {{1, 3}, {7, 8}};
  for (std::size_t column = 0; column < meta->leaves.size(); ++column) {
    SpliceChunk(view, *meta, column, nullptr, icewright::BlockCodec::kZstd);
    SpliceChunk(view, *meta, column, &deleted, icewright::BlockCodec::kNone);
  }
  return 0;
}
