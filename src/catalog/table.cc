#include "catalog/table.h"

namespace icewright {

Status Table::Refresh(RunContext& run) {
  IW_ASSIGN(TableState fresh, operations_->Load(run));
  const std::string& before = state_.metadata->table_uuid;
  const std::string& after = fresh.metadata->table_uuid;
  if (!before.empty() && !after.empty() && before != after) {
    return Error(Code::kConflict,
                 name_ + " is another table now: its UUID was " + before + " and is " + after);
  }
  state_ = std::move(fresh);
  return {};
}

Status Table::Commit(RunContext& run, std::span<const TableRequirement> requirements,
                     std::span<const TableUpdate> updates) {
  IW_ASSIGN(state_, operations_->Commit(run, state_, requirements, updates));
  return {};
}

}  // namespace icewright
