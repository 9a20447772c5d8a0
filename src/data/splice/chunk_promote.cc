// ChunkWriter: a dictionary page that becomes the data page.
//
// If the indices of a chunk are 0, 1, 2, ..., its dictionary already is the PLAIN encoding of the
// values, compressed: it is written as a data page as it stands. Levels stay outside the compressed
// part, which only a v2 page allows.

#include <algorithm>

#include "codec/compression.h"
#include "data/splice/chunk_writer.h"
#include "data/splice/hybrid.h"

namespace icewright::splice {
namespace {

// A page of its own must not be much bigger than pages are: in rows, or it must be small in bytes.
constexpr std::int64_t kMostPages = 4;
constexpr std::int64_t kMostPagesIfSmall = 8;
constexpr std::int64_t kMostValues = 1 << 24;

}  // namespace

bool ChunkWriter::MayPromote(const Source& source) const {
  const bool small =
      source.dictionary->header.uncompressed <= static_cast<std::int64_t>(settings_.page_bytes);
  const std::int64_t most_rows = settings_.page_rows * (small ? kMostPagesIfSmall : kMostPages);
  if (source.mode != DictionaryMode::kPlain || source.codec != settings_.codec ||
      !source.same_form() || source.deleted != nullptr || source.pages.empty() ||
      !source.row_aligned || source.rows > most_rows || source.chunk->values > kMostValues) {
    return false;
  }
  for (const Page& page : source.pages) {
    if (!IsDictionary(page.header.encoding)) return false;
  }
  constexpr std::int32_t kSmall = 16 << 10;  // better joined with its neighbours
  if (source.dictionary->header.uncompressed < kSmall && source.rows * 2 <= settings_.page_rows) {
    return false;
  }
  const auto& nulls = source.statistics.null_count;
  return !nulls || source.dictionary_size() == source.chunk->values - *nulls;
}

// Are the indices of all pages together 0, 1, 2, ...? Leaves the levels of the chunk in `split`.
Result<bool> ChunkWriter::IsIdentity(Source& source, SplitPage& split) {
  const std::uint32_t size = source.dictionary_size();
  const bool one = source.pages.size() == 1;
  const Page& first = source.pages.front();
  if (one && first.header.type == PageType::kData && !identity_.empty() && identity_size_ == size &&
      identity_codec_ == source.codec && first.body == identity_) {
    split.repetition = ByteView(identity_levels_).substr(0, identity_repetition_);
    split.definition = ByteView(identity_levels_).substr(identity_repetition_);
    return true;
  }
  std::uint32_t at = 0;
  repetition_.clear();
  definition_.clear();
  for (const Page& page : source.pages) {
    IW_ASSIGN(split, Split(source, page, page_));
    if (split.defined == 0) return false;
    IW_TRY(DecodeIndices(source, split.values, split.defined));
    std::uint32_t wrong = 0;
    for (std::uint32_t i = 0; i < split.defined; ++i) wrong |= indices_[i] ^ (at + i);
    if (wrong != 0) return false;
    at += split.defined;
    const auto values = static_cast<std::uint32_t>(page.header.values);
    const Leaf& leaf = *source.leaf;
    if (!one && ((leaf.max_repetition > 0 &&
                  !DecodeLevels(leaf.max_repetition, split.repetition, values, repetition_)) ||
                 (leaf.max_definition > 0 &&
                  !DecodeLevels(leaf.max_definition, split.definition, values, definition_)))) {
      return source.Corrupt("the levels of a page are malformed");
    }
  }
  if (at != size) return false;
  if (one && first.header.type == PageType::kData) {
    identity_ = first.body;
    identity_codec_ = source.codec;
    identity_size_ = size;
    identity_repetition_ = split.repetition.size();
    identity_levels_.assign(split.repetition).append(split.definition);
  }
  return true;
}

Result<bool> ChunkWriter::Promote(Source& source) {
  if (!source.dictionary || !MayPromote(source)) return false;
  SplitPage split;
  IW_ASSIGN(const bool identity, IsIdentity(source, split));
  if (!identity) return false;
  const Leaf& leaf = *source.leaf;
  const bool one = source.pages.size() == 1;
  PageHeader header;
  header.type = leaf.max_definition > 0 ? PageType::kDataV2 : source.pages.front().header.type;
  header.values = static_cast<std::int32_t>(source.chunk->values);
  header.rows = static_cast<std::int32_t>(source.rows);
  header.nulls = static_cast<std::int32_t>(source.chunk->values - source.dictionary_size());
  header.encoding = Encoding::kPlain;
  Scratch levels;
  const auto write_levels = [&](int max, ByteView encoded, const std::vector<std::uint8_t>& decoded,
                                std::int32_t& size) {
    const std::size_t before = levels.size();
    if (one) {
      levels.Append(encoded);
    } else if (max > 0) {
      EncodeLevels(decoded.data(), decoded.size(), BitsFor(static_cast<std::uint32_t>(max)),
                   levels);
    }
    size = static_cast<std::int32_t>(levels.size() - before);
  };
  write_levels(leaf.max_repetition, split.repetition, repetition_, header.repetition_bytes);
  write_levels(leaf.max_definition, split.definition, definition_, header.definition_bytes);
  const ByteView body = source.dictionary->body;
  const PageHeader& dictionary = source.dictionary->header;
  header.uncompressed = static_cast<std::int32_t>(levels.size()) + dictionary.uncompressed;
  header.compressed = static_cast<std::int32_t>(levels.size() + body.size());
  if (dictionary.crc) {
    std::uint32_t crc = levels.size() > 0 ? Crc32(levels.view()) : 0;
    if (!body.empty()) crc = Crc32(body, crc);
    header.crc = static_cast<std::int32_t>(crc);
  }
  PageBounds bounds;
  const OwnedStatistics& statistics = source.statistics;
  bounds.nulls = source.chunk->values - source.dictionary_size();
  bounds.null_page = source.dictionary_size() == 0;
  bounds.known = bounds.null_page || statistics.min.has_value();
  if (statistics.min && !bounds.null_page) {
    bounds.min = *statistics.min;
    bounds.max = *statistics.max;
  }
  IW_TRY(FlushPending());
  Count(source, Treatment::kPromote, *source.dictionary);
  header_.clear();
  WritePageHeader(header_, header);
  NotePage(header, header_.size() + levels.size() + body.size(), source.rows, std::move(bounds));
  IW_TRY(sink_->Append(header_));
  IW_TRY(sink_->Append(levels.view()));
  IW_TRY(Put(source, body));
  return true;
}

}  // namespace icewright::splice
