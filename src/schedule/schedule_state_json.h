#pragma once

/// \file schedule/schedule_state_json.h
/// The values of the store as JSON.

#include <string>
#include <string_view>

#include "base/result.h"
#include "schedule/schedule_store.h"

namespace icewright {

std::string ToJson(const TableScheduleState& state);
std::string ToJson(const RunRecord& record);

/// Errors: kCorrupt. Members that are missing keep their defaults: older versions wrote less.
Result<TableScheduleState> ParseScheduleState(std::string_view json);
Result<RunRecord> ParseRunRecord(std::string_view json);

}  // namespace icewright
