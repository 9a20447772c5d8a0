#pragma once

/// \file maintain/task_checks.h
/// What rules a task out before it looks at anything.

#include <string_view>

#include "base/result.h"
#include "catalog/table.h"

namespace icewright {

/// Errors: kUnsupported, with the reason, for a table that takes no commits; a dry run may look.
Status CheckMayCommit(const Table& table, bool dry_run);

/// As CheckMayCommit, for tasks that delete files which are in use by nobody else. `what`: "expire
/// snapshots". Errors: kUnsupported: gc.enabled is false, or the table is encrypted.
Status CheckMayDeleteFiles(const Table& table, std::string_view what, bool dry_run);

}  // namespace icewright
