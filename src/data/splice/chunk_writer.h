#pragma once

/// \file data/splice/chunk_writer.h
/// The chunks of one column, from all inputs of a row group, as one chunk.
///
/// Two passes, because a chunk has one dictionary and it comes first: the first reads dictionaries
/// and decides how the pages of each input move; the second moves them, page by page, into the
/// sink.

#include <cstdint>
#include <optional>
#include <vector>

#include "base/run_context.h"
#include "data/splice/chunk_sink.h"
#include "data/splice/output_chunk.h"
#include "data/splice/source.h"
#include "data/splice/union_dictionary.h"

namespace icewright::splice {

/// A Bloom filter that the table wants.
struct BloomSettings {
  std::int64_t ndv = 0;  ///< distinct values it is made for
  double fpp = 0.01;
  bool fold = false;  ///< to the size that the values need
};

/// How chunks of a column are written.
struct ChunkSettings {
  BlockCodec codec = BlockCodec::kNone;
  std::optional<int> level = {};
  std::optional<int> index_level = {};                  ///< of pages of dictionary indices
  std::size_t dictionary_bytes = std::size_t{2} << 20;  ///< largest union
  std::size_t page_bytes = std::size_t{1} << 20;        ///< joined pages end here
  std::int64_t page_rows = 20'000;                      ///< and here
  bool dictionary = true;                               ///< may there be one?
  bool statistics = true;                               ///< are there any?
  std::optional<BloomSettings> bloom = {};
  bool count_nans = false;  ///< of sources that do not know
};

/// One after another; keeps its scratch memory. Single-threaded.
class ChunkWriter {
 public:
  /// Sources in the order of rows; ReadPages is called here. Errors: kCorrupt, naming the file;
  /// kUnsupported for what has to be decoded; kInternal if rows do not add up; those of the sink,
  /// which must be done with before the bytes of the sources go.
  Result<OutputChunk> Write(RunContext& run, const Leaf& leaf, const ChunkSettings& settings,
                            std::vector<Source>& sources, ChunkSink& sink);

 private:
  // Indices through the map; dictionary values; PLAIN values.
  enum class Take : std::uint8_t { kIndices, kGather, kPlain };

  Status LoadDictionary(const Source& source);
  Status PlanDictionary(std::vector<Source>& sources);
  Status BuildUnion(std::vector<Source*>& with);
  Status WriteDictionary(const std::vector<Source>& sources);

  Status WriteSource(Source& source);
  Status WritePage(Source& source, std::size_t i);
  Status CopyPage(const Source& source, std::size_t i);
  Status TranscodePage(Source& source, std::size_t i);
  Result<std::int64_t> CountPageNans(Source& source, const Page& page);
  Status CountSourceNans(Source& source);
  class BloomBuilder;
  Status MakeBloom(RunContext& run, std::vector<Source>& sources);
  Status AddToBloom(Source& source, BloomBuilder& filter);
  Status KeepWhole(Source& source, std::size_t i);
  Status CheckSeen(const Source& source) const;
  Result<bool> Promote(Source& source);
  Result<bool> IsIdentity(Source& source, SplitPage& split);
  bool MayPromote(const Source& source) const;

  // Pages that are rewritten, or too small to keep, wait here to be joined with their neighbours.
  struct Pending {
    bool active = false, plain = false, bounds_known = true, has_bounds = false, crc = false;
    PageType type = PageType::kData;
    std::int64_t values = 0, defined = 0, rows = 0;
    Bytes min, max;
    std::vector<std::uint8_t> repetition, definition;  // the latter empty: nothing is null so far
    Scratch body;                                      // PLAIN values, or the bit width and indices
  };
  Status Pend(Source& source, std::size_t i, Take take);
  void BeginPending(const Page& page, bool plain);
  void PendBounds(const PageBounds& bounds);
  Status PendWhole(const Source& source, const Page& page, const SplitPage& split);
  Result<std::uint32_t> PendKept(Source& source, const Page& page, const SplitPage& split);
  bool DecodeLevels(int max, ByteView encoded, std::uint32_t count, std::vector<std::uint8_t>& out);
  Status TakeValues(const Source& source, ByteView values, std::uint32_t count, Take take);
  Status TakeKept(const Source& source, ByteView values, std::uint32_t count, Take take);
  Status KeepPlain(const Source& source, ByteView values, std::uint32_t count);
  Status DecodeIndices(const Source& source, ByteView values, std::uint32_t count);
  Status Gather(const Source& source, std::uint32_t count);
  Status FlushPending();
  bool IsSmall(const Page& page) const;

  /// Writes a page of levels as `header`'s version stores them, and values.
  Status EmitPage(PageHeader header, ByteView levels, ByteView values, std::int64_t rows,
                  PageBounds bounds);
  Status Compress(ByteView raw, std::optional<int> level);
  /// Bytes of a source as they are.
  Status Put(const Source& source, ByteView bytes) {
    return source.of_input ? sink_->AppendLasting(bytes) : sink_->Append(bytes);
  }
  void NotePage(const PageHeader& header, std::size_t size, std::int64_t rows, PageBounds bounds);
  void Count(const Source& source, Treatment treatment, const Page& page);

  ChunkSettings settings_;
  ChunkSink* sink_ = nullptr;
  OutputChunk out_;
  std::size_t sources_ = 0;
  UnionDictionary union_;
  bool has_dictionary_ = false;
  const Source* only_dictionary_ = nullptr;  // the union is this one's, byte for byte
  int union_width_ = 0;
  Pending pending_;
  PageScratch page_;
  Scratch dictionary_;  // PLAIN, in the type of the output
  const Source* loaded_ = nullptr;
  Scratch converted_, levels_, joined_, packed_, compressed_;
  std::vector<std::uint32_t> dictionary_offsets_, indices_;
  std::vector<std::uint8_t> nan_entries_;  // of the dictionary; empty: none is NaN
  std::vector<std::uint8_t> repetition_, definition_, keep_;  // keep_: by value that is not null
  Bytes header_;
  // A v1 page whose indices were found to be 0, 1, 2, ...: writers are deterministic, so the next
  // file's often has the same bytes.
  ByteView identity_;
  BlockCodec identity_codec_ = BlockCodec::kNone;
  std::uint32_t identity_size_ = 0;
  std::size_t identity_repetition_ = 0;
  Bytes identity_levels_;
};

}  // namespace icewright::splice
