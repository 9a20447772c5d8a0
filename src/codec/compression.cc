#include "codec/compression.h"

#include <fmt/format.h>
#include <libdeflate.h>
#include <lz4frame.h>
#include <snappy-c.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
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
template <typename T, auto kFree>
using Owned = std::unique_ptr<T, Freer<kFree>>;

std::string_view NameOf(Compression codec) {
  switch (codec) {
    case Compression::kNone:
      return "none";
    case Compression::kDeflate:
      return "deflate";
    case Compression::kGzip:
      return "gzip";
    case Compression::kZstd:
      return "zstd";
    case Compression::kSnappy:
      return "snappy";
    case Compression::kLz4Frame:
      return "lz4";
  }
  return "unknown";
}

Error Corrupt(Compression codec, std::string_view what) {
  return Error(Code::kCorrupt, fmt::format("{} data {}", NameOf(codec), what));
}

Error OverLimit(Compression codec, std::size_t limit) {
  return Corrupt(codec, fmt::format("is larger than the limit of {} bytes", limit));
}

Error NoMemory() { return Error(Code::kExhausted, "no memory for a compression context"); }

Result<int> CheckedLevel(Compression codec, std::optional<int> level, int low, int high,
                         int default_level) {
  const int value = level.value_or(default_level);
  if (value < low || value > high) {
    return Error(Code::kInvalidArgument,
                 fmt::format("{} has levels {} to {}, not {}", NameOf(codec), low, high, value));
  }
  return value;
}

// ---- compression

/// deflate or gzip.
Result<Bytes> CompressDeflate(Compression codec, ByteView input, std::optional<int> wanted) {
  if (wanted == -1) wanted.reset();  // zlib's word for its default
  IW_ASSIGN(const int level, CheckedLevel(codec, wanted, 0, 9, 6));
  thread_local Owned<libdeflate_compressor, libdeflate_free_compressor> compressor;
  thread_local int compressor_level = -1;
  if (compressor == nullptr || compressor_level != level) {
    compressor.reset(libdeflate_alloc_compressor(level));
    compressor_level = level;
    if (compressor == nullptr) return NoMemory();
  }
  const bool gzip = codec == Compression::kGzip;
  Bytes out(gzip ? libdeflate_gzip_compress_bound(compressor.get(), input.size())
                 : libdeflate_deflate_compress_bound(compressor.get(), input.size()),
            '\0');
  const std::size_t size = gzip ? libdeflate_gzip_compress(compressor.get(), input.data(),
                                                           input.size(), out.data(), out.size())
                                : libdeflate_deflate_compress(compressor.get(), input.data(),
                                                              input.size(), out.data(), out.size());
  if (size == 0) return Error(Code::kInternal, "the deflate bound was too small");
  out.resize(size);
  return out;
}

Result<Bytes> CompressZstd(ByteView input, std::optional<int> wanted) {
  IW_ASSIGN(const int level, CheckedLevel(Compression::kZstd, wanted, ZSTD_minCLevel(),
                                          ZSTD_maxCLevel(), ZSTD_defaultCLevel()));
  thread_local const Owned<ZSTD_CCtx, ZSTD_freeCCtx> context(ZSTD_createCCtx());
  if (context == nullptr) return NoMemory();
  Bytes out(ZSTD_compressBound(input.size()), '\0');
  const std::size_t size =
      ZSTD_compressCCtx(context.get(), out.data(), out.size(), input.data(), input.size(), level);
  if (ZSTD_isError(size) != 0) {
    return Error(Code::kInternal, fmt::format("zstd: {}", ZSTD_getErrorName(size)));
  }
  out.resize(size);
  return out;
}

Result<Bytes> CompressSnappy(ByteView input) {
  Bytes out(snappy_max_compressed_length(input.size()), '\0');
  std::size_t size = out.size();
  if (snappy_compress(input.data(), input.size(), out.data(), &size) != SNAPPY_OK) {
    return Error(Code::kInternal, "snappy could not compress");
  }
  out.resize(size);
  return out;
}

