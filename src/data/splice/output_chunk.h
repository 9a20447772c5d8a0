#pragma once

/// \file data/splice/output_chunk.h
/// What a column chunk of an output is made of, for its footer.

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "data/splice/format.h"
#include "data/splice/source.h"
#include "data/splice/statistics.h"

namespace icewright::splice {

/// How bytes came into an output, cheapest first.
enum class Treatment : std::uint8_t {
  kVerbatim,     ///< pages as they are
  kNull,         ///< the file does not have the column
  kConstant,     ///< one value for all rows, or row ids
  kPromote,      ///< a dictionary page became the data page
  kJoin,         ///< small pages became one
  kTranscode,    ///< another codec, or with levels
  kRemap,        ///< indices into the union of dictionaries
  kMaterialise,  ///< dictionary values in place
  kConvert,      ///< a promoted type
  kFilter,       ///< rows left out
  kDecode,       ///< rows decoded and encoded again
};
inline constexpr std::size_t kTreatments = 11;
std::string_view Name(Treatment treatment);

/// Bytes of input pages by treatment, with their headers.
using TreatmentBytes = std::array<std::int64_t, kTreatments>;

/// Offsets count from the start of the chunk.
struct OutputChunk {
  const Leaf* leaf = nullptr;
  BlockCodec codec = BlockCodec::kNone;
  std::int64_t values = 0, nulls = 0, rows = 0;
  std::int64_t uncompressed = 0, compressed = 0;
  std::int64_t data_offset = -1;  // -1: no page yet
  bool has_dictionary = false;
  StatisticsMerger statistics;
  SizesMerger sizes;
  std::map<std::pair<PageType, Encoding>, int> page_counts;
  bool row_aligned = true;
  OffsetIndex offsets;
  std::vector<PageBounds> bounds;  // of each page
  TreatmentBytes treated = {};
  Bytes bloom;  // with its header; empty: none

  /// Whether a column index can be written.
  bool indexable() const;
};

}  // namespace icewright::splice
