#pragma once

/// \file manifest/encoded_entries.h
/// Live entries as the bytes that a manifest stores: a rewrite encodes each once, sorts and spills
/// bytes, and compresses blocks on many threads.

#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "codec/compression.h"
#include "manifest/data_file.h"
#include "manifest/manifest_writer.h"
#include "table/type.h"

namespace icewright {

/// Encodes entries for manifests of one spec, content type and format version. Immutable.
class EntryEncoder {
 public:
  /// `partition_type`: of PartitionSpec::PartitionType. Errors: kUnsupported for a codec or
  /// version.
  static Result<EntryEncoder> Make(SpecId spec_id, Type partition_type,
                                   const ManifestWriteOptions& options);

  /// Appends the entry as an EXISTING one, everything explicit. Errors: as
  /// ManifestWriter::AddExisting.
  Status AppendExisting(const ManifestEntry& entry, Bytes& out) const;

  /// Records, one after the other, as a block of the file. Errors: those of the codec.
  Result<Bytes> CompressBlock(ByteView records) const;

 private:
  EntryEncoder(SpecId spec_id, Type partition_type, int format_version, ManifestContent content,
               Compression compression)
      : spec_id_(spec_id),
        partition_type_(std::move(partition_type)),
        format_version_(format_version),
        content_(content),
        compression_(compression) {}

  SpecId spec_id_;
  Type partition_type_;
  int format_version_;
  ManifestContent content_;
  Compression compression_;
};

}  // namespace icewright
