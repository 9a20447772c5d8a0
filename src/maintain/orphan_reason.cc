#include "maintain/orphan_reason.h"

#include <fmt/format.h>

#include <string_view>

#include "config/units.h"
#include "maintain/referenced_files.h"
#include "table/calendar.h"
#include "table/metadata.h"

namespace icewright {
namespace {

// What the file was, as far as its name tells.
std::string_view WhatNamesNone(std::string_view name) {
  if (MetadataVersionOf(name) || name.ends_with(".metadata.json")) {
    return "a metadata file that is neither the current one nor in the metadata log";
  }
  if (name.ends_with(".tmp")) return "a temporary file that nothing in the table names";
  if (name.ends_with(".avro") && name.starts_with("snap-")) {
    return "a manifest list that no snapshot has";
  }
  if (name.ends_with(".avro") && !MayBeStaged(name)) return "a manifest that no snapshot has";
  if (name.ends_with(".stats")) return "a statistics file that the metadata does not name";
  return "no snapshot, branch or tag reaches it and the metadata does not name it";
}

}  // namespace

std::string WhyOrphan(const OrphanFile& orphan, TimePoint now, Milliseconds min_age) {
  constexpr int kMillis = 3;
  const std::string_view name = orphan.file.location.file_name();
  const std::string what =
      orphan.named_with.empty()
          ? std::string(WhatNamesNone(name))
          : fmt::format(
                "the table names this path with {} only, and prefix-mismatch-mode is DELETE",
                orphan.named_with);
  return fmt::format("{}; last changed {}Z, {} ago (min-age {})", what,
                     TimestampText(ToMillis(orphan.file.modified), kMillis),
                     FormatDuration(now - orphan.file.modified), FormatDuration(min_age));
}

}  // namespace icewright
