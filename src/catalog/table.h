#pragma once

/// \file catalog/table.h
/// A loaded table: its metadata, its files, and the way back to the catalog that commits for it.
///
/// Java twins: Table, TableOperations.

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/location.h"
#include "base/result.h"
#include "base/run_context.h"
#include "io/file_io.h"
#include "table/metadata.h"
#include "table/table_update.h"

namespace icewright {

/// One version of a table. Immutable.
struct TableState {
  Location metadata_location;
  std::shared_ptr<const TableMetadata> metadata;
};

/// How a catalog loads and commits one table. Thread-safe.
class TableOperations {
 public:
  virtual ~TableOperations() = default;

  /// Errors: kNotFound, kCorrupt, those of storage.
  virtual Result<TableState> Load(RunContext& run) = 0;

  /// One attempt: loads the current state, checks the requirements against it, applies the updates,
  /// swaps. A UUID requirement for the base is always added. Old metadata files are deleted only if
  /// the table's properties ask for it and the swap is known to have landed.
  /// Errors: kConflict: somebody else won or a requirement fails; nothing is left behind.
  /// kCommitUnknown: the swap may have landed; the new metadata file stays.
  /// kUnsupported: the table is read-only; the message says why and what to do.
  virtual Result<TableState> Commit(RunContext& run, const TableState& base,
                                    std::span<const TableRequirement> requirements,
                                    std::span<const TableUpdate> updates) = 0;

  /// Empty if commits are possible; else the reason and the remedy.
  virtual std::string read_only_reason() const { return {}; }
};

/// Single-threaded while it refreshes or commits; copies are cheap and independent.
class Table {
 public:
  Table(std::string name, std::shared_ptr<TableOperations> operations, std::shared_ptr<FileIO> io,
        TableState state)
      : name_(std::move(name)),
        operations_(std::move(operations)),
        io_(std::move(io)),
        state_(std::move(state)) {}

  /// "catalog.namespace.table", or the path it was opened by.
  const std::string& name() const { return name_; }
  const TableMetadata& metadata() const { return *state_.metadata; }
  std::shared_ptr<const TableMetadata> shared_metadata() const { return state_.metadata; }
  const Location& metadata_location() const { return state_.metadata_location; }
  const TableState& state() const { return state_; }
  FileIO& io() const { return *io_; }
  std::shared_ptr<FileIO> shared_io() const { return io_; }
  TableOperations& operations() const { return *operations_; }

  Status Refresh(RunContext& run);

  /// One attempt on the state this object holds; afterwards it holds the new state.
  Status Commit(RunContext& run, std::span<const TableRequirement> requirements,
                std::span<const TableUpdate> updates);

 private:
  std::string name_;
  std::shared_ptr<TableOperations> operations_;
  std::shared_ptr<FileIO> io_;
  TableState state_;
};

}  // namespace icewright
