#pragma once

/// \file schedule/maintenance_config.h
/// The section `maintenance` of icewright.yaml, as values.
///
/// Java twins: FlinkMaintenanceConfig, LockConfig, RewriteDataFilesConfig ...
/// The user's side: docs/scheduling.md.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/config_node.h"
#include "schedule/run_slots.h"
#include "schedule/table_scheduler.h"
#include "schedule/task_types.h"

namespace icewright {

/// `from_flink`: a flink-maintenance.* key said so. A task that only Flink's keys schedule gets the
/// other conditions of Flink's configuration, too.
struct ConfigValue {
  ConfigNode node;
  bool from_flink = false;
};

/// By dotted key: "rewrite-data-files.schedule.commit-count". Nested and dotted spellings, and
/// flink-maintenance.* keys, all end here.
using ConfigValues = std::map<std::string, ConfigValue>;

/// What one table gets.
struct TableConfig {
  TriggerOptions triggers = {};
  int max_read_back = 100;
  std::string uid_suffix = {};
  std::map<std::string, std::string> lock = {};  ///< For ReadLockConfig: flink-maintenance.lock.*
  Milliseconds lease{60'000};                    ///< Range: >= 1 s.
  std::vector<ScheduledTask> tasks = {};
  std::vector<const TaskType*> task_types = {};  ///< Of `tasks`, one by one.
  bool service_expiry_disabled = false;          ///< S3 Tables: its own expiry is switched off.
  bool glue_compaction = false;                  ///< Glue compacts the table by itself.
  std::string fingerprint = {};                  ///< Changes with any value.
};

class MaintenanceConfig {
 public:
  /// Checks everything that can be checked without a table. Errors: kInvalidArgument, naming the
  /// place in the file and the nearest known key. No message holds the value of a secret.
  static Result<MaintenanceConfig> Read(const ConfigNode& section);

  struct Rule {
    std::string pattern;
    std::string place;
    ConfigValues values;
  };

  std::string state = "icewright-state.db";  ///< Of ScheduleStore::Open.
  std::map<std::string, PoolOptions> pools;  ///< "" is the default one.
  std::optional<std::int64_t> bytes_per_hour;
  int connections = 8;  ///< Tables looked at at the same time.
  Milliseconds stop_grace{30'000};
  std::optional<ConfigNode> http;  ///< The member `http`, for the program.
  std::vector<Rule> rules;  ///< In the order of the file; what matches later wins, key by key.
  std::vector<std::string> warnings;

  /// Unset: no rule matches. `name`: catalog.namespace.table.
  Result<std::optional<TableConfig>> ForTable(std::string_view name) const;

 private:
  Status ReadMember(const std::string& key, const ConfigNode& node);
  Status ReadTables(const ConfigNode& node);
  Status ReadPools(const ConfigNode& node);
  Status CheckRule(const Rule& rule);
  Result<TableConfig> Resolve(const std::vector<const Rule*>& matching) const;

  ConfigValues defaults_;
};

/// `*` stands for any text without a dot, `**` for any text, `?` for one character.
bool MatchesPattern(std::string_view pattern, std::string_view name);
bool IsPattern(std::string_view text);

}  // namespace icewright
