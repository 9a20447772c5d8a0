#include "codec/puffin.h"

#include <fmt/format.h>

#include <limits>

#include "codec/compression.h"
#include "codec/json.h"

namespace icewright {
namespace {

constexpr std::string_view kMagic = "PFA1";
constexpr std::size_t kTailBytes = 4 + 4 + 4;  // payload size, flags, magic
constexpr std::uint32_t kPayloadCompressed = 1;
constexpr std::size_t kPayloadLimitBytes = std::size_t{64} << 20;

Error Corrupt(std::string_view what) {
  return Error(Code::kCorrupt, fmt::format("Puffin: {}", what));
}

struct Tail {
  std::int64_t payload_size = 0;
  bool compressed = false;
};

Result<Tail> ParseTail(ByteView tail) {
  if (tail.substr(8) != kMagic) return Corrupt("the file does not end with the magic");
  const auto flags = LoadLittle<std::uint32_t>(tail.data() + 4);
  if ((flags & ~kPayloadCompressed) != 0) {
    return Error(Code::kUnsupported, fmt::format("Puffin: unknown footer flags {:#x}", flags));
  }
  return Tail{LoadLittle<std::int32_t>(tail.data()), (flags & kPayloadCompressed) != 0};
}

Result<Compression> CodecOf(const std::optional<std::string>& name) {
  if (!name) return Compression::kNone;
  if (*name == "lz4") return Compression::kLz4Frame;
  if (*name == "zstd") return Compression::kZstd;
  return Error(Code::kUnsupported, fmt::format("Puffin: unknown compression codec '{}'", *name));
}

Result<std::map<std::string, std::string>> ParseProperties(const Json& object) {
  std::map<std::string, std::string> out;
  IW_ASSIGN(const Json* properties, FindObject(object, "properties"));
  if (properties == nullptr) return out;
  for (const auto& [key, value] : properties->items()) {
    if (!value.is_string()) {
      return Error(Code::kCorrupt, fmt::format("property '{}' is no string", key));
    }
    out.insert_or_assign(key, value.get<std::string>());
  }
  return out;
}

Result<PuffinBlob> ParseBlob(const Json& json, std::int64_t blobs_end) {
  PuffinBlob blob;
  IW_ASSIGN(blob.type, GetString(json, "type"));
  IW_ASSIGN(const Json* fields, GetArray(json, "fields"));
  for (const Json& field : *fields) {
    const std::int64_t id = field.is_number_integer() ? field.get<std::int64_t>() : -1;
    if (id < 0 || id > std::numeric_limits<std::int32_t>::max()) {
      return Error(Code::kCorrupt, fmt::format("{} is no field id", DumpJson(field)));
    }
    blob.fields.push_back(FieldId(static_cast<std::int32_t>(id)));
  }
  IW_ASSIGN(const std::int64_t snapshot_id, GetInt(json, "snapshot-id"));
  IW_ASSIGN(const std::int64_t sequence_number, GetInt(json, "sequence-number"));
  blob.snapshot_id = SnapshotId(snapshot_id);
  blob.sequence_number = SequenceNumber(sequence_number);
  IW_ASSIGN(blob.offset, GetInt(json, "offset"));
  IW_ASSIGN(blob.length, GetInt(json, "length"));
  const auto magic_end = static_cast<std::int64_t>(kMagic.size());
  if (blob.offset < magic_end || blob.length < 0 || blob.offset > blobs_end ||
      blob.length > blobs_end - blob.offset) {
    return Error(Code::kCorrupt,
                 fmt::format("{} bytes at {} are not inside the blobs' part of the file",
                             blob.length, blob.offset));
  }
  IW_ASSIGN(blob.compression_codec, FindString(json, "compression-codec"));
  IW_TRY(CodecOf(blob.compression_codec));
  IW_ASSIGN(blob.properties, ParseProperties(json));
  return blob;
}

Json ToJson(const PuffinBlob& blob) {
  Json json;
  json["type"] = blob.type;
  json["fields"] = Json::array();
  for (const FieldId field : blob.fields) json["fields"].push_back(Raw(field));
  json["snapshot-id"] = Raw(blob.snapshot_id);
  json["sequence-number"] = Raw(blob.sequence_number);
  json["offset"] = blob.offset;
  json["length"] = blob.length;
  if (blob.compression_codec) json["compression-codec"] = *blob.compression_codec;
  if (!blob.properties.empty()) json["properties"] = blob.properties;
  return json;
}

}  // namespace

Result<std::int64_t> PuffinFooterSize(ByteView last_12_bytes, std::int64_t file_size) {
  if (last_12_bytes.size() != kTailBytes) return Corrupt("the file is too short");
  IW_ASSIGN(const Tail tail, ParseTail(last_12_bytes));
  const std::int64_t size =
      static_cast<std::int64_t>(kMagic.size() + kTailBytes) + tail.payload_size;
  if (tail.payload_size < 0 || size > file_size - static_cast<std::int64_t>(kMagic.size())) {
    return Corrupt(fmt::format("a footer of {} bytes does not fit in a file of {}",
                               tail.payload_size, file_size));
  }
  return size;
}

Result<PuffinFooter> ParsePuffinFooter(ByteView footer, std::int64_t file_size) {
  if (footer.size() < kMagic.size() + kTailBytes) return Corrupt("the footer is too short");
  const ByteView last = footer.substr(footer.size() - kTailBytes);
  PuffinFooter out;
  IW_ASSIGN(out.footer_size, PuffinFooterSize(last, file_size));
  if (out.footer_size != static_cast<std::int64_t>(footer.size())) {
    return Corrupt(fmt::format("the footer has {} bytes, not {}", out.footer_size, footer.size()));
  }
  if (!footer.starts_with(kMagic)) return Corrupt("the footer does not start with the magic");
  IW_ASSIGN(const Tail tail, ParseTail(last));
  ByteView payload = footer.substr(kMagic.size(), static_cast<std::size_t>(tail.payload_size));
  Bytes decompressed;
  if (tail.compressed) {
    IW_TRY(DecompressInto(Compression::kLz4Frame, payload, kPayloadLimitBytes, decompressed)
               .Within("Puffin footer"));
    payload = decompressed;
  }
  IW_ASSIGN(const Json json, ParseJson(payload).Within("Puffin footer"));
  IW_ASSIGN(const Json* blobs, GetArray(json, "blobs").Within("Puffin footer"));
  out.blobs.reserve(blobs->size());
  for (const Json& blob : *blobs) {
    IW_ASSIGN(PuffinBlob parsed, ParseBlob(blob, file_size - out.footer_size)
                                     .Within(fmt::format("Puffin blob {}", out.blobs.size())));
    out.blobs.push_back(std::move(parsed));
  }
  IW_ASSIGN(out.properties, ParseProperties(json).Within("Puffin footer"));
  return out;
}

Result<Bytes> DecodePuffinBlob(const PuffinBlob& blob, ByteView raw, std::size_t limit) {
  if (static_cast<std::int64_t>(raw.size()) != blob.length) {
    return Corrupt(fmt::format("a blob has {} bytes, not {}", raw.size(), blob.length));
  }
  IW_ASSIGN(const Compression codec, CodecOf(blob.compression_codec));
  return Decompress(codec, raw, limit).Within("Puffin blob");
}

PuffinWriter::PuffinWriter(ByteSink& sink, std::string created_by)
    : sink_(sink), created_by_(std::move(created_by)) {}

Status PuffinWriter::Append(ByteView bytes) {
  if (written_ == 0) {
    IW_TRY(sink_.Append(kMagic));
    written_ = static_cast<std::int64_t>(kMagic.size());
  }
  IW_TRY(sink_.Append(bytes));
  written_ += static_cast<std::int64_t>(bytes.size());
  return {};
}

Result<PuffinBlob> PuffinWriter::Add(PuffinBlob blob, ByteView data) {
  IW_TRY(Append(data));
  blob.length = static_cast<std::int64_t>(data.size());
  blob.offset = written_ - blob.length;
  blobs_.push_back(blob);
  return blob;
}

Result<std::int64_t> PuffinWriter::Finish() {
  Json json;
  json["blobs"] = Json::array();
  for (const PuffinBlob& blob : blobs_) json["blobs"].push_back(ToJson(blob));
  json["properties"]["created-by"] = created_by_;
  const std::string payload = DumpJson(json);
  if (payload.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    return Error(Code::kInvalidArgument, "Puffin: the footer is larger than 2 GiB");
  }
  Bytes footer(kMagic);
  footer += payload;
  AppendLittle(footer, static_cast<std::int32_t>(payload.size()));
  AppendLittle(footer, std::uint32_t{0});  // flags
  footer += kMagic;
  IW_TRY(Append(footer));
  return static_cast<std::int64_t>(footer.size());
}

}  // namespace icewright
