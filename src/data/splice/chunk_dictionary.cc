// The first pass of ChunkWriter: one dictionary for a chunk, or none.

#include <algorithm>

#include "codec/compression.h"
#include "data/splice/chunk_writer.h"
#include "data/splice/hybrid.h"

namespace icewright::splice {
namespace {

// A union that holds more entries per value than this is no gain, once enough values are seen.
constexpr double kMostEntriesPerValue = 0.6;
constexpr std::int64_t kEnoughValues = 20'000;

bool SameDictionary(const Source& a, const Source& b) {
  return a.codec == b.codec && a.conversion == b.conversion &&
         a.dictionary_size() == b.dictionary_size() && a.dictionary->body == b.dictionary->body;
}

// Not 0 bits for one entry: that is legal, but few writers do it.
int WidthOf(std::uint32_t entries) { return entries < 2 ? 1 : BitsFor(entries - 1); }

}  // namespace

Status ChunkWriter::LoadDictionary(const Source& source) {
  if (loaded_ == &source) return {};
  loaded_ = nullptr;
  const PageHeader& header = source.dictionary->header;
  Scratch& raw = source.conversion == Conversion::kNone ? dictionary_ : converted_;
  raw.Clear();
  const auto size = static_cast<std::size_t>(header.uncompressed);
  if (auto status = DecompressBlock(source.codec, source.dictionary->body, {raw.Grow(size), size});
      !status) {
    return source.Corrupt(status.error().message());
  }
  if (source.conversion != Conversion::kNone) {
    dictionary_.Clear();
    if (!ConvertValues(source.conversion, source.leaf->width, source.out_leaf->width, raw.view(),
                       dictionary_)) {
      return source.Corrupt("a dictionary is malformed");
    }
  }
  if (!PlainOffsets(dictionary_.view(), source.dictionary_size(), source.out_leaf->width,
                    dictionary_offsets_)) {
    return source.Corrupt("a dictionary is too short");
  }
  loaded_ = &source;
  return {};
}

Status ChunkWriter::PlanDictionary(std::vector<Source>& sources) {
  union_.Clear();
  has_dictionary_ = false;
  only_dictionary_ = nullptr;
  union_width_ = 0;
  std::vector<Source*> with;
  for (Source& source : sources) {
    if (source.dictionary) with.push_back(&source);
  }
  if (with.empty()) return {};
  if (!settings_.dictionary) {
    for (Source* source : with) source->mode = DictionaryMode::kPlain;
    return {};
  }
  has_dictionary_ = true;
  const bool same = std::all_of(with.begin(), with.end(), [&](const Source* source) {
    return SameDictionary(*source, *with[0]);
  });
  if (same && with[0]->conversion == Conversion::kNone) {
    only_dictionary_ = with[0];
    union_width_ = WidthOf(with[0]->dictionary_size());
  } else {
    IW_TRY(BuildUnion(with));
  }
  // Pages that are joined or filtered need a map even where it changes nothing.
  for (Source* source : with) {
    if (source->mode != DictionaryMode::kVerbatim || !source->map.empty()) continue;
    source->map.resize(source->dictionary_size());
    for (std::uint32_t i = 0; i < source->map.size(); ++i) source->map[i] = i;
  }
  return {};
}

Status ChunkWriter::BuildUnion(std::vector<Source*>& with) {
  std::int64_t covered = 0;
  bool closed = false;
  bool hopeless = false;
  const Source* previous = nullptr;
  for (Source* source : with) {
    if (previous != nullptr && SameDictionary(*previous, *source)) {
      source->mode = previous->mode;
      source->map = previous->map;
    } else {
      IW_TRY(LoadDictionary(*source));
      if (!union_.Add(dictionary_.view(), dictionary_offsets_, settings_.dictionary_bytes, closed,
                      source->map)) {
        closed = true;
        source->mode = DictionaryMode::kPlain;
      } else {
        std::uint32_t i = 0;
        while (i < source->map.size() && source->map[i] == i) ++i;
        const bool identity = i == source->map.size();
        source->mode = identity ? DictionaryMode::kVerbatim : DictionaryMode::kRemap;
      }
      previous = source;
    }
    if (source->mode != DictionaryMode::kPlain) {
      covered += source->chunk->values - source->statistics.null_count.value_or(0);
    }
    hopeless = !closed && covered >= kEnoughValues &&
               union_.size() > kMostEntriesPerValue * static_cast<double>(covered);
    if (hopeless) break;
  }
  if (hopeless || union_.size() == 0) {
    for (Source* source : with) source->mode = DictionaryMode::kPlain;
    has_dictionary_ = false;
    return {};
  }
  union_width_ = WidthOf(union_.size());
  return {};
}

Status ChunkWriter::WriteDictionary(const std::vector<Source>& sources) {
  PageHeader header;
  header.type = PageType::kDictionary;
  ByteView body;
  if (only_dictionary_ != nullptr) {
    const Page& page = *only_dictionary_->dictionary;
    header = page.header;
    body = page.body;
    if (only_dictionary_->codec != settings_.codec) {
      IW_TRY(LoadDictionary(*only_dictionary_));
      IW_TRY(Compress(dictionary_.view(), settings_.level));
      body = compressed_.view();
      header.crc.reset();
    }
    Count(*only_dictionary_, Treatment::kVerbatim, page);
  } else {
    header.values = static_cast<std::int32_t>(union_.size());
    header.uncompressed = static_cast<std::int32_t>(union_.body().size());
    IW_TRY(Compress(union_.body(), settings_.level));
    body = compressed_.view();
  }
  for (const Source& source : sources) {
    if (!header.crc && source.dictionary && source.dictionary->header.crc) header.crc = 0;
  }
  if (header.crc) header.crc = static_cast<std::int32_t>(body.empty() ? 0 : Crc32(body));
  header.compressed = static_cast<std::int32_t>(body.size());
  header_.clear();
  WritePageHeader(header_, header);
  NotePage(header, header_.size() + body.size(), 0, {});
  IW_TRY(sink_->Append(header_));
  return sink_->Append(body);
}

}  // namespace icewright::splice
