#pragma once

/// \file schedule/config_values.h
/// From the spellings that a configuration may use to one: dotted keys in this build's words.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "schedule/maintenance_config.h"

namespace icewright {

/// Flattens maps, translates flink-maintenance.* keys, and refuses what nobody knows. Aliases add a
/// warning that names the current key. Errors: kInvalidArgument with the place.
Result<ConfigValues> ReadTableValues(const ConfigNode& node, std::vector<std::string>& warnings);

/// The parts of "rewrite-data-files@nightly.schedule.interval": the task's id and the rest. Unset:
/// the key is not one of a task.
struct TaskKey {
  const TaskType* type = nullptr;
  std::string id;    ///< "rewrite-data-files@nightly"
  std::string rest;  ///< "schedule.interval"
};
std::optional<TaskKey> SplitTaskKey(std::string_view key);

Error ConfigError(const ConfigNode& node, std::string_view message);

}  // namespace icewright
