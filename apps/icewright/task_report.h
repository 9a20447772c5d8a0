#pragma once

/// \file icewright/task_report.h
/// Runs a task on a table and shows what it did, for people or as JSON.

#include <string>

#include "base/result.h"
#include "icewright/exit_code.h"
#include "icewright/session.h"
#include "icewright/table_lock.h"
#include "maintain/task.h"

namespace icewright::cli {

/// `table`: as the user named it. Errors are printed by the caller, unless JSON was asked for: then
/// they are part of the report.
/// `lock`: the flags of the table's lock, which is held meanwhile; null: none is taken.
Result<ExitCode> RunTask(Session& session, const MaintenanceTask& task, const std::string& table,
                         const LockFlags* lock);

}  // namespace icewright::cli
