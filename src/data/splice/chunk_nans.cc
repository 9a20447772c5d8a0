// ChunkWriter: counts NaN, which no Parquet metadata tells.

#include <algorithm>

#include "data/splice/chunk_writer.h"
#include "data/splice/hybrid.h"

namespace icewright::splice {
namespace {

// The values of BYTE_STREAM_SPLIT, put together again.
void Unsplit(ByteView values, std::size_t count, std::size_t width, Scratch& out) {
  out.Clear();
  char* const to = out.Grow(count * width);
  for (std::size_t byte = 0; byte < width; ++byte) {
    for (std::size_t i = 0; i < count; ++i) to[i * width + byte] = values[byte * count + i];
  }
}

}  // namespace

Result<std::int64_t> ChunkWriter::CountPageNans(Source& source, const Page& page) {
  if (IsDictionary(page.header.encoding)) {
    if (nan_entries_.empty()) return 0;
    IW_ASSIGN(const SplitPage split, Split(source, page, page_));
    if (split.defined == 0) return 0;
    IW_TRY(DecodeIndices(source, split.values, split.defined));
    std::int64_t nans = 0;
    for (std::uint32_t i = 0; i < split.defined; ++i) nans += nan_entries_[indices_[i]];
    return nans;
  }
  const bool plain = page.header.encoding == Encoding::kPlain;
  if (!plain && page.header.encoding != Encoding::kByteStreamSplit) {
    return Error(Code::kUnsupported, *source.name + ": floats in an unknown encoding");
  }
  IW_ASSIGN(const SplitPage split, Split(source, page, page_));
  const auto width = static_cast<std::size_t>(source.leaf->width);
  if (split.values.size() != split.defined * width) {
    return source.Corrupt("the values of a page are malformed");
  }
  const char* values = split.values.data();
  if (!plain) {
    Unsplit(split.values, split.defined, width, converted_);
    values = converted_.data();
  }
  return CountNans(source.leaf->type, values, split.defined);
}

Status ChunkWriter::CountSourceNans(Source& source) {
  nan_entries_.clear();
  if (source.dictionary_size() > 0) {
    IW_TRY(LoadDictionary(source));
    const auto width = static_cast<std::size_t>(source.out_leaf->width);
    const Physical type = source.out_leaf->type;
    if (CountNans(type, dictionary_.data(), source.dictionary_size()) > 0) {
      for (std::uint32_t i = 0; i < source.dictionary_size(); ++i) {
        nan_entries_.push_back(CountNans(type, dictionary_.data() + i * width, 1) > 0 ? 1 : 0);
      }
    }
  }
  for (const Page& page : source.pages) {
    IW_ASSIGN(const std::int64_t nans, CountPageNans(source, page));
    source.nans += nans;
  }
  if (source.nans > 0 && source.deleted != nullptr) {
    return Error(Code::kUnsupported, *source.name + ": NaN in a file with deleted rows");
  }
  return {};
}

}  // namespace icewright::splice
