#pragma once

/// \file maintain/resolve_deletes.h
/// Equality deletes of many data files resolved to positions, inside the memory limit.

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "base/run_context.h"
#include "data/dropped_rows.h"
#include "data/row_keys.h"
#include "io/file_io.h"
#include "maintain/key_places.h"
#include "scan/file_task.h"
#include "table/metadata.h"

namespace icewright {

/// Is there an equality delete among the task's deletes?
bool HasEqualityDeletes(const FileTask& task);

struct ResolveOptions {
  /// Do the equality deletes reach all rows of the file, or none? Unset: each row tells, by the
  /// sequence number that it was last updated with. No function: all rows that a scan drops.
  std::function<std::optional<bool>(const FileTask&)> reaches_file = {};
  std::function<Result<bool>(SequenceNumber)> reaches_row = {};  ///< Set if reaches_file is.
};

/// All deleted rows of one data file, once its equality deletes are positions.
struct ResolvedFile {
  std::size_t task = 0;  ///< Index of its task.
  DroppedRows rows;
  std::int64_t resolved() const { return rows.positions.cardinality() - rows.by_position; }
};

/// Files of which equality deletes drop rows, in the order of tasks; the others are left out.
/// Reads the key columns of all tasks, in parallel; as often as it takes to hold the keys in
/// memory part by part. Errors: kExhausted if the positions alone do not fit; those of
/// DroppedRowFinder and of reaches_row.
Result<std::vector<ResolvedFile>> ResolveEqualityDeletes(
    RunContext& run, std::shared_ptr<const TableMetadata> metadata, std::shared_ptr<FileIO> io,
    const std::vector<FileTask>& tasks, const ResolveOptions& options = {});

/// The same, looked up: reads the equality deletes, and the data files that `places` does not know
/// yet. All deletes must have the columns of `keys`. Errors: those of KeyPlaces, too.
Result<std::vector<ResolvedFile>> LookUpEqualityDeletes(
    RunContext& run, std::shared_ptr<const TableMetadata> metadata, std::shared_ptr<FileIO> io,
    const std::vector<FileTask>& tasks, const RowKeys& keys, KeyPlaces& places,
    const ResolveOptions& options = {});

}  // namespace icewright
