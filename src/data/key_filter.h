#pragma once

/// \file data/key_filter.h
/// A few keys that are looked for: where none of them can be need not be read.

#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"

namespace parquet {
class ParquetFileReader;
}

namespace icewright {

/// Values of one column, ascending; of integers or of texts, the other is empty. Null is not among
/// them.
struct KeyFilter {
  FieldId column{};
  std::vector<std::int64_t> integers = {};
  std::vector<Bytes> texts = {};
};

/// Keys beyond which a filter is not made: it would hold something of every row group.
inline constexpr std::size_t kMostFilterKeys = 4096;

/// False if statistics or the Bloom filter of the row group exclude all keys from this leaf column.
/// Columns of other types than int, long, string and binary may hold any. Throws what Parquet
/// throws for a damaged file.
bool MayHold(const KeyFilter& keys, parquet::ParquetFileReader& file, int row_group, int leaf);

}  // namespace icewright
