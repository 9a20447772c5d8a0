#pragma once

/// \file codec/compression.h
/// Whole-buffer compression for Avro blocks, Puffin and metadata JSON.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"

namespace icewright {

enum class Compression : std::uint8_t {
  kNone,
  kDeflate /* raw */,
  kGzip,
  kZstd,
  kSnappy,
  kLz4Frame
};

/// Levels are those of Iceberg's table properties: deflate and gzip -1 (default) to 9, zstd to 22,
/// lz4 0 to 12; none and snappy have no levels and pass over one, as Java does.
/// Errors: kInvalidArgument for a level the codec does not have.
Result<Bytes> Compress(Compression codec, ByteView input, std::optional<int> level = {});

/// `limit` bounds the output: untrusted input cannot ask for endless memory. gzip may have several
/// members, zstd and lz4 several frames. Errors: kCorrupt.
Result<Bytes> Decompress(Compression codec, ByteView input, std::size_t limit);

/// Into `out`, whose capacity is reused; its old size is taken as a guess of the new one.
Status DecompressInto(Compression codec, ByteView input, std::size_t limit, Bytes& out);

/// zlib's CRC-32.
std::uint32_t Crc32(ByteView bytes, std::uint32_t seed = 0);

}  // namespace icewright
