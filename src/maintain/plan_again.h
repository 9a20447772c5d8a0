#pragma once

/// \file maintain/plan_again.h
/// The loop of the tasks whose plan is one commit: a plan that others overtook is made again.

#include <functional>
#include <string>

#include "base/result.h"
#include "catalog/table.h"
#include "maintain/task.h"

namespace icewright {

/// Loads the table and calls `attempt`, which plans and commits once. After a kConflict with
/// `stale` set it does so again, five times at most, each with a note in the report. Errors: those
/// of the last attempt; kUnsupported for an encrypted table.
Status PlanUntilCommitted(RunContext& run, Table& table, TaskReport& report,
                          const std::function<Status(bool& stale)>& attempt);

/// True if the branch is there and has another head than the plan was made on.
bool HasMoved(const Table& table, const std::string& branch, SnapshotId planned_on);

}  // namespace icewright
