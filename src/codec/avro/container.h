#pragma once

/// \file codec/avro/container.h
/// Avro object container files, block by block.
///
/// Spec: Avro 1.11 "Object Container Files".

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "codec/avro/coding.h"
#include "codec/avro/schema.h"
#include "codec/compression.h"

namespace icewright::avro {

/// "null", "deflate", "zstandard" (and "zstd"), "snappy". Errors: kUnsupported.
Result<Compression> CodecByName(std::string_view name);

/// Reads a container from a byte stream. Single-threaded.
class ContainerReader {
 public:
  /// Reads the header. `name` is for messages. `block_limit_bytes` bounds a decompressed block.
  /// Errors: kCorrupt, kUnsupported (codec), those of the source.
  static Result<ContainerReader> Open(std::unique_ptr<ByteSource> source, std::string name,
                                      std::size_t block_limit_bytes = std::size_t{256} << 20);

  const SchemaPtr& schema() const { return schema_; }
  const std::string& schema_json() const { return metadata_.find("avro.schema")->second; }
  const std::map<std::string, std::string, std::less<>>& metadata() const { return metadata_; }

  struct Block {
    std::int64_t count = 0;  ///< Records in the block.
    ByteView data;           ///< Decompressed; valid until the next call.
  };
  /// False at the end of the file. Errors: kCorrupt (sync marker, CRC, cut file), naming the file.
  /// After an error the reader is unusable.
  Result<bool> Next(Block& block);

  /// As Next, but the block stays compressed: for copying blocks between files of one codec.
  struct RawBlock {
    std::int64_t count = 0;
    ByteView compressed;
  };
  Result<bool> NextRaw(RawBlock& block);
  Compression compression() const { return compression_; }

 private:
  ContainerReader() = default;
  Error Corrupt(std::string_view what) const;
  Status ReadHeader();
  Result<bool> Fill(std::size_t need);
  Result<std::int64_t> TakeLong();
  Result<ByteView> Take(std::int64_t size);
  std::unique_ptr<ByteSource> source_;
  std::string name_;
  std::size_t block_limit_ = 0;
  SchemaPtr schema_;
  Compression compression_ = Compression::kNone;
  std::map<std::string, std::string, std::less<>> metadata_;
  std::string sync_;
  Bytes input_;  // read from the source, not yet consumed: [start_, size)
  std::size_t start_ = 0;
  std::int64_t offset_ = 0;  // of start_ in the file
  Bytes output_;             // the current block, decompressed
};

/// Records as a block stores them, Snappy's checksum included: what RawBlock::compressed holds.
Result<Bytes> CompressBlock(Compression codec, ByteView records, std::optional<int> level = {});

/// Writes a container to a byte stream. Single-threaded.
class ContainerWriter {
 public:
  struct Options {
    Compression compression = Compression::kDeflate;
    std::optional<int> level = {};
    std::size_t block_bytes = 64 << 10;  ///< A block is flushed when it is at least this big.
    std::string sync_marker;             ///< 16 bytes; callers take them from Random.
  };
  /// Writes the header. `schema_json` is stored letter for letter. Borrows the sink. Errors:
  /// kInvalidArgument (codec, marker, a key that starts with "avro."), those of the sink.
  static Result<ContainerWriter> Open(ByteSink& sink, std::string_view schema_json,
                                      const std::map<std::string, std::string>& metadata,
                                      Options options);

  /// Encode one record into this, then call EndRecord.
  Encoder encoder() { return Encoder(buffer_); }
  Status EndRecord();

  /// Appends a block that is already compressed with this writer's codec and schema.
  Status AppendRaw(const ContainerReader::RawBlock& block);

  /// Flushes the last block. Does not close the sink.
  Status Finish();

  /// Bytes given to the sink so far, plus the open block as it is.
  std::int64_t estimated_bytes() const {
    return written_ + static_cast<std::int64_t>(buffer_.size());
  }

 private:
  ContainerWriter(ByteSink& sink, Options options) : sink_(&sink), options_(std::move(options)) {}
  Status Flush();
  Status Write(std::int64_t count, ByteView compressed);
  ByteSink* sink_;
  Options options_;
  Bytes buffer_;
  std::int64_t records_ = 0;
  std::int64_t written_ = 0;
};

}  // namespace icewright::avro