Result<Bytes> CompressLz4(ByteView input, std::optional<int> wanted) {
  IW_ASSIGN(const int level, CheckedLevel(Compression::kLz4Frame, wanted, 0, 12, 0));
  LZ4F_preferences_t preferences = LZ4F_INIT_PREFERENCES;
  preferences.frameInfo.contentSize = input.size();  // Puffin demands it
  preferences.compressionLevel = level;
  Bytes out(LZ4F_compressFrameBound(input.size(), &preferences), '\0');
  const std::size_t size =
      LZ4F_compressFrame(out.data(), out.size(), input.data(), input.size(), &preferences);
  if (LZ4F_isError(size) != 0) {
    return Error(Code::kInternal, fmt::format("lz4: {}", LZ4F_getErrorName(size)));
  }
  out.resize(size);
  return out;
}

// ---- decompression

/// Grows `out` for a next attempt. False if it already has `limit` bytes.
bool Grow(Bytes& out, std::size_t limit) {
  if (out.size() >= limit) return false;
  out.resize(out.size() > limit / 4 ? limit : out.size() * 4);
  return true;
}

/// Gives `out` a size for the first attempt: what the last block of this buffer had, or `hint`,
/// which must be within reason for the input even if the input claims it.
void Guess(std::size_t hint, std::size_t limit, Bytes& out) {
  const std::size_t last = out.size() + out.size() / 4;
  out.resize(std::min(limit, std::max({last, hint, std::size_t{4096}})));
}

/// More than manifests and metadata usually have.
std::size_t UsualSize(ByteView input) { return input.size() * 16; }

/// A claimed size, if one may believe it.
std::size_t Plausible(std::uint64_t claimed, ByteView input) {
  return static_cast<std::size_t>(std::min<std::uint64_t>(claimed, input.size() * 128));
}

libdeflate_decompressor* ThreadsDecompressor() {
  thread_local const Owned<libdeflate_decompressor, libdeflate_free_decompressor> decompressor(
      libdeflate_alloc_decompressor());
  return decompressor.get();
}

/// Bytes after the end of the stream are passed over: Python's writers leave a part of zlib's
/// trailer there.
Status InflateInto(ByteView input, std::size_t limit, Bytes& out) {
  if (ThreadsDecompressor() == nullptr) return NoMemory();
  Guess(UsualSize(input), limit, out);
  for (;;) {
    std::size_t consumed = 0;
    std::size_t size = 0;
    switch (libdeflate_deflate_decompress_ex(ThreadsDecompressor(), input.data(), input.size(),
                                             out.data(), out.size(), &consumed, &size)) {
      case LIBDEFLATE_SUCCESS:
        out.resize(size);
        return {};
      case LIBDEFLATE_INSUFFICIENT_SPACE:
        if (!Grow(out, limit)) return OverLimit(Compression::kDeflate, limit);
        break;
      default:
        return Corrupt(Compression::kDeflate, "is malformed");
    }
  }
}

/// One member after another, each appended to `out`.
Status GunzipInto(ByteView input, std::size_t limit, Bytes& out) {
  if (ThreadsDecompressor() == nullptr) return NoMemory();
  if (input.size() < 18) return Corrupt(Compression::kGzip, "is too short");
  Guess(Plausible(LoadLittle<std::uint32_t>(input.data() + input.size() - 4), input), limit, out);
  std::size_t total = 0;
  while (!input.empty()) {
    std::size_t consumed = 0;
    std::size_t size = 0;
    switch (libdeflate_gzip_decompress_ex(ThreadsDecompressor(), input.data(), input.size(),
                                          out.data() + total, out.size() - total, &consumed,
                                          &size)) {
      case LIBDEFLATE_SUCCESS:
        total += size;
        input.remove_prefix(consumed);
        break;
      case LIBDEFLATE_INSUFFICIENT_SPACE:
        if (!Grow(out, limit)) return OverLimit(Compression::kGzip, limit);
        break;
      default:
        return Corrupt(Compression::kGzip, "is malformed");
    }
  }
  out.resize(total);
  return {};
}

Status UnzstdInto(ByteView input, std::size_t limit, Bytes& out) {
  thread_local const Owned<ZSTD_DCtx, ZSTD_freeDCtx> context(ZSTD_createDCtx());
  if (context == nullptr) return NoMemory();
  if (input.empty()) return Corrupt(Compression::kZstd, "is empty");
  const auto claimed = ZSTD_getFrameContentSize(input.data(), input.size());
  const bool known = claimed != ZSTD_CONTENTSIZE_UNKNOWN && claimed != ZSTD_CONTENTSIZE_ERROR;
  Guess(known ? Plausible(claimed, input) : UsualSize(input), limit, out);
  for (;;) {
    const std::size_t size =
        ZSTD_decompressDCtx(context.get(), out.data(), out.size(), input.data(), input.size());
    if (ZSTD_isError(size) == 0) {
      out.resize(size);
      return {};
    }
    if (ZSTD_getErrorCode(size) != ZSTD_error_dstSize_tooSmall) {
      return Corrupt(Compression::kZstd, fmt::format("is malformed ({})", ZSTD_getErrorName(size)));
    }
    if (!Grow(out, limit)) return OverLimit(Compression::kZstd, limit);
  }
}

