#pragma once

/// \file manifest/avro_file.h
/// Opening and making the Avro containers that manifests and manifest lists are.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/run_context.h"
#include "codec/avro/container.h"
#include "io/file_io.h"
#include "manifest/value_reader.h"

namespace icewright::manifest_internal {

/// Streams the file. `size_bytes`: if known and positive, saves a request.
/// Errors: kUnsupported for an encrypted file; those of io and of the container.
Result<avro::ContainerReader> OpenAvro(FileIO& io, const Location& location,
                                       std::optional<std::int64_t> size_bytes = {});

/// The codec of a value of write.manifest.compression-codec. Errors: kUnsupported.
Result<Compression> CompressionOf(std::string_view name);

/// A number among the container's metadata; unset if the key is absent. Errors: kCorrupt.
Result<std::optional<std::int64_t>> HeaderNumber(const avro::ContainerReader& container,
                                                 std::string_view key);

/// Records of one container, one after the other. Single-threaded.
class RecordCursor {
 public:
  explicit RecordCursor(avro::ContainerReader container) : container_(std::move(container)) {}

  /// Reads the next record by `read(input)`; false at the end.
  template <typename Read>
  Result<bool> Next(Read&& read) {
    while (left_ == 0) {
      IW_TRY(CheckBlockEnd());
      avro::ContainerReader::Block block;
      IW_ASSIGN(const bool more, container_.Next(block));
      if (!more) return false;
      left_ = block.count;
      input_.decoder = avro::Decoder(block.data);
    }
    --left_;
    read(input_);
    if (!input_.decoder.ok()) return input_.error.value_or(Error(Code::kCorrupt, "broken record"));
    return true;
  }

  const avro::ContainerReader& container() const { return container_; }

 private:
  Status CheckBlockEnd() const;

  avro::ContainerReader container_;
  Input input_{.decoder = avro::Decoder({})};
  std::int64_t left_ = 0;
};

/// An Avro container on its way into a file. Single-threaded.
class AvroFileWriter {
 public:
  /// `codec`: a value of write.manifest.compression-codec. Errors: kUnsupported for another codec.
  static Result<AvroFileWriter> Create(RunContext& run, FileIO& io, const Location& location,
                                       std::string_view schema_json,
                                       const std::map<std::string, std::string>& metadata,
                                       std::string_view codec);

  avro::ContainerWriter& container() { return *container_; }
  const avro::ContainerWriter& container() const { return *container_; }

  /// Makes the file visible; returns its length.
  Result<std::int64_t> Close();

 private:
  AvroFileWriter() = default;
  std::unique_ptr<OutputFile> file_;
  std::unique_ptr<avro::ContainerWriter> container_;
};

}  // namespace icewright::manifest_internal
