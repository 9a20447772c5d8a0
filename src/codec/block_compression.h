#pragma once

/// \file codec/block_compression.h
/// Compression of blocks that know their size, as Parquet pages do: into memory of the caller's.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/bytes.h"
#include "base/result.h"

namespace icewright {

enum class BlockCodec : std::uint8_t { kNone, kSnappy, kGzip, kZstd, kLz4Raw };

/// Fills `out`. Errors: kCorrupt if the block is malformed or has another size.
Status DecompressBlock(BlockCodec codec, ByteView block, std::span<char> out);

/// Room that CompressBlock may need.
std::size_t MaxBlockSize(BlockCodec codec, std::size_t size);

/// Returns the size of the block. Levels are the codec's own; those without pass over one.
/// Precondition: `out` has MaxBlockSize bytes. Errors: kInvalidArgument for a level.
Result<std::size_t> CompressBlock(BlockCodec codec, std::optional<int> level, ByteView input,
                                  std::span<char> out);

}  // namespace icewright
