#pragma once

/// \file catalog/read_only_operations.h
/// Tables that may be looked at but not changed, and why.

#include <functional>
#include <memory>
#include <string>

#include "catalog/metadata_files.h"
#include "catalog/table.h"

namespace icewright {

class ReadOnlyOperations final : public TableOperations {
 public:
  /// `find` names the metadata file to read, each time the table is loaded.
  ReadOnlyOperations(std::function<Result<Location>()> find, std::string reason,
                     std::shared_ptr<FileIO> io)
      : find_(std::move(find)), reason_(std::move(reason)), io_(std::move(io)) {}

  Result<TableState> Load(RunContext& run) override;
  Result<TableState> Commit(RunContext& run, const TableState& base,
                            std::span<const TableRequirement> requirements,
                            std::span<const TableUpdate> updates) override;
  std::string read_only_reason() const override { return reason_; }

 private:
  std::function<Result<Location>()> find_;
  std::string reason_;
  std::shared_ptr<FileIO> io_;
};

}  // namespace icewright
