#pragma once

/// \file schedule/service_tables.h
/// From a configuration to the tables of a service.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/random.h"
#include "base/result.h"
#include "base/run_context.h"
#include "base/steady_time.h"
#include "catalog/catalog.h"
#include "lock/lock_connections.h"
#include "lock/memory_lock.h"
#include "schedule/maintenance_config.h"
#include "schedule/maintenance_service.h"
#include "schedule/schedule_store.h"

namespace icewright {

/// A catalog that the program has opened, with the properties it was opened with.
struct ServiceCatalog {
  std::shared_ptr<Catalog> catalog;
  Properties properties;
};

/// What all tables of a service share. What the pointers name must outlive the service.
struct ServiceParts {
  std::map<std::string, ServiceCatalog> catalogs = {};
  std::shared_ptr<ScheduleStore> store = {};
  std::shared_ptr<SteadyTime> time;
  std::shared_ptr<MemoryLockTable> memory_locks = std::make_shared<MemoryLockTable>();
  std::shared_ptr<LockConnections> lock_connections = std::make_shared<LockConnections>();
  std::string owner;  ///< Of locks, for people.
  Clock* clock = &Clock::System();
  Log* log = &Log::Silent();
};

/// Names of tables that the rules match: exact names as they are, patterns by listing the catalogs
/// that they may mean. Errors: kNotFound for a rule whose catalog is not configured; those of
/// listing.
Result<std::vector<std::string>> FindTables(RunContext& run, const MaintenanceConfig& config,
                                            const ServiceParts& parts);

/// One entry per table. A table whose tasks a guard refuses is opened in vain: its status says why.
/// Errors: those of MaintenanceConfig::ForTable.
Result<std::vector<ServiceTable>> MakeServiceTables(const MaintenanceConfig& config,
                                                    const std::vector<std::string>& names,
                                                    const ServiceParts& parts);

/// "a.b.c" by the catalogs there are. Unset: no catalog has this name.
struct CatalogTable {
  std::string catalog;
  TableIdentifier id;
};
std::optional<CatalogTable> SplitTableName(const std::string& name,
                                           const std::map<std::string, ServiceCatalog>& catalogs);

}  // namespace icewright