Status UnsnappyInto(ByteView input, std::size_t limit, Bytes& out) {
  std::size_t size = 0;
  if (snappy_uncompressed_length(input.data(), input.size(), &size) != SNAPPY_OK) {
    return Corrupt(Compression::kSnappy, "is malformed");
  }
  if (size > limit) return OverLimit(Compression::kSnappy, limit);
  // No element of the format makes more than 64 bytes out of three.
  if (size / 22 > input.size())
    return Corrupt(Compression::kSnappy, "claims a size it cannot have");
  out.resize(size);
  if (snappy_uncompress(input.data(), input.size(), out.data(), &size) != SNAPPY_OK) {
    return Corrupt(Compression::kSnappy, "is malformed");
  }
  return {};
}

Status Unlz4Into(ByteView input, std::size_t limit, Bytes& out) {
  LZ4F_dctx* raw = nullptr;
  if (LZ4F_isError(LZ4F_createDecompressionContext(&raw, LZ4F_VERSION)) != 0) {
    return NoMemory();
  }
  const Owned<LZ4F_dctx, LZ4F_freeDecompressionContext> context(raw);
  if (input.empty()) return Corrupt(Compression::kLz4Frame, "is empty");
  // A byte more, so that a frame of exactly `limit` bytes can reach its end mark.
  const std::size_t room = std::max(limit, limit + 1);
  Guess(UsualSize(input), room, out);
  std::size_t total = 0;
  for (;;) {
    std::size_t produced = out.size() - total;
    std::size_t consumed = input.size();
    const std::size_t hint = LZ4F_decompress(context.get(), out.data() + total, &produced,
                                             input.data(), &consumed, nullptr);
    if (LZ4F_isError(hint) != 0) {
      return Corrupt(Compression::kLz4Frame,
                     fmt::format("is malformed ({})", LZ4F_getErrorName(hint)));
    }
    total += produced;
    input.remove_prefix(consumed);
    if (hint == 0 && input.empty()) break;
    if (total == out.size()) {
      if (!Grow(out, room)) return OverLimit(Compression::kLz4Frame, limit);
    } else if (produced == 0 && consumed == 0) {
      return Corrupt(Compression::kLz4Frame, "is cut off");
    }
  }
  if (total > limit) return OverLimit(Compression::kLz4Frame, limit);
  out.resize(total);
  return {};
}

}  // namespace

Result<Bytes> Compress(Compression codec, ByteView input, std::optional<int> level) {
  switch (codec) {
    case Compression::kNone:
      return Bytes(input);
    case Compression::kDeflate:
    case Compression::kGzip:
      return CompressDeflate(codec, input, level);
    case Compression::kZstd:
      return CompressZstd(input, level);
    case Compression::kSnappy:
      return CompressSnappy(input);
    case Compression::kLz4Frame:
      return CompressLz4(input, level);
  }
  return Error(Code::kInvalidArgument, "unknown codec");
}

Status DecompressInto(Compression codec, ByteView input, std::size_t limit, Bytes& out) {
  switch (codec) {
    case Compression::kNone:
      if (input.size() > limit) return OverLimit(codec, limit);
      out.assign(input);
      return {};
    case Compression::kDeflate:
      return InflateInto(input, limit, out);
    case Compression::kGzip:
      return GunzipInto(input, limit, out);
    case Compression::kZstd:
      return UnzstdInto(input, limit, out);
    case Compression::kSnappy:
      return UnsnappyInto(input, limit, out);
    case Compression::kLz4Frame:
      return Unlz4Into(input, limit, out);
  }
  return Error(Code::kInvalidArgument, "unknown codec");
}

Result<Bytes> Decompress(Compression codec, ByteView input, std::size_t limit) {
  Bytes out;
  IW_TRY(DecompressInto(codec, input, limit, out));
  return out;
}

std::uint32_t Crc32(ByteView bytes, std::uint32_t seed) {
  return libdeflate_crc32(seed, bytes.data(), bytes.size());
}

}  // namespace icewright
