#include "schedule/config_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "config/units.h"

namespace icewright {
namespace {

constexpr std::string_view kFlink = "flink-maintenance.";
constexpr std::string_view kLock = "flink-maintenance.lock.";

constexpr std::array<std::string_view, 13> kTableKeys = {"rate-limit",
                                                         "lock-check-delay",
                                                         "parallelism",
                                                         "max-read-back",
                                                         "slot-sharing-group",
                                                         "uid-suffix",
                                                         "branch",
                                                         "policy",
                                                         "retry-delay",
                                                         "retry-max-delay",
                                                         "lock-lease",
                                                         "glue-compaction",
                                                         "service-expiry-disabled"};

constexpr std::array<std::string_view, 16> kTaskKeys = {"enabled",
                                                        "parallelism",
                                                        "slot-sharing-group",
                                                        "schedule.commit-count",
                                                        "schedule.data-file-count",
                                                        "schedule.data-file-size",
                                                        "schedule.pos-delete-file-count",
                                                        "schedule.pos-delete-record-count",
                                                        "schedule.eq-delete-file-count",
                                                        "schedule.eq-delete-record-count",
                                                        "schedule.interval",
                                                        "schedule.rate-limit",
                                                        "schedule.max-run-time",
                                                        "schedule.priority",
                                                        "schedule.paused",
                                                        "schedule.utc-offset"};
constexpr std::array<std::string_view, 3> kTaskLists = {"schedule.cron", "schedule.quiet-hours",
                                                        "schedule.all-of"};

// Flink's framework keys: the name here, and the unit that its numbers have.
struct FlinkKey {
  std::string_view key;
  std::string_view name;
  std::string_view unit;
};
constexpr FlinkKey kFlinkKeys[] = {
    {"flink-maintenance.rate-limit-seconds", "rate-limit", "s"},
    {"flink-maintenance.lock-check-delay-seconds", "lock-check-delay", "s"},
    {"flink-maintenance.parallelism", "parallelism", ""},
    {"flink-maintenance.slot-sharing-group", "slot-sharing-group", ""},
};

// Keys that Flink's documents spell otherwise than its code, or did once.
struct Alias {
  std::string_view key;
  std::string_view current;
};
constexpr Alias kAliases[] = {
    {"compaction-enabled", "flink-maintenance.rewrite.enabled"},
    {"use.v2.sink", "table.exec.iceberg.use-v2-sink"},
    {"use-v2-sink", "table.exec.iceberg.use-v2-sink"},
    {"table.exec.iceberg.use.v2.sink", "table.exec.iceberg.use-v2-sink"},
    {"flink-maintenance.lock.jdbc.init-lock-tables", "flink-maintenance.lock.jdbc.init-lock-table"},
};

constexpr std::string_view kUseV2Sink = "table.exec.iceberg.use-v2-sink";

class Reader {
 public:
  Reader(ConfigValues& values, std::vector<std::string>& warnings)
      : values_(values), warnings_(warnings) {}

  Status Read(const std::string& key, const ConfigNode& node) {
    if (node.kind == ConfigNode::Kind::kMap) {
      const bool section = !key.empty() && key.find('.') == std::string::npos;
      if (section && !IsTask(key) && key != "lock" && key != "flink-maintenance") {
        return Unknown(key, node);
      }
      for (const auto& [name, member] : node.members) {
        IW_TRY(Read(key.empty() ? name : key + "." + name, member));
      }
      // `expire-snapshots: {}` asks for the task.
      if (node.members.empty() && IsTask(key)) Put(key + ".enabled", Text("true", node));
      return {};
    }
    for (const Alias& alias : kAliases) {
      if (alias.key != key) continue;
      warnings_.push_back(fmt::format("{}: {} is now {}", node.place, key, alias.current));
      return Read(std::string(alias.current), node);
    }
    if (key == kUseV2Sink) return CheckBool(key, node);
    if (key.starts_with("lock.")) return ReadLock("flink-maintenance." + key, node);
    if (key.starts_with(kLock)) return ReadLock(key, node);
    if (key.starts_with(kFlink)) return ReadFlink(key, node);
    if (const auto task = SplitTaskKey(key)) return ReadTask(*task, node);
    if (IsTask(key) && node.text.empty()) {
      Put(key + ".enabled", Text("true", node));
      return {};
    }
    if (std::ranges::find(kTableKeys, key) == kTableKeys.end()) return Unknown(key, node);
    if (node.kind == ConfigNode::Kind::kList) return ConfigError(node, key + " is no list");
    Put(key, node);
    return {};
  }

