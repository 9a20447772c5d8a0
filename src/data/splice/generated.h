#pragma once

/// \file data/splice/generated.h
/// Column chunks made from nothing: nulls, one value for all rows, row ids.

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "data/splice/format.h"
#include "data/splice/source.h"
#include "table/field.h"

namespace icewright::splice {

/// A chunk in memory, uncompressed, with v1 pages. Does not move: its views point into itself.
struct GeneratedChunk {
  Bytes bytes;  ///< with kSlack behind the chunk
  Bytes min, max;
  ColumnChunk chunk;
  std::vector<PageBounds> bounds;  ///< of each page
  ByteView view() const {
    return ByteView(bytes).substr(0, static_cast<std::size_t>(chunk.compressed));
  }
};

/// Precondition: the leaf is flat and optional.
std::unique_ptr<GeneratedChunk> MakeNulls(const Leaf& leaf, std::int64_t rows,
                                          std::int64_t page_rows);

/// Precondition: the leaf is flat, not boolean, and the value of the field's type.
std::unique_ptr<GeneratedChunk> MakeConstant(const Field& field, const Leaf& leaf,
                                             const Literal& value, std::int64_t rows,
                                             std::int64_t page_rows);

/// Consecutive numbers: (first, count) each. Precondition: the leaf is flat, optional and INT64.
std::unique_ptr<GeneratedChunk> MakeSequence(
    const Leaf& leaf, const std::vector<std::pair<std::int64_t, std::int64_t>>& runs,
    std::int64_t page_rows);

/// The value as Parquet's PLAIN has it, without a length, in the physical type of the leaf.
Bytes PlainValue(const Field& field, const Leaf& leaf, const Literal& value);

}  // namespace icewright::splice
