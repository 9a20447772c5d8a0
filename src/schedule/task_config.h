#pragma once

/// \file schedule/task_config.h
/// From the values of a table to its tasks.

#include "base/result.h"
#include "schedule/maintenance_config.h"

namespace icewright {

/// Makes the tasks in the order of TaskTypes and checks every value. Errors: kInvalidArgument with
/// the place of the value.
Result<TableConfig> ResolveTableConfig(const ConfigValues& values);

}  // namespace icewright
