#include "codec/block_compression.h"

#include <fmt/format.h>
#include <libdeflate.h>
#include <lz4.h>
#include <snappy-c.h>
#include <zstd.h>

#include <algorithm>
#include <limits>
#include <memory>

namespace icewright {
namespace {

template <auto kFree>
struct Freer {
  template <typename T>
  void operator()(T* p) const {
    kFree(p);
  }
};

ZSTD_CCtx* ZstdCompressor() {
  thread_local const std::unique_ptr<ZSTD_CCtx, Freer<ZSTD_freeCCtx>> context(ZSTD_createCCtx());
  return context.get();
}

ZSTD_DCtx* ZstdDecompressor() {
  thread_local const std::unique_ptr<ZSTD_DCtx, Freer<ZSTD_freeDCtx>> context(ZSTD_createDCtx());
  return context.get();
}

libdeflate_decompressor* GzipDecompressor() {
  thread_local const std::unique_ptr<libdeflate_decompressor, Freer<libdeflate_free_decompressor>>
      decompressor(libdeflate_alloc_decompressor());
  return decompressor.get();
}

constexpr int kDefaultGzipLevel = 6;
constexpr int kMaxGzipLevel = 9;

libdeflate_compressor* GzipCompressor(int level) {
  thread_local std::unique_ptr<libdeflate_compressor, Freer<libdeflate_free_compressor>> compressor;
  thread_local int made_for = -1;
  if (compressor == nullptr || made_for != level) {
    compressor.reset(libdeflate_alloc_compressor(level));
    made_for = level;
  }
  return compressor.get();
}

bool Gunzip(ByteView block, std::span<char> out) {
  std::size_t done = 0;
  while (!block.empty()) {
    std::size_t consumed = 0;
    std::size_t produced = 0;
    if (libdeflate_gzip_decompress_ex(GzipDecompressor(), block.data(), block.size(),
                                      out.data() + done, out.size() - done, &consumed,
                                      &produced) != LIBDEFLATE_SUCCESS) {
      return false;
    }
    done += produced;
    block.remove_prefix(consumed);
  }
  return done == out.size();
}

bool Unsnappy(ByteView block, std::span<char> out) {
  std::size_t size = 0;
  return snappy_uncompressed_length(block.data(), block.size(), &size) == SNAPPY_OK &&
         size == out.size() &&
         snappy_uncompress(block.data(), block.size(), out.data(), &size) == SNAPPY_OK;
}

bool Unlz4(ByteView block, std::span<char> out) {
  constexpr std::size_t kMost = std::numeric_limits<int>::max();
  if (block.size() > kMost || out.size() > kMost) return false;
  const int size = LZ4_decompress_safe(block.data(), out.data(), static_cast<int>(block.size()),
                                       static_cast<int>(out.size()));
  return size >= 0 && static_cast<std::size_t>(size) == out.size();
}

Error NoMemory() { return Error(Code::kExhausted, "no memory for a compression context"); }

}  // namespace

Status DecompressBlock(BlockCodec codec, ByteView block, std::span<char> out) {
  bool fits = false;
  switch (codec) {
    case BlockCodec::kNone:
      fits = block.size() == out.size();
      if (fits && !block.empty()) std::memcpy(out.data(), block.data(), block.size());
      break;
    case BlockCodec::kSnappy:
      fits = Unsnappy(block, out);
      break;
    case BlockCodec::kGzip:
      if (GzipDecompressor() == nullptr) return NoMemory();
      fits = Gunzip(block, out);
      break;
    case BlockCodec::kZstd:
      if (ZstdDecompressor() == nullptr) return NoMemory();
      fits = ZSTD_decompressDCtx(ZstdDecompressor(), out.data(), out.size(), block.data(),
                                 block.size()) == out.size();
      break;
    case BlockCodec::kLz4Raw:
      fits = Unlz4(block, out);
      break;
  }
  if (fits) return {};
  return Error(Code::kCorrupt,
               fmt::format("a block does not decompress to its {} bytes", out.size()));
}

std::size_t MaxBlockSize(BlockCodec codec, std::size_t size) {
  switch (codec) {
    case BlockCodec::kSnappy:
      return snappy_max_compressed_length(size);
    case BlockCodec::kGzip:
      return libdeflate_gzip_compress_bound(nullptr, size);
    case BlockCodec::kZstd:
      return ZSTD_compressBound(size);
    case BlockCodec::kLz4Raw:
      return size + size / 255 + 16;  // LZ4_COMPRESSBOUND without its limit
    case BlockCodec::kNone:
      break;
  }
  return size;
}

Result<std::size_t> CompressBlock(BlockCodec codec, std::optional<int> level, ByteView input,
                                  std::span<char> out) {
  std::size_t size = 0;
  switch (codec) {
    case BlockCodec::kNone:
      if (!input.empty()) std::memcpy(out.data(), input.data(), input.size());
      return input.size();
    case BlockCodec::kSnappy:
      size = out.size();
      if (snappy_compress(input.data(), input.size(), out.data(), &size) == SNAPPY_OK) return size;
      break;
    case BlockCodec::kGzip: {
      const int wanted = level.value_or(kDefaultGzipLevel);
      if (wanted < 0 || wanted > kMaxGzipLevel) {
        return Error(Code::kInvalidArgument, fmt::format("gzip has levels 0 to 9, not {}", wanted));
      }
      if (GzipCompressor(wanted) == nullptr) return NoMemory();
      size = libdeflate_gzip_compress(GzipCompressor(wanted), input.data(), input.size(),
                                      out.data(), out.size());
      if (size > 0) return size;
      break;
    }
    case BlockCodec::kZstd: {
      const int wanted = level.value_or(ZSTD_defaultCLevel());
      if (wanted < ZSTD_minCLevel() || wanted > ZSTD_maxCLevel()) {
        return Error(Code::kInvalidArgument, fmt::format("zstd has no level {}", wanted));
      }
      if (ZstdCompressor() == nullptr) return NoMemory();
      size = ZSTD_compressCCtx(ZstdCompressor(), out.data(), out.size(), input.data(), input.size(),
                               wanted);
      if (ZSTD_isError(size) == 0) return size;
      break;
    }
    case BlockCodec::kLz4Raw: {
      constexpr std::size_t kMost = LZ4_MAX_INPUT_SIZE;
      if (input.size() > kMost) break;
      const int made = LZ4_compress_default(
          input.data(), out.data(), static_cast<int>(input.size()),
          static_cast<int>(std::min<std::size_t>(out.size(), std::numeric_limits<int>::max())));
      if (made > 0) return static_cast<std::size_t>(made);
      break;
    }
  }
  return Error(Code::kInternal,
               fmt::format("a block of {} bytes was not compressed", input.size()));
}

}  // namespace icewright
