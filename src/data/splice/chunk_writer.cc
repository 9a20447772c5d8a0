#include "data/splice/chunk_writer.h"

#include <fmt/format.h>

#include <algorithm>

#include "codec/compression.h"
#include "data/splice/hybrid.h"

namespace icewright::splice {
namespace {

constexpr std::size_t kSmallPageBytes = 16 << 10;

// libdeflate's CRC of no bytes is 0, whatever came before.
std::int32_t ChecksumOf(ByteView first, ByteView second) {
  std::uint32_t crc = 0;
  for (const ByteView part : {first, second}) {
    if (!part.empty()) crc = Crc32(part, crc);
  }
  return static_cast<std::int32_t>(crc);
}

}  // namespace

std::string_view Name(Treatment treatment) {
  constexpr std::array<std::string_view, kTreatments> kNames = {
      "verbatim", "null",        "constant", "promote", "join",  "transcode",
      "remap",    "materialise", "convert",  "filter",  "decode"};
  return kNames[static_cast<std::size_t>(treatment)];
}

bool OutputChunk::indexable() const {
  return row_aligned && !offsets.pages.empty() && leaf->order != Order::kUndefined &&
         std::all_of(bounds.begin(), bounds.end(),
                     [](const PageBounds& page) { return page.known; });
}

void ChunkWriter::Count(const Source& source, Treatment treatment, const Page& page) {
  if (!source.of_input) return;
  out_.treated[static_cast<std::size_t>(treatment)] += static_cast<std::int64_t>(page.whole.size());
}

Result<OutputChunk> ChunkWriter::Write(RunContext& run, const Leaf& leaf,
                                       const ChunkSettings& settings, std::vector<Source>& sources,
                                       ChunkSink& sink) {
  settings_ = settings;
  sink_ = &sink;
  sources_ = sources.size();
  out_ = OutputChunk();
  out_.leaf = &leaf;
  out_.codec = settings.codec;
  out_.statistics = StatisticsMerger(leaf.order);
  pending_.active = false;
  loaded_ = nullptr;
  identity_ = {};
  std::int64_t rows = 0;
  for (Source& source : sources) {
    IW_TRY(run.Check());
    IW_TRY(ReadPages(source, page_));
    out_.row_aligned = out_.row_aligned && source.row_aligned;
    rows += source.rows;
    if (source.deleted == nullptr && source.same_form()) {
      out_.sizes.Add(source.chunk->sizes);
    } else {
      out_.sizes.Drop();
    }
    if (source.deleted == nullptr) continue;
    for (const auto& [first, last] : *source.deleted) rows -= last - first;
  }
  IW_TRY(PlanDictionary(sources));
  if (has_dictionary_) IW_TRY(WriteDictionary(sources));
  loaded_ = nullptr;
  for (Source& source : sources) {
    IW_TRY(run.Check());
    IW_TRY(WriteSource(source));
  }
  IW_TRY(FlushPending());
  if (settings.bloom) IW_TRY(MakeBloom(run, sources));
  if (out_.rows != rows) {
    return Error(Code::kInternal,
                 fmt::format("{} rows in a spliced chunk instead of {}", out_.rows, rows));
  }
  if (out_.data_offset < 0) out_.data_offset = out_.compressed;
  if (!settings.statistics) out_.statistics.Drop();
  return std::move(out_);
}

Status ChunkWriter::WriteSource(Source& source) {
  IW_ASSIGN(const bool promoted, Promote(source));
  if (!promoted) {
    for (std::size_t i = 0; i < source.pages.size(); ++i) IW_TRY(WritePage(source, i));
  }
  IW_TRY(CheckSeen(source));
  if (settings_.count_nans && source.metrics == nullptr && !source.no_nans)
    IW_TRY(CountSourceNans(source));
  if (source.deleted == nullptr) {
    out_.statistics.Add(source.statistics, source.chunk->values);
    return {};
  }
  OwnedStatistics statistics = source.statistics;
  // Bounds of rows that may be gone are bounds still, but not exact ones.
  statistics.min_exact = statistics.max_exact = false;
  statistics.exact_known = true;
  statistics.null_count = source.kept_nulls;
  out_.statistics.Add(statistics, source.kept_values);
  return {};
}

// Counts what stays of a page that no delete touches.
Status ChunkWriter::KeepWhole(Source& source, std::size_t i) {
  const Page& page = source.pages[i];
  source.kept_values += page.header.values;
  std::int64_t nulls = source.bounds[i].nulls.value_or(0);
  if (!source.bounds[i].nulls) {
    IW_ASSIGN(const SplitPage split, Split(source, page, page_));
    nulls = page.header.values - split.defined;
  }
  source.kept_nulls += nulls;
  return {};
}

// Levels that were decoded tell how many values are null, and so does the footer.
Status ChunkWriter::CheckSeen(const Source& source) const {
  // Writers differ in what is a null inside of lists.
  if (source.leaf->max_repetition > 0) return {};
  const auto& nulls = source.chunk->statistics.null_count;
  if (!nulls || source.values_seen != source.chunk->values || source.values_seen == 0) return {};
  if (source.values_seen - source.defined_seen == *nulls) return {};
  return source.Corrupt(fmt::format("{} nulls in the pages, {} in the footer",
                                    source.values_seen - source.defined_seen, *nulls));
}

bool ChunkWriter::IsSmall(const Page& page) const {
  return static_cast<std::size_t>(page.header.uncompressed) < kSmallPageBytes &&
         page.rows * 2 <= settings_.page_rows;
}

Status ChunkWriter::WritePage(Source& source, std::size_t i) {
  const Page& page = source.pages[i];
  if (page.header.values == 0) return {};
  const bool dictionary = IsDictionary(page.header.encoding);
  const bool plain =
      page.header.encoding == Encoding::kPlain && source.leaf->type != Physical::kBoolean;
  const bool dirty =
      source.deleted != nullptr && Touches(*source.deleted, page.first_row, page.rows);
  if (source.deleted != nullptr && !dirty) IW_TRY(KeepWhole(source, i));
  if (dirty || (source.conversion != Conversion::kNone)) {
    if (!(dictionary || plain) || !source.row_aligned) {
      return Error(Code::kUnsupported, *source.name + ": rows in an encoding that must be decoded");
    }
    if (dirty) {
      Count(source, Treatment::kFilter, page);
    } else {
      Count(source, Treatment::kConvert, page);
    }
    const Take take = !dictionary                             ? Take::kPlain
                      : source.mode == DictionaryMode::kPlain ? Take::kGather
                                                              : Take::kIndices;
    return Pend(source, i, take);
  }
  if (dictionary && source.mode != DictionaryMode::kVerbatim) {
    const bool gather = source.mode == DictionaryMode::kPlain;
    if (!source.row_aligned) {
      return Error(Code::kUnsupported, *source.name + ": records across pages of a dictionary");
    }
    Count(source, gather ? Treatment::kMaterialise : Treatment::kRemap, page);
    return Pend(source, i, gather ? Take::kGather : Take::kIndices);
  }
  if (sources_ > 1 && (dictionary || plain) && source.row_aligned && IsSmall(page)) {
    Count(source, Treatment::kJoin, page);
    return Pend(source, i, dictionary ? Take::kIndices : Take::kPlain);
  }
  IW_TRY(FlushPending());
  if (source.codec == settings_.codec && !source.adds_level()) return CopyPage(source, i);
  return TranscodePage(source, i);
}

Status ChunkWriter::CopyPage(const Source& source, std::size_t i) {
  const Page& page = source.pages[i];
  Count(source, Treatment::kVerbatim, page);
  if (page.miscounted) {
    header_.clear();
    WritePageHeader(header_, page.header);
    NotePage(page.header, header_.size() + page.body.size(), page.rows, source.bounds[i]);
    IW_TRY(sink_->Append(header_));
    return Put(source, page.body);
  }
  NotePage(page.header, page.whole.size(), page.rows, source.bounds[i]);
  return Put(source, page.whole);
}

// Other codec, or levels of a column that was required: values stay encoded.
Status ChunkWriter::TranscodePage(Source& source, std::size_t i) {
  const Page& page = source.pages[i];
  Count(source, Treatment::kTranscode, page);
  IW_ASSIGN(const SplitPage split, Split(source, page, page_));
  source.values_seen += page.header.values;
  source.defined_seen += split.defined;
  PageHeader header = page.header;
  ByteView levels = split.levels;
  if (source.adds_level()) {
    // parquet-java names another encoding for levels that are not there.
    header.definition_encoding = Encoding::kRle;
    levels_.Clear();
    const bool v1 = header.type == PageType::kData;
    if (v1) levels_.Append(ByteView("\0\0\0\0", 4));
    AppendRun(levels_, static_cast<std::uint32_t>(header.values), 1, 1);
    if (v1) {
      const auto length = static_cast<std::uint32_t>(levels_.size() - 4);
      std::memcpy(levels_.data(), &length, 4);
    } else {
      header.definition_bytes = static_cast<std::int32_t>(levels_.size());
    }
    levels = levels_.view();
  }
  header.is_compressed = true;
  return EmitPage(header, levels, split.values, page.rows, source.bounds[i]);
}

Status ChunkWriter::Compress(ByteView raw, std::optional<int> level) {
  compressed_.Clear();
  const std::size_t room = MaxBlockSize(settings_.codec, raw.size());
  char* const to = compressed_.Grow(room);
  IW_ASSIGN(const std::size_t size, CompressBlock(settings_.codec, level, raw, {to, room}));
  compressed_.Resize(size);
  return {};
}

Status ChunkWriter::EmitPage(PageHeader header, ByteView levels, ByteView values, std::int64_t rows,
                             PageBounds bounds) {
  const auto level = IsDictionary(header.encoding) ? settings_.index_level : settings_.level;
  ByteView first;
  ByteView second;
  if (header.type == PageType::kData) {
    joined_.Clear();
    joined_.Append(levels);
    joined_.Append(values);
    header.uncompressed = static_cast<std::int32_t>(joined_.size());
    IW_TRY(Compress(joined_.view(), level));
    first = compressed_.view();
  } else {
    if (header.is_compressed) IW_TRY(Compress(values, level));
    header.is_compressed = settings_.codec == BlockCodec::kNone ||
                           (header.is_compressed && compressed_.size() < values.size());
    first = levels;
    second = header.is_compressed && !values.empty() ? compressed_.view() : values;
    header.uncompressed = static_cast<std::int32_t>(levels.size() + values.size());
  }
  header.compressed = static_cast<std::int32_t>(first.size() + second.size());
  if (header.crc) header.crc = ChecksumOf(first, second);
  header_.clear();
  WritePageHeader(header_, header);
  NotePage(header, header_.size() + first.size() + second.size(), rows, std::move(bounds));
  IW_TRY(sink_->Append(header_));
  IW_TRY(sink_->Append(first));
  return sink_->Append(second);
}

// `size`: with the header. Called before the page goes to the sink.
void ChunkWriter::NotePage(const PageHeader& header, std::size_t size, std::int64_t rows,
                           PageBounds bounds) {
  if (header.type == PageType::kDictionary) {
    out_.has_dictionary = true;
  } else {
    if (out_.data_offset < 0) out_.data_offset = out_.compressed;
    out_.offsets.pages.push_back({.offset = out_.compressed,
                                  .size = static_cast<std::int32_t>(size),
                                  .first_row = out_.rows});
    out_.rows += rows;
    out_.values += header.values;
    out_.bounds.push_back(std::move(bounds));
  }
  const auto length = static_cast<std::int64_t>(size);
  out_.compressed += length;
  out_.uncompressed += length - header.compressed + header.uncompressed;
  ++out_.page_counts[{header.type, header.encoding}];
}

}  // namespace icewright::splice
