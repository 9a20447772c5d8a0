#pragma once

/// \file maintain/live_deletes.h
/// The deletes of a snapshot: all that are live, and those that scan planning attaches to data.

#include <functional>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "base/run_context.h"
#include "io/file_io.h"
#include "manifest/data_file.h"
#include "scan/file_task.h"
#include "table/metadata.h"

namespace icewright {

using AttachedDeletes =
    std::unordered_map<ContentKey, std::shared_ptr<const DeleteTask>, ContentKeyHash>;

/// `visit` (may be empty) sees each data file that has deletes. Cost and errors: those of
/// PlanFiles.
Result<AttachedDeletes> FindAttachedDeletes(RunContext& run, FileIO& io,
                                            const TableMetadata& metadata, const Snapshot& snapshot,
                                            const std::function<Status(const FileTask&)>& visit);

/// Live deletes that are not `attached`, without metrics. Cost: reads the delete manifests.
Result<std::vector<DeleteTask>> FindDetachedDeletes(RunContext& run, FileIO& io,
                                                    const TableMetadata& metadata,
                                                    const Snapshot& snapshot,
                                                    const AttachedDeletes& attached);

}  // namespace icewright
