#include "schedule/maintenance_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/text.h"
#include "config/fields.h"
#include "schedule/config_values.h"
#include "schedule/task_config.h"

namespace icewright {
namespace {

constexpr std::array<std::string_view, 11> kMembers = {
    "state",          "concurrent-tasks", "threads",    "memory",
    "bytes-per-hour", "connections",      "stop-grace", "pools",
    "http",           "defaults",         "tables"};

template <typename T>
Status ReadNumber(std::string_view key, const ConfigNode& node, FieldUnit unit, T low, T& out) {
  if (node.kind != ConfigNode::Kind::kText)
    return ConfigError(node, fmt::format("{} is one value", key));
  const Status parsed = ParseField(node.text, unit, out);
  if (!parsed) return ConfigError(node, fmt::format("{}: {}", key, parsed.error().message()));
  if (out < low) return ConfigError(node, fmt::format("{} must be at least {}", key, low));
  return {};
}

Status ReadPoolMember(const std::string& key, const ConfigNode& node, PoolOptions& pool) {
  if (key == "concurrent-tasks") {
    return ReadNumber(key, node, FieldUnit::kNone, 1, pool.concurrent_tasks);
  }
  if (key == "threads") return ReadNumber(key, node, FieldUnit::kNone, 1, pool.threads);
  if (key == "memory") {
    constexpr std::int64_t kLeast = std::int64_t{64} << 20;
    return ReadNumber(key, node, FieldUnit::kBytes, kLeast, pool.memory_bytes);
  }
  constexpr std::array<std::string_view, 3> kPool = {"concurrent-tasks", "threads", "memory"};
  return ConfigError(node, UnknownKey(key, kPool).message());
}

}  // namespace

bool IsPattern(std::string_view text) { return text.find_first_of("*?") != std::string_view::npos; }

bool MatchesPattern(std::string_view pattern, std::string_view name) {
  if (pattern.empty()) return name.empty();
  if (pattern.front() == '*') {
    const bool deep = pattern.starts_with("**");
    const std::string_view rest = pattern.substr(deep ? 2 : 1);
    for (std::size_t n = 0;; ++n) {
      if (MatchesPattern(rest, name.substr(n))) return true;
      if (n == name.size() || (!deep && name[n] == '.')) return false;
    }
  }
  if (name.empty() || (pattern.front() != '?' && pattern.front() != name.front())) return false;
  return MatchesPattern(pattern.substr(1), name.substr(1));
}

Result<MaintenanceConfig> MaintenanceConfig::Read(const ConfigNode& section) {
  if (section.kind != ConfigNode::Kind::kMap) {
    return ConfigError(section, "'maintenance' must be a map; write at least 'tables'");
  }
  MaintenanceConfig config;
  config.pools[""] = {.concurrent_tasks = 2, .threads = 2};
  for (const auto& [key, node] : section.members) IW_TRY(config.ReadMember(key, node));
  if (config.rules.empty()) {
    return ConfigError(section, "'maintenance' names no table; write 'tables'");
  }
  for (const Rule& rule : config.rules) IW_TRY(config.CheckRule(rule));
  return config;
}

Status MaintenanceConfig::ReadMember(const std::string& key, const ConfigNode& node) {
  if (key == "state") {
    if (node.text.empty()) return ConfigError(node, "state needs a file or a URL");
    state = node.text;
    return {};
  }
  if (key == "bytes-per-hour") {
    bytes_per_hour = 0;
    return ReadNumber<std::int64_t>(key, node, FieldUnit::kBytes, 1, *bytes_per_hour);
  }
  if (key == "connections") return ReadNumber(key, node, FieldUnit::kNone, 1, connections);
  if (key == "stop-grace") {
    std::int64_t ms = 0;
    IW_TRY(ReadNumber<std::int64_t>(key, node, FieldUnit::kDuration, 0, ms));
    stop_grace = Milliseconds(ms);
    return {};
  }
  if (key == "pools") return ReadPools(node);
  if (key == "http") {
    http = node;
    return {};
  }
  if (key == "defaults") {
    IW_ASSIGN(defaults_, ReadTableValues(node, warnings));
    return {};
  }
  if (key == "tables") return ReadTables(node);
  if (std::ranges::find(kMembers, key) != kMembers.end()) {
    return ReadPoolMember(key, node, pools[""]);
  }
  return ConfigError(node, UnknownKey(key, kMembers).message());
}

Status MaintenanceConfig::ReadPools(const ConfigNode& node) {
  if (node.kind != ConfigNode::Kind::kMap) return ConfigError(node, "pools is a map of names");
  for (const auto& [name, pool] : node.members) {
    if (name.empty() || pool.kind != ConfigNode::Kind::kMap) {
      return ConfigError(pool, fmt::format("pool '{}' must be a map", name));
    }
    for (const auto& [key, value] : pool.members) {
      IW_TRY(ReadPoolMember(key, value, pools[name]));
    }
    pools.try_emplace(name);
  }
  return {};
}

Status MaintenanceConfig::ReadTables(const ConfigNode& node) {
  if (node.kind != ConfigNode::Kind::kMap) {
    return ConfigError(node, "tables is a map of names and patterns, like prod.*.events_*");
  }
  for (const auto& [pattern, table] : node.members) {
    if (pattern.find('.') == std::string::npos && pattern.find("**") == std::string::npos) {
      return ConfigError(
          table, fmt::format("'{}' can be no table: write catalog.namespace.table", pattern));
    }
    IW_ASSIGN(auto values, ReadTableValues(table, warnings));
    rules.push_back({.pattern = pattern, .place = table.place, .values = std::move(values)});
  }
  return {};
}

Status MaintenanceConfig::CheckRule(const Rule& rule) {
  const auto resolved = Resolve({&rule});
  if (!resolved) return resolved.error().Within(rule.pattern);
  if (resolved->tasks.empty() && !IsPattern(rule.pattern)) {
    const bool others = std::ranges::any_of(rules, [&](const Rule& other) {
      return &other != &rule && MatchesPattern(other.pattern, rule.pattern);
    });
    if (!others) {
      return Error(Code::kInvalidArgument,
                   fmt::format("{}: {} has no task: add one, such as rewrite-data-files",
                               rule.place, rule.pattern));
    }
  }
  for (const ScheduledTask& task : resolved->tasks) {
    if (pools.contains(task.pool)) continue;
    std::vector<std::string_view> names;
    for (const auto& [name, pool] : pools) names.push_back(name);
    return Error(Code::kInvalidArgument,
                 fmt::format("{}: {}: slot-sharing-group '{}' is no pool: add it to "
                             "maintenance.pools{}",
                             rule.place, rule.pattern, task.pool, DidYouMean(task.pool, names)));
  }
  return {};
}

Result<std::optional<TableConfig>> MaintenanceConfig::ForTable(std::string_view name) const {
  std::vector<const Rule*> matching;
  for (const Rule& rule : rules) {
    if (MatchesPattern(rule.pattern, name)) matching.push_back(&rule);
  }
  if (matching.empty()) return std::optional<TableConfig>();
  IW_ASSIGN(TableConfig config, Resolve(matching));
  if (config.tasks.empty()) return std::optional<TableConfig>();
  return std::optional(std::move(config));
}

Result<TableConfig> MaintenanceConfig::Resolve(const std::vector<const Rule*>& matching) const {
  ConfigValues values = defaults_;
  for (const Rule* rule : matching) {
    for (const auto& [key, value] : rule->values) values[key] = value;
  }
  return ResolveTableConfig(values);
}

}  // namespace icewright
