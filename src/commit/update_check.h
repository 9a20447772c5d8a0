#pragma once

/// \file commit/update_check.h
/// Is an update consistent in itself, and may this table take it? Reads no file.

#include "base/result.h"
#include "commit/snapshot_update.h"
#include "table/metadata.h"

namespace icewright {

/// What is wrong whatever the table looks like: unknown operation, files on the wrong list, a file
/// added and removed, two DVs for one data file, a replace that removes nothing.
/// Errors: kInvalidArgument.
Status CheckUpdate(const SnapshotUpdate& update);

/// What this state of the table rules out: a newer format, encryption (kUnsupported), a branch that
/// is a tag, specs that the table does not have, kinds of deletes that its version does not allow
/// (kInvalidArgument).
Status CheckUpdateFits(const SnapshotUpdate& update, const TableMetadata& metadata);

}  // namespace icewright
