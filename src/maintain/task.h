#pragma once

/// \file maintain/task.h
/// What every maintenance task returns.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/location.h"
#include "base/result.h"

namespace icewright {

enum class TaskOutcome : std::uint8_t {
  kDone,          ///< Everything planned was done.
  kNothingToDo,   ///< No candidate; nothing was committed. `reason` says why.
  kPlanned,       ///< A dry run.
  kPartial,       ///< Part of it was committed; `failures` names the rest.
};
std::string_view Name(TaskOutcome outcome);

/// The result of a run that did not fail as a whole.
struct TaskReport {
  TaskOutcome outcome = TaskOutcome::kDone;
  std::string reason = {};
  std::vector<SnapshotId> snapshot_ids = {};
  std::map<std::string, std::int64_t> counts = {};  ///< "rewritten-data-files-count": 12
  std::vector<Location> leftovers = {};             ///< Unreferenced files that could not be deleted.
  std::vector<Error> failures = {};
  std::vector<std::string> notes = {};
};

}  // namespace icewright
