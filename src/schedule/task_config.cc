#include "schedule/task_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "config/fields.h"
#include "schedule/child_protocol.h"
#include "schedule/config_values.h"

namespace icewright {
namespace {

constexpr std::string_view kSchedule = "schedule.";

Status InPlace(const Status& status, std::string_view key, const ConfigNode& node) {
  if (status) return {};
  return ConfigError(node, fmt::format("{}: {}", key, status.error().message()));
}

// The values of one table or task, by key.
class Values {
 public:
  explicit Values(const ConfigValues& values, std::string prefix = {})
      : values_(values), prefix_(std::move(prefix)) {}

  const ConfigValue* Find(const std::string& key) const {
    const auto found = values_.find(prefix_ + key);
    return found == values_.end() ? nullptr : &found->second;
  }

  template <typename T>
  Status Read(const std::string& key, T& out, FieldUnit unit = FieldUnit::kNone) const {
    const ConfigValue* value = Find(key);
    if (value == nullptr) return {};
    return InPlace(ParseField(value->node.text, unit, out), prefix_ + key, value->node);
  }

  Status ReadDuration(const std::string& key, Milliseconds& out) const {
    std::int64_t ms = out.count();
    IW_TRY(Read(key, ms, FieldUnit::kDuration));
    out = Milliseconds(ms);
    return {};
  }
  Status ReadDuration(const std::string& key, std::optional<Milliseconds>& out) const {
    if (Find(key) == nullptr) return {};
    out = Milliseconds(0);
    return ReadDuration(key, *out);
  }

  /// Parses each item of a list, or the one value. Errors name the item's place.
  template <typename T, typename Parse>
  Status ReadList(const std::string& key, std::vector<T>& out, Parse parse) const {
    const ConfigValue* value = Find(key);
    if (value == nullptr) return {};
    std::vector<const ConfigNode*> items;
    for (const ConfigNode& item : value->node.items) items.push_back(&item);
    if (value->node.kind != ConfigNode::Kind::kList) items.push_back(&value->node);
    for (const ConfigNode* item : items) {
      Result<T> parsed = parse(*item);
      if (!parsed) return InPlace(parsed.error(), prefix_ + key, *item);
      out.push_back(std::move(*parsed));
    }
    return {};
  }

