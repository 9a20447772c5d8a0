#pragma once

/// \file schedule/task_types.h
/// The kinds of tasks that a configuration can name: one row each.
///
/// Java twins: RewriteDataFilesConfig, ExpireSnapshotsConfig ...

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "maintain/task.h"
#include "schedule/schedule.h"

namespace icewright {

using TaskOptionTexts = std::map<std::string, std::string>;

/// How a flink-maintenance.* key is written in this build's words.
struct FlinkTaskKey {
  std::string_view suffix;
  std::string_view option;
  std::string_view unit = {};  ///< Appended to the value: "s".
};

struct TaskType {
  std::string_view name;       ///< "rewrite-data-files"
  std::string_view java_name;  ///< "RewriteDataFiles": in metrics
  std::string_view flink;      ///< "rewrite": flink-maintenance.rewrite.*; empty: Flink has none
  std::vector<FlinkTaskKey> flink_keys = {};
  /// Flink passes keys that it does not know on to the task.
  bool flink_passes_options = false;
  Conditions flink_schedule = {};  ///< Where no schedule is given, as Flink's configuration.
  std::vector<std::string_view> option_keys = {};
  /// Options that name the branch whose commits count, the first one that is set; else main.
  std::vector<std::string_view> branch_options = {};
  bool rewrites_data = false;

  /// Errors: kInvalidArgument, naming the option and the nearest one.
  std::function<Result<std::shared_ptr<const MaintenanceTask>>(const TaskOptionTexts&)> make = {};
};

/// In the order in which tasks of one table are added: compaction, conversion, expiry, orphans,
/// manifests.
const std::vector<TaskType>& TaskTypes();

/// Null if there is none.
const TaskType* FindTaskType(std::string_view name);

}  // namespace icewright
