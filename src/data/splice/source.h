#pragma once

/// \file data/splice/source.h
/// One column chunk of an input, on its way into an output chunk.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "data/splice/format.h"
#include "data/splice/scratch.h"
#include "data/splice/statistics.h"
#include "data/splice/values.h"
#include "manifest/data_file.h"

namespace icewright::splice {

/// Pages, and what is made of a page, are never bigger.
inline constexpr std::int32_t kMaxPageBytes = 256 << 20;

/// Rows that a delete drops: sorted, disjoint ranges [first, second) within the row group.
using RowRanges = std::vector<std::pair<std::int64_t, std::int64_t>>;

struct Page {
  PageHeader header;
  ByteView whole;  // with the header
  ByteView body;
  std::int64_t rows = 0;
  std::int64_t first_row = 0;  // in the row group
  bool miscounted = false;     // `whole` says other nulls or rows than `header`, which is right
};

/// What is known of a page's values, in the type of the output.
struct PageBounds {
  bool known = false;  // null_page, or min and max
  bool null_page = false;
  Bytes min, max;
  std::optional<std::int64_t> nulls = {};
};

/// A page taken apart. Views point into the page or into the scratch it was decompressed to.
struct SplitPage {
  ByteView levels;  // as stored in this version of the page, lengths included
  ByteView repetition, definition;
  ByteView values;
  std::uint32_t defined = 0;  // values that are not null
};

/// How the dictionary-encoded pages of a chunk move. Only ever becomes more expensive.
enum class DictionaryMode : std::uint8_t { kVerbatim, kRemap, kPlain };

/// Views must have kSlack readable bytes behind them.
struct Source {
  // What is given.
  const std::string* name = nullptr;  // of the file, for errors
  const Leaf* leaf = nullptr;         // of the file
  const Leaf* out_leaf = nullptr;
  const ColumnChunk* chunk = nullptr;
  std::int64_t rows = 0;
  ByteView bytes;                       // the chunk
  ByteView offset_index, column_index;  // empty: none
  bool type_defined_order = false;
  bool no_nans = false;  // says the manifest
  Conversion conversion = Conversion::kNone;
  const RowRanges* deleted = nullptr;                     // null: none
  bool of_input = true;                                   // not decoded or made from nothing
  const std::vector<PageBounds>* known_bounds = nullptr;  // of each page
  const DataFile* metrics = nullptr;  // of exactly these values, where decoded; else null

  // What ReadPages finds.
  BlockCodec codec = BlockCodec::kNone;
  OwnedStatistics statistics = {};
  std::optional<Page> dictionary = {};
  std::vector<Page> pages = {};
  std::vector<PageBounds> bounds = {};
  bool row_aligned = true;  // every page begins with a record

  // What the writer decides and sees.
  DictionaryMode mode = DictionaryMode::kVerbatim;
  std::vector<std::uint32_t> map = {};  // index in the file's dictionary -> in the union
  std::int64_t values_seen = 0, defined_seen = 0;
  std::int64_t nans = 0;                         // counted where settings ask for it
  std::int64_t kept_values = 0, kept_nulls = 0;  // counted where rows are deleted

  /// Required in the file, optional in the table: pages get levels.
  bool adds_level() const { return leaf->max_definition < out_leaf->max_definition; }
  /// Pages of the file are pages of the output.
  bool same_form() const { return conversion == Conversion::kNone && !adds_level(); }
  std::uint32_t dictionary_size() const {
    return dictionary ? static_cast<std::uint32_t>(dictionary->header.values) : 0;
  }
  /// Values and nulls that reach the output. Precondition: the chunk is written.
  std::int64_t values_out() const { return deleted == nullptr ? chunk->values : kept_values; }
  std::optional<std::int64_t> nulls_out() const {
    return deleted == nullptr ? statistics.null_count : kept_nulls;
  }
  Error Corrupt(std::string_view what) const;
};

/// Scratch of one worker for taking pages apart.
struct PageScratch {
  Scratch raw;
  std::vector<std::uint32_t> numbers;
};

/// Walks the pages, checks their sizes, sums and checksums, and finds nulls, rows and bounds of
/// each. Whatever the header of a v2 page says, its levels count.
/// Errors: kCorrupt, naming the file; kUnsupported for what only decoding can read.
Status ReadPages(Source& source, PageScratch& scratch);

/// Errors: as ReadPages.
Result<SplitPage> Split(const Source& source, const Page& page, PageScratch& scratch);

/// Do deletes touch these rows?
bool Touches(const RowRanges& deleted, std::int64_t first, std::int64_t rows);

/// Which pages of a file can be moved at all: codecs, encodings and level encodings this module
/// knows. Unset, or the reason why not.
std::optional<std::string> WhyNotMovable(const Leaf& leaf, const ColumnChunk& chunk);

}  // namespace icewright::splice