 private:
  const ConfigValues& values_;
  const std::string prefix_;
};

Status ReadConditions(const Values& values, const std::string& prefix, Conditions& out) {
  for (const CountCondition& condition : CountConditions()) {
    IW_TRY(
        values.Read(prefix + std::string(condition.key), out.*condition.threshold, condition.unit));
  }
  return values.ReadDuration(prefix + "interval", out.on_interval);
}

Result<Conditions> ReadGroup(const ConfigNode& node) {
  if (node.kind != ConfigNode::Kind::kMap) {
    return Error(Code::kInvalidArgument,
                 "a group is a map of conditions, like {commit-count: 5, interval: 1h}");
  }
  ConfigValues members;
  std::vector<std::string_view> known = {"interval"};
  for (const CountCondition& condition : CountConditions()) known.push_back(condition.key);
  for (const auto& [key, value] : node.members) {
    if (std::ranges::find(known, key) == known.end()) return UnknownKey(key, known);
    members[key] = {value, false};
  }
  Conditions group;
  IW_TRY(ReadConditions(Values(members), "", group));
  return group;
}

// True if somebody wrote a schedule in our words.
bool HasOwnSchedule(const ConfigValues& values, const std::string& id) {
  const std::string prefix = id + "." + std::string(kSchedule);
  for (auto it = values.lower_bound(prefix); it != values.end() && it->first.starts_with(prefix);
       ++it) {
    const std::string_view rest = std::string_view(it->first).substr(prefix.size());
    const bool condition = rest == "interval" || rest == "cron" || rest == "all-of" ||
                           std::ranges::any_of(CountConditions(), [&](const auto& count) {
                             return count.key == rest;
                           });
    if (condition && !it->second.from_flink) return true;
  }
  return false;
}

Result<Schedule> ReadSchedule(const ConfigValues& all, const TaskType& type,
                              const std::string& id) {
  const Values values(all, id + ".");
  Schedule schedule;
  if (!HasOwnSchedule(all, id)) schedule.any = type.flink_schedule;
  IW_TRY(ReadConditions(values, std::string(kSchedule), schedule.any));
  ScheduleExtras& extras = schedule.extras;
  IW_TRY(values.ReadList("schedule.all-of", extras.all_of, ReadGroup));
  IW_TRY(values.ReadList("schedule.cron", extras.cron,
                         [](const ConfigNode& node) { return CronTimes::Parse(node.text); }));
  IW_TRY(values.ReadList("schedule.quiet-hours", extras.quiet_hours,
                         [](const ConfigNode& node) { return QuietHours::Parse(node.text); }));
  std::vector<Milliseconds> offset;
  IW_TRY(values.ReadList("schedule.utc-offset", offset,
                         [](const ConfigNode& node) { return ParseUtcOffset(node.text); }));
  if (!offset.empty()) extras.utc_offset = offset.front();
  IW_TRY(values.ReadDuration("schedule.rate-limit", extras.rate_limit));
  IW_TRY(values.ReadDuration("schedule.max-run-time", extras.max_run_time));
  IW_TRY(values.Read("schedule.priority", extras.priority));
  IW_TRY(values.Read("schedule.paused", extras.paused));
  return schedule;
}

// Ids of one type that the values speak of, in the order of their names.
std::set<std::string> TasksOf(const ConfigValues& values, const TaskType& type) {
  std::set<std::string> ids;
  for (const auto& [key, value] : values) {
    const auto task = SplitTaskKey(key);
    if (task && task->type == &type) ids.insert(task->id);
  }
  return ids;
}

// Said outright, or because something of the task is configured in our words; in Flink's words a
// task is off unless it is switched on.
Result<bool> IsEnabled(const ConfigValues& all, const std::string& id) {
  bool enabled = false;
  const std::string prefix = id + ".";
  for (auto it = all.lower_bound(prefix); it != all.end() && it->first.starts_with(prefix); ++it) {
    enabled |= !it->second.from_flink;
  }
  IW_TRY(Values(all, prefix).Read("enabled", enabled));
  return enabled;
}

TaskOptionTexts OptionsOf(const ConfigValues& all, const TaskType& type, const std::string& id) {
  TaskOptionTexts options;
  for (const std::string_view key : type.option_keys) {
    const auto found = all.find(id + "." + std::string(key));
    if (found != all.end()) options[std::string(key)] = found->second.node.text;
  }
  // The sink's write branch, as Flink's sink hands it on; main if it does not say.
  const auto branch = all.find("branch");
  const auto target = all.find(id + ".target-branch");
  const bool is_conversion = type.branch_options.size() > 1;
  if (is_conversion && branch == all.end() && target != all.end() && target->second.from_flink) {
    options.try_emplace(std::string(type.branch_options.front()), "main");
  }
  if (branch != all.end() && !type.branch_options.empty()) {
    options.try_emplace(std::string(type.branch_options.front()), branch->second.node.text);
    if (is_conversion) {
      options.try_emplace(std::string(type.branch_options.back()), branch->second.node.text);
    }
  }
  return options;
}

Result<ScheduledTask> ReadTask(const ConfigValues& all, const TaskType& type, const std::string& id,
                               const TableConfig& table, const std::string& place) {
  const Values values(all, id + ".");
  ScheduledTask task;
  task.trigger.id = id;
  IW_ASSIGN(task.trigger.schedule, ReadSchedule(all, type, id));
  const TaskOptionTexts options = OptionsOf(all, type, id);
  auto made = type.make(options);
  if (!made) {
    return Error(Code::kInvalidArgument,
                 fmt::format("{}: {}: {}", place, id, made.error().message()));
  }
  task.task = std::move(*made);
  task.child = std::make_shared<const ChildRequest>(
      ChildRequest{.task = std::string(type.name), .options = options});
  for (const std::string_view key : type.branch_options) {
    const auto branch = options.find(std::string(key));
    if (branch == options.end()) continue;
    task.branch = branch->second;
    break;
  }
  IW_TRY(Values(all).Read("parallelism", task.parallelism));
  IW_TRY(values.Read("parallelism", task.parallelism));
  IW_TRY(Values(all).Read("slot-sharing-group", task.pool));
  IW_TRY(values.Read("slot-sharing-group", task.pool));
  if (task.parallelism && *task.parallelism < 1) {
    return Error(Code::kInvalidArgument,
                 fmt::format("{}: {}: parallelism must be at least 1", place, id));
  }
  const std::vector<TriggerTask> one = {task.trigger};
  const Status valid = ValidateTriggers(one, table.triggers);
  if (!valid) {
    return Error(Code::kInvalidArgument, fmt::format("{}: {}", place, valid.error().message()));
  }
  return task;
}

Status ReadPolicy(const Values& values, TriggerPolicy& policy) {
  const ConfigValue* value = values.Find("policy");
  if (value == nullptr) return {};
  const std::string& text = value->node.text;
  if (text != "default" && text != "java") {
    return ConfigError(value->node, fmt::format("policy '{}' is neither default nor java", text));
  }
  policy = text == "java" ? TriggerPolicy::kJava : TriggerPolicy::kDefault;
  return {};
}

// Everything that decides how the table is maintained, for comparison only.
std::string Fingerprint(const ConfigValues& values) {
  std::string text;
  const std::function<void(const ConfigNode&)> add = [&](const ConfigNode& node) {
    text += '=' + node.text + '\n';
    for (const ConfigNode& item : node.items) add(item);
    for (const auto& [key, member] : node.members) {
      text += key;
      add(member);
    }
  };
  for (const auto& [key, value] : values) {
    text += key;
    add(value.node);
  }
  return text;
}

}  // namespace

Result<TableConfig> ResolveTableConfig(const ConfigValues& all) {
  const Values values(all);
  TableConfig table;
  IW_TRY(values.ReadDuration("rate-limit", table.triggers.rate_limit));
  IW_TRY(values.ReadDuration("lock-check-delay", table.triggers.lock_check_delay));
  IW_TRY(values.ReadDuration("retry-delay", table.triggers.retry_delay));
  IW_TRY(values.ReadDuration("retry-max-delay", table.triggers.retry_max_delay));
  IW_TRY(values.ReadDuration("lock-lease", table.lease));
  IW_TRY(values.Read("max-read-back", table.max_read_back));
  IW_TRY(values.Read("uid-suffix", table.uid_suffix));
  IW_TRY(values.Read("glue-compaction", table.glue_compaction));
  IW_TRY(values.Read("service-expiry-disabled", table.service_expiry_disabled));
  IW_TRY(ReadPolicy(values, table.triggers.policy));
  constexpr std::string_view kLock = "flink-maintenance.lock.";
  for (const auto& [key, value] : all) {
    if (key.starts_with(kLock)) table.lock[key] = value.node.text;
  }
  // A coordinator's lock begins with the process, as Flink's.
  table.triggers.eager = !table.lock.contains(std::string(kLock) + "type");
  for (const TaskType& type : TaskTypes()) {
    for (const std::string& id : TasksOf(all, type)) {
      IW_ASSIGN(const bool enabled, IsEnabled(all, id));
      if (!enabled) continue;
      const std::string& place = all.lower_bound(id + ".")->second.node.place;
      IW_ASSIGN(ScheduledTask task, ReadTask(all, type, id, table, place));
      table.tasks.push_back(std::move(task));
      table.task_types.push_back(&type);
    }
  }
  if (table.lease < Milliseconds(1000)) {
    return ConfigError(all.at("lock-lease").node,
                       "lock-lease: a lease below 1s is lost by accident");
  }
  if (table.max_read_back < 1) {
    return ConfigError(all.at("max-read-back").node, "max-read-back must be at least 1 snapshot");
  }
  table.fingerprint = Fingerprint(all);
  return table;
}

}  // namespace icewright
