#include "maintain/task_checks.h"

#include <fmt/format.h>

#include <string>

namespace icewright {

Status CheckMayCommit(const Table& table, bool dry_run) {
  const std::string reason = table.operations().read_only_reason();
  if (reason.empty() || dry_run) return {};
  return Error(Code::kUnsupported, reason);
}

Status CheckMayDeleteFiles(const Table& table, std::string_view what, bool dry_run) {
  IW_TRY(CheckMayCommit(table, dry_run));
  if (!BoolProperty(table.metadata().properties, "gc.enabled", true)) {
    return Error(Code::kUnsupported,
                 fmt::format("cannot {}: gc.enabled is false, so files of this table may be used "
                             "by others",
                             what));
  }
  if (table.metadata().is_encrypted()) {
    return Error(Code::kUnsupported, fmt::format("cannot {}: the table is encrypted", what));
  }
  return {};
}

}  // namespace icewright
