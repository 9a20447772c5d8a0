#include "codec/avro/container.h"

#include <fmt/format.h>

#include <algorithm>

namespace icewright::avro {
namespace {

constexpr std::string_view kMagic("Obj\1", 4);
constexpr std::size_t kSyncBytes = 16;
constexpr std::size_t kReadBytes = 64 << 10;
constexpr std::size_t kHeaderLimitBytes = std::size_t{64} << 20;
constexpr std::int64_t kMaxEmptyRecords = std::int64_t{1} << 24;

std::uint32_t LoadBig32(const char* p) { return __builtin_bswap32(LoadLittle<std::uint32_t>(p)); }

/// A codec's data never grows by more than this over what it holds.
std::size_t CompressedLimit(std::size_t limit) { return limit + limit / 64 + kReadBytes; }

}  // namespace

Result<Compression> CodecByName(std::string_view name) {
  if (name == "null") return Compression::kNone;
  if (name == "deflate") return Compression::kDeflate;
  if (name == "zstandard" || name == "zstd") return Compression::kZstd;
  if (name == "snappy") return Compression::kSnappy;
  return Error(Code::kUnsupported, fmt::format("Avro codec '{}' is not supported", name));
}

// ---- reader

Error ContainerReader::Corrupt(std::string_view what) const {
  return Error(Code::kCorrupt, fmt::format("{}: {} at byte {}", name_, what, offset_));
}

/// Makes `need` bytes available from start_. False if the file ends before; what there is, is read.
/// Memory grows with what really comes, not with what is asked for.
Result<bool> ContainerReader::Fill(std::size_t need) {
  if (input_.size() - start_ >= need) return true;
  input_.erase(0, start_);
  start_ = 0;
  while (input_.size() < need) {
    const std::size_t have = input_.size();
    const std::size_t step = std::min(std::max(need - have, kReadBytes), have + 4 * kReadBytes);
    input_.resize(have + step);
    auto got = source_->Read(std::span(input_.data() + have, step));
    input_.resize(have + (got ? *got : 0));
    if (!got) return got.error();
    if (*got == 0) return false;
  }
  return true;
}

Result<std::int64_t> ContainerReader::TakeLong() {
  IW_TRY(Fill(10));  // fewer are fine if the value is short
  Decoder decoder(ByteView(input_).substr(start_, 10));
  const std::size_t had = decoder.remaining();
  const std::int64_t value = decoder.ReadLong();
  if (!decoder.ok()) {
    return Corrupt(had < 10 ? "the file is cut off inside a number" : "a malformed number");
  }
  start_ += had - decoder.remaining();
  offset_ += static_cast<std::int64_t>(had - decoder.remaining());
  return value;
}

/// Valid until the next Fill.
Result<ByteView> ContainerReader::Take(std::int64_t size) {
  const auto bytes = static_cast<std::size_t>(size);
  IW_ASSIGN(const bool there, Fill(bytes));
  if (!there) {
    return Corrupt(fmt::format("the file is cut off: {} bytes are missing of {}",
                               bytes - (input_.size() - start_), bytes));
  }
  const ByteView view = ByteView(input_).substr(start_, bytes);
  start_ += bytes;
  offset_ += size;
  return view;
}

Status ContainerReader::ReadHeader() {
  IW_ASSIGN(const bool long_enough, Fill(kMagic.size()));
  if (!long_enough || !ByteView(input_).starts_with(kMagic)) {
    return Corrupt("no Avro container: the magic is missing");
  }
  IW_TRY(Take(kMagic.size()));
  const auto take_text = [this]() -> Result<std::string> {
    IW_ASSIGN(const std::int64_t size, TakeLong());
    if (size < 0 || static_cast<std::size_t>(size) > kHeaderLimitBytes ||
        static_cast<std::size_t>(offset_) > kHeaderLimitBytes) {
      return Corrupt("the header is malformed or larger than 64 MiB");
    }
    IW_ASSIGN(const ByteView text, Take(size));
    return std::string(text);
  };
  for (;;) {
    IW_ASSIGN(std::int64_t count, TakeLong());
    if (count == 0) break;
    if (count < 0) {
      count = -(count + 1);  // cannot overflow; the loop below runs to and including 0
      IW_TRY(TakeLong());    // the block's size in bytes
    } else {
      --count;
    }
    for (; count >= 0; --count) {
      IW_ASSIGN(std::string key, take_text());
      IW_ASSIGN(std::string value, take_text());
      metadata_.insert_or_assign(std::move(key), std::move(value));
    }
  }
  IW_ASSIGN(const ByteView sync, Take(kSyncBytes));
  sync_ = sync;
  return {};
}

Result<ContainerReader> ContainerReader::Open(std::unique_ptr<ByteSource> source, std::string name,
                                              std::size_t block_limit_bytes) {
  ContainerReader reader;
  reader.source_ = std::move(source);
  reader.name_ = std::move(name);
  reader.block_limit_ = block_limit_bytes;
  IW_TRY(reader.ReadHeader());
  const auto schema = reader.metadata_.find("avro.schema");
  if (schema == reader.metadata_.end()) return reader.Corrupt("the header has no avro.schema");
  IW_ASSIGN(reader.schema_, ParseSchema(schema->second).Within(reader.name_));
  if (const auto codec = reader.metadata_.find("avro.codec"); codec != reader.metadata_.end()) {
    IW_ASSIGN(reader.compression_, CodecByName(codec->second).Within(reader.name_));
  }
  return reader;
}

Result<bool> ContainerReader::NextRaw(RawBlock& block) {
  IW_ASSIGN(const bool more, Fill(1));
  if (!more) return false;
  IW_ASSIGN(block.count, TakeLong());
  IW_ASSIGN(const std::int64_t size, TakeLong());
  if (block.count < 0 || size < 0) return Corrupt("a block with a negative count or size");
  if (static_cast<std::size_t>(size) > CompressedLimit(block_limit_)) {
    return Corrupt(
        fmt::format("a block of {} bytes is larger than the limit of {}", size, block_limit_));
  }
  IW_ASSIGN(const ByteView all, Take(size + static_cast<std::int64_t>(kSyncBytes)));
  block.compressed = all.substr(0, static_cast<std::size_t>(size));
  if (all.substr(static_cast<std::size_t>(size)) != sync_) {
    return Corrupt("a block does not end with the sync marker");
  }
  return true;
}

Result<bool> ContainerReader::Next(Block& block) {
  RawBlock raw;
  IW_ASSIGN(const bool more, NextRaw(raw));
  if (!more) return false;
  block.count = raw.count;
  ByteView data = raw.compressed;
  if (compression_ == Compression::kSnappy) {
    if (data.size() < 4) return Corrupt("a snappy block without its CRC");
    data.remove_suffix(4);
  }
  if (compression_ == Compression::kNone) {
    if (data.size() > block_limit_) return Corrupt("a block is larger than the limit");
    block.data = data;
  } else {
    IW_TRY(DecompressInto(compression_, data, block_limit_, output_)
               .Within(fmt::format("{}: the block that ends at byte {}", name_, offset_)));
    block.data = output_;
  }
  if (compression_ == Compression::kSnappy &&
      LoadBig32(raw.compressed.data() + data.size()) != Crc32(output_)) {
    return Corrupt("the CRC of a snappy block is wrong");
  }
  const std::int64_t most = schema_->min_bytes == 0
                                ? kMaxEmptyRecords
                                : static_cast<std::int64_t>(block.data.size()) / schema_->min_bytes;
  if (block.count > most) {
    return Corrupt(
        fmt::format("a block of {} bytes claims {} records", block.data.size(), block.count));
  }
  return true;
}

// ---- writer

Result<Bytes> CompressBlock(Compression codec, ByteView records, std::optional<int> level) {
  if (codec == Compression::kNone) return Bytes(records);
  IW_ASSIGN(Bytes stored, Compress(codec, records, level));
  if (codec == Compression::kSnappy) AppendLittle(stored, __builtin_bswap32(Crc32(records)));
  return stored;
}

Result<ContainerWriter> ContainerWriter::Open(ByteSink& sink, std::string_view schema_json,
                                              const std::map<std::string, std::string>& metadata,
                                              Options options) {
  std::string_view codec;
  switch (options.compression) {
    case Compression::kNone:
      codec = "null";
      break;
    case Compression::kDeflate:
      codec = "deflate";
      break;
    case Compression::kZstd:
      codec = "zstandard";
      break;
    case Compression::kSnappy:
      codec = "snappy";
      break;
    default:
      return Error(Code::kInvalidArgument, "Avro has no such codec");
  }
  if (options.sync_marker.size() != kSyncBytes) {
    return Error(Code::kInvalidArgument, "an Avro sync marker has 16 bytes");
  }
  Bytes header(kMagic);
  Encoder encoder(header);
  encoder.WriteLong(static_cast<std::int64_t>(metadata.size() + 2));
  encoder.WriteBytes("avro.schema");
  encoder.WriteBytes(schema_json);
  encoder.WriteBytes("avro.codec");
  encoder.WriteBytes(codec);
  for (const auto& [key, value] : metadata) {
    if (key.starts_with("avro.")) {
      return Error(Code::kInvalidArgument, fmt::format("metadata key '{}' is reserved", key));
    }
    encoder.WriteBytes(key);
    encoder.WriteBytes(value);
  }
  encoder.WriteLong(0);
  header += options.sync_marker;
  IW_TRY(sink.Append(header));
  ContainerWriter writer(sink, std::move(options));
  writer.written_ = static_cast<std::int64_t>(header.size());
  return writer;
}

Status ContainerWriter::EndRecord() {
  ++records_;
  return buffer_.size() >= options_.block_bytes ? Flush() : Status();
}

Status ContainerWriter::Flush() {
  if (records_ == 0) return {};
  if (options_.compression == Compression::kNone) {
    IW_TRY(Write(records_, buffer_));
  } else {
    IW_ASSIGN(const Bytes stored, CompressBlock(options_.compression, buffer_, options_.level));
    IW_TRY(Write(records_, stored));
  }
  records_ = 0;
  buffer_.clear();
  return {};
}

Status ContainerWriter::Write(std::int64_t count, ByteView compressed) {
  Bytes head;
  Encoder encoder(head);
  encoder.WriteLong(count);
  encoder.WriteLong(static_cast<std::int64_t>(compressed.size()));
  IW_TRY(sink_->Append(head));
  IW_TRY(sink_->Append(compressed));
  IW_TRY(sink_->Append(options_.sync_marker));
  written_ += static_cast<std::int64_t>(head.size() + compressed.size() + kSyncBytes);
  return {};
}

Status ContainerWriter::AppendRaw(const ContainerReader::RawBlock& block) {
  IW_TRY(Flush());
  return Write(block.count, block.compressed);
}

Status ContainerWriter::Finish() { return Flush(); }

}  // namespace icewright::avro
