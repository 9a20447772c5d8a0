#pragma once

/// \file catalog/metadata_pointer.h
/// One table of a catalog that keeps a pointer to the current metadata file: the commit protocol
/// that SQL and memory catalogs share.
///
/// Java twin: BaseMetastoreTableOperations.

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/run_context.h"
#include "catalog/metadata_files.h"
#include "catalog/table.h"
#include "io/file_io.h"

namespace icewright {

/// What the catalog holds for one name. Thread-safe.
class MetadataPointer {
 public:
  virtual ~MetadataPointer() = default;

  /// Unset: there is no table of that name.
  virtual Result<std::optional<Location>> Get(RunContext& run) = 0;

  /// Sets `next` if the pointer is `current` (unset: if the name is free); false if it is not.
  /// Errors: kCommitUnknown: it may have happened. All others: it has not.
  virtual Result<bool> Swap(RunContext& run, const std::optional<Location>& current,
                            const Location& next) = 0;
};

/// Swap, and when its outcome is unknown, finds it out by reading the pointer. A swap that has not
/// happened yet is tried again: that decides it, for at most one of the two can take effect.
/// `settings` has commit.status-check.*. Errors: kCommitUnknown: it could not be found out.
Result<bool> SwapAndFindOut(RunContext& run, MetadataPointer& pointer, FileIO& io,
                            const std::optional<Location>& current, const Location& next,
                            const Properties& settings);

/// Writes the first metadata file and gives it the pointer's free name. Errors: kAlreadyExists.
/// After an error no file is left behind, except after kCommitUnknown.
Result<TableState> CreateThroughPointer(RunContext& run, MetadataPointer& pointer, FileIO& io,
                                        TableMetadata metadata, const std::string& name);

/// Gives an existing metadata file a free name. Errors: kAlreadyExists, kCorrupt, kNotFound.
Result<TableState> RegisterThroughPointer(RunContext& run, MetadataPointer& pointer, FileIO& io,
                                          const Location& metadata_location,
                                          const std::string& name);

class PointerOperations final : public TableOperations {
 public:
  /// `name` is for messages.
  PointerOperations(std::string name, std::shared_ptr<MetadataPointer> pointer,
                    std::shared_ptr<FileIO> io)
      : name_(std::move(name)), pointer_(std::move(pointer)), io_(std::move(io)) {}

  Result<TableState> Load(RunContext& run) override;
  Result<TableState> Commit(RunContext& run, const TableState& base,
                            std::span<const TableRequirement> requirements,
                            std::span<const TableUpdate> updates) override;

 private:
  Result<Location> CurrentLocation(RunContext& run);

  std::string name_;
  std::shared_ptr<MetadataPointer> pointer_;
  std::shared_ptr<FileIO> io_;
};

}  // namespace icewright
