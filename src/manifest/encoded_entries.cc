#include "manifest/encoded_entries.h"

#include <fmt/format.h>

#include "manifest/avro_file.h"
#include "manifest/entry_check.h"
#include "manifest/record_writer.h"

namespace icewright {
namespace {

// Level 6, the usual one, takes half as long again for files that are one or two percent smaller.
constexpr int kDeflateLevel = 2;

}  // namespace

Result<EntryEncoder> EntryEncoder::Make(SpecId spec_id, Type partition_type,
                                        const ManifestWriteOptions& options) {
  IW_TRY(manifest_internal::CheckManifestKind(options.format_version, options.content));
  IW_ASSIGN(const Compression compression,
            manifest_internal::CompressionOf(options.compression_codec));
  return EntryEncoder(spec_id, std::move(partition_type), options.format_version, options.content,
                      compression);
}

Status EntryEncoder::AppendExisting(const ManifestEntry& entry, Bytes& out) const {
  IW_TRY(manifest_internal::CheckEntryFile(entry.file, format_version_, content_, spec_id_,
                                           partition_type_));
  IW_TRY(manifest_internal::CheckExisting(entry));
  avro::Encoder encoder(out);
  manifest_internal::WriteEntry(encoder, format_version_, partition_type_, entry,
                                EntryStatus::kExisting);
  return {};
}

Result<Bytes> EntryEncoder::CompressBlock(ByteView records) const {
  const bool deflates = compression_ == Compression::kDeflate;
  return avro::CompressBlock(compression_, records,
                             deflates ? std::optional(kDeflateLevel) : std::nullopt);
}

}  // namespace icewright
