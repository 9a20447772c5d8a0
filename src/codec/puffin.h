#pragma once

/// \file codec/puffin.h
/// Puffin files: blobs and a footer that describes them.
///
/// Spec: Puffin.   Java twins: PuffinReader, PuffinWriter.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"

namespace icewright {

struct PuffinBlob {
  std::string type;
  std::vector<FieldId> fields;
  SnapshotId snapshot_id{-1};
  SequenceNumber sequence_number{-1};
  std::int64_t offset = 0;
  std::int64_t length = 0;
  std::optional<std::string> compression_codec = {};  ///< "lz4", "zstd"
  std::map<std::string, std::string> properties = {};
};

struct PuffinFooter {
  std::vector<PuffinBlob> blobs;
  std::map<std::string, std::string> properties;
  std::int64_t footer_size = 0;  ///< From the footer's magic to the end of the file.
};

/// Size of the footer, from the last 12 bytes of a file. Errors: kCorrupt.
Result<std::int64_t> PuffinFooterSize(ByteView last_12_bytes, std::int64_t file_size);

/// `footer` is the last footer_size bytes. Blobs are checked to lie inside the file. Errors:
/// kCorrupt, kUnsupported (flags, codec).
Result<PuffinFooter> ParsePuffinFooter(ByteView footer, std::int64_t file_size);

/// Bytes of a blob as they were before compression. Errors: kCorrupt.
Result<Bytes> DecodePuffinBlob(const PuffinBlob& blob, ByteView raw, std::size_t limit);

/// Writes to a byte stream. Single-threaded.
class PuffinWriter {
 public:
  /// `created_by` becomes the footer property. Borrows the sink.
  PuffinWriter(ByteSink& sink, std::string created_by);

  /// `blob.offset` and `.length` are filled in; the data is written as it is. Returns the final
  /// blob.
  Result<PuffinBlob> Add(PuffinBlob blob, ByteView data);

  /// Returns the size of the footer.
  Result<std::int64_t> Finish();
  std::int64_t bytes_written() const { return written_; }

 private:
  Status Append(ByteView bytes);
  ByteSink& sink_;
  std::string created_by_;
  std::vector<PuffinBlob> blobs_;
  std::int64_t written_ = 0;
};

}  // namespace icewright
