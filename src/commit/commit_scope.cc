#include "commit/commit_scope.h"

#include <fmt/format.h>

#include "catalog/metadata_files.h"
#include "manifest/partition_codec.h"

namespace icewright {

Result<ManifestWriter> CommitScope::NewManifest(SpecId spec_id, ManifestContent content) const {
  const PartitionSpec* spec = metadata.FindSpec(spec_id);
  if (spec == nullptr) {
    return Error(Code::kCorrupt, fmt::format("the table has no partition spec {}", Raw(spec_id)));
  }
  const Location location = written.NextManifest(MetadataFolderOf(metadata));
  return ManifestWriter::Create(
      run, io, location, PartitionSchemaOf(metadata, *spec), *spec,
      {.format_version = metadata.format_version,
       .content = content,
       .snapshot_id = snapshot_id,
       .compression_codec =
           StringProperty(metadata.properties, "write.manifest.compression-codec", "gzip")});
}

}  // namespace icewright
