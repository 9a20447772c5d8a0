#include "catalog/read_only_operations.h"

namespace icewright {

Result<TableState> ReadOnlyOperations::Load(RunContext& run) {
  IW_ASSIGN(const Location location, find_());
  return ReadTableState(run, *io_, location);
}

Result<TableState> ReadOnlyOperations::Commit(RunContext&, const TableState&,
                                              std::span<const TableRequirement>,
                                              std::span<const TableUpdate>) {
  return Error(Code::kUnsupported, reason_);
}

}  // namespace icewright
