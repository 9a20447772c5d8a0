#include "schedule/service_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "lock/lock_config.h"
#include "schedule/child_protocol.h"
#include "schedule/maintenance_guards.h"

namespace icewright {
namespace {

Status ListBelow(RunContext& run, Catalog& catalog, const Namespace& ns,
                 const std::function<void(const TableIdentifier&)>& visit) {
  IW_TRY(run.Check());
  if (!ns.empty()) {
    IW_ASSIGN(const auto tables, catalog.ListTables(run, ns));
    for (const TableIdentifier& id : tables) visit(id);
  }
  IW_ASSIGN(const auto children, catalog.ListNamespaces(run, ns));
  for (const Namespace& child : children) IW_TRY(ListBelow(run, catalog, child, visit));
  return {};
}

// "prod" of "prod.*.events_*".
std::string_view FirstPart(std::string_view pattern) {
  return pattern.substr(0, pattern.find('.'));
}

struct OpenTable {
  std::string name;
  std::shared_ptr<const TableConfig> shared_config;  // of all tables that it serves
  CatalogTable table;
  std::shared_ptr<const ServiceParts> shared_parts;

  Result<std::unique_ptr<TableScheduler>> operator()(StartGate gate) const {
    const TableConfig& config = *shared_config;
    const ServiceParts& parts = *shared_parts;
    const ServiceCatalog& catalog = parts.catalogs.at(table.catalog);
    for (const TaskType* type : config.task_types) {
      IW_TRY(CheckGuards(catalog.properties,
                         {.service_expiry_disabled = config.service_expiry_disabled,
                          .glue_compaction = config.glue_compaction},
                         type->name));
    }
    IW_ASSIGN(const LockConfig lock, ReadLockConfig(config.lock));
    LockFacts facts{.type = lock.type,
                    .lock_id = lock.lock_id.empty() ? name : lock.lock_id,
                    .warnings = lock.warnings};
    if (auto warning = PlainTextWarning(lock)) facts.warnings.push_back(std::move(*warning));
    for (const std::string& warning : facts.warnings) parts.log->Warning(name + ": " + warning);
    IW_ASSIGN(
        auto locks,
        OpenLocks(
            lock, name,
            {.owner = parts.owner, .lease = config.lease, .clock = parts.clock, .log = parts.log},
            parts.memory_locks, parts.lock_connections.get()));
    const auto aim = [shared = shared_parts, to = table](ChildRequest& child) {
      child.catalog = to.catalog;
      child.properties = shared->catalogs.at(to.catalog).properties;
      child.table = to.id;
    };
    return TableScheduler::Open(
        {.table = name,
         .key = config.uid_suffix.empty() ? name : name + "/" + config.uid_suffix,
         .triggers = config.triggers,
         .max_read_back = config.max_read_back,
         .lock = std::move(facts)},
        config.tasks,
        {.load = [shared = catalog.catalog,
                  id = table.id](RunContext& run) { return shared->LoadTable(run, id); },
         .locks = std::move(locks),
         .owner = parts.owner,
         .store = parts.store,
         .time = parts.time,
         .clock = parts.clock,
         .log = parts.log,
         .gate = std::move(gate),
         .aim = aim});
  }
};

}  // namespace

std::optional<CatalogTable> SplitTableName(const std::string& name,
                                           const std::map<std::string, ServiceCatalog>& catalogs) {
  const std::size_t dot = name.find('.');
  if (dot == std::string::npos) return {};
  CatalogTable table{.catalog = name.substr(0, dot), .id = {}};
  if (!catalogs.contains(table.catalog)) return {};
  for (std::size_t start = dot + 1;;) {
    const std::size_t next = name.find('.', start);
    if (next == std::string::npos) {
      table.id.name = name.substr(start);
      break;
    }
    table.id.ns.push_back(name.substr(start, next - start));
    start = next + 1;
  }
  if (table.id.ns.empty() || table.id.name.empty()) return {};
  return table;
}

Result<std::vector<std::string>> FindTables(RunContext& run, const MaintenanceConfig& config,
                                            const ServiceParts& parts) {
  std::set<std::string> names;
  std::set<std::string> listed;
  for (const MaintenanceConfig::Rule& rule : config.rules) {
    if (!IsPattern(rule.pattern)) {
      if (!SplitTableName(rule.pattern, parts.catalogs)) {
        return Error(Code::kNotFound,
                     fmt::format("{}: '{}' does not start with the name of a configured catalog: "
                                 "write catalog.namespace.table",
                                 rule.place, rule.pattern));
      }
      names.insert(rule.pattern);
      continue;
    }
    bool any = false;
    for (const auto& [catalog, opened] : parts.catalogs) {
      const std::string_view first = FirstPart(rule.pattern);
      if (!MatchesPattern(first, catalog) && first.find("**") == std::string_view::npos) continue;
      any = true;
      if (!listed.insert(catalog + "\n" + rule.pattern).second) continue;
      IW_TRY(ListBelow(run, *opened.catalog, {}, [&](const TableIdentifier& id) {
        const std::string name = catalog + "." + ToString(id);
        if (MatchesPattern(rule.pattern, name)) names.insert(name);
      }));
    }
    if (any) continue;
    return Error(Code::kNotFound,
                 fmt::format("{}: no configured catalog matches '{}'", rule.place, rule.pattern));
  }
  return std::vector<std::string>(names.begin(), names.end());
}

Result<std::vector<ServiceTable>> MakeServiceTables(const MaintenanceConfig& config,
                                                    const std::vector<std::string>& names,
                                                    const ServiceParts& parts) {
  std::vector<ServiceTable> tables;
  const auto shared = std::make_shared<const ServiceParts>(parts);
  std::map<std::string, std::shared_ptr<const TableConfig>> configs;  // by fingerprint
  for (const std::string& name : names) {
    IW_ASSIGN(auto table, config.ForTable(name));
    const auto split = SplitTableName(name, parts.catalogs);
    if (!table || !split) continue;
    std::string key = table->uid_suffix.empty() ? name : name + "/" + table->uid_suffix;
    std::string fingerprint = table->fingerprint;
    auto& config_of = configs[fingerprint];
    if (!config_of) config_of = std::make_shared<const TableConfig>(std::move(*table));
    tables.push_back({.key = std::move(key),
                      .fingerprint = std::move(fingerprint),
                      .open = OpenTable{name, config_of, *split, shared}});
  }
  return tables;
}

}  // namespace icewright
