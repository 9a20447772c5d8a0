#include "manifest/avro_file.h"

#include <fmt/format.h>

#include <charconv>

namespace icewright::manifest_internal {
namespace {

/// An InputFileSource that owns its file.
class OwningSource final : public ByteSource {
 public:
  explicit OwningSource(std::unique_ptr<InputFile> file)
      : file_(std::move(file)), source_(*file_) {}
  Result<std::size_t> Read(std::span<char> out) override { return source_.Read(out); }

 private:
  std::unique_ptr<InputFile> file_;
  InputFileSource source_;
};

std::string SyncMarker(Random& random) {
  std::string marker;
  AppendLittle(marker, random.Next());
  AppendLittle(marker, random.Next());
  return marker;
}

}  // namespace

Result<Compression> CompressionOf(std::string_view name) {
  if (name == "gzip") return Compression::kDeflate;
  if (name == "uncompressed" || name == "none") return Compression::kNone;
  return avro::CodecByName(name);
}

Result<avro::ContainerReader> OpenAvro(FileIO& io, const Location& location,
                                       std::optional<std::int64_t> size_bytes) {
  if (size_bytes && *size_bytes <= 0) size_bytes.reset();
  IW_ASSIGN(auto file, io.Open(location, size_bytes));
  return avro::ContainerReader::Open(std::make_unique<OwningSource>(std::move(file)),
                                     location.text());
}

Result<std::optional<std::int64_t>> HeaderNumber(const avro::ContainerReader& container,
                                                 std::string_view key) {
  const auto it = container.metadata().find(key);
  if (it == container.metadata().end()) return std::optional<std::int64_t>();
  const std::string& text = it->second;
  std::int64_t value = 0;
  const auto end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) {
    return Error(Code::kCorrupt, fmt::format("header key {} is '{}', not a number", key, text));
  }
  return std::optional(value);
}

Status RecordCursor::CheckBlockEnd() const {
  if (input_.decoder.at_end()) return {};
  return Error(Code::kCorrupt, "a block has bytes after its last record");
}

Result<AvroFileWriter> AvroFileWriter::Create(RunContext& run, FileIO& io, const Location& location,
                                              std::string_view schema_json,
                                              const std::map<std::string, std::string>& metadata,
                                              std::string_view codec) {
  IW_ASSIGN(const Compression compression, CompressionOf(codec));
  AvroFileWriter writer;
  IW_ASSIGN(writer.file_, io.Create(location, CreateMode::kNew));
  IW_ASSIGN(auto container, avro::ContainerWriter::Open(*writer.file_, schema_json, metadata,
                                                        {.compression = compression,
                                                         .sync_marker = SyncMarker(run.random())}));
  writer.container_ = std::make_unique<avro::ContainerWriter>(std::move(container));
  return writer;
}

Result<std::int64_t> AvroFileWriter::Close() {
  IW_TRY(container_->Finish());
  const std::int64_t length = file_->bytes_written();
  IW_TRY(file_->Close());
  return length;
}

}  // namespace icewright::manifest_internal
