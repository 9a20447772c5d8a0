#pragma once

/// \file data/dropped_rows.h
/// Which rows of a data file a scan drops: its deletes resolved to positions.
///
/// Spec: "Delete Formats", "Scan Planning".

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/memory_budget.h"
#include "base/result.h"
#include "base/run_context.h"
#include "codec/position_bitmap.h"
#include "data/key_share.h"
#include "io/file_io.h"
#include "scan/file_task.h"
#include "table/metadata.h"

namespace icewright {

/// Positions of one data file, with the memory they take.
struct DroppedRows {
  PositionBitmap positions;
  /// Of them, those that position deletes or a DV name; the others are dropped by equality deletes
  /// alone.
  std::int64_t by_position = 0;
  Reservation memory = {};
};

/// Serves the tasks of one plan of one snapshot, whose equality keys it reads once. Thread-safe.
class DroppedRowFinder {
 public:
  /// `share`: the part of the equality keys that this one holds in memory; the rows that the others
  /// drop are found by finders with the other shares. Errors: kUnsupported (encryption).
  static Result<DroppedRowFinder> Make(std::shared_ptr<const TableMetadata> metadata,
                                       std::shared_ptr<FileIO> io, KeyShare share = {});
  DroppedRowFinder(DroppedRowFinder&&) noexcept;
  ~DroppedRowFinder();

  /// About how much memory the keys of the tasks' equality deletes take in one share.
  static std::int64_t KeyMemory(const TableMetadata& metadata, const std::vector<FileTask>& tasks);

  /// Reads the equality deletes of all tasks at once, in parallel; without it each is read when a
  /// task first needs it. Errors: as Find.
  Status LoadKeys(RunContext& run, const std::vector<FileTask>& tasks) const;

  /// The rows that a scan of the task drops; reads the key columns only. Errors: kCorrupt,
  /// kUnsupported, kExhausted (keys and positions come out of the run's budget), kCancelled, those
  /// of io; all name the file.
  Result<DroppedRows> Find(RunContext& run, const FileTask& task) const;

  /// What the task's position deletes name, without a look at the data file. Errors: as Find.
  Result<DroppedRows> ByPosition(RunContext& run, const FileTask& task) const;

  /// Calls `visit` with position and _last_updated_sequence_number of each row that is in `rows`.
  /// Where the file does not say, it is that of the commit which added the file; unset if that was
  /// a rewrite, which gave the file the number of an older commit. Deletes do not matter. Errors:
  /// as Find, and those of visit.
  using VisitRow = std::function<Status(std::int64_t, std::optional<SequenceNumber>)>;
  Status VisitLastUpdated(RunContext& run, const FileTask& task, const PositionBitmap& rows,
                          const VisitRow& visit) const;

 private:
  struct Rep;
  explicit DroppedRowFinder(std::unique_ptr<Rep> rep);
  std::unique_ptr<Rep> rep_;
};

}  // namespace icewright
