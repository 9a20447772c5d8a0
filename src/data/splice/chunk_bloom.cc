// ChunkWriter: a Bloom filter of the chunk, made anew from dictionaries and PLAIN values.

#include <arrow/io/memory.h>
#include <parquet/bloom_filter.h>

#include <algorithm>

#include "data/arrow_bridge.h"
#include "data/splice/chunk_writer.h"

namespace icewright::splice {
namespace {

constexpr std::size_t kLengthBytes = 4;  // of a PLAIN byte array

// As Arrow's own column writer does.
std::uint32_t FilterBytes(const BloomSettings& bloom) {
  return parquet::BlockSplitBloomFilter::OptimalNumOfBytes(static_cast<std::uint64_t>(bloom.ndv),
                                                           bloom.fpp);
}

}  // namespace

class ChunkWriter::BloomBuilder {
 public:
  explicit BloomBuilder(const BloomSettings& settings) : settings_(settings) {
    filter_.Init(FilterBytes(settings));
  }

  /// Values of a PLAIN body by PlainOffsets; `width` 0: byte arrays.
  void Add(ByteView body, const std::vector<std::uint32_t>& offsets, std::uint32_t count,
           int width) {
    const std::size_t skip = width == 0 ? kLengthBytes : 0;
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::size_t from = offsets[i] + skip;
      filter_.InsertHash(filter_.Hash(body.substr(from, offsets[i + 1] - from)));
    }
  }

  Result<Bytes> Finish() {
    Bytes out;
    IW_TRY(Guard("make a Bloom filter", [&]() -> Status {
      if (settings_.fold) filter_.FoldToTargetFpp(settings_.fpp);
      IW_ASSIGN(const auto sink, FromArrow(arrow::io::BufferOutputStream::Create()));
      filter_.WriteTo(sink.get());
      IW_ASSIGN(const auto buffer, FromArrow(sink->Finish()));
      out = buffer->ToString();
      return {};
    }));
    return out;
  }

 private:
  const BloomSettings settings_;
  parquet::BlockSplitBloomFilter filter_;
};

Status ChunkWriter::AddToBloom(Source& source, BloomBuilder& filter) {
  const int width = source.out_leaf->width;
  if (source.dictionary_size() > 0) {
    IW_TRY(LoadDictionary(source));
    filter.Add(dictionary_.view(), dictionary_offsets_, source.dictionary_size(), width);
  }
  for (const Page& page : source.pages) {
    if (IsDictionary(page.header.encoding)) continue;
    if (page.header.encoding != Encoding::kPlain) {
      return Error(Code::kUnsupported, *source.name + ": a Bloom filter over unknown encodings");
    }
    IW_ASSIGN(const SplitPage split, Split(source, page, page_));
    ByteView values = split.values;
    if (source.conversion != Conversion::kNone) {
      converted_.Clear();
      if (!ConvertValues(source.conversion, source.leaf->width, width, values, converted_)) {
        return source.Corrupt("the values of a page are malformed");
      }
      values = converted_.view();
    }
    if (!PlainOffsets(values, split.defined, width, indices_)) {
      return source.Corrupt("the values of a page are malformed");
    }
    filter.Add(values, indices_, split.defined, width);
  }
  return {};
}

// Entries that only deleted rows use are in it, too: a filter may hold more than the values.
Status ChunkWriter::MakeBloom(RunContext& run, std::vector<Source>& sources) {
  BloomBuilder filter(*settings_.bloom);
  loaded_ = nullptr;
  for (Source& source : sources) {
    IW_TRY(run.Check());
    IW_TRY(AddToBloom(source, filter));
  }
  IW_ASSIGN(out_.bloom, filter.Finish());
  return {};
}

}  // namespace icewright::splice
