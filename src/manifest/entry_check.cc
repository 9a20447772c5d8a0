#include "manifest/entry_check.h"

#include <fmt/format.h>

#include "manifest/partition_codec.h"
#include "table/metadata.h"

namespace icewright::manifest_internal {

Status CheckManifestKind(int format_version, ManifestContent content) {
  if (format_version < 1 || format_version > kMaxFormatVersion) {
    return Error(Code::kUnsupported,
                 fmt::format("write a manifest of format version {}", format_version));
  }
  if (format_version == 1 && content == ManifestContent::kDeletes) {
    return Error(Code::kUnsupported, "format version 1 has no delete manifests");
  }
  return {};
}

Status CheckEntryFile(const DataFile& file, int format_version, ManifestContent content,
                      SpecId spec_id, const Type& partition_type) {
  const auto refuse = [&](Code code, std::string_view why) {
    return Error(code, fmt::format("write {}: {}", file.file_path.text(), why));
  };
  if ((file.content == FileContent::kData) != (content == ManifestContent::kData)) {
    return refuse(Code::kInvalidArgument, "data and deletes do not share a manifest");
  }
  if (file.spec_id != spec_id) {
    return refuse(Code::kInvalidArgument,
                  fmt::format("it belongs to spec {}, not {}", Raw(file.spec_id), Raw(spec_id)));
  }
  if (file.is_deletion_vector() && format_version < 3) {
    return refuse(Code::kUnsupported, "deletion vectors need format version 3");
  }
  return CheckPartition(partition_type, file.partition);
}

Status CheckExisting(const ManifestEntry& entry) {
  if (entry.sequence_number && entry.snapshot_id) return {};
  return Error(Code::kInvalidArgument, "existing entry without snapshot id or sequence number: " +
                                           entry.file.file_path.text());
}

}  // namespace icewright::manifest_internal
