#pragma once

/// \file icewright/service/service_json.h
/// A service's state as the JSON of /api. docs/service.md describes it.

#include <string>
#include <string_view>
#include <vector>

#include "codec/json_fwd.h"
#include "lock/lock.h"
#include "schedule/schedule_store.h"
#include "schedule/service_status.h"

namespace icewright::cli {

Json StatusJson(const ServiceStatus& status, TimePoint now);

struct TableQuery {
  std::string search = {};  ///< Part of the table's name; case does not count.
  std::size_t limit = 100;
  std::size_t offset = 0;
};

/// Those with problems first, then those that run or wait, then the rest; by name.
Json TablesJson(const ServiceStatus& status, const TableQuery& query);

Json TasksJson(const ServiceStatus& status, const TableQuery& query);

Json RunsJson(const std::vector<RunRecord>& records);

/// What is known of the lock without asking its store.
Json LockJson(const TableStatus& table);
/// And what its store says.
Json LockJson(const TableStatus& table, const LockState& state, const LockState& recovery);

}  // namespace icewright::cli
