#include "data/splice/source.h"

#include <fmt/format.h>

#include <algorithm>

#include "codec/compression.h"
#include "data/splice/hybrid.h"

namespace icewright::splice {
namespace {

// A page claims its sizes, and a run of a few bytes may stand for any number of values: more than
// this is left to the other engine, which has a budget.
constexpr std::int32_t kMaxPageValues = 16 << 20;

bool ChecksumFits(const Page& page) {
  if (!page.header.crc) return true;
  const std::uint32_t crc = page.body.empty() ? 0 : Crc32(page.body);
  return static_cast<std::uint32_t>(*page.header.crc) == crc;
}

Status WalkPages(Source& source) {
  const ColumnChunk& chunk = *source.chunk;
  ByteView rest = source.bytes;
  std::int64_t values = 0;
  while (values < chunk.values && !rest.empty()) {
    Page page;
    auto length = ParsePageHeader(rest, page.header);
    if (!length) return source.Corrupt(length.error().message());
    page.body = rest.substr(*length, static_cast<std::size_t>(page.header.compressed));
    page.whole = rest.substr(0, *length + page.body.size());
    rest.remove_prefix(page.whole.size());
    if (page.header.type == PageType::kIndex) continue;
    if (page.header.uncompressed > kMaxPageBytes || page.header.values > kMaxPageValues) {
      return Error(Code::kUnsupported,
                   fmt::format("{}: a page of {} bytes", *source.name, page.header.uncompressed));
    }
    if (!ChecksumFits(page)) return source.Corrupt("a page does not have its checksum");
    if (page.header.type == PageType::kDictionary) {
      if (source.dictionary || !source.pages.empty()) {
        return source.Corrupt("a dictionary page where none may be");
      }
      if (page.header.values > page.header.uncompressed) {
        return source.Corrupt("a dictionary with more values than bytes");
      }
      source.dictionary = page;
      continue;
    }
    values += page.header.values;
    page.rows = page.header.values;
    if (IsDictionary(page.header.encoding) && !source.dictionary) {
      return source.Corrupt("a page without its dictionary");
    }
    source.pages.push_back(page);
  }
  if (values != chunk.values) {
    return source.Corrupt(
        fmt::format("{} values in the pages of a chunk, {} in the footer", values, chunk.values));
  }
  return {};
}

// v2 pages keep their levels apart, which are never compressed.
void TakeLevels(const Page& page, SplitPage& out) {
  const auto repetition = static_cast<std::size_t>(page.header.repetition_bytes);
  const auto definition = static_cast<std::size_t>(page.header.definition_bytes);
  out.repetition = page.body.substr(0, repetition);
  out.definition = page.body.substr(repetition, definition);
  out.levels = page.body.substr(0, repetition + definition);
}

// How many records begin in a page, and whether one begins with it.
struct Records {
  std::uint32_t count = 0;
  bool aligned = true;
};

Result<Records> CountRecords(const Source& source, const Page& page, ByteView repetition,
                             PageScratch& scratch) {
  const int width = BitsFor(static_cast<std::uint32_t>(source.leaf->max_repetition));
  const auto values = static_cast<std::uint32_t>(page.header.values);
  Records out;
  std::uint32_t first = 0;
  if (!CountEqual(repetition, width, values, 0, scratch.numbers, out.count) ||
      !DecodeHybrid(repetition, width, values > 0 ? 1 : 0, &first)) {
    return source.Corrupt("repetition levels are malformed");
  }
  out.aligned = first == 0;
  return out;
}

// Nulls and rows of v2 pages. The headers of real files have them wrong: parquet-cpp before 12
// wrote values for rows, and it and parquet-java before 1.18 any number of nulls without
// statistics. Readers go by the levels.
Status CountLevels(Source& source, PageScratch& scratch) {
  const Leaf& leaf = *source.leaf;
  const auto max = static_cast<std::uint32_t>(leaf.max_definition);
  for (Page& page : source.pages) {
    PageHeader& header = page.header;
    if (header.type != PageType::kDataV2) continue;
    SplitPage split;
    TakeLevels(page, split);
    const auto values = static_cast<std::uint32_t>(header.values);
    std::uint32_t defined = values;
    if (max > 0 &&
        !CountEqual(split.definition, BitsFor(max), values, max, scratch.numbers, defined)) {
      return source.Corrupt("the definition levels of a page are malformed");
    }
    Records records{.count = values};
    if (leaf.max_repetition > 0) {
      IW_ASSIGN(records, CountRecords(source, page, split.repetition, scratch));
    }
    source.row_aligned = source.row_aligned && records.aligned;
    const auto nulls = static_cast<std::int32_t>(values - defined);
    const auto rows = static_cast<std::int32_t>(records.count);
    page.miscounted = header.nulls != nulls || header.rows != rows;
    header.nulls = nulls;
    header.rows = rows;
    page.rows = rows;
  }
  return {};
}

// v1 pages of repeated columns do not say how many rows they hold. Where rows are deleted an index
// is not believed: one that is wrong would hit others.
Status CountRows(Source& source, PageScratch& scratch) {
  if (source.leaf->max_repetition == 0) return {};
  OffsetIndex index;
  if (!source.offset_index.empty()) {
    auto parsed = ParseOffsetIndex(source.offset_index);
    if (!parsed) return source.Corrupt(parsed.error().message());
    index = std::move(*parsed);
    for (const PageLocation& page : index.pages) {
      if (page.first_row < 0 || page.first_row > source.rows) {
        return source.Corrupt("an offset index with rows out of range");
      }
    }
  }
  for (std::size_t i = 0; i < source.pages.size(); ++i) {
    Page& page = source.pages[i];
    if (page.header.type == PageType::kDataV2) continue;
    if (source.pages.size() == 1) {
      page.rows = source.rows;
    } else if (source.deleted == nullptr && index.pages.size() == source.pages.size()) {
      const bool last = i + 1 == source.pages.size();
      page.rows = (last ? source.rows : index.pages[i + 1].first_row) - index.pages[i].first_row;
    } else {
      IW_ASSIGN(const SplitPage split, Split(source, page, scratch));
      IW_ASSIGN(const Records records, CountRecords(source, page, split.repetition, scratch));
      page.rows = records.count;
      // Legal in v1 without an offset index: the page starts inside a record.
      source.row_aligned = source.row_aligned && records.aligned;
    }
    if (page.rows < 0 || page.rows > page.header.values) {
      return source.Corrupt("a page with more rows than values");
    }
  }
  return {};
}

Status PlaceRows(Source& source) {
  std::int64_t rows = 0;
  for (Page& page : source.pages) {
    if (source.leaf->max_repetition == 0 && page.rows != page.header.values) {
      return source.Corrupt("a page with other rows than values");
    }
    page.first_row = rows;
    rows += page.rows;
  }
  if (rows == source.rows) return {};
  return source.Corrupt(
      fmt::format("{} rows in the pages of a chunk, {} in its row group", rows, source.rows));
}

PageBounds BoundsOf(const Source& source, const Page& page, const Statistics& in) {
  OwnedStatistics own = ConvertStatistics(in, *source.leaf, *source.out_leaf, source.conversion,
                                          source.type_defined_order);
  PageBounds out;
  out.nulls = own.null_count;
  if (source.out_leaf->max_definition == 0) out.nulls = 0;
  // They were counted.
  if (source.leaf->max_repetition == 0 && page.header.type == PageType::kDataV2) {
    out.nulls = page.header.nulls;
  }
  if (out.nulls && (*out.nulls < 0 || *out.nulls > page.header.values)) out.nulls.reset();
  out.null_page = out.nulls == page.header.values;
  out.known = out.null_page || own.min.has_value();
  if (own.min && !out.null_page) {
    out.min = std::move(*own.min);
    out.max = std::move(*own.max);
  }
  return out;
}

// Of a single page: those of the chunk; else of the old column index; else of the page headers.
Status FindBounds(Source& source) {
  const std::size_t count = source.pages.size();
  if (source.known_bounds != nullptr && source.known_bounds->size() == count) {
    source.bounds = *source.known_bounds;
    return {};
  }
  source.bounds.reserve(count);
  if (count == 1) {
    source.bounds.push_back(BoundsOf(source, source.pages.front(), source.chunk->statistics));
    return {};
  }
  ColumnIndex index;
  if (!source.column_index.empty()) {
    auto parsed = ParseColumnIndex(source.column_index);
    if (!parsed) return source.Corrupt(parsed.error().message());
    index = std::move(*parsed);
  }
  const bool indexed =
      index.null_pages.size() == count && index.min.size() == count && index.max.size() == count;
  for (std::size_t i = 0; i < count; ++i) {
    const Page& on = source.pages[i];
    if (!indexed) {
      source.bounds.push_back(BoundsOf(source, on, on.header.statistics));
      continue;
    }
    Statistics page;
    if (index.null_counts.size() == count) page.null_count = index.null_counts[i];
    if (index.null_pages[i]) {
      page.null_count = on.header.values;
    } else {
      page.min = index.min[i];
      page.max = index.max[i];
    }
    source.bounds.push_back(BoundsOf(source, on, page));
  }
  return {};
}

}  // namespace

Error Source::Corrupt(std::string_view what) const {
  std::string column;
  for (const ByteView part : leaf->path) column.append(column.empty() ? "" : ".").append(part);
  return Error(Code::kCorrupt, fmt::format("{}: column {}: {}", *name, column, what));
}

Status ReadPages(Source& source, PageScratch& scratch) {
  const auto codec = CodecOf(source.chunk->codec);
  if (!codec) {
    return Error(Code::kUnsupported,
                 fmt::format("{}: codec {}", *source.name, source.chunk->codec));
  }
  source.codec = *codec;
  IW_TRY(WalkPages(source));
  IW_TRY(CountLevels(source, scratch));
  IW_TRY(CountRows(source, scratch));
  IW_TRY(PlaceRows(source));
  source.statistics = ConvertStatistics(source.chunk->statistics, *source.leaf, *source.out_leaf,
                                        source.conversion, source.type_defined_order);
  if (source.leaf->max_definition == 0) source.statistics.null_count = 0;
  return FindBounds(source);
}

Result<SplitPage> Split(const Source& source, const Page& page, PageScratch& scratch) {
  const Leaf& leaf = *source.leaf;
  const PageHeader& header = page.header;
  SplitPage out;
  Scratch& raw = scratch.raw;
  raw.Clear();
  if (header.type == PageType::kDataV2) {
    TakeLevels(page, out);
    const ByteView block = page.body.substr(out.levels.size());
    const std::size_t size =
        block.empty() ? 0 : static_cast<std::size_t>(header.uncompressed) - out.levels.size();
    char* const to = raw.Grow(size);
    if (size > 0) {
      const BlockCodec codec = header.is_compressed ? source.codec : BlockCodec::kNone;
      if (auto status = DecompressBlock(codec, block, {to, size}); !status) {
        return source.Corrupt(status.error().message());
      }
    }
    out.values = raw.view();
    out.defined = static_cast<std::uint32_t>(header.values - header.nulls);
    return out;
  }
  const auto size = static_cast<std::size_t>(header.uncompressed);
  if (auto status = DecompressBlock(source.codec, page.body, {raw.Grow(size), size}); !status) {
    return source.Corrupt(status.error().message());
  }
  if ((leaf.max_repetition > 0 && header.repetition_encoding != Encoding::kRle) ||
      (leaf.max_definition > 0 && header.definition_encoding != Encoding::kRle)) {
    return Error(Code::kUnsupported, *source.name + ": levels in an old encoding");
  }
  std::size_t at = 0;
  const auto take_levels = [&](int max, ByteView& levels) {
    if (max == 0) return true;
    if (raw.size() - at < 4) return false;
    const std::size_t length = LoadLittle<std::uint32_t>(raw.data() + at);
    if (raw.size() - at - 4 < length) return false;
    levels = raw.view().substr(at + 4, length);
    at += 4 + length;
    return true;
  };
  if (!take_levels(leaf.max_repetition, out.repetition) ||
      !take_levels(leaf.max_definition, out.definition)) {
    return source.Corrupt("the levels of a page are malformed");
  }
  out.levels = raw.view().substr(0, at);
  out.values = raw.view().substr(at);
  out.defined = static_cast<std::uint32_t>(header.values);
  if (leaf.max_definition > 0) {
    const auto max = static_cast<std::uint32_t>(leaf.max_definition);
    if (!CountEqual(out.definition, BitsFor(max), out.defined, max, scratch.numbers, out.defined)) {
      return source.Corrupt("the definition levels of a page are malformed");
    }
  }
  return out;
}

bool Touches(const RowRanges& deleted, std::int64_t first, std::int64_t rows) {
  const auto at =
      std::upper_bound(deleted.begin(), deleted.end(), first,
                       [](std::int64_t row, const auto& range) { return row < range.second; });
  return at != deleted.end() && at->first < first + rows;
}

std::optional<std::string> WhyNotMovable(const Leaf& leaf, const ColumnChunk& chunk) {
  // BIT_PACKED is named by parquet-java for levels that are not there.
  constexpr std::uint32_t kKnown = 0x3FFU & ~(1U << 1);
  if (chunk.encrypted) return "the column is encrypted";
  if (chunk.external) return "the column is in another file";
  if (!CodecOf(chunk.codec)) return fmt::format("codec {}", chunk.codec);
  if (leaf.type == Physical::kInt96) return "INT96";
  if ((chunk.encodings & ~kKnown) != 0) return "an unknown encoding";
  return {};
}

}  // namespace icewright::splice