 private:
  static bool IsTask(std::string_view key) {
    return FindTaskType(key.substr(0, key.find('@'))) != nullptr &&
           key.find('.') == std::string_view::npos;
  }

  static ConfigNode Text(std::string text, const ConfigNode& from) {
    ConfigNode node = from;
    node.kind = ConfigNode::Kind::kText;
    node.text = std::move(text);
    return node;
  }

  void Put(const std::string& key, ConfigNode node, bool from_flink = false) {
    values_[key] = {std::move(node), from_flink};
  }

  static Status CheckBool(std::string_view key, const ConfigNode& node) {
    bool value = false;
    const Status parsed = ParseField(node.text, FieldUnit::kNone, value);
    if (parsed) return {};
    return ConfigError(node, fmt::format("{}: {}", key, parsed.error().message()));
  }

  Status ReadLock(const std::string& key, const ConfigNode& node) {
    if (node.kind != ConfigNode::Kind::kText) return ConfigError(node, key + " is no list");
    Put(key, node);
    return {};
  }

  Status ReadTask(const TaskKey& task, const ConfigNode& node) {
    const bool list = std::ranges::find(kTaskLists, task.rest) != kTaskLists.end();
    if (node.kind == ConfigNode::Kind::kList && !list) {
      return ConfigError(node, fmt::format("{}.{} is no list", task.id, task.rest));
    }
    const bool known =
        list || std::ranges::find(kTaskKeys, task.rest) != kTaskKeys.end() ||
        std::ranges::find(task.type->option_keys, task.rest) != task.type->option_keys.end();
    if (!known) {
      std::vector<std::string_view> keys(kTaskKeys.begin(), kTaskKeys.end());
      keys.insert(keys.end(), kTaskLists.begin(), kTaskLists.end());
      keys.insert(keys.end(), task.type->option_keys.begin(), task.type->option_keys.end());
      return ConfigError(node,
                         fmt::format("{}: {}", task.id, UnknownKey(task.rest, keys).message()));
    }
    Put(task.id + "." + task.rest, node);
    return {};
  }

  Status ReadFlink(const std::string& key, const ConfigNode& node) {
    if (node.kind != ConfigNode::Kind::kText) return ConfigError(node, key + " is no list");
    for (const FlinkKey& known : kFlinkKeys) {
      if (known.key != key) continue;
      // -1: what the runtime has.
      if (known.name == "parallelism" && node.text == "-1") return {};
      return PutFlink(key, std::string(known.name), known.unit, node);
    }
    const std::string_view rest = std::string_view(key).substr(kFlink.size());
    for (const TaskType& type : TaskTypes()) {
      if (type.flink.empty() || !rest.starts_with(std::string(type.flink) + ".")) continue;
      return ReadFlinkTask(type, key, rest.substr(type.flink.size() + 1), node);
    }
    return Unknown(key, node);
  }

  Status ReadFlinkTask(const TaskType& type, const std::string& key, std::string_view suffix,
                       const ConfigNode& node) {
    const std::string id(type.name);
    if (suffix == "enabled") {
      IW_TRY(CheckBool(key, node));
      return PutFlink(key, id + ".enabled", "", node);
    }
    if (suffix == "schedule.interval-second") {
      return PutFlink(key, id + ".schedule.interval", "s", node);
    }
    // Flink has data-file conditions for compaction only, and no commit count for orphans.
    const auto* const schedule =
        suffix.starts_with("schedule.") ? FlinkCount(type, suffix) : nullptr;
    if (schedule != nullptr) return PutFlink(key, id + "." + std::string(suffix), "", node);
    for (const FlinkTaskKey& known : type.flink_keys) {
      if (known.suffix == suffix) {
        return PutFlink(key, id + "." + std::string(known.option), known.unit, node);
      }
    }
    const auto& options = type.option_keys;
    if (type.flink_passes_options && std::ranges::find(options, suffix) != options.end()) {
      return PutFlink(key, id + "." + std::string(suffix), "", node);
    }
    return Unknown(key, node);
  }

