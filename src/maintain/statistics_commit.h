#pragma once

/// \file maintain/statistics_commit.h
/// What the two statistics tasks share: which snapshot they are of, and the commit of their file.
///
/// Java twins: UpdateStatistics, UpdatePartitionStatistics.

#include <optional>
#include <string>
#include <variant>

#include "base/result.h"
#include "base/run_context.h"
#include "catalog/table.h"
#include "maintain/task.h"

namespace icewright {

/// The snapshot that `snapshot_id` or `branch` names; without either the head of main. Null for a
/// table or branch without a snapshot. Errors: kUnsupported for an encrypted table and, unless
/// `dry_run`, a read-only one; those of SelectSnapshot.
Result<const Snapshot*> SnapshotForStatistics(const Table& table,
                                              std::optional<std::int64_t> snapshot_id,
                                              const std::optional<std::string>& branch,
                                              bool dry_run);

using NewStatistics = std::variant<StatisticsFile, PartitionStatisticsFile>;

/// Registers a complete file in place of the one that its snapshot has, with retries. Afterwards
/// the replaced file is deleted unless something of the table still names it or gc.enabled is
/// false; if that fails it is a leftover. If the commit fails and the table, loaded again, does not
/// name the new file, that is deleted; after an unknown outcome both stay. Sets outcome, notes and
/// leftovers of the report.
/// Errors: kConflict (the snapshot expired meanwhile), kCommitUnknown, those of Table::Commit.
Status CommitStatistics(RunContext& run, Table& table, const NewStatistics& statistics,
                        TaskReport& report);

}  // namespace icewright
