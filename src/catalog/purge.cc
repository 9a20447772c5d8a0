#include "catalog/purge.h"

#include <fmt/format.h>

namespace icewright {

Status CheckMayPurgeFolder(const TableMetadata& metadata, const Location& default_location) {
  if (!BoolProperty(metadata.properties, "gc.enabled", true)) {
    return Error(Code::kUnsupported,
                 "purge refused: gc.enabled is false, so the table may share files with others");
  }
  if (metadata.location != default_location) {
    return Error(Code::kUnsupported,
                 fmt::format("purge refused: the table lives at {} instead of its default {}, "
                             "which may hold files of others",
                             metadata.location.text(), default_location.text()));
  }
  for (const char* key : {"write.data.path", "write.metadata.path", "write.object-storage.path",
                          "write.folder-storage.path"}) {
    if (metadata.Property(key)) {
      return Error(Code::kUnsupported,
                   fmt::format("purge refused: {} puts files outside of the table's folder", key));
    }
  }
  return {};
}

}  // namespace icewright