  static const CountCondition* FlinkCount(const TaskType& type, std::string_view suffix) {
    for (const CountCondition& condition : CountConditions()) {
      if (suffix.substr(std::string_view("schedule.").size()) != condition.key) continue;
      return type.flink_schedule.*condition.threshold ? &condition : nullptr;
    }
    return nullptr;
  }

  // Flink's numbers are strict decimals; here they get their unit.
  Status PutFlink(const std::string& key, const std::string& name, std::string_view unit,
                  const ConfigNode& node) {
    ConfigNode value = node;
    if (!unit.empty()) {
      std::int64_t number = 0;
      const Status parsed = ParseField(node.text, FieldUnit::kNone, number);
      if (!parsed) return ConfigError(node, fmt::format("{}: {}", key, parsed.error().message()));
      value.text += unit;
    }
    Put(name, std::move(value), true);
    return {};
  }

  static Error Unknown(const std::string& key, const ConfigNode& node) {
    std::vector<std::string> known;
    for (const FlinkKey& flink : kFlinkKeys) known.emplace_back(flink.key);
    for (const std::string_view name : kTableKeys) known.emplace_back(name);
    for (const TaskType& type : TaskTypes()) AddKeys(type, known);
    for (const std::string_view name : {std::string_view("lock"), kUseV2Sink}) {
      known.emplace_back(name);
    }
    const std::vector<std::string_view> views(known.begin(), known.end());
    return ConfigError(node, UnknownKey(key, views).message());
  }

  static void AddKeys(const TaskType& type, std::vector<std::string>& known) {
    known.emplace_back(type.name);
    if (type.flink.empty()) return;
    const std::string prefix = std::string(kFlink) + std::string(type.flink) + ".";
    for (const std::string_view suffix : {"enabled", "schedule.interval-second"}) {
      known.push_back(prefix + std::string(suffix));
    }
    for (const CountCondition& condition : CountConditions()) {
      const std::string suffix = "schedule." + std::string(condition.key);
      if (FlinkCount(type, suffix) != nullptr) known.push_back(prefix + suffix);
    }
    for (const FlinkTaskKey& key : type.flink_keys)
      known.push_back(prefix + std::string(key.suffix));
    if (!type.flink_passes_options) return;
    for (const std::string_view option : type.option_keys) {
      known.push_back(prefix + std::string(option));
    }
  }

  ConfigValues& values_;
  std::vector<std::string>& warnings_;
};

}  // namespace

Error ConfigError(const ConfigNode& node, std::string_view message) {
  return {Code::kInvalidArgument, fmt::format("{}: {}", node.place, message)};
}

std::optional<TaskKey> SplitTaskKey(std::string_view key) {
  const std::size_t dot = key.find('.');
  if (dot == std::string_view::npos) return {};
  const std::string_view id = key.substr(0, dot);
  const TaskType* type = FindTaskType(id.substr(0, id.find('@')));
  if (type == nullptr) return {};
  return TaskKey{type, std::string(id), std::string(key.substr(dot + 1))};
}

Result<ConfigValues> ReadTableValues(const ConfigNode& node, std::vector<std::string>& warnings) {
  ConfigValues values;
  if (node.kind == ConfigNode::Kind::kList ||
      (node.kind == ConfigNode::Kind::kText && !node.text.empty())) {
    return ConfigError(node, "a table needs a map of keys");
  }
  if (node.kind == ConfigNode::Kind::kText) return values;
  IW_TRY(Reader(values, warnings).Read("", node));
  return values;
}

}  // namespace icewright
